"""What a page says of itself in JSON-LD: https://schema.org/Article and what is like it. Its texts are not read.

`articleBody` stands there unseen by any reader, so that anything may stand in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

_MOST_ITEMS = 200
_PAGES = ("article", "posting", "report", "webpage", "product", "recipe", "event", "book", "dataset", "video", "qapage",
          "scholarly", "profile", "course", "howto", "faq")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedData:
    """`free` is None where nothing is said of it."""

    headline: str | None = None
    author: str | None = None
    publisher: str | None = None
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    free: bool | None = None


def linked_data(texts: Sequence[str]) -> LinkedData:
    items = list(_items(texts))
    items.sort(key=lambda item: _rank(item))
    return LinkedData(
        headline=_first(items, "headline") or _first(items[:1], "name"),
        author=_first(items, "author") or _first(items, "creator"),
        publisher=_first(items, "publisher"),
        published=_first(items, "datePublished"),
        modified=_first(items, "dateModified"),
        language=_first(items, "inLanguage"),
        free=_free(items),
    )


def _items(texts: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    waiting: list[Any] = []
    for text in texts:
        try:
            waiting.append(orjson.loads(text))
        except ValueError:
            continue
    seen = 0
    while waiting and seen < _MOST_ITEMS:
        item = waiting.pop(0)
        seen += 1
        if isinstance(item, list):
            waiting = item[:_MOST_ITEMS] + waiting
        elif isinstance(item, dict):
            yield item
            waiting += [item[name] for name in ("@graph", "mainEntity") if isinstance(item.get(name), (list, dict))]


def _rank(item: Mapping[str, Any]) -> int:
    kinds = item.get("@type")
    words = " ".join(map(str, kinds[:5] if isinstance(kinds, list) else [kinds])).lower()
    return next((rank for rank, word in enumerate(_PAGES) if word in words), len(_PAGES))


def _first(items: Sequence[Mapping[str, Any]], name: str) -> str | None:
    return next((text for item in items if _rank(item) < len(_PAGES) and (text := _text(item.get(name)))), None)


def _text(value: Any) -> str | None:
    """A text, the name of a thing, or those of several."""
    if isinstance(value, str):
        return value.strip()[:1_000] or None
    if isinstance(value, Mapping):
        return _text(value.get("name")) if not isinstance(value.get("name"), Mapping) else None
    if isinstance(value, list):
        names = [text for each in value[:10] if not isinstance(each, list) and (text := _text(each))]
        return ", ".join(names) or None
    return None


def _free(items: Sequence[Mapping[str, Any]]) -> bool | None:
    for item in items:
        stated = item.get("isAccessibleForFree")
        if isinstance(stated, bool):
            return stated
        if isinstance(stated, str) and stated.strip().lower() in ("true", "false"):
            return stated.strip().lower() == "true"
    return None
