"""Evidence looked at again: every planted change is found, and none that is not there."""

from dataclasses import replace

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.evidence import DEMO, TEXT, FakePages, hit, page, read
from tests.fakes.evidence_store import InMemoryEvidenceStore
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.evidence import Evidence, SourceType
from zarniwoop.contract.page import FetcherFault, FetcherUnavailable, PageAnswer, PageOutcome, PageQuestion
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.evidence.verify import QuoteVerdict, Verdict, Verification, Verifier

URL = "https://example.com/bells"
WALLS = sorted(set(PageOutcome) - {PageOutcome.OK, PageOutcome.NOT_FOUND, PageOutcome.SOFT_404})


class Bench:
    """A ledger, a web, and a verifier between them."""

    def __init__(self) -> None:
        self.clock = FakeClock(1_796_000_000.0)
        self.ledger = EvidenceLedger(store=InMemoryEvidenceStore(self.clock), clock=self.clock)
        self.pages = FakePages()
        self.verifier = Verifier(self.pages, self.clock)

    def keep(self, url: str = URL, text: str = TEXT, *quotes: str) -> Evidence:
        return self.ledger.keep_page(DEMO, read(url, page(text)), quotes=quotes)

    def verify(self, evidence: Evidence) -> Verification:
        body = self.ledger.body(DEMO, evidence)
        assert body is not None
        return self.verifier.verify(evidence, body, Deadline.after(20.0, self.clock))

    def now(self, text: str, url: str = URL, **more: object) -> None:
        self.pages.answers[url] = read(url, page(text, **more))


def text_of(number: int) -> str:
    """A page of its own, of eight paragraphs."""
    lines = [f"Paragraph {line} of page {number} tells of bell {number * 31 + line}." for line in range(8)]
    return f"# Page {number}\n\n" + "\n\n".join(lines) + "\n"


def quotes_of(number: int) -> tuple[str, str]:
    return f"of page {number} tells of bell {number * 31 + 2}", f"of page {number} tells of bell {number * 31 + 6}"


def plant(number: int, text: str) -> tuple[PageAnswer, Verdict, tuple[QuoteVerdict, QuoteVerdict]]:
    """What is done to a page, and what is to be found: by its number, every kind ten times."""
    url, first, second = f"https://site{number}.example/", *quotes_of(number)
    stands, moved, gone, unknown = QuoteVerdict
    kinds: list[tuple[PageAnswer, Verdict, tuple[QuoteVerdict, QuoteVerdict]]] = [
        (read(url, page(text)), Verdict.UNCHANGED, (stands, stands)),
        (read(url, page(text.replace("\n\n", "\r\n\r\n"))), Verdict.UNCHANGED, (stands, stands)),
        (read(url, page(text), etag='"other"', media_type="text/plain"), Verdict.UNCHANGED, (stands, stands)),
        (read(url, page("A new first line.\n\n" + text)), Verdict.DRIFTED, (moved, moved)),
        (read(url, page(text + "\nA new last line.\n")), Verdict.DRIFTED, (stands, stands)),
        (read(url, page(text.replace("Paragraph 4", "Paragraph four"))), Verdict.DRIFTED, (stands, moved)),
        (read(url, page(text.replace("Paragraph 0", "Paragraph O"))), Verdict.DRIFTED, (stands, stands)),
        (read(url, page(text.replace(first, first.replace("tells", "told")))), Verdict.DRIFTED, (gone, moved)),
        (read(url, page(text.replace(second, second + "0"))), Verdict.DRIFTED, (stands, stands)),
        (read(url, page(text.replace(second, second[:-1]))), Verdict.DRIFTED, (stands, gone)),
        (read(url, page("\n\n".join(reversed(text.split("\n\n"))))), Verdict.DRIFTED, (moved, moved)),
        (read(url, page(text.upper())), Verdict.DRIFTED, (gone, gone)),
        (read(url, page("Something else altogether.")), Verdict.DRIFTED, (gone, gone)),
        (read(url, outcome=PageOutcome.NOT_FOUND, page=None, status=404), Verdict.GONE, (gone, gone)),
        (read(url, outcome=PageOutcome.SOFT_404, page=None), Verdict.GONE, (gone, gone)),
        (read(url, outcome=PageOutcome.BLOCKED, page=None, status=403), Verdict.UNKNOWN, (unknown, unknown)),
        (read(url, outcome=PageOutcome.LOGIN_REQUIRED, page=None), Verdict.UNKNOWN, (unknown, unknown)),
        (read(url, outcome=PageOutcome.CONSENT_REQUIRED, page=None), Verdict.UNKNOWN, (unknown, unknown)),
        (read(url, outcome=PageOutcome.RATE_LIMITED, page=None, status=429), Verdict.UNKNOWN, (unknown, unknown)),
        (read(url, outcome=PageOutcome.UNAVAILABLE, page=None, status=503), Verdict.UNKNOWN, (unknown, unknown)),
    ]
    return kinds[number % len(kinds)]


