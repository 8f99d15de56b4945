"""Bodies that were loaded for a project, stored once by hash in S3 under `<tenant>/<project>/content/<sha256>`.

What is known of a body is an item of the state table (`CT#<sha256>`), which lapses when the body's time in the bucket
is over. A project's stop removes its bodies here, and its items with the rest of its state; files of runs stay.
https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html: at most 1,000 keys a call.
Quirk: a bucket's lifecycle counts from the last upload, and an item does not know what became of its object. So a body
that is met again is uploaded again, once a day at most: its time begins anew, and one that was lost is back.
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.stores.attributes import (
    EXPIRES_AT,
    Item,
    expiry,
    has_lapsed,
    moment,
    number,
    read_number,
    read_text,
    text,
)
from zarniwoop.stores.content_text import is_text, stored_form
from zarniwoop.stores.dynamodb_calls import call as dynamodb_call
from zarniwoop.stores.failure import ILLEGIBLE, StoreUnavailable
from zarniwoop.stores.keys import CONTENT, checked_sha256, content_key, partition
from zarniwoop.stores.s3_calls import ObjectMissing, call, presigned, read_object
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

FOLDER = "content"
_TAKEN_AS_THERE = 86_400.0
"""Seconds after an upload for which the object is taken to be there, unless somebody has seen that it is not."""
_LONGEST_URL = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredContent:
    """What is known of a stored body. `size` is in bytes; `source_url` is where it was uploaded from last."""

    sha256: str
    media_type: str
    source_url: str
    instance_id: str
    size: int
    stored_at: float
    expires_at: float

    @property
    def is_text(self) -> bool:
        return is_text(self.media_type)


class ContentStore(Protocol):
    """Every method raises StoreUnavailable when AWS does not answer, and ValueError for a hash or id that is none."""

    def put(
        self, project: ProjectKey, content: LoadedContent, *, instance_id: str, since: float = 0.0
    ) -> StoredContent:
        """Store a body, once per project; text becomes UTF-8 first. Returns what stands under its hash.

        What is known of one that was stored until `since` counts for nothing: it may be gone.
        """
        ...

    def find(self, project: ProjectKey, sha256: str) -> StoredContent | None:
        """What is known of a body; None for one that is unknown, expired, or another project's."""
        ...

    def read(self, project: ProjectKey, sha256: str, *, start: int, length: int) -> bytes | None:
        """So many bytes of a body from `start` on, fewer at its end; None when it is gone."""
        ...

    def presigned(self, project: ProjectKey, sha256: str, seconds: int) -> str:
        """A link to the body that needs no further permission, and works for so many seconds."""
        ...

    def delete_project(self, project: ProjectKey) -> int:
        """Delete every body of the project; return how many. The files of its runs stay: they are results."""
        ...


def content_hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def object_key(project: ProjectKey, sha256: str, folder: str = FOLDER) -> str:
    """Raises ValueError for what could lead elsewhere."""
    partition(project)
    return f"{project.tenant_id}/{project.project_id}/{folder}/{checked_sha256(sha256)}"


def described(body: bytes, content: LoadedContent, instance_id: str, now: float, kept_seconds: float) -> StoredContent:
    """What is known of a body at the moment at which it is stored."""
    return StoredContent(
        sha256=content_hash(body),
        media_type=stored_form(content).media_type,
        source_url=content.source_url[:_LONGEST_URL],
        instance_id=instance_id,
        size=len(body),
        stored_at=now,
        expires_at=float(int(now + kept_seconds)),
    )


def lives_of_what_is_there(now: float, kept_seconds: float) -> tuple[float, float]:
    """What is taken to be there expires after the first of these moments, and not after the second.

    Beyond that, it was uploaded while the bucket kept its objects for longer than it does now.
    """
    return now + max(kept_seconds - _TAKEN_AS_THERE, kept_seconds / 2), now + kept_seconds


def is_there(expires_at: float, now: float, kept_seconds: float) -> bool:
    after, until = lives_of_what_is_there(now, kept_seconds)
    return after < expires_at <= until


