"""What is left to spend (the seed's QuotaCache): from the provider where it says so for free, else counted here.

A look-up is kept in DynamoDB for `research.quota.cache.ttlMinutes`, so that the whole fleet asks once; one that failed
is kept for half a minute in memory and means READY.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import ceil

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable, ProviderError
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.settings.endpoints import CreditKind, Knobs
from zarniwoop.stores.audit import AuditStore
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import KeptQuota, ProjectKey, StateSnapshot, Subject

_FAILED_LOOKUP_SECONDS = 30.0
_COUNT_LIMIT = 100_000


class QuotaBook:
    """Looks quotas up and keeps them."""

    def __init__(self, *, fleet: FleetState, calls: AuditStore, clock: Clock, metrics: Metrics) -> None:
        self._fleet = fleet
        self._calls = calls
        self._clock = clock
        self._metrics = metrics
        self._failed_until: dict[tuple[ProjectKey, str], float] = {}

    def kept_or_counted(
        self, candidate: Candidate, subject: Subject, scope: SearchScope, snapshot: StateSnapshot, knobs: Knobs
    ) -> KeptQuota | None:
        """The quota that the gate looks at. Counts only for an endpoint with a `creditLimit`, once per time to live."""
        kept = snapshot.quotas.get(subject)
        if candidate.endpoint.credit_limit is None or (kept is not None and kept.expires_at > self._clock.now()):
            return kept
        counted = self._count(candidate, _project(scope))
        return self._keep(counted, [subject], scope, knobs.quota_cache_ttl_minutes * 60) if counted else None

    def look_up(
        self, candidate: Candidate, scope: SearchScope, snapshot: StateSnapshot, knobs: Knobs
    ) -> QuotaStatus | None:
        """For `research_providers`: kept, else the provider's own figure, else our count. Spends no search."""
        subjects: list[Subject] = [
            (candidate.endpoint.id, modality) for modality in sorted(candidate.instance.modalities())
        ]
        kept = [found for subject in subjects if (found := snapshot.quotas.get(subject)) is not None]
        if kept:
            self._looked_up(subjects, "cache")
            return min(kept, key=lambda each: not each.status.exhausted).status
        self._looked_up(subjects, "provider")
        status = self._ask(candidate, scope) or self._count(candidate, _project(scope))
        if status is None:
            return None
        kept_subjects = subjects if status.exhausted else subjects[:1]
        return self._keep(status, kept_subjects, scope, self._kept_seconds(candidate, scope, knobs)).status

    def _looked_up(self, subjects: Sequence[Subject], source: str) -> None:
        for instance_id, modality in subjects[:1]:
            self._metrics.count(Metric.QUOTA_LOOKUPS, instance=instance_id, modality=modality, source=source)

    def _ask(self, candidate: Candidate, scope: SearchScope) -> QuotaStatus | None:
        key = (_project(scope), candidate.endpoint.id)
        if self._failed_until.get(key, 0.0) > self._clock.now():
            return None
        try:
            return candidate.instance.current_quota(scope)
        except (ProviderError, ConfigurationUnavailable):
            pass
        except Exception:  # noqa: BLE001 - the SPI's boundary: an add-on's bug must not hide the other providers
            self._metrics.count(Metric.INTERNAL_ERRORS, protocol=candidate.endpoint.protocol)
        self._failed_until[key] = self._clock.now() + _FAILED_LOOKUP_SECONDS
        return None

    def _kept_seconds(self, candidate: Candidate, scope: SearchScope, knobs: Knobs) -> float:
        """Our own count stands in for the provider's figure no longer than a failed look-up is remembered."""
        broken_until = self._failed_until.get((_project(scope), candidate.endpoint.id), 0.0)
        kept = knobs.quota_cache_ttl_minutes * 60.0
        left = broken_until - self._clock.now()
        return min(kept, left) if left > 0 else kept

    def _count(self, candidate: Candidate, project: ProjectKey) -> QuotaStatus | None:
        now, endpoint = self._clock.now(), candidate.endpoint
        since, until = _period(endpoint.credit_kind, now)
        limit, per_call = endpoint.credit_limit, endpoint.cost_per_call or 1.0
        at_most = ceil(limit / per_call) if limit is not None else _COUNT_LIMIT
        try:
            used = per_call * self._calls.count_since(project, endpoint.id, since, at_most=at_most)
        except StoreUnavailable:
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation="count")
            return None
        return QuotaStatus(
            source=QuotaSource.LOCAL,
            unit="usd" if endpoint.credit_kind is CreditKind.DAILY_USD else "calls" if per_call == 1 else "credits",
            used=used,
            limit=limit,
            remaining=max(0.0, limit - used) if limit is not None else None,
            resets_at=until,
            observed_at=now,
        )

    def _keep(self, status: QuotaStatus, subjects: Sequence[Subject], scope: SearchScope, seconds: float) -> KeptQuota:
        now = self._clock.now()
        status = replace(status, observed_at=status.observed_at or now)
        kept = KeptQuota(status=status, expires_at=now + seconds)
        for subject in subjects:
            self._fleet.save_quota(_project(scope), subject, kept)
        return kept


def _project(scope: SearchScope) -> ProjectKey:
    return ProjectKey(tenant_id=scope.tenant_id, project_id=scope.project_id)


def _period(kind: CreditKind, now: float) -> tuple[float, float | None]:
    """Begin and end of the running period in epoch seconds, UTC: month, day, or everything for one-time credits."""
    today = datetime.fromtimestamp(now, tz=UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if kind is CreditKind.ONE_TIME:
        return 0.0, None
    if kind is CreditKind.MONTHLY:
        first = today.replace(day=1)
        following = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
        return first.timestamp(), following.timestamp()
    return today.timestamp(), today.timestamp() + 86_400
