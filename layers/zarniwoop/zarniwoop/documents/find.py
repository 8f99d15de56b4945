"""Searching an open index by BM25: passages, or documents each by its best passage.

A match in a title counts five times, in a file's name twice as much as one in the text. Of a passage all words count
that stand in it; of a document, for each word the passage that says most of it, so that words far apart are found, too.
https://www.sqlite.org/fts5.html#the_bm25_function
Quirk: bm25() cannot stand beside an aggregate, hence the materialized rows between the two.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from zarniwoop.contract.request import DateRange
from zarniwoop.documents.words import Terms, expression, quoted, telling, terms_of

_COMMON_SHARE = 5
"""A word that stands in every fifth passage tells nothing of any of them."""
_LEAST_COMMON = 200
_STEPS = 1_000
"""How many instructions of SQLite's machine pass between two looks at the clock."""
_SCORE = "bm25(words, 5.0, 2.0, 1.0)"
_FITS = (
    "(:kind IS NULL OR documents.kind = :kind) AND (:earliest IS NULL OR documents.day >= :earliest)"
    " AND (:latest IS NULL OR documents.day <= :latest)"
)
_PASSAGES = (
    f"SELECT words.rowid, {_SCORE} AS score FROM words JOIN passages ON passages.id = words.rowid"  # noqa: S608
    f" JOIN documents ON documents.id = passages.document WHERE words MATCH :match AND {_FITS}"
    " ORDER BY score, words.rowid LIMIT :most"
)
_OF_TERM = f"SELECT {{number}} AS term, rowid AS id, {_SCORE} AS score FROM words WHERE words MATCH :term{{number}}"  # noqa: S608
_DOCUMENTS = (  # of constants alone; what is asked for is bound
    "WITH matched AS MATERIALIZED ({terms}), best AS (SELECT passages.document, term, min(score) AS score"  # noqa: S608
    " FROM matched JOIN passages ON passages.id = matched.id GROUP BY passages.document, term)"
    " SELECT best.document, sum(best.score) AS total FROM best JOIN documents ON documents.id = best.document"
    f" WHERE {_FITS} AND best.document NOT IN (SELECT passages.document FROM words JOIN passages"
    " ON passages.id = words.rowid WHERE words MATCH :excluded)"
    " GROUP BY best.document HAVING sum(best.term < :required) = :required ORDER BY total, best.document LIMIT :most"
)
_BEST_PASSAGE = (
    f"SELECT rowid FROM words WHERE words MATCH :match AND rowid BETWEEN"  # noqa: S608
    " (SELECT min(id) FROM passages WHERE document = :document) AND"
    " (SELECT max(id) FROM passages WHERE document = :document)"
    f" ORDER BY {_SCORE}, rowid LIMIT 1"
)
_NOTHING = '""'
_DESCRIBED = (
    "SELECT passages.page, passages.start, passages.end, passages.text, documents.name, documents.title,"
    " documents.kind, documents.day, documents.stated_day FROM passages"
    " JOIN documents ON documents.id = passages.document WHERE passages.id = ?"
)


class OutOfTimeError(Exception):
    """The search was broken off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A passage that matched, and the document in which it stands. `score` grows with closeness."""

    name: str
    title: str
    kind: str
    day: str
    stated_day: bool
    page: int | None
    start: int
    end: int
    text: str
    score: float


def find(
    connection: sqlite3.Connection,
    query: str,
    *,
    most: int,
    each_document_once: bool,
    kind: str | None = None,
    window: DateRange | None = None,
    expired: Callable[[], bool] = lambda: False,
) -> tuple[Match, ...]:
    """Raises OutOfTimeError, and sqlite3.DatabaseError for a broken file."""
    terms, days = terms_of(query), window or DateRange()
    if not terms:
        return ()
    given = {
        "kind": kind,
        "earliest": days.earliest.isoformat() if days.earliest else None,
        "latest": days.latest.isoformat() if days.latest else None,
    }
    search = _documents if each_document_once else _passages
    connection.set_progress_handler(lambda: int(expired()), _STEPS)
    try:
        wanted = telling(terms, lambda term: _is_common(connection, term))
        found = search(connection, wanted, given, most)
        if not found and wanted.required and wanted.words:
            found = search(connection, Terms(required=wanted.required, excluded=wanted.excluded), given, most)
        return tuple(_described(connection, rowid, score) for rowid, score in found)
    except sqlite3.OperationalError as error:
        if expired():
            raise OutOfTimeError from error
        raise


Given = Mapping[str, str | None]


def _passages(connection: sqlite3.Connection, terms: Terms, given: Given, most: int) -> Sequence[tuple[int, float]]:
    """Those that hold every word, then those that hold some."""
    found: dict[int, float] = {}
    for every_word in (True, False) if len(terms.words) > 1 else (False,):
        match = expression(terms, every_word=every_word)
        for rowid, score in connection.execute(_PASSAGES, {**given, "match": match, "most": most}):
            found.setdefault(rowid, score)
        if len(found) >= most:
            break
    return list(found.items())[:most]


def _documents(connection: sqlite3.Connection, terms: Terms, given: Given, most: int) -> Sequence[tuple[int, float]]:
    """Required phrases come first among the terms, and must all stand somewhere in the document."""
    asked = [quoted(term) for term in (*terms.required, *terms.words)]
    each_term = " UNION ALL ".join(_OF_TERM.format(number=number) for number in range(len(asked)))
    values = {
        **given,
        **{f"term{number}": term for number, term in enumerate(asked)},
        "required": len(terms.required),
        "most": most,
        "excluded": " OR ".join(map(quoted, terms.excluded)) or _NOTHING,
    }
    ranked = connection.execute(_DOCUMENTS.replace("{terms}", each_term), values).fetchall()
    anywhere = " OR ".join(asked)
    return [
        (connection.execute(_BEST_PASSAGE, {"match": anywhere, "document": document}).fetchone()[0], score)
        for document, score in ranked
    ]


def _is_common(connection: sqlite3.Connection, term: str) -> bool:
    (passages,) = connection.execute("SELECT max(id) FROM passages").fetchone()
    most = max(_LEAST_COMMON, (passages or 0) // _COMMON_SHARE)
    query = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
    (standing,) = connection.execute(query, (term, most)).fetchone()
    return bool(standing >= most)


def _described(connection: sqlite3.Connection, rowid: int, score: float) -> Match:
    page, start, end, text, name, title, kind, day, stated = connection.execute(_DESCRIBED, (rowid,)).fetchone()
    return Match(
        name=name,
        title=title,
        kind=kind,
        day=day,
        stated_day=bool(stated),
        page=page,
        start=start,
        end=end,
        text=text,
        score=round(-score, 4),
    )
