"""What is left to spend (the seed's QuotaCache): from the provider where it says so for free, else counted here.

A look-up is kept in DynamoDB for `research.quota.cache.ttlMinutes`, so that the whole fleet asks once; one that failed
is kept for half a minute in memory and means READY.
"""

from collections.abc import Sequence
from dataclasses import replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable, ProviderError
from zarniwoop.contract.quota import QuotaStatus
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.dispatch.credit import counted_here, credit_period, credit_status, price_of_a_call
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.audit import AuditStore
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.state import KeptQuota, ProjectKey, StateSnapshot, Subject

_FAILED_LOOKUP_SECONDS = 30.0
_COUNT_LIMIT = 100_000


class QuotaBook:
    """Looks quotas up for `research_providers`, and keeps them. Spends no search."""

    def __init__(self, *, fleet: FleetState, calls: AuditStore, clock: Clock, metrics: Metrics) -> None:
        self._fleet = fleet
        self._calls = calls
        self._clock = clock
        self._metrics = metrics
        self._failed_until: Recent[tuple[ProjectKey, str], float] = Recent()

    def look_up(
        self, candidate: Candidate, scope: SearchScope, snapshot: StateSnapshot, knobs: Knobs
    ) -> QuotaStatus | None:
        """Our own limit when it is reached; else what is kept, the provider's own figure, or our count."""
        own = counted_here(candidate.endpoint, snapshot, self._clock.now())
        if own is not None and own.exhausted:
            return own
        subjects: list[Subject] = [
            (candidate.endpoint.id, modality) for modality in sorted(candidate.instance.modalities())
        ]
        kept = [found for subject in subjects if (found := snapshot.quotas.get(subject)) is not None]
        if kept:
            self._looked_up(subjects, "cache")
            return min(kept, key=lambda each: not each.status.exhausted).status
        self._looked_up(subjects, "provider")
        told = self._ask(candidate, scope)
        if told is None and own is not None:
            return own
        status = told or self._count(candidate, ProjectKey.of(scope))
        return self._keep(status, subjects, candidate, scope, knobs) if status is not None else None

    def _looked_up(self, subjects: Sequence[Subject], source: str) -> None:
        for instance_id, modality in subjects[:1]:
            self._metrics.count(Metric.QUOTA_LOOKUPS, instance=instance_id, modality=modality, source=source)

    def _ask(self, candidate: Candidate, scope: SearchScope) -> QuotaStatus | None:
        key = (ProjectKey.of(scope), candidate.endpoint.id)
        if (self._failed_until.get(key) or 0.0) > self._clock.now():
            return None
        try:
            return candidate.instance.current_quota(scope)
        except (ProviderError, ConfigurationUnavailable):
            pass
        except Exception:  # noqa: BLE001 - the SPI's boundary: an add-on's bug must not hide the other providers
            self._metrics.count(Metric.INTERNAL_ERRORS, protocol=candidate.endpoint.protocol)
        self._failed_until.put(key, self._clock.now() + _FAILED_LOOKUP_SECONDS)
        return None

    def _count(self, candidate: Candidate, project: ProjectKey) -> QuotaStatus | None:
        """Out of the audit trail: for an endpoint without a limit it is good enough, and costs searches nothing."""
        now, endpoint = self._clock.now(), candidate.endpoint
        since = credit_period(endpoint.credit_kind, now).since
        try:
            calls = self._calls.count_since(project, endpoint.id, since, at_most=_COUNT_LIMIT)
        except StoreUnavailable:
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation="count")
            return None
        return credit_status(endpoint, price_of_a_call(endpoint) * calls, now)

    def _keep(
        self, status: QuotaStatus, subjects: Sequence[Subject], candidate: Candidate, scope: SearchScope, knobs: Knobs
    ) -> QuotaStatus:
        """One item is enough for what is not used up; what is concerns every modality."""
        now = self._clock.now()
        status = replace(status, observed_at=status.observed_at or now)
        kept = KeptQuota(status=status, expires_at=now + self._kept_seconds(candidate, scope, knobs))
        for subject in subjects if status.exhausted else subjects[:1]:
            self._fleet.save_quota(ProjectKey.of(scope), subject, kept)
        return status

    def _kept_seconds(self, candidate: Candidate, scope: SearchScope, knobs: Knobs) -> float:
        """Our own count stands in for the provider's figure no longer than a failed look-up is remembered."""
        broken_until = self._failed_until.get((ProjectKey.of(scope), candidate.endpoint.id)) or 0.0
        kept = knobs.quota_cache_ttl_minutes * 60.0
        left = broken_until - self._clock.now()
        return min(kept, left) if left > 0 else kept
