"""A file to its text, by its kind. Runs in the reader's process (`reader`), which may be ended at any moment."""

import re
from dataclasses import replace
from pathlib import Path, PurePosixPath

from zarniwoop.documents.decode import decoded, tidied
from zarniwoop.documents.docx import read_docx
from zarniwoop.documents.html import read_html
from zarniwoop.documents.kinds import (
    HEAD_BYTES,
    MOST_BYTES,
    MOST_CHARS,
    DocumentRefused,
    Extracted,
    Kind,
    Reason,
    kind_of,
)
from zarniwoop.documents.pdf import read_pdf
from zarniwoop.text.plain import clip, is_blank, plain

_HEADING = re.compile(r"^#{1,2}\s+(.+?)\s*#*$", re.MULTILINE)
_LONGEST_TITLE = 300


def check_size(size: int) -> None:
    """Before anything is fetched. Raises DocumentRefused."""
    if size == 0:
        raise DocumentRefused(Reason.EMPTY)
    if size > MOST_BYTES:
        raise DocumentRefused(Reason.TOO_LARGE)


def extract(path: Path, name: str) -> Extracted:
    """The tidied text of the file. Raises DocumentRefused."""
    check_size(path.stat().st_size)
    with path.open("rb") as file:
        kind = kind_of(name, file.read(HEAD_BYTES))
    found = _read(path, kind)
    pages = tuple(map(tidied, found.pages))
    if sum(map(len, pages)) > MOST_CHARS:
        raise DocumentRefused(Reason.TOO_LONG)
    if all(map(is_blank, pages)):
        raise DocumentRefused(Reason.NO_TEXT)
    return replace(found, pages=pages, title=_title(found, name, pages))


def _read(path: Path, kind: Kind) -> Extracted:
    if kind is Kind.PDF:
        return read_pdf(path)
    if kind is Kind.DOCX:
        return read_docx(path)
    text = decoded(path.read_bytes(), declares=kind is Kind.HTML)
    return read_html(text) if kind is Kind.HTML else Extracted(kind=kind, pages=(text,))


def _title(found: Extracted, name: str, pages: tuple[str, ...]) -> str:
    """What the document says, its first heading, or its file's name."""
    heading = _HEADING.search(pages[0][:10_000]) if found.kind is Kind.MD else None
    stated = plain(found.title) or (plain(heading[1]) if heading else None)
    return clip(stated or PurePosixPath(name).name, _LONGEST_TITLE)
