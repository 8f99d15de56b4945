"""Turns at a provider's published rate, handed out to the whole fleet in the order of asking.

One number per rate: `next_at`, the moment up to which it is spoken for (the generic cell rate algorithm of ITU-T I.371
without a burst: a burst on top of a rate exceeds it).
Quirk: DynamoDB can add to a number atomically but not take the maximum of it and now, hence two conditional writes: one
for a provider that nobody waits for, one that queues up behind the others. Nothing is read first.
Where only one may be served at a time, the same item says who is and until when others are kept out (`held_until`).
"""

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.provider import Pacing
from zarniwoop.stores.attributes import EXPIRES_AT, expiry, moment, number, read_number, text
from zarniwoop.stores.dynamodb_calls import ConditionFailed, call
from zarniwoop.stores.keys import FLEET, rate_key
from zarniwoop.stores.state import Turn

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_KEPT_SECONDS = 86_400.0
_ROUNDS = 2


class DynamoDbTurns:
    """`StateStore.take_turn`: one call when the provider is idle, two when others are before us, four at the most."""

    def __init__(self, client: "DynamoDBClient", table_name: str) -> None:
        self._client = client
        self._table = table_name

    def take(self, pacing: Pacing, *, now: float, latest: float) -> Turn:
        """See `StateStore.take_turn`."""
        free_at = now
        for _round in range(_ROUNDS if now <= latest else 0):
            spoken_for = self._start_at_once(pacing, now)
            if spoken_for is None:
                return Turn(at=now, granted=True)
            free_at = spoken_for
            if free_at > latest:
                break
            spoken_for = self._queue_up(pacing, now, latest)
            if spoken_for is not None:
                return Turn(at=max(now, spoken_for - pacing.interval), granted=True)
        return Turn(at=free_at, granted=False)

    def hold(self, pacing: Pacing, holder: str, *, now: float, lease_seconds: float) -> Turn:
        """See `StateStore.hold_turn`."""
        try:
            self._change(
                pacing,
                "SET #until = :end, #holder = :holder, #expires = :expires",
                "attribute_not_exists(#until) OR #until <= :now",
                {
                    ":now": moment(now),
                    ":end": moment(now + lease_seconds),
                    ":holder": text(holder),
                    ":expires": expiry(now + lease_seconds + _KEPT_SECONDS),
                },
                {"#expires": EXPIRES_AT},
            )
        except ConditionFailed as failed:
            if failed.standing.get("holder") == text(holder):
                return Turn(at=now, granted=True)  # the answer to the first try was lost on its way
            until = read_number(failed.standing, "held_until")
            return Turn(at=until, granted=False, being_served="holder" in failed.standing)
        return Turn(at=now, granted=True)

    def release(self, pacing: Pacing, holder: str, *, now: float) -> None:
        """See `StateStore.release_turn`."""
        values = {":holder": text(holder), ":free": moment(now + pacing.interval)}
        with suppress(ConditionFailed):
            self._change(pacing, "SET #until = :free REMOVE #holder", "#holder = :holder", values)

    def _change(
        self,
        pacing: Pacing,
        update: str,
        condition: str,
        values: dict[str, Any],
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Raises ConditionFailed."""
        call(
            self._client.update_item,
            TableName=self._table,
            Key={"pk": text(FLEET), "sk": text(rate_key(pacing.subject))},
            UpdateExpression=update,
            ConditionExpression=condition,
            ExpressionAttributeNames={"#until": "held_until", "#holder": "holder", **names},
            ExpressionAttributeValues=values,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )

    def _start_at_once(self, pacing: Pacing, now: float) -> float | None:
        """Take the turn from now on and return None; or, when others have it, until when they do."""
        try:
            call(
                self._client.update_item,
                TableName=self._table,
                Key={"pk": text(FLEET), "sk": text(rate_key(pacing.subject))},
                UpdateExpression="SET #next = :after, #expires = :expires",
                ConditionExpression="attribute_not_exists(#next) OR #next <= :now",
                ExpressionAttributeNames={"#next": "next_at", "#expires": EXPIRES_AT},
                ExpressionAttributeValues={
                    ":now": moment(now),
                    ":after": moment(now + pacing.interval),
                    ":expires": expiry(now + pacing.interval + _KEPT_SECONDS),
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ConditionFailed as failed:
            return read_number(failed.standing, "next_at")
        return None

    def _queue_up(self, pacing: Pacing, now: float, latest: float) -> float | None:
        """Take the turn behind the others' and return when it ends; None when that place is gone or too late."""
        try:
            answer = call(
                self._client.update_item,
                TableName=self._table,
                Key={"pk": text(FLEET), "sk": text(rate_key(pacing.subject))},
                UpdateExpression="SET #next = #next + :interval, #expires = :expires",
                ConditionExpression="#next BETWEEN :now AND :latest",
                ExpressionAttributeNames={"#next": "next_at", "#expires": EXPIRES_AT},
                ExpressionAttributeValues={
                    ":now": moment(now),
                    ":latest": moment(latest),
                    ":interval": number(pacing.interval),
                    ":expires": expiry(latest + pacing.interval + _KEPT_SECONDS),
                },
                ReturnValues="UPDATED_NEW",
            )
        except ConditionFailed:
            return None
        return read_number(answer["Attributes"], "next_at")