class S3ContentStore:
    """`ContentStore` on one bucket and one table. `kept_seconds` is how long the bucket keeps an object.

    `folder` is what the bodies lie in below their project: those of evidence have a bucket, table and folder of theirs.
    """

    def __init__(
        self,
        client: "S3Client",
        bucket: str,
        *,
        items: "DynamoDBClient",
        table_name: str,
        clock: Clock,
        kept_seconds: float,
        folder: str = FOLDER,
    ) -> None:
        self._client = client
        self._folder = folder
        self._bucket = bucket
        self._items = items
        self._table = table_name
        self._clock = clock
        self._kept_seconds = kept_seconds

    def put(
        self, project: ProjectKey, content: LoadedContent, *, instance_id: str, since: float = 0.0
    ) -> StoredContent:
        """The object goes first: what an item speaks of is there."""
        form, now = stored_form(content), self._clock.now()
        standing = self.find(project, content_hash(form.body))
        if (
            standing is not None
            and standing.stored_at > since
            and is_there(standing.expires_at, now, self._kept_seconds)
        ):
            return standing
        stored = described(form.body, content, instance_id, now, self._kept_seconds)
        key = self._key(project, stored.sha256)
        call(
            lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=form.body, ContentType=stored.media_type)
        )
        dynamodb_call(self._items.put_item, TableName=self._table, Item=_item(project, stored))
        return stored

    def find(self, project: ProjectKey, sha256: str) -> StoredContent | None:
        answer = dynamodb_call(
            self._items.get_item,
            TableName=self._table,
            Key={"pk": text(partition(project)), "sk": text(content_key(sha256))},
            ConsistentRead=True,
        )
        item = answer.get("Item")
        return _read(item, self._clock.now()) if item else None

    def read(self, project: ProjectKey, sha256: str, *, start: int, length: int) -> bytes | None:
        key = self._key(project, sha256)
        try:
            return read_object(self._client, self._bucket, key, byte_range=(start, start + length - 1))
        except ObjectMissing:
            return None

    def presigned(self, project: ProjectKey, sha256: str, seconds: int) -> str:
        return presigned(self._client, self._bucket, self._key(project, sha256), seconds)

    def delete_project(self, project: ProjectKey) -> int:
        partition(project)
        return call(lambda: self._delete(f"{project.tenant_id}/{project.project_id}/{self._folder}/"))

    def _key(self, project: ProjectKey, sha256: str) -> str:
        return object_key(project, sha256, self._folder)

    def _delete(self, prefix: str) -> int:
        deleted = 0
        for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
            keys = [found["Key"] for found in page.get("Contents", ())]
            if not keys:
                continue
            answer = self._client.delete_objects(
                Bucket=self._bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
            )
            if answer.get("Errors"):
                raise StoreUnavailable("not every body of the project could be deleted")
            deleted += len(keys)
        return deleted


def _item(project: ProjectKey, stored: StoredContent) -> dict[str, Any]:
    return {
        "pk": text(partition(project)),
        "sk": text(content_key(stored.sha256)),
        "media_type": text(stored.media_type),
        "source_url": text(stored.source_url),
        "instance_id": text(stored.instance_id),
        "size": number(stored.size),
        "stored_at": moment(stored.stored_at),
        EXPIRES_AT: expiry(stored.expires_at),
    }


def _read(item: Item, now: float) -> StoredContent | None:
    """None when it has lapsed or cannot be read."""
    if has_lapsed(item, now):
        return None
    try:
        return StoredContent(
            sha256=checked_sha256(read_text(item, "sk").removeprefix(CONTENT)),
            media_type=read_text(item, "media_type"),
            source_url=read_text(item, "source_url"),
            instance_id=read_text(item, "instance_id"),
            size=int(read_number(item, "size")),
            stored_at=read_number(item, "stored_at"),
            expires_at=read_number(item, EXPIRES_AT),
        )
    except ILLEGIBLE:
        return None
