"""The shared state of a project's dispatching: cooldowns, quotas, turns at a provider's rate, and its generation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaStatus

Subject = tuple[str, SearchModality]
"""An instance id and a modality: what a cooldown or a quota is about (seed 1, `research:<instance>:<modality>`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectKey:
    """Whose state it is; it starts every key of a project's items."""

    tenant_id: str
    project_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooldown:
    """A subject is not asked before `until` (epoch seconds); None of it is shortened but by a settings change.

    `fingerprint` is that of the endpoint's settings when it failed: a cooldown under another fingerprint is void.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptQuota:
    """A quota as it was seen, usable until `expires_at` (epoch seconds)."""

    status: QuotaStatus
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSnapshot:
    """What one read brought: quotas that have not expired, and every cooldown, past ones included."""

    cooldowns: Mapping[Subject, Cooldown] = field(default_factory=dict)
    quotas: Mapping[Subject, KeptQuota] = field(default_factory=dict)
    generation: int = 0


class StateStore(Protocol):
    """Every method is one DynamoDB call and raises StoreUnavailable when it fails."""

    def snapshot(self, project: ProjectKey, subjects: Sequence[Subject]) -> StateSnapshot:
        """Cooldowns and quotas of the subjects and the project's generation, in one BatchGetItem."""
        ...

    def cooldowns(self, project: ProjectKey) -> Sequence[Cooldown]:
        """All cooldown items of the project, past ones included (for `research_providers`)."""
        ...

    def extend_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> Cooldown:
        """Write it unless a longer one under the same fingerprint stands; return what stands afterwards."""
        ...

    def claim_probe(self, project: ProjectKey, cooldown: Cooldown, *, now: float, lease_seconds: float) -> bool:
        """Whether this caller, and no other in the fleet until the lease ends, may try the subject again."""
        ...

    def close_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> None:
        """After a success: the subject is open again; the count of failures stays for a while (flapping)."""
        ...

    def clear_project(self, project: ProjectKey) -> int:
        """Delete cooldowns and quotas of the project; return how many items went. May take several calls."""
        ...

    def bump_generation(self, project: ProjectKey) -> int:
        """Raise the project's generation, so that warm environments drop what they built for it; return the new one."""
        ...

    def save_quota(self, project: ProjectKey, subject: Subject, quota: KeptQuota) -> None: ...

    def take_turn(self, pacing: Pacing, calls: int, *, now: float, latest: float) -> float | None:
        """Reserve `calls` turns at the fleet-wide rate of `pacing.subject`.

        Returns the epoch second at which to start (now or later), or None when that would be after `latest`; then
        nothing was reserved. Fair: turns are handed out in the order of asking.
        """
        ...
