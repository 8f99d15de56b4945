"""A bucket of documents and indexes in memory, with the failures that its methods can have."""

import hashlib
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import quote

from tests.fakes.clock import FakeClock
from zarniwoop.contract.deadline import Deadline
from zarniwoop.stores.documents import (
    DocumentChanged,
    Manifest,
    ManifestMoved,
    StandingManifest,
    StoredDocument,
    StoredVersion,
)
from zarniwoop.stores.failure import OutOfTime, StoreUnavailable
from zarniwoop.stores.keys import partition
from zarniwoop.stores.s3_calls import ObjectDenied, ObjectMissing
from zarniwoop.stores.state import ProjectKey


class InMemoryDocumentStore:
    """Bodies by project and name.

    `fails` holds names of methods, or of documents, that S3 does not answer for; `denied` those of documents it denies.
    """

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self.bodies: dict[ProjectKey, dict[str, tuple[bytes, float]]] = {}
        self.manifests: dict[ProjectKey, StandingManifest] = {}
        self.indexes: dict[ProjectKey, dict[str, tuple[bytes, float]]] = {}
        self.fails: set[str] = set()
        self.denied: set[str] = set()
        self.calls: Counter[str] = Counter()

    def put(self, project: ProjectKey, name: str, body: bytes) -> None:
        """What an owner does."""
        with self._lock:
            self.bodies.setdefault(project, {})[name] = (body, self._clock.now())

    def delete(self, project: ProjectKey, name: str) -> None:
        with self._lock:
            del self.bodies[project][name]

    def documents(self, project: ProjectKey, *, after: str = "", most: int | None = None) -> tuple[StoredDocument, ...]:
        with self._called("documents", project):
            held = sorted(self.bodies.get(project, {}).items())
            found = [
                StoredDocument(name=name, etag=_etag(body), size=len(body), modified=modified)
                for name, (body, modified) in held
                if name > after and not name.endswith("/")
            ]
            return tuple(found[:most])

    def fetch(self, project: ProjectKey, document: StoredDocument, into: Path) -> None:
        with self._called("fetch", project):
            if document.name in self.denied:
                raise ObjectDenied("a fault of the test")
            if document.name in self.fails:
                raise StoreUnavailable("a fault of the test")
            body, _ = self.bodies.get(project, {}).get(document.name, (b"", 0.0))
            if _etag(body) != document.etag:
                raise DocumentChanged("another one")
            into.write_bytes(body)

    def manifest(self, project: ProjectKey) -> StandingManifest | None:
        with self._called("manifest", project):
            return self.manifests.get(project)

    def switch(self, project: ProjectKey, manifest: Manifest, standing: StandingManifest | None) -> None:
        with self._called("switch", project):
            if self.manifests.get(project) != standing:
                raise ManifestMoved("another one")
            etag = f'"{hashlib.md5(repr(manifest).encode(), usedforsecurity=False).hexdigest()}"'
            self.manifests[project] = StandingManifest(manifest=manifest, etag=etag)

    def put_index(self, project: ProjectKey, version: str, path: Path) -> None:
        with self._called("put_index", project):
            self.indexes.setdefault(project, {})[version] = (path.read_bytes(), self._clock.now())

    def fetch_index(self, project: ProjectKey, version: str, into: Path, *, deadline: Deadline | None = None) -> None:
        with self._called("fetch_index", project):
            if deadline is not None and deadline.expired:
                raise OutOfTime("a fault of the test")
            if version not in self.indexes.get(project, {}):
                raise ObjectMissing("there is no such object")
            into.write_bytes(self.indexes[project][version][0])

    def versions(self, project: ProjectKey) -> tuple[StoredVersion, ...]:
        with self._called("versions", project):
            held = sorted(self.indexes.get(project, {}).items())
            return tuple(StoredVersion(version=version, modified=modified) for version, (_, modified) in held)

    def delete_versions(self, project: ProjectKey, versions: Iterable[str]) -> None:
        with self._called("delete_versions", project):
            for version in versions:
                self.indexes[project].pop(version, None)

    def delete_index(self, project: ProjectKey) -> int:
        with self._called("delete_index", project):
            return len(self.indexes.pop(project, {})) + (self.manifests.pop(project, None) is not None)

    def url(self, project: ProjectKey, name: str) -> str:
        partition(project)
        return f"https://s3.test/documents/{project.tenant_id}/{project.project_id}/documents/{quote(name)}"

    def place(self, project: ProjectKey) -> str:
        return f"s3://documents/{project.tenant_id}/{project.project_id}/documents/"

    def _called(self, method: str, project: ProjectKey) -> AbstractContextManager[bool]:
        """The lock, held for as long as the call lasts. Raises StoreUnavailable, ValueError."""
        partition(project)
        self.calls[method] += 1
        if method in self.fails:
            raise StoreUnavailable("a fault of the test")
        return self._lock


def _etag(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()
