"""PDF by pypdf: text page by page, title, author and dates from the document's information.

https://pypdf.readthedocs.io
Quirk: an empty user password opens many "protected" files, and every viewer tries it; so do we. A page that refers to
itself, or to too much, is ended from outside, by the clock and the memory of the process that reads it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import IO, TYPE_CHECKING

from zarniwoop.extract.outcome import Fault, Unreadable

if TYPE_CHECKING:
    from pypdf import PdfReader


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """The text of a file page by page (one page where its kind has none), and what it says of itself.

    Dates are days, `2026-11-30`. `whole` is False where there was more than was read.
    """

    pages: tuple[str, ...]
    title: str | None = None
    author: str | None = None
    created: str | None = None
    modified: str | None = None
    whole: bool = True


def read_pdf(source: Path | IO[bytes], *, most_chars: int, most_pages: int, cut: bool = False) -> ReadFile:
    """Raises Unreadable; also for more than the limits, unless it is to be `cut` there."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    try:
        with PdfReader(source) as reader:
            if reader.is_encrypted and not reader.decrypt(""):
                raise Unreadable(Fault.ENCRYPTED)
            if len(reader.pages) > most_pages and not cut:
                raise Unreadable(Fault.TOO_LONG)
            pages = tuple(_pages(reader, most_chars, most_pages))
            whole = len(pages) == len(reader.pages)
            if not whole and not cut:
                raise Unreadable(Fault.TOO_LONG)
            return ReadFile(
                pages=pages,
                title=_stated(reader, "title"),
                author=_stated(reader, "author"),
                created=_day(reader, "creation_date"),
                modified=_day(reader, "modification_date"),
                whole=whole,
            )
    except (DependencyError, FileNotDecryptedError) as error:  # an encryption that needs what is not installed
        raise Unreadable(Fault.ENCRYPTED) from error
    except PyPdfError as error:
        raise Unreadable(Fault.DAMAGED) from error


def _pages(reader: "PdfReader", most_chars: int, most_pages: int) -> Iterator[str]:
    """As many whole pages as the limits allow."""
    left = most_chars
    for page in reader.pages[:most_pages]:
        text = page.extract_text()
        left -= len(text)
        if left < 0:
            return
        yield text


def _stated(reader: "PdfReader", name: str) -> str | None:
    stated = getattr(reader.metadata, name, None) if reader.metadata else None
    return str(stated) if stated else None


def _day(reader: "PdfReader", name: str) -> str | None:
    """A date that cannot be read is none."""
    try:
        moment = getattr(reader.metadata, name, None)
    except ValueError:
        return None
    return date(moment.year, moment.month, moment.day).isoformat() if moment is not None else None
