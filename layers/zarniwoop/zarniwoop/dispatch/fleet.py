"""The shared state as the dispatcher sees it: it fails open, and remembers what it could not write.

DynamoDB down must not stop a search, and hardly delay it: after a failure the table is left alone for two seconds.
Meanwhile the last cooldowns and credits that were seen, and those that could not be written, hold in this environment,
and a provider's published rate is kept by this environment alone.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.provider import Pacing
from zarniwoop.dispatch.credit import CreditPeriod
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.state import (
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

Returned = TypeVar("Returned")

_CooldownKey = tuple[ProjectKey, Subject, str]
_CreditKey = tuple[ProjectKey, str, str]


class FleetState:
    """`StateStore` that never raises: what is lost is counted in `vance.research.state.unavailable`."""

    def __init__(self, *, store: StateStore, clock: Clock, metrics: Metrics) -> None:
        self._store = store
        self._clock = clock
        self._metrics = metrics
        self._lock = threading.Lock()
        self._rests_until = float("-inf")
        self._seen: Recent[_CooldownKey, Cooldown] = Recent()
        self._unwritten: Recent[_CooldownKey, Cooldown] = Recent()
        self._spent: Recent[_CreditKey, float] = Recent()
        self._unpaid: Recent[_CreditKey, float] = Recent()
        self._turns: Recent[str, float] = Recent()

    def snapshot(self, project: ProjectKey, wanted: Sequence[Wanted]) -> StateSnapshot:
        """One read, and what could not be written so far; when it fails, what was last seen."""
        try:
            snapshot = self._ask("snapshot", lambda: self._store.snapshot(project, wanted))
        except StoreUnavailable:
            snapshot = self._last_seen(project, wanted)
        else:
            self._see(project, wanted, snapshot)
        cooldowns = dict(self._held_here(project, wanted, snapshot))
        unpaid = dict(self._unpaid_here(project, wanted))
        if not cooldowns and not unpaid:
            return snapshot
        spent = {instance_id: snapshot.spent.get(instance_id, 0.0) + amount for instance_id, amount in unpaid.items()}
        return replace(snapshot, cooldowns={**snapshot.cooldowns, **cooldowns}, spent={**snapshot.spent, **spent})

    def extend_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> Cooldown:
        """Write a cooldown; what stands afterwards holds here even when it could not be written."""
        key = (project, cooldown.subject, cooldown.fingerprint)
        try:
            standing = self._ask("cooldown", lambda: self._store.extend_cooldown(project, cooldown))
        except StoreUnavailable:
            self._unwritten.put(key, cooldown)
            return cooldown
        self._unwritten.pop(key)
        self._seen.put(key, standing)
        return standing

    def claim_probe(self, project: ProjectKey, cooldown: Cooldown) -> bool:
        """Whether this caller is the one that may try. With the store down everybody may: an answer beats a rule.

        A cooldown that the table does not have cannot be claimed there: what the table has instead is.
        """
        key = (project, cooldown.subject, cooldown.fingerprint)
        known = self._seen.get(key) if self._unwritten.get(key) == cooldown else cooldown
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
        key = (project, cooldown.subject, cooldown.fingerprint)
        self._unwritten.pop(key)
        self._seen.pop(key)
        try:
            self._ask("close", lambda: self._store.close_cooldown(project, cooldown))
        except StoreUnavailable:
            return

    def save_quota(self, project: ProjectKey, subject: Subject, quota: KeptQuota) -> None:
        try:
            self._ask("quota", lambda: self._store.save_quota(project, subject, quota))
        except StoreUnavailable:
            return

    def add_spent(self, project: ProjectKey, instance_id: str, period: CreditPeriod, amount: float) -> None:
        """Count credit that was spent; what cannot be written is owed, and written with the next."""
        key = (project, instance_id, period.name)
        owed = amount + (self._unpaid.pop(key) or 0.0)
        try:
            spent = self._ask(
                "credit",
                lambda: self._store.add_spent(project, instance_id, period.name, owed, expires_at=period.forgotten_at),
            )
        except StoreUnavailable:
            with self._lock:
                self._unpaid.put(key, owed + (self._unpaid.get(key) or 0.0))
            return
        self._spent.put(key, spent)

    def take_turn(self, pacing: Pacing, *, latest: float) -> Turn:
        """A turn that begins by `latest`, or the news that there is none by then."""
        now = self._clock.now()
        try:
            return self._ask("turn", lambda: self._store.take_turn(pacing, now=now, latest=latest))
        except StoreUnavailable:
            return self._local_turn(pacing, now, latest)

    def forget(self, project: ProjectKey) -> None:
        """Drop the cooldowns that this environment remembers of a project."""
        self._seen.drop(lambda key: key[0] == project)
        self._unwritten.drop(lambda key: key[0] == project)

    def _ask(self, operation: str, ask: Callable[[], Returned]) -> Returned:
        """Ask the store, unless it failed a moment ago. Raises StoreUnavailable, and has counted the loss by then."""
        if self._clock.monotonic() < self._rests_until:
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation=operation)
            raise StoreUnavailable("the shared state failed a moment ago")
        try:
            return ask()
        except StoreUnavailable:
            self._rests_until = self._clock.monotonic() + REST_SECONDS
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation=operation)
            raise

    def _see(self, project: ProjectKey, wanted: Sequence[Wanted], snapshot: StateSnapshot) -> None:
        for each in wanted:
            key, found = (project, each.subject, each.fingerprint), snapshot.cooldowns.get(each.subject)
            if found is None:
                self._seen.pop(key)
            else:
                self._seen.put(key, found)
            if each.credit_period is not None:
                instance_id = each.subject[0]
                self._spent.put((project, instance_id, each.credit_period), snapshot.spent.get(instance_id, 0.0))

    def _last_seen(self, project: ProjectKey, wanted: Sequence[Wanted]) -> StateSnapshot:
        cooldowns = {each.subject: self._seen.get((project, each.subject, each.fingerprint)) for each in wanted}
        spent = {
            each.subject[0]: self._spent.get((project, each.subject[0], each.credit_period)) or 0.0
            for each in wanted
            if each.credit_period is not None
        }
        return StateSnapshot(
            cooldowns={subject: cooldown for subject, cooldown in cooldowns.items() if cooldown is not None},
            spent=spent,
            generation=-1,
        )

    def _held_here(
        self, project: ProjectKey, wanted: Sequence[Wanted], snapshot: StateSnapshot
    ) -> Iterator[tuple[Subject, Cooldown]]:
        """Unwritten cooldowns that hold longer than what the table has. Those that are over are let go of."""
        now = self._clock.now()
        for each in wanted:
            key = (project, each.subject, each.fingerprint)
            held = self._unwritten.get(key)
            if held is None:
                continue
            if now < held.until and _outlasts(held, snapshot.cooldowns.get(each.subject)):
                yield each.subject, held
            else:
                self._unwritten.pop(key)

    def _unpaid_here(self, project: ProjectKey, wanted: Sequence[Wanted]) -> Iterator[tuple[str, float]]:
        for each in wanted:
            instance_id, period = each.subject[0], each.credit_period
            amount = self._unpaid.get((project, instance_id, period)) if period is not None else None
            if amount is not None:
                yield instance_id, amount

    def _local_turn(self, pacing: Pacing, now: float, latest: float) -> Turn:
        with self._lock:
            start = max(now, self._turns.get(pacing.subject) or 0.0)
            if start > latest:
                return Turn(at=start, granted=False)
            self._turns.put(pacing.subject, start + pacing.interval)
            return Turn(at=start, granted=True)


def _outlasts(held: Cooldown, known: Cooldown | None) -> bool:
    return known is None or (held.until_settings_change, held.until) > (known.until_settings_change, known.until)
