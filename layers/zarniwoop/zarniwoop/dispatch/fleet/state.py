"""The shared state as the dispatcher sees it: it fails open, and remembers what it could not write.

DynamoDB down must not stop a search, and hardly delay it: after a failure the table is left alone for two seconds.
Meanwhile what was last seen, and what could not be written, holds in this environment (`fleet_memory`), as do limits
(`fleet_ledger`), and a provider's published rate is kept by this environment alone. Where DynamoDB throttles one item
the rest of the table answers as ever, so it is not left alone; and a turn or a hold that was throttled is none.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.provider import Pacing
from zarniwoop.dispatch.fleet.ledger import FleetLedger
from zarniwoop.dispatch.fleet.local_turns import LocalTurns
from zarniwoop.dispatch.fleet.memory import FleetMemory
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.stores.failure import StoreThrottled, StoreUnavailable
from zarniwoop.stores.state import (
    NO_BUDGETS,
    Cooldown,
    KeptQuota,
    ProjectKey,
    StateSnapshot,
    StateStore,
    Subject,
    Turn,
    Wanted,
)

PROBE_LEASE_SECONDS = 15.0
REST_SECONDS = 2.0
"""How long a table that failed is not asked again: a hanging one costs a second and a half each time."""
TURN_AGAIN_SECONDS = 1.0
"""After how long there may be a turn at a rate whose item was throttled."""

Returned = TypeVar("Returned")


class FleetState:
    """`StateStore` that never raises: what is lost is counted in `vance.research.state.unavailable`."""

    def __init__(self, *, store: StateStore, clock: Clock, metrics: Metrics) -> None:
        self._store = store
        self._clock = clock
        self._metrics = metrics
        self._rests_until = float("-inf")
        self._memory = FleetMemory(clock)
        self._local = LocalTurns()
        self.ledger = FleetLedger(store, self._ask, clock)

    def snapshot(
        self,
        project: ProjectKey,
        wanted: Sequence[Wanted],
        *,
        budget_periods: Mapping[str, str] = NO_BUDGETS,
        results: Sequence[str] = (),
    ) -> StateSnapshot:
        """One read, and what could not be written so far; when it fails, what was last seen, and no kept answer."""
        try:
            snapshot = self._ask(
                "snapshot", lambda: self._store.snapshot(project, wanted, budget_periods, results=results)
            )
        except StoreUnavailable:
            last_seen = self._memory.last_seen(project, wanted)
            snapshot = self.ledger.with_last_seen(project, wanted, budget_periods, last_seen)
        else:
            self._memory.see(project, wanted, snapshot)
            snapshot = self.ledger.corrected(project, wanted, budget_periods, snapshot)
        return self._memory.with_unwritten(project, wanted, snapshot)

    def extend_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> Cooldown:
        """Write a cooldown; what stands afterwards holds here even when it could not be written."""
        try:
            standing = self._ask("cooldown", lambda: self._store.extend_cooldown(project, cooldown))
        except StoreUnavailable:
            self._memory.not_written(project, cooldown)
            return cooldown
        self._memory.written(project, cooldown, standing)
        return standing

    def claim_probe(self, project: ProjectKey, cooldown: Cooldown) -> bool:
        """Whether this caller is the one that may try. With the store down everybody may: an answer beats a rule.

        A cooldown that the table does not have cannot be claimed there: what the table has instead is.
        """
        known = self._memory.in_the_table(project, cooldown)
        if known is None or known.closed:
            return True
        now = self._clock.now()
        try:
            return self._ask(
                "probe",
                lambda: self._store.claim_probe(project, known, now=now, lease_seconds=PROBE_LEASE_SECONDS),
            )
        except StoreUnavailable:
            return True

    def close_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> None:
        self._memory.closed(project, cooldown)
        with suppress(StoreUnavailable):
            self._ask("close", lambda: self._store.close_cooldown(project, cooldown))

    def save_quota(self, project: ProjectKey, subject: Subject, quota: KeptQuota, *, looked_up: bool = False) -> None:
        """`looked_up`: it was asked for by itself, and is newer than whatever is kept."""
        try:
            standing = self._ask("quota", lambda: self._store.save_quota(project, subject, quota, looked_up=looked_up))
        except StoreUnavailable:
            self._memory.quota_not_written(project, subject, quota, looked_up=looked_up)
        else:
            self._memory.quota_written(project, subject, standing)

    def take_turn(self, pacing: Pacing, *, latest: float) -> Turn:
        """A turn that begins by `latest`, or the news that there is none by then."""
        now = self._clock.now()
        try:
            return self._ask("turn", lambda: self._store.take_turn(pacing, now=now, latest=latest))
        except StoreThrottled:
            return Turn(at=now + TURN_AGAIN_SECONDS, granted=False)
        except StoreUnavailable:
            return self._local.take(pacing, now, latest)

    def hold_turn(self, pacing: Pacing, holder: str, *, lease_seconds: float) -> Turn:
        """Keep the others out while this one is served; with the table down, those of this environment."""
        now = self._clock.now()
        try:
            return self._ask(
                "hold", lambda: self._store.hold_turn(pacing, holder, now=now, lease_seconds=lease_seconds)
            )
        except StoreThrottled:
            return Turn(at=now + TURN_AGAIN_SECONDS, granted=False, being_served=True)
        except StoreUnavailable:
            return self._local.hold(pacing, holder, now, lease_seconds)

    def release_turn(self, pacing: Pacing, holder: str) -> None:
        now = self._clock.now()
        self._local.release(pacing, holder, now)
        with suppress(StoreUnavailable):
            self._ask("release", lambda: self._store.release_turn(pacing, holder, now=now))

    def forget(self, project: ProjectKey) -> None:
        """Drop what this environment remembers of a project, its spending aside."""
        self._memory.forget(project)

    def _ask(self, operation: str, ask: Callable[[], Returned]) -> Returned:
        """Ask the store, unless it failed a moment ago. Raises StoreUnavailable, and has counted the loss by then."""
        if self._clock.monotonic() < self._rests_until:
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation=operation)
            raise StoreUnavailable("the shared state failed a moment ago")
        try:
            return ask()
        except StoreUnavailable as failure:
            if not isinstance(failure, StoreThrottled):
                self._rests_until = self._clock.monotonic() + REST_SECONDS
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation=operation)
            raise
