"""Words of any language, and how well texts answer a handful of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarniwoop.text.bm25 import rarity, scores, terms, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Müllers Café, 2nd ed.", ["mullers", "cafe", "2nd", "ed"]),
        ("Straße", ["strasse"]),
        ("meta-analysis_of X", ["meta", "analysis", "of", "x"]),
        ("ёлка Ά", ["елка", "α"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("が", ["が"]),
        ("…!?", []),
    ],
)
def test_words_are_folded(text: str, found: list[str]) -> None:
    """Case and accents go; the marks that are letters of their script stay."""
    assert words(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("trials studies", ["trial", "study"]),
        ("news glass virus analysis gas ties", ["news", "glass", "virus", "analysis", "gas", "tie"]),
        ("量子計算", ["量子", "子計", "計算"]),
        ("猫", ["猫"]),
        ("COVIDワクチン", ["covid", "ワク", "クチ", "チン"]),
        ("한국어", ["한국", "국어"]),
        ("élan", ["elan"]),
        ("Жизнь", ["жизнь"]),
    ],
)
def test_terms_lose_plurals_and_unspaced_scripts_become_pairs(text: str, found: list[str]) -> None:
    """So that `trials` meets `trial`, and a Japanese word its sentence."""
    assert terms(text) == found


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    """And one that every text has still counts a little."""
    texts = [["a", "b"], ["a"], ["a"]]
    weights = rarity(["a", "b", "absent"], texts)
    assert 0 < weights["a"] < weights["b"] < weights["absent"]


def test_the_text_with_more_of_the_question_wins_and_length_counts_against() -> None:
    """Each term saturates: ten times the same word is not ten times the score."""
    texts = [["a", "b"], ["a", "c"], ["a", "c", "d", "e"], ["x"], []]
    found = scores(rarity(["a", "b"], texts), texts)
    assert found[0] > found[1] > found[2] > found[3] == found[4] == 0
    often, once = scores({"a": 1.0}, [["a"] * 10, ["a"]])
    assert once < often < 3 * once


def test_nothing_is_scored_without_texts() -> None:
    """Nor do empty texts divide by their average length."""
    assert scores(rarity(["a"], []), []) == []
    assert scores({"a": 1.0}, [[]]) == [0.0]


@given(st.text())
def test_any_text_has_terms_and_they_are_folded(text: str) -> None:
    """Folding twice changes nothing, and no term is empty."""
    found = words(text)
    assert all(found)
    assert all(terms(text)) or not found
