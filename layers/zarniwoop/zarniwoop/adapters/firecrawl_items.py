"""Firecrawl's results: pages, news and pictures, with a page's Markdown and the tags of its head where it was scraped.

Quirks: a page has a `description` and a story a `snippet`; a picture's own address is `imageUrl`, its page's `url`;
dates are for readers; `metadata` is free-form, where the same name may hold a text or a list of them.
"""

from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import parse_date
from zarniwoop.text.plain import plain
from zarniwoop.text.urls import http_url, url_and_host
from zarniwoop.wire.pages import page_of


def _as_number(value: Any) -> int | None:
    return value if type(value) is int else None


_EXTRAS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (  # key of an item, name in `extras`, how it is read
    ("category", "category", plain),
    ("imageUrl", "image_url", http_url),
    ("imageWidth", "width", _as_number),
    ("imageHeight", "height", _as_number),
)


def to_hit(item: Mapping[str, Any], modality: SearchModality, *, on_demand: bool) -> SearchHit | None:
    title, link = plain(item["title"]), url_and_host(item["url"])
    if title is None or link is None:
        return None
    url, host = link
    date_text = plain(item.get("date"))
    published = parse_date(date_text)
    extras = {name: extra for key, name, read in _EXTRAS if (extra := read(item.get(key))) is not None}
    if date_text and not published:
        extras["date_text"] = date_text
    scraped = None if is_an_error(item.get("metadata") or {}) else item.get("markdown")
    is_page = modality is not SearchModality.IMAGE
    return SearchHit(
        title=title,
        url=url,
        modality=modality,
        snippet=plain(item.get("description") or item.get("snippet")),
        source=host,
        content=page_of(scraped, url, on_demand=on_demand) if is_page else None,
        published_at=published,
        extras=extras,
    )


def is_an_error(metadata: Mapping[str, Any]) -> bool:
    """Whether what was scraped is no page but an error of the site's, or none at all."""
    status = metadata.get("statusCode")
    return bool(metadata.get("error")) or (isinstance(status, int) and status >= 400)
