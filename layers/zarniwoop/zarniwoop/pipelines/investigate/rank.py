"""The order of what was kept: relevance × affinity; and the same without a judge, by reciprocal rank, marked so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zarniwoop.llm.schema import portable_schema
from zarniwoop.pipelines.investigate.evaluate import Judged, JudgedHit
from zarniwoop.pipelines.investigate.fence import MAX_QUESTION_CHARS, fenced_hits, harmless, prompt_hit
from zarniwoop.pipelines.investigate.fitting import that_fit
from zarniwoop.pipelines.investigate.merge import HitSource, MergedHit
from zarniwoop.pipelines.investigate.plan import ModelAnswer

MOST_RERANKED = 25


class RerankAnswer(ModelAnswer):
    """The keys in a better order, the best first."""

    keys: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedHit:
    """A survivor. `score` is relevance × affinity; both are None for a hit that nobody judged (`unjudged`)."""

    rank: int
    key: str
    hit: Mapping[str, Any]
    sources: tuple[HitSource, ...]
    affinity: float
    relevance: float | None
    score: float | None
    reciprocal_rank: float
    reason: str
    unjudged: bool

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RankedHit":
        return cls(**{**value, "sources": tuple(HitSource(**source) for source in value["sources"])})

    def as_merged(self) -> MergedHit:
        return MergedHit(key=self.key, hit=self.hit, sources=self.sources, affinity=self.affinity)


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedHit:
    """A hit that was judged irrelevant, and why (seed 1, section 7)."""

    key: str
    title: str
    url: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedHitSet:
    """`refine_depth` counts deepening; `ranked` is false when nothing was judged and the order is that of the searches.

    `ignored_keys` counts what a re-ranking answer named wrongly or twice.
    """

    survivors: tuple[RankedHit, ...]
    dropped: tuple[DroppedHit, ...]
    refine_depth: int = 0
    ranked: bool = True
    reranked: bool = False
    ignored_keys: int = 0

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RankedHitSet":
        survivors = tuple(RankedHit.from_json(each) for each in value["survivors"])
        dropped = tuple(DroppedHit(**each) for each in value["dropped"])
        return cls(**{**value, "survivors": survivors, "dropped": dropped})


def rank(judged: Judged, refine_depth: int = 0) -> RankedHitSet:
    """Survivors by score, then reciprocal rank, then key; unjudged ones after all that somebody judged."""
    survivors = sorted(judged.kept, key=_order)
    dropped = [hit.merged for hit in judged.hits if not hit.keep]
    reasons = {hit.merged.key: hit.reason for hit in judged.hits}
    return RankedHitSet(
        survivors=tuple(_ranked(place, hit) for place, hit in enumerate(survivors, 1)),
        dropped=tuple(
            DroppedHit(
                key=hit.key,
                title=str(hit.hit.get("title") or ""),
                url=str(hit.hit.get("url") or ""),
                reason=reasons[hit.key],
            )
            for hit in dropped
        ),
        refine_depth=refine_depth,
        ranked=judged.evaluated,
    )


def rerank_variables(question: str, today: str, ranked: RankedHitSet, nonce: str, *, tokens: float) -> dict[str, Any]:
    """What the re-rank recipe may name: the best survivors in their order so far, as many as fit into `tokens`."""
    best = [prompt_hit(survivor.as_merged()) for survivor in ranked.survivors[:MOST_RERANKED]]
    shown = that_fit(best, tokens)
    return {
        "question": harmless(question, MAX_QUESTION_CHARS),
        "today": today,
        "fence": fenced_hits(shown, nonce),
        "nonce": nonce,
        "keys": [hit["key"] for hit in shown],
        "hits": shown,
    }


def order_schema(keys: Sequence[str]) -> dict[str, Any]:
    """The form of an order of these keys: as many, and no other."""
    schema = portable_schema(RerankAnswer)
    schema["properties"]["keys"].update(
        items={"type": "string", "enum": list(keys)}, minItems=len(keys), maxItems=len(keys)
    )
    return schema


def reranked(ranked: RankedHitSet, answer: RerankAnswer) -> RankedHitSet:
    """The same survivors in the answer's order; what it leaves out follows in the order that it had."""
    by_key = {survivor.key: survivor for survivor in ranked.survivors}
    named = [key for key in dict.fromkeys(answer.keys) if key in by_key]
    left_out = [key for key in by_key if key not in set(named)]
    return replace(
        ranked,
        survivors=tuple(replace(by_key[key], rank=place) for place, key in enumerate((*named, *left_out), 1)),
        reranked=bool(named),
        ignored_keys=len(answer.keys) - len(named),
    )


def _order(hit: JudgedHit) -> tuple[bool, float, float, int]:
    score = _score(hit)
    return score is None, -(score or 0.0), -hit.merged.reciprocal_rank, int(hit.merged.key[1:])


def _score(hit: JudgedHit) -> float | None:
    return None if hit.relevance is None else round(hit.relevance * hit.merged.affinity, 6)


def _ranked(place: int, hit: JudgedHit) -> RankedHit:
    return RankedHit(
        rank=place,
        key=hit.merged.key,
        hit=hit.merged.hit,
        sources=hit.merged.sources,
        affinity=hit.merged.affinity,
        relevance=hit.relevance,
        score=_score(hit),
        reciprocal_rank=round(hit.merged.reciprocal_rank, 6),
        reason=hit.reason,
        unjudged=hit.relevance is None,
    )
