"""`GET /v1/tools`: the tools and their schemas."""

from zarniwoop.entry.catalogue import catalogue

handler = catalogue()
