"""Searches: hits, who was asked for them, and what became of the filters."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from zarniwoop_client.results.problem import Problem
from zarniwoop_client.results.record import Record


class PublishedAt(Record):
    """A date no more exact than the provider said: `2017`, `2017-06`, `2017-06-12` or an RFC 3339 instant."""

    value: str
    precision: str


class ContentReference(Record):
    """A body: `text` for EMBED_TEXT (abstract, lead), `reference` for STASH_ON_DEMAND (what its provider knows it by).

    An embedded abstract may have a `reference` as well, to the full text behind it.
    """

    inline: str
    media_type: str = "text/plain"
    text: str | None = None
    reference: str | None = None


class Contributor(Record):
    """Who named a hit of a fan-out, at which rank of its own list (from 1), under which URL.

    `contribution` is its share of the hit's `score`: nothing where another instance on the same `index_family` named
    the hit at a better rank, since one index has one vote.
    """

    instance_id: str
    index_family: str
    rank: int
    contribution: float
    url: str


class SearchHit(Record):
    """One hit.

    `rank` is the provider's order, from 1. `identifiers` uses the keys `doi`, `arxiv_id`, `pmid`, `pmcid`, `isbn`,
    `openalex_id`, … in their bare form (a DOI in lower case without `https://doi.org/`). `extras` holds what only one
    modality or provider has. Of a fan-out, `contributors` says who named it, and `score` is the sum of their
    contributions; otherwise there are none.
    """

    title: str
    url: str
    modality: str
    snippet: str | None = None
    source: str | None = None
    content: ContentReference | None = None
    rank: int = 0
    authors: tuple[str, ...] = ()
    published_at: PublishedAt | None = None
    language: str | None = None
    identifiers: Mapping[str, str] = Field(default_factory=dict)
    extras: Mapping[str, Any] = Field(default_factory=dict)
    contributors: tuple[Contributor, ...] = ()
    score: float | None = None


class AppliedFilter(Record):
    name: str
    value: str
    handling: str
    reason: str | None = None


class Attempt(Record):
    """One candidate: asked, or skipped and why. `reason` is a word of a closed set, never a provider's text.

    `cost` is in dollars; where a provider counts credits, `credits` are what it took, and it cost no dollars.
    `key_index` says which of the endpoint's keys it was asked with, counted from 1, where it has several. Of a skip
    because of a budget, `detail` names what it is set by and `limit` is what that allows now.
    """

    instance_id: str
    outcome: str
    reason: str | None = None
    detail: str | None = None
    duration_ms: int = 0
    cost: float = 0.0
    credits: float = 0.0
    retry_at: float | None = None
    key_index: int | None = None
    limit: float | None = None


class AnswerSize(Record):
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


class QuotaStatus(Record):
    """Consumption in `unit`; `limit` and `remaining` are None where nobody stated them; times in epoch seconds."""

    source: str
    unit: str = "calls"
    used: float | None = None
    limit: float | None = None
    remaining: float | None = None
    resets_at: float | None = None
    observed_at: float = 0.0


class SearchResult(Record):
    """The answer to one search.

    Of an instance, `error_message` means a soft failure: it declined, and no cooldown follows. Of the dispatcher, it
    comes with `failure` and, where time heals it, `retry_at` (epoch seconds, the earliest). `degraded` names why an
    empty answer does not mean that there is nothing (the provider's own engines were blocked). `quota` is what the
    answer itself said is left. `calls` is how many requests the provider was sent for it. Of a fan-out that several
    answered, `provider_instance_id` is empty, since each hit names its `contributors`, and `degraded` says whose votes
    are missing.
    `cost` and `credits` are those of its attempts. `cached`: the answer was kept from `age_seconds` ago, nobody was
    asked for it, and it costs nothing. `size` is there when the request bounded its answer, or it was more than can be
    sent.
    """

    query: str
    modality: str
    provider_instance_id: str
    tier: str
    hits: tuple[SearchHit, ...] = ()
    returned_count: int = 0
    dropped_count: int = 0
    note: str | None = None
    error_message: str | None = None
    upstream_headers: Mapping[str, str] = Field(default_factory=dict)
    applied: tuple[AppliedFilter, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    degraded: str | None = None
    quota: QuotaStatus | None = None
    calls: int = 1
    failure: str | None = None
    retry_at: float | None = None
    cached: bool = False
    age_seconds: float | None = None
    cost: float = 0.0
    credits: float = 0.0
    truncated: bool = False
    size: AnswerSize | None = None
    untrusted: bool = True


class RichResult(Record):
    """`results` and `problems` by modality; `partial` when some modality could not be answered and another could.

    `size` is there when the request bounded its answer.
    """

    query: str
    results: Mapping[str, SearchResult]
    problems: Mapping[str, Problem]
    partial: bool
    cost: float
    credits: float = 0.0
    size: AnswerSize | None = None
    untrusted: bool = True
