"""A draft of an endpoint put to the test: one cheap call, and a sentence that says what is wrong with it.

Read-only: no cooldown, no quota and no curated metric comes of it. It takes its turn at a published rate like everybody
else, keeps to the endpoint's `creditLimit` and counts towards it, is written into the audit trail as diagnostics, and
counted in `vance.research.diagnostics` alone. What a provider said of its quota does not stop it: the draft may hold
another key.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable, ProviderError
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument, Problem, Unready
from zarniwoop.contract.quota import QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Attempt, Outcome
from zarniwoop.contract.transport import AwsCaller, KeyRing, Secret, Transport
from zarniwoop.dispatch.audit import AuditTrail
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.dispatch.credit import counted_here, credit_period, price_of_a_call
from zarniwoop.dispatch.factory import instantiate
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.dispatch.protocols import Protocols
from zarniwoop.dispatch.trial_words import broken, failed, soft_failure
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.settings.endpoints import EndpointSettings
from zarniwoop.settings.names import endpoint_setting
from zarniwoop.stores.state import ProjectKey

QUESTION = "water"
"""What a draft is asked when its editor asks nothing: every index has something on it."""
_LONGEST_CALL = 10.0
_LONGEST_WAIT_FOR_TURN = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialReport:
    """What became of the one call. `asked` is `quota` or `search`; `cost` is in the endpoint's own unit."""

    endpoint_id: str
    protocol: str
    asked: str
    modality: SearchModality
    outcome: Outcome
    message: str
    duration_ms: int
    hit_count: int = 0
    quota: QuotaStatus | None = None
    cost: float = 0.0
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a trial ended; `problem` says what to change, None when it went well."""

    report: TrialReport
    problem: Problem | None = None


class DraftKeys:
    """`KeyRing` in which the drafts of keys come before what is saved."""

    def __init__(self, saved: KeyRing, drafts: Mapping[str, Secret]) -> None:
        self._saved = saved
        self._drafts = drafts

    def secret(self, credential_key: str, *, fresh: bool = False) -> Secret | None:
        return self._drafts.get(credential_key) or self._saved.secret(credential_key, fresh=fresh)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """What one call came to, before it is known how long it took."""

    asked: str
    outcome: Outcome
    message: str
    reason: str | None = None
    hit_count: int = 0
    calls: int = 1
    quota: QuotaStatus | None = None
    note: str | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRunner:
    """Carries trials out; `redact` is the last look at every sentence that an add-on may have written."""

    protocols: Protocols
    transport: Transport
    keys: KeyRing
    fleet: FleetState
    audit: AuditTrail
    clock: Clock
    metrics: Metrics
    redact: Callable[[str], str]
    aws: AwsCaller | None = None

    def run(
        self,
        endpoint: EndpointSettings,
        drafts: Mapping[str, Secret],
        scope: SearchScope,
        *,
        query: str | None = None,
        modality: SearchModality | None = None,
        note: str | None = None,
        retention_days: int = 30,
    ) -> Trial:
        """Without a query of its own a provider that tells its quota for free is asked for that, any other searches.

        Raises InvalidArgument, Unready (no credit, no turn at the provider's rate), ConfigurationUnavailable.
        """
        candidate = self._made(endpoint, DraftKeys(self.keys, drafts))
        request = SearchRequest(query=query or QUESTION, modality=_modality(candidate, modality), max_results=1)
        within = scope.until(scope.deadline.within(endpoint.timeout_seconds or _LONGEST_CALL))
        try:
            self._check_credit(candidate, request, scope)
            started = self._take_turn(candidate, request, scope)
            call = self._call(candidate, request, within, may_ask_quota=query is None)
        finally:
            candidate.instance.dispose()
        milliseconds = round((self.clock.monotonic() - started) * 1000)
        self._write_down(call, milliseconds, candidate, request, scope, retention_days)
        report = TrialReport(
            endpoint_id=endpoint.id,
            protocol=endpoint.protocol,
            asked=call.asked,
            modality=request.modality,
            outcome=call.outcome,
            message=self.redact(call.message),
            duration_ms=milliseconds,
            hit_count=call.hit_count,
            quota=call.quota,
            cost=call.calls * endpoint.cost_per_call,
            note="; ".join(each for each in (note, call.note) if each) or None,
        )
        return Trial(report=report, problem=self._redacted(call.problem))

    def _made(self, endpoint: EndpointSettings, keys: KeyRing) -> Candidate:
        made = instantiate(
            endpoint, self.protocols, transport=self.transport, keys=keys, clock=self.clock, aws=self.aws
        )
        if isinstance(made, Candidate):
            return made
        setting = endpoint_setting(endpoint.id, made[0].setting)
        raise InvalidArgument(
            f"'{setting}': {self.redact(made[0].reason)}",
            field=setting,
            suggested_action="GET /v1/settings/form tells how it is written",
        )

    def _check_credit(self, candidate: Candidate, request: SearchRequest, scope: SearchScope) -> None:
        endpoint, now = candidate.endpoint, self.clock.now()
        if endpoint.credit_limit is None:
            return
        snapshot = self.fleet.snapshot(ProjectKey.of(scope), [candidate.wanted(request.modality, now)])
        credit = counted_here(endpoint, snapshot, now)
        if credit is not None and credit.exhausted:
            raise Unready(
                "the endpoint's credit is used up",
                slug="exhausted",
                field=endpoint_setting(endpoint.id, "creditLimit"),
                suggested_action="test again when the period is over, or raise its creditLimit",
                wait_seconds=round(credit.resets_at - now, 3) if credit.resets_at is not None else None,
            )

    def _count_credit(self, calls: int, endpoint: EndpointSettings, scope: SearchScope) -> None:
        if endpoint.credit_limit is not None and calls:
            period = credit_period(endpoint.credit_kind, self.clock.now())
            self.fleet.add_spent(ProjectKey.of(scope), endpoint.id, period, calls * price_of_a_call(endpoint))

    def _take_turn(self, candidate: Candidate, request: SearchRequest, scope: SearchScope) -> float:
        """Wait for a turn where there is a published rate; return when the call may start."""
        pacing = candidate.instance.pacing(request)
        if pacing is not None:
            now = self.clock.now()
            turn = self.fleet.take_turn(
                pacing, latest=now + min(_LONGEST_WAIT_FOR_TURN, scope.deadline.remaining() / 2)
            )
            if not turn.granted:
                raise Unready(
                    "the provider's published rate is used up right now",
                    slug="throttled",
                    suggested_action="test again after wait_seconds",
                    wait_seconds=max(0.0, round(turn.at - now, 3)),
                )
            if turn.at > now:
                self.clock.sleep(turn.at - now)
        return self.clock.monotonic()

    def _call(self, candidate: Candidate, request: SearchRequest, scope: SearchScope, *, may_ask_quota: bool) -> _Call:
        asked = "quota"
        try:
            quota = candidate.instance.current_quota(scope) if may_ask_quota else None
            if quota is not None:
                return _Call(asked=asked, outcome=Outcome.SUCCESS, message="the key is good", calls=0, quota=quota)
            asked = "search"
            return _searched(candidate, request, scope)
        except ProviderError as error:
            problem = failed(candidate, error)
            calls = error.calls if error.calls is not None else int(error.reached_provider)
            return _Call(
                asked=asked,
                outcome=Outcome.FAILURE,
                message=problem.detail,
                reason=error.reason,
                calls=calls if asked == "search" else 0,
                problem=problem,
            )
        except ConfigurationUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - the SPI's boundary: an add-on's bug is what a trial finds
            problem = broken(candidate, error)
            return _Call(
                asked=asked, outcome=Outcome.FAILURE, message=problem.detail, reason="internal", problem=problem
            )

    def _write_down(
        self,
        call: _Call,
        milliseconds: int,
        candidate: Candidate,
        request: SearchRequest,
        scope: SearchScope,
        retention_days: int,
    ) -> None:
        endpoint = candidate.endpoint
        self._count_credit(call.calls, endpoint, scope)
        self.metrics.count(Metric.DIAGNOSTICS, protocol=endpoint.protocol, outcome=call.outcome)
        attempt = Attempt(instance_id=endpoint.id, outcome=call.outcome, reason=call.reason, duration_ms=milliseconds)
        self.audit.record(
            candidate,
            request,
            scope,
            attempt,
            hit_count=call.hit_count,
            retention_days=retention_days,
            diagnostics=True,
        )

    def _redacted(self, problem: Problem | None) -> Problem | None:
        return replace(problem, detail=self.redact(problem.detail)) if problem else None


def _searched(candidate: Candidate, request: SearchRequest, scope: SearchScope) -> _Call:
    result = candidate.instance.search(request, scope)
    if result.error_message is not None or (result.degraded and not result.hits):
        problem = soft_failure(candidate, result.error_message or result.degraded or "")
        return _Call(
            asked="search",
            outcome=Outcome.SOFT_FAILURE if result.error_message is not None else Outcome.DEGRADED_EMPTY,
            message=problem.detail,
            reason="declined" if result.error_message is not None else "degraded",
            calls=result.calls,
            problem=problem,
        )
    found = len(result.hits)
    return _Call(
        asked="search",
        outcome=Outcome.SUCCESS if found else Outcome.EMPTY,
        message="it answers and finds something" if found else "it answers, and finds nothing for this query",
        hit_count=found,
        calls=result.calls,
        quota=result.quota,
        note=result.note,
    )


def _modality(candidate: Candidate, wanted: SearchModality | None) -> SearchModality:
    served = [modality for modality in SearchModality if modality in candidate.instance.modalities()]
    if wanted is not None and wanted not in served:
        raise InvalidArgument(
            f"'{candidate.endpoint.id}' does not serve {wanted}",
            field="modality",
            suggested_action="use one of " + ", ".join(served),
        )
    return wanted or served[0]
