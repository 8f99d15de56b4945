"""What is asked, by whom, and until when."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality, SearchTier


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchScope:
    """Who asks: the authorizer's tenant and project, never the body's; `deadline` bounds all work done for it.

    `request_id` goes with the work, so that what a straggling thread writes down bears the id of its own request.
    """

    tenant_id: str
    project_id: str
    process_id: str | None = None
    request_id: str = ""
    deadline: Deadline

    def until(self, deadline: Deadline) -> "SearchScope":
        """The same caller with another deadline. Spelt out: `dataclasses.replace` takes several times as long."""
        return SearchScope(
            tenant_id=self.tenant_id,
            project_id=self.project_id,
            process_id=self.process_id,
            request_id=self.request_id,
            deadline=deadline,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search (seed 1, section 4.1).

    `published` is the date window that `date_from`, `date_to` and `freshness_days` come to, resolved once in UTC, so
    that every candidate of a cascade is asked for the same days.
    """

    query: str
    modality: SearchModality
    tier: SearchTier = SearchTier.NORMAL
    max_results: int = 10
    locale: Locale | None = None
    pinned_provider_id: str | None = None
    expert_params: ExpertParams = field(default_factory=ExpertParams)
    published: DateRange | None = None
