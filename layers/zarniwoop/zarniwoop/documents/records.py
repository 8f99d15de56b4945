"""What is known of each document: indexed, refused and why, or pending. Nothing that lies in the bucket is left out."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from zarniwoop.documents.kinds import EXPLANATIONS, Reason
from zarniwoop.stores.documents import StoredDocument

_RECORDS = (
    "SELECT name, state, size, modified, kind, title, day, reason, passages, indexed_at FROM documents"
    " WHERE name > :after AND name <= :until AND (:refused IS NULL OR (reason IS NOT NULL) = :refused)"
    " ORDER BY name LIMIT :most"
)
_LAST_NAME = "\U0010ffff"


class Status(StrEnum):
    INDEXED = "indexed"
    REFUSED = "refused"
    PENDING = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """`reason` is a word of a closed set, and `explanation` says what to do. `day` is what date filters compare."""

    name: str
    status: Status
    size: int
    modified: str
    reason: str | None = None
    explanation: str | None = None
    filetype: str | None = None
    title: str | None = None
    day: str | None = None
    passages: int = 0
    indexed_at: float | None = None


def recorded(
    connection: sqlite3.Connection, *, after: str, most: int, refused: bool | None = None, until: str = _LAST_NAME
) -> dict[str, tuple[str, DocumentRecord]]:
    """By name and in its order: the state that the record is of, and the record."""
    given = {"after": after, "until": until, "most": most, "refused": refused}
    return {row[0]: (row[1], _record(row)) for row in connection.execute(_RECORDS, given)}


def joined(
    listed: Sequence[StoredDocument], known: Mapping[str, tuple[str, DocumentRecord]]
) -> tuple[DocumentRecord, ...]:
    """What lies in the bucket, with the records of those that have not changed since."""
    return tuple(
        known[document.name][1]
        if document.name in known and known[document.name][0] == document.state
        else DocumentRecord(
            name=document.name, status=Status.PENDING, size=document.size, modified=document.modified_at
        )
        for document in listed
    )


def _record(row: Sequence[Any]) -> DocumentRecord:
    name, _, size, modified, kind, title, day, reason, passages, indexed_at = row
    return DocumentRecord(
        name=name,
        status=Status.REFUSED if reason else Status.INDEXED,
        size=size,
        modified=modified,
        reason=reason,
        explanation=EXPLANATIONS[Reason(reason)] if reason else None,
        filetype=kind,
        title=title,
        day=day,
        passages=passages,
        indexed_at=indexed_at,
    )
