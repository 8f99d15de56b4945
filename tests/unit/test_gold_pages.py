"""Pages of all kinds with known answers: each ends as it should, and says what it says and nothing from around it."""

import pytest

from tests.benchmarks import extraction
from tests.benchmarks.extraction import quality, read
from tests.benchmarks.gold import ANY, FOLDER, GoldPage, gold_pages
from zarniwoop.contract.page import PageOutcome

PAGES = {page.name: page for page in gold_pages()}
GOOD = {name: page for name, page in PAGES.items() if page.is_good}
WALLS = {name: page for name, page in PAGES.items() if not page.is_good}


def test_there_are_pages_of_at_least_forty_kinds_and_no_file_without_its_truth() -> None:
    """Small enough to be read: all of them together."""
    assert len({page.kind for page in PAGES.values()}) >= 40
    assert {path.stem for path in FOLDER.iterdir()} == set(PAGES)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 400_000


@pytest.mark.parametrize("name", WALLS)
def test_what_is_no_page_is_told_from_one(name: str) -> None:
    """By the outcome that its truth names, and the reason where it names one."""
    page = WALLS[name]
    found = read(page)
    assert found.outcome is page.outcome
    assert page.reason in (None, found.reason)


@pytest.mark.parametrize("name", GOOD)
def test_a_page_is_one_and_says_all_that_it_has_to_say_and_nothing_else(name: str) -> None:
    """Sentence by sentence, in the Markdown that is stored and quoted."""
    found = read(GOOD[name])
    assert (found.outcome, found.page is not None) == (PageOutcome.OK, True)
    assert found.page
    assert [sentence for sentence in GOOD[name].has if sentence not in found.page.markdown] == []
    assert [sentence for sentence in GOOD[name].lacks if sentence in found.page.markdown] == []
    assert found.page.truncated is GOOD[name].truncated


@pytest.mark.parametrize("name", GOOD)
def test_what_a_page_says_of_itself_is_read(name: str) -> None:
    """Title, byline, day, language and canonical URL; none of them where the page states none."""
    truth, page = GOOD[name], read(GOOD[name]).page
    assert page
    assert page.title in (truth.title, *truth.title_any)
    assert page.canonical_url == truth.canonical
    published = page.published_at.value if page.published_at else None
    for stated, found in (
        (truth.byline, page.byline),
        (truth.published, published),
        (truth.language, page.language),
    ):
        assert stated in (ANY, found)


@pytest.mark.parametrize(
    ("found", "gold", "expected"),
    [
        ("one two three four five", "one two three four five", (1.0, 1.0, 1.0)),
        ("one two three four", "one two three four five", (1.0, 0.5, 2 / 3)),
        ("two", "two", (1.0, 1.0, 1.0)),
        ("", "one two three four", (0.0, 0.0, 0.0)),
        ("渡し船の時刻", "渡し船の時刻表", (1.0, 0.75, 6 / 7)),
    ],
)
def test_a_text_is_measured_by_four_words_in_a_row(found: str, gold: str, expected: tuple[float, float, float]) -> None:
    """Of what is not spaced, by four characters."""
    assert quality(found, gold) == pytest.approx(expected)


def test_the_chain_finds_more_of_the_text_and_less_beside_it_than_either_extractor_alone() -> None:
    """Over all pages that both can read, and no outcome is wrong."""
    found = extraction.main()
    assert found["wrong_outcomes"] == 0
    assert found["chain_f1"] > max(found["trafilatura_f1"], found["readability_f1"])
    readers = extraction.table(found)["readers"]
    assert isinstance(readers, dict)
    assert set(readers) == set(extraction.READERS)


def test_the_marks_of_the_gold_text_are_given_to_nobody() -> None:
    """A comment in a page is counted as something hidden."""
    page: GoldPage = PAGES["article"]
    assert b"gold-->" not in page.body
    assert "The harbour board has asked for a report" in page.text
    assert "Waterproof boots" not in page.text
