"""Writing the index file: a document put, replaced, refused or removed, each with a record that its owner can read."""

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from zarniwoop.documents.database import UnusableIndexError, created, opened_to_write
from zarniwoop.documents.kinds import DocumentRefused, Extracted, Reason
from zarniwoop.documents.passages import passages
from zarniwoop.documents.words import searchable
from zarniwoop.stores.documents import StoredDocument

MOST_INDEX_BYTES = 200_000_000
"""Two copies fit into the 512 MB of a search function's disk, while one is replaced by the other."""
_TRIED_AGAIN = (Reason.UNREADABLE.value, Reason.INDEX_FULL.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    documents: int
    passages: int
    refused: int


class IndexWriter:
    """One index file under work. What was there before is changed in place; nothing else reads the file meanwhile."""

    def __init__(self, path: Path, *, most_bytes: int = MOST_INDEX_BYTES) -> None:
        """Goes on with the file, or begins anew where there is none that can be used."""
        self._path = path
        self._most_bytes = most_bytes
        try:
            self._connection = opened_to_write(path) if path.exists() else created(path)
        except UnusableIndexError:
            self._connection = created(path)
        self.changed = False

    def known(self) -> dict[str, str]:
        """The states of all recorded documents by name, without those that are tried again every time."""
        marks = ",".join("?" * len(_TRIED_AGAIN))
        query = f"SELECT name, state FROM documents WHERE reason IS NULL OR reason NOT IN ({marks})"  # noqa: S608
        return dict(self._connection.execute(query, _TRIED_AGAIN))

    def names(self) -> set[str]:
        return {name for (name,) in self._connection.execute("SELECT name FROM documents")}

    def check_room(self) -> None:
        """Before a document is read. Raises DocumentRefused when the index is full."""
        if self._bytes() > self._most_bytes:
            raise DocumentRefused(Reason.INDEX_FULL)

    def put(self, document: StoredDocument, found: Extracted, now: float) -> None:
        """Replace what is known of the document."""
        self.remove([document.name])
        written = list(passages(found.pages, paged=found.paged))
        modified = document.modified_at
        cursor = self._connection.execute(
            "INSERT INTO documents (name, state, size, modified, kind, title, day, stated_day, chars, passages,"
            " indexed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document.name,
                document.state,
                document.size,
                modified,
                found.kind.value,
                found.title,
                found.published or modified[:10],
                found.published is not None,
                sum(map(len, found.pages)),
                len(written),
                now,
            ),
        )
        title, name = searchable(found.title or ""), searchable(document.name)
        for each in written:
            row = self._connection.execute(
                "INSERT INTO passages (document, page, start, end, text) VALUES (?, ?, ?, ?, ?)",
                (cursor.lastrowid, each.page, each.start, each.end, each.text),
            )
            self._connection.execute(
                "INSERT INTO words (rowid, title, name, text) VALUES (?, ?, ?, ?)",
                (row.lastrowid, title, name, searchable(each.text)),
            )
        self.changed = True

    def refuse(self, document: StoredDocument, reason: Reason, now: float) -> None:
        """Record why the document is not in the index; what an older state of it had there goes."""
        recorded = self._connection.execute(
            "SELECT 1 FROM documents WHERE name = ? AND state = ? AND reason = ?",
            (document.name, document.state, reason.value),
        )
        if recorded.fetchone():
            return
        self.remove([document.name])
        self._connection.execute(
            "INSERT INTO documents (name, state, size, modified, reason, indexed_at) VALUES (?, ?, ?, ?, ?, ?)",
            (document.name, document.state, document.size, document.modified_at, reason.value, now),
        )
        self.changed = True

    def remove(self, names: Iterable[str]) -> int:
        """Forget documents; returns how many were known."""
        removed = 0
        for wanted in names:
            row = self._connection.execute("SELECT id, title, name FROM documents WHERE name = ?", (wanted,)).fetchone()
            if row is None:
                continue
            document, title, name = row[0], searchable(row[1] or ""), searchable(row[2])
            for rowid, text in self._connection.execute(
                "SELECT id, text FROM passages WHERE document = ?", (document,)
            ).fetchall():
                self._connection.execute(
                    "INSERT INTO words (words, rowid, title, name, text) VALUES ('delete', ?, ?, ?, ?)",
                    (rowid, title, name, searchable(text)),
                )
            self._connection.execute("DELETE FROM passages WHERE document = ?", (document,))
            self._connection.execute("DELETE FROM documents WHERE id = ?", (document,))
            removed += 1
            self.changed = True
        return removed

    def finish(self) -> Counts:
        """Write everything down, so that the file can be copied."""
        self._connection.commit()
        query = "SELECT count(*) - count(reason), coalesce(sum(passages), 0), count(reason) FROM documents"
        documents, written, refused = self._connection.execute(query).fetchone()
        self._connection.close()
        return Counts(documents=documents, passages=written, refused=refused)

    def abandon(self) -> None:
        """Give the work up."""
        with suppress(sqlite3.Error):
            self._connection.close()

    def _bytes(self) -> int:
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        (unused,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        (size,) = self._connection.execute("PRAGMA page_size").fetchone()
        return int((pages - unused) * size)
