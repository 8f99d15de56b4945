"""An index in step with its documents, whatever happens on the way."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.clock import FakeClock
from tests.fakes.document_store import InMemoryDocumentStore
from zarniwoop.documents.find import find
from zarniwoop.documents.kinds import DocumentRefused, Extracted, Kind, Reason
from zarniwoop.documents.library import Library
from zarniwoop.documents.records import Status, joined, recorded
from zarniwoop.documents.synchronise import MOST_TRIES, Contended, Synchronised, Synchroniser
from zarniwoop.stores.documents import ManifestMoved
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey

DEMO = ProjectKey(tenant_id="acme", project_id="demo")
METHODS = ("manifest", "documents", "fetch_index", "fetch", "put_index", "switch", "versions", "delete_versions")


class PlainReader:
    """Reads text without a process of its own; a file that says so is refused."""

    def read(self, path: Any, name: str) -> Extracted:
        text = path.read_text()
        if text == "locked":
            raise DocumentRefused(Reason.ENCRYPTED)
        return Extracted(kind=Kind.TXT, pages=(text,), title=name)


class Killed(BaseException):
    """The function is no more."""


class House:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = InMemoryDocumentStore(self.clock)
        self._numbers = itertools.count(1)

    def synchronise(self, **given: Any) -> Synchronised:
        return Synchroniser(
            store=self.store,
            reader=PlainReader(),  # type: ignore[arg-type]
            clock=self.clock,
            version=lambda: f"v{next(self._numbers)}",
            **given,
        ).run(DEMO)

    def put(self, **bodies: str) -> None:
        for name, body in bodies.items():
            self.clock.advance(1)
            self.store.put(DEMO, name + ".txt", body.encode())

    def texts(self) -> dict[str, str]:
        """What the served index holds, by name; a refusal as its reason."""
        library = Library(self.store)
        with library.opened(DEMO) as index:
            if index is None:
                return {}
            known = recorded(index.connection, after="", most=100)
            query = "SELECT text FROM passages JOIN documents ON documents.id = document WHERE name = ?"
            found = {
                name.removesuffix(".txt"): record.reason or index.connection.execute(query, (name,)).fetchone()[0]
                for name, (_, record) in known.items()
            }
        library.close()
        return found


@pytest.fixture
def house() -> House:
    return House()


def test_put_replaced_deleted_and_refused_documents_are_followed(house: House) -> None:
    """One round each; a round without changes puts no file, but switches the manifest."""
    house.put(a="alpha", b="beta", c="locked")
    assert house.synchronise() == Synchronised(revision=1, indexed=2, refused=1, removed=0, left=0, unanswered=0)
    assert house.texts() == {"a": "alpha", "b": "beta", "c": "encrypted"}
    house.put(a="gamma", c="open")
    house.store.delete(DEMO, "b.txt")
    changed = house.synchronise()
    assert (changed.indexed, changed.refused, changed.removed) == (2, 0, 1)
    assert house.texts() == {"a": "gamma", "c": "open"}
    before = house.store.manifests[DEMO].manifest
    assert house.synchronise().revision == 3
    after = house.store.manifests[DEMO].manifest
    assert (after.version, after.built_at, house.store.calls["put_index"]) == (before.version, before.built_at, 2)


def test_what_is_too_large_or_empty_is_refused_unseen(house: House) -> None:
    """Nothing is fetched for it."""
    house.put(a="")
    house.store.bodies[DEMO]["b.txt"] = (Heavy(), 0.0)
    house.synchronise()
    assert (house.texts(), house.store.calls["fetch"]) == ({"a": "empty", "b": "too_large"}, 0)


class Heavy(bytes):
    """Says that it has 200 MB."""

    def __len__(self) -> int:
        return 200_000_000


def test_a_round_without_time_keeps_what_it_did_and_tells_what_is_left(house: House) -> None:
    """The oldest change first."""
    house.put(a="alpha", b="beta", c="gamma")
    times = iter([True, True, False])
    first = house.synchronise(has_time=lambda: next(times))
    assert (first.indexed, first.left, house.texts()) == (2, 1, {"a": "alpha", "b": "beta"})
    assert (house.synchronise().left, len(house.texts())) == (0, 3)


def test_a_round_that_did_nothing_and_leaves_something_disturbs_nobody(house: House) -> None:
    """Else rounds without time would make those lose that have done something."""
    house.put(a="alpha")
    assert house.synchronise(has_time=lambda: False).left == 1
    assert house.store.manifests == {}
    house.synchronise()
    house.put(a="beta")
    before = house.store.manifests[DEMO]
    assert house.synchronise(has_time=lambda: False).revision == before.manifest.revision
    assert house.store.manifests[DEMO] == before


def test_a_document_that_cannot_be_fetched_is_recorded_and_tried_again(house: House) -> None:
    """The others do not wait for it."""
    house.put(a="alpha", b="beta")
    house.store.fails = {"a.txt"}
    assert house.synchronise().unanswered == 1
    assert house.texts() == {"a": "unreadable", "b": "beta"}
    house.store.fails = set()
    assert (house.synchronise().unanswered, house.texts()) == (0, {"a": "alpha", "b": "beta"})


def test_a_document_that_is_denied_is_recorded_and_no_reason_to_come_again(house: House) -> None:
    """Every later round tries it all the same."""
    house.put(a="alpha", b="beta")
    house.store.denied = {"a.txt"}
    assert (house.synchronise().unanswered, house.texts()) == (0, {"a": "unreadable", "b": "beta"})
    house.store.denied = set()
    house.synchronise()
    assert house.texts() == {"a": "alpha", "b": "beta"}


def test_a_full_index_refuses_what_is_more_and_takes_it_when_there_is_room(house: House) -> None:
    """Nothing is read for it meanwhile."""
    house.put(a="alpha")
    assert house.synchronise(most_bytes=1).refused == 1
    assert (house.texts(), house.store.calls["fetch"]) == ({"a": "index_full"}, 0)
    house.synchronise()
    assert house.texts() == {"a": "alpha"}


def test_a_document_that_changes_while_it_is_read_waits_for_its_own_event(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is fetched is what was listed."""
    house.put(a="alpha")
    listed = house.store.documents

    def then_changed(project: ProjectKey, **given: Any) -> Any:
        found = listed(project, **given)
        house.put(a="beta")
        return found

    monkeypatch.setattr(house.store, "documents", then_changed)
    assert house.synchronise().indexed == 0
    monkeypatch.undo()
    house.synchronise()
    assert house.texts() == {"a": "beta"}


