"""Spending: held before a call at the most it can come to, settled after it at what it came to.

Ceilings, the narrowest first: the request's own (in memory, shared by all of its calls), its run's (shared by all of
the run's steps), the endpoint's credit, the project's budget, the tenant's. One that refuses gives back what the
earlier ones hold. What is not limited costs no write; each ceiling in force costs two.
What a request, a run, a project or a tenant may spend is dollars: a provider's credits are bounded by `creditLimit`.
"""

import secrets
from collections.abc import Sequence
from typing import NamedTuple

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.dispatch.spending.ceilings import Ceiling, budget_ceilings, ceilings
from zarniwoop.dispatch.spending.purse import Purse, Refusal
from zarniwoop.settings.endpoints import EndpointSettings
from zarniwoop.stores.ledger import Hold
from zarniwoop.stores.state import ProjectKey, StateSnapshot

HOLD_GRACE_SECONDS = 30.0
"""How long after its deadline whoever holds something is taken for dead."""


class Reservation(NamedTuple):
    """What is held for one call, until it is settled."""

    endpoint: EndpointSettings
    purse: Purse
    calls: int
    holds: Sequence[tuple[Ceiling, Hold]] = ()


class Spending:
    """Safe to use from several threads."""

    def __init__(self, *, fleet: FleetState, clock: Clock) -> None:
        self._fleet = fleet
        self._clock = clock

    def reserve(self, candidate: Candidate, calls: int, scope: SearchScope, purse: Purse) -> Reservation | Refusal:
        """Hold so many calls under every ceiling, or under none."""
        endpoint = candidate.endpoint
        if not purse.counts(endpoint):
            return Reservation(endpoint, purse, calls)
        refusal = purse.hold(endpoint, calls)
        if refusal is not None:
            return refusal
        holds: list[tuple[Ceiling, Hold]] = []
        reservation = Reservation(endpoint, purse, calls, holds)
        now = self._clock.now()
        until = now + scope.deadline.remaining() + HOLD_GRACE_SECONDS
        for ceiling in ceilings(endpoint, ProjectKey.of(scope), purse, now):
            hold = Hold(id=secrets.token_urlsafe(6), spent=ceiling.spent(calls), until=until)
            reserved = self._fleet.ledger.reserve(ceiling.account, ceiling.limits, hold, scope.deadline)
            if not reserved.granted:
                self.settle(reservation, 0)
                if reserved.throttled:
                    return ceiling.throttled(self._clock.now())
                return ceiling.refusal(reserved.balance, calls)
            holds.append((ceiling, hold))
        return reservation

    def settle(self, reservation: Reservation, calls: int) -> None:
        """What the call came to takes the place of what was held for it."""
        if not reservation.purse.counts(reservation.endpoint):
            return
        reservation.purse.settle(reservation.endpoint, reservation.calls, calls)
        for ceiling, hold in reservation.holds:
            self._fleet.ledger.settle(ceiling.account, hold, ceiling.spent(calls))


def foreseen(
    endpoint: EndpointSettings, calls: int, project: ProjectKey, purse: Purse, snapshot: StateSnapshot, now: float
) -> Refusal | None:
    """What a reservation would meet as the snapshot has it, the endpoint's own credit aside: that is the gate's."""
    refusal = purse.stands_against(endpoint, calls)
    if refusal is not None:
        return refusal
    for budget, ceiling in budget_ceilings(endpoint, project, purse.budgets, now):
        balance = snapshot.budgets.get(budget)
        if balance is not None and ceiling.limits.exceeded_by(balance.committed.plus(ceiling.spent(calls))):
            return ceiling.refusal(balance, calls)
    return None
