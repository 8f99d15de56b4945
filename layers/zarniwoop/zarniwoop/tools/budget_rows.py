"""The budgets in force, as `research_providers` tells of them: what each allows, what is used, what is left."""

from collections.abc import Iterator
from dataclasses import dataclass

from zarniwoop.dispatch.candidates.credit import budget_period
from zarniwoop.settings.budgets import BudgetPeriod, Budgets
from zarniwoop.stores.ledger import BUDGETS, Balance, Spent
from zarniwoop.stores.state import StateSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """`used` since the budget was set or its period began: what was spent, and what calls under way may come to."""

    limit: float
    used: float
    left: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRow:
    """`budget` is `project`, or `tenant` for all projects of the tenant together. None: that is not limited, and then
    it is not told, since not every call is counted. `resets_at` in epoch seconds.
    """

    budget: str
    period: BudgetPeriod
    calls: Allowance | None
    usd: Allowance | None
    resets_at: float | None


def budget_rows(budgets: Budgets, snapshot: StateSnapshot, now: float) -> Iterator[BudgetRow]:
    """Out of the snapshot, which brings every budget in force along."""
    for budget in BUDGETS:
        limits = budgets.limits(budget)
        if limits.bounded:
            used = snapshot.budgets.get(budget, Balance()).committed
            left = Spent(amount=limits.amount or 0.0, calls=limits.calls or 0).minus(used)
            yield BudgetRow(
                budget=budget,
                period=budgets.period(budget),
                calls=_allowance(limits.calls, used.calls, left.calls),
                usd=_allowance(limits.amount, used.amount, left.amount),
                resets_at=budget_period(budgets, budget, now).until,
            )


def _allowance(limit: float | None, used: float, left: float) -> Allowance | None:
    """A limit that was lowered may be exceeded already."""
    return None if limit is None else Allowance(limit=limit, used=used, left=max(left, 0))
