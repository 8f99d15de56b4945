"""Normal forms of strangers' text: no work without a bound, and nothing of any language lost."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.clock import FakeClock
from tests.fakes.evidence import DEMO, page, read
from tests.fakes.evidence_store import InMemoryEvidenceStore
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.dispatch.kept.form import normalised
from zarniwoop.documents.words import searchable, terms_of
from zarniwoop.evidence.ledger import EvidenceLedger, stored_text
from zarniwoop.evidence.quotes import QuotedBody
from zarniwoop.extract.page import extract_page
from zarniwoop.extract.tidy import tidied
from zarniwoop.pages.hosted import read_hosted
from zarniwoop.text.bm25 import words
from zarniwoop.text.normal_form import MOST_MARKS, normal_form, stream_safe

ENDLESS = "A bell" + "\u0301" * 2_000 + "\u0316" * 2_000 + " of four tonnes is cast in a pit of loam."
SHORT = "A bell" + "\u0301" * 30
MARKS = st.sampled_from("aé\u0301\u0316\u0344\u0f73\u0f71\uff9e\u3099\u034f\u200b-\u1100\u1161ﬁ\ufb1f")
TEXTS = st.lists(st.tuples(MARKS, st.integers(1, 40))).map(lambda runs: "".join(mark * times for mark, times in runs))


def longest_run(text: str) -> int:
    """Of characters that are sorted."""
    longest = run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        longest = max(longest, run)
    return longest


@pytest.fixture
def sorted_at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many marks in a row each call had to sort."""
    runs: list[int] = []
    known = unicodedata.normalize

    def counted(form: str, text: str) -> str:
        runs.append(longest_run(text))
        return known(form, text)  # type: ignore[arg-type]

    monkeypatch.setattr(unicodedata, "normalize", counted)
    return runs


def hosted(text: str) -> str:
    found = read_hosted(
        LoadedContent(body=text.encode(), media_type="text/markdown", source_url="https://example.com/"), "firecrawl"
    )
    return found.page.markdown if found.page else ""


@pytest.mark.parametrize(
    "reads",
    [
        hosted,
        stored_text,
        tidied,
        words,
        searchable,
        terms_of,
        normalised,
        lambda text: QuotedBody(text).find(text + "."),
        lambda text: QuotedBody("A bell of four tonnes").closest(text),
        lambda text: extract_page(text.encode(), url="https://example.com/", media_type="text/plain"),
    ],
)
def test_no_text_of_a_stranger_makes_normalising_long(
    reads: Callable[[str], object], sorted_at_once: list[int]
) -> None:
    """CPython's sort of marks is quadratic in a run of them, so no long run reaches it."""
    reads(ENDLESS)
    assert sorted_at_once
    assert max(sorted_at_once) <= MOST_MARKS


def test_a_hosted_text_is_cut_before_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """And said to be."""
    monkeypatch.setattr("zarniwoop.extract.limits.MOST_MARKDOWN", 1_000)
    text = "A bell of four tonnes is cast in a pit of loam.\n\n" * 100
    found = read_hosted(
        LoadedContent(body=text.encode(), media_type="text/markdown", source_url="https://example.com/"), "firecrawl"
    ).page
    assert found is not None
    assert found.truncated
    assert len(found.markdown) <= 1_000


def test_quotes_behind_endless_marks_stand_where_they_are_said_to() -> None:
    """Offsets count in the stored body, which has 30 of them."""
    ledger = EvidenceLedger(store=InMemoryEvidenceStore(FakeClock(0.0)), clock=FakeClock(0.0))
    kept = ledger.keep_page(DEMO, read(found=page(ENDLESS)), quotes=["four tonnes", ENDLESS])
    body = ledger.body(DEMO, kept)
    assert body is not None
    assert len(body) < 100
    assert {body[each.start : each.end] for each in kept.quotes} == {"four tonnes", body}


@given(TEXTS, st.sampled_from(["NFC", "NFKC", "NFKD"]))
def test_twice_changes_nothing_and_no_run_is_long(text: str, form: str) -> None:
    """In whatever a character comes apart into."""
    once = normal_form(form, text)  # type: ignore[arg-type]
    assert normal_form(form, once) == once  # type: ignore[arg-type]
    assert longest_run(once) <= MOST_MARKS
    assert longest_run(unicodedata.normalize("NFKD", stream_safe(text))) <= 2 * MOST_MARKS + 3


@pytest.mark.parametrize("text", ["Größe", "Ko\u0308ln", "नमस्ते", "שָׁלוֹם", "Ệ̃", "ｶﾞｷﾞ", "—" * 100, SHORT, "בְּ" * 50])
def test_what_people_write_is_normalised_and_whole(text: str) -> None:
    """No script has 30 marks on a letter; a line of dashes has none."""
    for form in ("NFC", "NFKC", "NFKD"):
        assert normal_form(form, text) == unicodedata.normalize(form, text)


def test_every_mark_of_unicode_is_known_as_one() -> None:
    """By itself, or by what it comes apart into."""
    for number in (*range(0x300, 0xD800), *range(0xE000, 0x1F000)):
        character = chr(number)
        if unicodedata.combining(unicodedata.normalize("NFKD", character)[0]):
            assert stream_safe(character * 40) == character * MOST_MARKS, hex(number)
