"""What a search comes back with: the hits, and the account of how they were come by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier


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
    """One candidate: asked, or skipped and why. `reason` is a word of a closed set, never a provider's text."""

    instance_id: str
    outcome: Outcome
    reason: str | None = None
    detail: str | None = None
    duration_ms: int = 0
    cost: float = 0.0
    retry_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The answer to one search (seed 1, section 4.4, and design section 5).

    `error_message` set means a soft failure: the instance declined, no cooldown follows. `degraded` names why an empty
    answer does not mean that there is nothing (the provider's own engines were blocked).
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
    cached: bool = False
    cost: float = 0.0
    truncated: bool = False
