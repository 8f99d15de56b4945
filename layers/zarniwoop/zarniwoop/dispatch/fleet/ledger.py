"""The spend ledger as the dispatcher sees it: with the table down, limits hold for what this environment spends.

Nobody else's spending can be seen then, but its own is not forgotten: what could not be settled is settled with the
account's next reservations that get through. A hold whose writing failed may have been written nevertheless, so it is
settled like any other, and charged for only when it is not there.
An account that DynamoDB throttles is another matter: the table is there, and others are just spending, so nothing is
granted on faith. Holding is tried again after waits of random length, and then given up.
"""

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.stores.failure import StoreThrottled, StoreUnavailable
from zarniwoop.stores.ledger import (
    MOST_SETTLED_AT_ONCE,
    Account,
    Balance,
    Hold,
    Ledger,
    Limits,
    Reserved,
    Spent,
)
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.state import ProjectKey, StateSnapshot, Wanted, credit_account

_MOST_UNSETTLED = 1_000
LONGEST_WAITS_SECONDS = (0.05, 0.1, 0.2, 0.4)
"""Between one try to hold something and the next, where the account is throttled."""
_WORTH_LEAVING_SECONDS = 1.5
"""What must be left after such a wait: who holds something wants to ask somebody."""

Returned = TypeVar("Returned")


class Ask(Protocol):
    """Asks the store, and raises StoreUnavailable without asking when it failed a moment ago."""

    def __call__(self, operation: str, ask: Callable[[], Returned], /) -> Returned: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settlement:
    """`uncertain`: whether the table has the hold is not known."""

    account: Account
    hold: Hold
    spent: Spent
    uncertain: bool

    @property
    def correction(self) -> Spent:
        """What the account's committed spending lacks as long as this is not written."""
        return self.spent if self.uncertain else self.spent.minus(self.hold.spent)


