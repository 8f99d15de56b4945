"""What is left to spend (the seed's QuotaCache): from the provider where it says so for free, else counted here.

A look-up is kept in DynamoDB for `research.quota.cache.ttlMinutes`, so that the whole fleet asks once; one that failed
is kept for half a minute in memory and means READY.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable, ProviderError
from zarniwoop.contract.quota import QuotaStatus
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates.credit import counted_here, credit_status, period_of, price_of_a_call
from zarniwoop.dispatch.candidates.observations import Contact
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.audit import AuditStore, CallRecord
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.state import KeptQuota, ProjectKey, StateSnapshot, Subject

_FAILED_LOOKUP_SECONDS = 30.0
_COUNT_LIMIT = 100_000
_CLOCKS_DIFFER = 60.0
_LAST_CALLS = 8
"""The very last may have been broken off, which says nothing of the provider; one before it may."""


class QuotaBook:
    """Looks quotas up for `research_providers`, and keeps them. Spends no search.

    Of several keys the first is asked after, and nothing kept: what it has left says nothing of the others.
    """

    def __init__(self, *, fleet: FleetState, calls: AuditStore, clock: Clock, metrics: Metrics) -> None:
        self._fleet = fleet
        self._calls = calls
        self._clock = clock
        self._metrics = metrics
        self._failed_until: Recent[tuple[ProjectKey, str], float] = Recent()
        self._contacts: Recent[tuple[ProjectKey, str], Contact] = Recent()

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
        kept = {subject: found for subject in subjects if (found := snapshot.quotas.get(subject)) is not None}
        if kept and not self._is_doubtful(kept.values(), knobs):
            self._looked_up(subjects, "cache")
            return _telling(kept.values())
        self._looked_up(subjects, "provider")
        told = self._ask(candidate, scope)
        if told is None and kept:
            return _telling(kept.values())
        if told is None and own is not None:
            return own
        status = told or self._count(candidate, ProjectKey.of(scope))
        if status is None:
            return None
        concerned = subjects if status.exhausted else [*subjects[:1], *(each for each in kept if each != subjects[0])]
        return self._keep(status, concerned, candidate, scope, knobs)

    def _is_doubtful(self, kept: Iterable[KeptQuota], knobs: Knobs) -> bool:
        """One that is kept as used up for longer than a quota is believed: somebody may have bought more by now."""
        oldest = min(each.status.observed_at for each in kept)
        exhausted = any(each.status.exhausted for each in kept)
        return exhausted and oldest + knobs.quota_cache_ttl_minutes * 60 <= self._clock.now()

    def _looked_up(self, subjects: Sequence[Subject], source: str) -> None:
        for instance_id, modality in subjects[:1]:
            self._metrics.count(Metric.QUOTA_LOOKUPS, instance=instance_id, modality=modality, source=source)

    def _ask(self, candidate: Candidate, scope: SearchScope) -> QuotaStatus | None:
        key = (ProjectKey.of(scope), candidate.endpoint.id)
        if (self._failed_until.get(key) or 0.0) > self._clock.now():
            return None
        try:
            return self._told(candidate.instance.current_quota(scope), key)
        except ProviderError as error:
            self._contacts.put(key, Contact(at=self._clock.now(), failure=error.reason))
        except ConfigurationUnavailable:
            pass
        except Exception:  # noqa: BLE001 - the SPI's boundary: an add-on's bug must not hide the other providers
            self._metrics.count(Metric.INTERNAL_ERRORS, protocol=candidate.endpoint.protocol)
        self._failed_until.put(key, self._clock.now() + _FAILED_LOOKUP_SECONDS)
        return None

    def _told(self, quota: QuotaStatus | None, key: tuple[ProjectKey, str]) -> QuotaStatus | None:
        if quota is not None:
            self._contacts.put(key, Contact(at=self._clock.now()))
        return quota

    def would_ask(self, candidate: Candidate, scope: SearchScope, snapshot: StateSnapshot, knobs: Knobs) -> bool:
        """Whether a look-up now would go to the provider itself."""
        own = counted_here(candidate.endpoint, snapshot, self._clock.now())
        kept = [quota for subject, quota in snapshot.quotas.items() if subject[0] == candidate.endpoint.id]
        failed_until = self._failed_until.get((ProjectKey.of(scope), candidate.endpoint.id)) or 0.0
        is_known = (own is not None and own.exhausted) or (bool(kept) and not self._is_doubtful(kept, knobs))
        return not is_known and failed_until <= self._clock.now()

    def last_look_up(self, candidate: Candidate, scope: SearchScope) -> Contact | None:
        """How this environment's last look-up at the provider itself ended; None where there was none."""
        return self._contacts.get((ProjectKey.of(scope), candidate.endpoint.id))

    def last_calls(self, candidate: Candidate, scope: SearchScope) -> Sequence[CallRecord] | None:
        """The instance's latest calls, of whatever kind, newest first; None where they cannot be read."""
        project, now = ProjectKey.of(scope), self._clock.now()
        try:
            page = self._calls.between(project, candidate.endpoint.id, 0.0, now + _CLOCKS_DIFFER, at_most=_LAST_CALLS)
        except StoreUnavailable:
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation="last_call")
            return None
        return page.records

    def _count(self, candidate: Candidate, project: ProjectKey) -> QuotaStatus | None:
        """Out of the audit trail: for an endpoint without a limit it is good enough, and costs searches nothing."""
        now, endpoint = self._clock.now(), candidate.endpoint
        since = period_of(endpoint, now).since
        try:
            calls = self._calls.count_since(project, endpoint.id, since, at_most=_COUNT_LIMIT)
        except StoreUnavailable:
            self._metrics.count(Metric.STATE_UNAVAILABLE, operation="count")
            return None
        return credit_status(endpoint, price_of_a_call(endpoint) * calls, now)

    def _keep(
        self, status: QuotaStatus, subjects: Sequence[Subject], candidate: Candidate, scope: SearchScope, knobs: Knobs
    ) -> QuotaStatus:
        """One item is enough for what is not used up, unless another says the contrary; what is concerns them all."""
        now = self._clock.now()
        status = replace(status, observed_at=status.observed_at or now)
        kept = KeptQuota(status=status, expires_at=now + self._kept_seconds(candidate, scope, knobs))
        for subject in subjects if candidate.key_count() == 1 else ():
            self._fleet.save_quota(ProjectKey.of(scope), subject, kept, looked_up=True)
        return status

    def _kept_seconds(self, candidate: Candidate, scope: SearchScope, knobs: Knobs) -> float:
        """Our own count stands in for the provider's figure no longer than a failed look-up is remembered."""
        broken_until = self._failed_until.get((ProjectKey.of(scope), candidate.endpoint.id)) or 0.0
        kept = knobs.quota_cache_ttl_minutes * 60.0
        left = broken_until - self._clock.now()
        return min(kept, left) if left > 0 else kept


def _telling(kept: Iterable[KeptQuota]) -> QuotaStatus:
    """The one that is used up, where there is one."""
    return min(kept, key=lambda each: not each.status.exhausted).status
