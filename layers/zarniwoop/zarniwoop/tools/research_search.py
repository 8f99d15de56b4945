"""`research_search`: the standard hit list for a query and a modality."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, Literal, Protocol

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.tools.arguments import ExpertSearchArguments, SearchArguments
from zarniwoop.tools.evidence_links import NOTHING_KEPT, keep_hits, noted
from zarniwoop.tools.outcome import envelope
from zarniwoop.tools.tool import Tool, ToolServices


class Searching(Protocol):
    """The arguments of a tool that makes one search."""

    store_evidence: bool

    def to_request(self, today: date) -> SearchRequest: ...


def search(arguments: Searching, scope: SearchScope, services: ToolServices) -> ToolResult:
    """One search, of any tool that makes one, and its hits kept where that is asked for."""
    result = services.dispatcher.search(_request(arguments, services), scope)
    evidence = NOTHING_KEPT
    if arguments.store_evidence:
        evidence, note = keep_hits([result], scope, services)
        result = noted(result, note)
    told = envelope(result, services.dispatcher.factory.protocols, services.clock.now())
    return replace(told, evidence=evidence)


def plan_of(tool: str) -> Callable[[Searching, SearchScope, ToolServices], ToolResult]:
    """The dry run of a searching tool."""

    def plan(arguments: Searching, scope: SearchScope, services: ToolServices) -> ToolResult:
        from zarniwoop.tools.dry_run import planned

        return planned(tool, services.dispatcher.plan([_request(arguments, services)], scope))

    return plan


def _request(arguments: Searching, services: ToolServices) -> SearchRequest:
    return arguments.to_request(datetime.fromtimestamp(services.clock.now(), tz=UTC).date())


RESEARCH_SEARCH = Tool(
    name="research_search",
    title="Search",
    description=(
        "Search one kind of source for a question: WEB, NEWS, IMAGE, VIDEO, PDF, ACADEMIC, ENCYCLOPEDIA, BOOK, CODE, "
        "MAP, INTERNAL_DOC or RAG. Use it for first contact with a question. The responsible index is chosen for you, "
        "and the next one is asked when it is down, throttled or empty. Returns `hits` (title, url, snippet, source, "
        "authors, published_at, identifiers, inline abstract or lead where there is one) and `attempts`: who was asked "
        "or skipped, and why. No hits with ok=true means that there are none; with ok=false `error` says what to do. "
        "Not for loading pages (web_fetch), for filters by site or date (research_search_expert), or for a question "
        "with several sides (research_investigate)."
    ),
    arguments=SearchArguments,
    handle=search,
    plan=plan_of("research_search"),
    answer=SearchResult,
)

RESEARCH_SEARCH_EXPERT = Tool(
    name="research_search_expert",
    title="Expert search",
    description=(
        "Search one kind of source with filters: site, domain, filetype, date_from, date_to, freshness_days, and "
        "optionally one pinned provider instance that is never replaced by another. Use it to go deeper where you know "
        "what you want: only arxiv.org, only 2024 to 2026, only PDFs. Returns `hits` as research_search does; "
        "`applied` says for each filter whether the provider applied it, it was applied here, or it was ignored and "
        "why; `attempts` says who was asked or skipped. Not for a first look without filters (research_search), and "
        "not for loading pages (web_fetch)."
    ),
    arguments=ExpertSearchArguments,
    handle=search,
    plan=plan_of("research_search_expert"),
    answer=SearchResult,
)

SearchName = Literal["research_search", "research_search_expert"]
SEARCHES: Mapping[SearchName, Tool[Any]] = {
    "research_search": RESEARCH_SEARCH,
    "research_search_expert": RESEARCH_SEARCH_EXPERT,
}
"""What a standing query and a file of questions may ask."""
