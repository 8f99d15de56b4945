"""The indexes at hand: fetched when they changed, kept while they did not."""

import itertools
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.document_store import InMemoryDocumentStore
from zarniwoop.contract.deadline import Deadline
from zarniwoop.documents.database import UnusableIndexError
from zarniwoop.documents.find import find
from zarniwoop.documents.index import IndexWriter
from zarniwoop.documents.kinds import Extracted, Kind
from zarniwoop.documents.library import Library
from zarniwoop.stores.documents import Manifest, StoredDocument
from zarniwoop.stores.failure import OutOfTime, StoreUnavailable
from zarniwoop.stores.s3_calls import ObjectMissing
from zarniwoop.stores.state import ProjectKey

DEMO = ProjectKey(tenant_id="acme", project_id="demo")
LAB = ProjectKey(tenant_id="acme", project_id="lab")


class Shelf:
    """A store whose index can be switched, and the library over it."""

    def __init__(self, folder: Path, most_bytes: int = 1_000_000) -> None:
        self.store = InMemoryDocumentStore(FakeClock())
        self.library = Library(self.store, most_bytes=most_bytes)
        self._folder = folder
        self._numbers = itertools.count(1)

    def switch(self, project: ProjectKey, text: str) -> None:
        number = next(self._numbers)
        path = self._folder / f"{number}"
        writer = IndexWriter(path)
        document = StoredDocument(name="a.txt", etag="1", size=1, modified=0.0)
        writer.put(document, Extracted(kind=Kind.TXT, pages=(text,), title="a"), 0.0)
        writer.finish()
        self.store.put_index(project, f"v{number}", path)
        manifest = Manifest(revision=number, version=f"v{number}", size=path.stat().st_size)
        self.store.switch(project, manifest, self.store.manifests.get(project))

    def holds(self, project: ProjectKey, word: str) -> bool:
        with self.library.opened(project) as index:
            assert index is not None
            return bool(find(index.connection, word, most=1, each_document_once=True))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_an_index_is_fetched_once_per_version(shelf: Shelf) -> None:
    """And the manifest is read for every search."""
    shelf.switch(DEMO, "bronze")
    assert [shelf.holds(DEMO, "bronze") for _ in range(3)] == [True] * 3
    assert (shelf.store.calls["manifest"], shelf.store.calls["fetch_index"]) == (3, 1)
    shelf.switch(DEMO, "iron")
    assert (shelf.holds(DEMO, "bronze"), shelf.holds(DEMO, "iron")) == (False, True)
    assert shelf.store.calls["fetch_index"] == 2


def test_a_project_without_an_index_has_none(shelf: Shelf) -> None:
    """Nor one whose manifest names no version."""
    with shelf.library.opened(DEMO) as index:
        assert index is None
    shelf.store.switch(DEMO, Manifest(revision=1, version=None), None)
    with shelf.library.opened(DEMO) as index:
        assert index is None


def test_a_search_that_runs_keeps_its_index_while_another_version_comes(shelf: Shelf) -> None:
    """An open file is read to its end."""
    shelf.switch(DEMO, "bronze")
    with shelf.library.opened(DEMO) as index:
        assert index is not None
        shelf.switch(DEMO, "iron")
        assert shelf.holds(DEMO, "iron")
        assert find(index.connection, "bronze", most=1, each_document_once=True)


def test_the_project_used_longest_ago_makes_room(tmp_path: Path) -> None:
    """But one index is always kept, however large."""
    shelf = Shelf(tmp_path, most_bytes=1)
    shelf.switch(DEMO, "bronze")
    shelf.switch(LAB, "iron")
    assert [shelf.holds(DEMO, "bronze"), shelf.holds(LAB, "iron"), shelf.holds(LAB, "iron")] == [True] * 3
    assert shelf.store.calls["fetch_index"] == 2
    assert shelf.holds(DEMO, "bronze")
    assert shelf.store.calls["fetch_index"] == 3


