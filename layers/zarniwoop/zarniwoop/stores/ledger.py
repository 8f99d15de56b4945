"""The spend ledger: who may spend how much in a period, decided before the call and for the whole fleet at once.

What is about to be spent is held, then settled at what it came to. A hold whose environment died is counted as spent
when its time is over: a limit is never exceeded, and nothing that may have been spent is lost. Holds are over by the
minute, so that those of a minute that come to the same are kept, and settled when they are over, as one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from zarniwoop.stores.project import ProjectKey

PROJECT_BUDGET = "project"
TENANT_BUDGET = "tenant"
BUDGETS = (PROJECT_BUDGET, TENANT_BUDGET)
"""The narrower one first."""
RUN_BUDGET = "run"
MOST_SETTLED_AT_ONCE = 5
"""So many settlements go with one reservation, the oldest first: the next one settles the next."""
_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """An amount in its limit's unit, and the number of requests that a provider gets for it."""

    amount: float = 0.0
    calls: int = 0

    @classmethod
    def of(cls, calls: int, price: float) -> "Spent":
        """So many calls at that price."""
        return cls(amount=float(exact(price) * calls), calls=calls)

    def plus(self, other: "Spent") -> "Spent":
        return Spent(amount=float(exact(self.amount) + exact(other.amount)), calls=self.calls + other.calls)

    def minus(self, other: "Spent") -> "Spent":
        return Spent(amount=float(exact(self.amount) - exact(other.amount)), calls=self.calls - other.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of each there may be in a period; None: any."""

    amount: float | None = None
    calls: int | None = None

    @property
    def bounded(self) -> bool:
        return self.amount is not None or self.calls is not None

    def of(self, which: str) -> float | None:
        """Of `calls` or of the `amount`."""
        return self.calls if which == "calls" else self.amount

    def exceeded_by(self, total: Spent) -> str | None:
        """Which of the two is: `calls` or `amount`."""
        if self.calls is not None and total.calls > self.calls:
            return "calls"
        if self.amount is not None and exact(total.amount) > exact(self.amount):
            return "amount"
        return None


def exact(value: float) -> Decimal:
    """As it is written: three times 0.1 fits into 0.3. Raises ValueError for what is not finite."""
    if not math.isfinite(value):
        raise ValueError("only a finite amount can be counted")
    return Decimal(repr(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What is counted together in a period: an endpoint's spending, a whole project's, a whole tenant's, or a run's.

    A run's own has no period but the run: its id stands there. `expires_at` is when the counts may be forgotten (epoch
    seconds), None: never.
    """

    tenant_id: str
    project_id: str | None
    instance_id: str | None
    period: str
    is_of_a_run: bool = False
    expires_at: float | None = field(default=None, compare=False)

    @classmethod
    def of_endpoint(
        cls,
        project: ProjectKey,
        instance_id: str,
        period: str,
        expires_at: float | None = None,
        *,
        shared: bool = False,
    ) -> "Account":
        """The project's own, or one that it shares with all of its tenant's."""
        return cls(
            tenant_id=project.tenant_id,
            project_id=None if shared else project.project_id,
            instance_id=instance_id,
            period=period,
            expires_at=expires_at,
        )

    @classmethod
    def of_budget(cls, budget: str, project: ProjectKey, period: str, expires_at: float | None = None) -> "Account":
        """The project's own, or with TENANT_BUDGET the one that it shares with all of its tenant's."""
        return cls(
            tenant_id=project.tenant_id,
            project_id=None if budget == TENANT_BUDGET else project.project_id,
            instance_id=None,
            period=period,
            expires_at=expires_at,
        )

    @classmethod
    def of_run(cls, project: ProjectKey, run_id: str, expires_at: float | None = None) -> "Account":
        """One that all steps of a run share, wherever they run."""
        return cls(
            tenant_id=project.tenant_id,
            project_id=project.project_id,
            instance_id=None,
            period=run_id,
            is_of_a_run=True,
            expires_at=expires_at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """What one call may come to, until it is settled.

    With the minute of `until` (epoch seconds) it is over, and whoever made it is taken for dead.
    """

    id: str
    spent: Spent
    until: float

    @property
    def over_at(self) -> int:
        return math.ceil(self.until / _MINUTE) * _MINUTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Where an account stands. `committed` is what limits are about: what was used, and all that is held.

    `used` was settled, holds that nobody settled in time included; their part is `assumed`.
    """

    committed: Spent = field(default_factory=Spent)
    used: Spent = field(default_factory=Spent)
    assumed: Spent = field(default_factory=Spent)
    holds: Mapping[str, Hold] = field(default_factory=dict)

    def of_the_dead(self, now: float) -> list[Sequence[Hold]]:
        """Holds that are over by now, those together that are over at once and come to the same; the oldest first."""
        alike: dict[tuple[int, float, int], list[Hold]] = {}
        for hold in self.holds.values():
            if hold.over_at <= now:
                alike.setdefault((hold.over_at, hold.spent.amount, hold.spent.calls), []).append(hold)
        return [alike[kind] for kind in sorted(alike)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """How a reservation ended, and where the account stands after it.

    `throttled`: too many wanted to hold something at once, so it is not known whether there is room.
    """

    granted: bool
    balance: Balance
    throttled: bool = False


class Ledger(Protocol):
    """Every method is one DynamoDB call; one that raises StoreUnavailable may have been carried out all the same.

    One that raises StoreThrottled was not, unless an earlier try of it was whose answer got lost.
    """

    def reserve(self, account: Account, limits: Limits, hold: Hold, *, now: float) -> Reserved:
        """Hold it if it fits under the limits with all that is used and held; the same hold twice is one.

        Holds that are over by `now` and come to light are settled as spent, at one more call for those that are alike.
        Whether that succeeds changes nothing of the verdict.
        """
        ...

    def settle(self, account: Account, hold: Hold, spent: Spent) -> bool:
        """Put what was spent in the place of the hold. False when it is not there (any more): nothing changes then."""
        ...

    def charge(self, account: Account, spent: Spent) -> None:
        """Add what was spent without a hold: an outage kept it from being held, or it exceeded its hold."""
        ...

    def balance(self, account: Account) -> Balance: ...
