"""The steps that end a run: `finish`, `fail` for what nobody expected, and `webhook`.

An ending is composed out of whatever files there are. The result is written before the run is ended, so whoever sees
the end sees the result; the run is ended by one caller in the fleet, who also counts it.
"""

from typing import Any

from zarniwoop.observe.metrics import Metric
from zarniwoop.pipelines.investigate.result import PLAN_FAILED, Composed, compose
from zarniwoop.pipelines.investigate.services import StepInput, StepServices, Work
from zarniwoop.pipelines.webhook import DELIVERED, WebhookUndelivered
from zarniwoop.stores.run_files import RESULT
from zarniwoop.stores.runs import Ending, Run, RunState

STEP_FAILED = "step_failed"
_CAUGHT = {
    "States.Timeout": "step_timed_out",
    "StoreUnavailable": "store_unavailable",
    "ConfigurationUnavailable": "config_unavailable",
    "ModelThrottled": "model_throttled",
    "ModelUnavailable": "model_unavailable",
}
"""What the state machine caught, in our words."""
_WEBHOOK_SECONDS = 12.0


def finish(work: Work) -> dict[str, Any]:
    """The end that the pipeline came to: as it was meant, or because it was asked to stop."""
    if work.run.state.is_terminal:
        return _told(work, work.run.state, work.run.outcome)
    given = work.given.error
    composed = compose(work, error=_CAUGHT.get(given, given) if given else None)
    state = RunState.STOPPED if work.run.stop_requested else RunState.SUCCEEDED
    if state is RunState.SUCCEEDED and composed.outcome == PLAN_FAILED:
        state = RunState.FAILED
    return _ended(work, state, composed)


def fail(work: Work) -> dict[str, Any]:
    """A step died: what was found until then is kept. Raises StoreUnavailable where even that cannot be written."""
    if work.run.state.is_terminal:
        return _told(work, work.run.state, work.run.outcome)
    state = RunState.STOPPED if work.run.stop_requested else RunState.FAILED
    return _ended(work, state, compose(work, error=_word(work.given)))


def fail_without_files(given: StepInput, run: Run, services: StepServices) -> dict[str, Any]:
    """The same where S3 does not answer either: the run ends, and shows what it had written."""
    state = RunState.STOPPED if run.stop_requested else RunState.FAILED
    if services.runs.finish(given.project, given.run_id, Ending(state=state, error=_word(given))):
        _count(services, run, state, None)
    return {"state": state.value, "outcome": None, "webhook": False}


def webhook(work: Work) -> dict[str, Any]:
    """One attempt to tell of the end. Raises WebhookUndelivered where another may succeed."""
    url = work.asked.webhook_url
    if url is None or work.run.webhook_outcome == DELIVERED:
        return {"delivered": url is not None}
    project, run_id = work.run.project, work.run.run_id
    try:
        work.services.webhooks().send(work.run, url, work.scope.deadline.within(_WEBHOOK_SECONDS))
    except WebhookUndelivered as failure:
        work.services.runs.record_webhook(project, run_id, f"undelivered:{failure.reason}"[:80])
        if failure.retryable:
            raise
        return {"delivered": False}
    work.services.runs.record_webhook(project, run_id, DELIVERED)
    return {"delivered": True}


def _ended(work: Work, state: RunState, composed: Composed) -> dict[str, Any]:
    project, run_id = work.run.project, work.run.run_id
    work.folder.write(RESULT, {**composed.document, "state": state})
    error = composed.error if state is RunState.FAILED else None
    if work.services.runs.finish(project, run_id, Ending(state=state, outcome=composed.outcome, error=error)):
        _count(work.services, work.run, state, composed.outcome)
    run = work.services.runs.get(project, run_id) or work.run
    return _told(work, run.state, run.outcome)


def _word(given: StepInput) -> str:
    return _CAUGHT.get(given.error or "", STEP_FAILED)


def _count(services: StepServices, run: Run, state: RunState, outcome: str | None) -> None:
    """The seed's outcomes where the pipeline came to its end; how it ended where it did not."""
    tag = outcome if state is RunState.SUCCEEDED or outcome == PLAN_FAILED else state.value
    took = (services.clock.now() - run.created_at) * 1000
    services.metrics.count(Metric.CURATED_RUNS, outcome=tag or state.value)
    services.metrics.time(Metric.CURATED_DURATION, took, outcome=tag or state.value)


def _told(work: Work, state: RunState, outcome: str | None) -> dict[str, Any]:
    return {"state": state.value, "outcome": outcome, "webhook": work.run.webhook}
