"""What one request may spend, counted in memory, and who stood against it."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass

from zarniwoop.contract.request import SearchRequest
from zarniwoop.dispatch.candidates.credit import dollars_of_a_call
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.settings.budgets import Budgets
from zarniwoop.settings.endpoints import EndpointSettings
from zarniwoop.stores.ledger import Account, Limits, Spent

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


def _cost(endpoint: EndpointSettings, calls: int) -> Spent:
    return Spent.of(calls, dollars_of_a_call(endpoint))
