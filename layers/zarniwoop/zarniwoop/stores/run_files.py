"""What a run reads and writes, in S3 under `<tenant>/<project>/runs/<run id>/`: the question, hits, the result.

State machine and run table carry ids only; a question's text is in `input.json` and nowhere else. The files go when
their time in the bucket is over.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from zarniwoop.stores.keys import checked_run_id, partition
from zarniwoop.stores.s3_calls import ObjectMissing, call, presigned, read_object
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

INPUT = "input.json"
MERGED = "merged.json"
RANKED = "ranked.json"
RESULT = "result.json"

MOST_NAMES = 1_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*(?:[./][a-z0-9][a-z0-9_-]*)*")
_LONGEST_NAME = 200
_MEDIA_TYPES = {
    "json": "application/json",
    "jsonld": "application/ld+json",
    "graphml": "application/graphml+xml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    name: str
    size: int


class RunFiles(Protocol):
    """Every method raises StoreUnavailable when S3 does not answer, and ValueError for a name or id that is none."""

    def put(self, project: ProjectKey, run_id: str, name: str, content: Any) -> None:
        """Write a file, over an older one of this name; `content` is bytes, or anything that JSON can say."""
        ...

    def get(self, project: ProjectKey, run_id: str, name: str) -> bytes | None:
        """The file, or None when there is none of this name."""
        ...

    def presigned(self, project: ProjectKey, run_id: str, name: str, seconds: int) -> str:
        """A link to the file that needs no further permission, and works for so many seconds."""
        ...

    def names(self, project: ProjectKey, run_id: str) -> tuple[RunFile, ...]:
        """The run's files by name, at most 1,000."""
        ...


def read_json(files: RunFiles, project: ProjectKey, run_id: str, name: str) -> Any:
    """What a file says; None when it is not there or not JSON."""
    raw = files.get(project, run_id, name)
    try:
        return None if raw is None else orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def encoded(content: Any) -> bytes:
    """As it is written into a file."""
    return content if isinstance(content, bytes) else orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS)


def folder(project: ProjectKey, run_id: str) -> str:
    """Raises ValueError for an id that could lead elsewhere."""
    partition(project)
    return f"{project.tenant_id}/{project.project_id}/runs/{checked_run_id(run_id)}/"


def file_key(project: ProjectKey, run_id: str, name: str) -> str:
    """Raises ValueError for a name that could lead elsewhere."""
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise ValueError("a file's name consists of parts of a-z, 0-9, '_' and '-' with dots and slashes between them")
    return folder(project, run_id) + name


class S3RunFiles:
    """`RunFiles` on one bucket."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, project: ProjectKey, run_id: str, name: str, content: Any) -> None:
        key, body = file_key(project, run_id, name), encoded(content)
        media_type = _MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
        call(lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=media_type))

    def get(self, project: ProjectKey, run_id: str, name: str) -> bytes | None:
        try:
            return read_object(self._client, self._bucket, file_key(project, run_id, name))
        except ObjectMissing:
            return None

    def presigned(self, project: ProjectKey, run_id: str, name: str, seconds: int) -> str:
        return presigned(self._client, self._bucket, file_key(project, run_id, name), seconds)

    def names(self, project: ProjectKey, run_id: str) -> tuple[RunFile, ...]:
        prefix = folder(project, run_id)
        page = call(lambda: self._client.list_objects_v2(Bucket=self._bucket, Prefix=prefix, MaxKeys=MOST_NAMES))
        return tuple(
            RunFile(name=found["Key"].removeprefix(prefix), size=found["Size"]) for found in page.get("Contents", ())
        )