def test_every_planted_change_of_two_hundred_pages_is_found_and_no_other() -> None:
    """Ten times each: nothing, what is no change, edits of every kind, pages that are gone, walls."""
    bench, wrong = Bench(), []
    for number in range(200):
        url, text = f"https://site{number}.example/", text_of(number)
        kept = bench.keep(url, text, *quotes_of(number))
        answer, verdict, quotes = plant(number, text)
        bench.pages.answers[url] = answer
        found = bench.verify(kept)
        told = (found.verdict, tuple(each.verdict for each in found.quotes))
        if told != (verdict, quotes):
            wrong.append((number % 20, told, (verdict, quotes)))
    assert wrong == []


@pytest.mark.parametrize(
    "same",
    [
        TEXT.replace("— “slowly”", '- "slowly"'),
        TEXT.replace(" ", "  "),
        TEXT.replace("tonnes", "ton\u00adnes"),
        TEXT.strip(),
        "\ufeff" + TEXT,
    ],
)
def test_another_way_to_typeset_it_is_no_change(same: str) -> None:
    """What folds to the same says the same; the quote stands, though some characters further on."""
    bench = Bench()
    kept = bench.keep(URL, TEXT, "A bell of four tonnes")
    bench.now(same)
    found = bench.verify(kept)
    assert (found.verdict, found.alike) == (Verdict.UNCHANGED, 1.0)
    assert found.quotes[0].verdict in (QuoteVerdict.STANDS, QuoteVerdict.MOVED)


def test_a_moved_quote_is_told_with_its_new_place() -> None:
    """Offsets into the text as it is now."""
    bench = Bench()
    kept = bench.keep(URL, TEXT, "the lathe")
    bench.now("New.\n\n" + TEXT)
    (quote,) = bench.verify(kept).quotes
    assert (quote.start, quote.now_start, quote.now_end) == (TEXT.index("the lathe"), quote.start + 6, quote.end + 6)


def test_how_much_of_a_text_still_stands_is_told() -> None:
    """By its lines, wherever they are now."""
    bench = Bench()
    kept = bench.keep()
    bench.now(TEXT.replace("four", "five"))
    assert bench.verify(kept).alike == pytest.approx(0.67)


@pytest.mark.parametrize("outcome", WALLS)
def test_no_wall_is_taken_for_the_end_of_a_page(outcome: PageOutcome) -> None:
    """Whatever it is: it says nothing of what is behind it."""
    bench = Bench()
    kept = bench.keep(URL, TEXT, "the lathe")
    bench.pages.answers[URL] = read(outcome=outcome, page=None, reason="some_reason")
    found = bench.verify(kept)
    assert (found.verdict, found.outcome, found.reason) == (Verdict.UNKNOWN, outcome, "some_reason")
    assert [quote.verdict for quote in found.quotes] == [QuoteVerdict.UNKNOWN]


def test_the_whole_page_is_asked_for() -> None:
    """Not conditionally: a server that answers 304 to what has changed would hide it."""
    bench = Bench()
    kept = bench.ledger.keep_page(DEMO, read(etag='"1"', last_modified="Mon, 30 Nov 2026 12:00:00 GMT"))
    bench.now(TEXT)
    bench.verify(kept)
    assert bench.pages.asked == [PageQuestion(url=URL, seconds=20.0)]


def test_what_was_cut_is_not_missed() -> None:
    """A text that goes on as before up to its end tells nothing of the rest, nor does a quote behind it."""
    bench = Bench()
    kept = bench.keep(URL, TEXT, "the lathe", "four tonnes")
    bench.now(TEXT[: TEXT.index("the lathe")], truncated=True)
    found = bench.verify(kept)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, "cut")
    assert [quote.verdict for quote in found.quotes] == [QuoteVerdict.STANDS, QuoteVerdict.UNKNOWN]


def test_a_text_that_was_cut_then_is_not_called_drifted_for_going_on() -> None:
    """The whole of it may be there now; what was read still stands."""
    bench = Bench()
    kept = bench.ledger.keep_page(DEMO, read(URL, page(TEXT, truncated=True)), quotes=["the lathe"])
    bench.now(TEXT + "And so on.")
    found = bench.verify(kept)
    assert (found.verdict, found.reason, found.quotes[0].verdict) == (Verdict.UNKNOWN, "cut", QuoteVerdict.STANDS)


def test_a_quote_that_stands_in_front_of_its_place_too_has_not_moved() -> None:
    """Where it stood is looked at first."""
    bench = Bench()
    kept = bench.keep(URL, TEXT, "the lathe", 'lathe  - "slowly"')
    bench.now(TEXT.replace("A bell of", "the lathe").replace("is cast in a pit of", "lathe — “slowly” of"))
    assert [quote.verdict for quote in bench.verify(kept).quotes] == [QuoteVerdict.STANDS, QuoteVerdict.STANDS]


