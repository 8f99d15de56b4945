"""A file to its text, by its kind. Runs in the reader's process (`reader`), which may be ended at any moment."""

import re
from dataclasses import replace
from pathlib import Path, PurePosixPath

from zarniwoop.documents.decode import decoded
from zarniwoop.documents.kinds import (
    HEAD_BYTES,
    MOST_BYTES,
    MOST_CHARS,
    MOST_PAGES,
    DocumentRefused,
    Extracted,
    Kind,
    Reason,
    kind_of,
)
from zarniwoop.extract.docx import open_docx, plain_pages
from zarniwoop.extract.html_text import read_html
from zarniwoop.extract.outcome import Unreadable
from zarniwoop.extract.pdf import read_pdf
from zarniwoop.extract.tidy import tidied
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
    try:
        if kind is Kind.PDF:
            return _read_pdf(path)
        if kind is Kind.DOCX:
            return _read_docx(path)
    except Unreadable as unreadable:
        raise DocumentRefused(Reason(unreadable.fault.value)) from unreadable
    text = decoded(path.read_bytes(), declares=kind is Kind.HTML)
    if kind is not Kind.HTML:
        return Extracted(kind=kind, pages=(text,))
    found = read_html(text)
    return Extracted(kind=kind, pages=(found.text,), title=found.title, published=found.published)


def _read_pdf(path: Path) -> Extracted:
    """Dated by its last change, else by its making."""
    found = read_pdf(path, most_chars=MOST_CHARS, most_pages=MOST_PAGES)
    published = found.modified or found.created
    return Extracted(kind=Kind.PDF, pages=found.pages, paged=True, title=found.title, published=published)


def _read_docx(path: Path) -> Extracted:
    found = open_docx(path)
    pages = plain_pages(found.root, most_chars=MOST_CHARS)
    published = found.modified or found.created
    return Extracted(kind=Kind.DOCX, pages=pages, paged=len(pages) > 1, title=found.title, published=published)


def _title(found: Extracted, name: str, pages: tuple[str, ...]) -> str:
    """What the document says, its first heading, or its file's name."""
    heading = _HEADING.search(pages[0][:10_000]) if found.kind is Kind.MD else None
    stated = plain(found.title) or (plain(heading[1]) if heading else None)
    return clip(stated or PurePosixPath(name).name, _LONGEST_TITLE)
