"""The shared state as the dispatcher sees it: it fails open, and remembers what it could not write.

DynamoDB down must not stop a search. Then the last cooldowns that were seen, and those that could not be written, still
hold in this environment, and a provider's published rate is kept by this environment alone.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.provider import Pacing
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, StateSnapshot, StateStore, Subject

PROBE_LEASE_SECONDS = 15.0


class FleetState:
    """`StateStore` that never raises: what is lost is counted in `vance.research.state.unavailable`."""

    def __init__(self, *, store: StateStore, clock: Clock, metrics: Metrics) -> None:
        self._store = store
        self._clock = clock
        self._metrics = metrics
        self._lock = threading.Lock()
        self._seen: dict[tuple[ProjectKey, Subject], Cooldown] = {}
        self._unwritten: dict[tuple[ProjectKey, Subject], Cooldown] = {}
        self._turns: dict[str, float] = {}

    def snapshot(self, project: ProjectKey, subjects: Sequence[Subject]) -> StateSnapshot:
        """One read; when it fails, the last known cooldowns."""
        try:
            snapshot = self._store.snapshot(project, subjects)
        except StoreUnavailable:
            self._lost("snapshot")
            return StateSnapshot(cooldowns=self._remembered(project, subjects), generation=-1)
        with self._lock:
            for subject in subjects:
                found = snapshot.cooldowns.get(subject)
                if found is None:
                    self._seen.pop((project, subject), None)
                else:
                    self._seen[project, subject] = found
        unwritten = self._unwritten_of(project, subjects)
        return replace(snapshot, cooldowns={**snapshot.cooldowns, **unwritten}) if unwritten else snapshot

    def extend_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> Cooldown:
        """Write a cooldown; what stands afterwards holds here even when it could not be written."""
        key = (project, (cooldown.instance_id, cooldown.modality))
        try:
            standing = self._store.extend_cooldown(project, cooldown)
        except StoreUnavailable:
            self._lost("cooldown")
            with self._lock:
                self._unwritten[key] = cooldown
            return cooldown
        with self._lock:
            self._unwritten.pop(key, None)
            self._seen[key] = standing
        return standing

    def claim_probe(self, project: ProjectKey, cooldown: Cooldown) -> bool:
        """Whether this caller is the one that may try. With the store down everybody may: an answer beats a rule."""
        try:
            return self._store.claim_probe(project, cooldown, now=self._clock.now(), lease_seconds=PROBE_LEASE_SECONDS)
        except StoreUnavailable:
            self._lost("probe")
            return True

    def close_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> None:
        with self._lock:
            self._unwritten.pop((project, (cooldown.instance_id, cooldown.modality)), None)
            self._seen.pop((project, (cooldown.instance_id, cooldown.modality)), None)
        try:
            self._store.close_cooldown(project, cooldown)
        except StoreUnavailable:
            self._lost("close")

    def save_quota(self, project: ProjectKey, subject: Subject, quota: KeptQuota) -> None:
        try:
            self._store.save_quota(project, subject, quota)
        except StoreUnavailable:
            self._lost("quota")

    def take_turn(self, pacing: Pacing, calls: int, *, latest: float) -> float | None:
        """The epoch second at which to start, or None when that would be too late."""
        now = self._clock.now()
        try:
            return self._store.take_turn(pacing, calls, now=now, latest=latest)
        except StoreUnavailable:
            self._lost("turn")
            return self._local_turn(pacing, calls, now, latest)

    def forget(self, project: ProjectKey) -> None:
        """Drop what this environment remembers of a project."""
        with self._lock:
            for memory in (self._seen, self._unwritten):
                for key in [key for key in memory if key[0] == project]:
                    del memory[key]

    def _local_turn(self, pacing: Pacing, calls: int, now: float, latest: float) -> float | None:
        with self._lock:
            free_at = self._turns.get(pacing.subject, 0.0)
            start = max(now, free_at - max(0, pacing.burst - calls) * pacing.interval)
            if start > latest:
                return None
            self._turns[pacing.subject] = max(now, free_at) + calls * pacing.interval
            return start

    def _remembered(self, project: ProjectKey, subjects: Sequence[Subject]) -> dict[Subject, Cooldown]:
        with self._lock:
            seen = {subject: self._seen[project, subject] for subject in subjects if (project, subject) in self._seen}
        return {**seen, **self._unwritten_of(project, subjects)}

    def _unwritten_of(self, project: ProjectKey, subjects: Sequence[Subject]) -> dict[Subject, Cooldown]:
        with self._lock:
            return {
                subject: self._unwritten[project, subject]
                for subject in subjects
                if (project, subject) in self._unwritten
            }

    def _lost(self, operation: str) -> None:
        self._metrics.count(Metric.STATE_UNAVAILABLE, operation=operation)
