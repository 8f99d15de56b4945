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
from zarniwoop.dispatch.credit import quota_in_force
from zarniwoop.dispatch.fleet import PROBE_LEASE_SECONDS, FleetState
from zarniwoop.dispatch.gate import Skip, Verdict, judge
from zarniwoop.dispatch.turns import wait_for_turn
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.state import Cooldown, ProjectKey, StateSnapshot, Subject

ATTEMPT_CAP_SECONDS = 8.0
ATTEMPT_SHARE = 0.6
SHORTEST_ATTEMPT_SECONDS = 1.5
WORTH_WAITING_SECONDS = 2.0
WAITING_SHARE = 0.4
"""How much of the time may be waited for a turn while somebody else could be asked instead."""


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
    clock: Clock

    def run(self) -> SearchResult:
        attempts: list[Attempt] = []
        empty: SearchResult | None = None
        last: tuple[Candidate, Asked] | None = None
        for position, candidate in enumerate(self.lineup.candidates, 1):
            asked = self._visit(candidate, self.lineup.candidates[position:])
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

    def _visit(self, candidate: Candidate, behind: Sequence[Candidate]) -> Asked:
        """Gate, turn, call. A cooldown whose time is over may be tried by one caller of the fleet only."""
        verdict = self._verdict(candidate, self.snapshot)
        if verdict.skip:
            return Asked.skipped(candidate, verdict.skip, verdict.detail, verdict.retry_at)
        if self.scope.deadline.remaining() < SHORTEST_ATTEMPT_SECONDS:
            return Asked.skipped(candidate, Skip.OUT_OF_TIME)
        if verdict.probe is not None and not self.fleet.claim_probe(self._project, verdict.probe):
            lease_end = self.clock.now() + PROBE_LEASE_SECONDS
            return Asked.skipped(candidate, Skip.PROBING, verdict.probe.reason, lease_end)
        held_up = self._wait_for_turn(candidate, behind)
        if held_up is not None:
            return held_up
        return self._ask(candidate, self.snapshot.cooldowns.get(self._subject(candidate)))

    def _verdict(self, candidate: Candidate, snapshot: StateSnapshot) -> Verdict:
        subject, now = self._subject(candidate), self.clock.now()
        quota = quota_in_force(candidate.endpoint, subject, snapshot, now)
        return judge(candidate, snapshot.cooldowns.get(subject), quota, self.scope, now)

    def _ask(self, candidate: Candidate, previous: Cooldown | None) -> Asked:
        cap = candidate.endpoint.timeout_seconds or ATTEMPT_CAP_SECONDS
        seconds = min(cap, ATTEMPT_SHARE * self.scope.deadline.remaining())
        scope = self.scope.until(self.scope.deadline.within(seconds))
        return self.caller.ask(candidate, self.request, scope, previous=previous, knobs=self.knobs)

    def _wait_for_turn(self, candidate: Candidate, behind: Sequence[Candidate]) -> Asked | None:
        """Take a turn at the provider's published rate. None when it is there, else how it ended.

        While somebody behind could be asked, waiting leaves them most of the time; the last one may use it up.
        """
        pacing = self.caller.pacing(candidate, self.request)
        if pacing is None or isinstance(pacing, Asked):
            return pacing
        remaining = self.scope.deadline.remaining()
        longest = remaining - SHORTEST_ATTEMPT_SECONDS
        if any(self._verdict(other, self.snapshot).skip is None for other in behind):
            longest = min(longest, WAITING_SHARE * remaining)
        next_turn = wait_for_turn(pacing, longest, self.fleet, self.clock)
        return None if next_turn is None else Asked.skipped(candidate, Skip.THROTTLED, retry_at=next_turn)

    def _ask_again(self, candidate: Candidate, asked: Asked) -> Asked | None:
        """Wait out a short stated wait of the last provider that was asked, once, if the time allows.

        Others of the fleet may have been told a longer one meanwhile; and a stated wait of nothing is our own guess.
        """
        wait = asked.error.retry_after if isinstance(asked.error, RateLimited) else None
        room = self.scope.deadline.remaining() - SHORTEST_ATTEMPT_SECONDS
        if wait is None or wait > min(WORTH_WAITING_SECONDS, room):
            return None
        self.clock.sleep(wait)
        wanted = candidate.wanted(self.request.modality, self.clock.now())
        snapshot = self.fleet.snapshot(self._project, [wanted])
        verdict = self._verdict(candidate, snapshot)
        if verdict.skip or (verdict.probe is not None and not self.fleet.claim_probe(self._project, verdict.probe)):
            return None
        if self._wait_for_turn(candidate, ()) is not None:
            return None
        return self._ask(candidate, snapshot.cooldowns.get(wanted.subject))

    @property
    def _project(self) -> ProjectKey:
        return ProjectKey.of(self.scope)

    def _subject(self, candidate: Candidate) -> Subject:
        return candidate.endpoint.id, self.request.modality

    def _with_account(self, result: SearchResult, attempts: Sequence[Attempt]) -> SearchResult:
        notes = [note for note in (result.note, self.lineup.note) if note]
        return result.with_account(attempts, "; ".join(notes) or None)

    def _failure(self, attempts: Sequence[Attempt]) -> SearchResult:
        failure = DispatchFailure.ONLY_METERED if self.lineup.metered and not attempts else _kind(attempts)
        return self._with_account(
            SearchResult(
                query=self.request.query,
                modality=self.request.modality,
                provider_instance_id=self.request.pinned_provider_id or "",
                tier=self.request.tier,
                error_message=_MESSAGES[failure],
                calls=0,
                failure=failure,
                retry_at=min((each.retry_at for each in attempts if each.retry_at is not None), default=None),
            ),
            attempts,
        )


_WAITING = frozenset({Skip.COOLDOWN, Skip.PROBING, Skip.EXHAUSTED, Skip.THROTTLED, Skip.DISABLED})
_MESSAGES = {
    DispatchFailure.NO_ENDPOINT: "no endpoint serves this modality",
    DispatchFailure.ONLY_METERED: "the endpoints that serve this modality cost money, and none is named",
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
