"""HTML by trafilatura: the text of the page without what surrounds it, its title and its date.

https://trafilatura.readthedocs.io
Quirk: it gives nothing for a page that is short or all tables; then all of the page's text is taken. Its memory of
what it has seen (`deduplicate`) stays off: the same page must read the same, warm or cold.
"""

import re
from datetime import date

from zarniwoop.documents.kinds import Extracted, Kind

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_html(markup: str) -> Extracted:
    from trafilatura import bare_extraction, html2txt

    found = bare_extraction(
        markup, include_comments=False, include_tables=True, deduplicate=False, with_metadata=True, favor_recall=True
    )
    text = (getattr(found, "text", None) or "").strip() or html2txt(markup).strip()
    return Extracted(
        kind=Kind.HTML,
        pages=(text,),
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
