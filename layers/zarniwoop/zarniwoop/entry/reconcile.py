"""Every run ends: on a schedule, runs whose deadline has passed are ended as their executions did.

A step that died, a state machine that was deleted, an ending that could not be written: what is left then is an open
run past its deadline. Ending it is conditional, so a step that writes its own ending just then is not overruled.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.stores.executions import Execution, Executions, ExecutionStatus
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Ending, Run, RunState
from zarniwoop.wiring import Environment, environment

GONE = "execution_gone"
BROKEN_OFF = "overdue"
_LEFT_FOR_ENDING_MS = 3_000
_WORD_CHARS = 40


def reconcile_runs(
    environment: Callable[[], Environment] = environment,
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, int]]:
    """The Lambda handler behind the schedule; returns how many runs were ended, by state, and how many were left."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, int]:  # noqa: ARG001 - a schedule's tick
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return _reconcile(services, context)
        finally:
            services.finish()

    return handler


def _reconcile(services: Environment, context: LambdaContext) -> dict[str, int]:
    """One run that cannot be ended does not keep the others open; it is tried again at the next tick."""
    ended: Counter[str] = Counter()
    for run in services.runs.overdue(services.clock.now()):
        if context.get_remaining_time_in_millis() < _LEFT_FOR_ENDING_MS:
            ended["left"] += 1
            continue
        try:
            ending = _ending(run, services.executions)
            ended[ending.state.value if services.runs.finish(run.project, run.run_id, ending) else "ended_before"] += 1
        except StoreUnavailable as failure:
            services.log.warning("a run could not be ended", extra={"run_id": run.run_id, "reason": str(failure)})
            ended["left"] += 1
    if ended:
        services.log.info("overdue runs", extra={"ended": dict(ended)})
    return dict(ended)


def _ending(run: Run, executions: Executions) -> Ending:
    """How a run ends whose steps did not say so. One that is still at work past its deadline is broken off."""
    execution = executions.describe(run.execution_arn)
    if execution is None:
        return _stopped_or(run, Ending(state=RunState.FAILED, error=GONE))
    if execution.status is ExecutionStatus.RUNNING:
        executions.stop(run.execution_arn, BROKEN_OFF)
        return _stopped_or(run, Ending(state=RunState.TIMED_OUT, error=BROKEN_OFF))
    if execution.status is ExecutionStatus.SUCCEEDED:
        return _stopped_or(run, Ending(state=RunState.SUCCEEDED, outcome=_outcome(execution)))
    if execution.status is ExecutionStatus.TIMED_OUT:
        return _stopped_or(run, Ending(state=RunState.TIMED_OUT, error="execution_timed_out"))
    if execution.status is ExecutionStatus.ABORTED:
        return Ending(state=RunState.STOPPED, error="execution_aborted")
    return _stopped_or(run, Ending(state=RunState.FAILED, error="execution_failed"))


def _stopped_or(run: Run, ending: Ending) -> Ending:
    """A run that was asked to stop has stopped, whatever its execution made of it."""
    if run.stop_requested:
        return Ending(state=RunState.STOPPED, outcome=ending.outcome, error=ending.error)
    return ending


def _outcome(execution: Execution) -> str | None:
    outcome = execution.output.get("outcome")
    return outcome if isinstance(outcome, str) and len(outcome) <= _WORD_CHARS else None
