"""A stopped project's evidence: the moment of the stop, what came too late for it, and the deleting of items.

The moment is an item among the project's evidence, `STOPPED`, kept for a day: no call lives so long, and no body is
taken to be there for longer without being uploaded again.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.attributes import EXPIRES_AT, Item, expiry, moment, read_number, read_text, text
from zarniwoop.stores.dynamodb_calls import BATCH_WRITE_LIMIT, ConditionFailed, call, write_batch
from zarniwoop.stores.evidence_items import evidence_item_key
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import EVIDENCE, STOPPED, partition
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_KNOWN_FOR = 86_400.0
_DELETE_ATTEMPTS = 5


class EvidenceStops:
    """Every method raises StoreUnavailable."""

    def __init__(self, client: "DynamoDBClient", table_name: str, clock: Clock) -> None:
        self._client = client
        self._table = table_name
        self._clock = clock

    def stop(self, project: ProjectKey, at: float) -> None:
        item = {**_key(project), "at": moment(at), EXPIRES_AT: expiry(at + _KNOWN_FOR)}
        call(self._client.put_item, TableName=self._table, Item=item)

    def stopped_at(self, project: ProjectKey) -> float:
        """0 for a project that was not stopped lately."""
        answer = call(self._client.get_item, TableName=self._table, Key=_key(project), ConsistentRead=True)
        return read_number(answer["Item"], "at") if "Item" in answer else 0.0

    def take_back(self, project: ProjectKey, evidence_id: str) -> None:
        """Emptied, and its time over: whoever writes evidence may delete none."""
        with suppress(ConditionFailed):
            call(
                self._client.update_item,
                TableName=self._table,
                Key=evidence_item_key(project, evidence_id),
                UpdateExpression="SET #expires = :now REMOVE facts, quotes, task_key, url_key, seen",
                ConditionExpression="attribute_exists(pk)",
                ExpressionAttributeNames={"#expires": EXPIRES_AT},
                ExpressionAttributeValues={":now": expiry(self._clock.now())},
            )

    def delete_items(self, project: ProjectKey) -> int:
        """Those of evidence and of bodies; returns how many of evidence."""
        ask: Callable[..., Any] = self._client.query
        items = 0
        onwards: dict[str, Any] = {}
        while True:
            page = call(
                ask,
                TableName=self._table,
                KeyConditionExpression="pk = :pk",
                ProjectionExpression="pk, sk",
                ExpressionAttributeValues={":pk": text(partition(project))},
                ConsistentRead=True,
                **onwards,
            )
            self._delete([item for item in page["Items"] if read_text(item, "sk") != STOPPED])
            items += sum(read_text(item, "sk").startswith(EVIDENCE) for item in page["Items"])
            if "LastEvaluatedKey" not in page:
                return items
            onwards = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def _delete(self, keys: Sequence[Item]) -> None:
        for start in range(0, len(keys), BATCH_WRITE_LIMIT):
            pending: Sequence[Any] = [
                {"DeleteRequest": {"Key": key}} for key in keys[start : start + BATCH_WRITE_LIMIT]
            ]
            for attempt in range(_DELETE_ATTEMPTS):
                pending = write_batch(self._client, self._table, pending)
                if not pending:
                    break
                self._clock.sleep(0.05 * 2**attempt)
            else:
                raise StoreUnavailable("DynamoDB left items undeleted")


def _key(project: ProjectKey) -> dict[str, Any]:
    return {"pk": text(partition(project)), "sk": text(STOPPED)}
