"""`LeasedMemory` on the table of state: one item, of which every change is conditional on who holds it.

Quirk: boto3 repeats a call whose answer was lost, so a condition may fail on what the call itself has done before.
"""

import secrets
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.attributes import EXPIRES_AT, Item, expiry, has_lapsed, moment, text
from zarniwoop.stores.dynamodb_calls import ConditionFailed, call
from zarniwoop.stores.keys import partition
from zarniwoop.stores.leased import Held
from zarniwoop.stores.project import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_NAMES = {"#holder": "holder", "#until": "until", "#turn": "turn", "#memory": "memory", "#expires": EXPIRES_AT}


class DynamoDbLeasedMemory:
    """See `LeasedMemory`."""

    def __init__(self, client: "DynamoDBClient", table_name: str, clock: Clock) -> None:
        self._client = client
        self._table = table_name
        self._clock = clock

    def take(self, project: ProjectKey, sort_key: str, *, lease_seconds: float, keep_seconds: float) -> Held | None:
        now, holder = self._clock.now(), secrets.token_hex(12)
        values = {
            ":holder": text(holder),
            ":now": moment(now),
            ":until": moment(now + lease_seconds),
            ":expires": expiry(now + keep_seconds),
        }
        try:
            before = self._update(
                project,
                sort_key,
                "SET #holder = :holder, #until = :until, #expires = :expires, #turn = if_not_exists(#turn, :holder)",
                "attribute_not_exists(#until) OR #until <= :now",
                values,
            )
        except ConditionFailed as failed:
            if failed.standing.get("holder") != text(holder):
                return None
            before = failed.standing
        memory = None if has_lapsed(before, now) else _memory(before)
        turn = before.get("turn", {}).get("S", holder)
        return Held(project=project, sort_key=sort_key, holder=holder, turn=turn, memory=memory)

    def put_back(self, held: Held, memory: bytes, *, keep_seconds: float) -> bool:
        values = {":memory": {"B": memory}, ":expires": expiry(self._clock.now() + keep_seconds)}
        change = "SET #memory = :memory, #expires = :expires REMOVE #holder, #until, #turn"
        try:
            self._change(held, change, values)
        except ConditionFailed as failed:
            return "holder" not in failed.standing and _memory(failed.standing) == memory
        return True

    def let_go(self, held: Held) -> None:
        """What had lapsed when it was taken does not come back by that."""
        lapsed = ", #memory" if held.memory is None else ""
        try:
            self._change(held, f"REMOVE #holder, #until{lapsed}", {})
        except ConditionFailed:
            return

    def _change(self, held: Held, change: str, values: dict[str, Any]) -> None:
        own = {**values, ":holder": text(held.holder)}
        self._update(held.project, held.sort_key, change, "#holder = :holder", own)

    def _update(self, project: ProjectKey, sort_key: str, change: str, condition: str, values: dict[str, Any]) -> Item:
        """The item as it was. Raises ConditionFailed."""
        answer = call(
            self._client.update_item,
            TableName=self._table,
            Key={"pk": text(partition(project)), "sk": text(sort_key)},
            UpdateExpression=change,
            ConditionExpression=condition,
            ExpressionAttributeNames={short: name for short, name in _NAMES.items() if short in change + condition},
            ExpressionAttributeValues=values,
            ReturnValues="ALL_OLD",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
        before: Item = answer.get("Attributes", {})
        return before


def _memory(item: Item) -> bytes | None:
    """None also for what another version may have left."""
    value = item.get("memory", {}).get("B")
    return bytes(value) if isinstance(value, (bytes, bytearray)) else None
