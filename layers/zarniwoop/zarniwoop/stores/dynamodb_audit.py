"""`AuditStore` on one DynamoDB table: written in batches that give up in time, counted without reading a record.

Quirk: BatchWriteItem takes 25 items and may hand some back ("UnprocessedItems") in an otherwise good answer.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.stores.attributes import EXPIRES_AT, expiry, flag, moment, number, text
from zarniwoop.stores.audit import CallRecord
from zarniwoop.stores.dynamodb_calls import BATCH_WRITE_LIMIT, call, write_batch
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import call_key, calls_since, partition
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_FIRST_BACKOFF = 0.01
_CALL_SECONDS = 0.02
"""Less than this is too little for another try."""


def _random_mark() -> str:
    return secrets.token_hex(6)


class DynamoDbAuditStore:
    """`client` should be the one for side writes: a call under way ends by its read timeout alone."""

    def __init__(
        self, client: "DynamoDBClient", table_name: str, clock: Clock, *, mark: Callable[[], str] = _random_mark
    ) -> None:
        self._client = client
        self._table = table_name
        self._clock = clock
        self._mark = mark

    def write(self, records: Sequence[CallRecord], *, time_limit: float) -> int:
        deadline = Deadline.after(time_limit, self._clock)
        requests: list[Mapping[str, Any]] = []
        for record in records:
            try:
                requests.append({"PutRequest": {"Item": self._item(record)}})
            except ValueError:  # an id that fits no key: this record is lost, the others are not
                continue
        lost = len(records) - len(requests)
        for start in range(0, len(requests), BATCH_WRITE_LIMIT):
            lost += self._write_chunk(requests[start : start + BATCH_WRITE_LIMIT], deadline)
        return lost

    def count_since(self, project: ProjectKey, instance_id: str, since: float, *, at_most: int) -> int:
        first, last = calls_since(instance_id, since)
        ask: Callable[..., Any] = self._client.query
        counted = 0
        onwards: dict[str, Any] = {}
        while counted < at_most:
            page = call(
                ask,
                TableName=self._table,
                Select="COUNT",
                KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                ExpressionAttributeValues={
                    ":pk": text(partition(project)),
                    ":first": text(first),
                    ":last": text(last),
                },
                Limit=at_most - counted,
                **onwards,
            )
            counted += page["Count"]
            if "LastEvaluatedKey" not in page:
                break
            onwards = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        return counted

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

    def _item(self, record: CallRecord) -> dict[str, Any]:
        project = ProjectKey(tenant_id=record.tenant_id, project_id=record.project_id)
        item = {
            "pk": text(partition(project)),
            "sk": text(call_key(record.instance_id, record.started_at, self._mark())),
            "tenant_id": text(record.tenant_id),
            "project_id": text(record.project_id),
            "instance_id": text(record.instance_id),
            "protocol": text(record.protocol),
            "modality": text(record.modality.value),
            "tier": text(record.tier.value),
            "query_hash": text(record.query_hash),
            "hit_count": number(record.hit_count),
            "ok": flag(record.ok),
            "started_at": moment(record.started_at),
            "duration_ms": number(record.duration_ms),
            "request_id": text(record.request_id),
            "operation": text(record.operation),
            EXPIRES_AT: expiry(record.expires_at),
        }
        if record.diagnostics:
            item["diagnostics"] = flag(True)
        if record.error_message is not None:
            item["error_message"] = text(record.error_message)
        return item
