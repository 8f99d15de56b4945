"""Matching: one full-text shelf per kind of item, on SQLite's FTS5 with bm25.

https://www.sqlite.org/fts5.html
Quirk: a plain search is lenient, or so small a corpus would answer little. Up to two words must all occur, of more
words half; items that hold more of the words come first. Formats with a boolean language ask `holding` for exact sets.
"""

import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")

_COLUMNS = ("title", "authors", "body", "subject")
_MOST_TERMS = 32
_TERM = re.compile(r'"([^"]*)"|([^\s"]+)')
STOP_WORDS = frozenset(
    """
    a an and are as at be by for from how in is it its of on or that the this to was what when where which who why with
    der die das den dem des ein eine einer eines und oder von vom zu zum zur im ist mit für auf wie was
    """.split()  # noqa: SIM905 - a list of sixty strings reads worse
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What is indexed of an item, by column."""

    title: str
    authors: str = ""
    body: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches(Generic[Item]):
    """One page of a ranking, and how long the whole ranking is."""

    items: tuple[Item, ...]
    total: int


class Shelf(Generic[Item]):
    """Items of one kind, searchable from any thread: a thread borrows a connection and puts it back."""

    def __init__(self, items: Sequence[Item], text_of: Callable[[Item], Text]) -> None:
        self.items = tuple(items)
        first = sqlite3.connect(":memory:", check_same_thread=False)
        first.execute(f"CREATE VIRTUAL TABLE shelf USING fts5({', '.join(_COLUMNS)}, tokenize='porter unicode61')")
        texts = [text_of(item) for item in self.items]
        first.executemany(
            "INSERT INTO shelf (rowid, title, authors, body, subject) VALUES (?, ?, ?, ?, ?)",
            [(row, text.title, text.authors, text.body, text.subject) for row, text in enumerate(texts)],
        )
        first.commit()
        self._image = first.serialize()
        self._idle = [first]

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def search(
        self, query: str, *, keep: Callable[[Item], bool] | None = None, start: int = 0, count: int = 10
    ) -> Matches[Item]:
        """A page of the lenient ranking of `query` among the items that `keep` lets pass."""
        terms = terms_of(query)
        rows = self._ranked(terms) if terms else []
        return self.page(rows, keep=keep, start=start, count=count)

    def page(
        self, rows: Sequence[int], *, keep: Callable[[Item], bool] | None = None, start: int = 0, count: int = 10
    ) -> Matches[Item]:
        found = [self.items[row] for row in rows]
        if keep is not None:
            found = [item for item in found if keep(item)]
        return Matches(items=tuple(found[start : start + count]), total=len(found))

    def holding(self, term: str, column: str | None = None) -> frozenset[int]:
        """The rows that hold a word or phrase, in any column or in the named one."""
        phrase = _phrase(term)
        if phrase is None:
            return frozenset()
        return frozenset(self._rows(f"{column} : {phrase}" if column else phrase))

    def best_first(self, rows: frozenset[int], terms: Sequence[str]) -> list[int]:
        """`rows` by bm25 of the terms; rows that hold none of them come last."""
        ranking = {row: rank for rank, row in enumerate(self._by_bm25(phrases_of(terms)))}
        return sorted(rows, key=lambda row: (ranking.get(row, len(self.items)), row))

    def _ranked(self, terms: Sequence[str]) -> list[int]:
        phrases = phrases_of(terms)
        ranking = self._by_bm25(phrases)
        if len(phrases) < 2:
            return ranking
        coverage = Counter(row for phrase in phrases for row in self._rows(phrase))
        needed = len(phrases) if len(phrases) == 2 else (len(phrases) + 1) // 2
        return sorted((row for row in ranking if coverage[row] >= needed), key=lambda row: -coverage[row])

    def _by_bm25(self, phrases: Sequence[str]) -> list[int]:
        if not phrases:
            return []
        return self._rows(" OR ".join(phrases), order="bm25(shelf, 4.0, 2.0, 1.0, 2.0), rowid")

    def _rows(self, expression: str, order: str = "rowid") -> list[int]:
        with self._connection() as connection:
            statement = f"SELECT rowid FROM shelf WHERE shelf MATCH ? ORDER BY {order}"  # noqa: S608 - order is ours
            return [row for (row,) in connection.execute(statement, (expression,))]

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            connection.deserialize(self._image)
        try:
            yield connection
        finally:
            self._idle.append(connection)


def terms_of(query: str) -> list[str]:
    """The words and "quoted phrases" of a query, without stop words unless there is nothing else."""
    found = [phrase or word for phrase, word in _TERM.findall(unicodedata.normalize("NFC", query))]
    telling = [term for term in found if term.lower() not in STOP_WORDS]
    return (telling or found)[:_MOST_TERMS]


def phrases_of(terms: Sequence[str]) -> list[str]:
    """The terms as FTS5 phrases, each once; terms without a letter or digit are left out."""
    phrases = (_phrase(term) for term in terms)
    return list(dict.fromkeys(phrase for phrase in phrases if phrase is not None))


def _phrase(term: str) -> str | None:
    letters = "".join(character if character.isalnum() else " " for character in term).strip()
    return f'"{letters}"' if letters else None
