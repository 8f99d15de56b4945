"""The indexes that this execution environment has at hand: fetched once per version, opened read-only.

Every search reads the manifest (one small GET), so what was indexed a moment ago is found; the file behind it comes
only when its version is another. Files lie in a folder that goes with the process; the ones used longest ago make room
before another comes: the disk need not hold both. Whoever waits for a file waits until its own deadline.
"""

import shutil
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from zarniwoop.contract.deadline import Deadline
from zarniwoop.documents.database import UnusableIndexError, opened_to_read
from zarniwoop.stores.documents import DocumentStore, Manifest
from zarniwoop.stores.failure import OutOfTime, StoreUnavailable
from zarniwoop.stores.s3_calls import ObjectMissing
from zarniwoop.stores.state import ProjectKey

MOST_KEPT_BYTES = 250_000_000
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIndex:
    manifest: Manifest
    connection: sqlite3.Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    version: str
    path: Path
    size: int


class Library:
    """Safe to use from several threads; two that need the same project's file wait for one fetch, others do not."""

    def __init__(self, store: DocumentStore, *, most_bytes: int = MOST_KEPT_BYTES) -> None:
        self._store = store
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._folder = Path(mkdtemp(prefix="zarniwoop-library-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._kept: dict[ProjectKey, _Kept] = {}
        self._coming: dict[ProjectKey, int] = {}
        self._turns: weakref.WeakValueDictionary[ProjectKey, threading.Lock] = weakref.WeakValueDictionary()
        self._fetched = 0

    @contextmanager
    def opened(self, project: ProjectKey, deadline: Deadline | None = None) -> Iterator[OpenIndex | None]:
        """The index that is served now; None when the project has none.

        Raises StoreUnavailable (OutOfTime when the deadline is nearer than the file), UnusableIndexError.
        """
        with self._turn(project, deadline):
            found = self._current(project, deadline)
        if found is None:
            yield None
            return
        with closing(found.connection):
            yield found

    def close(self) -> None:
        """Remove the files; they also go with the library, and with the process."""
        self._remove()

    @contextmanager
    def _turn(self, project: ProjectKey, deadline: Deadline | None) -> Iterator[None]:
        with self._lock:
            turn = self._turns.setdefault(project, threading.Lock())
        if not turn.acquire(timeout=deadline.remaining() if deadline else -1):
            raise OutOfTime("another search is fetching the index")
        try:
            yield
        finally:
            turn.release()

    def _current(self, project: ProjectKey, deadline: Deadline | None) -> OpenIndex | None:
        """A version that is gone was replaced twice since its manifest was read, so the manifest is read again."""
        for _try in range(_TRIES):
            standing = self._store.manifest(project)
            if standing is None or standing.manifest.version is None:
                return None
            with suppress(ObjectMissing):
                connection = self._at_hand(project, standing.manifest.version)
                if connection is None:
                    connection = self._fetched_anew(project, standing.manifest, standing.manifest.version, deadline)
                return OpenIndex(manifest=standing.manifest, connection=connection)
        raise StoreUnavailable("the index that the manifest names is not there")

    def _at_hand(self, project: ProjectKey, version: str) -> sqlite3.Connection | None:
        with self._lock:
            kept = self._kept.pop(project, None)
            if kept is None:
                return None
            if kept.version == version:
                return self._open(project, kept)
            kept.path.unlink(missing_ok=True)
            return None

    def _fetched_anew(
        self, project: ProjectKey, manifest: Manifest, version: str, deadline: Deadline | None
    ) -> sqlite3.Connection:
        """Room is made before a byte comes, and whatever did not come whole goes."""
        path = self._make_room(project, manifest.size)
        try:
            self._store.fetch_index(project, version, path, deadline=deadline)
            kept = _Kept(version=version, path=path, size=path.stat().st_size)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            with self._lock:
                del self._coming[project]
        with self._lock:
            return self._open(project, kept)

    def _make_room(self, project: ProjectKey, size: int) -> Path:
        """Whoever has a file open that goes reads on in it."""
        with self._lock:
            self._coming[project] = size
            while self._kept and self._needed() > self._most_bytes:
                self._kept.pop(next(iter(self._kept))).path.unlink(missing_ok=True)
            self._fetched += 1
            return self._folder / f"{self._fetched}.sqlite"

    def _needed(self) -> int:
        return sum(each.size for each in self._kept.values()) + sum(self._coming.values())

    def _open(self, project: ProjectKey, kept: _Kept) -> sqlite3.Connection:
        """Under the lock, so that it is not made room with meanwhile. What cannot be used is not kept."""
        try:
            connection = opened_to_read(kept.path)
        except UnusableIndexError:
            kept.path.unlink(missing_ok=True)
            raise
        self._kept[project] = kept
        return connection
