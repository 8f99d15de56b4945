"""`research_rich`: one query, WEB and IMAGE and VIDEO and NEWS side by side."""

from dataclasses import dataclass, field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import Problem
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import AnswerSize, SearchResult
from zarniwoop.tools.arguments import QueryArguments
from zarniwoop.tools.evidence_links import NOTHING_KEPT, keep_hits, noted
from zarniwoop.tools.outcome import problem_of
from zarniwoop.tools.tool import Tool, ToolServices

MODALITIES = (SearchModality.WEB, SearchModality.IMAGE, SearchModality.VIDEO, SearchModality.NEWS)
"""Where `max_calls` or `max_cost` allow too little for all of them, the first of these get their first provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RichResult:
    """`results` and `problems` by modality; `partial` when some modality could not be answered and another could.

    `size` is there when the request bounded its answer.
    """

    query: str
    results: dict[str, SearchResult]
    problems: dict[str, Problem]
    partial: bool
    cost: float
    credits: float = 0.0
    size: AnswerSize | None = None
    untrusted: bool = field(default=True, init=False)


def rich(arguments: QueryArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """Four searches on one deadline. Fails as a whole only when no modality could be answered."""
    results = services.dispatcher.search_each(_requests(arguments), scope)
    evidence = NOTHING_KEPT
    if arguments.store_evidence:
        evidence, note = keep_hits(results, scope, services)
        results = [noted(result, note) for result in results]
    protocols, now = services.dispatcher.factory.protocols, services.clock.now()
    problems = {
        str(result.modality): problem
        for result in results
        if (problem := problem_of(result, protocols, now)) is not None
    }
    answered = len(problems) < len(results)
    data = RichResult(
        query=arguments.query,
        results={str(result.modality): result for result in results},
        problems=problems,
        partial=bool(problems) and answered,
        cost=sum(result.cost for result in results),
        credits=sum(result.credits for result in results),
    )
    error = None if answered else _worst(problems)
    return ToolResult(ok=answered, data=data, error=error, evidence=evidence)


def plan(arguments: QueryArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """The dry run: all four, on one read of the shared state."""
    from zarniwoop.tools.dry_run import planned

    plans = services.dispatcher.plan(_requests(arguments), scope)
    return planned("research_rich", plans, max_calls=arguments.max_calls, max_cost=arguments.max_cost)


def _requests(arguments: QueryArguments) -> list[SearchRequest]:
    return [arguments.request_for(modality) for modality in MODALITIES]


def _worst(problems: dict[str, Problem]) -> Problem:
    """The problem that time heals soonest stands for all."""
    return min(problems.values(), key=lambda each: (not each.retryable, each.wait_seconds or 0.0))


RESEARCH_RICH = Tool(
    name="research_rich",
    title="Rich search",
    description=(
        "One query over WEB, IMAGE, VIDEO and NEWS at once. Use it to see what there is on a subject, with visual "
        "context, in one step. Returns `results` by modality, each with `hits` as research_search has them; a modality "
        "that could not be answered is named under `problems` and does not spoil the others. Not for one kind of "
        "source (research_search): these are four searches, each with the provider calls of one."
    ),
    arguments=QueryArguments,
    handle=rich,
    plan=plan,
    answer=RichResult,
)
