"""PDF by pypdf: text page by page, title and date from the document's information.

https://pypdf.readthedocs.io
Quirk: an empty user password opens many "protected" files, and every viewer tries it; so do we.
"""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from zarniwoop.documents.kinds import MOST_CHARS, MOST_PAGES, DocumentRefused, Extracted, Kind, Reason

if TYPE_CHECKING:
    from pypdf import PdfReader


def read_pdf(path: Path) -> Extracted:
    """Raises DocumentRefused."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    try:
        with PdfReader(path) as reader:
            if reader.is_encrypted and not reader.decrypt(""):
                raise DocumentRefused(Reason.ENCRYPTED)
            return Extracted(
                kind=Kind.PDF,
                pages=_pages(reader),
                paged=True,
                title=reader.metadata.title if reader.metadata else None,
                published=_day(reader),
            )
    except (DependencyError, FileNotDecryptedError) as error:  # an encryption that needs what is not installed
        raise DocumentRefused(Reason.ENCRYPTED) from error
    except PyPdfError as error:
        raise DocumentRefused(Reason.DAMAGED) from error


def _pages(reader: "PdfReader") -> tuple[str, ...]:
    if len(reader.pages) > MOST_PAGES:
        raise DocumentRefused(Reason.TOO_LONG)
    pages: list[str] = []
    left = MOST_CHARS
    for page in reader.pages:
        text = page.extract_text()
        left -= len(text)
        if left < 0:
            raise DocumentRefused(Reason.TOO_LONG)
        pages.append(text)
    return tuple(pages)


def _day(reader: "PdfReader") -> str | None:
    """Of the last change, else of the making; a date that cannot be read is none."""
    found = reader.metadata
    for name in ("modification_date", "creation_date"):
        try:
            moment = getattr(found, name, None)
        except ValueError:
            continue
        if moment is not None:
            return date(moment.year, moment.month, moment.day).isoformat()
    return None
