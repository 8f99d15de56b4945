"""The shared state in memory, with DynamoDB's semantics: every method is atomic."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tests.fakes.clock import FakeClock
from tests.fakes.outage import Outage
from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.provider import Pacing
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, StateSnapshot, Subject, Turn, Wanted
from zarniwoop.stores.state_items import lapses_at

Key = tuple[ProjectKey, Subject, str]
"""Whose cooldown, of what, under which settings."""


class InMemoryStateStore(Outage):
    """`stores.state.StateStore`."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self._clock = clock or FakeClock()
        self._cooldowns: dict[Key, Cooldown] = {}
        self._probes: dict[Key, float] = {}
        self._quotas: dict[tuple[ProjectKey, Subject], KeptQuota] = {}
        self._spent: dict[tuple[ProjectKey, str, str], tuple[float, float]] = {}
        self._generations: dict[ProjectKey, int] = {}
        self._tenant_generations: Counter[str] = Counter()
        self._next_turn: dict[str, float] = {}

    def snapshot(self, project: ProjectKey, wanted: Sequence[Wanted]) -> StateSnapshot:
        with self._lock:
            self._called("snapshot")
            now = self._clock.now()
            cooldowns = {each.subject: self._standing((project, each.subject, each.fingerprint)) for each in wanted}
            quotas = {each.subject: self._quotas.get((project, each.subject)) for each in wanted}
            spent = {
                each.subject[0]: self._spent.get((project, each.subject[0], each.credit_period or ""))
                for each in wanted
            }
            return StateSnapshot(
                cooldowns={subject: found for subject, found in cooldowns.items() if found},
                quotas={subject: found for subject, found in quotas.items() if found and found.expires_at > now},
                spent={instance_id: found[0] for instance_id, found in spent.items() if found and found[1] > now},
                generation=self._generations.get(project, 0) + self._tenant_generations[project.tenant_id],
            )

    def cooldowns_of(self, project: ProjectKey) -> Sequence[Cooldown]:
        """What is written there, for tests to look at."""
        with self._lock:
            return [cooldown for key, cooldown in self._cooldowns.items() if key[0] == project]

    def extend_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> Cooldown:
        with self._lock:
            self._called("extend_cooldown")
            key = (project, cooldown.subject, cooldown.fingerprint)
            standing = self._standing(key)
            if standing and not _may_be_replaced(standing, cooldown):
                return standing
            self._cooldowns[key] = cooldown
            self._probes.pop(key, None)
            return cooldown

    def claim_probe(self, project: ProjectKey, cooldown: Cooldown, *, now: float, lease_seconds: float) -> bool:
        with self._lock:
            self._called("claim_probe")
            key = (project, cooldown.subject, cooldown.fingerprint)
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
            key = (project, cooldown.subject, cooldown.fingerprint)
            standing = self._standing(key)
            if standing and standing.until == cooldown.until:
                self._cooldowns[key] = replace(standing, closed=True)
                self._probes.pop(key, None)

    def clear_project(self, project: ProjectKey) -> int:
        with self._lock:
            self._called("clear_project")
            cooldowns = [key for key in self._cooldowns if key[0] == project]
            quotas = [subject for owner, subject in self._quotas if owner == project]
            for key in cooldowns:
                del self._cooldowns[key]
                self._probes.pop(key, None)
            for subject in quotas:
                del self._quotas[project, subject]
            return len(cooldowns) + len(quotas)

    def bump_generation(self, project: ProjectKey) -> int:
        with self._lock:
            self._called("bump_generation")
            self._generations[project] = self._generations.get(project, 0) + 1
            return self._generations[project]

    def bump_tenant_generation(self, tenant_id: str) -> None:
        with self._lock:
            self._called("bump_tenant_generation")
            self._tenant_generations[tenant_id] += 1

    def save_quota(self, project: ProjectKey, subject: Subject, quota: KeptQuota) -> None:
        with self._lock:
            self._called("save_quota")
            self._quotas[project, subject] = replace(quota, expires_at=float(int(quota.expires_at)))

    def add_spent(
        self, project: ProjectKey, instance_id: str, credit_period: str, amount: float, *, expires_at: float | None
    ) -> float:
        with self._lock:
            self._called("add_spent")
            key = (project, instance_id, credit_period)
            spent = self._spent.get(key, (0.0, 0.0))[0] + amount
            self._spent[key] = (spent, float("inf") if expires_at is None else expires_at)
            return spent

    def take_turn(self, pacing: Pacing, *, now: float, latest: float) -> Turn:
        with self._lock:
            self._called("take_turn")
            start = max(now, self._next_turn.get(pacing.subject, 0.0))
            if start > latest:
                return Turn(at=start, granted=False)
            self._next_turn[pacing.subject] = start + pacing.interval
            return Turn(at=start, granted=True)

    def _standing(self, key: Key) -> Cooldown | None:
        cooldown = self._cooldowns.get(key)
        return cooldown if cooldown and lapses_at(cooldown) > self._clock.now() else None


def _may_be_replaced(standing: Cooldown, cooldown: Cooldown) -> bool:
    if standing.closed:
        return True
    if standing.until_settings_change:
        return False
    return cooldown.until_settings_change or standing.until < cooldown.until
