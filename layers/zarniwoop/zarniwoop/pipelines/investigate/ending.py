"""The steps that end a run: `finish`, `fail` for what nobody expected, and `webhook`.

An ending is composed out of whatever files there are. The result is written before the run is ended, so whoever sees
the end sees the result. Runs that their steps do not end are closed by `closing`.
"""

from typing import Any

from zarniwoop.pipelines.investigate.evidence import keep_survivors
from zarniwoop.pipelines.investigate.optional import STEP_FAILED
from zarniwoop.pipelines.investigate.result import PLAN_FAILED, Composed, compose, is_concluded
from zarniwoop.pipelines.investigate.services import StepInput, StepServices, Work
from zarniwoop.stores.run_files import RESULT
from zarniwoop.stores.runs import Ending, Run, RunState

_CAUGHT = {
    "States.Timeout": "step_timed_out",
    "StoreUnavailable": "store_unavailable",
    "ConfigurationUnavailable": "config_unavailable",
    "ModelThrottled": "model_throttled",
    "ModelUnavailable": "model_unavailable",
}
"""What the state machine caught, in our words."""


def finish(work: Work) -> dict[str, Any]:
    """The end that the pipeline came to: as it was meant, or because it was asked to stop."""
    if work.run.state.is_terminal:
        return _told(work, work.run.state, work.run.outcome)
    given = work.given.error
    composed = _composed(work, _CAUGHT.get(given, given) if given else None)
    state = RunState.STOPPED if work.run.stop_requested else RunState.SUCCEEDED
    if state is RunState.SUCCEEDED and composed.outcome == PLAN_FAILED:
        state = RunState.FAILED
    if state is RunState.SUCCEEDED and work.asked.store_evidence:
        composed = composed.with_evidence(*keep_survivors(work, composed.survivors))
    return _ended(work, state, composed)


def fail(work: Work) -> dict[str, Any]:
    """A step died: what was found until then is kept. Raises StoreUnavailable where even that cannot be written."""
    if work.run.state.is_terminal:
        return _told(work, work.run.state, work.run.outcome)
    state = RunState.STOPPED if work.run.stop_requested else RunState.FAILED
    return _ended(work, state, _composed(work, _word(work.given)))


def fail_without_files(given: StepInput, run: Run, services: StepServices) -> dict[str, Any]:
    """The same where S3 does not answer either: the run ends, and shows what it had written.

    The webhook's address is in S3 too; its own retries may find it there by then.
    """
    state = RunState.STOPPED if run.stop_requested else RunState.FAILED
    services.ends.end(run, Ending(state=state, error=_word(given)), told_by_execution=True)
    return {"state": state.value, "outcome": None, "webhook": run.webhook}


def webhook(work: Work) -> dict[str, Any]:
    """One attempt to tell of the end. Raises WebhookUndelivered where another may succeed."""
    return {"delivered": work.services.ends.tell(work.run, work.asked.webhook_url, work.scope.deadline)}


def _composed(work: Work, error: str | None) -> Composed:
    """With the sums as they stand by now, after the last step's report."""
    run = work.services.runs.get(work.run.project, work.run.run_id) or work.run
    return compose(run, work.folder, work.asked.question, error=error)


def _ended(work: Work, state: RunState, composed: Composed) -> dict[str, Any]:
    error = composed.error if state is RunState.FAILED else None
    ending = Ending(state=state, outcome=composed.outcome, error=error, concluded=is_concluded(state, composed.outcome))
    work.folder.write(RESULT, composed.ended(ending))
    if not work.services.ends.end(work.run, ending, told_by_execution=True):
        ending = _standing(work) or ending
        work.folder.write(RESULT, composed.ended(ending))
    return _told(work, ending.state, ending.outcome)


def _standing(work: Work) -> Ending | None:
    """How somebody else has ended the run; None where it is gone."""
    run = work.services.runs.get(work.run.project, work.run.run_id)
    return Ending(state=run.state, outcome=run.outcome, error=run.error) if run and run.state.is_terminal else None


def _word(given: StepInput) -> str:
    return _CAUGHT.get(given.error or "", STEP_FAILED)


def _told(work: Work, state: RunState, outcome: str | None) -> dict[str, Any]:
    return {"state": state.value, "outcome": outcome, "webhook": work.run.webhook}
