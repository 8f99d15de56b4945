"""Accounts of the spend ledger as DynamoDB items, and back.

Every write of an item is billed by the whole item's size, so a hold must be small: it is its id in a set of texts, and
the set's name, `held:<minute>:<amount>:<calls>`, says when it is over and what it comes to. A set comes with its first
member and goes with its last, so holds need no write of their own, and nothing of them stays.
"""

from collections.abc import Iterator
from typing import Any

from zarniwoop.stores.attributes import Item, has_lapsed, read_number, read_text, text
from zarniwoop.stores.failure import ILLEGIBLE
from zarniwoop.stores.keys import budget_key, partition, read_budget_key, read_spent_key, spent_key, tenant_partition
from zarniwoop.stores.ledger import PROJECT_BUDGET, RUN_BUDGET, TENANT_BUDGET, Account, Balance, Hold, Spent, exact
from zarniwoop.stores.project import ProjectKey

_HELD = "held:"
_NAMES = {
    "committed": ("committed", "committed_calls"),
    "used": ("used", "calls"),
    "assumed": ("assumed", "assumed_calls"),
}


def account_key(account: Account) -> dict[str, Any]:
    """Raises ValueError for an id that could forge a key."""
    if account.project_id is None:
        owner = tenant_partition(account.tenant_id)
    else:
        owner = partition(ProjectKey(tenant_id=account.tenant_id, project_id=account.project_id))
    if account.instance_id is not None:
        return {"pk": text(owner), "sk": text(spent_key(account.instance_id, account.period))}
    budget = TENANT_BUDGET if account.project_id is None else RUN_BUDGET if account.is_of_a_run else PROJECT_BUDGET
    return {"pk": text(owner), "sk": text(budget_key(budget, account.period))}


def held_as(hold: Hold) -> str:
    """The attribute that has the hold's id among others."""
    return f"{_HELD}{hold.over_at}:{exact(hold.spent.amount):f}:{hold.spent.calls}"


def read_balance(item: Item) -> Balance:
    """What is missing counts as nothing; an illegible hold is left alone, as it is in `committed`."""
    return Balance(
        committed=_spent(item, "committed"),
        used=_spent(item, "used"),
        assumed=_spent(item, "assumed"),
        holds={hold.id: hold for name in item if name.startswith(_HELD) for hold in _holds(item, name)},
    )


def read_spent(item: Item, now: float) -> tuple[str, float] | None:
    """Instance and committed credit of an item; None when its period is over, or it is illegible."""
    if has_lapsed(item, now):
        return None
    try:
        return read_spent_key(read_text(item, "sk")), read_number(item, "committed")
    except ILLEGIBLE:
        return None


def read_budget(item: Item, now: float) -> tuple[str, Balance] | None:
    """Whose budget, and where it stands; None when its period is over, or it is none."""
    if has_lapsed(item, now):
        return None
    try:
        return read_budget_key(read_text(item, "sk")), read_balance(item)
    except ILLEGIBLE:
        return None


def _spent(item: Item, what: str) -> Spent:
    amount, calls = _NAMES[what]
    return Spent(amount=_or_nothing(item, amount), calls=int(_or_nothing(item, calls)))


def _or_nothing(item: Item, name: str) -> float:
    return read_number(item, name) if name in item else 0.0


def _holds(item: Item, name: str) -> Iterator[Hold]:
    try:
        _, over_at, amount, calls = name.split(":")
        spent = Spent(amount=float(amount), calls=int(calls))
        for hold_id in item[name]["SS"]:
            yield Hold(id=hold_id, spent=spent, until=float(over_at))
    except ILLEGIBLE:
        return
