"""What a search comes back with: the hits, and the account of how they were come by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.quota import QuotaStatus


class Outcome(StrEnum):
    """How one attempt ended. Everything but SUCCESS moves the cascade on."""

    SUCCESS = "success"
    EMPTY = "empty"
    DEGRADED_EMPTY = "degraded_empty"
    SOFT_FAILURE = "soft_failure"
    FAILURE = "failure"
    SKIPPED = "skipped"


class FilterHandling(StrEnum):
    """What became of a filter: translated for the provider, applied to its answer here, or ignored."""

    PROVIDER = "provider"
    HERE = "here"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedFilter:
    name: str
    value: str
    handling: FilterHandling
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One candidate: asked, or skipped and why. `reason` is a word of a closed set, never a provider's text.

    `cost` is in dollars; where a provider counts credits, `credits` are what it took, and it cost no dollars.
    `key_index` says which of the endpoint's keys it was asked with, counted from 1, where it has several. Of a skip
    because of a budget, `detail` names what it is set by and `limit` is what that allows now.
    """

    instance_id: str
    outcome: Outcome
    reason: str | None = None
    detail: str | None = None
    duration_ms: int = 0
    cost: float = 0.0
    credits: float = 0.0
    retry_at: float | None = None
    key_index: int | None = None
    limit: float | None = None


class DispatchFailure(StrEnum):
    """Why a whole search brought nothing, when that was not for want of matches."""

    NO_ENDPOINT = "no_endpoint"
    ONLY_METERED = "only_metered"
    DISABLED = "disabled"
    ALL_COOLING = "all_cooling"
    BUDGET = "budget"
    ALL_FAILED = "all_failed"
    DECLINED = "declined"
    OUT_OF_TIME = "out_of_time"
    NOT_CACHED = "not_cached"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSize:
    """How much of its hits an answer holds that was bounded, in characters of JSON, and how to get at the others.

    `hits_left` of them are read by `GET /v1/results/<handle>` until `expires_at`; without a handle they could not be
    kept. `next_hit_chars` is what the next one takes, and `least_max_chars` the bound that lets it through together
    with what tells of the search itself, which is always whole: also where that is larger than `max_chars`.
    Of pages that were fetched, a hit is a part of a page's text, or one of its links. `evidence_left` links were left
    out of the envelope's `evidence`; the evidence itself is kept, and `evidence_store` lists it.
    """

    max_chars: int
    hits: int
    hit_chars: int
    hits_left: int = 0
    chars_left: int = 0
    next_hit_chars: int | None = None
    least_max_chars: int | None = None
    handle: str | None = None
    expires_at: float | None = None
    evidence_left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The answer to one search (seed 1, section 4.4, and design section 5).

    Of an instance, `error_message` means a soft failure: it declined, and no cooldown follows. Of the dispatcher, it
    comes with `failure` and, where time heals it, `retry_at` (epoch seconds, the earliest). `degraded` names why an
    empty answer does not mean that there is nothing (the provider's own engines were blocked). `quota` is what the
    answer itself said is left. `calls` is how many requests the provider was sent for it. Of a fan-out that several
    answered, `provider_instance_id` is empty, since each hit names its `contributors`, and `degraded` says whose votes
    are missing.
    `cost` and `credits` are those of its attempts. `cached`: the answer was kept from `age_seconds` ago, nobody was
    asked for it, and it costs nothing. `size` is there when the request bounded its answer, or it was more than can be
    sent. `untrusted`: what hits say are strangers' words.
    """

    query: str
    modality: SearchModality
    provider_instance_id: str
    tier: SearchTier
    hits: tuple[SearchHit, ...] = ()
    returned_count: int = 0
    dropped_count: int = 0
    note: str | None = None
    error_message: str | None = None
    upstream_headers: Mapping[str, str] = field(default_factory=dict)
    applied: tuple[AppliedFilter, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    degraded: str | None = None
    quota: QuotaStatus | None = None
    calls: int = 1
    failure: DispatchFailure | None = None
    retry_at: float | None = None
    cached: bool = False
    age_seconds: float | None = None
    cost: float = 0.0
    credits: float = 0.0
    truncated: bool = False
    size: AnswerSize | None = None
    untrusted: bool = field(default=True, init=False)

    def with_account(self, attempts: Sequence[Attempt], note: str | None) -> "SearchResult":
        """The same result with who was asked and what that cost. Spelt out, as `SearchHit.ranked` is."""
        return SearchResult(
            query=self.query,
            modality=self.modality,
            provider_instance_id=self.provider_instance_id,
            tier=self.tier,
            hits=self.hits,
            returned_count=self.returned_count,
            dropped_count=self.dropped_count,
            note=note,
            error_message=self.error_message,
            upstream_headers=self.upstream_headers,
            applied=self.applied,
            attempts=tuple(attempts),
            degraded=self.degraded,
            quota=self.quota,
            calls=self.calls,
            failure=self.failure,
            retry_at=self.retry_at,
            cached=self.cached,
            age_seconds=self.age_seconds,
            cost=sum([attempt.cost for attempt in attempts]),
            credits=sum(attempt.credits for attempt in attempts),
            truncated=self.truncated,
            size=self.size,
        )
