"""The chain of one URL where AWS is not the point: what is gone on with, what is given up, whose fault ends what."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import orjson
import pytest

from tests.fakes.addresses import FakeAddresses
from tests.fakes.clock import FakeClock
from tests.fakes.evidence_store import InMemoryEvidenceStore
from tests.fakes.research import Research
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.contract.page import (
    ExtractedPage,
    FetcherFault,
    FetcherUnavailable,
    PageAnswer,
    PageOutcome,
    PageQuestion,
    PageStep,
)
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.evidence.quotes import ClosestPassage, QuotedBody
from zarniwoop.pages import archive
from zarniwoop.pages.chain import PageChain, Reading
from zarniwoop.pages.hosted import read_hosted
from zarniwoop.pages.keeping import Keeper
from zarniwoop.pages.service import SideBySide
from zarniwoop.pages.site_turns import SiteTurns, site_of
from zarniwoop.settings.fetching import FetchSettings
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey

URL = "https://example.org/bells"
TEXT = "A bell of four tonnes was cast in the yard, and it rang for three hundred years without a pause."
PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
Told = PageAnswer | FetcherUnavailable


def told(outcome: PageOutcome = PageOutcome.OK, reason: str | None = None, **changes: Any) -> PageAnswer:
    return PageAnswer(
        outcome=outcome,
        reason=reason,
        url=URL,
        final_url=URL,
        hops=(URL,),
        page=ExtractedPage(markdown=TEXT, extractor="trafilatura") if outcome is PageOutcome.OK else None,
        steps=(PageStep(name="fetch", outcome=outcome, reason=reason, milliseconds=7),),
        **changes,
    )


class ScriptedFetcher:
    """`PageFetcher` that answers in order, and remembers what it was asked."""

    def __init__(self, *script: Told, takes: Callable[[], None] = lambda: None) -> None:
        self._script = list(script)
        self._takes = takes
        self.asked: list[PageQuestion] = []

    def fetch(self, question: PageQuestion, *, deadline: Deadline) -> PageAnswer:
        assert deadline.remaining() <= question.seconds + 0.2
        self.asked.append(question)
        self._takes()
        answer = self._script.pop(0)
        if isinstance(answer, FetcherUnavailable):
            raise answer
        return answer


def chain(
    fetcher: ScriptedFetcher,
    clock: FakeClock,
    *,
    seconds: float = 20.0,
    addresses: FakeAddresses | None = None,
    store: InMemoryEvidenceStore | None = None,
    **rules: Any,
) -> PageChain:
    research = Research(scripts={}, clock=clock)
    ledger = EvidenceLedger(store=store or InMemoryEvidenceStore(clock), clock=clock)
    return PageChain(
        fetcher=fetcher,
        turns=SiteTurns(research.dispatcher.fleet),
        ledger=lambda: ledger,
        addresses=addresses or FakeAddresses(),
        project=PROJECT,
        deadline=Deadline.after(seconds, clock),
        rules=FetchSettings(**rules),
        load=lambda _body: pytest.fail("nobody is to be asked"),
    )


def steps(reading: Reading) -> list[tuple[str, str, str | None]]:
    return [(step.name, step.outcome.value, step.reason) for step in reading.answer.steps]


@pytest.mark.parametrize("fault", FetcherFault)
def test_a_fetcher_that_cannot_be_asked_ends_the_chain(fault: FetcherFault) -> None:
    """Whether the page may be read is not known, so the archive is not asked for it."""
    fetcher = ScriptedFetcher(FetcherUnavailable(fault))
    reading = chain(fetcher, FakeClock(), archive=True).read(URL)
    late = fault is FetcherFault.OUT_OF_TIME
    assert reading.answer.outcome is (PageOutcome.OUT_OF_TIME if late else PageOutcome.UNAVAILABLE)
    assert steps(reading) == [("fetch", reading.answer.outcome.value, fault.value)]


@pytest.mark.parametrize(
    "reason", ["robots_unreachable", "robots_out_of_time", "internal", "too_many_redirects", "too_little_time"]
)
def test_a_page_whose_rules_nobody_knows_is_named_to_nobody_else(reason: str) -> None:
    """A fault of ours may have come before robots.txt was read."""
    fetcher = ScriptedFetcher(told(PageOutcome.UNAVAILABLE, reason))
    reading = chain(fetcher, FakeClock(), archive=True).read(URL)
    assert steps(reading) == [("fetch", "unavailable", reason)]


@pytest.mark.parametrize("outcome", PageOutcome)
def test_the_archive_is_asked_only_where_it_helps_and_may_be(outcome: PageOutcome) -> None:
    """Never for what was refused, forbidden, no text or too much of it."""
    fetcher = ScriptedFetcher(told(outcome), told(PageOutcome.UNAVAILABLE, "connect"))
    chain(fetcher, FakeClock(), archive=True).read(URL)
    helped = len(fetcher.asked) == 2
    never = {
        PageOutcome.OK,
        PageOutcome.ADDRESS_REFUSED,
        PageOutcome.ROBOTS_DISALLOWED,
        PageOutcome.UNSUPPORTED,
        PageOutcome.TOO_LARGE,
        PageOutcome.NOT_MODIFIED,
    }
    assert helped is (outcome not in never)


def test_what_is_not_public_is_not_named_to_the_archive() -> None:
    """The step says so, and the page's own outcome stays."""
    fetcher = ScriptedFetcher(told(PageOutcome.NOT_FOUND, "status_404"))
    reading = chain(fetcher, FakeClock(), archive=True, addresses=FakeAddresses(Cause.ADDRESS)).read(URL)
    assert steps(reading)[-1] == ("archive", "address_refused", "not_public")
    assert reading.answer.outcome is PageOutcome.NOT_FOUND


