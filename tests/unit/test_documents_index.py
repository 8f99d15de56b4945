"""The index file: what is put is found, what is replaced or removed is not, and filters hold."""

import sqlite3
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zarniwoop.contract.request import DateRange
from zarniwoop.documents.database import UnusableIndexError, created, has_fts5, opened_to_read
from zarniwoop.documents.find import Match, OutOfTimeError, find
from zarniwoop.documents.index import IndexWriter
from zarniwoop.documents.kinds import DocumentRefused, Extracted, Kind, Reason
from zarniwoop.documents.passages import whole_text
from zarniwoop.stores.documents import StoredDocument

DAY = 86_400.0


def document(name: str, etag: str = "1", modified: float = 0.0) -> StoredDocument:
    return StoredDocument(name=name, etag=etag, size=3, modified=modified)


def text_of(*pages: str, kind: Kind = Kind.TXT, title: str = "untitled", published: str | None = None) -> Extracted:
    return Extracted(kind=kind, pages=pages, paged=len(pages) > 1, title=title, published=published)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


@pytest.fixture
def library(path: Path) -> Iterator[sqlite3.Connection]:
    """Five documents about bells, over four years and three kinds."""
    writer = IndexWriter(path)
    writer.put(document("bells.txt", modified=0), text_of("bells of bronze", title="Bells"), 1.0)
    writer.put(document("deep/bell tower.md"), text_of("a tower", kind=Kind.MD, published="2020-05-01"), 1.0)
    writer.put(document("two.pdf"), text_of("a bell", "another bell", kind=Kind.PDF, published="2021-05-01"), 1.0)
    writer.put(document("iron.txt"), text_of("iron and bell, bell", published="2022-05-01"), 1.0)
    writer.put(document("other.txt"), text_of("nothing of the kind", published="2023-05-01"), 1.0)
    writer.finish()
    connection = opened_to_read(path)
    yield connection
    connection.close()


def names(found: tuple[Match, ...]) -> list[str]:
    return [each.name for each in found]


def test_titles_and_names_count_for_more_than_text(library: sqlite3.Connection) -> None:
    """Best first, by BM25."""
    found = find(library, "bell", most=10, each_document_once=False)
    assert names(found)[:2] == ["bells.txt", "deep/bell tower.md"]
    assert sorted(names(found)) == ["bells.txt", "deep/bell tower.md", "iron.txt", "two.pdf", "two.pdf"]
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_passages_or_documents(library: sqlite3.Connection) -> None:
    """Each document once, by its best passage; or so many passages."""
    once = find(library, "bell", most=10, each_document_once=True)
    assert len(names(once)) == len(set(names(once))) == 4
    assert len(find(library, "bell", most=2, each_document_once=False)) == 2


def test_a_match_says_where_it_stands(library: sqlite3.Connection) -> None:
    """By page, and by characters of the whole text."""
    found = find(library, "another", most=1, each_document_once=False)[0]
    assert (found.page, found.text, found.stated_day, found.day) == (2, "another bell", True, "2021-05-01")
    assert whole_text(("a bell", "another bell"))[found.start : found.end] == "another bell"
    undated = find(library, "bronze", most=1, each_document_once=False)[0]
    assert (undated.page, undated.stated_day, undated.day) == (None, False, "1970-01-01")


@pytest.mark.parametrize(
    ("kind", "window", "expected"),
    [
        ("pdf", None, {"two.pdf"}),
        ("docx", None, set()),
        (None, DateRange(earliest=date(2021, 5, 1)), {"two.pdf", "iron.txt"}),
        (None, DateRange(latest=date(2021, 5, 1)), {"bells.txt", "deep/bell tower.md", "two.pdf"}),
        ("txt", DateRange(earliest=date(2021, 1, 1), latest=date(2022, 12, 31)), {"iron.txt"}),
    ],
)
def test_kind_and_days_narrow_the_search(
    library: sqlite3.Connection, kind: str | None, window: DateRange | None, expected: set[str]
) -> None:
    """Both ends of a window are inside."""
    assert set(names(find(library, "bell", most=10, each_document_once=True, kind=kind, window=window))) == expected


def test_a_phrase_must_stand_and_words_beside_it_help_if_they_can(library: sqlite3.Connection) -> None:
    """A word that stands nowhere does not hide what the phrase finds."""
    assert names(find(library, '"bells of bronze" marzipan', most=5, each_document_once=True)) == ["bells.txt"]
    assert names(find(library, '"of bells bronze"', most=5, each_document_once=True)) == []
    assert names(find(library, "!?", most=5, each_document_once=True)) == []


def test_a_search_ends_when_its_time_is_over(path: Path) -> None:
    """In the middle of SQLite's work."""
    writer = IndexWriter(path)
    writer.put(document("a.txt"), text_of("\n\n".join("bell " * 100 for _ in range(2_000))), 1.0)
    writer.finish()
    connection = opened_to_read(path)
    with pytest.raises(OutOfTimeError):
        find(connection, "bell tower", most=5, each_document_once=False, expired=lambda: True)
    connection.close()


