"""What did not fit into an answer, in S3 under `<tenant>/<project>/content/results/<token>` until `expires_at`.

A handle is a random token and where to go on. It is good in its own project only: the caller's tenant and project lead
the object's key, so elsewhere it names nothing. The object says itself until when it counts, since a bucket's lifecycle
counts in days; a project stop deletes it with the rest of the project's content. A call that was under way then may put
one aside afterwards: so the stop leaves its own moment behind, and what was begun before is not found any more.
"""

import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.keys import partition
from zarniwoop.stores.s3_calls import ObjectMissing, call, read_object
from zarniwoop.stores.state import ProjectKey
from zarniwoop.text.as_json import as_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_s3 import S3Client

KEPT_SECONDS = 3600.0
"""For who waits for the answer. What nobody waits for is kept as long as other content."""
_STOPPED = "stopped"
"""In the place of a token: when the project was stopped last."""

_HANDLE = re.compile(r"([0-9a-f]{32})-([0-9]{1,5})")

Entry = tuple[str, Any]
"""A hit, behind the path of the list that it is from: `hits`, `results/NEWS/hits`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Hits of a tool's answer that are still to be read, in their order, and the bound that the answer had.

    `begun_at` is when the call was taken up that they are the answer to.
    """

    tool: str
    max_chars: int
    begun_at: float
    expires_at: float
    entries: tuple[Entry, ...]


class Continuations(Protocol):
    """Every method raises StoreUnavailable when S3 does not answer."""

    def keep(self, project: ProjectKey, rest: Rest) -> str:
        """Put the rest of an answer aside; the token that it is found by."""
        ...

    def find(self, project: ProjectKey, token: str) -> Rest | None:
        """None when this project has nothing under the token, or no longer."""
        ...

    def stop(self, project: ProjectKey, at: float) -> None:
        """What was begun before that moment is found no more, also if it is put aside later."""
        ...


def handle_of(token: str, offset: int) -> str:
    return f"{token}-{offset}"


def read_handle(handle: str) -> tuple[str, int] | None:
    """Token and offset; None for what is no handle."""
    found = _HANDLE.fullmatch(handle)
    return (found[1], int(found[2])) if found else None


class S3Continuations:
    """`Continuations` on one bucket."""

    def __init__(
        self,
        client: "S3Client",
        bucket: str,
        clock: Clock,
        make_token: "Callable[[], str]" = lambda: secrets.token_hex(16),
    ) -> None:
        self._client = client
        self._bucket = bucket
        self._clock = clock
        self._make_token = make_token

    def keep(self, project: ProjectKey, rest: Rest) -> str:
        token = self._make_token()
        key, body = _object_key(project, token), as_json(rest)
        call(lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType="application/json"))
        return token

    def find(self, project: ProjectKey, token: str) -> Rest | None:
        try:
            raw = read_object(self._client, self._bucket, _object_key(project, token))
        except ObjectMissing:
            return None
        told = orjson.loads(raw)
        rest = Rest(**{**told, "entries": tuple((path, hit) for path, hit in told["entries"])})
        is_good = rest.expires_at > self._clock.now() and rest.begun_at > self._stopped_at(project)
        return rest if is_good else None

    def stop(self, project: ProjectKey, at: float) -> None:
        key, body = _object_key(project, _STOPPED), orjson.dumps(at)
        call(lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType="application/json"))

    def _stopped_at(self, project: ProjectKey) -> float:
        try:
            return float(orjson.loads(read_object(self._client, self._bucket, _object_key(project, _STOPPED))))
        except ObjectMissing:
            return 0.0


def _object_key(project: ProjectKey, token: str) -> str:
    partition(project)
    return f"{project.tenant_id}/{project.project_id}/content/results/{token}"
