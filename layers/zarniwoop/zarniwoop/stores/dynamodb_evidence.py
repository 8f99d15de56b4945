"""`EvidenceStore` on one DynamoDB table, and on a `ContentStore` for the bodies.

The indexes `newest`, `task` and `url` hold keys alone, ordered by when evidence was last read (`seen`); the items are
then read from the table. Evidence lives as long as its body, whose time begins anew when it is met a day later:
until then, what is seen again costs the one conditional write that says so.
Whether the project was stopped (`evidence_stops`) is looked up before a body is uploaded, and again when the item is
written: either it sees the stop, or the stop sees it.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.evidence import Evidence
from zarniwoop.stores.attributes import EXPIRES_AT, Item, expiry, moment, read_text, text
from zarniwoop.stores.content import ContentStore, lives_of_what_is_there
from zarniwoop.stores.dynamodb_calls import ConditionFailed, call, read_batch
from zarniwoop.stores.evidence import (
    LONGEST_BODY,
    MOST_QUOTES,
    Deleted,
    EvidencePage,
    ProjectStopped,
    TooManyQuotes,
    as_content,
    evidence_url,
    list_kind,
)
from zarniwoop.stores.evidence_items import (
    evidence_item_key,
    facts_attributes,
    index_attributes,
    quote_key,
    quotes_attribute,
    read_evidence,
)
from zarniwoop.stores.evidence_stops import EvidenceStops
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import evidence_of_task, evidence_of_url, partition
from zarniwoop.stores.page_tokens import PageTokens
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_ROUNDS = 3


class DynamoDbEvidenceStore:
    """See `EvidenceStore`. `kept_seconds` is how long `bodies` keeps one; `page_key` signs the tokens of `list`.

    `begun_at` tells when the call was begun that asks.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        table_name: str,
        clock: Clock,
        *,
        bodies: ContentStore,
        kept_seconds: float,
        page_key: Callable[[], bytes],
        begun_at: Callable[[], float],
    ) -> None:
        self._client = client
        self._table = table_name
        self._clock = clock
        self._bodies = bodies
        self._kept_seconds = kept_seconds
        self._page_key = page_key
        self._begun_at = begun_at
        self._stops = EvidenceStops(client, table_name, clock)

    def put(self, project: ProjectKey, evidence: Evidence, body: str, *, body_gone: bool = False) -> Evidence:
        """The body goes first: what an item speaks of is there."""
        if len(evidence.quotes) > MOST_QUOTES:
            raise TooManyQuotes
        now, begun_at = self._clock.now(), self._begun_at()
        if not body_gone:
            outlives, until = lives_of_what_is_there(now, self._kept_seconds)
            with suppress(ConditionFailed):
                return self._see_again(project, evidence, outlives=outlives, until=until)
        stopped_at = self._stops.stopped_at(project)
        if begun_at <= stopped_at:
            raise ProjectStopped
        content, reader = as_content(body, evidence.url), evidence.instance_id or evidence.extractor
        stored = self._bodies.put(project, content, instance_id=reader, since=math.inf if body_gone else stopped_at)
        if stored.sha256 != evidence.content_hash:
            raise ValueError("the evidence is of another body")
        kept = self._written(project, evidence, now, stored.expires_at)
        if begun_at <= self._stops.stopped_at(project):
            self._stops.take_back(project, evidence.id)
            raise ProjectStopped
        return kept

    def get(self, project: ProjectKey, evidence_id: str) -> Evidence | None:
        answer = call(
            self._client.get_item,
            TableName=self._table,
            Key=evidence_item_key(project, evidence_id),
            ConsistentRead=True,
        )
        return read_evidence(answer.get("Item"), self._clock.now())

    def body(self, project: ProjectKey, content_hash: str) -> str | None:
        raw = self._bodies.read(project, content_hash, start=0, length=LONGEST_BODY)
        return None if raw is None else raw.decode("utf-8", "replace")

    def list(
        self,
        project: ProjectKey,
        *,
        limit: int,
        page_token: str | None = None,
        task_id: str | None = None,
        url: str | None = None,
    ) -> EvidencePage:
        """One key more than is wanted is read, to know whether there is another page."""
        tokens = PageTokens(list_kind(task_id, url), self._page_key)
        after = None if page_token is None else tokens.open(project, page_token)
        keys = self._keys(_list_of(project, task_id, url), project, limit + 1, after)
        wanted = keys[:limit]
        found = self._read_all(wanted)
        if url is not None and task_id is not None:
            found = tuple(each for each in found if each.task_id == task_id)
        more = tokens.seal(project, read_text(wanted[-1], "seen")) if len(keys) > limit else None
        return EvidencePage(evidence=found, next_page_token=more)

    def delete_project(self, project: ProjectKey) -> Deleted:
        """Items first: none is without its body, also when this is broken off and done again."""
        items = self._stops.delete_items(project)
        return Deleted(items=items, objects=self._bodies.delete_project(project))

    def stop(self, project: ProjectKey, at: float) -> None:
        self._stops.stop(project, at)

    def _written(self, project: ProjectKey, evidence: Evidence, now: float, expires_at: float) -> Evidence:
        """Made, or met where somebody else has made it."""
        for _round in range(_ROUNDS):
            try:
                return self._create(project, replace(evidence, expires_at=expires_at), now)
            except ConditionFailed:
                pass
            try:
                return self._see_again(project, evidence, outlives=now, expires_at=expires_at)
            except ConditionFailed:
                continue
        raise StoreUnavailable("this evidence is being written by too many at once")

    def _see_again(
        self,
        project: ProjectKey,
        evidence: Evidence,
        *,
        outlives: float,
        until: float = math.inf,
        expires_at: float | None = None,
    ) -> Evidence:
        """Update what stands and lives for longer than `outlives`, but not beyond `until`.

        Raises ConditionFailed, TooManyQuotes.
        """
        try:
            answer = call(self._client.update_item, **self._update(project, evidence, (outlives, until), expires_at))
        except ConditionFailed as failed:
            now = self._clock.now()
            standing = read_evidence(failed.standing, now)
            if standing is None or not outlives < (standing.expires_at or 0) <= until:
                raise
            new = tuple(quote for quote in evidence.quotes if quote not in standing.quotes)
            if len(standing.quotes) + len(new) > MOST_QUOTES:
                raise TooManyQuotes from None
            if new == evidence.quotes:
                raise
            rest = replace(evidence, quotes=new)
            return self._see_again(project, rest, outlives=outlives, until=until, expires_at=expires_at)
        seen = read_evidence(answer["Attributes"], self._clock.now())
        if seen is None:
            raise StoreUnavailable("an item is not as it was written")
        return seen

    def _update(
        self, project: ProjectKey, evidence: Evidence, lives: tuple[float, float], expires_at: float | None
    ) -> dict[str, Any]:
        written = {**facts_attributes(evidence), "seen": index_attributes(project, evidence)["seen"]}
        if expires_at is not None:
            written[EXPIRES_AT] = expiry(expires_at)
        names = {f"#{name}": name for name in {*written, EXPIRES_AT, "quotes"}}
        values = {f":{name}": value for name, value in written.items()}
        sets = [f"#{name} = :{name}" for name in written]
        for position, quote in enumerate(evidence.quotes):
            names[f"#q{position}"], values[f":q{position}"] = quote_key(quote), text(quote.text)
            sets.append(f"#quotes.#q{position} = :q{position}")
        values |= {":outlives": moment(lives[0]), ":until": moment(lives[1])}
        values[":room"] = {"N": str(MOST_QUOTES - len(evidence.quotes))}
        lives_so = f"#{EXPIRES_AT} > :outlives AND #{EXPIRES_AT} <= :until"
        return {
            "TableName": self._table,
            "Key": evidence_item_key(project, evidence.id),
            "UpdateExpression": "SET " + ", ".join(sets),
            "ConditionExpression": f"attribute_exists(pk) AND {lives_so} AND size(#quotes) <= :room",
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
            "ReturnValues": "ALL_NEW",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def _create(self, project: ProjectKey, evidence: Evidence, now: float) -> Evidence:
        """Raises ConditionFailed where some stands."""
        expires_at = evidence.expires_at or now
        call(
            self._client.put_item,
            TableName=self._table,
            Item={
                **evidence_item_key(project, evidence.id),
                **index_attributes(project, evidence),
                **facts_attributes(evidence),
                "quotes": quotes_attribute(evidence.quotes),
                EXPIRES_AT: expiry(expires_at),
            },
            ConditionExpression="attribute_not_exists(pk) OR #expires <= :now",
            ExpressionAttributeNames={"#expires": EXPIRES_AT},
            ExpressionAttributeValues={":now": moment(now)},
        )
        return evidence

    def _keys(self, of: tuple[str, str, str], project: ProjectKey, most: int, after: str | None) -> Sequence[Item]:
        index, name, value = of
        onwards: dict[str, Any] = {}
        if after is not None:
            evidence_id = after.rpartition("#")[2]
            start = {**evidence_item_key(project, evidence_id), name: text(value), "seen": text(after)}
            onwards = {"ExclusiveStartKey": start}
        ask: Callable[..., Any] = self._client.query
        page = call(
            ask,
            TableName=self._table,
            IndexName=index,
            KeyConditionExpression=f"{name} = :value",
            ExpressionAttributeValues={":value": text(value)},
            ScanIndexForward=False,
            Limit=most,
            **onwards,
        )
        items: Sequence[Item] = page["Items"]
        return items

    def _read_all(self, keys: Sequence[Item]) -> tuple[Evidence, ...]:
        """In the order of the keys; a batch comes back in any."""
        items = read_batch(self._client, self._table, [{"pk": key["pk"], "sk": key["sk"]} for key in keys])
        now = self._clock.now()
        by_key = {read_text(item, "sk"): read_evidence(item, now) for item in items}
        found = (by_key.get(read_text(key, "sk")) for key in keys)
        return tuple(each for each in found if each is not None)


def _list_of(project: ProjectKey, task_id: str | None, url: str | None) -> tuple[str, str, str]:
    """Index, key and value: of the URL where one is named, which has less than a task."""
    if url is not None:
        return "url", "url_key", evidence_of_url(project, evidence_url(url))
    if task_id is not None:
        return "task", "task_key", evidence_of_task(project, task_id)
    return "newest", "pk", partition(project)
