"""The steps of an investigation by name, and what every one of them goes through.

Before a step does anything, the run is read again, consistently: one that was asked to stop, or has ended meanwhile,
gets no more work, and the state machine is led to its end. What a step returns is small, and measured.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from zarniwoop.contract.failure import ZarniwoopError
from zarniwoop.contract.request import SearchScope
from zarniwoop.pipelines.investigate import deepening, ending, extracting, judging, planning, searching
from zarniwoop.pipelines.investigate.budget import Budget
from zarniwoop.pipelines.investigate.folder import RunFolder
from zarniwoop.pipelines.investigate.services import StepInput, StepServices, Work
from zarniwoop.stores.runs import Run
from zarniwoop.tools.research_investigate import InvestigateArguments

MOST_BYTES = 200_000
"""Step Functions carries 256 KiB from state to state, and an excess is an error that nothing catches."""

Answer = dict[str, Any]


class StepImpossible(ZarniwoopError):  # noqa: N818 - the state machine sees the name
    """The run is unknown or its question is gone, or a step says more than may be carried on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A step. `over` is its answer for a run that shall do no more; without one the step sees to that itself."""

    act: Callable[[Work], Answer]
    over: Mapping[str, Any] | None = None


_TO_THE_END: Mapping[str, Any] = {
    "then": "finish",
    "wave": 1,
    "searches": [],
    "batches": [],
    "parallel": 1,
    "error": None,
}
_NOT_DONE: Mapping[str, Any] = {"ok": False, "error": "over"}

KINDS: Mapping[str, Kind] = {
    "plan": Kind(act=planning.plan, over=_TO_THE_END),
    "search": Kind(act=searching.search, over=_NOT_DONE),
    "merge": Kind(act=searching.merge, over=_TO_THE_END),
    "deepen": Kind(act=deepening.deepen, over=_TO_THE_END),
    "evaluate": Kind(act=judging.evaluate, over=_NOT_DONE),
    "judge": Kind(act=judging.judge, over=_TO_THE_END),
    "refine": Kind(act=planning.refine, over=_TO_THE_END),
    "rerank": Kind(act=judging.rerank, over=_TO_THE_END),
    "rank": Kind(act=judging.rank, over=_TO_THE_END),
    "insights": Kind(act=extracting.insights, over=_TO_THE_END),
    "extract": Kind(act=extracting.extract, over=_NOT_DONE),
    "keep_insights": Kind(act=extracting.keep_insights),
    "finish": Kind(act=ending.finish),
    "fail": Kind(act=ending.fail),
    "webhook": Kind(act=ending.webhook),
}

Step = Callable[[StepInput, StepServices], Answer]


def _step(kind: Kind) -> Step:
    def step(given: StepInput, services: StepServices) -> Answer:
        run = services.runs.get(given.project, given.run_id)
        if run is None:
            raise StepImpossible("there is no such run")
        if kind.over is not None and (run.stop_requested or run.state.is_terminal):
            return dict(kind.over)
        answer = kind.act(_work(given, run, services))
        if len(orjson.dumps(answer)) > MOST_BYTES:
            raise StepImpossible("the step's answer is too large for the state machine")
        return answer

    return step


def _fail(given: StepInput, services: StepServices) -> Answer:
    """The last resort ends the run, whatever is down and whatever is wrong with its files."""
    try:
        return _step(KINDS["fail"])(given, services)
    except Exception:
        run = services.runs.get(given.project, given.run_id)
        if run is None:
            raise
        return ending.fail_without_files(given, run, services)


STEPS: Mapping[str, Step] = {**{name: _step(kind) for name, kind in KINDS.items()}, "fail": _fail}


def _work(given: StepInput, run: Run, services: StepServices) -> Work:
    folder = RunFolder(services.files, given.project, given.run_id)
    document = folder.input()
    if document is None:
        raise StepImpossible("the run's question is gone")
    asked = InvestigateArguments.model_validate(document["arguments"])
    scope = SearchScope(
        tenant_id=given.project.tenant_id,
        project_id=given.project.project_id,
        process_id=document["process_id"],
        request_id=given.run_id,
        deadline=given.deadline,
    )
    budget = Budget.of(run, asked, services.clock.now())
    return Work(given=given, run=run, asked=asked, scope=scope, budget=budget, folder=folder, services=services)