@pytest.mark.parametrize("source_type", [SourceType.SEARCH_HIT, SourceType.HOSTED])
def test_what_another_reader_read_is_not_called_drifted(source_type: SourceType) -> None:
    """Its quotes are found where they stand, and not missed where they do not; a page that is gone is gone."""
    bench = Bench()
    kept = replace(bench.keep(URL, TEXT, "the lathe", "four tonnes"), source_type=source_type)
    bench.now("Menu\n\n" + TEXT.replace("the lathe", "a lathe"))
    found = bench.verify(kept)
    assert (found.verdict, found.reason, found.alike) == (Verdict.UNKNOWN, "read_by_another_reader", None)
    assert [quote.verdict for quote in found.quotes] == [QuoteVerdict.MOVED, QuoteVerdict.UNKNOWN]
    del bench.pages.answers[URL]
    assert bench.verify(kept).verdict is Verdict.GONE


def test_what_the_archive_had_is_looked_for_in_the_archive() -> None:
    """The page itself is gone: that is why the archive was asked. Its snapshot was read by our own reader."""
    bench, snapshot = Bench(), "https://web.archive.org/web/20240102030405id_/https://example.com/bells"
    answer = replace(read(URL, page(TEXT)), final_url=snapshot)
    kept = bench.ledger.keep_page(DEMO, answer, quotes=["the lathe"], source_type=SourceType.ARCHIVE)
    bench.now(TEXT, snapshot)
    found = bench.verify(kept)
    assert (found.verdict, found.final_url) == (Verdict.UNCHANGED, snapshot)
    assert [question.url for question in bench.pages.asked] == [snapshot]
    bench.now("Something else.", snapshot)
    assert bench.verify(kept).verdict is Verdict.DRIFTED
    del bench.pages.answers[snapshot]
    assert bench.verify(kept).verdict is Verdict.GONE


@pytest.mark.parametrize("source_type", [SourceType.SEARCH_HIT, SourceType.HOSTED])
def test_what_a_provider_could_read_is_not_gone_for_looking_so_to_us(source_type: SourceType) -> None:
    """Our reader takes the page for a soft 404, where another one stood; a status says more."""
    bench = Bench()
    kept = replace(bench.keep(URL, TEXT, "the lathe"), source_type=source_type)
    bench.pages.answers[URL] = read(outcome=PageOutcome.SOFT_404, page=None, reason="says_so")
    found = bench.verify(kept)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, "read_by_another_reader")
    assert found.quotes[0].verdict is QuoteVerdict.UNKNOWN
    bench.pages.answers[URL] = read(outcome=PageOutcome.NOT_FOUND, page=None, status=404)
    assert bench.verify(kept).verdict is Verdict.GONE


@pytest.mark.parametrize(("then", "now"), [(True, False), (False, True), (True, True)])
def test_a_slow_machine_changes_no_page(then: bool, now: bool) -> None:
    """What was read with a step too few, on either side, is neither drifted nor are its quotes gone."""
    bench = Bench()
    kept = bench.ledger.keep_page(DEMO, read(URL, page(TEXT), degraded=then), quotes=["the lathe", "four tonnes"])
    assert kept.degraded is then
    bench.pages.answers[URL] = read(URL, page(TEXT.replace("the lathe", "a lathe")), degraded=now)
    found = bench.verify(kept)
    assert (found.verdict, found.reason, found.alike) == (Verdict.UNKNOWN, "degraded", None)
    assert [quote.verdict for quote in found.quotes] == [QuoteVerdict.STANDS, QuoteVerdict.UNKNOWN]


def test_the_same_text_is_unchanged_however_it_was_read() -> None:
    """A step too few may hide a change, and makes none up."""
    bench = Bench()
    kept = bench.keep(URL, TEXT, "the lathe")
    bench.pages.answers[URL] = read(URL, page(TEXT), degraded=True)
    found = bench.verify(kept)
    assert (found.verdict, found.reason, found.alike) == (Verdict.UNCHANGED, None, 1.0)


def test_a_page_that_looks_gone_to_half_a_reader_is_not_called_gone() -> None:
    bench = Bench()
    kept = bench.keep(URL, TEXT, "the lathe")
    bench.pages.answers[URL] = read(outcome=PageOutcome.SOFT_404, page=None, degraded=True)
    found = bench.verify(kept)
    assert (found.verdict, found.reason, found.quotes[0].verdict) == (
        Verdict.UNKNOWN,
        "degraded",
        QuoteVerdict.UNKNOWN,
    )


def test_an_excerpt_that_a_provider_made_can_be_looked_at_again() -> None:
    """It is no page, and its page may be gone."""
    bench = Bench()
    kept = bench.ledger.keep_hit(DEMO, hit(), instance_id="serper-main")
    assert kept is not None
    bench.now(TEXT)
    found = bench.verify(kept)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, "read_by_another_reader")


def test_a_fetcher_that_cannot_be_asked_says_nothing_of_the_page() -> None:
    """It is raised, not taken for an answer."""
    bench = Bench()
    kept = bench.keep()
    bench.pages.answers[URL] = FetcherUnavailable(FetcherFault.THROTTLED)
    with pytest.raises(FetcherUnavailable):
        bench.verify(kept)
