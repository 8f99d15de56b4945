"""HTML of a document of one's own to text by trafilatura: recall before precision, nothing judged, nothing hidden.

https://trafilatura.readthedocs.io
Quirk: it gives nothing for a page that is short or all tables; then all of the page's text is taken. Its memory of
what it has seen (`deduplicate`) stays off: the same page must read the same, warm or cold.
"""

import re
from dataclasses import dataclass
from datetime import date

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadHtml:
    """`published` is a day, `2026-11-30`."""

    text: str
    title: str | None
    published: str | None


def read_html(markup: str) -> ReadHtml:
    from trafilatura import bare_extraction, html2txt

    found = bare_extraction(
        markup, include_comments=False, include_tables=True, deduplicate=False, with_metadata=True, favor_recall=True
    )
    return ReadHtml(
        text=(getattr(found, "text", None) or "").strip() or html2txt(markup).strip(),
        title=getattr(found, "title", None) or None,
        published=day(getattr(found, "date", None)),
    )


def day(found: str | None) -> str | None:
    """The day that a page names, if there is such a day.

    Quirk: a page that names only its year is dated on its first of January, and believed.
    """
    named = _DAY.match(found or "")
    try:
        return date.fromisoformat(named[0]).isoformat() if named else None
    except ValueError:
        return None
