"""The spend ledger in memory, with DynamoDB's semantics: every method is atomic, amounts are decimals."""

from dataclasses import replace

from tests.fakes.outage import Outage
from zarniwoop.stores.ledger import MOST_SETTLED_AT_ONCE, Account, Balance, Hold, Limits, Reserved, Spent


class InMemoryLedger(Outage):
    """`stores.ledger.Ledger`."""

    def __init__(self) -> None:
        super().__init__()
        self._balances: dict[Account, Balance] = {}
        self._expiries: dict[Account, float | None] = {}

    def reserve(self, account: Account, limits: Limits, hold: Hold, *, now: float) -> Reserved:
        with self._lock:
            self._called("reserve")
            before = self.standing(account)
            granted = hold.id in before.holds or not limits.exceeded_by(before.committed.plus(hold.spent))
            if granted and hold.id not in before.holds:
                committed = before.committed.plus(hold.spent)
                self._put(account, replace(before, committed=committed, holds={**before.holds, hold.id: hold}))
            answer = Reserved(granted=granted, balance=self.standing(account))
            for alike in answer.balance.of_the_dead(now)[:MOST_SETTLED_AT_ONCE]:
                for dead in alike:
                    self._settle(account, dead, dead.spent, assumed=dead.spent)
            return answer

    def settle(self, account: Account, hold: Hold, spent: Spent) -> bool:
        with self._lock:
            self._called("settle")
            return self._settle(account, hold, spent)

    def charge(self, account: Account, spent: Spent) -> None:
        with self._lock:
            self._called("charge")
            before = self.standing(account)
            after = replace(before, committed=before.committed.plus(spent), used=before.used.plus(spent))
            self._put(account, after)

    def balance(self, account: Account) -> Balance:
        with self._lock:
            self._called("balance")
            return self.standing(account)

    def standing(self, account: Account) -> Balance:
        """Where an account stands, for a snapshot and for tests to look at."""
        return self._balances.get(account, Balance())

    def is_kept(self, account: Account, now: float) -> bool:
        """Whether its counts are there and not forgotten by now."""
        expires_at = self._expiries.get(account)
        return account in self._balances and (expires_at is None or expires_at > now)

    def _settle(self, account: Account, hold: Hold, spent: Spent, assumed: Spent | None = None) -> bool:
        before = self.standing(account)
        if hold.id not in before.holds:
            return False
        after = Balance(
            committed=before.committed.minus(hold.spent).plus(spent),
            used=before.used.plus(spent),
            assumed=before.assumed.plus(assumed or Spent()),
            holds={name: each for name, each in before.holds.items() if name != hold.id},
        )
        self._put(account, after)
        return True

    def _put(self, account: Account, balance: Balance) -> None:
        self._balances[account] = balance
        self._expiries[account] = account.expires_at
