"""`StateStore` on one DynamoDB table: what a fleet of environments must agree on is decided by conditional writes.

Reads are strongly consistent, so that a provider that just said "wait" is not asked by the very next search.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.provider import Pacing
from zarniwoop.stores.attributes import EXPIRES_AT, Item, expiry, flag, moment, number, read_number, read_text, text
from zarniwoop.stores.dynamodb_calls import BATCH_WRITE_LIMIT, ConditionFailed, call, read_batch, write_batch
from zarniwoop.stores.dynamodb_turns import DynamoDbTurns
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import (
    CONTENT,
    COOLDOWN,
    GENERATION,
    QUOTA,
    SPENT,
    cooldown_key,
    partition,
    quota_key,
    spent_key,
    tenant_partition,
)
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, StateSnapshot, Subject, Turn, Wanted
from zarniwoop.stores.state_items import (
    SPENT_AMOUNT,
    cooldown_item,
    item_key,
    quota_item,
    read_cooldown,
    read_quota,
    read_spent,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_MAY_BE_REPLACED = (
    "attribute_not_exists(pk) OR #expires <= :now OR #closed = :true"
    " OR (#held = :false AND (:held = :true OR #until < :until))"
)
_DELETE_ATTEMPTS = 4


class DynamoDbStateStore:
    """See `StateStore` for what each method promises; `clock` tells which items have lapsed."""

    def __init__(self, client: "DynamoDBClient", table_name: str, clock: Clock) -> None:
        self._client = client
        self._table = table_name
        self._clock = clock
        self._turns = DynamoDbTurns(client, table_name)

    def snapshot(self, project: ProjectKey, wanted: Sequence[Wanted]) -> StateSnapshot:
        keys = [item_key(project, sort_key) for sort_key in dict.fromkeys(_sort_keys(wanted))]
        items = read_batch(self._client, self._table, [_tenant_generation_key(project.tenant_id), *keys])
        now = self._clock.now()
        cooldowns = filter(None, (read_cooldown(item, now) for item in _starting(COOLDOWN, items)))
        quotas = filter(None, (read_quota(item, now) for item in _starting(QUOTA, items)))
        return StateSnapshot(
            cooldowns={cooldown.subject: cooldown for cooldown in cooldowns},
            quotas=dict(quotas),
            spent=dict(filter(None, (read_spent(item, now) for item in _starting(SPENT, items)))),
            generation=sum(int(read_number(item, "generation")) for item in _starting(GENERATION, items)),
        )

    def extend_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> Cooldown:
        now = self._clock.now()
        try:
            call(
                self._client.put_item,
                TableName=self._table,
                Item=cooldown_item(project, cooldown),
                ConditionExpression=_MAY_BE_REPLACED,
                ExpressionAttributeNames={
                    "#expires": EXPIRES_AT,
                    "#closed": "closed",
                    "#held": "until_settings_change",
                    "#until": "until",
                },
                ExpressionAttributeValues={
                    ":now": moment(now),
                    ":held": flag(cooldown.until_settings_change),
                    ":until": moment(cooldown.until),
                    ":true": flag(True),
                    ":false": flag(False),
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ConditionFailed as failed:
            return read_cooldown(failed.standing, now) or cooldown
        return cooldown

    def claim_probe(self, project: ProjectKey, cooldown: Cooldown, *, now: float, lease_seconds: float) -> bool:
        """A cooldown that was closed or cleared meanwhile needs no probe: everybody may ask. An extended one waits."""
        try:
            self._change_seen(
                project,
                cooldown,
                "SET #probe = :lease_end",
                condition="(attribute_not_exists(#probe) OR #probe <= :now) AND #closed = :open",
                names={"#probe": "probe_until", "#closed": "closed"},
                values={":now": moment(now), ":lease_end": moment(now + lease_seconds), ":open": flag(False)},
            )
        except ConditionFailed as failed:
            standing = read_cooldown(failed.standing, self._clock.now())
            return standing is None or standing.closed
        return True

    def close_cooldown(self, project: ProjectKey, cooldown: Cooldown) -> None:
        """A cooldown that was extended meanwhile stays: the success is older than the failure."""
        try:
            self._change_seen(
                project,
                cooldown,
                "SET #closed = :closed REMOVE #probe",
                condition="#closed <> :closed",
                names={"#probe": "probe_until", "#closed": "closed"},
                values={":closed": flag(True)},
            )
        except ConditionFailed:
            return

    def clear_project(self, project: ProjectKey) -> int:
        keys = [
            {"pk": item["pk"], "sk": item["sk"]}
            for prefix in (COOLDOWN, QUOTA, CONTENT)
            for item in self._query(project, prefix)
        ]
        for start in range(0, len(keys), BATCH_WRITE_LIMIT):
            self._delete(keys[start : start + BATCH_WRITE_LIMIT])
        return len(keys)

    def bump_generation(self, project: ProjectKey) -> int:
        return self._bump(item_key(project, GENERATION))

    def bump_tenant_generation(self, tenant_id: str) -> None:
        self._bump(_tenant_generation_key(tenant_id))

    def _bump(self, key: dict[str, Any]) -> int:
        answer = call(
            self._client.update_item,
            TableName=self._table,
            Key=key,
            UpdateExpression="ADD #generation :one",
            ExpressionAttributeNames={"#generation": "generation"},
            ExpressionAttributeValues={":one": number(1)},
            ReturnValues="UPDATED_NEW",
        )
        return int(read_number(answer["Attributes"], "generation"))

    def save_quota(self, project: ProjectKey, subject: Subject, quota: KeptQuota) -> None:
        call(self._client.put_item, TableName=self._table, Item=quota_item(project, subject, quota))

    def add_spent(
        self, project: ProjectKey, instance_id: str, credit_period: str, amount: float, *, expires_at: float | None
    ) -> float:
        """A call that is repeated after a lost answer counts twice: rather too much than too little."""
        change = "ADD #spent :amount" if expires_at is None else "ADD #spent :amount SET #expires = :expires"
        expires = {} if expires_at is None else {":expires": expiry(expires_at)}
        answer = call(
            self._client.update_item,
            TableName=self._table,
            Key=item_key(project, spent_key(instance_id, credit_period)),
            UpdateExpression=change,
            ExpressionAttributeNames={"#spent": SPENT_AMOUNT, **({"#expires": EXPIRES_AT} if expires else {})},
            ExpressionAttributeValues={":amount": number(amount), **expires},
            ReturnValues="UPDATED_NEW",
        )
        return read_number(answer["Attributes"], SPENT_AMOUNT)

    def take_turn(self, pacing: Pacing, *, now: float, latest: float) -> Turn:
        return self._turns.take(pacing, now=now, latest=latest)

    def _change_seen(
        self,
        project: ProjectKey,
        cooldown: Cooldown,
        change: str,
        *,
        condition: str,
        names: dict[str, str],
        values: dict[str, Any],
    ) -> None:
        """Change the cooldown if it is still the one that the caller saw. Raises ConditionFailed."""
        call(
            self._client.update_item,
            TableName=self._table,
            Key=item_key(project, cooldown_key(cooldown.subject, cooldown.fingerprint)),
            UpdateExpression=change,
            ConditionExpression=f"#until = :until AND {condition}",
            ExpressionAttributeNames={"#until": "until", **names},
            ExpressionAttributeValues={":until": moment(cooldown.until), **values},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )

    def _query(self, project: ProjectKey, prefix: str) -> Iterator[Item]:
        ask: Callable[..., Any] = self._client.query
        onwards: dict[str, Any] = {}
        while True:
            page = call(
                ask,
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
                ExpressionAttributeValues={":pk": text(partition(project)), ":prefix": text(prefix)},
                ConsistentRead=True,
                **onwards,
            )
            yield from page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            onwards = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def _delete(self, keys: Sequence[Item]) -> None:
        pending: Sequence[Any] = [{"DeleteRequest": {"Key": key}} for key in keys]
        for attempt in range(_DELETE_ATTEMPTS):
            pending = write_batch(self._client, self._table, pending)
            if not pending:
                return
            self._clock.sleep(0.05 * 2**attempt)
        raise StoreUnavailable("DynamoDB left items undeleted")


def _tenant_generation_key(tenant_id: str) -> dict[str, Any]:
    return {"pk": text(tenant_partition(tenant_id)), "sk": text(GENERATION)}


def _sort_keys(wanted: Sequence[Wanted]) -> Iterator[str]:
    yield GENERATION
    for each in wanted:
        yield cooldown_key(each.subject, each.fingerprint)
        yield quota_key(each.subject)
        if each.credit_period is not None:
            yield spent_key(each.subject[0], each.credit_period)


def _starting(prefix: str, items: Sequence[Item]) -> Iterator[Item]:
    return (item for item in items if read_text(item, "sk").startswith(prefix))
