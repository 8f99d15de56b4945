"""`runs`: runs listed, watched, stopped and read, and the content that they stored."""

from zarniwoop.entry.runs import runs

handler = runs()
