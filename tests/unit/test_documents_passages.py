"""Cutting texts into passages: nothing is lost, every passage stands where it says, cuts fall where one would pause."""

from hypothesis import given
from hypothesis import strategies as st

from zarniwoop.documents.passages import MOST_CHARS, cuts, passages, whole_text

TEXTS = st.text(alphabet=st.sampled_from("ab \n.。!鐘é\U0001f514\t"), max_size=6_000)
PAGES = st.lists(TEXTS, min_size=1, max_size=5)


@given(TEXTS)
def test_cuts_follow_upon_each_other_from_the_first_character_to_the_last(text: str) -> None:
    """So the text is the sum of its passages."""
    found = list(cuts(text))
    assert "".join(text[start:end] for start, end in found) == text
    assert all(0 < end - start <= MOST_CHARS for start, end in found)


@given(PAGES)
def test_every_passage_stands_where_it_says(pages: list[str]) -> None:
    """`start` and `end` count in the whole text, and the page is the one that it stands on."""
    whole, found = whole_text(pages), list(passages(pages, paged=True))
    for each in found:
        assert whole[each.start : each.end] == each.text
        assert each.text in pages[(each.page or 0) - 1]
    assert [each.start for each in found] == sorted({each.start for each in found})


@given(PAGES)
def test_only_white_space_is_in_no_passage(pages: list[str]) -> None:
    """What could be searched for is in exactly one."""
    found = "".join(each.text for each in passages(pages, paged=False))
    assert "".join(found.split()) == "".join(whole_text(pages).split())


def test_a_cut_falls_behind_a_paragraph_then_a_sentence_then_a_word() -> None:
    """Whichever comes first in that order, near the usual size."""
    sentence = "The bell was cast in bronze and rang. "
    paragraphs = (sentence * 25 + "\n\n") * 3
    assert all(paragraphs[:end].endswith("\n\n") for _, end in cuts(paragraphs))
    assert all((sentence * 100)[:end].endswith(". ") for _, end in cuts(sentence * 100))
    assert all(("bronze " * 900)[:end].endswith(" ") for _, end in cuts("bronze " * 900))


def test_a_text_without_any_place_to_pause_is_cut_all_the_same() -> None:
    """As base64 is."""
    assert [end - start for start, end in cuts("a" * 3_200)] == [1_000, 1_000, 1_200]


def test_an_unspaced_script_is_cut_behind_its_full_stops() -> None:
    """Which no blank follows."""
    text = "東京都の鐘は大きい。" * 400
    assert all(text[:end].endswith("。") for _, end in cuts(text))


def test_a_short_text_is_one_passage_without_a_page() -> None:
    """And an empty one none."""
    (only,) = passages(["A bell."], paged=False)
    assert (only.start, only.end, only.text, only.page) == (0, 7, "A bell.", None)
    assert list(passages(["", " \n"], paged=True)) == []
