"""Quotes: what stands verbatim in a body is found where it stands, and nothing else is."""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from zarniwoop.contract.evidence import Quote
from zarniwoop.evidence.folding import Folded, folded
from zarniwoop.evidence.quotes import ClosestPassage, QuotedBody, find_quotes

BODY = """# The last foundry

A bell of four tonnes is cast in a pit of loam,  tuned on the lathe — “slowly”, as Bo’s father said — and hung
in its frame. It rings at 440 Hz; 10⁶ strokes a year are no rarity… The ﬁrst was cast in Köln.

鐘は、ゆっくりと鳴る。「いい音だ」と彼は言った。
"""
LETTERS = st.sampled_from("abcdefgh ij\n“”’—-'éüñ\u00ad\u3000鐘音ｶﾞﬁ²x̂…\t\u00a0Ω")
BODIES = st.text(LETTERS, min_size=1, max_size=200).map(lambda text: unicodedata.normalize("NFC", text))


def only(wanted: str, body: str = BODY) -> Quote:
    (quote,) = find_quotes(body, [wanted])
    assert body[quote.start : quote.end] == quote.text
    return quote


@pytest.mark.parametrize(
    ("wanted", "stands"),
    [
        ("cast in a pit of loam", "cast in a pit of loam"),
        ("pit of loam, tuned on the lathe", "pit of loam,  tuned on the lathe"),
        ('the lathe - "slowly", as Bo\'s father said', "the lathe — “slowly”, as Bo’s father said"),
        ("and hung in its frame", "and hung\nin its frame"),
        ("  rings at 440\u00a0Hz  ", "rings at 440 Hz"),
        ("no rarity... The first", "no rarity… The ﬁrst"),
        ("four ton\u00adnes", "four tonnes"),
        ("was cast in Ko\u0308ln", "was cast in Köln"),
        ("鐘は､ゆっくりと鳴る", "鐘は、ゆっくりと鳴る"),
        ("\ufeff10⁶ strokes", "10⁶ strokes"),
    ],
)
def test_a_quote_is_found_however_it_is_typeset_and_kept_as_it_stands(wanted: str, stands: str) -> None:
    """White space, dashes, quotation marks, ligatures, widths and the way an accent is written."""
    assert only(wanted).text == stands


@pytest.mark.parametrize(
    "wanted",
    [
        "cast in a pit of loams",
        "Cast in a pit of loam",
        "440Hz",
        "106 strokes",
        "10 6 strokes",
        "was cast in Koln",
        "was cast in Kö1n",
        "pit of, loam",
        "pitof loam",
        "“slowly”, as Bos father said",
        "",
        " \n\u200b",
    ],
)
def test_what_says_something_else_is_refused(wanted: str) -> None:
    """A letter, its case, its accent, a superscript, a comma, a space."""
    assert find_quotes(BODY, [wanted]) == ()


def test_an_accent_is_not_cut_off_at_the_end_of_a_quote() -> None:
    """`cafe` is no part of `café`, however the accent is written in the body."""
    assert find_quotes("in the café.", ["the  cafe"]) == ()
    assert only("the  café", "in the café.").text == "the café"


def test_accents_are_one_in_whatever_order_they_come() -> None:
    """Above before below, or below before above."""
    assert only("a  la\u0308\u0323 b", "a l\u1ea1\u0308 b").text == "a l\u1ea1\u0308 b"


def test_offsets_lead_to_the_quote_behind_anything() -> None:
    """Characters that fold to none, to one and to several stand in front of it."""
    body = "a\u00adb  ﬃ … ½ 🎐 ｶﾞ\u3000" + "the end"
    assert only("the   end", body) == Quote(text="the end", start=body.index("the end"), end=len(body))


def test_a_quote_that_does_not_stand_is_left_out_and_one_asked_for_twice_is_one() -> None:
    """The others are as the body has them."""
    assert [quote.text for quote in find_quotes(BODY, ["four tonnes", "five tonnes of lead", "four  tonnes"])] == [
        "four tonnes"
    ]


def closest(wanted: str) -> ClosestPassage | None:
    return QuotedBody(BODY).closest(wanted)


def test_a_near_miss_is_told_with_the_passage_that_comes_closest() -> None:
    """Grown to whole words; nothing, where nothing is alike."""
    near = closest("tuned on a lathe - slowly, as Bo's mother said")
    assert near is not None
    assert "tuned on the lathe — “slowly”, as Bo’s father said" in near.text
    assert BODY[near.start : near.end] == near.text
    assert near.alike >= 0.5
    assert closest("Zarquon's prophets are very late") is None


