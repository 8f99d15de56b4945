"""Documents of one's own: extracted, cut into passages, indexed in SQLite FTS5, and searched there."""
