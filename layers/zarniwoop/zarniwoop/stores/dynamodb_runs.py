"""`RunStore` on one DynamoDB table: a run is changed only while it is open, and closed by whoever comes first.

The index `open` holds runs that have not ended, by deadline: `open` is removed from an item when its run ends. The
index `untold` holds ended runs that somebody wants to hear of, by when that is tried next. An index lags behind its
table, so `overdue` may name a run that has just ended, and `untold` one that has just been told.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.attributes import EXPIRES_AT, Item, expiry, flag, moment, number, read_text, text
from zarniwoop.stores.dynamodb_calls import ConditionFailed, call
from zarniwoop.stores.keys import RUN, claim_key, partition, run_key
from zarniwoop.stores.page_tokens import PageTokens
from zarniwoop.stores.run_items import (
    COUNT,
    DONE,
    OPEN,
    TOTAL,
    UNTOLD,
    new_run_item,
    read_run,
    run_item_key,
    usage_sums,
)
from zarniwoop.stores.runs import Claim, Ending, Run, RunPage, Step, earliest_run_id
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

OPEN_INDEX = "open"
UNTOLD_INDEX = "untold"
_IS_OPEN = "attribute_exists(pk) AND attribute_not_exists(ended_at)"


class DynamoDbRunStore:
    """See `RunStore` for what each method promises; `page_key` signs the tokens of `list`."""

    def __init__(
        self, client: "DynamoDBClient", table_name: str, clock: Clock, *, page_key: Callable[[], bytes]
    ) -> None:
        self._client = client
        self._table = table_name
        self._clock = clock
        self._tokens = PageTokens("runs", page_key)

    def claim(self, project: ProjectKey, key: str, claim: Claim, *, expires_at: float) -> Claim:
        item = {
            "pk": text(partition(project)),
            "sk": text(claim_key(key)),
            "run_id": text(claim.run_id),
            "fingerprint": text(claim.fingerprint),
            EXPIRES_AT: expiry(expires_at),
        }
        try:
            call(
                self._client.put_item,
                TableName=self._table,
                Item=item,
                ConditionExpression="attribute_not_exists(pk) OR #expires <= :now",
                ExpressionAttributeNames={"#expires": EXPIRES_AT},
                ExpressionAttributeValues={":now": moment(self._clock.now())},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ConditionFailed as failed:
            return Claim(
                run_id=read_text(failed.standing, "run_id"), fingerprint=read_text(failed.standing, "fingerprint")
            )
        return claim

    def create(self, run: Run) -> Run:
        try:
            call(
                self._client.put_item,
                TableName=self._table,
                Item=new_run_item(run),
                ConditionExpression="attribute_not_exists(pk)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ConditionFailed as failed:
            return read_run(failed.standing, self._clock.now()) or run
        return run

    def get(self, project: ProjectKey, run_id: str) -> Run | None:
        answer = call(
            self._client.get_item, TableName=self._table, Key=run_item_key(project, run_id), ConsistentRead=True
        )
        return self._read(answer.get("Item"))

    def list(self, project: ProjectKey, *, limit: int, page_token: str | None = None) -> RunPage:
        """One item more than is wanted is read, to know whether there is another page."""
        onwards: dict[str, Any] = {}
        if page_token is not None:
            last = self._tokens.open(project, page_token)
            onwards = {"ExclusiveStartKey": {"pk": text(partition(project)), "sk": text(last)}}
        ask: Callable[..., Any] = self._client.query
        page = call(
            ask,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
            ExpressionAttributeValues={":pk": text(partition(project)), ":prefix": text(RUN)},
            ScanIndexForward=False,
            ConsistentRead=True,
            Limit=limit + 1,
            **onwards,
        )
        items = page["Items"]
        more = len(items) > limit
        return RunPage(
            runs=self._read_all(items[:limit]),
            next_page_token=self._tokens.seal(project, read_text(items[limit - 1], "sk")) if more else None,
        )

    def update_progress(self, project: ProjectKey, run_id: str, step: Step) -> bool:
        change = _Change("#updated = :now", "#started = if_not_exists(#started, :now)")
        change.name(updated="updated_at", started="started_at")
        change.value(now=moment(self._clock.now()))
        condition = _IS_OPEN
        if step.total is not None:
            change.set("total", TOTAL + step.node, number(step.total))
        if step.item is not None:
            change.add("done", DONE + step.node, {"SS": [step.item]})
            change.value(item=text(step.item))
            condition += " AND NOT contains(#done, :item)"
        sums = {COUNT + name: float(value) for name, value in step.counts.items()}
        for position, (name, value) in enumerate({**sums, **usage_sums(step.usage, step.cost)}.items()):
            change.add(f"sum{position}", name, number(value))
        return self._changed(project, run_id, change, condition) is not None

    def request_stop(self, project: ProjectKey, run_id: str) -> Run | None:
        change = _Change("#stop = :true", "#updated = :now")
        change.name(stop="stop_requested", updated="updated_at")
        change.value(true=flag(True), now=moment(self._clock.now()))
        changed = self._changed(project, run_id, change, _IS_OPEN)
        return self._read(changed) if changed is not None else self.get(project, run_id)

    def finish(self, project: ProjectKey, run_id: str, ending: Ending, *, tell_at: float | None = None) -> bool:
        change = _Change("#ended = :now", "#updated = :now", "#as = :as", remove="#open")
        change.name(ended="ended_at", updated="updated_at", open="open", **{"as": "ended_as"})
        change.value(now=moment(self._clock.now()), **{"as": text(ending.state.value)})
        for name, word in (("outcome", ending.outcome), ("error", ending.error)):
            if word is not None:
                change.set(name, name, text(word))
        if tell_at is not None:
            change.set("untold", "untold", text(UNTOLD))
            change.set("tell", "tell_at", moment(tell_at))
        return self._changed(project, run_id, change, _IS_OPEN) is not None

    def record_webhook(self, project: ProjectKey, run_id: str, outcome: str, *, tell_at: float | None = None) -> None:
        change = _Change(remove="#untold, #tell" if tell_at is None else "")
        change.set("outcome", "webhook_outcome", text(outcome))
        if tell_at is None:
            change.name(untold="untold", tell="tell_at")
        else:
            change.set("tell", "tell_at", moment(tell_at))
        self._changed(project, run_id, change, "attribute_exists(untold)")

    def overdue(self, now: float, *, at_most: int = 100) -> tuple[Run, ...]:
        return self._due(OPEN_INDEX, ("open", OPEN), "deadline_at", now, at_most)

    def untold(self, now: float, *, at_most: int = 100) -> tuple[Run, ...]:
        return self._due(UNTOLD_INDEX, ("untold", UNTOLD), "tell_at", now, at_most)

    def open_since(self, project: ProjectKey, since: float) -> tuple[Run, ...]:
        """Out of the table itself, since an index could miss a run that has just been created."""
        ask: Callable[..., Any] = self._client.query
        found: list[Run] = []
        onwards: dict[str, Any] = {}
        while True:
            page = call(
                ask,
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                FilterExpression="attribute_exists(#open)",
                ExpressionAttributeNames={"#open": "open"},
                ExpressionAttributeValues={
                    ":pk": text(partition(project)),
                    ":first": text(run_key(earliest_run_id(since))),
                    ":last": text(RUN + "~"),
                },
                ConsistentRead=True,
                **onwards,
            )
            found += self._read_all(page["Items"])
            if "LastEvaluatedKey" not in page:
                return tuple(found)
            onwards = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def created_between(self, project: ProjectKey, since: float, until: float, *, at_most: int) -> tuple[Run, ...]:
        """BETWEEN takes its upper end along, and a key may be compared but once."""
        behind = earliest_run_id(until)
        ask: Callable[..., Any] = self._client.query
        page = call(
            ask,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": text(partition(project)),
                ":first": text(run_key(earliest_run_id(since))),
                ":last": text(run_key(behind)),
            },
            ScanIndexForward=False,
            Limit=at_most + 1,
        )
        return tuple(run for run in self._read_all(page["Items"]) if run.run_id != behind)[:at_most]

    def _due(self, index: str, key: tuple[str, str], moment_name: str, now: float, at_most: int) -> tuple[Run, ...]:
        ask: Callable[..., Any] = self._client.query
        page = call(
            ask,
            TableName=self._table,
            IndexName=index,
            KeyConditionExpression=f"#key = :key AND {moment_name} <= :now",
            ExpressionAttributeNames={"#key": key[0]},
            ExpressionAttributeValues={":key": text(key[1]), ":now": moment(now)},
            Limit=at_most,
        )
        return self._read_all(page["Items"])

    def _changed(self, project: ProjectKey, run_id: str, change: "_Change", condition: str) -> Item | None:
        """The item after the change, or None when the condition does not hold."""
        ask: Callable[..., Any] = self._client.update_item
        try:
            answer = call(
                ask,
                TableName=self._table,
                Key=run_item_key(project, run_id),
                ConditionExpression=condition,
                ReturnValues="ALL_NEW",
                **change.arguments(),
            )
        except ConditionFailed:
            return None
        attributes: Item = answer["Attributes"]
        return attributes

    def _read(self, item: Item | None) -> Run | None:
        return read_run(item, self._clock.now()) if item else None

    def _read_all(self, items: Iterable[Item]) -> tuple[Run, ...]:
        return tuple(run for item in items if (run := self._read(item)) is not None)


class _Change:
    """An update expression while it grows. Names and values are given without their `#` and `:`."""

    def __init__(self, *sets: str, remove: str = "") -> None:
        self._sets = list(sets)
        self._adds: list[str] = []
        self._remove = remove
        self._names: dict[str, str] = {}
        self._values: dict[str, Any] = {}

    def name(self, **names: str) -> None:
        self._names |= {f"#{key}": name for key, name in names.items()}

    def value(self, **values: Mapping[str, Any]) -> None:
        self._values |= {f":{key}": value for key, value in values.items()}

    def set(self, key: str, attribute: str, value: Mapping[str, Any]) -> None:
        self._sets.append(f"#{key} = :{key}")
        self._take(key, attribute, value)

    def add(self, key: str, attribute: str, value: Mapping[str, Any]) -> None:
        self._adds.append(f"#{key} :{key}")
        self._take(key, attribute, value)

    def arguments(self) -> dict[str, Any]:
        parts = [f"SET {', '.join(self._sets)}"]
        if self._adds:
            parts.append(f"ADD {', '.join(self._adds)}")
        if self._remove:
            parts.append(f"REMOVE {self._remove}")
        return {
            "UpdateExpression": " ".join(parts),
            "ExpressionAttributeNames": self._names,
            "ExpressionAttributeValues": self._values,
        }

    def _take(self, key: str, attribute: str, value: Mapping[str, Any]) -> None:
        self._names[f"#{key}"] = attribute
        self._values[f":{key}"] = value
