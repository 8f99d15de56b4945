"""Turns at a provider's published rate, handed out to the whole fleet in the order of asking.

The generic cell rate algorithm (ITU-T I.371) on one number: `next_at`, the moment up to which the rate is spoken for.
Quirk: DynamoDB can add to a number atomically but not take the maximum of it and now, hence two conditional writes: one
for a provider that nobody waits for, one that queues up behind the others. Nothing is read first.
"""

from typing import TYPE_CHECKING

from zarniwoop.contract.provider import Pacing
from zarniwoop.stores.attributes import EXPIRES_AT, expiry, moment, number, read_number, text
from zarniwoop.stores.dynamodb_calls import ConditionFailed, call
from zarniwoop.stores.keys import FLEET, rate_key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_KEPT_SECONDS = 86_400.0
_ROUNDS = 2


class DynamoDbTurns:
    """`StateStore.take_turn`: one call when the provider is idle, two when others are before us, four at the most."""

    def __init__(self, client: "DynamoDBClient", table_name: str) -> None:
        self._client = client
        self._table = table_name

    def take(self, pacing: Pacing, calls: int, *, now: float, latest: float) -> float | None:
        """See `StateStore.take_turn`."""
        if now > latest:
            return None
        cost = calls * pacing.interval
        allowance = max(pacing.burst - calls, 0) * pacing.interval
        for _round in range(_ROUNDS):
            spoken_for = self._start_at_once(pacing.subject, now, cost)
            if spoken_for is None:
                return now
            if spoken_for - allowance > latest:
                return None
            spoken_for = self._queue_up(pacing.subject, now, latest + allowance, cost)
            if spoken_for is not None:
                return max(now, spoken_for - cost - allowance)
        return None

    def _start_at_once(self, subject: str, now: float, cost: float) -> float | None:
        """Take the turns from now on and return None; or, when others have them, until when they do."""
        try:
            call(
                self._client.update_item,
                TableName=self._table,
                Key={"pk": text(FLEET), "sk": text(rate_key(subject))},
                UpdateExpression="SET #next = :after, #expires = :expires",
                ConditionExpression="attribute_not_exists(#next) OR #next <= :now",
                ExpressionAttributeNames={"#next": "next_at", "#expires": EXPIRES_AT},
                ExpressionAttributeValues={
                    ":now": moment(now),
                    ":after": moment(now + cost),
                    ":expires": expiry(now + cost + _KEPT_SECONDS),
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ConditionFailed as failed:
            return read_number(failed.standing, "next_at")
        return None

    def _queue_up(self, subject: str, now: float, limit: float, cost: float) -> float | None:
        """Take the turns behind the others' and return when ours end; None when that place is gone or too late."""
        try:
            answer = call(
                self._client.update_item,
                TableName=self._table,
                Key={"pk": text(FLEET), "sk": text(rate_key(subject))},
                UpdateExpression="SET #next = #next + :cost, #expires = :expires",
                ConditionExpression="#next BETWEEN :now AND :limit",
                ExpressionAttributeNames={"#next": "next_at", "#expires": EXPIRES_AT},
                ExpressionAttributeValues={
                    ":now": moment(now),
                    ":limit": moment(limit),
                    ":cost": number(cost),
                    ":expires": expiry(limit + cost + _KEPT_SECONDS),
                },
                ReturnValues="UPDATED_NEW",
            )
        except ConditionFailed:
            return None
        return read_number(answer["Attributes"], "next_at")
