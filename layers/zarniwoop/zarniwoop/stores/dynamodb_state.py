"""`StateStore` on one DynamoDB table: what a fleet of environments must agree on is decided by conditional writes.

Reads are strongly consistent, so that a provider that just said "wait" is not asked by the very next search.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.provider import Pacing
from zarniwoop.stores.attributes import EXPIRES_AT, Item, flag, moment, number, read_number, read_text, text
from zarniwoop.stores.dynamodb_calls import BATCH_WRITE_LIMIT, ConditionFailed, call, read_batch, write_batch
from zarniwoop.stores.dynamodb_ledger import DynamoDbLedger
from zarniwoop.stores.dynamodb_turns import DynamoDbTurns
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import (
    CONTENT,
    COOLDOWN,
    GENERATION,
    QUOTA,
    RESULT,
    SPENT,
    STANDING,
    cooldown_key,
    partition,
    quota_key,
    result_key,
    tenant_partition,
)
from zarniwoop.stores.ledger import Account, Balance, Hold, Limits, Reserved, Spent
from zarniwoop.stores.ledger_items import account_key, read_budget, read_spent
from zarniwoop.stores.result_items import read_result
from zarniwoop.stores.state import (
    NO_BUDGETS,
    Cooldown,
    KeptQuota,
    ProjectKey,
    StateSnapshot,
    Subject,
    Turn,
    Wanted,
    accounts_of,
    pools_among,
)
from zarniwoop.stores.state_items import (
    cooldown_item,
    item_key,
    quota_item,
    read_cooldown,
    read_quota,
    unless_used_up,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_MAY_BE_REPLACED = (
    "attribute_not_exists(pk) OR #expires <= :now OR #closed = :true"
    " OR (#held = :false AND (:held = :true OR #until < :until))"
)
_A_PROJECTS = (COOLDOWN, QUOTA, CONTENT, RESULT, STANDING)
"""What goes when a project stops; what was spent stays spent."""
_DELETE_ATTEMPTS = 4


class DynamoDbStateStore:
    """See `StateStore` for what each method promises; `clock` tells which items have lapsed."""

    def __init__(self, client: "DynamoDBClient", table_name: str, clock: Clock) -> None:
        self._client = client
        self._table = table_name
        self._clock = clock
        self._turns = DynamoDbTurns(client, table_name)
        self._ledger = DynamoDbLedger(client, table_name)

    def snapshot(
        self,
        project: ProjectKey,
        wanted: Sequence[Wanted],
        budget_periods: Mapping[str, str] = NO_BUDGETS,
        results: Sequence[str] = (),
    ) -> StateSnapshot:
        keys = [item_key(project, sort_key) for sort_key in dict.fromkeys(_sort_keys(wanted, results))]
        keys += map(account_key, dict.fromkeys(accounts_of(project, wanted, budget_periods)))
        items = read_batch(self._client, self._table, [_tenant_generation_key(project.tenant_id), *keys])
        now = self._clock.now()
        read = filter(None, (read_cooldown(item, now) for item in _starting(COOLDOWN, items)))
        cooldowns = {(cooldown.subject, cooldown.fingerprint): cooldown for cooldown in read}
        quotas = filter(None, (read_quota(item, now) for item in _starting(QUOTA, items)))
        return StateSnapshot(
            cooldowns={each.subject: found for each in wanted if (found := cooldowns.get(_known_as(each)))},
            pools=pools_among(wanted, cooldowns),
            quotas=dict(quotas),
            spent=dict(filter(None, (read_spent(item, now) for item in _starting(SPENT, items)))),
            budgets=dict(filter(None, (read_budget(item, now) for item in _starting(SPENT, items)))),
            generation=sum(int(read_number(item, "generation")) for item in _starting(GENERATION, items)),
            results=dict(filter(None, (read_result(item, now) for item in _starting(RESULT, items)))),
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
        prober = text(secrets.token_hex(6))
        try:
            self._change_seen(
                project,
                cooldown,
                "SET #probe = :lease_end, #prober = :prober",
                condition="(attribute_not_exists(#probe) OR #probe <= :now) AND #closed = :open",
                names={"#probe": "probe_until", "#prober": "prober", "#closed": "closed"},
                values={
                    ":now": moment(now),
                    ":lease_end": moment(now + lease_seconds),
                    ":prober": prober,
                    ":open": flag(False),
                },
            )
        except ConditionFailed as failed:
            if failed.standing.get("prober") == prober:
                return True  # the answer to the first try was lost on its way
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
        keys = [key for prefix in _A_PROJECTS for key in self._keys(project, prefix)]
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

    def save_quota(
        self, project: ProjectKey, subject: Subject, quota: KeptQuota, *, looked_up: bool = False
    ) -> KeptQuota:
        now, item = self._clock.now(), quota_item(project, subject, quota)
        conditions: dict[str, Any] = {} if looked_up else unless_used_up(now, item)
        try:
            call(self._client.put_item, TableName=self._table, Item=item, **conditions)
        except ConditionFailed as failed:
            standing = read_quota(failed.standing, now)
            return standing[1] if standing else quota
        return quota

    def reserve(self, account: Account, limits: Limits, hold: Hold, *, now: float) -> Reserved:
        return self._ledger.reserve(account, limits, hold, now=now)

    def settle(self, account: Account, hold: Hold, spent: Spent) -> bool:
        return self._ledger.settle(account, hold, spent)

    def charge(self, account: Account, spent: Spent) -> None:
        self._ledger.charge(account, spent)

    def balance(self, account: Account) -> Balance:
        return self._ledger.balance(account)

    def take_turn(self, pacing: Pacing, *, now: float, latest: float) -> Turn:
        return self._turns.take(pacing, now=now, latest=latest)

    def hold_turn(self, pacing: Pacing, holder: str, *, now: float, lease_seconds: float) -> Turn:
        return self._turns.hold(pacing, holder, now=now, lease_seconds=lease_seconds)

    def release_turn(self, pacing: Pacing, holder: str, *, now: float) -> None:
        self._turns.release(pacing, holder, now=now)

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

    def _keys(self, project: ProjectKey, prefix: str) -> Iterator[Item]:
        ask: Callable[..., Any] = self._client.query
        onwards: dict[str, Any] = {}
        while True:
            page = call(
                ask,
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
                ProjectionExpression="pk, sk",
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


def _known_as(wanted: Wanted) -> tuple[Subject, str]:
    return wanted.subject, wanted.fingerprint


def _sort_keys(wanted: Sequence[Wanted], results: Sequence[str]) -> Iterator[str]:
    yield GENERATION
    yield from map(result_key, results)
    for each in wanted:
        for fingerprint in each.fingerprints:
            yield cooldown_key(each.subject, fingerprint)
        yield quota_key(each.subject)


def _starting(prefix: str, items: Sequence[Item]) -> Iterator[Item]:
    return (item for item in items if read_text(item, "sk").startswith(prefix))