def test_without_time_the_archive_is_left_alone() -> None:
    """What took all the time was the page itself."""
    clock = FakeClock()
    fetcher = ScriptedFetcher(told(PageOutcome.UNAVAILABLE, "timeout"), takes=lambda: clock.sleep(18.0))
    reading = chain(fetcher, clock, archive=True).read(URL)
    assert steps(reading)[-1] == ("archive", "out_of_time", None)


def test_an_archive_that_cannot_be_read_is_told_with_its_reason() -> None:
    """Not as a page that it does not have."""
    fetcher = ScriptedFetcher(told(PageOutcome.NOT_FOUND), told(PageOutcome.UNAVAILABLE, "tls"))
    assert steps(chain(fetcher, FakeClock(), archive=True).read(URL))[-1] == ("archive", "unavailable", "tls")


def test_a_store_of_evidence_that_is_down_costs_a_whole_page() -> None:
    """And no more than that."""
    store = InMemoryEvidenceStore()
    store.fail_with = StoreUnavailable("down")
    fetcher = ScriptedFetcher(told())
    assert chain(fetcher, FakeClock(), store=store).read(URL).answer.outcome is PageOutcome.OK
    assert fetcher.asked[0].etag is None


def test_a_stored_text_that_cannot_be_read_now_is_fetched_anew() -> None:
    """The site said that it has not changed, but nobody could say what it was."""
    clock = FakeClock()
    store = InMemoryEvidenceStore(clock)
    EvidenceLedger(store=store, clock=clock).keep_page(PROJECT, told(etag='"v1"'))
    answers = (told(PageOutcome.NOT_MODIFIED), told())
    fetcher = ScriptedFetcher(*answers, takes=lambda: setattr(store, "fail_with", StoreUnavailable("down")))
    reading = chain(fetcher, clock, store=store).read(URL)
    assert (reading.stored, reading.answer.outcome) == (None, PageOutcome.OK)
    assert [question.etag for question in fetcher.asked] == ['"v1"', None]


def test_what_is_stored_of_one_site_is_named_to_no_other() -> None:
    """Its validators go where it was found, with the URL that gave them."""
    clock = FakeClock()
    store = InMemoryEvidenceStore(clock)
    found = "https://bells.example/new"
    ledger = EvidenceLedger(store=store, clock=clock)
    ledger.keep_page(PROJECT, replace(told(etag='"v1"'), final_url=found, hops=(URL, found)))
    away = told(PageOutcome.UNAVAILABLE, "moved", moved_to=found)
    there = replace(told(PageOutcome.NOT_MODIFIED), url=found, final_url=found, hops=(found,))
    fetcher = ScriptedFetcher(away, there)
    reading = chain(fetcher, clock, store=store).read(URL)
    assert reading.stored is not None
    assert [(each.etag, each.known_url) for each in fetcher.asked] == [(None, None), ('"v1"', found)]


