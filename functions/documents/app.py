"""`documents`: what became of each document of a project."""

from zarniwoop.entry.documents import documents

handler = documents()
