"""Credit that is counted here: how much an endpoint with a `creditLimit` has spent in the period that its kind names.

The count is a number in the shared state and not the sum of the audit records: those expire, and credit must not come
back with them. Searches that are under way when the limit is reached may still overshoot it by a call each.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.settings.endpoints import CreditKind, EndpointSettings
from zarniwoop.stores.state import StateSnapshot, Subject

_DAY = 86_400.0
KEPT_AFTER_THE_PERIOD = _DAY
"""How long a count outlives its period: clocks differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditPeriod:
    """A UTC month or day, or everything. `since` and `until` in epoch seconds; None: it never ends."""

    name: str
    since: float
    until: float | None

    @property
    def forgotten_at(self) -> float | None:
        return None if self.until is None else self.until + KEPT_AFTER_THE_PERIOD


def credit_period(kind: CreditKind, now: float) -> CreditPeriod:
    """The running period. Where settings name none, it is the day."""
    today = datetime.fromtimestamp(now, tz=UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if kind is CreditKind.ONE_TIME:
        return CreditPeriod(name="all", since=0.0, until=None)
    if kind is CreditKind.MONTHLY:
        first = today.replace(day=1)
        following = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
        return CreditPeriod(name=f"{first:%Y-%m}", since=first.timestamp(), until=following.timestamp())
    return CreditPeriod(name=f"{today:%Y-%m-%d}", since=today.timestamp(), until=today.timestamp() + _DAY)


def price_of_a_call(endpoint: EndpointSettings) -> float:
    """In the unit of `creditLimit`; where calls have no price, they are what is counted."""
    return endpoint.cost_per_call or 1.0


def credit_status(endpoint: EndpointSettings, used: float, now: float) -> QuotaStatus:
    """What our own count means."""
    price, limit = price_of_a_call(endpoint), endpoint.credit_limit
    return QuotaStatus(
        source=QuotaSource.LOCAL,
        unit="usd" if endpoint.credit_kind is CreditKind.DAILY_USD else "calls" if price == 1 else "credits",
        used=used,
        limit=limit,
        remaining=max(0.0, limit - used) if limit is not None else None,
        resets_at=credit_period(endpoint.credit_kind, now).until,
        observed_at=now,
    )


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
