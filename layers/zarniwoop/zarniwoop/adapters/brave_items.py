"""Brave's results: pages, news, videos and pictures, each with members of its own beside those of all.

Quirk: `page_age` is an instant in ISO without a zone, and midnight where only the day is known; `age` is for readers.
"""

from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.contract.hit import PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.dates import parse_date
from zarniwoop.text.plain import plain
from zarniwoop.text.urls import http_url, url_and_host

_MIDNIGHT = "T00:00:00"


def _as_number(value: Any) -> int | None:
    return value if type(value) is int else None


def _as_flag(value: Any) -> bool | None:
    return True if value is True else None


def _as_texts(value: Any) -> list[str] | None:
    texts = [text for each in value if (text := plain(each))] if isinstance(value, list) else []
    return texts or None


_EXTRAS: tuple[tuple[str | None, str, str, Callable[[Any], Any]], ...] = (  # object, member, name in `extras`, reading
    (None, "subtype", "subtype", plain),
    (None, "breaking", "breaking", _as_flag),
    (None, "confidence", "confidence", plain),
    (None, "extra_snippets", "extra_snippets", _as_texts),
    ("thumbnail", "src", "thumbnail_url", http_url),
    ("properties", "url", "image_url", http_url),
    ("properties", "width", "width", _as_number),
    ("properties", "height", "height", _as_number),
    ("video", "duration", "duration", plain),
    ("video", "creator", "channel", plain),
    ("video", "views", "views", _as_number),
)


def to_hit(item: Mapping[str, Any], modality: SearchModality) -> SearchHit | None:
    title, link = plain(item["title"]), url_and_host(item["url"])
    if title is None or link is None:
        return None
    url, host = link
    age = plain(item.get("age"))
    published = _published(item.get("page_age")) or parse_date(age)
    extras = {
        name: extra
        for inside, member, name, read in _EXTRAS
        if (extra := read((_object(item, inside) if inside else item).get(member))) is not None
    }
    if age and not published:
        extras["date_text"] = age
    return SearchHit(
        title=title,
        url=url,
        modality=modality,
        snippet=plain(item.get("description")),
        source=plain(_object(item, "video").get("publisher")) or plain(_object(item, "profile").get("name")) or host,
        published_at=published,
        language=plain(item.get("language")),
        extras=extras,
    )


def _published(page_age: str | None) -> PublishedAt | None:
    return parse_date(page_age.removesuffix(_MIDNIGHT) if page_age else None)


def _object(item: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inside = item.get(name)
    return inside if isinstance(inside, dict) else {}
