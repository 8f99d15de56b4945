"""`openapi`: the API as a document and as a page, and who issues tokens; for anybody."""

from zarniwoop.entry.openapi import openapi

handler = openapi(__file__)
