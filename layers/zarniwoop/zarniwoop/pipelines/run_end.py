"""The end of a run, in one place, whoever ends it: its last step, the reconciler, a project's stop, a refused start.

The ending that stands is written once and counted once, by the one in the fleet who wrote it. Where somebody wants to
hear of it, the same write notes that they have not yet. An execution tells of its own end at once, with retries; what
it has not brought home after ten minutes, and every end that no execution can tell of, the reconciler tells, at growing
intervals, for an hour after the end.

Quirk: delivery is at least once. Whoever dies between the receiver's answer and writing it down is repeated, with the
same run id and the same content; a receiver takes a run id that it has seen before for a repetition.
"""

from collections.abc import Callable
from dataclasses import dataclass

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.pipelines.webhook import DELIVERED, WebhookSender, WebhookUndelivered
from zarniwoop.stores.runs import Ending, Run, RunStore

EXECUTION_TELLS_SECONDS = 600.0
"""How long an execution has to tell of its run's end before the reconciler does."""
TOLD_FOR_SECONDS = 3_600.0
NO_ADDRESS = "no_address"
_SHORTEST_PAUSE = 60.0
_WEBHOOK_SECONDS = 12.0
_WORD_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnds:
    """Built once by the wiring. `webhooks` is made when it is first asked for: it has a transport of its own."""

    runs: RunStore
    webhooks: Callable[[], WebhookSender]
    clock: Clock
    metrics: Metrics

    def end(self, run: Run, ending: Ending, *, told_by_execution: bool = False) -> bool:
        """End the run and count it; True for the one in the fleet whose ending stands. Raises StoreUnavailable."""
        now = self.clock.now()
        tell_at = now + (EXECUTION_TELLS_SECONDS if told_by_execution else 0.0) if run.webhook else None
        stands = self.runs.finish(run.project, run.run_id, ending, tell_at=tell_at)
        if stands:
            tag = _tag(ending)
            self.metrics.count(Metric.CURATED_RUNS, outcome=tag)
            self.metrics.time(Metric.CURATED_DURATION, (now - run.created_at) * 1000, outcome=tag)
        return stands

    def tell(self, run: Run, address: str | None, deadline: Deadline) -> bool:
        """One attempt to tell of an end that is still untold; whether it has been told by now.

        `address` is what was left when the run was started. Raises WebhookUndelivered where another attempt may
        succeed, and StoreUnavailable.
        """
        if run.tell_at is None:
            return run.webhook_outcome == DELIVERED
        if address is None:
            self._undelivered(run, NO_ADDRESS, None)
            return False
        try:
            self.webhooks().send(run, address, deadline.within(_WEBHOOK_SECONDS))
        except WebhookUndelivered as failure:
            again = self._next_attempt(run) if failure.retryable else None
            self._undelivered(run, failure.reason, again)
            if again is None:
                return False
            raise
        self.runs.record_webhook(run.project, run.run_id, DELIVERED)
        return True

    def _next_attempt(self, run: Run) -> float | None:
        """Each pause is as long as all that went before; None when it has been tried for long enough."""
        now = self.clock.now()
        waited = now - (run.ended_at or now)
        if waited >= TOLD_FOR_SECONDS:
            return None
        return max(now + max(waited, _SHORTEST_PAUSE), run.tell_at or 0.0)

    def _undelivered(self, run: Run, reason: str, again: float | None) -> None:
        self.runs.record_webhook(run.project, run.run_id, f"undelivered:{reason}"[:_WORD_CHARS], tell_at=again)


def _tag(ending: Ending) -> str:
    """The seed's outcomes where the pipeline came to its end; how it ended where it did not."""
    return (ending.outcome if ending.concluded else None) or ending.state.value