def test_whoever_took_an_older_list_looks_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deletion that another round has handled already, without anything to change, is not undone."""
    house.put(a="alpha")
    switch = house.store.switch
    interrupted = iter([True])

    def overtaken(*given: Any) -> None:
        if next(interrupted, False):
            house.store.delete(DEMO, "a.txt")
            monkeypatch.setattr(house.store, "switch", switch)
            assert house.synchronise().removed == 0
        switch(*given)

    monkeypatch.setattr(house.store, "switch", overtaken)
    house.synchronise()
    assert house.texts() == {}


def test_who_loses_every_time_gives_up(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the event comes again."""
    house.put(a="alpha")

    def lost(*_given: Any) -> None:
        raise ManifestMoved("another one")

    monkeypatch.setattr(house.store, "switch", lost)
    with pytest.raises(Contended):
        house.synchronise()
    assert house.store.calls["manifest"] == MOST_TRIES


def test_a_base_that_is_gone_or_spoilt_is_made_anew(house: House) -> None:
    """Of all documents."""
    house.put(a="alpha", b="beta")
    house.synchronise()
    house.store.indexes[DEMO].clear()
    assert house.synchronise().indexed == 2
    (version,) = house.store.indexes[DEMO]
    house.store.indexes[DEMO][version] = (b"spoilt", 0.0)
    assert (house.synchronise().indexed, len(house.texts())) == (2, 2)


def test_old_versions_are_swept_an_hour_later(house: House) -> None:
    """The one before stays: somebody may be fetching it. What two build at once is younger than that."""
    for number in range(3):
        house.put(a=f"text {number}")
        house.synchronise()
    assert set(house.store.indexes[DEMO]) == {"v1", "v2", "v3"}
    house.clock.advance(3_601)
    house.put(a="text 4")
    house.synchronise()
    assert set(house.store.indexes[DEMO]) == {"v3", "v4"}


