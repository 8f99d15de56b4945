"""Asking one candidate: the gate, the one probe of the fleet, a turn at the provider's rate, the call."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from zarniwoop.contract.deadline import BreakOff, Clock
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import Attempt
from zarniwoop.dispatch.calls.asked import Asked
from zarniwoop.dispatch.calls.call import ProviderCaller
from zarniwoop.dispatch.calls.promises import foretold, most_calls
from zarniwoop.dispatch.calls.side_by_side import Crew
from zarniwoop.dispatch.candidates.credit import quota_in_force
from zarniwoop.dispatch.candidates.gate import Skip, Verdict, judge
from zarniwoop.dispatch.candidates.key_pool import KeyPicker, PoolKey, is_of_a_key, known_pool, pace_of
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.fleet.state import PROBE_LEASE_SECONDS, FleetState
from zarniwoop.dispatch.fleet.turns import further_turns, turn_at
from zarniwoop.dispatch.spending.holds import foreseen
from zarniwoop.dispatch.spending.purse import Purse, Refusal
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.endpoints import Knobs
from zarniwoop.stores.state import Cooldown, ProjectKey, StateSnapshot

ATTEMPT_CAP_SECONDS = 8.0
ATTEMPT_SHARE = 0.6
SHORTEST_ATTEMPT_SECONDS = 1.5
WAITING_SHARE = 0.4
"""How much of the time may be waited for a turn while somebody else could be asked instead."""
_AT_ONCE = nullcontext(None)


@dataclass(slots=True, kw_only=True)
class Asking:
    """One request's way to any one of its candidates. Safe to use from several threads.

    `has_company`: others are asked beside it, so whoever waits for a turn keeps them waiting as well.
    """

    request: SearchRequest
    scope: SearchScope
    snapshot: StateSnapshot
    knobs: Knobs
    caller: ProviderCaller
    fleet: FleetState
    clock: Clock
    tracing: Tracing
    crew: Crew
    purse: Purse
    pools: KeyPicker
    has_company: bool = False

    def visit(self, candidate: Candidate, behind: Sequence[Candidate]) -> Asked:
        """Gate, turn, call. A cooldown whose time is over may be tried by one caller of the fleet only.

        `behind` are those who could be asked instead, if waiting for a turn took too long.
        """
        verdict = self.verdict(candidate)
        if verdict.skip:
            return Asked.skipped(candidate, verdict.skip, verdict.detail, verdict.retry_at, verdict.limit)
        if self.scope.deadline.remaining() < SHORTEST_ATTEMPT_SECONDS:
            return Asked.skipped(candidate, Skip.OUT_OF_TIME)
        return self._go(candidate, verdict, self.snapshot, behind)

    def look_again(self, candidate: Candidate) -> Asked | None:
        """Visit on a fresh look at the shared state; None where the candidate may not be asked after all."""
        wanted = candidate.wanted(self.request.modality, self.clock.now())
        snapshot = self.fleet.snapshot(self._project, [wanted])
        verdict = self.verdict(candidate, snapshot)
        if verdict.skip:
            return None
        asked = self._go(candidate, verdict, snapshot, ())
        return None if asked.attempt.reason in (Skip.PROBING, Skip.THROTTLED) else asked

    def breakable(self, break_off: BreakOff) -> "Asking":
        """The same, for visits that may be broken off."""
        return replace(self, scope=self.scope.until(self.scope.deadline.breakable(break_off)))

    def set_aside(self, candidate: Candidate) -> "Asking | Refusal":
        """The same for one of several visits that are about to start side by side: who comes first has its calls."""
        if not self.purse.has_limits:
            return self
        purse = self.purse.part_for(candidate.endpoint, foretold(lambda: most_calls(candidate, self.request), 1))
        return purse if isinstance(purse, Refusal) else replace(self, purse=purse)

    def verdict(self, candidate: Candidate, snapshot: StateSnapshot | None = None) -> Verdict:
        known = snapshot or self.snapshot
        return verdict_of(candidate, self.request, self.scope, known, self.purse, self.clock.now())

    def _go(
        self, candidate: Candidate, verdict: Verdict, snapshot: StateSnapshot, behind: Sequence[Candidate]
    ) -> Asked:
        subject = candidate.endpoint.id, self.request.modality
        try:
            pool = self.pools.of(candidate, self.request.modality, self._project, snapshot)
        except ConfigurationUnavailable:
            return Asked.without_key(candidate)
        if pool is not None and not pool.usable:
            return Asked.skipped(candidate, Skip.COOLDOWN, pool.reason, pool.retry_at)
        if verdict.probe is not None and not self.fleet.claim_probe(self._project, verdict.probe):
            return self._being_probed(candidate, verdict.probe)
        previous = snapshot.cooldowns.get(subject)
        if pool is None:
            return self._ask(candidate, previous, behind, None)
        return self._ask_with_one_of(pool.usable, candidate, previous, behind)

    def _ask_with_one_of(
        self, keys: Sequence[PoolKey], candidate: Candidate, previous: Cooldown | None, behind: Sequence[Candidate]
    ) -> Asked:
        """The next key takes over from one that was refused, throttled or used up, while there is time for it."""
        earlier: list[Attempt] = []
        for key in keys:
            asked = self._ask(candidate, previous, behind, key)
            may_go_on = self.scope.deadline.remaining() >= SHORTEST_ATTEMPT_SECONDS
            if key is keys[-1] or not may_go_on or not _is_the_keys_fault(asked):
                break
            earlier.append(asked.attempt)
        return replace(asked, earlier=tuple(earlier))

    def _ask(
        self, candidate: Candidate, previous: Cooldown | None, behind: Sequence[Candidate], key: PoolKey | None
    ) -> Asked:
        probe = key.probe if key is not None else None
        if probe is not None and not self.fleet.claim_probe(self._project, probe):
            return self._being_probed(candidate, probe, key)
        cap = candidate.endpoint.timeout_seconds or ATTEMPT_CAP_SECONDS
        pacing = self.caller.pacing(candidate, self.request)
        if isinstance(pacing, Asked):
            return _with_key(pacing, key)
        pace = pace_of(pacing, key, candidate)
        with self._turn(pace, behind, cap) as next_turn:
            if next_turn is not None:
                return _with_key(Asked.skipped(candidate, Skip.THROTTLED, retry_at=next_turn), key)
            if self.scope.deadline.is_broken_off:
                return Asked.skipped(candidate, Skip.SUPERSEDED)
            within = self.scope.deadline.within(min(cap, ATTEMPT_SHARE * self.scope.deadline.remaining()))
            return self.caller.ask(
                candidate,
                self.request,
                self.scope.until(within, further_turns(pace, self.fleet, within)),
                previous=previous,
                knobs=self.knobs,
                purse=self.purse,
                key=key,
            )

    def _being_probed(self, candidate: Candidate, cooldown: Cooldown, key: PoolKey | None = None) -> Asked:
        lease_end = self.clock.now() + PROBE_LEASE_SECONDS
        return _with_key(Asked.skipped(candidate, Skip.PROBING, cooldown.reason, lease_end), key)

    def _turn(
        self, pacing: Pacing | None, behind: Sequence[Candidate], cap: float
    ) -> AbstractContextManager[float | None]:
        """A turn at the provider's published rate, or the news when there is one.

        While somebody behind could be asked, waiting leaves them most of the time; the last one may use it up.
        """
        if pacing is None:
            return _AT_ONCE
        remaining = self.scope.deadline.remaining()
        longest = remaining - SHORTEST_ATTEMPT_SECONDS
        if self.has_company or any(self.verdict(other).skip is None for other in behind):
            longest = min(longest, WAITING_SHARE * remaining)
        return turn_at(pacing, longest, self.fleet, self.scope.deadline, lease_seconds=cap)

    @property
    def _project(self) -> ProjectKey:
        return ProjectKey.of(self.scope)


def _is_the_keys_fault(asked: Asked) -> bool:
    return is_of_a_key(asked.error) or asked.attempt.reason in (Skip.PROBING, Skip.THROTTLED)


def _with_key(asked: Asked, key: PoolKey | None) -> Asked:
    return asked if key is None else replace(asked, attempt=replace(asked.attempt, key_index=key.index))


def verdict_of(
    candidate: Candidate,
    request: SearchRequest,
    scope: SearchScope,
    snapshot: StateSnapshot,
    purse: Purse,
    now: float,
) -> Verdict:
    """The gate's, and then the ceilings' as far as they are known: what a search goes by, and its dry run as well."""
    subject = candidate.endpoint.id, request.modality
    quota = quota_in_force(candidate.endpoint, subject, snapshot, now)
    verdict = judge(candidate, snapshot.cooldowns.get(subject), quota, scope, now)
    if verdict.skip is not None:
        return verdict
    pool = known_pool(candidate, request.modality, snapshot, now)
    if pool is not None and not pool.usable:
        return Verdict(skip=Skip.COOLDOWN, detail=pool.reason, retry_at=pool.retry_at)
    if not purse.bounded:
        return verdict
    calls = foretold(lambda: most_calls(candidate, request), 1)
    refusal = foreseen(candidate.endpoint, calls, ProjectKey.of(scope), purse, snapshot, now)
    if refusal is None:
        return verdict
    return Verdict(skip=refusal.skip, detail=refusal.ceiling, retry_at=refusal.resets_at, limit=refusal.limit)
