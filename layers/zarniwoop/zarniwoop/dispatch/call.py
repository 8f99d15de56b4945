"""One call of one provider instance, and everything that follows from how it ends."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable, ProviderError, ProviderUnavailable, QuotaExhausted
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Attempt, Outcome, SearchResult
from zarniwoop.dispatch.audit import AuditTrail
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.dispatch.credit import credit_period, price_of_a_call
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.dispatch.health import cooldown_after
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, Subject
from zarniwoop.text.urls import http_url

InternalErrorLog = Callable[[str, Exception], None]
"""Told the instance id and the exception when an instance raises what it must not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a call ended: the attempt for the trace, the result when there was one, the error when not."""

    attempt: Attempt
    result: SearchResult | None = None
    error: ProviderError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """What a call came to, before it is known how long it took. `calls` is how many requests the provider got."""

    outcome: Outcome
    calls: int
    reason: str | None = None
    detail: str | None = None
    retry_at: float | None = None
    result: SearchResult | None = None
    error: ProviderError | None = None


class ProviderCaller:
    """Calls an instance, classifies the end, and writes it down: cooldown, quota, metrics, audit, trace."""

    def __init__(
        self,
        *,
        fleet: FleetState,
        audit: AuditTrail,
        clock: Clock,
        metrics: Metrics,
        tracing: Tracing,
        on_internal_error: InternalErrorLog,
    ) -> None:
        self._fleet = fleet
        self._audit = audit
        self._clock = clock
        self._metrics = metrics
        self._tracing = tracing
        self._on_internal_error = on_internal_error
        self._quota_kept_until: Recent[tuple[ProjectKey, Subject], float] = Recent()

    def ask(
        self,
        candidate: Candidate,
        request: SearchRequest,
        scope: SearchScope,
        *,
        previous: Cooldown | None,
        knobs: Knobs,
    ) -> Asked:
        """Call. `previous` is the subject's cooldown item, if any: closed on success, built upon on failure."""
        allowed = scope.deadline.remaining()
        started = self._clock.monotonic()
        with self._tracing.span(
            "provider", protocol=candidate.endpoint.protocol, instance=candidate.endpoint.id, modality=request.modality
        ):
            ended = self._call(candidate, request, scope)
        milliseconds = round((self._clock.monotonic() - started) * 1000)
        end = self._follow_up(ended, candidate, request, scope, previous=previous, knobs=knobs, allowed=allowed)
        attempt = Attempt(
            instance_id=candidate.endpoint.id,
            outcome=end.outcome,
            reason=end.reason,
            detail=end.detail,
            duration_ms=milliseconds,
            cost=end.calls * candidate.endpoint.cost_per_call,
            retry_at=end.retry_at,
        )
        self._count_credit(end.calls, candidate, scope)
        asked = Asked(attempt=attempt, result=end.result, error=end.error)
        self._write_down(asked, candidate, request, scope, knobs)
        return asked

    def _call(
        self, candidate: Candidate, request: SearchRequest, scope: SearchScope
    ) -> SearchResult | ProviderError | Exception:
        try:
            return _tidied(candidate.instance.search(request, scope), request)
        except ProviderError as error:
            return error
        except ConfigurationUnavailable as error:
            return error
        except Exception as error:  # noqa: BLE001 - the SPI's boundary: an add-on's bug must not end the cascade
            return error

    def _follow_up(
        self,
        ended: SearchResult | ProviderError | Exception,
        candidate: Candidate,
        request: SearchRequest,
        scope: SearchScope,
        *,
        previous: Cooldown | None,
        knobs: Knobs,
        allowed: float,
    ) -> _End:
        if isinstance(ended, SearchResult):
            self._keep_quota(ended.quota, (candidate.endpoint.id, request.modality), scope, knobs)
            return self._answered(ended, scope, previous)
        if isinstance(ended, ProviderError):
            return self._failed(ended, candidate, request, scope, previous=previous, knobs=knobs, allowed=allowed)
        if isinstance(ended, ConfigurationUnavailable):
            return _End(outcome=Outcome.FAILURE, calls=0, reason="key_unavailable")
        self._metrics.count(Metric.INTERNAL_ERRORS, protocol=candidate.endpoint.protocol)
        self._on_internal_error(candidate.endpoint.id, ended)
        return _End(outcome=Outcome.FAILURE, calls=1, reason="internal")

    def _answered(self, result: SearchResult, scope: SearchScope, previous: Cooldown | None) -> _End:
        if result.error_message is not None:
            return _End(outcome=Outcome.SOFT_FAILURE, calls=0, reason="declined")
        if previous is not None and not previous.closed:
            self._fleet.close_cooldown(ProjectKey.of(scope), previous)
        return _End(outcome=Outcome.SUCCESS if result.hits else Outcome.EMPTY, calls=result.calls, result=result)

    def _keep_quota(self, quota: QuotaStatus | None, subject: Subject, scope: SearchScope, knobs: Knobs) -> None:
        """Share what an answer said is left: at once when that is nothing, else once per time to live."""
        if quota is None:
            return
        now, key = self._clock.now(), (ProjectKey.of(scope), subject)
        if quota.exhausted or (self._quota_kept_until.get(key) or 0.0) <= now:
            expires_at = now + knobs.quota_cache_ttl_minutes * 60
            self._fleet.save_quota(ProjectKey.of(scope), subject, KeptQuota(status=quota, expires_at=expires_at))
            self._quota_kept_until.put(key, expires_at)

    def _failed(
        self,
        error: ProviderError,
        candidate: Candidate,
        request: SearchRequest,
        scope: SearchScope,
        *,
        previous: Cooldown | None,
        knobs: Knobs,
        allowed: float,
    ) -> _End:
        subject: Subject = (candidate.endpoint.id, request.modality)
        now = self._clock.now()
        retry_at = None
        if isinstance(error, QuotaExhausted):
            retry_at = self._exhausted(error, subject, scope, now, knobs)
        fingerprint = candidate.endpoint.fingerprint
        cooldown = cooldown_after(error, subject, previous, now=now, fingerprint=fingerprint, allowed=allowed)
        if cooldown is not None:
            standing = self._fleet.extend_cooldown(ProjectKey.of(scope), cooldown)
            retry_at = None if standing.until_settings_change else standing.until
        return _End(
            outcome=Outcome.FAILURE,
            calls=_calls_before(error),
            reason=error.reason,
            detail=error.cause.value if error.cause else None,
            retry_at=retry_at,
            error=error,
        )

    def _exhausted(
        self, error: QuotaExhausted, subject: Subject, scope: SearchScope, now: float, knobs: Knobs
    ) -> float:
        """No cooldown: the quota is kept as used up, and looked at again when the quota cache's time is over."""
        expires_at = now + (error.retry_after or knobs.quota_cache_ttl_minutes * 60)
        resets_at = now + error.retry_after if error.retry_after else None
        status = QuotaStatus(source=QuotaSource.PROVIDER, remaining=0, resets_at=resets_at, observed_at=now)
        self._fleet.save_quota(ProjectKey.of(scope), subject, KeptQuota(status=status, expires_at=expires_at))
        return expires_at

    def _count_credit(self, calls: int, candidate: Candidate, scope: SearchScope) -> None:
        """One more write, for endpoints with a `creditLimit` alone."""
        endpoint = candidate.endpoint
        if endpoint.credit_limit is None or calls == 0:
            return
        period = credit_period(endpoint.credit_kind, self._clock.now())
        self._fleet.add_spent(ProjectKey.of(scope), endpoint.id, period, calls * price_of_a_call(endpoint))

    def _write_down(
        self, asked: Asked, candidate: Candidate, request: SearchRequest, scope: SearchScope, knobs: Knobs
    ) -> None:
        attempt, endpoint = asked.attempt, candidate.endpoint
        self._metrics.count(
            Metric.PROVIDER_CALLS,
            protocol=endpoint.protocol,
            instance=endpoint.id,
            modality=request.modality,
            outcome=attempt.outcome,
        )
        self._metrics.time(
            Metric.PROVIDER_DURATION,
            attempt.duration_ms,
            protocol=endpoint.protocol,
            instance=endpoint.id,
            outcome=attempt.outcome,
        )
        self._audit.record(
            candidate,
            request,
            scope,
            attempt,
            hit_count=len(asked.result.hits) if asked.result else 0,
            retention_days=knobs.log_retention_days,
        )


def _calls_before(error: ProviderError) -> int:
    """How many requests the provider got before it failed: as counted, else the one that must have been made."""
    return error.calls if error.calls is not None else int(error.reached_provider)


def _tidied(result: SearchResult, request: SearchRequest) -> SearchResult:
    """The result within its promises, whoever made it: real titles, http(s) links, no more hits than asked for.

    Raises ProviderUnavailable for an empty answer that the provider itself calls degraded.
    """
    if result.degraded and not result.hits:
        failure = ProviderUnavailable(f"the answer is empty because of the provider's own trouble: {result.degraded}")
        failure.calls = result.calls
        raise failure
    sound = [hit for hit in result.hits if hit.title and not hit.title.isspace() and http_url(hit.url)]
    hits = tuple(sound[: request.max_results])
    if len(hits) == len(result.hits) == result.returned_count:
        return result
    dropped = result.dropped_count + len(result.hits) - len(hits)
    return replace(result, hits=hits, returned_count=len(hits), dropped_count=dropped)
