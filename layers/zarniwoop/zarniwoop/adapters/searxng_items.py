"""SearXNG's results: pages, news, pictures, videos and papers, by engines of an older and of a newer kind.

Quirks: two sets of keys stand side by side, and what is unknown is absent, null or ""; `url` is null where a result is
a key and a value; a length is text or seconds; `author` is one text, `authors` a list; answers are texts or objects.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import parse_day_or_instant
from zarniwoop.text.identifiers import bare_arxiv_id, bare_doi, work_identifiers
from zarniwoop.text.plain import plain
from zarniwoop.text.urls import http_url, url_and_host

_SIZE = re.compile(r"(\d{1,6})\s*[x×]\s*(\d{1,6})")
_MOST_ENGINES = 10


def _as_score(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None


def _as_names(value: Any) -> list[str] | None:
    names = sorted(name for each in value if (name := plain(each))) if isinstance(value, list) else []
    return names[:_MOST_ENGINES] or None


def _as_duration(value: Any) -> str | None:
    """`26:10`, also where the length is a number of seconds."""
    if type(value) not in (int, float):
        return plain(value)
    minutes, seconds = divmod(int(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


_EXTRAS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (  # key of a result, name in `extras`, how it is read
    ("engines", "engines", _as_names),
    ("score", "score", _as_score),
    ("img_src", "image_url", http_url),
    ("thumbnail", "thumbnail_url", http_url),
    ("thumbnail_src", "thumbnail_url", http_url),
    ("length", "duration", _as_duration),
    ("views", "views", plain),
    ("journal", "venue", plain),
    ("publisher", "publisher", plain),
    ("pdf_url", "pdf_url", http_url),
)


def to_hit(item: Mapping[str, Any], modality: SearchModality) -> SearchHit | None:
    title, link = plain(item["title"]), url_and_host(item["url"])
    if title is None or link is None:
        return None
    url, host = link
    extras = {name: extra for key, name, read in _EXTRAS if (extra := read(item.get(key))) is not None} | _size(item)
    author = plain(item.get("author"))
    if author and modality is SearchModality.VIDEO:
        extras["channel"] = author
    authors = tuple(name for each in item.get("authors") or () if (name := plain(each)))
    return SearchHit(
        title=title,
        url=url,
        modality=modality,
        snippet=plain(item.get("content")),
        source=host,
        authors=authors or ((author,) if author and modality is not SearchModality.VIDEO else ()),
        published_at=parse_day_or_instant(item.get("publishedDate") or item.get("pubdate")),
        identifiers=work_identifiers(
            doi=bare_doi(item.get("doi")), arxiv_id=bare_arxiv_id(url) if "arxiv" in url else None
        ),
        extras=extras,
    )


def _size(item: Mapping[str, Any]) -> dict[str, int]:
    found = _SIZE.search(item.get("resolution") or "")
    return {"width": int(found.group(1)), "height": int(found.group(2))} if found else {}


def panels_of(body: Mapping[str, Any]) -> dict[str, str]:
    """What stands beside the results and is no page: texts by their name in `extras`."""
    answers, boxes = body.get("answers") or [None], body.get("infoboxes") or [None]
    answered = answers[0].get("answer") if isinstance(answers[0], dict) else answers[0]
    described = boxes[0].get("content") if isinstance(boxes[0], dict) else None
    texts = {"answer_box": answered, "knowledge_graph": described}
    return {name: text for name, markup in texts.items() if isinstance(markup, str) and (text := plain(markup))}