def test_a_passage_that_comes_closest_is_found_in_a_script_without_spaces() -> None:
    """By trigrams, not by words."""
    found = closest("鐘は、ゆっくりと鳴った。「いい音だ」")
    assert found is not None
    assert "鐘は、ゆっくりと鳴る" in found.text


def test_a_quote_is_found_where_it_stood_before_elsewhere() -> None:
    """For a text that stands in several places."""
    body = "ring the bell. ring  the bell. ring the bell."
    last = body.rindex("ring")
    assert QuotedBody(body).find("ring the bell", near=last) == Quote(text="ring the bell", start=last, end=last + 13)
    middle = QuotedBody(body).find("ring the bell", near=15)
    assert middle is not None
    assert (middle.start, middle.text) == (15, "ring  the bell")
    moved = QuotedBody(body).find("ring the bell", near=3)
    assert moved is not None
    assert moved.start == 0


@given(BODIES, st.data())
def test_any_slice_of_a_body_is_found_again(body: str, data: st.DataObject) -> None:
    """Unless nobody would see anything of it; what is kept is the body's own text."""
    start = data.draw(st.integers(0, len(body) - 1))
    end = data.draw(st.integers(start + 1, len(body)))
    wanted = body[start:end]
    assume(any(mark.isalpha() for mark in wanted))
    quote = only(wanted, body)
    assert quote.text == wanted


@given(BODIES, st.data())
@example("x \u00ad y", None)
def test_any_passage_is_found_again_when_it_is_typeset_anew(body: str, data: st.DataObject | None) -> None:
    """Wider spaces, other dashes and marks, soft hyphens, decomposed letters: it folds to the same."""
    words = body.split()
    assume(words)
    first = data.draw(st.integers(0, len(words) - 1)) if data else 0
    count = data.draw(st.integers(1, len(words) - first)) if data else len(words)
    wanted = " \n".join("\u00ad".join(word) for word in words[first : first + count])
    wanted = wanted.replace("—", "-").replace("“", '"').replace("’", "'")
    assume(any(mark.isalpha() for mark in wanted))
    wanted = unicodedata.normalize("NFD", wanted)
    assume(folded(unicodedata.normalize("NFC", wanted)).strip() in folded(body))
    quote = only(wanted, body)
    assert folded(quote.text).strip() == folded(unicodedata.normalize("NFC", wanted)).strip()


@given(BODIES, st.data())
def test_any_changed_letter_is_noticed(body: str, data: st.DataObject) -> None:
    """One letter of a passage becomes another: either that, too, stands somewhere, or it is refused."""
    start = data.draw(st.integers(0, len(body) - 1))
    end = data.draw(st.integers(start + 1, len(body)))
    at = data.draw(st.integers(start, end - 1))
    assume(body[at].isalpha())
    letter = data.draw(st.sampled_from("QZwö愛"))
    wanted = body[start:at] + letter + body[at + 1 : end]
    assert letter not in body
    assert find_quotes(body, [wanted]) == ()


@given(BODIES)
def test_every_stretch_of_the_folded_text_leads_back_to_what_folds_to_it(body: str) -> None:
    """Where it has a beginning and an end in the body at all."""
    text = Folded(body)
    for start in range(0, len(text.text), 3):
        for end in range(start + 1, min(len(text.text), start + 6) + 1):
            place = text.place(start, end)
            if place is not None:
                assert folded(body[place[0] : place[1]]) == text.text[start:end]


def test_a_passage_that_is_too_long_is_no_quote() -> None:
    """Nor one that is only long where it stands, since that is what would be kept."""
    body = "ring" + " " * 2_000 + "the bell " + "x" * 1_500
    for wanted in ("ring the bell", "x" * 1_001):
        assert find_quotes(body, [wanted]) == ()
    assert len(only("x" * 1_000, body).text) == 1_000


def test_a_long_body_is_folded_once_however_many_quotes_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million characters, fifty quotes."""
    body = ("a bell of “four” tonnes " * 42_000)[:1_000_000]
    made: list[int] = []
    init = Folded.__init__

    def counted(self: Folded, text: str) -> None:
        made.append(len(text))
        init(self, text)

    monkeypatch.setattr(Folded, "__init__", counted)
    find_quotes(body, ['of "four" tonnes a bell'] * 50)
    assert [size for size in made if size > 1_000] == [len(body)]
