"""`run_status`: how far a run is, and what it has found; what `GET /v1/runs/<id>` reads, as a tool."""

from typing import Protocol

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import UnknownThing, Unready
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.plan import NOTHING
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Run, is_run_id
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import Amount, HitArguments
from zarniwoop.tools.dry_run import DryRun
from zarniwoop.tools.research_investigate import MAX_WAIT_SECONDS
from zarniwoop.tools.run_report import RunReport, with_evidence_apart
from zarniwoop.tools.tool import Tool, ToolServices


class RunStatusArguments(HitArguments):
    """Arguments of `run_status`."""

    run_id: str = Field(
        min_length=1, max_length=64, description="`data.run_id` of the answer that started the run (r-…)."
    )
    wait: Amount = Field(
        default=0,
        ge=0,
        le=MAX_WAIT_SECONDS,
        description=(
            "How many seconds to wait for the run's end before it is told as it stands, 0 to 25. 20 spares you asking "
            "again and again."
        ),
    )


class RunLooks(Protocol):
    """What looks at runs, and may wait for their end. Both raise StoreUnavailable when the runs cannot be read."""

    def wait_for_end(self, project: ProjectKey, run_id: str, seconds: float) -> Run | None:
        """The run once it has ended, or as it stands after so many seconds; None for one that is unknown."""
        ...

    def report(self, run: Run) -> RunReport:
        """With the best results that there are so far."""
        ...


def look(runs: RunLooks, scope: SearchScope, run_id: str, wait: float) -> RunReport:
    """The run as its owner sees it, after at most so many seconds. Raises UnknownThing, StoreUnavailable."""
    seconds = min(wait, scope.deadline.remaining())
    return runs.report(known(runs.wait_for_end(ProjectKey.of(scope), checked(run_id), seconds)))


def status(arguments: RunStatusArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """A run that failed is told as one: looking at it went well."""
    try:
        seen = look(services.runs(), scope, arguments.run_id, arguments.wait)
    except StoreUnavailable:
        raise unreadable() from None
    data, evidence = with_evidence_apart(seen)
    return ToolResult(ok=True, data=data, evidence=evidence)


def plan(_arguments: RunStatusArguments, _scope: SearchScope, _services: ToolServices) -> ToolResult:
    """Nobody is ever asked."""
    notes = ("reads what is known of the run, and asks nobody",)
    return ToolResult(ok=True, data=DryRun(tool=RUN_STATUS.name, plans={}, worst_case=NOTHING, notes=notes))


def checked(run_id: str) -> str:
    """A run whose id is no id is as unknown as any other. Raises UnknownThing."""
    if not is_run_id(run_id):
        raise _unknown()
    return run_id


def known(run: Run | None) -> Run:
    """Raises UnknownThing."""
    if run is None:
        raise _unknown()
    return run


def unreadable() -> Unready:
    return Unready(
        "the runs cannot be read right now", suggested_action="ask again after wait_seconds", wait_seconds=1.0
    )


def _unknown() -> UnknownThing:
    return UnknownThing(
        "this project has no such run",
        slug="unknown-run",
        field="run_id",
        suggested_action="use the run_id that research_investigate returned, in the same project",
    )


RUN_STATUS = Tool(
    name="run_status",
    title="Status of a run",
    description=(
        "How far a run is that research_investigate has started, and its result once it has ended. Use it with the "
        "`run_id` of that answer, best with wait=20, until `state` is succeeded, stopped, failed or timed_out; queued, "
        "running and stopping runs go on by themselves. Returns state, outcome, progress by step, counts, cost, and in "
        "`results` the best hits so far with what was dropped and why; `error` says why a run failed. Read-only and "
        "free. Not for starting or stopping a run, nor for searches that answer at once: they have no run."
    ),
    arguments=RunStatusArguments,
    handle=status,
    plan=plan,
    answer=RunReport,
    comes_with=("research_investigate",),
    spends=False,
    max_seconds=MAX_WAIT_SECONDS + 1.0,
)
