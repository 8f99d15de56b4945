"""Bodies behind hits, loaded as searches are made: gate, turn at the published rate, one call, one account of it.

There is no cascade: a body is where the hit says it is. Nor is there a probe: an instance whose cooldown has just ended
is left to a search, which can tell more.
"""

from dataclasses import dataclass, replace

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.hit import ContentReference
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.dispatch.call import Asked, ProviderCaller
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.dispatch.cascade import SHORTEST_ATTEMPT_SECONDS
from zarniwoop.dispatch.credit import quota_in_force
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.dispatch.gate import Skip, judge
from zarniwoop.dispatch.turns import wait_for_turn
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.state import StateSnapshot, Subject


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

    def __init__(self, *, caller: ProviderCaller, fleet: FleetState, clock: Clock) -> None:
        self._caller = caller
        self._fleet = fleet
        self._clock = clock

    def load(self, body: Body, scope: SearchScope, snapshot: StateSnapshot, knobs: Knobs) -> Asked:
        """The body as `content`, or the reason why not. What an instance does never raises."""
        skip = self._skip(body, scope, snapshot)
        if skip is not None:
            return Asked.skipped(body.candidate, skip)
        held_up = self._wait_for_turn(body, scope)
        if held_up is not None:
            return held_up
        previous = snapshot.cooldowns.get(body.subject)
        return self._caller.load(body.candidate, body.request, body.reference, scope, previous=previous, knobs=knobs)

    def _skip(self, body: Body, scope: SearchScope, snapshot: StateSnapshot) -> Skip | None:
        now = self._clock.now()
        quota = quota_in_force(body.candidate.endpoint, body.subject, snapshot, now)
        verdict = judge(body.candidate, snapshot.cooldowns.get(body.subject), quota, scope, now)
        if verdict.skip is None and scope.deadline.remaining() < SHORTEST_ATTEMPT_SECONDS:
            return Skip.OUT_OF_TIME
        return Skip.COOLDOWN if verdict.probe is not None else verdict.skip

    def _wait_for_turn(self, body: Body, scope: SearchScope) -> Asked | None:
        """At the rate of the instance's searches, since its host counts requests; a load is one of them.

        None when it is this body's turn, else how it ended.
        """
        pacing = self._caller.pacing(body.candidate, body.request)
        if pacing is None or isinstance(pacing, Asked):
            return pacing
        longest = scope.deadline.remaining() - SHORTEST_ATTEMPT_SECONDS
        next_turn = wait_for_turn(replace(pacing, calls=1), longest, self._fleet, self._clock)
        if next_turn is None:
            return None
        return Asked.skipped(body.candidate, Skip.THROTTLED, retry_at=next_turn)
