"""The graph of a project's insights: one object in S3, `<tenant>/<project>/insights/graph.json`.

Runs that end at the same time all read it, merge into it and write it. S3 takes a write only over the version that it
was made from (If-Match with its ETag; If-None-Match for the first), so whoever comes second has to merge again:
https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
It goes when its time in the bucket is over, counted from the last merge, or when its project stops.
Quirk: with writes at the very same moment S3 may say 409 instead of 412, and 404 when the object was deleted meanwhile.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from zarniwoop.stores.keys import partition
from zarniwoop.stores.s3_calls import ObjectChanged, ObjectMissing, call
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGraph:
    """`version` names this state of the object, and changes with its content."""

    body: bytes
    version: str


class InsightsStore(Protocol):
    """Every method raises StoreUnavailable when S3 does not answer, and ValueError for an id that is none."""

    def read(self, project: ProjectKey) -> StoredGraph | None:
        """The project's graph as it stands; None when there is none."""
        ...

    def write(self, project: ProjectKey, body: bytes, *, over: str | None) -> bool:
        """Replace the version `over` (None: there is none yet). False when another one stands: nothing was written."""
        ...

    def delete(self, project: ProjectKey) -> None:
        """Delete the project's graph, if there is one."""
        ...


def graph_key(project: ProjectKey) -> str:
    """Raises ValueError for what could lead elsewhere."""
    partition(project)
    return f"{project.tenant_id}/{project.project_id}/insights/graph.json"


class S3InsightsStore:
    """`InsightsStore` on one bucket."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def read(self, project: ProjectKey) -> StoredGraph | None:
        key = graph_key(project)
        try:
            return call(lambda: self._read(key))
        except ObjectMissing:
            return None

    def write(self, project: ProjectKey, body: bytes, *, over: str | None) -> bool:
        key = graph_key(project)
        condition: dict[str, Any] = {"IfNoneMatch": "*"} if over is None else {"IfMatch": f'"{over}"'}
        try:
            call(
                lambda: self._client.put_object(
                    Bucket=self._bucket, Key=key, Body=body, ContentType="application/json", **condition
                )
            )
        except (ObjectChanged, ObjectMissing):
            return False
        return True

    def delete(self, project: ProjectKey) -> None:
        key = graph_key(project)
        call(lambda: self._client.delete_object(Bucket=self._bucket, Key=key))

    def _read(self, key: str) -> StoredGraph:
        found = self._client.get_object(Bucket=self._bucket, Key=key)
        return StoredGraph(body=found["Body"].read(), version=found["ETag"].strip('"'))
