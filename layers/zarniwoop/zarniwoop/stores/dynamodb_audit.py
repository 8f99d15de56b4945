"""`AuditStore` on one DynamoDB table: written in batches that give up in time, counted by one number of each record.

Which instances have records is found by leaping from one to the next: a query that begins behind the last one's keys.

Quirk: BatchWriteItem takes 25 items and may hand some back ("UnprocessedItems") in an otherwise good answer.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.stores.attributes import Item, read_text, text
from zarniwoop.stores.audit import CallRecord, RecordPage
from zarniwoop.stores.audit_items import call_item, calls_of, read_call
from zarniwoop.stores.dynamodb_calls import BATCH_WRITE_LIMIT, call, write_batch
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import calls_after, calls_between, calls_since, instance_of, partition
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_FIRST_BACKOFF = 0.01
_CALL_SECONDS = 0.02
"""Less than this is too little for another try."""


def _random_mark() -> str:
    return secrets.token_hex(6)


class DynamoDbAuditStore:
    """`client` should be the one for side writes: a call under way ends by its read timeout alone.

    `reader`, where there is one, reads: whoever wants to know waits longer than a search does for its records.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        table_name: str,
        clock: Clock,
        *,
        reader: "DynamoDBClient | None" = None,
        mark: Callable[[], str] = _random_mark,
    ) -> None:
        self._client = client
        self._reader = reader or client
        self._table = table_name
        self._clock = clock
        self._mark = mark

    def write(self, records: Sequence[CallRecord], *, time_limit: float) -> int:
        deadline = Deadline.after(time_limit, self._clock)
        requests: list[Mapping[str, Any]] = []
        for record in records:
            try:
                requests.append({"PutRequest": {"Item": call_item(record, self._mark())}})
            except ValueError:  # an id that fits no key: this record is lost, the others are not
                continue
        lost = len(records) - len(requests)
        for start in range(0, len(requests), BATCH_WRITE_LIMIT):
            lost += self._write_chunk(requests[start : start + BATCH_WRITE_LIMIT], deadline)
        return lost

    def count_since(self, project: ProjectKey, instance_id: str, since: float, *, at_most: int) -> int:
        first, last = calls_since(instance_id, since)
        ask: Callable[..., Any] = self._reader.query
        counted = read = 0
        onwards: dict[str, Any] = {}
        while max(counted, read) < at_most:
            page = call(
                ask,
                TableName=self._table,
                ProjectionExpression="#calls",
                KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                ExpressionAttributeNames={"#calls": "calls"},
                ExpressionAttributeValues={
                    ":pk": text(partition(project)),
                    ":first": text(first),
                    ":last": text(last),
                },
                Limit=at_most - read,
                **onwards,
            )
            counted += sum(map(calls_of, page["Items"]))
            read += len(page["Items"])
            if "LastEvaluatedKey" not in page:
                break
            onwards = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        return min(counted, at_most)

    def instances(self, project: ProjectKey, *, at_most: int) -> tuple[str, ...]:
        found: list[str] = []
        while len(found) < at_most:
            first, last = calls_after(found[-1] if found else None)
            items, _ = self._page(project, first, last, limit=1, newest_first=False)
            if not items:
                break
            found.append(instance_of(read_text(items[0], "sk")))
        return tuple(found)

    def between(self, project: ProjectKey, instance_id: str, since: float, until: float, *, at_most: int) -> RecordPage:
        first, last = calls_between(instance_id, since, until)
        records: list[CallRecord] = []
        onwards: Item | None = None
        while len(records) <= at_most:
            limit = at_most + 1 - len(records)  # one more tells whether there are more
            items, onwards = self._page(project, first, last, limit=limit, newest_first=True, onwards=onwards)
            records += self._in_force(items)
            if onwards is None:
                break
        return RecordPage(records=tuple(records[:at_most]), more=len(records) > at_most)

    def _in_force(self, items: Sequence[Item]) -> Iterator[CallRecord]:
        """Without those whose time is over: the table deletes them some days later."""
        now = self._clock.now()
        return (record for record in map(read_call, items) if record is not None and record.expires_at > now)

    def _page(
        self,
        project: ProjectKey,
        first: str,
        last: str,
        *,
        limit: int,
        newest_first: bool,
        onwards: Item | None = None,
    ) -> tuple[Sequence[Item], Item | None]:
        """Items between two sort keys, and where to go on, if anywhere."""
        ask: Callable[..., Any] = self._reader.query
        page = call(
            ask,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={":pk": text(partition(project)), ":first": text(first), ":last": text(last)},
            ScanIndexForward=not newest_first,
            Limit=limit,
            **({"ExclusiveStartKey": onwards} if onwards else {}),
        )
        return page["Items"], page.get("LastEvaluatedKey")

    def _write_chunk(self, pending: Sequence[Mapping[str, Any]], deadline: Deadline) -> int:
        """Returns how many were lost."""
        backoff = _FIRST_BACKOFF
        while pending and not deadline.expired:
            try:
                pending = write_batch(self._client, self._table, pending)
            except StoreUnavailable:
                break
            if pending and backoff + _CALL_SECONDS < deadline.remaining():
                self._clock.sleep(backoff)
                backoff *= 2
            else:
                break
        return len(pending)