def test_a_304_that_nobody_asked_for_is_no_reading() -> None:
    """Nor is the archive asked then: whoever says so is not to be relied on."""
    fetcher = ScriptedFetcher(told(PageOutcome.NOT_MODIFIED))
    reading = chain(fetcher, FakeClock(), archive=True).read(URL)
    assert (reading.answer.outcome, reading.answer.reason) == (PageOutcome.UNAVAILABLE, FetcherFault.FAILED)


def test_moves_are_counted_and_not_the_hops_that_are_told() -> None:
    """An answer that tells of no hop would be followed for ever."""
    away = replace(told(PageOutcome.UNAVAILABLE, "moved", moved_to=URL), hops=())
    fetcher = ScriptedFetcher(*[away] * 6)
    reading = chain(fetcher, FakeClock()).read(URL)
    assert (reading.answer.reason, len(fetcher.asked)) == ("too_many_redirects", 6)


def test_a_page_that_was_cut_is_not_asked_for_conditionally() -> None:
    """A 304 would give the cut text for ever."""
    clock = FakeClock()
    store = InMemoryEvidenceStore(clock)
    ledger = EvidenceLedger(store=store, clock=clock)
    whole = told(etag='"v1"')
    cut = replace(whole, page=ExtractedPage(markdown=TEXT, extractor="text", truncated=True))
    for answer, expected in ((whole, '"v1"'), (cut, None), (whole, '"v1"'), (replace(whole, degraded=True), None)):
        clock.sleep(1.0)
        ledger.keep_page(PROJECT, answer)
        fetcher = ScriptedFetcher(told())
        chain(fetcher, clock, store=store).read(URL)
        assert fetcher.asked[0].etag == expected


def test_a_crawl_delay_lengthens_the_pause_of_its_site_within_a_bound() -> None:
    """A file must not stop a site for a day."""
    turns = SiteTurns(Research(scripts={}).dispatcher.fleet)
    assert turns.pacing("example.org", 1.0).interval == 1.0
    turns.ask_for_delay("example.org", 5.0)
    assert turns.pacing("example.org", 1.0).interval == 5.0
    assert turns.pacing("example.org", 9.0).interval == 9.0
    turns.ask_for_delay("example.org", 86_400.0)
    assert turns.pacing("example.org", 1.0).interval == 30.0
    assert turns.pacing("example.net", 0.0).interval > 0.0


def test_a_crawl_delay_holds_for_the_fleet_and_behind_the_page_that_told_of_it() -> None:
    """An environment that has not read robots.txt waits as well; so does the one that has just read it."""
    clock = FakeClock()
    research = Research(scripts={}, clock=clock)
    fleets = (research.dispatcher.fleet, research.environment()[2].fleet)
    sent: list[float] = []
    for fleet in (*fleets, *fleets):
        fetcher = ScriptedFetcher(told(crawl_delay=10.0), takes=lambda: sent.append(clock.now()))
        calling = chain(fetcher, clock, seconds=60.0, site_interval=1.0)
        turns = SiteTurns(fleet)  # as if nobody had asked before: the table alone knows
        assert replace(calling, turns=turns).read(URL).answer.outcome is PageOutcome.OK
    pauses = [later - earlier for earlier, later in pairwise(sent)]
    assert pauses == pytest.approx([10.0, 10.0, 10.0], abs=0.3)


def test_a_crawl_delay_lies_behind_the_page_that_told_of_it() -> None:
    """Three pages within one environment begin at 0, 10 and 20 seconds."""
    clock, began = FakeClock(), FakeClock().now()
    answers = [told(crawl_delay=10.0) for _page in range(3)]
    sent: list[float] = []
    fetcher = ScriptedFetcher(*answers, takes=lambda: sent.append(clock.now() - began))
    calling = chain(fetcher, clock, seconds=60.0, site_interval=1.0)
    for _answer in answers:
        assert calling.read(URL).answer.outcome is PageOutcome.OK
    assert sent == pytest.approx([0.0, 10.0, 20.0], abs=0.3)


