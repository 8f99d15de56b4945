"""The shared state in memory, with DynamoDB's semantics: every method is atomic."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.fakes.clock import FakeClock
from tests.fakes.ledger import InMemoryLedger
from tests.fakes.result_store import InMemoryResultStore
from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.provider import Pacing
from zarniwoop.stores.ledger import Account
from zarniwoop.stores.state import (
    NO_BUDGETS,
    Cooldown,
    KeptQuota,
    ProjectKey,
    StateSnapshot,
    Subject,
    Turn,
    Wanted,
    credit_account,
    pools_among,
)
from zarniwoop.stores.state_items import lapses_at

Key = tuple[ProjectKey, Subject, str]
"""Whose cooldown, of what, under which settings."""


class InMemoryStateStore(InMemoryLedger):
    """`stores.state.StateStore`."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self._clock = clock or FakeClock()
        self._cooldowns: dict[Key, Cooldown] = {}
        self._probes: dict[Key, float] = {}
        self._quotas: dict[tuple[ProjectKey, Subject], KeptQuota] = {}
        self._generations: dict[ProjectKey, int] = {}
        self._tenant_generations: Counter[str] = Counter()
        self.results = InMemoryResultStore(self._clock)
        self._next_turn: dict[str, float] = {}
        self._held: dict[str, tuple[str | None, float]] = {}

    def snapshot(
        self,
        project: ProjectKey,
        wanted: Sequence[Wanted],
        budget_periods: Mapping[str, str] = NO_BUDGETS,
        results: Sequence[str] = (),
    ) -> StateSnapshot:
        with self._lock:
            self._called("snapshot")
            now = self._clock.now()
            known = {
                (subject, fingerprint): cooldown
                for owner, subject, fingerprint in list(self._cooldowns)
                if owner == project and (cooldown := self._standing((owner, subject, fingerprint)))
            }
            accounts = {each.subject[0]: credit_account(project, each) for each in wanted}
            budgets = {name: Account.of_budget(name, project, period) for name, period in budget_periods.items()}
            return StateSnapshot(
                pools=pools_among(wanted, known),
                cooldowns={
                    each.subject: standing
                    for each in wanted
                    if (standing := known.get((each.subject, each.fingerprint)))
                },
                quotas={
                    each.subject: quota
                    for each in wanted
                    if (quota := self._quotas.get((project, each.subject))) and quota.expires_at > now
                },
                spent={
                    instance_id: self.standing(account).committed.amount
                    for instance_id, account in accounts.items()
                    if account is not None and self.is_kept(account, now)
                },
                budgets={
                    name: self.standing(account) for name, account in budgets.items() if self.is_kept(account, now)
                },
                generation=self._generations.get(project, 0) + self._tenant_generations[project.tenant_id],
                results={identity: found for identity in results if (found := self.results.look(project, identity))},
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
            return len(cooldowns) + len(quotas) + self.results.clear(project)

    def bump_generation(self, project: ProjectKey) -> int:
        with self._lock:
            self._called("bump_generation")
            self._generations[project] = self._generations.get(project, 0) + 1
            return self._generations[project]

    def bump_tenant_generation(self, tenant_id: str) -> None:
        with self._lock:
            self._called("bump_tenant_generation")
            self._tenant_generations[tenant_id] += 1

    def save_quota(
        self, project: ProjectKey, subject: Subject, quota: KeptQuota, *, looked_up: bool = False
    ) -> KeptQuota:
        with self._lock:
            self._called("save_quota")
            standing = self._quotas.get((project, subject))
            if standing and not looked_up and not standing.gives_way_to(quota, self._clock.now()):
                return standing
            self._quotas[project, subject] = replace(quota, expires_at=float(int(quota.expires_at)))
            return quota

    def take_turn(self, pacing: Pacing, *, now: float, latest: float) -> Turn:
        with self._lock:
            self._called("take_turn")
            start = max(now, self._next_turn.get(pacing.subject, 0.0))
            if start > latest:
                return Turn(at=start, granted=False)
            self._next_turn[pacing.subject] = start + pacing.interval
            return Turn(at=start, granted=True)

    def hold_turn(self, pacing: Pacing, holder: str, *, now: float, lease_seconds: float) -> Turn:
        with self._lock:
            self._called("hold_turn")
            served, until = self._held.get(pacing.subject, (None, 0.0))
            if until > now and served != holder:
                return Turn(at=until, granted=False, being_served=served is not None)
            self._held[pacing.subject] = holder, now + lease_seconds
            return Turn(at=now, granted=True)

    def release_turn(self, pacing: Pacing, holder: str, *, now: float) -> None:
        with self._lock:
            self._called("release_turn")
            if self._held.get(pacing.subject, (None, 0.0))[0] == holder:
                self._held[pacing.subject] = None, now + pacing.interval

    def _standing(self, key: Key) -> Cooldown | None:
        cooldown = self._cooldowns.get(key)
        return cooldown if cooldown and lapses_at(cooldown) > self._clock.now() else None


def _may_be_replaced(standing: Cooldown, cooldown: Cooldown) -> bool:
    if standing.closed:
        return True
    if standing.until_settings_change:
        return False
    return cooldown.until_settings_change or standing.until < cooldown.until
