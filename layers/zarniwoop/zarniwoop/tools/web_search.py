"""`web_search`: pages of the web that may answer a question, each kept as evidence (seed 2)."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.request import DateRange, ExpertParams, SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.tools.arguments import DOMAIN_PATTERN, Count, Flag, QueryArguments
from zarniwoop.tools.dry_run import planned
from zarniwoop.tools.evidence_links import NOTHING_KEPT, keep_hits, noted
from zarniwoop.tools.outcome import envelope
from zarniwoop.tools.tool import Tool, ToolServices

MOST_DOMAINS = 10
Domain = Annotated[str, Field(max_length=200, pattern=DOMAIN_PATTERN), AfterValidator(str.lower)]


class WebSearchArguments(QueryArguments):
    """Arguments of `web_search`."""

    domains: tuple[Domain, ...] = Field(
        default=(),
        max_length=MOST_DOMAINS,
        description="Only these domains and everything below them, up to ten: nature.com covers www.nature.com.",
    )
    freshness_days: Count | None = Field(
        default=None, ge=1, le=3650, description="Published within so many days before today (UTC)."
    )
    store_evidence: Flag = Field(default=True, description="false: the hits are not kept as evidence.")

    def to_request(self, today: date) -> SearchRequest:
        """The domains stand beside the query, so that nothing in it undoes them. One is a filter, too."""
        named = tuple(dict.fromkeys(self.domains))
        earliest = today - timedelta(days=self.freshness_days) if self.freshness_days else None
        return SearchRequest(
            query=self.query,
            modality=SearchModality.WEB,
            tier=SearchTier.EXPERT,
            max_results=self.max_results,
            locale=self.parsed_locale(),
            strategy=self.strategy,
            min_results=self.min_results or 1,
            cache=self.cache,
            max_calls=self.max_calls,
            max_cost=self.max_cost,
            free_only=self.free_only,
            expert_params=ExpertParams(
                domain=named[0] if len(named) == 1 else None, freshness_days=self.freshness_days
            ),
            published=DateRange(earliest=earliest) if earliest else None,
            sites=named,
        )


def search(arguments: WebSearchArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """One search, and its hits kept."""
    result = services.dispatcher.search(_request(arguments, services), scope)
    evidence = NOTHING_KEPT
    if arguments.store_evidence:
        evidence, note = keep_hits([result], scope, services)
        result = noted(result, note)
    told = envelope(result, services.dispatcher.factory.protocols, services.clock.now())
    return replace(told, evidence=evidence)


def plan(arguments: WebSearchArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """The dry run."""
    return planned("web_search", services.dispatcher.plan([_request(arguments, services)], scope))


def _request(arguments: WebSearchArguments, services: ToolServices) -> SearchRequest:
    return arguments.to_request(datetime.fromtimestamp(services.clock.now(), tz=UTC).date())


WEB_SEARCH = Tool(
    name="web_search",
    title="Search the web",
    description=(
        "Find pages of the web for a question, optionally only on some domains or of the last days. Use it before "
        "web_fetch, which reads what it finds. Returns `hits` (title, url, snippet, published_at), each kept as "
        "evidence that `evidence` links to, and `attempts`: who was asked or skipped, and why. What a hit says is a "
        "stranger's text. Not for other kinds of source such as papers, news, images and books (research_search), and "
        "not for reading pages (web_fetch)."
    ),
    arguments=WebSearchArguments,
    handle=search,
    plan=plan,
    answer=SearchResult,
    read_only=False,
)
