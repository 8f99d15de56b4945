"""A draft of an endpoint put to the test: one cheap call, and a sentence that says what is wrong with it.

Read-only: no cooldown, no quota and no curated metric comes of it. It takes its turn at a published rate like everybody
else, keeps to the endpoint's `creditLimit` and to the budgets and counts towards them, is written into the audit trail
as diagnostics, and counted in `vance.research.diagnostics` alone. What a provider said of its quota does not stop it:
the draft may hold another key.
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
from zarniwoop.contract.transport import AwsCaller, KeyPools, Secret, Transport
from zarniwoop.dispatch.calls.audit import AuditTrail
from zarniwoop.dispatch.calls.call import calls_before
from zarniwoop.dispatch.calls.promises import foretold, most_calls
from zarniwoop.dispatch.candidates.credit import credits_of_a_call, dollars_of_a_call
from zarniwoop.dispatch.candidates.factory import instantiate
from zarniwoop.dispatch.candidates.gate import Skip, to_raise
from zarniwoop.dispatch.candidates.protocols import Protocols
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.dispatch.fleet.turns import further_turns, turn_at
from zarniwoop.dispatch.spending.holds import Spending
from zarniwoop.dispatch.spending.purse import Purse, Refusal
from zarniwoop.dispatch.trial.call import QUOTA, SEARCH, TrialCall, searched
from zarniwoop.dispatch.trial.keys import DraftKeys
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.settings.budgets import Budgets
from zarniwoop.settings.endpoints import EndpointSettings
from zarniwoop.settings.names import PROTOCOL, endpoint_setting

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRunner:
    """Carries trials out; `redact` is the last look at every sentence that an add-on may have written."""

    protocols: Protocols
    transport: Transport
    keys: KeyPools
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
        budgets: Budgets,
        query: str | None = None,
        modality: SearchModality | None = None,
        note: str | None = None,
        retention_days: int = 30,
    ) -> Trial:
        """Without a query of its own a provider that tells its quota for free is asked for that, any other searches.

        Raises InvalidArgument, Unready (no turn at the provider's rate, credit or a budget used up),
        ConfigurationUnavailable.
        """
        candidate = self._made(endpoint, DraftKeys(self.keys, drafts))
        try:
            request = SearchRequest(query=query or QUESTION, modality=_modality(candidate, modality), max_results=1)
            call, milliseconds = self._in_turn(candidate, request, scope, budgets, may_ask_quota=query is None)
        finally:
            foretold(candidate.instance.dispose, None)
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

    def _made(self, endpoint: EndpointSettings, keys: KeyPools) -> Candidate:
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

    def _in_turn(
        self,
        candidate: Candidate,
        request: SearchRequest,
        scope: SearchScope,
        budgets: Budgets,
        *,
        may_ask_quota: bool,
    ) -> tuple[TrialCall, int]:
        """The call in its turn at a published rate, and the milliseconds that it took."""
        seconds = candidate.endpoint.timeout_seconds or _LONGEST_CALL
        longest = min(_LONGEST_WAIT_FOR_TURN, scope.deadline.remaining() / 2)
        try:
            pacing, most = candidate.instance.pacing(request), most_calls(candidate, request)
        except Exception as error:  # noqa: BLE001 - the SPI's boundary, as in `_call`
            return TrialCall.of_bug(candidate, error, SEARCH, calls=0), 0
        with turn_at(pacing, longest, self.fleet, scope.deadline, lease_seconds=seconds) as next_turn:
            if next_turn is not None:
                raise Unready(
                    "the provider's published rate is used up right now",
                    slug="throttled",
                    suggested_action="test again after wait_seconds",
                    wait_seconds=max(0.0, round(next_turn - self.clock.now(), 3)),
                )
            started = self.clock.monotonic()
            within = scope.deadline.within(seconds)
            asking = scope.until(within, further_turns(pacing, self.fleet, within))
            call = self._call(candidate, request, asking, budgets, most, may_ask_quota=may_ask_quota)
            return call, round((self.clock.monotonic() - started) * 1000)

    def _call(
        self,
        candidate: Candidate,
        request: SearchRequest,
        scope: SearchScope,
        budgets: Budgets,
        most: int,
        *,
        may_ask_quota: bool,
    ) -> TrialCall:
        asked = QUOTA
        try:
            quota = candidate.instance.current_quota(scope) if may_ask_quota else None
            if quota is not None:
                return TrialCall.of_quota(quota)
            asked = SEARCH
            return self._search(candidate, request, scope, budgets, most)
        except ProviderError as error:
            return TrialCall.of_failure(candidate, error, asked)
        except (ConfigurationUnavailable, Unready):
            raise
        except Exception as error:  # noqa: BLE001 - the SPI's boundary: an add-on's bug is what a trial finds
            return TrialCall.of_bug(candidate, error, asked, calls=int(asked == SEARCH))

    def _search(
        self, candidate: Candidate, request: SearchRequest, scope: SearchScope, budgets: Budgets, most: int
    ) -> TrialCall:
        """Held and settled like any other call."""
        spending, calls = Spending(fleet=self.fleet, clock=self.clock), 1
        reserved = spending.reserve(candidate, most, scope, Purse(budgets=budgets))
        if isinstance(reserved, Refusal):
            raise _refused(reserved, self.clock.now())
        try:
            call = searched(candidate, request, scope)
        except ProviderError as error:
            calls = calls_before(error)
            raise
        except ConfigurationUnavailable:
            calls = 0
            raise
        else:
            calls = call.calls
            return call
        finally:
            spending.settle(reserved, calls)

    def _write_down(
        self,
        call: TrialCall,
        milliseconds: int,
        candidate: Candidate,
        request: SearchRequest,
        scope: SearchScope,
        retention_days: int,
    ) -> None:
        endpoint = candidate.endpoint
        self.metrics.count(Metric.DIAGNOSTICS, protocol=endpoint.protocol, outcome=call.outcome)
        attempt = Attempt(
            instance_id=endpoint.id,
            outcome=call.outcome,
            reason=call.reason,
            duration_ms=milliseconds,
            cost=call.calls * dollars_of_a_call(endpoint),
            credits=call.calls * credits_of_a_call(endpoint),
        )
        self.audit.record(
            candidate,
            request,
            scope,
            attempt,
            hit_count=call.hit_count,
            retention_days=retention_days,
            diagnostics=True,
            calls=call.calls,
        )

    def _redacted(self, problem: Problem | None) -> Problem | None:
        return replace(problem, detail=self.redact(problem.detail)) if problem else None


def _refused(refusal: Refusal, now: float) -> Unready:
    ceiling, wait = refusal.ceiling, round(refusal.resets_at - now, 3) if refusal.resets_at else None
    if refusal.skip is Skip.THROTTLED:
        return Unready(
            f"{ceiling} is counted for too many calls at once right now, so the provider was not asked",
            slug="throttled",
            field=ceiling,
            suggested_action="test again after wait_seconds",
            wait_seconds=wait,
        )
    return Unready(
        f"{ceiling} is used up, so the provider was not asked",
        slug="exhausted" if refusal.skip is Skip.EXHAUSTED else "budget",
        field=ceiling,
        suggested_action=f"{to_raise(ceiling, refusal.limit)}, or test again when it begins anew",
        wait_seconds=wait,
    )


def _modality(candidate: Candidate, wanted: SearchModality | None) -> SearchModality:
    offered = foretold(candidate.instance.modalities, frozenset[SearchModality]())
    served = [modality for modality in SearchModality if modality in offered]
    if not served:
        raise InvalidArgument(
            f"'{candidate.endpoint.id}' serves no modality",
            field=endpoint_setting(candidate.endpoint.id, PROTOCOL),
            suggested_action="tell whoever wrote the protocol",
        )
    if wanted is not None and wanted not in served:
        raise InvalidArgument(
            f"'{candidate.endpoint.id}' does not serve {wanted}",
            field="modality",
            suggested_action="use one of " + ", ".join(served),
        )
    return wanted or served[0]