class FleetLedger:
    """`Ledger` that never raises. `ask` counts what is lost, and leaves a table that just failed alone."""

    def __init__(self, store: Ledger, ask: Ask, clock: Clock) -> None:
        self._store = store
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._committed: Recent[Account, Spent] = Recent()
        self._uncertain: Recent[str, bool] = Recent(_MOST_UNSETTLED)
        self._unsettled: dict[str, _Settlement] = {}

    def reserve(self, account: Account, limits: Limits, hold: Hold, deadline: Deadline | None = None) -> Reserved:
        """A throttled hold that an earlier, unanswered try did write is a dead one's: it counts as spent."""
        now = self._clock.now()

        def ask() -> Reserved:
            return self._store.reserve(account, limits, hold, now=now)

        try:
            reserved = self._ask("reserve", lambda: self._patiently(ask, deadline))
        except StoreThrottled:
            return Reserved(granted=False, balance=Balance(committed=self._last_seen(account)), throttled=True)
        except StoreUnavailable:
            return self._reserve_here(account, limits, hold)
        self.see(account, reserved.balance.committed)
        self._catch_up(account)
        return reserved

    def settle(self, account: Account, hold: Hold, spent: Spent) -> None:
        """Once for every hold that was granted."""
        uncertain = self._uncertain.pop(hold.id) is not None
        self._change_here(account, spent.minus(hold.spent))
        self._settle(_Settlement(account=account, hold=hold, spent=spent, uncertain=uncertain))

    def corrected(
        self,
        project: ProjectKey,
        wanted: Sequence[Wanted],
        budget_periods: Mapping[str, str],
        snapshot: StateSnapshot,
    ) -> StateSnapshot:
        """The snapshot with what the table does not know yet; what it does know is remembered."""
        for instance_id, account in _endpoints(project, wanted):
            self.see(account, Spent(amount=snapshot.spent.get(instance_id, 0.0)))
        for budget, account in _budgets(project, budget_periods):
            self.see(account, snapshot.budgets.get(budget, Balance()).committed)
        if not self._unsettled:
            return snapshot
        spent = {
            instance_id: Spent(amount=snapshot.spent.get(instance_id, 0.0)).plus(self._correction(account)).amount
            for instance_id, account in _endpoints(project, wanted)
        }
        budgets = {
            budget: Balance(committed=found.committed.plus(self._correction(account)), used=found.used)
            for budget, account in _budgets(project, budget_periods)
            for found in (snapshot.budgets.get(budget, Balance()),)
        }
        return replace(snapshot, spent={**snapshot.spent, **spent}, budgets={**snapshot.budgets, **budgets})

    def with_last_seen(
        self,
        project: ProjectKey,
        wanted: Sequence[Wanted],
        budget_periods: Mapping[str, str],
        snapshot: StateSnapshot,
    ) -> StateSnapshot:
        """The snapshot, when the table is down, with where accounts stood the last time."""
        return replace(
            snapshot,
            spent={name: self._last_seen(account).amount for name, account in _endpoints(project, wanted)},
            budgets={
                name: Balance(committed=self._last_seen(account)) for name, account in _budgets(project, budget_periods)
            },
        )

    def see(self, account: Account, committed: Spent) -> None:
        """Remember where an account stands, for when the table is down."""
        self._committed.put(account, committed)

    def _patiently(self, ask: Callable[[], Reserved], deadline: Deadline | None) -> Reserved:
        """Try again as long as that leaves the time for a call. Raises StoreThrottled in the end, StoreUnavailable."""
        for longest in LONGEST_WAITS_SECONDS:
            try:
                return ask()
            except StoreThrottled:
                wait = longest * (1 + secrets.randbelow(1_000)) / 1_000
                if deadline is not None and deadline.remaining() - wait < _WORTH_LEAVING_SECONDS:
                    raise
                self._clock.sleep(wait)
        return ask()

    def _last_seen(self, account: Account) -> Spent:
        return self._committed.get(account) or Spent()

    def _correction(self, account: Account) -> Spent:
        """What the table does not know yet."""
        total = Spent()
        with self._lock:
            for each in self._unsettled.values():
                total = total.plus(each.correction) if each.account == account else total
        return total

    def _settle(self, settlement: _Settlement) -> bool:
        """Whether it could be written; if not, it is kept for later."""
        try:
            self._ask("settle", lambda: self._settle_there(settlement))
        except StoreUnavailable:
            with self._lock:
                self._unsettled[settlement.hold.id] = settlement
                while len(self._unsettled) > _MOST_UNSETTLED:
                    self._unsettled.pop(next(iter(self._unsettled)))
            return False
        return True

    def _settle_there(self, settlement: _Settlement) -> None:
        """A hold that is gone was taken for a dead one's and counted as spent: only what exceeds it is missing."""
        account, hold, spent = settlement.account, settlement.hold, settlement.spent
        if self._store.settle(account, hold, spent):
            return
        missing = spent if settlement.uncertain else _beyond(spent, hold.spent)
        if missing != Spent():
            self._store.charge(account, missing)

    def _catch_up(self, account: Account) -> None:
        """A few at a time: a search waits for it."""
        with self._lock:
            due = [each for each in self._unsettled.values() if each.account == account][:MOST_SETTLED_AT_ONCE]
            for each in due:
                del self._unsettled[each.hold.id]
        for each in due:
            self._settle(each)

    def _reserve_here(self, account: Account, limits: Limits, hold: Hold) -> Reserved:
        with self._lock:
            before = self._last_seen(account)
            after = before.plus(hold.spent)
            if limits.exceeded_by(after):
                return Reserved(granted=False, balance=Balance(committed=before))
            self._committed.put(account, after)
            self._uncertain.put(hold.id, True)
            return Reserved(granted=True, balance=Balance(committed=after))

    def _change_here(self, account: Account, change: Spent) -> None:
        with self._lock:
            self._committed.put(account, self._last_seen(account).plus(change))


def _beyond(spent: Spent, held: Spent) -> Spent:
    over = spent.minus(held)
    return Spent(amount=max(over.amount, 0.0), calls=max(over.calls, 0))


def _endpoints(project: ProjectKey, wanted: Sequence[Wanted]) -> Iterator[tuple[str, Account]]:
    for each in wanted:
        account = credit_account(project, each)
        if account is not None:
            yield each.subject[0], account


def _budgets(project: ProjectKey, periods: Mapping[str, str]) -> Iterator[tuple[str, Account]]:
    for budget, period in periods.items():
        yield budget, Account.of_budget(budget, project, period)