def test_what_was_replaced_is_found_no_more(path: Path) -> None:
    """Nor what was removed; other documents stay."""
    writer = IndexWriter(path)
    writer.put(document("a.txt"), text_of("old words", title="Old"), 1.0)
    writer.put(document("b.txt"), text_of("old neighbours"), 1.0)
    writer.finish()
    writer = IndexWriter(path)
    writer.put(document("a.txt", etag="2"), text_of("new words"), 1.0)
    assert writer.known()["a.txt"] == document("a.txt", etag="2").state
    writer.finish()
    writer = IndexWriter(path)
    assert writer.remove(["b.txt", "never-there.txt"]) == 1
    assert writer.finish().documents == 1
    connection = opened_to_read(path)
    assert find(connection, "old neighbours", most=5, each_document_once=True) == ()
    assert names(find(connection, "new", most=5, each_document_once=True)) == ["a.txt"]
    connection.close()


def test_a_refusal_is_recorded_and_takes_the_older_text_along(path: Path) -> None:
    """What is found is what the document says now."""
    writer = IndexWriter(path)
    writer.put(document("a.txt"), text_of("old words"), 1.0)
    writer.refuse(document("a.txt", etag="2"), Reason.ENCRYPTED, 2.0)
    counts = writer.finish()
    assert (counts.documents, counts.passages, counts.refused) == (0, 0, 1)
    writer = IndexWriter(path)
    assert writer.known() == {"a.txt": document("a.txt", etag="2").state}
    writer.refuse(document("a.txt", etag="2"), Reason.ENCRYPTED, 3.0)
    assert not writer.changed
    writer.finish()


def test_what_may_heal_is_tried_again(path: Path) -> None:
    """A file that S3 did not give, and one for which there was no room."""
    writer = IndexWriter(path, most_bytes=0)
    with pytest.raises(DocumentRefused, match="index_full"):
        writer.check_room()
    writer.refuse(document("a.txt"), Reason.INDEX_FULL, 1.0)
    writer.refuse(document("b.txt"), Reason.UNREADABLE, 1.0)
    assert (writer.known(), writer.names()) == ({}, {"a.txt", "b.txt"})
    writer.finish()


def _another_format(path: Path) -> None:
    connection = created(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()


@pytest.mark.parametrize(
    "spoil", [lambda path: path.write_bytes(b"no database"), lambda path: path.write_bytes(b""), _another_format]
)
def test_a_file_that_is_no_index_is_made_anew_and_never_read(path: Path, spoil: Callable[[Path], object]) -> None:
    """Another format, a broken file, an empty one."""
    spoil(path)
    with pytest.raises(UnusableIndexError):
        opened_to_read(path)
    writer = IndexWriter(path)
    assert writer.names() == set()
    writer.finish()
    opened_to_read(path).close()


def test_a_file_that_is_not_there_is_no_index(path: Path) -> None:
    """And reading makes none."""
    with pytest.raises(UnusableIndexError):
        opened_to_read(path)
    assert not path.exists()


def test_whether_sqlite_has_fts5_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Amazon Linux 2's has not."""
    assert has_fts5()

    class Old:
        def execute(self, _statement: str) -> None:
            raise sqlite3.OperationalError("no such module: fts5")

        def close(self) -> None: ...

    monkeypatch.setattr(sqlite3, "connect", lambda _path: Old())
    assert not has_fts5()


NAMES = st.sampled_from(["a.txt", "b.md", "c.pdf"])
WORDS = st.lists(st.sampled_from(["bell", "größe", "鐘", "tower"]), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NAMES, st.one_of(WORDS, st.none())), max_size=12))
def test_after_any_changes_the_index_finds_what_a_fresh_one_finds(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str | None]]
) -> None:
    """Deleting from a contentless table leaves no words behind."""
    folder = tmp_path_factory.mktemp("indexes")
    changed, fresh = IndexWriter(folder / "changed"), IndexWriter(folder / "fresh")
    standing: dict[str, str] = {}
    for name, text in changes:
        if text is None:
            changed.remove([name])
            standing.pop(name, None)
        else:
            changed.put(document(name), text_of(text), 1.0)
            standing[name] = text
    for name, text in standing.items():
        fresh.put(document(name), text_of(text), 1.0)
    found = []
    for writer, file in ((changed, "changed"), (fresh, "fresh")):
        writer.finish()
        connection = opened_to_read(folder / file)
        found.append(
            [
                {(each.name, each.score) for each in find(connection, word, most=9, each_document_once=True)}
                for word in ("bell", "größe", "鐘", "tower")
            ]
        )
        connection.close()
    assert found[0] == found[1]