@pytest.mark.parametrize(
    ("status", "asked", "wait"),
    [(429, 90.0, 90.0), (503, 90.0, 90.0), (429, 86_400.0, 3_600.0), (429, None, None), (200, 90.0, None)],
)
def test_how_long_a_site_asks_to_be_let_alone_holds_for_the_fleet(
    status: int, asked: float | None, wait: float | None
) -> None:
    """No environment sends it anything before; an hour at most."""
    clock = FakeClock()
    research = Research(scripts={}, clock=clock)
    _metrics, _audit, elsewhere = research.environment()
    outcome = PageOutcome.OK if status == 200 else PageOutcome.RATE_LIMITED
    first = ScriptedFetcher(told(outcome, status=status, retry_after=asked))
    replace(chain(first, clock), turns=SiteTurns(research.dispatcher.fleet)).read(URL)
    asked_at = clock.now()
    second = ScriptedFetcher(told(), told())
    others = replace(chain(second, clock), turns=SiteTurns(elsewhere.fleet))
    answer = others.read("https://www.example.org/other").answer
    if wait is None:
        assert answer.outcome is PageOutcome.OK
        return
    assert (answer.outcome, answer.reason, second.asked) == (PageOutcome.OUT_OF_TIME, "no_turn_in_time", [])
    assert clock.now() + (answer.retry_after or 0.0) == pytest.approx(asked_at + wait, abs=0.1)
    clock.advance(wait)
    later = replace(others, deadline=Deadline.after(20.0, clock))
    assert later.read(URL).answer.outcome is PageOutcome.OK
    assert later.read(URL).answer.outcome is PageOutcome.OK


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("http://ada.github.io/", "ada.github.io"),
        ("http://10.0.0.1/", "10.0.0.1"),
        ("not a url", None),
        ("", None),
        ("http://[::1", None),
    ],
)
def test_a_site_is_what_somebody_can_register(url: str, site: str | None) -> None:
    """What has no host is no site."""
    assert site_of(url) == site


def test_what_is_not_ready_at_the_deadline_is_told_as_late() -> None:
    """Its thread ends by itself; the others are given."""
    clock, hold = FakeClock(), threading.Event()

    def read(url: str) -> Iterator[str]:
        if "slow" in url:
            clock.sleep(30.0)
            hold.wait(5.0)
        yield "read"

    urls = ("https://a.example/", "https://slow.example/", "https://slow.example/next")
    found = SideBySide(read=read, late=lambda _url: "late").all(urls, Deadline.after(0.3, clock))
    hold.set()
    assert found == ["read", "late", "late"]


def test_what_was_ready_at_the_deadline_is_given_without_the_rest() -> None:
    """A page was read, and its keeping is late: the page is not lost by that."""
    clock, hold = FakeClock(), threading.Event()

    def read(_url: str) -> Iterator[str]:
        yield "read"
        clock.sleep(30.0)
        hold.wait(5.0)
        yield "kept"

    found = SideBySide(read=read, late=lambda _url: "late").all([URL], Deadline.after(0.3, clock))
    hold.set()
    assert found == ["read"]


def test_a_fault_of_ours_in_one_thread_is_the_call_s() -> None:
    """It is not told as a page that could not be read."""

    def read(_url: str) -> Iterator[str]:
        raise KeyError("ours")

    with pytest.raises(KeyError):
        SideBySide(read=read, late=lambda _url: "late").all([URL], Deadline.after(5.0, FakeClock()))


@pytest.mark.parametrize("task_id", [None, "task-2"])
def test_a_stored_page_whose_text_is_gone_gets_it_back(task_id: str | None) -> None:
    """The site says that it has not changed, so it is asked for whole: what is given out as evidence can be read."""
    clock = FakeClock()
    fetcher = ScriptedFetcher(told(etag='"1"'), told(PageOutcome.NOT_MODIFIED), told(etag='"1"'))
    store = InMemoryEvidenceStore(clock)
    chained = chain(fetcher, clock, store=store)
    keeper = Keeper(ledger=chained.ledger(), project=PROJECT, deadline=chained.deadline)
    *_, first = keeper.keep(chained.read(URL))
    assert first.evidence is not None
    store.bodies.objects.clear()
    *_, kept = replace(keeper, task_id=task_id).keep(chained.read(URL))
    assert kept.evidence is not None
    assert store.body(PROJECT, first.evidence.content_hash) == TEXT


