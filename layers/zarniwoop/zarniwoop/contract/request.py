"""What is asked, by whom, and until when."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality, SearchTier


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchScope:
    """Who asks: the authorizer's tenant and project, never the body's; `deadline` bounds all work done for it.

    `request_id` goes with the work, so that what a straggling thread writes down bears the id of its own request.
    `tools` are those that the caller's token names; none: it is good for every one of its `level`.
    `key_index` says which of an endpoint's keys to ask with, counted from 1; None where it has one. `next_turn` waits
    for a turn at the provider's published rate.
    """

    tenant_id: str
    project_id: str
    process_id: str | None = None
    request_id: str = ""
    deadline: Deadline
    tools: tuple[str, ...] = ()
    level: int = 0
    key_index: int | None = None
    next_turn: Callable[[], None] | None = field(default=None, repr=False, compare=False)

    def take_turn(self) -> None:
        """To be called before each request but the first that a call sends at a published rate. Raises OutOfTurn."""
        if self.next_turn is not None:
            self.next_turn()

    def until(self, deadline: Deadline, next_turn: Callable[[], None] | None = None) -> "SearchScope":
        """The same caller with another deadline. Spelt out: `dataclasses.replace` takes several times as long."""
        return SearchScope(
            tenant_id=self.tenant_id,
            project_id=self.project_id,
            process_id=self.process_id,
            request_id=self.request_id,
            deadline=deadline,
            tools=self.tools,
            level=self.level,
            key_index=self.key_index,
            next_turn=next_turn or self.next_turn,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Locale:
    """A BCP 47 tag reduced to what search providers understand: `de`, `de-AT`."""

    language: str
    region: str | None = None

    def __str__(self) -> str:
        return f"{self.language}-{self.region}" if self.region else self.language


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRange:
    """Publication days, both ends inclusive; an open end is None."""

    earliest: date | None = None
    latest: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertParams:
    """The filters of the EXPERT tier as the caller wrote them.

    `site` is a host, optionally with a path prefix (`arxiv.org/abs`), as in Google's `site:`; `domain` is a host and
    everything below it (`nature.com` covers `www.nature.com`); `filetype` is an extension without its dot.
    """

    site: str | None = None
    filetype: str | None = None
    date_from: date | None = None
    date_to: date | None = None
    domain: str | None = None
    freshness_days: int | None = None

    def given(self) -> Iterator[tuple[str, str]]:
        """The filters that were asked for, as (name, value) in a fixed order."""
        for name in ("site", "filetype", "date_from", "date_to", "domain", "freshness_days"):
            value = getattr(self, name)
            if value is not None:
                yield name, str(value)


class Strategy(StrEnum):
    """CASCADE: one instance after the other until one has hits. FANOUT: several at once, and one list out of theirs."""

    CASCADE = "cascade"
    FANOUT = "fanout"


class CacheUse(StrEnum):
    """PREFER: a kept answer where there is one. ONLY: that or nothing. NO_STORE: neither read nor kept."""

    PREFER = "prefer"
    ONLY = "only"
    NO_STORE = "no-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search (seed 1, section 4.1).

    `published` is the date window that `date_from`, `date_to` and `freshness_days` come to, resolved once in UTC, so
    that every candidate of a cascade is asked for the same days. `min_results` is how many different works a fan-out
    shall find before it asks no further instances. `max_calls` and `max_cost` (in dollars) bound all calls of
    the tool call that it belongs to together; with `free_only` nobody is asked whose calls cost money. Every hit
    lies on one of `sites`, where there are any, whatever the query says: the caller's, whom every provider is held to.
    Where the caller names none, they and `unwanted_sites` are hosts out of the query's operators, on one of which hits
    shall lie, and on none; these are put in for a wire format with `site_lists`.
    """

    query: str
    modality: SearchModality
    tier: SearchTier = SearchTier.NORMAL
    max_results: int = 10
    locale: Locale | None = None
    pinned_provider_id: str | None = None
    expert_params: ExpertParams = ExpertParams()
    published: DateRange | None = None
    strategy: Strategy = Strategy.CASCADE
    min_results: int = 1
    cache: CacheUse = CacheUse.PREFER
    max_calls: int | None = None
    max_cost: float | None = None
    free_only: bool = False
    sites: tuple[str, ...] = ()
    unwanted_sites: tuple[str, ...] = ()
