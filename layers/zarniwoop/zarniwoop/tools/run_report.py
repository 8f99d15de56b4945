"""What is told of a run: a receipt when it has been started, and a report whenever somebody looks at it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.contract.result import AnswerSize
from zarniwoop.stores.runs import NodeProgress, Run, RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAccepted:
    """The run is under way; `status_url`, a path of this API, tells how far. Over REST this is a 202."""

    run_id: str
    state: RunState
    status_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A run as its owner sees it. Times are epoch seconds; `cost` holds models and providers.

    `results` is the best that there is so far: the result, else the ranked, else the merged hits; `results_note` says
    why there are none although there should be. `size` is there when the answer was bounded.
    """

    run_id: str
    project_id: str
    tool: str
    state: RunState
    outcome: str | None
    error: str | None
    status_url: str
    request_id: str
    created_at: float
    started_at: float | None
    updated_at: float
    ended_at: float | None
    deadline_at: float
    progress: Mapping[str, NodeProgress]
    counts: Mapping[str, int]
    usage: ModelUsage
    cost: float
    webhook: str | None
    results: Mapping[str, Any] | None = None
    results_note: str | None = None
    size: AnswerSize | None = None
    untrusted: bool = field(default=True, init=False)


def status_url(run: Run) -> str:
    """The project is named, since the reader's token may have several."""
    return f"/v1/runs/{run.run_id}?project_id={run.project.project_id}"


def accepted(run: Run) -> RunAccepted:
    return RunAccepted(run_id=run.run_id, state=run.state, status_url=status_url(run))


def report(run: Run, results: Mapping[str, Any] | None = None, note: str | None = None) -> RunReport:
    return RunReport(
        run_id=run.run_id,
        project_id=run.project.project_id,
        tool=run.tool,
        state=run.state,
        outcome=run.outcome,
        error=run.error,
        status_url=status_url(run),
        request_id=run.request_id,
        created_at=run.created_at,
        started_at=run.started_at,
        updated_at=run.updated_at,
        ended_at=run.ended_at,
        deadline_at=run.deadline_at,
        progress=run.progress,
        counts=run.counts,
        usage=run.usage,
        cost=run.cost,
        webhook=_webhook(run),
        results=results,
        results_note=note,
    )


def with_evidence_apart(told: RunReport) -> tuple[RunReport, tuple[Mapping[str, Any], ...]]:
    """The report and the links of its results to evidence, which the envelope has a place for."""
    links = (told.results or {}).get("evidence")
    if not isinstance(links, list) or told.results is None:
        return told, ()
    rest = {name: value for name, value in told.results.items() if name != "evidence"}
    return replace(told, results=rest), tuple(links)


def _webhook(run: Run) -> str | None:
    return (run.webhook_outcome or "pending") if run.webhook else None
