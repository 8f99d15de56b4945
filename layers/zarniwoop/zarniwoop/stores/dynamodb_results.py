"""`ResultStore` on the state table, one item per identity, and on S3 for answers that are too large for an item.

Flight and answer share the item, so that taking off and landing are decided by one conditional write each: nobody can
take off after the answer has come. A claim that fails brings what stands there along.
Quirk: an item may have 400 KB, but a write costs a unit per kilobyte, and a read one per four; from 32 KB on an object
in S3 is cheaper, and its item stays small.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.attributes import EXPIRES_AT, moment, number, text
from zarniwoop.stores.dynamodb_calls import ConditionFailed, call, read_batch
from zarniwoop.stores.kept_results import LANDED, Flight, KeptAnswer, Standing
from zarniwoop.stores.keys import checked_sha256, partition, result_key
from zarniwoop.stores.project import ProjectKey
from zarniwoop.stores.result_items import answer_item, flight_item, read_standing
from zarniwoop.stores.s3_calls import ObjectMissing, read_object
from zarniwoop.stores.s3_calls import call as s3_call
from zarniwoop.stores.state_items import item_key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

LARGEST_IN_ITEM = 32 * 1024
_MAY_TAKE_OFF = (
    "attribute_not_exists(pk) OR #expires <= :now"
    " OR (#generation <= :generation AND"
    " (#held <= :now OR #stored = :seen OR (attribute_exists(#held) AND #generation < :generation)))"
)
_MAY_BE_KEPT = "attribute_not_exists(pk) OR #generation <= :generation"
_SEEN_NONE = -1.0


class DynamoDbResultStore:
    """See `ResultStore`. `objects` makes the client of S3 when a large answer first needs it."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table_name: str,
        clock: Clock,
        *,
        objects: Callable[[], "S3Client"],
        bucket: str,
        largest_in_item: int = LARGEST_IN_ITEM,
    ) -> None:
        self._client = client
        self._table = table_name
        self._clock = clock
        self._objects = objects
        self._bucket = bucket
        self._largest_in_item = largest_in_item

    def look(self, project: ProjectKey, identity: str) -> Standing | None:
        items = read_batch(self._client, self._table, [item_key(project, result_key(identity))])
        return read_standing(items[0], self._clock.now()) if items else None

    def claim(
        self, project: ProjectKey, identity: str, flight: Flight, *, over: Standing | None = None
    ) -> Standing | None:
        now = self._clock.now()
        seen = over.stored_at if isinstance(over, KeptAnswer) else _SEEN_NONE
        try:
            call(
                self._client.put_item,
                TableName=self._table,
                Item=flight_item(project, identity, flight),
                ConditionExpression=_MAY_TAKE_OFF,
                ExpressionAttributeNames={
                    "#expires": EXPIRES_AT,
                    "#generation": "generation",
                    "#held": "held_until",
                    "#stored": "stored_at",
                },
                ExpressionAttributeValues={
                    ":now": moment(now),
                    ":generation": number(flight.generation),
                    ":seen": moment(seen),
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ConditionFailed as failed:
            standing = read_standing(failed.standing, now)
            if isinstance(standing, Flight) and standing.holder == flight.holder:
                return None  # it is ours: the answer to the first try was lost on its way
            return standing or flight
        return None

    def land(self, project: ProjectKey, identity: str, holder: str) -> None:
        try:
            call(
                self._client.update_item,
                TableName=self._table,
                Key=item_key(project, result_key(identity)),
                UpdateExpression="SET #held = :landed",
                ConditionExpression="#holder = :holder",
                ExpressionAttributeNames={"#held": "held_until", "#holder": "holder"},
                ExpressionAttributeValues={":landed": moment(LANDED), ":holder": text(holder)},
            )
        except ConditionFailed:
            return

    def keep(self, project: ProjectKey, identity: str, answer: KeptAnswer) -> None:
        """The object goes first: what an item speaks of is there."""
        if answer.body is not None and len(answer.body) > self._largest_in_item:
            answer = self._put_aside(project, identity, answer, answer.body)
        try:
            call(
                self._client.put_item,
                TableName=self._table,
                Item=answer_item(project, identity, answer),
                ConditionExpression=_MAY_BE_KEPT,
                ExpressionAttributeNames={"#generation": "generation"},
                ExpressionAttributeValues={":generation": number(answer.generation)},
            )
        except ConditionFailed:
            return

    def body(self, project: ProjectKey, answer: KeptAnswer) -> bytes | None:
        if answer.file is None:
            return answer.body
        try:
            return read_object(self._objects(), self._bucket, _object_key(project, answer.file))
        except ObjectMissing:
            return None

    def _put_aside(self, project: ProjectKey, identity: str, answer: KeptAnswer, body: bytes) -> KeptAnswer:
        """Named by its moment too, so that an item never speaks of another answer's object."""
        file = f"{checked_sha256(identity)}-{round(answer.stored_at * 1000)}"
        key = _object_key(project, file)
        s3_call(lambda: self._objects().put_object(Bucket=self._bucket, Key=key, Body=body))
        return replace(answer, body=None, file=file)


def _object_key(project: ProjectKey, file: str) -> str:
    """Among the project's content, which its stop deletes and its bucket's lifecycle ends."""
    partition(project)
    return f"{project.tenant_id}/{project.project_id}/content/answers/{file}"
