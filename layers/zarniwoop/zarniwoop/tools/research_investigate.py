"""`research_investigate`: a question planned into searches, asked in parallel, judged and ranked; a run, not a call."""

from typing import Annotated, Protocol

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import Problem
from zarniwoop.contract.request import SearchScope
from zarniwoop.stores.runs import RunState
from zarniwoop.tools.arguments import MAX_QUERY_CHARS, Amount, Count, Flag, HitArguments, Words
from zarniwoop.tools.dry_run import DryRun
from zarniwoop.tools.run_report import RunAccepted, RunReport, with_evidence_apart
from zarniwoop.tools.tool import Tool, ToolServices

MAX_WAIT_SECONDS = 25
SAME_RUN = frozenset(("wait", "idempotency_key", "max_chars"))
"""Arguments in which two requests under one key may differ."""
_WENT_WRONG = frozenset((RunState.FAILED, RunState.TIMED_OUT))


class InvestigateArguments(HitArguments):
    """Arguments of `research_investigate`. Budgets are ceilings: near one, no new work is started.

    No provider's call exceeds `max_cost` or `max_calls`, however many searches of the run are made at once.
    """

    question: Words = Field(
        min_length=1, max_length=MAX_QUERY_CHARS, description="What you want to know, in plain words of any language."
    )
    modalities: Annotated[tuple[SearchModality, ...], Field(min_length=1, max_length=len(SearchModality))] | None = (
        Field(default=None, description="Only these kinds of source: [ACADEMIC, NEWS]. Without it, whatever fits.")
    )
    max_searches: Count = Field(default=6, ge=1, le=20, description="How many searches the plan may hold, 1 to 20.")
    max_results: Count = Field(default=10, ge=1, le=25, description="How many hits each search may bring, 1 to 25.")
    max_concurrency: Count = Field(default=10, ge=1, le=20, description="How many searches run at once, 1 to 20.")
    refine: Flag = Field(default=True, description="Whether a second, smaller wave of searches may fill gaps, once.")
    refine_depth: Count = Field(
        default=0, ge=0, le=1, description="1: the bodies of the best hits are loaded before they are judged."
    )
    store_evidence: Flag = Field(
        default=False, description="true: the survivors are kept as evidence under the run's id as their task."
    )
    insights: Flag = Field(
        default=False,
        description="Whether a model draws entities and relations out of the survivors, merged into GET /v1/insights.",
    )
    wall_seconds: Count = Field(default=300, ge=10, le=900, description="How long the run may take, 10 to 900 seconds.")
    max_model_tokens: Count = Field(
        default=200_000, ge=1_000, le=2_000_000, description="How many tokens models may read and write for this run."
    )
    max_cost: Amount = Field(
        default=1.0,
        ge=0,
        le=100,
        description="What the run may cost at providers and models together, in USD, 0 to 100.",
    )
    max_calls: Count | None = Field(
        default=None, ge=1, le=1_000, description="How many requests the run may send to providers at most, 1 to 1000."
    )
    free_only: Flag = Field(default=False, description="true: ask only providers whose calls cost nothing.")
    wait: Amount = Field(
        default=0,
        ge=0,
        le=MAX_WAIT_SECONDS,
        description="How many seconds to wait for the result before a run id is given instead, 0 to 25.",
    )
    webhook_url: str | None = Field(
        default=None,
        min_length=1,
        max_length=2_000,
        description="A public https address that is sent a signed POST when the run has ended.",
    )
    idempotency_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=255,
        description=(
            "The same key twice is one run. Over HTTP, the header Idempotency-Key says the same; over MCP, without "
            "any, the same arguments within an hour are one run."
        ),
    )


class Investigations(Protocol):
    """What starts an investigation and may wait for it."""

    def investigate(self, arguments: InvestigateArguments, scope: SearchScope) -> RunAccepted | RunReport:
        """A report once the run has ended within `wait`, else the receipt. Raises CallerError; nothing runs then."""
        ...


def investigate(arguments: InvestigateArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """The receipt or the result; a run that went wrong while the caller waited is told as a problem beside it."""
    data = services.investigations().investigate(arguments, scope)
    problem = _problem(data)
    if isinstance(data, RunAccepted):
        return ToolResult(ok=True, data=data)
    told, evidence = with_evidence_apart(data)
    return ToolResult(ok=problem is None, data=told, error=problem, evidence=evidence)


class Forecasts(Protocol):
    """What tells how an investigation would go, without starting one."""

    def forecast(self, arguments: InvestigateArguments, scope: SearchScope) -> DryRun:
        """Out of settings and shared state: no model and no provider is asked. Raises CallerError."""
        ...


def plan(arguments: InvestigateArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """The dry run; no run begins."""
    return ToolResult(ok=True, data=services.forecasts().forecast(arguments, scope))


def _problem(data: RunAccepted | RunReport) -> Problem | None:
    if isinstance(data, RunAccepted) or data.state not in _WENT_WRONG:
        return None
    return Problem(
        type=f"urn:zarniwoop:problem:run-{data.state.replace('_', '-')}",
        title="The investigation did not get to its end",
        status=200,
        detail=f"the run ended as {data.state}: {data.error or 'no reason is known'}",
        retryable=True,
        suggested_action="look at `results` for what was found until then, or start another run",
    )


RESEARCH_INVESTIGATE = Tool(
    name="research_investigate",
    title="Investigate",
    description=(
        "Answer a question with curated sources: it is planned into several searches over different kinds of source, "
        "they run in parallel, and what they find is merged, judged against the question and ranked. Use it instead of "
        "a row of single searches when a question has several sides. Returns a `run_id` at once, which run_status "
        "watches and reads, or the result when it is ready within `wait` seconds: hits ranked by relevance, and "
        "dropped ones with the reason. It takes seconds to minutes and several provider calls. Not for one list of "
        "hits (research_search), nor for reading a page (web_fetch)."
    ),
    arguments=InvestigateArguments,
    handle=investigate,
    plan=plan,
    answer=RunAccepted | RunReport,
    read_only=False,
    max_seconds=MAX_WAIT_SECONDS + 1.0,
)
