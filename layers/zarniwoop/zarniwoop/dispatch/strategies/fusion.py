"""Several lists of hits into one, by reciprocal rank: 1 / (60 + rank), summed over the indexes that name a work.

Ranks alone count (Cormack, Clarke and Büttcher, SIGIR 2009), since the scores of two providers cannot be compared. An
index has one vote, at the best rank that any instance on it gives: resellers of one index are not independent, and a
hit that names several engines has a vote only where none of these was heard. The outcome depends on the set of lists,
not on the order in which they came.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from zarniwoop.contract.hit import Contributor, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.text.as_json import sort_key
from zarniwoop.text.urls import normalised, registrable_domain
from zarniwoop.text.works import FUSION_CONSTANT, Marks, filled, marks_of, riches, same_works

MOST_OF_ONE_SITE = 2
_SITES_OF_THEIR_OWN = frozenset((SearchModality.WEB, SearchModality.NEWS, SearchModality.PDF, SearchModality.IMAGE))
"""Where a domain tells who speaks; elsewhere it is an index's or a resolver's (doi.org, wikipedia.org)."""
_INDEX_BEHIND = {
    "bing": "bing",
    "brave": "brave",
    "duckduckgo": "bing",
    "google": "google",
    "google_news": "google",
    "qwant": "bing",
    "startpage": "google",
    "wikipedia": "wikipedia",
    "yahoo": "bing",
    "youtube": "youtube",
}
"""The index of an engine that a hit or an endpoint names (`engine`, SearXNG's `engines`), where one provider asks
several; "bing news" and "google.images" are their first word's."""
_FIRST_WORD = re.compile(r"[a-z]+")
_FIELDS = tuple(field.name for field in fields(SearchHit))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedList:
    """What one instance answered, best first, and the index behind it."""

    instance_id: str
    index_family: str
    hits: tuple[SearchHit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A hit where it stands in a list."""

    hit: SearchHit
    instance_id: str
    indexes: tuple[str, ...]
    rank: int

    @property
    def index_family(self) -> str:
        return "+".join(self.indexes)


def fuse(lists: Sequence[RankedList]) -> tuple[SearchHit, ...]:
    """Each work once, the best score first; of one site at most two, before all others had their turn."""
    named = [
        _Named(hit=hit, instance_id=each.instance_id, indexes=indexes_of(hit.extras, each.index_family), rank=rank)
        for each in lists
        for rank, hit in enumerate(each.hits, 1)
    ]
    groups = same_works([marks_shown(each.hit) for each in named])
    works = sorted((_work([named[number] for number in group]) for group in groups), key=_best_first)
    return tuple(hit.ranked(rank) for rank, hit in enumerate(_diverse(works), 1))


def indexes_of(extras: Mapping[str, Any], family: str) -> tuple[str, ...]:
    """The indexes that a hit comes out of: its engines', where an instance can ask several, else the instance's."""
    named = extras.get("engines") or [extras.get("engine")]
    engines = [each for each in named if isinstance(each, str)] if isinstance(named, (list, tuple)) else []
    return tuple(sorted({_index_behind(engine, family) for engine in engines})) or (family,)


def _index_behind(engine: str, family: str) -> str:
    word = _FIRST_WORD.match(engine.lower())
    return _INDEX_BEHIND.get(engine) or _INDEX_BEHIND.get(word[0] if word else "", family)


def marks_shown(hit: SearchHit) -> Marks:
    """What a hit shows of the work that it names."""
    image_url = hit.extras.get("image_url") if hit.modality is SearchModality.IMAGE else None
    return marks_of(
        title=hit.title,
        url=hit.url,
        published=hit.published_at.value if hit.published_at else None,
        identifiers=hit.identifiers,
        image_url=image_url,
    )


def _work(named: Sequence[_Named]) -> SearchHit:
    richest = sorted(named, key=_by_riches)
    contributors = tuple(_contributors(named))
    told = filled([_shallow(each.hit) for each in richest])
    told |= {"contributors": contributors, "score": sum(each.contribution for each in contributors)}
    return SearchHit(**told)


def _contributors(named: Sequence[_Named]) -> Iterator[Contributor]:
    """Everybody once, at its best rank; the first of each index has its vote. Equal votes are summed in equal order."""
    by_rank = sorted(named, key=lambda each: (each.rank, each.index_family, each.instance_id, each.hit.url))
    heard: set[str] = set()
    instances: set[tuple[str, str]] = set()
    for each in by_rank:
        if (each.instance_id, each.index_family) in instances:
            continue
        yield Contributor(
            instance_id=each.instance_id,
            index_family=each.index_family,
            rank=each.rank,
            contribution=1 / (FUSION_CONSTANT + each.rank) if heard.isdisjoint(each.indexes) else 0.0,
            url=each.hit.url,
        )
        heard.update(each.indexes)
        instances.add((each.instance_id, each.index_family))


def _by_riches(named: _Named) -> tuple[tuple[bool, int, int], int, bytes]:
    hit = named.hit
    text = hit.content.text if hit.content else None
    return riches(text, hit.snippet, hit.identifiers), named.rank, sort_key(hit)


def _shallow(hit: SearchHit) -> Mapping[str, Any]:
    return {name: getattr(hit, name) for name in _FIELDS}


def _best_first(hit: SearchHit) -> tuple[float, int, str, bytes]:
    """Among equal scores the best single rank, then the address, then whatever is written: never chance."""
    score, best = hit.score or 0.0, min(each.rank for each in hit.contributors)
    return -score, best, normalised(hit.url), sort_key(hit)


def _diverse(works: Sequence[SearchHit]) -> list[SearchHit]:
    """The same works; the third and further ones of a registrable domain stand behind all others."""
    if not works or works[0].modality not in _SITES_OF_THEIR_OWN:
        return list(works)
    seen: dict[str, int] = {}
    first: list[SearchHit] = []
    behind: list[SearchHit] = []
    for hit in works:
        site = registrable_domain(hit.url)
        seen[site] = seen.get(site, 0) + 1
        (first if seen[site] <= MOST_OF_ONE_SITE else behind).append(hit)
    return first + behind
