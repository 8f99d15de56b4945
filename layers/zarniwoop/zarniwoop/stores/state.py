"""The shared state of a project's dispatching: cooldowns, quotas, credits, turns at a rate, and its generation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaStatus
from zarniwoop.contract.request import SearchScope

Subject = tuple[str, SearchModality]
"""An instance id and a modality: what a cooldown or a quota is about (seed 1, `research:<instance>:<modality>`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectKey:
    """Whose state it is; it starts every key of a project's items."""

    tenant_id: str
    project_id: str

    @classmethod
    def of(cls, scope: SearchScope) -> "ProjectKey":
        return cls(tenant_id=scope.tenant_id, project_id=scope.project_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooldown:
    """A subject is not asked before `until` (epoch seconds), under the settings that it failed with.

    `fingerprint` is that of the endpoint's settings. Other settings have other cooldowns: a process that overrides
    them neither lifts the project's nor adds to it, and a change of settings ends what the old ones led to.
    `until_settings_change` holds whatever the time. `failures` counts consecutive failures; `failed_at` is the last
    one. `closed` means that a probe succeeded since: the subject may be asked, and only the count is remembered.
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

    @property
    def subject(self) -> Subject:
        return self.instance_id, self.modality


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptQuota:
    """A quota as it was seen, usable until `expires_at` (epoch seconds)."""

    status: QuotaStatus
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be known of a subject. `credit_period` names the period of a credit that is counted here, if any."""

    subject: Subject
    fingerprint: str
    credit_period: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSnapshot:
    """What one read brought: quotas that have not expired, and every cooldown, past ones included.

    `spent` is the credit used up by an instance in the period that was asked for. `generation` counts the project's
    stops and changes of its settings, and those of its tenant's.
    """

    cooldowns: Mapping[Subject, Cooldown] = field(default_factory=dict)
    quotas: Mapping[Subject, KeptQuota] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    generation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A place at a provider's rate, from epoch second `at` on.

    One that is not `granted` was not reserved, and `at` is when the next place would be free.
    """

    at: float
    granted: bool


class StateStore(Protocol):
    """Every method is one DynamoDB call and raises StoreUnavailable when it fails."""

    def snapshot(self, project: ProjectKey, wanted: Sequence[Wanted]) -> StateSnapshot:
        """What is known of each subject, and the project's generation, in one BatchGetItem."""
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
        """Delete the project's cooldowns, quotas and records of content; return how many. May take several calls.

        Its generation and its spent credit stay: neither comes back.
        """
        ...

    def bump_generation(self, project: ProjectKey) -> int:
        """Raise the project's generation, so that warm environments drop what they built for it; return the new one."""
        ...

    def bump_tenant_generation(self, tenant_id: str) -> None:
        """The same for every project of a tenant."""
        ...

    def save_quota(self, project: ProjectKey, subject: Subject, quota: KeptQuota) -> None: ...

    def add_spent(
        self, project: ProjectKey, instance_id: str, credit_period: str, amount: float, *, expires_at: float | None
    ) -> float:
        """Add to the credit that an instance has used up in a period, and return what that comes to."""
        ...

    def take_turn(self, pacing: Pacing, *, now: float, latest: float) -> Turn:
        """Reserve a turn at the fleet-wide rate of `pacing.subject`; not granted when it would begin after `latest`.

        Fair: turns are handed out in the order of asking.
        """
        ...
