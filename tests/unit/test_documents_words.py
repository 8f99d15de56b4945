"""A user's query becomes an FTS5 expression, whatever is in it, and finds what it means in every script."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarniwoop.documents.words import MOST_TERMS, TOKENIZER, Terms, expression, searchable, telling, terms_of

TEXTS = {
    "bells": "The bells of the cathedral were cast in bronze.",
    "accents": "Zürich and Genève; naïve façade",
    "japanese": "東京都の鐘は大きい。",
    "korean": "서울의 종소리가 울린다",
    "thai": "ระฆังในวัดกรุงเทพ",
    "russian": "Колокола Москвы",
    "wide": "ＡＢＣ　１２３",
}


@pytest.fixture(scope="module")
def table() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='{TOKENIZER}')")
    for rowid, text in enumerate(TEXTS.values()):
        connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (rowid, searchable(text)))
    return connection


def found(table: sqlite3.Connection, query: str) -> set[str]:
    names = list(TEXTS)
    rows = table.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression(terms_of(query)),))
    return {names[rowid] for (rowid,) in rows}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("bell", {"bells"}),
        ("CATHEDRAL", {"bells"}),
        ("zurich", {"accents"}),
        ("geneve", {"accents"}),
        ("Façade", {"accents"}),
        ("鐘", {"japanese"}),
        ("東京", {"japanese"}),
        ("東鐘", set()),
        ("大きい鐘", {"japanese"}),
        ("종소리", {"korean"}),
        ("กรุงเทพ", {"thai"}),
        ("москвы", {"russian"}),
        ("abc", {"wide"}),
        ("ＢＥＬＬ", {"bells"}),
        ('"cast in bronze"', {"bells"}),
        ('"bronze in cast"', set()),
        ("cathedral -bronze", set()),
        ('bronze -"cast in silver"', {"bells"}),
        ("zurich bronze", {"accents", "bells"}),
        ("NEAR(bronze", {"bells"}),
        ("text:bronze* ^NOT", {"bells"}),
        ("-bronze", {"bells"}),
        ("rock'n'roll bronze", {"bells"}),
        ('un"balanced bronze', {"bells"}),
    ],
)
def test_a_query_finds_what_it_means(table: sqlite3.Connection, query: str, names: set[str]) -> None:
    """Case, accents, widths and English endings do not matter; operators of FTS5 are words like any other."""
    assert found(table, query) == names


@given(st.text(max_size=200))
def test_whatever_somebody_asks_is_an_expression_that_fts5_takes(query: str) -> None:
    """Or has no word in it."""
    terms = terms_of(query)
    if not terms:
        with pytest.raises(ValueError, match="needs a word"):
            expression(terms)
        return
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='{TOKENIZER}')")
    connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression(terms),)).fetchall()
    connection.close()


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("the bell of bronze", '("bell" OR "bronze")'),
        ("the of", '("the" OR "of")'),
        ('"a bell" the', '"a bell"'),
        ("the", '("the")'),
    ],
)
def test_words_that_stand_everywhere_are_left_out_unless_there_are_no_others(query: str, match: str) -> None:
    """They would rank thousands of passages and tell nothing of any."""
    common = {'"the"', '"of"'}
    assert expression(telling(terms_of(query), common.__contains__)) == match


def test_a_query_has_so_many_terms_and_each_once() -> None:
    """A page of text as a query must not take minutes."""
    assert len(terms_of(" ".join(f"word{number}" for number in range(100))).words) == MOST_TERMS
    assert terms_of("bell bell").words == ("bell",)
    assert not Terms(excluded=("bell",))
