"""Bodies behind hits, loaded as searches are made: gate, turns at the published rate, one call, one account of it.

There is no cascade: a body is where the hit says it is. Nor is there a probe: an instance whose cooldown has just ended
is left to a search, which can tell more.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.hit import ContentReference
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.dispatch.calls.asked import Asked
from zarniwoop.dispatch.calls.asking import SHORTEST_ATTEMPT_SECONDS
from zarniwoop.dispatch.calls.call import ProviderCaller
from zarniwoop.dispatch.calls.promises import most_load_calls
from zarniwoop.dispatch.candidates.credit import quota_in_force
from zarniwoop.dispatch.candidates.gate import Skip, judge
from zarniwoop.dispatch.candidates.key_pool import KeyPicker, pace_of
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.dispatch.fleet.turns import further_turns, turn_at
from zarniwoop.dispatch.spending.holds import foreseen
from zarniwoop.dispatch.spending.purse import Purse
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.state import ProjectKey, StateSnapshot, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """One that is to be loaded; `modality` is that of the hit, whose cooldowns and quotas hold for it too."""

    candidate: Candidate
    modality: SearchModality
    reference: ContentReference

    @property
    def subject(self) -> Subject:
        return self.candidate.endpoint.id, self.modality

    @property
    def request(self) -> SearchRequest:
        """As what a load is paced and accounted for: the reference stands where a search's query would."""
        return SearchRequest(query=self.reference.reference or "", modality=self.modality, max_results=1)


class BodyLoader:
    """Safe to use from several threads."""

    def __init__(self, *, caller: ProviderCaller, fleet: FleetState, pools: KeyPicker, clock: Clock) -> None:
        self._caller = caller
        self._fleet = fleet
        self._pools = pools
        self._clock = clock

    def load(self, body: Body, scope: SearchScope, snapshot: StateSnapshot, knobs: Knobs, purse: Purse) -> Asked:
        """The body as `content`, or the reason why not. What an instance does never raises."""
        candidate, project = body.candidate, ProjectKey.of(scope)
        skip = self._skip(body, scope, snapshot)
        if skip is not None:
            return Asked.skipped(candidate, skip)
        most = self._caller.told(candidate, lambda: most_load_calls(candidate, body.reference))
        if isinstance(most, Asked):
            return most
        refusal = foreseen(candidate.endpoint, most, project, purse, snapshot, self._clock.now())
        if refusal is not None:
            return Asked.skipped(candidate, refusal.skip, refusal.ceiling, refusal.resets_at, refusal.limit)
        try:
            pool = self._pools.of(candidate, body.modality, project, snapshot)
        except ConfigurationUnavailable:
            return Asked.without_key(candidate)
        key = next((each for each in pool.usable if each.probe is None), None) if pool else None
        if pool is not None and key is None:
            return Asked.skipped(candidate, Skip.COOLDOWN, pool.reason, pool.retry_at)
        pacing = self._caller.pacing(candidate, body.request)
        if isinstance(pacing, Asked):
            return pacing
        pace = pace_of(replace(pacing, calls=most) if pacing else None, key, candidate)
        with self._turn(pace, scope) as next_turn:
            if next_turn is not None:
                return Asked.skipped(candidate, Skip.THROTTLED, retry_at=next_turn)
            return self._caller.load(
                candidate,
                body.request,
                body.reference,
                scope.until(scope.deadline, further_turns(pace, self._fleet, scope.deadline)),
                previous=snapshot.cooldowns.get(body.subject),
                knobs=knobs,
                purse=purse,
                most_calls=most,
                key=key,
            )

    def _skip(self, body: Body, scope: SearchScope, snapshot: StateSnapshot) -> Skip | None:
        now = self._clock.now()
        quota = quota_in_force(body.candidate.endpoint, body.subject, snapshot, now)
        verdict = judge(body.candidate, snapshot.cooldowns.get(body.subject), quota, scope, now)
        if verdict.skip is None and scope.deadline.remaining() < SHORTEST_ATTEMPT_SECONDS:
            return Skip.OUT_OF_TIME
        return Skip.COOLDOWN if verdict.probe is not None else verdict.skip

    def _turn(self, pacing: Pacing | None, scope: SearchScope) -> AbstractContextManager[float | None]:
        """At the rate of the instance's searches, since its host counts requests."""
        remaining = scope.deadline.remaining()
        longest = remaining - SHORTEST_ATTEMPT_SECONDS
        return turn_at(pacing, longest, self._fleet, scope.deadline, lease_seconds=remaining)
