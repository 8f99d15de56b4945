"""Bodies behind hits, loaded as searches are made: gate, turn at the published rate, one call, one account of it.

There is no cascade: a body is where the hit says it is. Nor is there a probe: an instance whose cooldown has just ended
is left to a search, which can tell more.
"""

from collections.abc import Sequence
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
from zarniwoop.stores.state import ProjectKey, StateSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """One that is to be loaded; `modality` is that of the hit, whose cooldowns and quotas hold for it too."""

    candidate: Candidate
    modality: SearchModality
    reference: ContentReference


class BodyLoader:
    """Safe to use from several threads."""

    def __init__(self, *, caller: ProviderCaller, fleet: FleetState, clock: Clock) -> None:
        self._caller = caller
        self._fleet = fleet
        self._clock = clock

    def look(self, bodies: Sequence[Body], scope: SearchScope) -> StateSnapshot:
        """What is known of whoever has them, in one read."""
        now = self._clock.now()
        wanted = list(dict.fromkeys(body.candidate.wanted(body.modality, now) for body in bodies))
        return self._fleet.snapshot(ProjectKey.of(scope), wanted)

    def load(self, body: Body, scope: SearchScope, snapshot: StateSnapshot, knobs: Knobs) -> Asked:
        """The body as `content`, or the reason why not. What an instance does never raises."""
        candidate = body.candidate
        skip = self._skip(body, scope, snapshot)
        if skip is not None:
            return Asked.skipped(candidate, skip)
        next_turn = self._wait_for_turn(body, scope)
        if next_turn is not None:
            return Asked.skipped(candidate, Skip.THROTTLED, retry_at=next_turn)
        return self._caller.load(candidate, body.modality, body.reference, scope, knobs=knobs)

    def _skip(self, body: Body, scope: SearchScope, snapshot: StateSnapshot) -> Skip | None:
        subject, now = (body.candidate.endpoint.id, body.modality), self._clock.now()
        quota = quota_in_force(body.candidate.endpoint, subject, snapshot, now)
        verdict = judge(body.candidate, snapshot.cooldowns.get(subject), quota, scope, now)
        if verdict.skip is None and scope.deadline.remaining() < SHORTEST_ATTEMPT_SECONDS:
            return Skip.OUT_OF_TIME
        return Skip.COOLDOWN if verdict.probe is not None else verdict.skip

    def _wait_for_turn(self, body: Body, scope: SearchScope) -> float | None:
        """At the rate of the instance's searches, since its host counts requests; a load is one of them."""
        request = SearchRequest(query=body.reference.reference or "", modality=body.modality, max_results=1)
        pacing = body.candidate.instance.pacing(request)
        if pacing is None:
            return None
        longest = scope.deadline.remaining() - SHORTEST_ATTEMPT_SECONDS
        return wait_for_turn(replace(pacing, calls=1), longest, self._fleet, self._clock)
