"""What is relevant: batches that fit a model's context, and what becomes of its verdicts.

A model judges keys that we made; a verdict for any other key, or for a hit of another batch, is counted and has no
effect, and a hit without a verdict is kept and marked. No answer can lose a hit silently.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import orjson
from pydantic import BeforeValidator, Field

from zarniwoop.llm.schema import portable_schema
from zarniwoop.pipelines.investigate.fence import MOST_BYTES, harmless, prompt_hit
from zarniwoop.pipelines.investigate.merge import MergedHit
from zarniwoop.pipelines.investigate.plan import ModelAnswer

MOST_HITS_PER_BATCH = 25
BYTES_PER_TOKEN = 3.5
"""Bytes, not characters: the same for English, and right for scripts that take a token a character."""
PROMPT_TOKENS = 1_400
ANSWER_TOKENS_PER_HIT = 70
_MAX_REASON_CHARS = 300


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


class Verdict(ModelAnswer):
    """Seed 1, section 7, phase 3. A score out of range is brought into it by code."""

    key: str
    verdict: Annotated[Literal["keep", "drop"], BeforeValidator(_lower)]
    relevance_score: float = Field(
        alias="relevanceScore", allow_inf_nan=False, json_schema_extra={"minimum": 0, "maximum": 1}
    )
    reason: str = ""


class EvaluateAnswer(ModelAnswer):
    """One verdict per hit of the batch."""

    verdicts: list[Verdict]


class EvaluatedBatch(EvaluateAnswer):
    """An answer with the keys that it was asked about; dumped by alias, it can be kept as JSON."""

    keys: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedHit:
    """`relevance` is None when nobody judged the hit."""

    merged: MergedHit
    keep: bool
    relevance: float | None
    reason: str

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "JudgedHit":
        return cls(**{**value, "merged": MergedHit.from_json(value["merged"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """All hits with what was said of them, and what of the answers had no effect."""

    hits: tuple[JudgedHit, ...]
    unknown_keys: int = 0
    repeated_keys: int = 0
    clamped_scores: int = 0

    @property
    def kept(self) -> tuple[JudgedHit, ...]:
        return tuple(hit for hit in self.hits if hit.keep)

    @property
    def unjudged(self) -> int:
        return sum(hit.relevance is None for hit in self.hits)

    @property
    def evaluated(self) -> bool:
        """Whether anything was judged, or there was nothing to judge."""
        return not self.hits or self.unjudged < len(self.hits)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Judged":
        return cls(**{**value, "hits": tuple(JudgedHit.from_json(hit) for hit in value["hits"])})


def batches(
    hits: Sequence[MergedHit],
    context_tokens: int,
    *,
    most: int = MOST_HITS_PER_BATCH,
    answer_tokens: int = ANSWER_TOKENS_PER_HIT,
) -> list[list[str]]:
    """The keys in batches of at most `most` whose prompt and answer fit the context; a hit too large goes alone."""
    room = context_tokens - PROMPT_TOKENS
    made: list[list[str]] = []
    used = 0.0
    for hit in hits:
        tokens = tokens_with_answer(hit, answer_tokens)
        if not made or used + tokens > room or len(made[-1]) >= most:
            made.append([])
            used = 0.0
        made[-1].append(hit.key)
        used += tokens
    return made


def tokens_with_answer(hit: MergedHit, answer_tokens: int = ANSWER_TOKENS_PER_HIT) -> float:
    """What a hit costs in a prompt and its verdict in the answer, estimated."""
    return len(orjson.dumps(prompt_hit(hit))) / BYTES_PER_TOKEN + answer_tokens


def most_batches(
    hits: int, context_tokens: int, *, most: int = MOST_HITS_PER_BATCH, answer_tokens: int = ANSWER_TOKENS_PER_HIT
) -> int:
    """How many batches so many hits take at most, when each is as long as a prompt shows it."""
    largest = MOST_BYTES / BYTES_PER_TOKEN + answer_tokens
    fitting = min(max(int((context_tokens - PROMPT_TOKENS) // largest), 1), most)
    return -(-hits // fitting)


def verdicts_schema(keys: Sequence[str]) -> dict[str, Any]:
    """The form of the verdicts for these hits: as many, and under their keys."""
    schema = portable_schema(EvaluateAnswer)
    verdicts = schema["properties"]["verdicts"]
    verdicts.update(minItems=len(keys), maxItems=len(keys))
    verdicts["items"]["properties"]["key"]["enum"] = list(keys)
    return schema


def apply_verdicts(hits: Sequence[MergedHit], evaluated: Sequence[EvaluatedBatch]) -> Judged:
    """Every hit, judged or not. The first verdict for a key counts, and only from the batch that showed the hit."""
    verdicts: dict[str, Verdict] = {}
    present = {hit.key for hit in hits}
    unknown = repeated = 0
    for batch in evaluated:
        asked = present.intersection(batch.keys)
        for verdict in batch.verdicts:
            if verdict.key not in asked:
                unknown += 1
            elif verdict.key in verdicts:
                repeated += 1
            else:
                verdicts[verdict.key] = verdict
    return Judged(
        hits=tuple(_judged(hit, verdicts.get(hit.key)) for hit in hits),
        unknown_keys=unknown,
        repeated_keys=repeated,
        clamped_scores=sum(not 0 <= verdict.relevance_score <= 1 for verdict in verdicts.values()),
    )


def _judged(hit: MergedHit, verdict: Verdict | None) -> JudgedHit:
    if verdict is None:
        return JudgedHit(merged=hit, keep=True, relevance=None, reason="unjudged")
    return JudgedHit(
        merged=hit,
        keep=verdict.verdict == "keep",
        relevance=min(max(verdict.relevance_score, 0.0), 1.0),
        reason=_reason(verdict),
    )


def _reason(verdict: Verdict) -> str:
    """A model that has none leaves it empty, or repeats the prompt's placeholder."""
    told = harmless(verdict.reason, _MAX_REASON_CHARS)
    return told if any(map(str.isalnum, told)) else "no reason given"
