"""The part of a passage that is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zarniwoop.documents.snippet import SNIPPET_CHARS, snippet
from zarniwoop.documents.words import terms_of

LONG = "filler words go on " * 60


@pytest.mark.parametrize(
    ("middle", "query"),
    [
        ("the bronze bells rang", "bell"),
        ("die Größe der Glocke", "grösse glocke größe"),
        ("東京都の鐘は大きい", "東京"),
        ("a phrase that stands", '"phrase that stands"'),
    ],
)
def test_the_stretch_with_the_terms_is_shown(middle: str, query: str) -> None:
    """With an ellipsis where it was cut, on both sides."""
    shown = snippet(LONG + middle + " " + LONG, terms_of(query))
    assert middle in shown
    assert (shown[0], shown[-1]) == ("…", "…")


def test_a_short_passage_is_shown_whole_and_one_without_the_terms_from_its_beginning() -> None:
    """White space is one blank."""
    assert snippet("a  bell\n\nrang", terms_of("bell")) == "a bell rang"
    assert snippet(LONG, terms_of("bell")).startswith("filler words")


def test_the_stretch_with_most_different_terms_wins() -> None:
    """Not the one that repeats a single term."""
    text = "bell bell bell bell " + LONG + "bronze tower with a bell " + LONG
    assert "bronze tower" in snippet(text, terms_of("bell bronze tower"))


@given(st.text(max_size=3_000), st.text(max_size=60))
def test_a_snippet_is_short_and_of_the_passage(text: str, query: str) -> None:
    """Whatever was asked."""
    shown = snippet(text, terms_of(query))
    assert len(shown) <= SNIPPET_CHARS + 2
    assert shown.strip("…").strip() in " ".join(text.split())
