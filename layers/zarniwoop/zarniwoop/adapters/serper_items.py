"""Google's results as Serper describes them: the items of its lists, and the panels around them.

Quirks: Scholar packs authors, venue and year into one line; the same key means the same in every list that has it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import parse_date
from zarniwoop.text.identifiers import bare_arxiv_id
from zarniwoop.text.plain import plain
from zarniwoop.text.publication import read_publication
from zarniwoop.text.urls import http_url, url_and_host


def _as_it_is(value: Any) -> Any:
    return value


_EXTRAS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {  # key of an item: name in `extras`, how it is read
    "imageWidth": ("width", _as_it_is),
    "imageHeight": ("height", _as_it_is),
    "citedBy": ("cited_by", _as_it_is),
    "imageUrl": ("image_url", http_url),
    "thumbnailUrl": ("thumbnail_url", http_url),
    "pdfUrl": ("pdf_url", http_url),
    "channel": ("channel", plain),
    "duration": ("duration", plain),
}


def to_hit(item: Mapping[str, Any], modality: SearchModality, *, rank: int) -> SearchHit | None:
    title, link = plain(item.get("title")), url_and_host(item.get("link"))
    if title is None or link is None:
        return None
    url, host = link
    authors, venue, year = read_publication(item["publicationInfo"]) if "publicationInfo" in item else ((), None, None)
    date = item.get("year") or item.get("date") or year
    date_text = plain(str(date)) if date else None
    published = parse_date(date_text)
    arxiv_id = bare_arxiv_id(url) if "arxiv" in url else None
    extras = {
        name: extra
        for key in _EXTRAS
        if key in item
        for name, read in (_EXTRAS[key],)
        if (extra := read(item[key])) is not None
    }
    if venue:
        extras["venue"] = venue
    if date_text and not published:
        extras["date_text"] = date_text
    return SearchHit(
        title=title,
        url=url,
        modality=modality,
        snippet=plain(item.get("snippet")),
        source=plain(item.get("source")) or host,
        rank=rank,
        authors=authors,
        published_at=published,
        identifiers={"arxiv_id": arxiv_id} if arxiv_id else {},
        extras=extras,
    )


def panels_of(page: Mapping[str, Any]) -> dict[str, str]:
    """What stands beside the results and is no page: texts by their name in `extras`."""
    graph, box = (block if isinstance(block, dict) else {} for block in map(page.get, ("knowledgeGraph", "answerBox")))
    texts = {"knowledge_graph": graph.get("description"), "answer_box": box.get("answer") or box.get("snippet")}
    return {name: text for name, markup in texts.items() if isinstance(markup, str) and (text := plain(markup))}
