"""Brings a project's index in step with its documents. An event only says that it is time to look.

The bucket's list is the truth, and every round that saw it through switches the manifest, even if nothing changed.
So lists are taken in the order of the switches: whoever took an older list finds the manifest moved, and looks again.
An event that is lost, doubled, late or out of order changes nothing about what the index holds in the end.

    manifest read → documents listed → base fetched → differences applied → file put → manifest switched If-Match

Until the last step the old index serves; a file that no manifest names is litter, swept an hour later.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from zarniwoop.contract.deadline import Clock
from zarniwoop.documents.extract import check_size
from zarniwoop.documents.index import MOST_INDEX_BYTES, Counts, IndexWriter
from zarniwoop.documents.kinds import DocumentRefused, Extracted, Reason
from zarniwoop.documents.reader import Reader
from zarniwoop.stores.documents import (
    DocumentChanged,
    DocumentStore,
    Manifest,
    ManifestMoved,
    StandingManifest,
    StoredDocument,
)
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.s3_calls import ObjectDenied, ObjectMissing
from zarniwoop.stores.state import ProjectKey

MOST_TRIES = 5
_LITTER_SECONDS = 3_600.0
"""Older than any function may run: nobody is about to name it."""


class Contended(StoreUnavailable):
    """Others were faster every time; the event is handled only when a switch of one's own has proved it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synchronised:
    """How it ended. `left` documents wait for another round; S3 did not answer for `unanswered` ones and may next time.

    One that S3 denies is refused and no more: its owner reads why, and every later round tries it again.
    """

    revision: int
    indexed: int
    refused: int
    removed: int
    left: int
    unanswered: int


@dataclass(slots=True)
class _Work:
    """What one try has done so far."""

    indexed: int = 0
    refused: int = 0
    removed: int = 0
    left: int = 0
    unanswered: int = 0

    def ended(self, revision: int) -> Synchronised:
        return Synchronised(
            revision=revision,
            indexed=self.indexed,
            refused=self.refused,
            removed=self.removed,
            left=self.left,
            unanswered=self.unanswered,
        )


class Synchroniser:
    """`has_time` tells whether another document may be begun; `version` makes a name that was never given before."""

    def __init__(
        self,
        *,
        store: DocumentStore,
        reader: Reader,
        clock: Clock,
        version: Callable[[], str],
        has_time: Callable[[], bool] = lambda: True,
        most_bytes: int = MOST_INDEX_BYTES,
    ) -> None:
        self._store = store
        self._reader = reader
        self._clock = clock
        self._version = version
        self._has_time = has_time
        self._most_bytes = most_bytes

    def run(self, project: ProjectKey) -> Synchronised:
        """Raises StoreUnavailable; what was there before goes on serving."""
        for _try in range(MOST_TRIES):
            with TemporaryDirectory(prefix="zarniwoop-index-") as folder, suppress(ManifestMoved):
                return self._once(project, Path(folder))
        raise Contended("the manifest was switched by others every time")

    def _once(self, project: ProjectKey, folder: Path) -> Synchronised:
        standing = self._store.manifest(project)
        listed = self._store.documents(project)
        file = folder / "index.sqlite"
        self._fetch_base(project, standing, file)
        writer = IndexWriter(file, most_bytes=self._most_bytes)
        try:
            work = self._apply(project, listed, writer, folder / "document")
            counts = writer.finish()
        except BaseException:
            writer.abandon()
            raise
        if work.left and not writer.changed:
            # It has seen nothing through, so it proves nothing; a switch would only make others lose what they did.
            return work.ended(standing.manifest.revision if standing else 0)
        manifest = self._put(project, standing, counts, file, changed=writer.changed)
        self._store.switch(project, manifest, standing)
        with suppress(StoreUnavailable):  # the next one sweeps
            self._sweep(project, manifest, standing)
        return work.ended(manifest.revision)

    def _fetch_base(self, project: ProjectKey, standing: StandingManifest | None, file: Path) -> None:
        """Without a base the index is made of all documents anew."""
        if standing is not None and standing.manifest.version is not None:
            with suppress(ObjectMissing):
                self._store.fetch_index(project, standing.manifest.version, file)

    def _apply(self, project: ProjectKey, listed: Sequence[StoredDocument], writer: IndexWriter, file: Path) -> _Work:
        """The oldest change first, so that none waits for ever behind newer ones."""
        work = _Work()
        work.removed = writer.remove(writer.names() - {document.name for document in listed})
        known = writer.known()
        changed = [document for document in listed if known.get(document.name) != document.state]
        for place, document in enumerate(sorted(changed, key=lambda each: (each.modified, each.name))):
            if not self._has_time():
                work.left = len(changed) - place
                break
            self._take_in(project, document, writer, file, work)
        return work

    def _take_in(
        self, project: ProjectKey, document: StoredDocument, writer: IndexWriter, file: Path, work: _Work
    ) -> None:
        now = self._clock.now()
        try:
            check_size(document.size)
            writer.check_room()
            writer.put(document, self._read(project, document, file, work), now)
            work.indexed += 1
        except DocumentRefused as refused:
            writer.refuse(document, refused.reason, now)
            work.refused += 1
        except DocumentChanged:
            return  # its change brings an event of its own, and a list that shows it

    def _read(self, project: ProjectKey, document: StoredDocument, file: Path, work: _Work) -> Extracted:
        """Raises DocumentRefused, DocumentChanged."""
        try:
            self._store.fetch(project, document, file)
        except StoreUnavailable as error:
            work.unanswered += not isinstance(error, ObjectDenied)
            raise DocumentRefused(Reason.UNREADABLE) from error
        return self._reader.read(file, document.name)

    def _put(
        self, project: ProjectKey, standing: StandingManifest | None, counts: Counts, file: Path, *, changed: bool
    ) -> Manifest:
        """Put the file where no manifest names it yet; one that is as it was needs no other."""
        before = standing.manifest if standing else Manifest(revision=0, version=None)
        version = before.version
        if changed or version is None:
            version = self._version()
            self._store.put_index(project, version, file)
        return Manifest(
            revision=before.revision + 1,
            version=version,
            size=file.stat().st_size,
            documents=counts.documents,
            passages=counts.passages,
            refused=counts.refused,
            built_at=self._clock.now() if version != before.version else before.built_at,
        )

    def _sweep(self, project: ProjectKey, manifest: Manifest, standing: StandingManifest | None) -> None:
        """The served version and the one before stay: somebody may be fetching it."""
        kept = {manifest.version, standing.manifest.version if standing else None}
        before = self._clock.now() - _LITTER_SECONDS
        litter = [
            each.version
            for each in self._store.versions(project)
            if each.version not in kept and each.modified < before
        ]
        if litter:
            self._store.delete_versions(project, litter)
