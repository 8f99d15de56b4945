"""`Ledger` on DynamoDB: one item per account, and every decision one conditional write.

The condition is on `committed`, which holds raise and settling corrects, so that no reader has to add anything up.
There are no transactions: they cost twice, and conflict just when many spend at once. Numbers are DynamoDB's decimals,
added there and compared there.
Quirk: botocore repeats a call whose answer was lost, so a hold that is refused because it is there already was granted.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from zarniwoop.stores.attributes import EXPIRES_AT, expiry
from zarniwoop.stores.dynamodb_calls import ConditionFailed, call, read_batch
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.ledger import MOST_SETTLED_AT_ONCE, Account, Balance, Hold, Limits, Reserved, Spent, exact
from zarniwoop.stores.ledger_items import account_key, held_as, read_balance

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDbLedger:
    """See `Ledger` for what each method promises."""

    def __init__(self, client: "DynamoDBClient", table_name: str) -> None:
        self._client = client
        self._table = table_name

    def reserve(self, account: Account, limits: Limits, hold: Hold, *, now: float) -> Reserved:
        rooms = _rooms(limits, hold.spent)
        if any(room < 0 for room in rooms.values()):
            return Reserved(granted=False, balance=self.balance(account))
        change = _Change()
        change.add({"committed": exact(hold.spent.amount), "committed_calls": Decimal(hold.spent.calls)})
        change.put_into("held", held_as(hold), hold.id)
        try:
            balance = self._carry_out(account, change, "NOT contains(#held, :id)", *change.fit(rooms))
            granted = True
        except ConditionFailed as failed:
            balance = read_balance(failed.standing)
            granted = hold.id in balance.holds
        self._settle_the_dead(account, balance, now)
        return Reserved(granted=granted, balance=balance)

    def settle(self, account: Account, hold: Hold, spent: Spent) -> bool:
        change = _Change()
        change.add({"used": exact(spent.amount), "calls": Decimal(spent.calls)})
        change.add({"committed": exact(spent.amount) - exact(hold.spent.amount)})
        change.add({"committed_calls": Decimal(spent.calls - hold.spent.calls)})
        change.take_out_of("held", held_as(hold), hold.id)
        try:
            self._carry_out(account, change, "contains(#held, :id)")
        except ConditionFailed:
            return False
        return True

    def charge(self, account: Account, spent: Spent) -> None:
        amount, calls = exact(spent.amount), Decimal(spent.calls)
        change = _Change()
        change.add({"committed": amount, "committed_calls": calls, "used": amount, "calls": calls})
        self._carry_out(account, change)

    def balance(self, account: Account) -> Balance:
        found = read_batch(self._client, self._table, [account_key(account)])
        return read_balance(found[0]) if found else Balance()

    def _settle_the_dead(self, account: Account, balance: Balance, now: float) -> None:
        """Their holds become spent; `committed` has them already, so what fails here can be left to the next one."""
        for holds in balance.of_the_dead(now)[:MOST_SETTLED_AT_ONCE]:
            amount, calls = exact(holds[0].spent.amount) * len(holds), Decimal(holds[0].spent.calls * len(holds))
            change = _Change()
            change.add({"used": amount, "calls": calls, "assumed": amount, "assumed_calls": calls})
            change.take_away("held", held_as(holds[0]), [hold.id for hold in holds])
            with suppress(ConditionFailed, StoreUnavailable):
                self._carry_out(account, change, "#held = :held")

    def _carry_out(self, account: Account, change: "_Change", *conditions: str) -> Balance:
        """One UpdateItem; where the account stands afterwards. Raises ConditionFailed, with the item as it stands."""
        if account.expires_at is not None:
            change.put("expires", EXPIRES_AT, expiry(account.expires_at))
        asked: dict[str, Any] = {}
        if conditions:
            asked["ConditionExpression"] = " AND ".join(conditions)
            asked["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        answer: Any = call(
            self._client.update_item,
            TableName=self._table,
            Key=account_key(account),
            UpdateExpression=" ".join(change.clauses),
            ExpressionAttributeNames=change.names,
            ExpressionAttributeValues=change.values,
            ReturnValues="ALL_NEW",
            **asked,
        )
        return read_balance(answer["Attributes"])


@dataclass(slots=True)
class _Change:
    """The parts of an update expression, with the names and values that stand for them."""

    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    _placed: list[str] = field(default_factory=list)
    _added: list[str] = field(default_factory=list)
    _left: list[str] = field(default_factory=list)
    _taken: list[str] = field(default_factory=list)

    def add(self, amounts: Mapping[str, Decimal]) -> None:
        for name, amount in amounts.items():
            self.names[f"#{name}"], self.values[f":{name}"] = name, _number(amount)
            self._added.append(f"#{name} :{name}")

    def put(self, name: str, attribute: str, value: Mapping[str, Any]) -> None:
        self.names[f"#{name}"], self.values[f":{name}"] = attribute, value
        self._placed.append(f"#{name} = :{name}")

    def put_into(self, name: str, attribute: str, member: str) -> None:
        self._name_member(name, attribute, member)
        self._added.append(f"#{name} :{name}")

    def take_out_of(self, name: str, attribute: str, member: str) -> None:
        self._name_member(name, attribute, member)
        self._left.append(f"#{name} :{name}")

    def take_away(self, name: str, attribute: str, members: Sequence[str]) -> None:
        """The whole set, whose members a condition may name as `:<name>`."""
        self.names[f"#{name}"], self.values[f":{name}"] = attribute, {"SS": list(members)}
        self._taken.append(f"#{name}")

    def _name_member(self, name: str, attribute: str, member: str) -> None:
        self.names[f"#{name}"] = attribute
        self.values |= {f":{name}": {"SS": [member]}, ":id": {"S": member}}

    def fit(self, rooms: Mapping[str, Decimal]) -> Iterator[str]:
        """Conditions: of each count, no more may be there yet than leaves room for what is added."""
        for name, room in rooms.items():
            self.values[f":{name}_room"] = _number(room)
            yield f"(attribute_not_exists(#{name}) OR #{name} <= :{name}_room)"

    @property
    def clauses(self) -> Iterator[str]:
        for word, parts in (
            ("ADD", self._added),
            ("DELETE", self._left),
            ("SET", self._placed),
            ("REMOVE", self._taken),
        ):
            if parts:
                yield f"{word} {', '.join(parts)}"


def _rooms(limits: Limits, spent: Spent) -> dict[str, Decimal]:
    """How much may be committed so far for this to fit in."""
    rooms: dict[str, Decimal] = {}
    if limits.amount is not None:
        rooms["committed"] = exact(limits.amount) - exact(spent.amount)
    if limits.calls is not None:
        rooms["committed_calls"] = Decimal(limits.calls - spent.calls)
    return rooms


def _number(value: Decimal) -> dict[str, Any]:
    return {"N": format(value, "f")}