def test_a_store_that_does_not_answer_has_lost_no_text() -> None:
    """Nothing is uploaded for it again."""
    clock = FakeClock()
    store = InMemoryEvidenceStore(clock)
    EvidenceLedger(store=store, clock=clock).keep_page(PROJECT, told(etag='"1"'))
    answers = (told(PageOutcome.NOT_MODIFIED), told())
    fetcher = ScriptedFetcher(*answers, takes=lambda: setattr(store, "fail_with", StoreUnavailable("down")))
    assert chain(fetcher, clock, store=store).read(URL).body_gone is False


def test_what_the_operator_opened_is_found_again_in_another_spelling() -> None:
    """It is stored as its fetcher spells it."""
    clock, asked, spelling = FakeClock(), "http://Wiki.corp.internal:80/a#top", "http://wiki.corp.internal/a"
    store = InMemoryEvidenceStore(clock)
    answer = replace(told(etag='"1"'), url=spelling, final_url=spelling, hops=(spelling,))
    EvidenceLedger(store=store, clock=clock).keep_page(PROJECT, answer)
    fetcher = ScriptedFetcher(replace(answer, outcome=PageOutcome.NOT_MODIFIED, page=None))
    reading = chain(fetcher, clock, store=store).read(asked)
    assert (reading.stored is not None, fetcher.asked[0].etag) == (True, '"1"')


def test_nothing_is_kept_when_the_time_is_over() -> None:
    """The page is shown all the same, with its quotes."""
    clock = FakeClock()
    store = InMemoryEvidenceStore(clock)
    ledger = EvidenceLedger(store=store, clock=clock)
    keeper = Keeper(ledger=ledger, project=PROJECT, deadline=Deadline.after(1.0, clock), quotes=(TEXT,))
    clock.advance(2.0)
    *_, kept = keeper.keep(Reading(answer=told()))
    assert (kept.body, kept.quotes[0].stands, kept.evidence, kept.not_kept) == (TEXT, True, None, "out_of_time")
    assert store.calls["put"] == 0
    *_, shown = replace(keeper, ledger=None).keep(Reading(answer=told()))
    assert shown.not_kept is None


@pytest.mark.parametrize(("seconds", "looks"), [(20.0, 5), (0.0, 0)])
def test_what_comes_closest_is_looked_for_a_few_times_and_while_there_is_time(
    monkeypatch: pytest.MonkeyPatch, seconds: float, looks: int
) -> None:
    """Each look reads the whole text; that a quote does not stand is told of every one."""
    asked: list[str] = []
    closest = QuotedBody.closest

    def counted(body: QuotedBody, wanted: str) -> ClosestPassage | None:
        asked.append(wanted)
        return closest(body, wanted)

    monkeypatch.setattr(QuotedBody, "closest", counted)
    quotes = [f"{TEXT[:20]} number {number}" for number in range(20)]
    keeper = Keeper(ledger=None, project=PROJECT, deadline=Deadline.after(seconds, FakeClock()), quotes=quotes)
    *_, kept = keeper.keep(Reading(answer=told()))
    assert (asked, [each.stands for each in kept.quotes]) == (quotes[:looks], [False] * 20)
    assert sum(each.closest is not None for each in kept.quotes) == looks


def test_more_quotes_than_an_evidence_holds_are_told() -> None:
    """Fifty stand with one; the page itself is stored by then."""
    clock = FakeClock()
    ledger = EvidenceLedger(store=InMemoryEvidenceStore(clock), clock=clock)
    words = [f"w{number:03d}" for number in range(120)]
    page = ExtractedPage(markdown=" ".join(words), extractor="plain")
    reading = Reading(answer=replace(told(), page=page))

    def kept(quotes: Sequence[str]) -> str | None:
        keeper = Keeper(ledger=ledger, project=PROJECT, deadline=Deadline.after(20.0, clock), quotes=quotes)
        return list(keeper.keep(reading))[-1].not_kept

    assert [kept(words[start : start + 20]) for start in (0, 20, 40)] == [None, None, "too_many_quotes"]


