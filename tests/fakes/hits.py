"""Hits as an investigation passes them on: JSON objects, search outcomes and merged works."""

from typing import Any

from zarniwoop.pipelines.investigate.merge import HitSource, MergedHit, SearchOutcome


def hit(title: str = "A title that tells a lot", **more: Any) -> dict[str, Any]:
    """A hit as `orjson` writes a `SearchHit`; `year`, `body` and a work's identifiers go where they belong."""
    identifiers = {name: more.pop(name) for name in ("doi", "arxiv_id", "pmid", "pmcid") if name in more}
    year, body = more.pop("year", None), more.pop("body", None)
    return {
        "title": title,
        "url": "",
        "modality": "WEB",
        "snippet": None,
        "source": None,
        "content": {"inline": "EMBED_TEXT", "media_type": "text/plain", "text": body} if body else None,
        "rank": 1,
        "authors": [],
        "published_at": {"value": str(year), "precision": "year"} if year else None,
        "language": None,
        "identifiers": identifiers,
        "extras": {},
        **more,
    }


def outcome(
    search_index: int, *hits: dict[str, Any], instance_id: str = "alpha", affinity: float = 1.0
) -> SearchOutcome:
    return SearchOutcome(search_index=search_index, instance_id=instance_id, affinity=affinity, hits=hits)


def merged_hit(number: int, *, rank: int | None = None, affinity: float = 1.0, **fields: Any) -> MergedHit:
    """Work `h<number>`, found once, at that rank, by search 0."""
    found = hit(**{"title": f"Title {number}", "url": f"https://site.example/{number}", **fields})
    source = HitSource(search_index=0, rank=rank or number, instance_id="alpha", affinity=affinity, url=found["url"])
    return MergedHit(key=f"h{number:03d}", hit=found, sources=(source,), affinity=affinity)