def _killing(method: str, *, after: bool, times: Iterator[bool]) -> Callable[[Any], Any]:
    """The method, at one call of which the function dies, before it has an effect or after."""

    def wrapped(own: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            dies = next(times)
            if dies and not after:
                raise Killed
            answer = own(*given, **named)
            if dies:
                raise Killed
            return answer

        return call

    return wrapped


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_kill_at_any_call_leaves_the_previous_index_serving_until_another_round_catches_up(
    house: House, monkeypatch: pytest.MonkeyPatch, method: str, after: bool
) -> None:
    """Whether the call had its effect or not; only the switch makes the new index serve."""
    house.put(a="alpha", b="beta")
    house.synchronise()
    house.clock.advance(3_601)
    house.put(a="gamma", c="delta")
    house.synchronise()
    house.clock.advance(3_601)
    served = house.texts()
    house.put(a="epsilon")
    house.store.delete(DEMO, "b.txt")
    wanted = {"a": "epsilon", "c": "delta"}
    with monkeypatch.context() as patched:
        own = getattr(house.store, method)
        patched.setattr(house.store, method, _killing(method, after=after, times=itertools.repeat(True))(own))
        with pytest.raises(Killed):
            house.synchronise()
    switched = METHODS.index(method) > METHODS.index("switch") or (method == "switch" and after)
    assert house.texts() == (wanted if switched else served)
    house.synchronise()
    assert house.texts() == wanted


@pytest.mark.parametrize("method", METHODS)
def test_a_store_that_does_not_answer_fails_the_round_and_nothing_else(house: House, method: str) -> None:
    """But for the sweeping, which the next round does, and a document, which is recorded."""
    house.put(a="alpha")
    house.synchronise()
    house.put(a="beta")
    house.store.fails = {method}
    if method in ("versions", "delete_versions", "fetch"):
        house.synchronise()
    else:
        with pytest.raises(StoreUnavailable):
            house.synchronise()
        house.store.fails = set()
        assert house.texts() == {"a": "alpha"}
    house.store.fails = set()
    house.synchronise()
    assert house.texts() == {"a": "beta"}


CHANGES = st.lists(
    st.tuples(st.sampled_from("abc"), st.one_of(st.sampled_from(["one", "two", "locked"]), st.none()), st.booleans()),
    max_size=15,
)


@settings(max_examples=40, deadline=None)
@given(CHANGES)
def test_whenever_rounds_run_the_last_one_holds_what_the_bucket_holds(
    changes: list[tuple[str, str | None, bool]],
) -> None:
    """Puts, replacements, deletions and rounds in any order."""
    house = House()
    for name, body, round_follows in changes:
        if body is not None:
            house.put(**{name: body})
        elif f"{name}.txt" in house.store.bodies.get(DEMO, {}):
            house.store.delete(DEMO, f"{name}.txt")
        if round_follows:
            house.synchronise()
    house.synchronise()
    held = {name.removesuffix(".txt"): body.decode() for name, (body, _) in house.store.bodies.get(DEMO, {}).items()}
    assert house.texts() == {name: "encrypted" if body == "locked" else body for name, body in held.items()}


def test_every_document_of_the_bucket_has_a_record(house: House) -> None:
    """One that was put since the last round, and one that was put again, are pending."""
    house.put(a="alpha", b="beta", c="locked")
    house.synchronise()
    house.put(b="gamma", d="delta")
    library = Library(house.store)
    with library.opened(DEMO) as index:
        assert index is not None
        known = recorded(index.connection, after="", most=100)
        assert find(index.connection, "beta", most=1, each_document_once=True)
    records = {each.name: each for each in joined(house.store.documents(DEMO), known)}
    assert {name: record.status for name, record in records.items()} == {
        "a.txt": Status.INDEXED,
        "b.txt": Status.PENDING,
        "c.txt": Status.REFUSED,
        "d.txt": Status.PENDING,
    }
    refused = records["c.txt"]
    assert (refused.reason, refused.explanation) == (
        "encrypted",
        "The file is protected by a password. Put a copy without one.",
    )
