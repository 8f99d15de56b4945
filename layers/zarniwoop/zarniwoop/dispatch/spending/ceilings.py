"""The ceilings that the whole fleet counts towards: of a run, an endpoint's credit, a project, a tenant."""

from collections.abc import Iterator
from dataclasses import dataclass

from zarniwoop.dispatch.candidates.credit import (
    CreditPeriod,
    budget_period,
    dollars_of_a_call,
    period_of,
    price_of_a_call,
)
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.dispatch.spending.purse import MAX_CALLS, MAX_COST, Purse, Refusal
from zarniwoop.settings.budgets import Budgets
from zarniwoop.settings.endpoints import EndpointSettings
from zarniwoop.settings.names import budget_setting, endpoint_setting
from zarniwoop.stores.ledger import BUDGETS, Account, Balance, Limits, Spent
from zarniwoop.stores.state import ProjectKey

HOLD_AGAIN_SECONDS = 1.0
"""After how long there may be room to hold something where too many wanted to at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
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


def ceilings(endpoint: EndpointSettings, project: ProjectKey, purse: Purse, now: float) -> Iterator[Ceiling]:
    if purse.run is not None and _concerns(purse.run.limits, dollars_of_a_call(endpoint)):
        yield Ceiling(
            account=purse.run.account,
            limits=purse.run.limits,
            price=dollars_of_a_call(endpoint),
            skip=Skip.BUDGET,
            resets_at=None,
            names={"calls": MAX_CALLS, "amount": MAX_COST},
        )
    if endpoint.credit_limit is not None:
        period = period_of(endpoint, now)
        yield Ceiling(
            account=Account.of_endpoint(
                project, endpoint.id, period.name, period.forgotten_at, shared=endpoint.credit_shared
            ),
            limits=Limits(amount=endpoint.credit_limit),
            price=price_of_a_call(endpoint),
            skip=Skip.EXHAUSTED,
            resets_at=period.until,
            names={"amount": endpoint_setting(endpoint.id, "creditLimit")},
        )
    for _budget, ceiling in budget_ceilings(endpoint, project, purse.budgets, now):
        yield ceiling


def _concerns(limits: Limits, price: float) -> bool:
    """Whether a call counts towards these: what is free does not concern a limit of the amount."""
    return limits.calls is not None or (limits.amount is not None and price > 0)


def budget_ceilings(
    endpoint: EndpointSettings, project: ProjectKey, budgets: Budgets, now: float
) -> Iterator[tuple[str, Ceiling]]:
    """Those that a call of this endpoint counts towards: a budget in dollars alone is not concerned by what is free."""
    if not budgets.bounded:
        return
    price = dollars_of_a_call(endpoint)
    for budget in BUDGETS:
        limits = budgets.limits(budget)
        if _concerns(limits, price):
            yield budget, _of_budget(budget, limits, project, budget_period(budgets, budget, now), price)


def _of_budget(budget: str, limits: Limits, project: ProjectKey, period: CreditPeriod, price: float) -> Ceiling:
    return Ceiling(
        account=Account.of_budget(budget, project, period.name, period.forgotten_at),
        limits=limits,
        price=price,
        skip=Skip.BUDGET,
        resets_at=period.until,
        names={"calls": budget_setting(budget, "calls"), "amount": budget_setting(budget, "usd")},
    )
