"""`research_search`: the standard hit list for a query and a modality."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.tools.arguments import ExpertSearchArguments, SearchArguments
from zarniwoop.tools.evidence_links import NOTHING_KEPT, keep_hits, noted
from zarniwoop.tools.outcome import envelope
from zarniwoop.tools.tool import Tool, ToolServices


def search(arguments: SearchArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """One search of either tier."""
    result = services.dispatcher.search(_request(arguments, services), scope)
    evidence = NOTHING_KEPT
    if arguments.store_evidence:
        evidence, note = keep_hits([result], scope, services)
        result = noted(result, note)
    told = envelope(result, services.dispatcher.factory.protocols, services.clock.now())
    return replace(told, evidence=evidence)


def plan_of(tool: str) -> Callable[[SearchArguments, SearchScope, ToolServices], ToolResult]:
    """The dry run of a searching tool."""

    def plan(arguments: SearchArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
        from zarniwoop.tools.dry_run import planned

        return planned(tool, services.dispatcher.plan([_request(arguments, services)], scope))

    return plan


def _request(arguments: SearchArguments, services: ToolServices) -> SearchRequest:
    return arguments.to_request(datetime.fromtimestamp(services.clock.now(), tz=UTC).date())


RESEARCH_SEARCH = Tool(
    name="research_search",
    title="Search",
    description=(
        "Search one kind of source for a question: WEB, NEWS, IMAGE, VIDEO, PDF, ACADEMIC, ENCYCLOPEDIA, BOOK, … "
        "The responsible index is chosen for you, and the next one is asked when it is down, throttled or empty. "
        "Use it for first contact with a question. Returns hits (title, url, snippet, source, authors, published_at, "
        "identifiers, inline abstract or lead where there is one) and `attempts`: who was asked or skipped, and why. "
        "Not for loading pages, and not for filtering by site or date: use research_search_expert for that."
    ),
    arguments=SearchArguments,
    handle=search,
    plan=plan_of("research_search"),
)

RESEARCH_SEARCH_EXPERT = Tool(
    name="research_search_expert",
    title="Expert search",
    description=(
        "Search one kind of source with filters: site, domain, filetype, date_from, date_to, freshness_days, and "
        "optionally one pinned provider instance that is never replaced by another. Use it to go deeper where you know "
        "what you want: only arxiv.org, only 2024 to 2026, only PDFs. `applied` in the answer says for each filter "
        "whether the provider applied it, it was applied here, or it was ignored and why."
    ),
    arguments=ExpertSearchArguments,
    handle=search,
    plan=plan_of("research_search_expert"),
)
