"""Budgets of projects and tenants out of the settings: calls and dollars, by the day or the month.

Quirk: one that is not written as it must be counts as 0, and is told of: leaving it out would allow everything.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from zarniwoop.settings.cascade import Setting
from zarniwoop.settings.misconfigured import Misconfigured
from zarniwoop.settings.names import BUDGETS, budget_setting
from zarniwoop.stores.ledger import PROJECT_BUDGET, TENANT_BUDGET, Limits

_WHOLE = re.compile(r"[0-9]{1,9}")
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_EXPECTS = {each.name: each.expects for each in BUDGETS}


class BudgetPeriod(StrEnum):
    MONTH = "month"
    DAY = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """What a project, and all projects of its tenant together, may spend, each in a period of its own (UTC)."""

    project: Limits = field(default_factory=Limits)
    tenant: Limits = field(default_factory=Limits)
    project_period: BudgetPeriod = BudgetPeriod.MONTH
    tenant_period: BudgetPeriod = BudgetPeriod.MONTH

    @property
    def bounded(self) -> bool:
        return self.project.bounded or self.tenant.bounded

    def limits(self, budget: str) -> Limits:
        return self.tenant if budget == TENANT_BUDGET else self.project

    def period(self, budget: str) -> BudgetPeriod:
        return self.tenant_period if budget == TENANT_BUDGET else self.project_period


def read_budgets(values: Mapping[str, Setting]) -> tuple[Budgets, list[Misconfigured]]:
    faults: list[Misconfigured] = []

    def number(key: str, pattern: re.Pattern[str], until_then: str) -> float | None:
        if key not in values:
            return None
        written = (values[key].value or "").strip()
        if pattern.fullmatch(written):
            return float(written)
        faults.append(_must_be(key, f"; until it is, it allows {until_then}"))
        return 0.0

    def limits(budget: str) -> Limits:
        calls = number(budget_setting(budget, "calls"), _WHOLE, "no call")
        usd = number(budget_setting(budget, "usd"), _NUMBER, "no call that costs dollars")
        return Limits(amount=usd, calls=None if calls is None else int(calls))

    def period(budget: str) -> BudgetPeriod:
        key = budget_setting(budget, "period")
        written = (values[key].value or "").strip() if key in values else BudgetPeriod.MONTH
        if written in tuple(BudgetPeriod):
            return BudgetPeriod(written)
        faults.append(_must_be(key))
        return BudgetPeriod.MONTH

    return Budgets(
        project=limits(PROJECT_BUDGET),
        tenant=limits(TENANT_BUDGET),
        project_period=period(PROJECT_BUDGET),
        tenant_period=period(TENANT_BUDGET),
    ), faults


def _must_be(key: str, more: str = "") -> Misconfigured:
    return Misconfigured(instance_id="", setting=key, reason=f"must be {_EXPECTS[key]}{more}")
