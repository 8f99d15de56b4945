"""Spending: held before a call at the most it can come to, settled after it at what it came to.

Ceilings, the narrowest first: the request's own (in memory, shared by all of its calls), its run's (shared by all of
the run's steps), the endpoint's credit, the project's budget, the tenant's. One that refuses gives back what the
earlier ones hold. What is not limited costs no write; each ceiling in force costs two.
What a request, a run, a project or a tenant may spend is dollars: a provider's credits are bounded by `creditLimit`.
"""

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.dispatch.candidates import Candidate
from zarniwoop.dispatch.credit import CreditPeriod, budget_period, dollars_of_a_call, period_of, price_of_a_call
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.dispatch.gate import Skip
from zarniwoop.settings.budgets import Budgets
from zarniwoop.settings.endpoints import EndpointSettings
from zarniwoop.settings.names import budget_setting, endpoint_setting
from zarniwoop.stores.ledger import BUDGETS, Account, Balance, Hold, Limits, Spent
from zarniwoop.stores.state import ProjectKey, StateSnapshot

HOLD_GRACE_SECONDS = 30.0
"""How long after its deadline whoever holds something is taken for dead."""
HOLD_AGAIN_SECONDS = 1.0
"""After how long there may be room to hold something where too many wanted to at once."""
MAX_CALLS = "max_calls"
MAX_COST = "max_cost"
_NOTHING = Spent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Nothing was spent, and which ceiling stood against it, an argument's name or a setting's, with its limit."""

    skip: Skip
    ceiling: str | None = None
    resets_at: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBudget:
    """What a whole run may spend, by the names of its arguments; its account is shared by whoever works on it."""

    account: Account
    limits: Limits


class Purse:
    """What one request may spend: shared by all of its calls, and safe to use from several threads.

    `run` is the run that the request belongs to, if any.
    """

    def __init__(
        self,
        *,
        budgets: Budgets | None = None,
        max_calls: int | None = None,
        max_cost: float | None = None,
        free_only: bool = False,
        run: RunBudget | None = None,
    ) -> None:
        self.budgets = budgets or Budgets()
        self.free_only = free_only
        self.run = run
        self._limits = Limits(amount=max_cost, calls=max_calls)
        self.bounded = free_only or run is not None or self._limits.bounded or self.budgets.bounded
        self._pot = _Pot()
        self._aside = _NOTHING

    @classmethod
    def of(cls, requests: Sequence[SearchRequest], budgets: Budgets, run: RunBudget | None = None) -> "Purse":
        """One purse for the searches of one call, whose requests all state the same."""
        return cls(
            run=run,
            budgets=budgets,
            max_calls=requests[0].max_calls,
            max_cost=requests[0].max_cost,
            free_only=requests[0].free_only,
        )

    @property
    def has_limits(self) -> bool:
        """Whether the request itself states any."""
        return self._limits.bounded

    def counts(self, endpoint: EndpointSettings) -> bool:
        """Whether there is any ceiling that a call of this endpoint could meet."""
        return self.bounded or endpoint.credit_limit is not None

    def stands_against(self, endpoint: EndpointSettings, calls: int) -> Refusal | None:
        """Whether so many calls of an endpoint would exceed it now."""
        if self.free_only and endpoint.cost_per_call > 0:
            return Refusal(skip=Skip.METERED)
        others = self._pot.committed.minus(self._aside)
        exceeded = self._limits.exceeded_by(others.plus(_cost(endpoint, calls)))
        if exceeded is None:
            return None
        ceiling = MAX_CALLS if exceeded == "calls" else MAX_COST
        return Refusal(skip=Skip.BUDGET, ceiling=ceiling, limit=self._limits.of(exceeded))

    def hold(self, endpoint: EndpointSettings, calls: int) -> Refusal | None:
        with self._pot.lock:
            refusal = self.stands_against(endpoint, calls)
            if refusal is None:
                self._pot.committed = self._pot.committed.minus(self._aside).plus(_cost(endpoint, calls))
                self._aside = _NOTHING
            return refusal

    def settle(self, endpoint: EndpointSettings, held: int, calls: int) -> None:
        with self._pot.lock:
            self._pot.committed = self._pot.committed.minus(_cost(endpoint, held)).plus(_cost(endpoint, calls))

    def part_for(self, endpoint: EndpointSettings, calls: int) -> "Purse | Refusal":
        """The same purse for one of several that are about to start side by side, with so many calls set aside for it.

        What is set aside goes into its first call.
        """
        if not self.has_limits:
            return self
        refusal = self.hold(endpoint, calls)
        if refusal is not None:
            return refusal
        part = copy(self)
        part._aside = _cost(endpoint, calls)
        return part

    @contextmanager
    def giving_back(self) -> Iterator[None]:
        """What is set aside and was not needed is everybody's in the end."""
        try:
            yield
        finally:
            with self._pot.lock:
                self._pot.committed = self._pot.committed.minus(self._aside)
                self._aside = _NOTHING


