"""The cascade: one candidate after the other, until one answers with hits or the time is spent.

This is the only retry there is. The next provider is a better retry than the same one; the same one is asked again only
when it is the last, and stated a wait of at most two seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import RateLimited
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Attempt, DispatchFailure, Outcome, SearchResult
from zarniwoop.dispatch.call import Asked, ProviderCaller
from zarniwoop.dispatch.candidates import Candidate, Lineup
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.dispatch.gate import Skip, judge
from zarniwoop.dispatch.quota import QuotaBook
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.state import Cooldown, ProjectKey, StateSnapshot, Subject

ATTEMPT_CAP_SECONDS = 8.0
ATTEMPT_SHARE = 0.6
SHORTEST_ATTEMPT_SECONDS = 1.5
WORTH_WAITING_SECONDS = 2.0


@dataclass(slots=True, kw_only=True)
class Cascade:
    """One request's way through its candidates."""

    request: SearchRequest
    scope: SearchScope
    lineup: Lineup
    snapshot: StateSnapshot
    knobs: Knobs
    caller: ProviderCaller
    fleet: FleetState
    quotas: QuotaBook
    clock: Clock

    def run(self) -> SearchResult:
        attempts: list[Attempt] = []
        empty: SearchResult | None = None
        last: tuple[Candidate, Asked] | None = None
        for candidate in self.lineup.candidates:
            asked = self._visit(candidate)
            attempts.append(asked.attempt)
            if asked.attempt.outcome is Outcome.SUCCESS and asked.result:
                return self._with_account(asked.result, attempts)
            empty = empty or asked.result
            last = (candidate, asked) if asked.attempt.outcome is not Outcome.SKIPPED else last
        if empty is None and last is not None and (again := self._ask_again(*last)) is not None:
            attempts.append(again.attempt)
            if again.result is not None:
                return self._with_account(again.result, attempts)
        return self._with_account(empty, attempts) if empty else self._failure(attempts)

    def _visit(self, candidate: Candidate) -> Asked:
        """Gate, turn, call. A cooldown whose time is over may be tried by one caller of the fleet only."""
        subject: Subject = (candidate.endpoint.id, self.request.modality)
        quota = self.quotas.kept_or_counted(candidate, subject, self.scope, self.snapshot, self.knobs)
        cooldown = self.snapshot.cooldowns.get(subject)
        verdict = judge(candidate, cooldown, quota, self.scope, self.clock.now())
        if verdict.skip:
            return _skipped(candidate, verdict.skip, verdict.detail, verdict.retry_at)
        if self.scope.deadline.remaining() < SHORTEST_ATTEMPT_SECONDS:
            return _skipped(candidate, Skip.OUT_OF_TIME)
        if verdict.probe is not None and not self.fleet.claim_probe(self._project, verdict.probe):
            return _skipped(candidate, Skip.PROBING, verdict.probe.reason)
        if not self._wait_for_turn(candidate):
            return _skipped(candidate, Skip.THROTTLED)
        return self._ask(candidate, cooldown)

    def _ask(self, candidate: Candidate, previous: Cooldown | None) -> Asked:
        seconds = min(ATTEMPT_CAP_SECONDS, ATTEMPT_SHARE * self.scope.deadline.remaining())
        scope = self.scope.until(self.scope.deadline.within(seconds))
        return self.caller.ask(candidate, self.request, scope, previous=previous, knobs=self.knobs)

    def _wait_for_turn(self, candidate: Candidate) -> bool:
        """Take a turn at the provider's published rate; False when it would come too late for an attempt."""
        paced = candidate.instance.pacing(self.request)
        if paced is None:
            return True
        now = self.clock.now()
        slack = self.scope.deadline.remaining() - SHORTEST_ATTEMPT_SECONDS
        start = self.fleet.take_turn(*paced, latest=now + slack)
        if start is None:
            return False
        if start > now:
            self.clock.sleep(start - now)
        return True

    def _ask_again(self, candidate: Candidate, asked: Asked) -> Asked | None:
        """Wait out a short stated wait of the last provider that was asked, once, if the time allows.

        Others of the fleet may have been told a longer one meanwhile; and a stated wait of nothing is our own guess.
        """
        wait = asked.error.retry_after if isinstance(asked.error, RateLimited) else None
        room = self.scope.deadline.remaining() - SHORTEST_ATTEMPT_SECONDS
        if wait is None or wait > min(WORTH_WAITING_SECONDS, room):
            return None
        self.clock.sleep(wait)
        subject: Subject = (candidate.endpoint.id, self.request.modality)
        cooldown = self.fleet.snapshot(self._project, [subject]).cooldowns.get(subject)
        verdict = judge(candidate, cooldown, None, self.scope, self.clock.now())
        if verdict.skip or (verdict.probe is not None and not self.fleet.claim_probe(self._project, verdict.probe)):
            return None
        return self._ask(candidate, cooldown)

    @property
    def _project(self) -> ProjectKey:
        return ProjectKey(tenant_id=self.scope.tenant_id, project_id=self.scope.project_id)

    def _with_account(self, result: SearchResult, attempts: Sequence[Attempt]) -> SearchResult:
        notes = [note for note in (result.note, self.lineup.note) if note]
        return result.with_account(attempts, "; ".join(notes) or None)

    def _failure(self, attempts: Sequence[Attempt]) -> SearchResult:
        failure = _kind(attempts)
        return self._with_account(
            SearchResult(
                query=self.request.query,
                modality=self.request.modality,
                provider_instance_id=self.request.pinned_provider_id or "",
                tier=self.request.tier,
                error_message=_MESSAGES[failure],
                failure=failure,
                retry_at=min((each.retry_at for each in attempts if each.retry_at is not None), default=None),
            ),
            attempts,
        )


_WAITING = frozenset({Skip.COOLDOWN, Skip.PROBING, Skip.EXHAUSTED, Skip.THROTTLED, Skip.DISABLED})
_MESSAGES = {
    DispatchFailure.NO_ENDPOINT: "no endpoint serves this modality",
    DispatchFailure.DISABLED: "every endpoint for this modality is disabled",
    DispatchFailure.ALL_COOLING: "every provider for this modality is cooling down, used up or throttled",
    DispatchFailure.ALL_FAILED: "no provider could answer this search",
    DispatchFailure.DECLINED: "no provider takes this search",
    DispatchFailure.OUT_OF_TIME: "there was no time left to ask a provider",
}


def _kind(attempts: Sequence[Attempt]) -> DispatchFailure:
    """What the attempts come to, when none of them brought an answer."""
    reasons = {attempt.reason for attempt in attempts}
    if any(attempt.outcome is Outcome.FAILURE for attempt in attempts):
        return DispatchFailure.ALL_FAILED
    if Skip.OUT_OF_TIME in reasons:
        return DispatchFailure.OUT_OF_TIME
    if any(attempt.outcome is Outcome.SOFT_FAILURE for attempt in attempts):
        return DispatchFailure.DECLINED
    if reasons == {Skip.DISABLED}:
        return DispatchFailure.DISABLED
    return DispatchFailure.ALL_COOLING if reasons & _WAITING else DispatchFailure.NO_ENDPOINT


def _skipped(candidate: Candidate, skip: Skip, detail: str | None = None, retry_at: float | None = None) -> Asked:
    attempt = Attempt(
        instance_id=candidate.endpoint.id, outcome=Outcome.SKIPPED, reason=skip, detail=detail, retry_at=retry_at
    )
    return Asked(attempt=attempt)
