"""The shared state in memory, with DynamoDB's semantics: every method is atomic."""

from collections.abc import Sequence
from dataclasses import replace

from tests.fakes.clock import FakeClock
from tests.fakes.outage import Outage
from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.provider import Pacing
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, StateSnapshot, Subject
from zarniwoop.stores.state_items import lapses_at

Key = tuple[ProjectKey, Subject]


class InMemoryStateStore(Outage):
    """`stores.state.StateStore`."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self._clock = clock or FakeClock()
        self._cooldowns: dict[Key, Cooldown] = {}
        self._probes: dict[Key, float] = {}
        self._quotas: dict[Key, KeptQuota] = {}
        self._generations: dict[ProjectKey, int] = {}
        self._next_turn: dict[str, float] = {}

    def snapshot(self, project: ProjectKey, subjects: Sequence[Subject]) -> StateSnapshot:
        with self._lock:
            self._called("snapshot")
            now = self._clock.now()
            cooldowns = {subject: self._standing((project, subject)) for subject in subjects}
            quotas = {subject: self._quotas.get((project, subject)) for subject in subjects}
            return StateSnapshot(
                cooldowns={subject: found for subject, found in cooldowns.items() if found},
                quotas={subject: found for subject, found in quotas.items() if found and found.expires_at > now},
                generation=self._generations.get(project, 0),
            )

    def cooldowns(self, project: ProjectKey) -> Sequence[Cooldown]:
        with self._lock:
            self._called("cooldowns")
            found = (self._standing(key) for key in list(self._cooldowns) if key[0] == project)
            return [cooldown for cooldown in found if cooldown]

    def extend_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> Cooldown:
        with self._lock:
            self._called("extend_cooldown")
            key = (project, (cooldown.instance_id, cooldown.modality))
            standing = self._standing(key)
            if standing and not _may_be_replaced(standing, cooldown):
                return standing
            self._cooldowns[key] = cooldown
            self._probes.pop(key, None)
            return cooldown

    def claim_probe(self, project: ProjectKey, cooldown: Cooldown, *, now: float, lease_seconds: float) -> bool:
        with self._lock:
            self._called("claim_probe")
            key = (project, (cooldown.instance_id, cooldown.modality))
            standing = self._standing(key)
            if standing is None or standing.closed:
                return True
            if standing.until != cooldown.until or self._probes.get(key, 0.0) > now:
                return False
            self._probes[key] = now + lease_seconds
            return True

    def close_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> None:
        with self._lock:
            self._called("close_cooldown")
            key = (project, (cooldown.instance_id, cooldown.modality))
            standing = self._standing(key)
            if standing and standing.until == cooldown.until:
                self._cooldowns[key] = replace(standing, closed=True)
                self._probes.pop(key, None)

    def clear_project(self, project: ProjectKey) -> int:
        with self._lock:
            self._called("clear_project")
            cooldowns = [key for key in self._cooldowns if key[0] == project]
            quotas = [key for key in self._quotas if key[0] == project]
            for key in cooldowns:
                del self._cooldowns[key]
                self._probes.pop(key, None)
            for key in quotas:
                del self._quotas[key]
            return len(cooldowns) + len(quotas)

    def bump_generation(self, project: ProjectKey) -> int:
        with self._lock:
            self._called("bump_generation")
            self._generations[project] = self._generations.get(project, 0) + 1
            return self._generations[project]

    def save_quota(self, project: ProjectKey, subject: Subject, quota: KeptQuota) -> None:
        with self._lock:
            self._called("save_quota")
            self._quotas[project, subject] = replace(quota, expires_at=float(int(quota.expires_at)))

    def take_turn(self, pacing: Pacing, calls: int, *, now: float, latest: float) -> float | None:
        with self._lock:
            self._called("take_turn")
            spoken_for = max(now, self._next_turn.get(pacing.subject, 0.0))
            start = max(now, spoken_for - max(pacing.burst - calls, 0) * pacing.interval)
            if start > latest:
                return None
            self._next_turn[pacing.subject] = spoken_for + calls * pacing.interval
            return start

    def _standing(self, key: Key) -> Cooldown | None:
        cooldown = self._cooldowns.get(key)
        return cooldown if cooldown and lapses_at(cooldown) > self._clock.now() else None


def _may_be_replaced(standing: Cooldown, cooldown: Cooldown) -> bool:
    if standing.closed or standing.fingerprint != cooldown.fingerprint:
        return True
    if standing.until_settings_change:
        return False
    return cooldown.until_settings_change or standing.until < cooldown.until