class _Pot:
    """What is committed of a purse and of all its parts together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.committed = _NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ceiling:
    """One limit of the fleet's; `price` is what a call takes of its amount."""

    account: Account
    limits: Limits
    price: float
    skip: Skip
    resets_at: float | None
    names: dict[str, str]

    def spent(self, calls: int) -> Spent:
        return Spent.of(calls, self.price)

    def throttled(self, now: float) -> Refusal:
        name = self.names["amount" if self.limits.calls is None else "calls"]
        return Refusal(skip=Skip.THROTTLED, ceiling=name, resets_at=now + HOLD_AGAIN_SECONDS)

    def refusal(self, balance: Balance, calls: int) -> Refusal:
        exceeded = self.limits.exceeded_by(balance.committed.plus(self.spent(calls))) or "amount"
        limit = self.limits.of(exceeded)
        return Refusal(skip=self.skip, ceiling=self.names[exceeded], resets_at=self.resets_at, limit=limit)


class Reservation(NamedTuple):
    """What is held for one call, until it is settled."""

    endpoint: EndpointSettings
    purse: Purse
    calls: int
    holds: Sequence[tuple[_Ceiling, Hold]] = ()


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
        holds: list[tuple[_Ceiling, Hold]] = []
        reservation = Reservation(endpoint, purse, calls, holds)
        now = self._clock.now()
        until = now + scope.deadline.remaining() + HOLD_GRACE_SECONDS
        for ceiling in _ceilings(endpoint, ProjectKey.of(scope), purse, now):
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
    for budget, ceiling in _budget_ceilings(endpoint, project, purse.budgets, now):
        balance = snapshot.budgets.get(budget)
        if balance is not None and ceiling.limits.exceeded_by(balance.committed.plus(ceiling.spent(calls))):
            return ceiling.refusal(balance, calls)
    return None


def _cost(endpoint: EndpointSettings, calls: int) -> Spent:
    return Spent.of(calls, dollars_of_a_call(endpoint))


def _ceilings(endpoint: EndpointSettings, project: ProjectKey, purse: Purse, now: float) -> Iterator[_Ceiling]:
    if purse.run is not None and _concerns(purse.run.limits, dollars_of_a_call(endpoint)):
        yield _Ceiling(
            account=purse.run.account,
            limits=purse.run.limits,
            price=dollars_of_a_call(endpoint),
            skip=Skip.BUDGET,
            resets_at=None,
            names={"calls": MAX_CALLS, "amount": MAX_COST},
        )
    if endpoint.credit_limit is not None:
        period = period_of(endpoint, now)
        yield _Ceiling(
            account=Account.of_endpoint(
                project, endpoint.id, period.name, period.forgotten_at, shared=endpoint.credit_shared
            ),
            limits=Limits(amount=endpoint.credit_limit),
            price=price_of_a_call(endpoint),
            skip=Skip.EXHAUSTED,
            resets_at=period.until,
            names={"amount": endpoint_setting(endpoint.id, "creditLimit")},
        )
    for _budget, ceiling in _budget_ceilings(endpoint, project, purse.budgets, now):
        yield ceiling


def _concerns(limits: Limits, price: float) -> bool:
    """Whether a call counts towards these: what is free does not concern a limit of the amount."""
    return limits.calls is not None or (limits.amount is not None and price > 0)


def _budget_ceilings(
    endpoint: EndpointSettings, project: ProjectKey, budgets: Budgets, now: float
) -> Iterator[tuple[str, _Ceiling]]:
    """Those that a call of this endpoint counts towards: a budget in dollars alone is not concerned by what is free."""
    if not budgets.bounded:
        return
    price = dollars_of_a_call(endpoint)
    for budget in BUDGETS:
        limits = budgets.limits(budget)
        if _concerns(limits, price):
            yield budget, _of_budget(budget, limits, project, budget_period(budgets, budget, now), price)


def _of_budget(budget: str, limits: Limits, project: ProjectKey, period: CreditPeriod, price: float) -> _Ceiling:
    return _Ceiling(
        account=Account.of_budget(budget, project, period.name, period.forgotten_at),
        limits=limits,
        price=price,
        skip=Skip.BUDGET,
        resets_at=period.until,
        names={"calls": budget_setting(budget, "calls"), "amount": budget_setting(budget, "usd")},
    )
