"""Every run ends, and every end is told: on a schedule, what executions left undone is done for them.

A step that died, a state machine that was deleted, an ending that could not be written: what is left then is an open
run past its deadline. It is ended as its execution did, with what was found; ending it is conditional, so a step that
writes its own ending just then is not overruled. After that come the ends that somebody wants to hear of and has not.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from zarniwoop.contract.deadline import Deadline
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.many_runs import each_run
from zarniwoop.pipelines.investigate.closing import close
from zarniwoop.pipelines.investigate.folder import RunFolder
from zarniwoop.pipelines.webhook import WebhookUndelivered
from zarniwoop.stores.executions import Execution, Executions, ExecutionStatus
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Ending, Run, RunState
from zarniwoop.wiring import Environment, environment

GONE = "execution_gone"
BROKEN_OFF = "overdue"
UNKNOWN = "execution_unknown"
ASKED_AFTER_SECONDS = 15 * 60.0
"""How long past a run's deadline its execution is asked after in vain before the run is ended without its word."""
_AT_MOST = 400
_SECONDS_TO_END = 15.0
_SECONDS_TO_TELL = 13.0
_WORD_CHARS = 40


def reconcile_runs(
    environment: Callable[[], Environment] = environment,
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, int]]:
    """The Lambda handler behind the schedule: how many runs ended how, how many ends were told, how much was left."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, int]:  # noqa: ARG001 - a schedule's tick
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return _reconcile(services, context)
        finally:
            services.finish()

    return handler


def _reconcile(services: Environment, context: LambdaContext) -> dict[str, int]:
    done = _end_overdue(services, context) + _tell_untold(services, context)
    if done:
        services.log.info("runs were reconciled", extra={"done": dict(done)})
    return dict(done)


def _end_overdue(services: Environment, context: LambdaContext) -> Counter[str]:
    """One run that cannot be ended does not keep the others open; it is tried again at the next tick."""
    executions, ends, files = services.executions, services.run_ends, services.run_files  # made before the threads

    def end(run: Run) -> str:
        ending = _ending_in_any_case(run, executions, services.clock.now())
        return ending.state.value if close(run, ending, ends, files) else "ended_before"

    overdue = services.runs.overdue(services.clock.now(), at_most=_AT_MOST)
    return each_run(overdue, end, services, context, seconds_each=_SECONDS_TO_END)


def _tell_untold(services: Environment, context: LambdaContext) -> Counter[str]:
    """Those that nobody has tried to tell come first: a receiver that hangs must not keep the others waiting."""
    runs, ends, files = services.runs, services.run_ends, services.run_files

    def tell(listed: Run) -> str:
        run = runs.get(listed.project, listed.run_id)
        if run is None or run.tell_at is None or run.tell_at > services.clock.now():
            return "told_before"
        address = RunFolder(files, run.project, run.run_id).webhook_url()
        try:
            told = ends.tell(run, address, Deadline.after(_SECONDS_TO_TELL, services.clock))
        except WebhookUndelivered:
            return "untold"
        return "told" if told else "given_up"

    untold = runs.untold(services.clock.now(), at_most=_AT_MOST)
    if untold:
        ends.webhooks()  # made before the threads
    in_order = sorted(untold, key=lambda run: run.webhook_outcome is not None)
    return each_run(in_order, tell, services, context, seconds_each=_SECONDS_TO_TELL)


def _ending_in_any_case(run: Run, executions: Executions, now: float) -> Ending:
    """A refusal may last: a run that is long overdue ends without its execution's word, and makes room for others."""
    try:
        return _ending(run, executions)
    except StoreUnavailable:
        if now - run.deadline_at < ASKED_AFTER_SECONDS:
            raise
        return _stopped_or(run, Ending(state=RunState.FAILED, error=UNKNOWN))


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