def test_a_version_that_went_meanwhile_is_looked_up_again(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was replaced twice since the manifest was read."""
    shelf.switch(DEMO, "bronze")
    fetch = shelf.store.fetch_index
    gone = iter([True, False])

    def once_gone(project: ProjectKey, version: str, into: Path, **given: Any) -> None:
        if next(gone, False):
            raise ObjectMissing("there is no such object")
        fetch(project, version, into, **given)

    monkeypatch.setattr(shelf.store, "fetch_index", once_gone)
    assert shelf.holds(DEMO, "bronze")
    shelf.switch(DEMO, "iron")
    monkeypatch.setattr(shelf.store, "fetch_index", fetch)
    shelf.store.indexes[DEMO].clear()
    with pytest.raises(StoreUnavailable, match="not there"), shelf.library.opened(DEMO):
        pass


def test_a_broken_file_is_fetched_anew(shelf: Shelf) -> None:
    """It is not kept."""
    shelf.switch(DEMO, "bronze")
    body, modified = shelf.store.indexes[DEMO]["v1"]
    shelf.store.indexes[DEMO]["v1"] = (b"spoilt", modified)
    with pytest.raises(UnusableIndexError), shelf.library.opened(DEMO):
        pass
    shelf.store.indexes[DEMO]["v1"] = (body, modified)
    assert shelf.holds(DEMO, "bronze")


def test_a_store_that_is_away_is_told_of(shelf: Shelf) -> None:
    """With what was at hand before still there."""
    shelf.switch(DEMO, "bronze")
    shelf.store.fails = {"fetch_index"}
    with pytest.raises(StoreUnavailable), shelf.library.opened(DEMO):
        pass
    shelf.store.fails = set()
    assert shelf.holds(DEMO, "bronze")


def test_threads_that_need_the_same_index_wait_for_one_fetch(shelf: Shelf) -> None:
    """A cold environment with several searches at once."""
    shelf.switch(DEMO, "bronze")
    found: list[bool] = []
    threads = [threading.Thread(target=lambda: found.append(shelf.holds(DEMO, "bronze"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found, shelf.store.calls["fetch_index"]) == ([True] * 8, 1)


def test_a_search_waits_for_no_fetch_of_another_project(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """And for one of its own project only until its deadline."""
    shelf.switch(DEMO, "bronze")
    shelf.switch(LAB, "iron")
    fetch, begun, goes_on = shelf.store.fetch_index, threading.Event(), threading.Event()

    def slow(project: ProjectKey, version: str, into: Path, **given: Any) -> None:
        if project == DEMO:
            begun.set()
            assert goes_on.wait(10)
        fetch(project, version, into, **given)

    monkeypatch.setattr(shelf.store, "fetch_index", slow)
    found: list[bool] = []
    waiting = threading.Thread(target=lambda: found.append(shelf.holds(DEMO, "bronze")))
    waiting.start()
    assert begun.wait(10)
    try:
        assert shelf.holds(LAB, "iron")
        with pytest.raises(OutOfTime), shelf.library.opened(DEMO, Deadline.after(0.01, FakeClock())):
            pass
    finally:
        goes_on.set()
        waiting.join()
    assert found == [True]


def test_a_deadline_ends_a_fetch(shelf: Shelf) -> None:
    """The next search begins it anew."""
    shelf.switch(DEMO, "bronze")
    with pytest.raises(OutOfTime), shelf.library.opened(DEMO, Deadline.after(0, FakeClock())):
        pass
    assert shelf.holds(DEMO, "bronze")


class Killed(BaseException):
    """Whatever ends a fetch."""


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), StoreUnavailable("away"), Killed()])
def test_what_came_only_in_part_takes_no_room(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    """A full disk would stay full."""
    shelf.switch(DEMO, "bronze")

    def breaks_off(_project: ProjectKey, _version: str, into: Path, **_given: Any) -> None:
        into.write_bytes(b"half")
        raise fault

    monkeypatch.setattr(shelf.store, "fetch_index", breaks_off)
    with pytest.raises(type(fault)), shelf.library.opened(DEMO):
        pass
    assert list(shelf.library._folder.iterdir()) == []
    monkeypatch.undo()
    assert shelf.holds(DEMO, "bronze")


def test_room_is_made_before_the_next_index_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk need not hold both."""
    shelf = Shelf(tmp_path, most_bytes=1)
    shelf.switch(DEMO, "bronze")
    shelf.switch(LAB, "iron")
    assert shelf.holds(DEMO, "bronze")
    fetch = shelf.store.fetch_index

    def with_room(project: ProjectKey, version: str, into: Path, **given: Any) -> None:
        assert list(shelf.library._folder.iterdir()) == []
        fetch(project, version, into, **given)

    monkeypatch.setattr(shelf.store, "fetch_index", with_room)
    assert shelf.holds(LAB, "iron")


def test_a_closed_library_leaves_no_files(shelf: Shelf) -> None:
    """The folder goes with it."""
    shelf.switch(DEMO, "bronze")
    shelf.holds(DEMO, "bronze")
    folder = shelf.library._folder
    assert list(folder.iterdir())
    shelf.library.close()
    assert not folder.exists()
