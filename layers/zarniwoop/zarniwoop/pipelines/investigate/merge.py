"""The hits of all searches, each work once, with every source that named it.

Two hits are the same when they share a DOI, an arXiv id, a PMID or a normalised URL, and so on along the chain. A
telling title of the same year unites what is left, unless those that share it bear different identifiers of one kind:
then they are different works ("Letter to the editor", 2021), save that a preprint's DOI contradicts no other.
The outcome depends on the set of searches, not on the order in which they came back.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import orjson

from zarniwoop.contract.result import SearchResult
from zarniwoop.text.bm25 import words
from zarniwoop.text.identifiers import bare_arxiv_id, bare_doi
from zarniwoop.text.urls import host_of, http_url, normalised

FUSION_CONSTANT = 60
_ARXIV_DOI = "10.48550/arxiv."
_PREPRINT_DOIS = ("10.48550/", "10.1101/", "10.64898/", "10.2139/", "10.21203/", "10.20944/", "10.31234/", "10.26434/")
_PUBMED_PATH = re.compile(r"https?://pubmed\.ncbi\.nlm\.nih\.gov/(\d+)/?(?:[?#].*)?")
_FILLED = ("snippet", "published_at", "authors", "language")

Identity = tuple[str, str]


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
    identities: tuple[Identity, ...]
    title_and_year: Identity | None


def merge(found: Sequence[SearchOutcome], earlier: Sequence[MergedHit] = ()) -> tuple[MergedHit, ...]:
    """Each work once, keyed `h001` … by its best rank.

    In a second wave `found` holds the outcomes of both and `earlier` what the first was merged to: keys stay, and new
    works are numbered after them. What was one work stays one; where a new hit unites two, the smaller key remains.
    """
    keys = {(source.search_index, source.rank): hit.key for hit in earlier for source in hit.sources}
    records = [_record(outcome, rank, hit, keys) for outcome in found for rank, hit in enumerate(outcome.hits, 1)]
    unkeyed = sorted((_merged(group) for group in _groups(records)), key=_by_best_rank)
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
    identities = (*_identities(hit), *([("earlier", key)] if key else ()))
    return _Record(source=source, hit=hit, identities=identities, title_and_year=_title_and_year(hit))


def _identities(hit: Mapping[str, Any]) -> Iterator[Identity]:
    identifiers = hit.get("identifiers") or {}
    url = http_url(hit.get("url")) or ""
    host = host_of(url) or ""
    doi = bare_doi(identifiers.get("doi")) or (bare_doi(unquote(url)) if host in ("doi.org", "dx.doi.org") else None)
    arxiv_id = bare_arxiv_id(identifiers.get("arxiv_id")) or (
        bare_arxiv_id(url) if host.endswith("arxiv.org") else None
    )
    if doi:
        yield "doi", doi
        if doi.startswith(_ARXIV_DOI):
            arxiv_id = doi.removeprefix(_ARXIV_DOI)
    if arxiv_id:
        yield "arxiv_id", arxiv_id.lower()
    pubmed = _PUBMED_PATH.fullmatch(url)
    pmid = str(identifiers.get("pmid") or "").strip() or (pubmed.group(1) if pubmed else "")
    if pmid:
        yield "pmid", pmid
    if url:
        yield "url", normalised(url)


def _title_and_year(hit: Mapping[str, Any]) -> Identity | None:
    """The title without case and punctuation, and the year; None for a title that many works may bear."""
    year = str((hit.get("published_at") or {}).get("value") or "")[:4]
    title = " ".join(words(str(hit.get("title") or "")))
    telling = len(title) >= (15 if title.isascii() else 8)
    return (title, year) if year and telling else None


def _groups(records: Sequence[_Record]) -> list[list[_Record]]:
    leaders = list(range(len(records)))
    first: dict[Identity, int] = {}
    for number, record in enumerate(records):
        for same in record.identities:
            _unite(leaders, first.setdefault(same, number), number)
    for alike in _alike(records, leaders):
        for number in alike[1:]:
            _unite(leaders, alike[0], number)
    groups: dict[int, list[_Record]] = {}
    for number, record in enumerate(records):
        groups.setdefault(_leader(leaders, number), []).append(record)
    return list(groups.values())


def _alike(records: Sequence[_Record], leaders: list[int]) -> list[list[int]]:
    """Records that share title and year and, all they are united with taken together, contradict each other nowhere.

    Judged before any of them is united by title, so that no order of judging matters.
    """
    by_title: dict[Identity, list[int]] = {}
    borne: dict[int, set[Identity]] = {}
    for number, record in enumerate(records):
        if record.title_and_year:
            by_title.setdefault(record.title_and_year, []).append(number)
        borne.setdefault(_leader(leaders, number), set()).update(filter(_contradicts, record.identities))
    return [
        numbers
        for numbers in by_title.values()
        if not _contradictory(set().union(*(borne[_leader(leaders, number)] for number in numbers)))
    ]


def _contradicts(same: Identity) -> bool:
    kind, name = same
    return kind in ("arxiv_id", "pmid") or (kind == "doi" and not name.startswith(_PREPRINT_DOIS))


def _contradictory(borne: Iterable[Identity]) -> bool:
    kinds = [kind for kind, _ in borne]
    return len(kinds) != len(set(kinds))


def _leader(leaders: list[int], number: int) -> int:
    while leaders[number] != number:
        leaders[number] = leaders[leaders[number]]
        number = leaders[number]
    return number


def _unite(leaders: list[int], one: int, other: int) -> None:
    leaders[_leader(leaders, other)] = _leader(leaders, one)


def _merged(group: Sequence[_Record]) -> MergedHit:
    richest = sorted(group, key=_by_riches)
    sources = tuple(sorted({record.source for record in group}))
    return MergedHit(
        key="",
        hit=_filled([record.hit for record in richest]),
        sources=sources,
        affinity=max(source.affinity for source in sources),
    )


def _by_riches(record: _Record) -> tuple[bool, int, int, int, bytes]:
    """The richest first: with a body, the longest snippet, the most identifiers; ties end with the hit's own bytes."""
    hit = record.hit
    return (
        not (hit.get("content") or {}).get("text"),
        -len(hit.get("snippet") or ""),
        -len(hit.get("identifiers") or ()),
        record.source.rank,
        orjson.dumps(hit, option=orjson.OPT_SORT_KEYS),
    )


def _filled(hits: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The first hit, with what it lacks out of the others."""
    if len(hits) == 1:
        return hits[0]
    filled = dict(hits[0])
    for name in _FILLED:
        filled[name] = next((hit[name] for hit in hits if hit.get(name)), filled.get(name))
    identifiers: dict[str, str] = {}
    for hit in hits:
        identifiers = {**(hit.get("identifiers") or {}), **identifiers}
    return {**filled, "identifiers": identifiers}


def _by_best_rank(hit: MergedHit) -> tuple[int, float, str, bytes, tuple[HitSource, ...]]:
    best = min(source.rank for source in hit.sources)
    written = orjson.dumps(hit.hit, option=orjson.OPT_SORT_KEYS)
    return best, -hit.reciprocal_rank, str(hit.hit.get("url")), written, hit.sources


def _fused(sources: Iterable[HitSource]) -> float:
    best: dict[int, int] = {}
    for source in sources:
        best[source.search_index] = min(source.rank, best.get(source.search_index, source.rank))
    return sum(1 / (FUSION_CONSTANT + rank) for rank in sorted(best.values()))
