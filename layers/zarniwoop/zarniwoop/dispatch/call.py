"""One call of one provider instance, a search or the load of a body, and everything that follows from how it ends."""

from collections.abc import Callable
from dataclasses import dataclass

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable, ProviderError, QuotaExhausted
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Attempt, Outcome, SearchResult
from zarniwoop.dispatch.audit import AuditTrail
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.dispatch.credit import credit_period, price_of_a_call
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.dispatch.health import concerns_one_body, cooldown_after
from zarniwoop.dispatch.promises import searched
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, Subject

InternalErrorLog = Callable[[str, Exception], None]
"""Told the instance id and the exception when an instance raises what it must not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a call ended: the attempt for the trace, the result or body when there was one, the error when not."""

    attempt: Attempt
    result: SearchResult | None = None
    content: LoadedContent | None = None
    error: ProviderError | None = None

    @classmethod
    def skipped(
        cls, candidate: Candidate, reason: str, detail: str | None = None, retry_at: float | None = None
    ) -> "Asked":
        """Nobody was asked, and why."""
        attempt = Attempt(
            instance_id=candidate.endpoint.id, outcome=Outcome.SKIPPED, reason=reason, detail=detail, retry_at=retry_at
        )
        return cls(attempt=attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """What is asked of whom. `previous` is the subject's cooldown item, if any: built upon on failure."""

    operation: str
    act: Callable[[], SearchResult | LoadedContent]
    candidate: Candidate
    request: SearchRequest
    scope: SearchScope
    knobs: Knobs
    previous: Cooldown | None = None

    @property
    def subject(self) -> Subject:
        return self.candidate.endpoint.id, self.request.modality


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """What a call came to, before it is known how long it took. `calls` is how many requests the provider got."""

    outcome: Outcome
    calls: int
    reason: str | None = None
    detail: str | None = None
    retry_at: float | None = None
    result: SearchResult | None = None
    content: LoadedContent | None = None
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
        """Search. `previous` is the subject's cooldown item, if any: closed on success, built upon on failure."""
        return self._carry_out(
            _Call(
                operation="search",
                act=lambda: searched(candidate, request, scope),
                candidate=candidate,
                request=request,
                scope=scope,
                knobs=knobs,
                previous=previous,
            )
        )

    def load(
        self,
        candidate: Candidate,
        request: SearchRequest,
        reference: ContentReference,
        scope: SearchScope,
        *,
        previous: Cooldown | None,
        knobs: Knobs,
    ) -> Asked:
        """Load a body, with the account of a search for `request`."""
        return self._carry_out(
            _Call(
                operation="load",
                act=lambda: candidate.instance.load_content(reference, scope),
                candidate=candidate,
                request=request,
                scope=scope,
                knobs=knobs,
                previous=previous,
            )
        )

    def pacing(self, candidate: Candidate, request: SearchRequest) -> Pacing | Asked | None:
        """The rate that the instance keeps to, if any; where it raises, how that ended: nobody was asked."""
        try:
            return candidate.instance.pacing(request)
        except Exception as error:  # noqa: BLE001 - the SPI's boundary, as in `_outcome`
            self._note_internal(candidate, error)
            attempt = Attempt(instance_id=candidate.endpoint.id, outcome=Outcome.FAILURE, reason="internal")
            return Asked(attempt=attempt)

    def _carry_out(self, call: _Call) -> Asked:
        endpoint = call.candidate.endpoint
        allowed = call.scope.deadline.remaining()
        started = self._clock.monotonic()
        with self._tracing.span(
            "provider",
            operation=call.operation,
            protocol=endpoint.protocol,
            instance=endpoint.id,
            modality=call.request.modality,
        ):
            ended = self._outcome(call)
        milliseconds = round((self._clock.monotonic() - started) * 1000)
        end = self._follow_up(ended, call, allowed)
        attempt = Attempt(
            instance_id=endpoint.id,
            outcome=end.outcome,
            reason=end.reason,
            detail=end.detail,
            duration_ms=milliseconds,
            cost=end.calls * endpoint.cost_per_call,
            retry_at=end.retry_at,
        )
        self._count_credit(end.calls, call)
        asked = Asked(attempt=attempt, result=end.result, content=end.content, error=end.error)
        self._write_down(asked, call)
        return asked

    @staticmethod
    def _outcome(call: _Call) -> SearchResult | LoadedContent | Exception:
        try:
            return call.act()
        except (ProviderError, ConfigurationUnavailable) as error:
            return error
        except Exception as error:  # noqa: BLE001 - the SPI's boundary: an add-on's bug must not end the cascade
            return error

    def _follow_up(self, ended: SearchResult | LoadedContent | Exception, call: _Call, allowed: float) -> _End:
        if isinstance(ended, SearchResult):
            self._keep_quota(ended.quota, call)
            return self._answered(ended, call)
        if isinstance(ended, LoadedContent):
            return _End(outcome=Outcome.SUCCESS, calls=ended.calls, content=ended)
        if isinstance(ended, ProviderError):
            return self._failed(ended, call, allowed)
        if isinstance(ended, ConfigurationUnavailable):
            return _End(outcome=Outcome.FAILURE, calls=0, reason="key_unavailable")
        self._note_internal(call.candidate, ended)
        return _End(outcome=Outcome.FAILURE, calls=1, reason="internal")

    def _note_internal(self, candidate: Candidate, error: Exception) -> None:
        self._metrics.count(Metric.INTERNAL_ERRORS, protocol=candidate.endpoint.protocol)
        self._on_internal_error(candidate.endpoint.id, error)

    def _answered(self, result: SearchResult, call: _Call) -> _End:
        if result.error_message is not None:
            return _End(outcome=Outcome.SOFT_FAILURE, calls=0, reason="declined")
        if call.previous is not None and not call.previous.closed:
            self._fleet.close_cooldown(ProjectKey.of(call.scope), call.previous)
        return _End(outcome=Outcome.SUCCESS if result.hits else Outcome.EMPTY, calls=result.calls, result=result)

    def _keep_quota(self, quota: QuotaStatus | None, call: _Call) -> None:
        """Share what an answer said is left: at once when that is nothing, else once per time to live."""
        if quota is None:
            return
        now, key = self._clock.now(), (ProjectKey.of(call.scope), call.subject)
        if quota.exhausted or (self._quota_kept_until.get(key) or 0.0) <= now:
            expires_at = now + call.knobs.quota_cache_ttl_minutes * 60
            self._fleet.save_quota(key[0], call.subject, KeptQuota(status=quota, expires_at=expires_at))
            self._quota_kept_until.put(key, expires_at)

    def _failed(self, error: ProviderError, call: _Call, allowed: float) -> _End:
        now = self._clock.now()
        retry_at = self._exhausted(error, call, now) if isinstance(error, QuotaExhausted) else None
        cooldown = self._cooldown(error, call, now, allowed)
        if cooldown is not None:
            standing = self._fleet.extend_cooldown(ProjectKey.of(call.scope), cooldown)
            retry_at = None if standing.until_settings_change else standing.until
        return _End(
            outcome=Outcome.FAILURE,
            calls=_calls_before(error),
            reason=error.reason,
            detail=error.cause.value if error.cause else None,
            retry_at=retry_at,
            error=error,
        )

    @staticmethod
    def _cooldown(error: ProviderError, call: _Call, now: float, allowed: float) -> Cooldown | None:
        if call.operation == "load" and concerns_one_body(error):
            return None
        fingerprint = call.candidate.endpoint.fingerprint
        return cooldown_after(error, call.subject, call.previous, now=now, fingerprint=fingerprint, allowed=allowed)

    def _exhausted(self, error: QuotaExhausted, call: _Call, now: float) -> float:
        """No cooldown: the quota is kept as used up, and looked at again when the quota cache's time is over."""
        expires_at = now + (error.retry_after or call.knobs.quota_cache_ttl_minutes * 60)
        resets_at = now + error.retry_after if error.retry_after else None
        status = QuotaStatus(source=QuotaSource.PROVIDER, remaining=0, resets_at=resets_at, observed_at=now)
        kept = KeptQuota(status=status, expires_at=expires_at)
        self._fleet.save_quota(ProjectKey.of(call.scope), call.subject, kept)
        return expires_at

    def _count_credit(self, calls: int, call: _Call) -> None:
        """One more write, for endpoints with a `creditLimit` alone."""
        endpoint = call.candidate.endpoint
        if endpoint.credit_limit is None or calls == 0:
            return
        period = credit_period(endpoint.credit_kind, self._clock.now())
        self._fleet.add_spent(ProjectKey.of(call.scope), endpoint.id, period, calls * price_of_a_call(endpoint))

    def _write_down(self, asked: Asked, call: _Call) -> None:
        attempt, endpoint = asked.attempt, call.candidate.endpoint
        self._metrics.count(
            Metric.PROVIDER_CALLS,
            operation=call.operation,
            protocol=endpoint.protocol,
            instance=endpoint.id,
            modality=call.request.modality,
            outcome=attempt.outcome,
        )
        self._metrics.time(
            Metric.PROVIDER_DURATION,
            attempt.duration_ms,
            operation=call.operation,
            protocol=endpoint.protocol,
            instance=endpoint.id,
            outcome=attempt.outcome,
        )
        self._audit.record(
            call.candidate,
            call.request,
            call.scope,
            attempt,
            hit_count=len(asked.result.hits) if asked.result else int(asked.content is not None),
            retention_days=call.knobs.log_retention_days,
            operation=call.operation,
        )


def _calls_before(error: ProviderError) -> int:
    """How many requests the provider got before it failed: as counted, else the one that must have been made."""
    return error.calls if error.calls is not None else int(error.reached_provider)
