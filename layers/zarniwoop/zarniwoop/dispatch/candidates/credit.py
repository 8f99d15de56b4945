"""Credit that is counted here: how much an endpoint with a `creditLimit` has spent in the period that its kind names.

The count is a number in the shared state and not the sum of the audit records: those expire, and credit must not come
back with them. What calls under way may still come to counts as spent (`dispatch.spending`).
"""

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.settings.budgets import BudgetPeriod, Budgets
from zarniwoop.settings.endpoints import CreditKind, EndpointSettings
from zarniwoop.stores.ledger import BUDGETS
from zarniwoop.stores.state import KeptQuota, StateSnapshot, Subject

_DAY = 86_400.0
KEPT_AFTER_THE_PERIOD = _DAY
"""How long a count outlives its period: clocks differ."""
_COUNTED_IN_CREDITS = frozenset((CreditKind.MONTHLY, CreditKind.ONE_TIME))


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditPeriod:
    """A UTC month or day, or everything. `since` and `until` in epoch seconds; None: it never ends."""

    name: str
    since: float
    until: float | None

    @property
    def forgotten_at(self) -> float | None:
        return None if self.until is None else self.until + KEPT_AFTER_THE_PERIOD


def credit_period(kind: CreditKind, now: float, reset_day: int = 1) -> CreditPeriod:
    """The running period. Where settings name none, it is the day; a month may begin on any day (`resetDay`)."""
    today = datetime.fromtimestamp(now, tz=UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if kind is CreditKind.ONE_TIME:
        return CreditPeriod(name="all", since=0.0, until=None)
    if kind is CreditKind.MONTHLY:
        return _month(today, reset_day)
    return CreditPeriod(name=f"{today:%Y-%m-%d}", since=today.timestamp(), until=today.timestamp() + _DAY)


def period_of(endpoint: EndpointSettings, now: float) -> CreditPeriod:
    return credit_period(endpoint.credit_kind, now, endpoint.reset_day)


def budget_period(budgets: Budgets, budget: str, now: float) -> CreditPeriod:
    """That of the project's, or of the tenant's."""
    kind = CreditKind.MONTHLY if budgets.period(budget) is BudgetPeriod.MONTH else CreditKind.NONE
    return credit_period(kind, now)


def budget_periods(budgets: Budgets, now: float) -> dict[str, str]:
    """The names of the periods of those that limit anything."""
    bounded = [budget for budget in BUDGETS if budgets.limits(budget).bounded] if budgets.bounded else []
    return {budget: budget_period(budgets, budget, now).name for budget in bounded}


def _month(today: datetime, reset_day: int) -> CreditPeriod:
    """From the reset day on, which in a short month is its last day.

    It is called after the month that it begins in, whatever the day: the count goes on when the reset day is changed.
    """
    begun = _reset_in(today.year, today.month, reset_day)
    if begun > today:
        begun = _reset_in(*_month_after(today, -1), reset_day)
    following = _reset_in(*_month_after(begun, 1), reset_day)
    return CreditPeriod(name=f"{begun:%Y-%m}", since=begun.timestamp(), until=following.timestamp())


def _reset_in(year: int, month: int, reset_day: int) -> datetime:
    return datetime(year, month, min(reset_day, monthrange(year, month)[1]), tzinfo=UTC)


def _month_after(day: datetime, months: int) -> tuple[int, int]:
    counted = day.year * 12 + day.month - 1 + months
    return counted // 12, counted % 12 + 1


def used_up(endpoint: EndpointSettings, retry_after: float | None, *, again: float, now: float) -> KeptQuota:
    """What is kept when a provider says that its plan is used up, until it may be there again.

    When that is: as the provider states it, else when the endpoint's `creditKind` says that the period turns. Where
    neither is known it is looked at in `again` seconds, and one-time credit every day.
    """
    resets_at = now + retry_after if retry_after else None
    if resets_at is None and endpoint.credit_kind is not CreditKind.NONE:
        resets_at = period_of(endpoint, now).until
    seconds = _DAY if endpoint.credit_kind is CreditKind.ONE_TIME else again
    status = QuotaStatus(source=QuotaSource.PROVIDER, remaining=0, resets_at=resets_at, observed_at=now)
    return KeptQuota(status=status, expires_at=resets_at or now + seconds)


def price_of_a_call(endpoint: EndpointSettings) -> float:
    """In the unit of `creditLimit`; where calls have no price, they are what is counted."""
    return endpoint.cost_per_call or 1.0


def dollars_of_a_call(endpoint: EndpointSettings) -> float:
    """What a call takes of budgets in USD: nothing where its price is in credits of the provider."""
    return 0.0 if _is_in_credits(endpoint) else endpoint.cost_per_call


def credits_of_a_call(endpoint: EndpointSettings) -> float:
    """What it takes of the provider's credits: nothing where its price is in dollars."""
    return endpoint.cost_per_call if _is_in_credits(endpoint) else 0.0


def _is_in_credits(endpoint: EndpointSettings) -> bool:
    return endpoint.credit_kind in _COUNTED_IN_CREDITS and not endpoint.in_dollars


def credit_status(endpoint: EndpointSettings, used: float, now: float) -> QuotaStatus:
    """What our own count means."""
    limit = endpoint.credit_limit
    return QuotaStatus(
        source=QuotaSource.LOCAL,
        unit=_unit(endpoint),
        used=used,
        limit=limit,
        remaining=max(0.0, limit - used) if limit is not None else None,
        resets_at=period_of(endpoint, now).until,
        observed_at=now,
    )


def _unit(endpoint: EndpointSettings) -> str:
    if endpoint.in_dollars or endpoint.credit_kind is CreditKind.DAILY_USD:
        return "usd"
    return "calls" if price_of_a_call(endpoint) == 1 else "credits"


def counted_here(endpoint: EndpointSettings, snapshot: StateSnapshot, now: float) -> QuotaStatus | None:
    """What is left of the endpoint's `creditLimit`; None for an endpoint without one."""
    if endpoint.credit_limit is None:
        return None
    return credit_status(endpoint, snapshot.spent.get(endpoint.id, 0.0), now)


def quota_in_force(
    endpoint: EndpointSettings, subject: Subject, snapshot: StateSnapshot, now: float
) -> QuotaStatus | None:
    """What the gate looks at: our own limit when it is reached, whatever the provider says; else what was kept.

    Who does not know when a quota resets looks at it again when the kept one expires.
    """
    own = counted_here(endpoint, snapshot, now)
    kept = snapshot.quotas.get(subject)
    if kept is None or (own is not None and own.exhausted):
        return own
    return replace(kept.status, resets_at=kept.status.resets_at or kept.expires_at)
