"""The index file: one SQLite database of documents, their passages, and an FTS5 table of the passages' words.

`words` is contentless: it holds no text, which stands once in `passages`. What is deleted from it must be said again
word by word, so it is made of `searchable` text on both occasions; a change of that function changes `FORMAT`.
https://www.sqlite.org/fts5.html#contentless_tables
"""

import sqlite3
from pathlib import Path

from zarniwoop.documents.words import TOKENIZER

FORMAT = 1
"""A file of another format is made anew."""
_SCHEMA = f"""
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL, size INTEGER NOT NULL,
    modified TEXT NOT NULL, kind TEXT, title TEXT, day TEXT, stated_day INTEGER NOT NULL DEFAULT 0, reason TEXT,
    chars INTEGER NOT NULL DEFAULT 0, passages INTEGER NOT NULL DEFAULT 0, indexed_at REAL NOT NULL
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, page INTEGER, start INTEGER NOT NULL, end INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX passages_of ON passages (document);
CREATE VIRTUAL TABLE words USING fts5(title, name, text, content='', tokenize='{TOKENIZER}');
PRAGMA user_version = {FORMAT};
"""


class UnusableIndexError(Exception):
    """The file is no index of this format, or it is broken."""


def has_fts5() -> bool:
    """Amazon Linux 2, on which Lambda's Python 3.11 runs, brings an SQLite from before FTS5."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return False
    else:
        return True
    finally:
        connection.close()


def created(path: Path) -> sqlite3.Connection:
    """A new and empty index."""
    path.unlink(missing_ok=True)
    connection = _quick(sqlite3.connect(path))
    connection.executescript(_SCHEMA)
    return connection


def opened_to_write(path: Path) -> sqlite3.Connection:
    """Raises UnusableIndexError."""
    return _quick(_checked(sqlite3.connect(path)))


def opened_to_read(path: Path) -> sqlite3.Connection:
    """Nothing is written beside an immutable file, no lock taken. Raises UnusableIndexError."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise UnusableIndexError("the index cannot be opened") from error
    return _checked(connection)


def _quick(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Nobody reads the file before it is whole: a crash costs the file, which is made anew."""
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def _checked(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("SELECT rowid FROM words LIMIT 1").fetchone()
    except sqlite3.DatabaseError as error:
        connection.close()
        raise UnusableIndexError("the index cannot be read") from error
    if version != FORMAT:
        connection.close()
        raise UnusableIndexError("the index has another format")
    return connection