@pytest.mark.parametrize(
    ("markdown", "outcome"),
    [
        (f"# Bells\n\n{TEXT}", PageOutcome.OK),
        ("\u200b\u200b", PageOutcome.EMPTY),
        ("# Just a moment...\n\nChecking your browser before accessing example.org.", PageOutcome.BLOCKED),
        ("# Page not found\n\nSorry, the page you are looking for does not exist.", PageOutcome.SOFT_404),
        ("\n".join(f"- [Chapter {n}](https://example.org/{n})" for n in range(60)), PageOutcome.EMPTY),
    ],
)
def test_what_a_hosted_reader_brings_is_judged_as_pages_are(markdown: str, outcome: PageOutcome) -> None:
    """A wall that stood before it is one for us."""
    content = LoadedContent(body=markdown.encode(), media_type="text/markdown", source_url=URL)
    found = read_hosted(content, "firecrawl-main")
    assert found.outcome is outcome
    assert (found.page is not None) is (outcome is PageOutcome.OK)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '```json\n{"archived_snapshots": {"closest": {"available": true, "status": "200", '
            '"url": "http://web.archive.org/web/20240102030405/http://example.org/a b"}}}\n```',
            None,
        ),
        ('{"archived_snapshots": {"closest": {"available": true, "status": 200, "url": 5}}}', None),
        ('{"archived_snapshots": {"closest": []}}', None),
        ("no braces", None),
        (
            '{"archived_snapshots": {"closest": {"available": true, "status": "200", '
            '"url": "http://web.archive.org/web/20240102030405im_/http://example.org/a?b=c"}}}',
            "https://web.archive.org/web/20240102030405id_/http://example.org/a?b=c",
        ),
    ],
)
def test_a_snapshot_is_an_address_of_the_archive_or_none(text: str, expected: str | None) -> None:
    """Whatever the answer says."""
    found = archive.snapshot_in(ExtractedPage(markdown=text, extractor="json"), "http://example.org/a?b=c")
    assert (found.url if found else None) == expected
    assert archive.snapshot_in(None, URL) is None


@pytest.mark.parametrize(
    ("kept", "same"),
    [
        ("http://www.example.org:80/Bells/?b=2&a=1", True),
        ("https://example.org/bells?a=1&b=2", True),
        ("https://example.org/bells?a=1", False),
        ("https://example.org/bells/other?a=1&b=2", False),
        ("https://example.org.evil.test/bells?a=1&b=2", False),
        ("https://evil.test/?https://example.org/bells?a=1&b=2", False),
        ("https://example.org@evil.test/bells?a=1&b=2", False),
        ("https://example.org:8443/bells?a=1&b=2", False),
        ("https://example.org:port/bells?a=1&b=2", False),
    ],
)
def test_a_snapshot_is_one_of_the_page_that_was_asked_for(kept: str, same: bool) -> None:
    """Else a page would be cited with another one's text."""
    snapshot = archive.snapshot_in(_look_up(kept).page, "https://example.org/bells?a=1&b=2")
    assert (snapshot is not None) is same


def test_a_snapshot_that_leads_out_of_the_archive_is_none() -> None:
    """What the living web has now is not what the archive read then."""
    outside = replace(told(), final_url="https://elsewhere.example/")
    fetcher = ScriptedFetcher(told(PageOutcome.NOT_FOUND, "status_404"), _look_up(URL), outside)
    reading = chain(fetcher, FakeClock(), archive=True).read(URL)
    assert reading.answer.outcome is PageOutcome.NOT_FOUND
    assert reading.source_type is None
    assert ("archive", "not_found", "no_snapshot") in steps(reading)


def _look_up(kept: str) -> PageAnswer:
    closest = {"available": True, "status": "200", "url": f"http://web.archive.org/web/20240102030405/{kept}"}
    text = orjson.dumps({"archived_snapshots": {"closest": closest}}).decode()
    return replace(told(), page=ExtractedPage(markdown=text, extractor="json"))
