"""The shared state of a project's dispatching: cooldowns, quotas, credits, turns at a rate, and its generation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaStatus
from zarniwoop.stores.kept_results import Standing
from zarniwoop.stores.ledger import Account, Balance, Ledger
from zarniwoop.stores.project import ProjectKey as ProjectKey

Subject = tuple[str, SearchModality]
"""An instance id and a modality: what a cooldown or a quota is about (seed 1, `research:<instance>:<modality>`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooldown:
    """A subject is not asked before `until` (epoch seconds), under the settings that it failed with.

    `fingerprint` is that of the endpoint's settings. Other settings have other cooldowns: a process that overrides
    them neither lifts the project's nor adds to it, and a change of settings ends what the old ones led to.
    `until_settings_change` holds whatever the time. `failures` counts consecutive failures; `failed_at` is the last
    one. `closed` means that a probe succeeded since: the subject may be asked, and only the count is remembered.
    `slow` counts how often in a row another was asked beside it and answered first; it has no other cooldown yet.
    """

    instance_id: str
    modality: SearchModality
    reason: str
    until: float
    failures: int
    failed_at: float
    fingerprint: str
    until_settings_change: bool = False
    closed: bool = False
    slow: int = 0

    @property
    def subject(self) -> Subject:
        return self.instance_id, self.modality


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptQuota:
    """A quota as it was seen, usable until `expires_at` (epoch seconds)."""

    status: QuotaStatus
    expires_at: float

    def gives_way_to(self, other: "KeptQuota", now: float) -> bool:
        """Whether the other may take its place: that something is left again only what was observed later can tell."""
        if self.expires_at <= now or not self.status.exhausted_at(now):
            return True
        return self.status.observed_at < other.status.observed_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be known of a subject.

    `credit_period` names the period of a credit that is counted here, if any, for the project or, `credit_shared`, for
    all of its tenant's. `keys` is how many keys the endpoint has; several have a cooldown each.
    """

    subject: Subject
    fingerprint: str
    credit_period: str | None = None
    credit_shared: bool = False
    keys: int = 1

    @property
    def fingerprints(self) -> Iterator[str]:
        """Those of all cooldowns that it may have."""
        yield self.fingerprint
        for index in range(1, self.keys + 1) if self.keys > 1 else ():
            yield key_fingerprint(self.fingerprint, index)


NO_BUDGETS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSnapshot:
    """What one read brought: quotas that have not expired, and every cooldown, past ones included.

    `spent` is the credit of an instance that was spent or is held in the period that was asked for, and `budgets` is
    where the project's and the tenant's budgets stand. `pools` has a place for every subject of which several keys were
    asked for, with the cooldowns of those that have one, by their index. `generation` counts the project's stops and
    changes of its settings, and those of its tenant's. `results` is what stands under the identities that were asked
    for.
    """

    cooldowns: Mapping[Subject, Cooldown] = field(default_factory=dict)
    pools: Mapping[Subject, Mapping[int, Cooldown]] = field(default_factory=dict)
    quotas: Mapping[Subject, KeptQuota] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    budgets: Mapping[str, Balance] = field(default_factory=dict)
    generation: int = 0
    results: Mapping[str, Standing] = field(default_factory=dict)


def credit_account(project: ProjectKey, wanted: Wanted) -> Account | None:
    """Where the credit of a subject's instance is counted, if it is."""
    if wanted.credit_period is None:
        return None
    return Account.of_endpoint(project, wanted.subject[0], wanted.credit_period, shared=wanted.credit_shared)


def accounts_of(project: ProjectKey, wanted: Sequence[Wanted], budget_periods: Mapping[str, str]) -> Iterator[Account]:
    for each in wanted:
        account = credit_account(project, each)
        if account is not None:
            yield account
    for budget, period in budget_periods.items():
        yield Account.of_budget(budget, project, period)


def key_fingerprint(fingerprint: str, index: int) -> str:
    """What stands for the settings in the cooldown of one of several keys; a change of the setting changes them all."""
    return f"{fingerprint}-k{index}"


def pools_among(
    wanted: Sequence[Wanted], cooldowns: Mapping[tuple[Subject, str], Cooldown]
) -> dict[Subject, dict[int, Cooldown]]:
    """The cooldowns of keys, out of all by subject and fingerprint."""
    return {
        each.subject: {
            index: cooldown
            for index in range(1, each.keys + 1)
            if (cooldown := cooldowns.get((each.subject, key_fingerprint(each.fingerprint, index)))) is not None
        }
        for each in wanted
        if each.keys > 1
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A place at a provider's rate, from epoch second `at` on.

    One that is not `granted` was not reserved, and `at` is when the next place would be free: at the latest then, where
    somebody is `being_served`.
    """

    at: float
    granted: bool
    being_served: bool = False


class StateStore(Ledger, Protocol):
    """Every method is one DynamoDB call and raises StoreUnavailable when it fails."""

    def snapshot(
        self,
        project: ProjectKey,
        wanted: Sequence[Wanted],
        budget_periods: Mapping[str, str] = NO_BUDGETS,
        results: Sequence[str] = (),
    ) -> StateSnapshot:
        """What is known of each subject, the project's generation, each of these budgets in its period, and what is
        kept under these identities of searches, in one BatchGetItem.
        """
        ...

    def extend_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> Cooldown:
        """Write it unless a longer one stands; return what stands afterwards."""
        ...

    def claim_probe(self, project: ProjectKey, cooldown: Cooldown, *, now: float, lease_seconds: float) -> bool:
        """Whether this caller, and no other in the fleet until the lease ends, may try the subject again."""
        ...

    def close_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> None:
        """After a success: the subject is open again; the count of failures stays for a while (flapping)."""
        ...

    def clear_project(self, project: ProjectKey) -> int:
        """Delete the project's cooldowns, quotas, records of content and memory of standing queries; return how many.

        May take several calls. Its generation and its spent credit stay: neither comes back.
        """
        ...

    def bump_generation(self, project: ProjectKey) -> int:
        """Raise the project's generation, so that warm environments drop what they built for it; return the new one."""
        ...

    def bump_tenant_generation(self, tenant_id: str) -> None:
        """The same for every project of a tenant."""
        ...

    def save_quota(
        self, project: ProjectKey, subject: Subject, quota: KeptQuota, *, looked_up: bool = False
    ) -> KeptQuota:
        """Keep it, unless what is kept tells that nothing is left and was not observed before it (a slower answer
        tells of what was left before that); return what is kept afterwards. One that was looked up is kept always.
        """
        ...

    def take_turn(self, pacing: Pacing, *, now: float, latest: float) -> Turn:
        """Reserve a turn at the fleet-wide rate of `pacing.subject`; not granted when it would begin after `latest`.

        Fair: turns are handed out in the order of asking.
        """
        ...

    def hold_turn(self, pacing: Pacing, holder: str, *, now: float, lease_seconds: float) -> Turn:
        """Keep all others of `pacing.subject` out, until it is released or the lease ends (an exclusive pacing)."""
        ...

    def release_turn(self, pacing: Pacing, holder: str, *, now: float) -> None:
        """Let the next one in, one interval from now; nothing for a holder whose lease has passed to another."""
        ...
