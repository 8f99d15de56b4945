"""`SettingsEdits` on the tables of state (the lock) and of call records (what was done)."""

import secrets
from typing import TYPE_CHECKING

from zarniwoop.stores.attributes import EXPIRES_AT, expiry, moment, text, texts
from zarniwoop.stores.dynamodb_calls import ConditionFailed, call
from zarniwoop.stores.editing import SettingsEvent
from zarniwoop.stores.keys import EDIT, partition, settings_event_key, tenant_partition
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDbSettingsEdits:
    """See `SettingsEdits`."""

    def __init__(self, client: "DynamoDBClient", *, state_table: str, calls_table: str) -> None:
        self._client = client
        self._state_table = state_table
        self._calls_table = calls_table

    def begin(self, tenant_id: str, holder: str, *, now: float, seconds: float) -> bool:
        """The holder itself may begin again: boto3 repeats a call whose answer was lost."""
        try:
            call(
                self._client.update_item,
                TableName=self._state_table,
                Key={"pk": text(tenant_partition(tenant_id)), "sk": text(EDIT)},
                UpdateExpression="SET #holder = :holder, #until = :until, #expires = :expires",
                ConditionExpression="attribute_not_exists(#until) OR #until <= :now OR #holder = :holder",
                ExpressionAttributeNames={"#holder": "holder", "#until": "until", "#expires": EXPIRES_AT},
                ExpressionAttributeValues={
                    ":holder": text(holder),
                    ":now": moment(now),
                    ":until": moment(now + seconds),
                    ":expires": expiry(now + seconds),
                },
            )
        except ConditionFailed:
            return False
        return True

    def end(self, tenant_id: str, holder: str) -> None:
        try:
            call(
                self._client.update_item,
                TableName=self._state_table,
                Key={"pk": text(tenant_partition(tenant_id)), "sk": text(EDIT)},
                UpdateExpression="REMOVE #until",
                ConditionExpression="#holder = :holder",
                ExpressionAttributeNames={"#holder": "holder", "#until": "until"},
                ExpressionAttributeValues={":holder": text(holder)},
            )
        except ConditionFailed:
            return

    def record(self, event: SettingsEvent) -> None:
        if event.project_id is None:
            owner = tenant_partition(event.tenant_id)
        else:
            owner = partition(ProjectKey(tenant_id=event.tenant_id, project_id=event.project_id))
        call(
            self._client.put_item,
            TableName=self._calls_table,
            Item={
                "pk": text(owner),
                "sk": text(settings_event_key(event.at, secrets.token_hex(6))),
                "action": text(event.action.value),
                "keys": texts(tuple(event.keys)),
                "actor": text(event.actor),
                "request_id": text(event.request_id),
                "at": moment(event.at),
                EXPIRES_AT: expiry(event.expires_at),
            },
        )
