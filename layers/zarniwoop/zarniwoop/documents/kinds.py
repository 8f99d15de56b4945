"""What a document may be, how much of it is read, and why one is refused.

The kind comes from the name's extension and must agree with the first bytes: a PDF that is called `.txt` would be
indexed as rubbish, and one that is called `.docx` hides what it is.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

MOST_BYTES = 50_000_000
MOST_CHARS = 4_000_000
MOST_PAGES = 5_000
HEAD_BYTES = 2_048

_HTML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_BINARY = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x7fELF",
    b"MZ\x90",
    b"RIFF",
    b"OggS",
    b"ID3",
    b"{\\rtf",
)
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Word before 2007, and every Office file with a password."""


class Kind(StrEnum):
    TXT = "txt"
    MD = "md"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"


_EXTENSIONS = {
    "txt": Kind.TXT,
    "text": Kind.TXT,
    "md": Kind.MD,
    "markdown": Kind.MD,
    "html": Kind.HTML,
    "htm": Kind.HTML,
    "pdf": Kind.PDF,
    "docx": Kind.DOCX,
}


class Reason(StrEnum):
    """Why a document is not in the index; the words of the record that its owner reads."""

    EMPTY = "empty"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported_type"
    WRONG_EXTENSION = "wrong_extension"
    UNKNOWN_ENCODING = "unknown_encoding"
    ENCRYPTED = "encrypted"
    BOMB = "expands_too_much"
    DAMAGED = "damaged"
    TOO_LONG = "too_much_text"
    NO_TEXT = "no_text"
    TOO_SLOW = "takes_too_long"
    UNREADABLE = "unreadable"
    INDEX_FULL = "index_full"


EXPLANATIONS = {
    Reason.EMPTY: "The file has 0 bytes. Put it again.",
    Reason.TOO_LARGE: f"The file is larger than {MOST_BYTES // 1_000_000} MB. Put it in parts.",
    Reason.UNSUPPORTED: f"Only these types are read: {', '.join(Kind)}.",
    Reason.WRONG_EXTENSION: "The content is not what the name's extension says. Rename the file.",
    Reason.UNKNOWN_ENCODING: "The text is not UTF-8 and names no other encoding. Save it as UTF-8.",
    Reason.ENCRYPTED: "The file is protected by a password. Put a copy without one.",
    Reason.BOMB: "The file expands to far more than its size allows.",
    Reason.DAMAGED: "The file cannot be read as what it says it is. Save it anew.",
    Reason.TOO_LONG: f"The file has more than {MOST_CHARS} characters or {MOST_PAGES} pages. Put it in parts.",
    Reason.NO_TEXT: "There is no text in the file. A scan needs to be recognised (OCR) first.",
    Reason.TOO_SLOW: "Reading the file took more time or memory than one document may. Put it in parts.",
    Reason.UNREADABLE: "The file cannot be fetched: its KMS key or storage class forbids it. Mend that; put it anew.",
    Reason.INDEX_FULL: "The project's index is full. Delete documents, or move to a search service for more.",
}


class DocumentRefused(Exception):  # noqa: N818 - named by its consequence
    """This document is not indexed, for a reason that is recorded."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The text of a document, page by page (one page where its kind has none), and what it says of itself.

    `published` is a day, `2026-11-30`, or None where the document names none.
    """

    kind: Kind
    pages: tuple[str, ...]
    paged: bool = False
    title: str | None = None
    published: str | None = None


def kind_of(name: str, head: bytes) -> Kind:
    """The kind that extension and first bytes agree on. Raises DocumentRefused."""
    declared = _EXTENSIONS.get(PurePosixPath(name).suffix.lower().removeprefix("."))
    if declared is None:
        raise DocumentRefused(Reason.UNSUPPORTED)
    if declared is Kind.PDF:
        if b"%PDF-" not in head[:1_024]:
            raise DocumentRefused(Reason.WRONG_EXTENSION)
    elif declared is Kind.DOCX:
        if head.startswith(_COMPOUND_FILE):
            raise DocumentRefused(Reason.ENCRYPTED)
        if not head.startswith(b"PK\x03\x04"):
            raise DocumentRefused(Reason.WRONG_EXTENSION)
    elif _is_something_else(declared, head):
        raise DocumentRefused(Reason.WRONG_EXTENSION)
    return declared


def _is_something_else(declared: Kind, head: bytes) -> bool:
    if head.startswith((*_BINARY, _COMPOUND_FILE, b"%PDF-", b"PK\x03\x04")):
        return True
    return declared is not Kind.HTML and _HTML.match(head) is not None
