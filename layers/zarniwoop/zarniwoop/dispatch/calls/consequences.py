"""What the end of a call means for the shared state: cooldowns and quotas, of the endpoint or of one of its keys."""

from dataclasses import replace
from typing import NamedTuple

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import OutOfTurn, ProviderError, QuotaExhausted
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import QuotaStatus
from zarniwoop.dispatch.calls.health import concerns_one_body, cooldown_after, cooldown_after_losing
from zarniwoop.dispatch.candidates.credit import used_up
from zarniwoop.dispatch.candidates.key_pool import PoolKey, is_of_a_key
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, Subject


class Concerned(NamedTuple):
    """Whom a call's end is about. `previous` is the subject's cooldown item; `key` the one of several asked with."""

    candidate: Candidate
    project: ProjectKey
    modality: SearchModality
    knobs: Knobs
    previous: Cooldown | None = None
    key: PoolKey | None = None
    is_search: bool = True

    @property
    def subject(self) -> Subject:
        return self.candidate.endpoint.id, self.modality


class Consequences:
    """Writes them; what was written a moment ago is not written again."""

    def __init__(self, *, fleet: FleetState, clock: Clock) -> None:
        self._fleet = fleet
        self._clock = clock
        self._quota_kept_until: Recent[tuple[ProjectKey, Subject], float] = Recent()

    def of_success(self, who: Concerned) -> None:
        """Whatever cooled down is open again, and whoever was overtaken before is not slow in a row."""
        if who.previous is not None and who.previous.slow:
            self._fleet.extend_cooldown(who.project, replace(who.previous, slow=0))
        for cooldown in (who.previous, who.key.cooldown if who.key else None):
            if cooldown is not None and not cooldown.closed:
                self._fleet.close_cooldown(who.project, cooldown)

    def of_quota(self, quota: QuotaStatus | None, who: Concerned, asked_at: float) -> None:
        """Share what an answer said is left: at once when that is nothing, else once per time to live.

        It counts as of when it was asked for: a slow answer may tell of what was left before the last bit was used up.
        """
        if quota is None:
            return
        now, key = self._clock.now(), (who.project, who.subject)
        expires_at = now + who.knobs.quota_cache_ttl_minutes * 60
        if who.key is not None:
            if quota.exhausted:
                self._fleet.extend_cooldown(who.project, _used_up(who, who.key, quota.resets_at or expires_at, now))
        elif quota.exhausted or (self._quota_kept_until.get(key) or 0.0) <= now:
            as_of = replace(quota, observed_at=asked_at)
            self._fleet.save_quota(who.project, who.subject, KeptQuota(status=as_of, expires_at=expires_at))
            self._quota_kept_until.put(key, expires_at)

    def of_failure(self, error: ProviderError, who: Concerned, allowed: float) -> float | None:
        """Return when it may be asked again, where time heals it. `allowed` is how long the attempt might take."""
        now = self._clock.now()
        if isinstance(error, QuotaExhausted):
            return self._exhausted(error, who, now)
        if isinstance(error, OutOfTurn):
            return now + (error.retry_after or 0.0)
        cooldown = self._cooldown(error, who, now, allowed)
        if cooldown is None:
            return None
        standing = self._fleet.extend_cooldown(who.project, cooldown)
        return None if standing.until_settings_change else standing.until

    def of_losing(self, who: Concerned, lasted: float) -> float | None:
        """Another answered first, so it was broken off after so many seconds. Return when it may be asked again."""
        cooldown = cooldown_after_losing(
            who.subject,
            who.previous,
            now=self._clock.now(),
            fingerprint=who.candidate.endpoint.fingerprint,
            lasted=lasted,
            patience=who.knobs.hedge_after_ms / 1000,
        )
        if cooldown is None:
            return None
        standing = self._fleet.extend_cooldown(who.project, cooldown)
        return None if standing.closed or standing.until_settings_change else standing.until

    def _exhausted(self, error: QuotaExhausted, who: Concerned, now: float) -> float:
        """No cooldown of the endpoint: its quota, or the key, is kept as used up until it may be there again."""
        again = who.knobs.quota_cache_ttl_minutes * 60.0
        kept = used_up(who.candidate.endpoint, error.retry_after, again=again, now=now)
        if who.key is not None:
            return self._fleet.extend_cooldown(who.project, _used_up(who, who.key, kept.expires_at, now)).until
        self._fleet.save_quota(who.project, who.subject, kept)
        return kept.expires_at

    @staticmethod
    def _cooldown(error: ProviderError, who: Concerned, now: float, allowed: float) -> Cooldown | None:
        if not who.is_search and concerns_one_body(error):
            return None
        previous, fingerprint = who.previous, who.candidate.endpoint.fingerprint
        if who.key is not None and is_of_a_key(error):
            previous, fingerprint = who.key.cooldown, who.key.fingerprint
        return cooldown_after(error, who.subject, previous, now=now, fingerprint=fingerprint, allowed=allowed)


def _used_up(who: Concerned, key: PoolKey, until: float, now: float) -> Cooldown:
    instance_id, modality = who.subject
    return Cooldown(
        instance_id=instance_id,
        modality=modality,
        reason=QuotaExhausted.reason,
        until=until,
        failures=1,
        failed_at=now,
        fingerprint=key.fingerprint,
    )
