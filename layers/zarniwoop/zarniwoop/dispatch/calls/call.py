"""One call of one provider instance, a search or the load of a body, and everything that follows from how it ends."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeVar

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable, MalformedAnswer, ProviderError, ProviderUnavailable
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Attempt, Outcome, SearchResult
from zarniwoop.dispatch.calls.asked import INTERNAL, NO_KEY, Asked
from zarniwoop.dispatch.calls.audit import AuditTrail
from zarniwoop.dispatch.calls.consequences import Concerned, Consequences
from zarniwoop.dispatch.calls.health import SUPERSEDED
from zarniwoop.dispatch.calls.promises import most_calls, searched
from zarniwoop.dispatch.candidates.credit import credits_of_a_call, dollars_of_a_call
from zarniwoop.dispatch.candidates.key_pool import PoolKey
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.dispatch.fleet.turns import FurtherTurns
from zarniwoop.dispatch.spending.holds import Reservation, Spending
from zarniwoop.dispatch.spending.purse import Purse, Refusal
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.state import Cooldown, ProjectKey

Told = TypeVar("Told")
InternalErrorLog = Callable[[str, Exception], None]
"""Told the instance id and the exception when an instance raises what it must not."""


class _Call(NamedTuple):
    """What is asked of whom. `most_calls` is how many requests it may take; where nothing limits them nobody counted.

    Like all that is made for every call alone, a tuple: it takes a third of the time that a dataclass takes.
    """

    operation: str
    act: Callable[[], SearchResult | LoadedContent]
    who: Concerned
    request: SearchRequest
    scope: SearchScope
    purse: Purse
    most_calls: int = 1


class _End(NamedTuple):
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
        self._audit = audit
        self._clock = clock
        self._metrics = metrics
        self._tracing = tracing
        self._on_internal_error = on_internal_error
        self._spending = Spending(fleet=fleet, clock=clock)
        self._consequences = Consequences(fleet=fleet, clock=clock)

    def ask(
        self,
        candidate: Candidate,
        request: SearchRequest,
        scope: SearchScope,
        *,
        previous: Cooldown | None,
        knobs: Knobs,
        purse: Purse,
        key: PoolKey | None = None,
    ) -> Asked:
        """Search. `previous` is the subject's cooldown item, if any: closed on success, built upon on failure.

        `key` is the one to ask with, where the endpoint has several.
        """
        scope = replace(scope, key_index=key.index) if key else scope
        counted = purse.counts(candidate.endpoint)
        most = self.told(candidate, lambda: most_calls(candidate, request)) if counted else 1
        if isinstance(most, Asked):
            return most
        return self._carry_out(
            _Call(
                operation="search",
                act=lambda: searched(candidate, request, scope),
                who=Concerned(candidate, ProjectKey.of(scope), request.modality, knobs, previous, key),
                request=request,
                scope=scope,
                purse=purse,
                most_calls=most,
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
        purse: Purse,
        most_calls: int = 1,
        key: PoolKey | None = None,
    ) -> Asked:
        """Load a body in so many requests at most, with the account of a search for `request`."""
        scope = replace(scope, key_index=key.index) if key else scope
        return self._carry_out(
            _Call(
                operation="load",
                act=lambda: candidate.instance.load_content(reference, scope),
                who=Concerned(candidate, ProjectKey.of(scope), request.modality, knobs, previous, key, is_search=False),
                request=request,
                scope=scope,
                purse=purse,
                most_calls=most_calls,
            )
        )

    def pacing(self, candidate: Candidate, request: SearchRequest) -> Pacing | Asked | None:
        """The rate that the instance keeps to, if any."""
        return self.told(candidate, lambda: candidate.instance.pacing(request))

    def told(self, candidate: Candidate, tell: Callable[[], Told]) -> Told | Asked:
        """What the instance tells; where it raises what it must not, how that ended: nobody was asked."""
        try:
            return tell()
        except Exception as error:  # noqa: BLE001 - the SPI's boundary, as in `_outcome`
            self._note_internal(candidate, error)
            return Asked.broken(candidate)

    def _carry_out(self, call: _Call) -> Asked:
        """Nobody is asked whose call could exceed a ceiling."""
        reserved = self._spending.reserve(call.who.candidate, call.most_calls, call.scope, call.purse)
        if isinstance(reserved, Refusal):
            refused = reserved.ceiling, reserved.resets_at, reserved.limit
            return Asked.skipped(call.who.candidate, reserved.skip, *refused)
        return self._call(call, reserved)

    def _call(self, call: _Call, reservation: Reservation) -> Asked:
        endpoint = call.who.candidate.endpoint
        allowed = call.scope.deadline.remaining()
        started, asked_at = self._clock.monotonic(), self._clock.now()
        with self._tracing.span(
            "provider",
            operation=call.operation,
            protocol=endpoint.protocol,
            instance=endpoint.id,
            modality=call.request.modality,
        ):
            ended = self._outcome(call)
        seconds, turns = self._clock.monotonic() - started, call.scope.next_turn
        milliseconds = round(seconds * 1000)
        waited = turns.waited if isinstance(turns, FurtherTurns) else 0.0
        if call.scope.deadline.is_broken_off and _may_be_of_breaking_off(ended):
            end = self._superseded(ended, call, seconds - waited)
        else:
            end = self._follow_up(ended, call, allowed - waited, asked_at)
        attempt = Attempt(
            instance_id=endpoint.id,
            outcome=end.outcome,
            reason=end.reason,
            detail=end.detail,
            duration_ms=milliseconds,
            cost=end.calls * dollars_of_a_call(endpoint),
            credits=end.calls * credits_of_a_call(endpoint),
            retry_at=end.retry_at,
            key_index=call.scope.key_index,
        )
        self._spending.settle(reservation, end.calls)
        asked = Asked(attempt=attempt, result=end.result, content=end.content, error=end.error)
        self._write_down(asked, call, end.calls)
        return asked

    @staticmethod
    def _outcome(call: _Call) -> SearchResult | LoadedContent | Exception:
        try:
            return call.act()
        except (ProviderError, ConfigurationUnavailable) as error:
            return error
        except Exception as error:  # noqa: BLE001 - the SPI's boundary: an add-on's bug must not end the cascade
            return error

    def _follow_up(
        self, ended: SearchResult | LoadedContent | Exception, call: _Call, allowed: float, asked_at: float
    ) -> _End:
        if isinstance(ended, SearchResult):
            self._consequences.of_quota(ended.quota, call.who, asked_at)
            return self._answered(ended, call)
        if isinstance(ended, LoadedContent):
            return _End(outcome=Outcome.SUCCESS, calls=ended.calls, content=ended)
        if isinstance(ended, ProviderError):
            return self._failed(ended, call, allowed)
        if isinstance(ended, ConfigurationUnavailable):
            return _End(outcome=Outcome.FAILURE, calls=0, reason=NO_KEY)
        self._note_internal(call.who.candidate, ended)
        return _End(outcome=Outcome.FAILURE, calls=1, reason=INTERNAL)

    def _note_internal(self, candidate: Candidate, error: Exception) -> None:
        self._metrics.count(Metric.INTERNAL_ERRORS, protocol=candidate.endpoint.protocol)
        self._on_internal_error(candidate.endpoint.id, error)

    def _answered(self, result: SearchResult, call: _Call) -> _End:
        if result.error_message is not None:
            return _End(outcome=Outcome.SOFT_FAILURE, calls=0, reason="declined")
        self._consequences.of_success(call.who)
        return _End(outcome=Outcome.SUCCESS if result.hits else Outcome.EMPTY, calls=result.calls, result=result)

    def _failed(self, error: ProviderError, call: _Call, allowed: float) -> _End:
        retry_at = self._consequences.of_failure(error, call.who, allowed)
        return _End(
            outcome=Outcome.FAILURE,
            calls=calls_before(error),
            reason=error.reason,
            detail=error.cause.value if error.cause else None,
            retry_at=retry_at,
            error=error,
        )

    def _superseded(self, ended: object, call: _Call, lasted: float) -> _End:
        """Another was faster."""
        return _End(
            outcome=Outcome.FAILURE,
            calls=calls_before(ended) if isinstance(ended, ProviderError) else 1,
            reason=SUPERSEDED,
            retry_at=self._consequences.of_losing(call.who, lasted),
        )

    def _write_down(self, asked: Asked, call: _Call, calls: int) -> None:
        attempt, endpoint = asked.attempt, call.who.candidate.endpoint
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
            call.who.candidate,
            call.request,
            call.scope,
            attempt,
            hit_count=len(asked.result.hits) if asked.result else int(asked.content is not None),
            retention_days=call.who.knobs.log_retention_days,
            operation=call.operation,
            calls=calls,
        )


def _may_be_of_breaking_off(ended: object) -> bool:
    """Whether a connection that is shut from outside can end a call so. A refusal has been said by the provider."""
    if isinstance(ended, (ProviderError, ConfigurationUnavailable)):
        return isinstance(ended, (ProviderUnavailable, MalformedAnswer)) and ended.retry_after is None
    return isinstance(ended, Exception)


def calls_before(error: ProviderError) -> int:
    """How many requests the provider got before it failed: as counted, else the one that must have been made."""
    return error.calls if error.calls is not None else int(error.reached_provider)
