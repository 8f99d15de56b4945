"""`index_documents`: documents were put, replaced or deleted; the project's index follows."""

from zarniwoop.entry.index_documents import index_documents

handler = index_documents()
