"""Documents of a project, and the index that is made of them, in a bucket that no lifecycle empties.

`<tenant>/<project>/documents/<name>` is put there by whoever owns the documents and never changed here;
`_index/<tenant>/<project>/<version>.sqlite` is written once; `manifest.json` beside it says which version is served. No
tenant is called `_index`, so a role that may touch one tree reaches nothing of the other (in an ARN `*` crosses
slashes). The manifest is only ever switched with `If-Match` (or `If-None-Match: *`), so of two that build side by side
one loses and looks again. https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
Quirk: S3 answers 412, or 409 when two conditional writes meet, and 404 to `If-Match` where there is nothing.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import orjson

from zarniwoop.contract.deadline import Deadline
from zarniwoop.stores.failure import OutOfTime, StoreError, StoreUnavailable
from zarniwoop.stores.keys import partition
from zarniwoop.stores.s3_calls import ObjectChanged, ObjectMissing, call
from zarniwoop.stores.state import ProjectKey

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_DOCUMENTS = "documents"
_INDEX = "_index"
_MANIFEST = "manifest.json"
_VERSION = re.compile(r"[a-z0-9]{1,64}")
_STEP = 1 << 20
_MOST_DELETED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document as the bucket lists it. `name` is what follows the prefix; `modified` is in epoch seconds."""

    name: str
    etag: str
    size: int
    modified: float

    @property
    def state(self) -> str:
        """Changes whenever the document is put again."""
        return f"{self.etag}@{int(self.modified)}"

    @property
    def modified_at(self) -> str:
        return datetime.fromtimestamp(self.modified, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Which index is served, and what is in it. `revision` grows with every switch, so no two manifests are equal."""

    revision: int
    version: str | None
    size: int = 0
    documents: int = 0
    passages: int = 0
    refused: int = 0
    built_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingManifest:
    """A manifest as it was read, with what a conditional write compares."""

    manifest: Manifest
    etag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVersion:
    """An index file in the bucket, served or not."""

    version: str
    modified: float


class ManifestMoved(StoreError):  # noqa: N818 - named by its consequence
    """Somebody else has switched the manifest since it was read."""


class DocumentChanged(StoreError):  # noqa: N818
    """The document is not what the list said any more; whoever changed it has caused an event of its own."""


class DocumentStore(Protocol):
    """Every method raises StoreUnavailable when S3 does not answer, ValueError for an id that could lead elsewhere."""

    def documents(self, project: ProjectKey, *, after: str = "", most: int | None = None) -> tuple[StoredDocument, ...]:
        """All documents in the order of their names, or the first so many after that name."""
        ...

    def fetch(self, project: ProjectKey, document: StoredDocument, into: Path) -> None:
        """Write the document's bytes to a file. Raises DocumentChanged."""
        ...

    def manifest(self, project: ProjectKey) -> StandingManifest | None:
        """None when no index was ever made, or when it went with its project."""
        ...

    def switch(self, project: ProjectKey, manifest: Manifest, standing: StandingManifest | None) -> None:
        """Serve another version, if the manifest still is what was read. Raises ManifestMoved."""
        ...

    def put_index(self, project: ProjectKey, version: str, path: Path) -> None: ...

    def fetch_index(self, project: ProjectKey, version: str, into: Path, *, deadline: Deadline | None = None) -> None:
        """Raises ObjectMissing for a version that is gone, OutOfTime when the deadline passes over it."""
        ...

    def versions(self, project: ProjectKey) -> tuple[StoredVersion, ...]: ...

    def delete_versions(self, project: ProjectKey, versions: Iterable[str]) -> None: ...

    def delete_index(self, project: ProjectKey) -> int:
        """Delete manifest and versions of a project; documents are their owner's and stay. Returns how many."""
        ...

    def url(self, project: ProjectKey, name: str) -> str:
        """Where the document lies; reading it there takes permission."""
        ...

    def place(self, project: ProjectKey) -> str:
        """The `s3://` prefix under which documents are put."""
        ...


def project_of_key(key: str) -> ProjectKey | None:
    """Whose document has this key; None for any other object."""
    tenant_id, _, rest = key.partition("/")
    project_id, _, rest = rest.partition("/")
    folder, _, name = rest.partition("/")
    project = ProjectKey(tenant_id=tenant_id, project_id=project_id)
    try:
        partition(project)
    except ValueError:
        return None
    return project if folder == _DOCUMENTS and name else None


class S3DocumentStore:
    """`DocumentStore` on one bucket."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def documents(self, project: ProjectKey, *, after: str = "", most: int | None = None) -> tuple[StoredDocument, ...]:
        prefix = _documents_prefix(project)
        found: list[StoredDocument] = []
        for each in self._listed(prefix, after=prefix + after if after else ""):
            if not each["Key"].endswith("/"):  # what consoles put for an empty folder
                found.append(_document(each, prefix))
            if len(found) == most:
                break
        return tuple(found)

    def fetch(self, project: ProjectKey, document: StoredDocument, into: Path) -> None:
        try:
            self._download(_documents_prefix(project) + document.name, into, None, IfMatch=f'"{document.etag}"')
        except (ObjectMissing, ObjectChanged) as error:
            raise DocumentChanged("the document was put again or deleted meanwhile") from error

    def manifest(self, project: ProjectKey) -> StandingManifest | None:
        key = _index_prefix(project) + _MANIFEST

        def read() -> tuple[bytes, str]:
            answer = self._client.get_object(Bucket=self._bucket, Key=key)
            return answer["Body"].read(), answer["ETag"]

        try:
            raw, etag = call(read)
        except ObjectMissing:
            return None
        return StandingManifest(manifest=_manifest(raw), etag=etag)

    def switch(self, project: ProjectKey, manifest: Manifest, standing: StandingManifest | None) -> None:
        condition: dict[str, Any] = {"IfMatch": standing.etag} if standing else {"IfNoneMatch": "*"}
        key, body = _index_prefix(project) + _MANIFEST, orjson.dumps(manifest)
        try:
            call(lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=body, **condition))
        except (ObjectMissing, ObjectChanged) as error:
            raise ManifestMoved("the index was switched or deleted meanwhile") from error

    def put_index(self, project: ProjectKey, version: str, path: Path) -> None:
        key = _version_key(project, version)
        with path.open("rb") as file:
            call(lambda: self._client.put_object(Bucket=self._bucket, Key=key, Body=file))

    def fetch_index(self, project: ProjectKey, version: str, into: Path, *, deadline: Deadline | None = None) -> None:
        self._download(_version_key(project, version), into, deadline)

    def versions(self, project: ProjectKey) -> tuple[StoredVersion, ...]:
        prefix = _index_prefix(project)
        return tuple(
            StoredVersion(
                version=each["Key"].removeprefix(prefix).removesuffix(".sqlite"),
                modified=each["LastModified"].timestamp(),
            )
            for each in self._listed(prefix)
            if each["Key"].endswith(".sqlite")
        )

    def delete_versions(self, project: ProjectKey, versions: Iterable[str]) -> None:
        self._delete([_version_key(project, version) for version in versions])

    def delete_index(self, project: ProjectKey) -> int:
        """The manifest goes first: what it names is there for as long as it stands."""
        prefix = _index_prefix(project)
        keys = [each["Key"] for each in self._listed(prefix)]
        self._delete(sorted(keys, key=lambda key: not key.endswith(_MANIFEST)))
        return len(keys)

    def url(self, project: ProjectKey, name: str) -> str:
        return f"{self._client.meta.endpoint_url}/{self._bucket}/{quote(_documents_prefix(project) + name)}"

    def place(self, project: ProjectKey) -> str:
        return f"s3://{self._bucket}/{_documents_prefix(project)}"

    def _download(self, key: str, into: Path, deadline: Deadline | None, **condition: Any) -> None:
        def read() -> None:
            body = self._client.get_object(Bucket=self._bucket, Key=key, **condition)["Body"]
            with closing(body), into.open("wb") as file:
                for piece in body.iter_chunks(_STEP):
                    if deadline is not None and deadline.expired:
                        raise OutOfTime("the object did not come in time")
                    file.write(piece)

        try:
            call(read)
        except OSError as error:
            raise StoreUnavailable("the object could not be brought to this machine's disk") from error

    def _listed(self, prefix: str, *, after: str = "") -> Iterator[Any]:
        where: dict[str, Any] = {"StartAfter": after} if after else {}
        while True:
            page = call(partial(self._client.list_objects_v2, Bucket=self._bucket, Prefix=prefix, **where))
            yield from page.get("Contents", ())
            if not page.get("IsTruncated"):
                return
            where = {"ContinuationToken": page["NextContinuationToken"]}

    def _delete(self, keys: list[str]) -> None:
        for start in range(0, len(keys), _MOST_DELETED):
            wanted: Any = {"Objects": [{"Key": key} for key in keys[start : start + _MOST_DELETED]], "Quiet": True}
            answer = call(partial(self._client.delete_objects, Bucket=self._bucket, Delete=wanted))
            if answer.get("Errors"):
                raise StoreUnavailable("not every object of the index could be deleted")


def _documents_prefix(project: ProjectKey) -> str:
    """Raises ValueError for an id that could lead elsewhere."""
    partition(project)
    return f"{project.tenant_id}/{project.project_id}/{_DOCUMENTS}/"


def _index_prefix(project: ProjectKey) -> str:
    """Raises ValueError for an id that could lead elsewhere."""
    partition(project)
    return f"{_INDEX}/{project.tenant_id}/{project.project_id}/"


def _version_key(project: ProjectKey, version: str) -> str:
    if not _VERSION.fullmatch(version):
        raise ValueError("a version consists of a-z and 0-9")
    return f"{_index_prefix(project)}{version}.sqlite"


def _document(listed: Any, prefix: str) -> StoredDocument:
    return StoredDocument(
        name=listed["Key"].removeprefix(prefix),
        etag=listed["ETag"].strip('"'),
        size=listed["Size"],
        modified=listed["LastModified"].timestamp(),
    )


def _manifest(raw: bytes) -> Manifest:
    """One that cannot be read names no version: the index is made anew over it."""
    try:
        return Manifest(**orjson.loads(raw))
    except (orjson.JSONDecodeError, TypeError):
        return Manifest(revision=0, version=None)
