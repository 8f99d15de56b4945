"""Marks in pairs, so that nothing that is appended falls into one of them."""

import pytest

from zarniwoop.text.pairs import has_words, paired


@pytest.mark.parametrize(
    "query", ["bells", '"strike note" (bells OR [chimes])', 'a "lonely ) bracket" in a phrase', "", "()"]
)
def test_a_query_whose_marks_are_in_pairs_stays_as_it_is(query: str) -> None:
    """Brackets inside a phrase are only text."""
    assert paired(query) == query


@pytest.mark.parametrize(
    ("query", "left"), [('a "b', "a  b"), ("a) (b", "a   b"), ("(a]", " a "), ("([a)]", "  a  "), ("a)", "a ")]
)
def test_a_query_with_a_lonely_mark_loses_all_of_them(query: str, left: str) -> None:
    """Which one was meant cannot be known."""
    assert paired(query) == left


@pytest.mark.parametrize(("query", "words"), [("a", True), ('"" ()', False), ("[", False), ("", False)])
def test_marks_alone_are_no_words(query: str, words: bool) -> None:
    assert has_words(query) is words
