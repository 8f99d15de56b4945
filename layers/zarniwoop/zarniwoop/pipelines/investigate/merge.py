"""The hits of all searches, each work once, with every source that named it.

Which hits show the same work is told by `text.works`; here they get their keys and their sources. The outcome depends
on the set of searches, not on the order in which they came back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.result import SearchResult
from zarniwoop.text.works import FUSION_CONSTANT, Marks, filled, marks_of, riches, same_works


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """What one search brought: hits as JSON, in the provider's order. `affinity` is the plan's for the instance."""

    search_index: int
    instance_id: str
    affinity: float
    hits: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, search_index: int, source_affinity: Mapping[str, float], result: SearchResult) -> "SearchOutcome":
        """The outcome of a planned search; an instance that the plan does not weigh counts 1."""
        return cls(
            search_index=search_index,
            instance_id=result.provider_instance_id,
            affinity=source_affinity.get(result.provider_instance_id, 1.0),
            hits=tuple(orjson.loads(orjson.dumps(result.hits))),
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "SearchOutcome":
        return cls(**{**value, "hits": tuple(value["hits"])})


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class HitSource:
    """Who named the work: the instance, in which search, at which rank (from 1), and under which URL."""

    search_index: int
    rank: int
    instance_id: str
    affinity: float
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedHit:
    """One work: its richest hit, with gaps filled from the others; `affinity` is its best source's."""

    key: str
    hit: Mapping[str, Any]
    sources: tuple[HitSource, ...]
    affinity: float

    @property
    def reciprocal_rank(self) -> float:
        """The fused rank: 1 / (60 + rank), summed over the searches that found it."""
        return _fused(self.sources)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "MergedHit":
        return cls(**{**value, "sources": tuple(HitSource(**source) for source in value["sources"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    source: HitSource
    hit: Mapping[str, Any]
    marks: Marks


def merge(found: Sequence[SearchOutcome], earlier: Sequence[MergedHit] = ()) -> tuple[MergedHit, ...]:
    """Each work once, keyed `h001` … by its best rank.

    In a second wave `found` holds the outcomes of both and `earlier` what the first was merged to: keys stay, and new
    works are numbered after them. What was one work stays one; where a new hit unites two, the smaller key remains.
    """
    keys = {(source.search_index, source.rank): hit.key for hit in earlier for source in hit.sources}
    records = [_record(outcome, rank, hit, keys) for outcome in found for rank, hit in enumerate(outcome.hits, 1)]
    groups = same_works([record.marks for record in records])
    unkeyed = sorted((_merged([records[number] for number in group]) for group in groups), key=_by_best_rank)
    following = max((int(hit.key[1:]) for hit in earlier), default=0)
    merged = []
    for hit in unkeyed:
        known = [keys[place] for source in hit.sources if (place := (source.search_index, source.rank)) in keys]
        following += not known
        key = min(known, key=lambda each: int(each[1:])) if known else f"h{following:03d}"
        merged.append(MergedHit(key=key, hit=hit.hit, sources=hit.sources, affinity=hit.affinity))
    return tuple(sorted(merged, key=lambda hit: int(hit.key[1:])))


def _record(outcome: SearchOutcome, rank: int, hit: Mapping[str, Any], keys: Mapping[tuple[int, int], str]) -> _Record:
    source = HitSource(
        search_index=outcome.search_index,
        rank=rank,
        instance_id=outcome.instance_id,
        affinity=outcome.affinity,
        url=str(hit.get("url") or ""),
    )
    key = keys.get((outcome.search_index, rank))
    extras = hit.get("extras") or {}
    marks = marks_of(
        title=str(hit.get("title") or ""),
        url=hit.get("url"),
        published=str((hit.get("published_at") or {}).get("value") or ""),
        identifiers=hit.get("identifiers") or {},
        image_url=extras.get("image_url") if hit.get("modality") == SearchModality.IMAGE else None,
        more=[("earlier", key)] if key else (),
    )
    return _Record(source=source, hit=hit, marks=marks)


def _merged(group: Sequence[_Record]) -> MergedHit:
    richest = sorted(group, key=_by_riches)
    sources = tuple(sorted({record.source for record in group}))
    return MergedHit(
        key="",
        hit=filled([record.hit for record in richest]) if len(richest) > 1 else richest[0].hit,
        sources=sources,
        affinity=max(source.affinity for source in sources),
    )


def _by_riches(record: _Record) -> tuple[tuple[bool, int, int], int, bytes]:
    """The richest first; ties end with the hit's own bytes."""
    hit = record.hit
    wealth = riches((hit.get("content") or {}).get("text"), hit.get("snippet"), hit.get("identifiers") or {})
    return wealth, record.source.rank, orjson.dumps(hit, option=orjson.OPT_SORT_KEYS)


def _by_best_rank(hit: MergedHit) -> tuple[int, float, str, bytes, tuple[HitSource, ...]]:
    best = min(source.rank for source in hit.sources)
    written = orjson.dumps(hit.hit, option=orjson.OPT_SORT_KEYS)
    return best, -hit.reciprocal_rank, str(hit.hit.get("url")), written, hit.sources


def _fused(sources: Iterable[HitSource]) -> float:
    best: dict[int, int] = {}
    for source in sources:
        best[source.search_index] = min(source.rank, best.get(source.search_index, source.rank))
    return sum(1 / (FUSION_CONSTANT + rank) for rank in sorted(best.values()))
