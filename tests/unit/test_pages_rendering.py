"""When a page is rendered, by how many browsers of the fleet at once, and which of its readings is kept."""

from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.research import Research
from tests.unit.test_pages_chain import URL, ScriptedFetcher, chain, steps, told
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import ExtractedPage, FetcherFault, FetcherUnavailable, PageAnswer, PageOutcome, PageStep
from zarniwoop.extract import html_chain, verdicts
from zarniwoop.pages.chain import PageChain, Reading
from zarniwoop.pages.rendering import BrowserSlots
from zarniwoop.pages.site_turns import SiteTurns
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.wiring import Environment

SHELL = (PageOutcome.NEEDS_JAVASCRIPT, "script_shell")
CUT = (PageOutcome.OK, verdicts.TRUNCATED)
OTHER = "https://bells.example/app"


def _static(outcome: PageOutcome, reason: str | None, **changes: Any) -> PageAnswer:
    return replace(told(outcome, reason), **{"status": 200, "media_type": "text/html", "etag": '"v1"', **changes})


def _page(chars: int, *, truncated: bool = False) -> ExtractedPage:
    return ExtractedPage(markdown="x" * chars, extractor="trafilatura", truncated=truncated)


def _shown(outcome: PageOutcome, reason: str | None = None, **changes: Any) -> PageAnswer:
    answer = _static(outcome, reason, etag=None, bytes_received=7)
    shown = (PageStep(name="browser", outcome=PageOutcome.OK), PageStep(name="text", outcome=outcome, reason=reason))
    return replace(answer, steps=shown, **changes)


def _browsing(
    fetcher: ScriptedFetcher, research: Research, *, most: int = 1, elsewhere: bool = False, **rules: Any
) -> PageChain:
    """One call; `elsewhere`: in another environment of the fleet."""
    fleet = research.environment()[2].fleet if elsewhere else research.dispatcher.fleet
    listed = {"browser_domains": ("example.org", "bells.example"), **rules}
    return replace(chain(fetcher, research.clock, **listed), turns=SiteTurns(fleet), slots=BrowserSlots(fleet, most))


def _read(*script: PageAnswer | FetcherUnavailable, **rules: Any) -> tuple[Reading, ScriptedFetcher]:
    fetcher = ScriptedFetcher(*script)
    return _browsing(fetcher, Research(scripts={}, clock=FakeClock()), **rules).read(URL), fetcher


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        SHELL,
        CUT,
        (PageOutcome.EMPTY, html_chain.TOO_LITTLE),
        (PageOutcome.EMPTY, html_chain.LINK_SOUP),
        (PageOutcome.CONSENT_REQUIRED, "consent"),
        (PageOutcome.BLOCKED, "bot_wall"),
    ],
)
def test_a_page_whose_static_reading_failed_is_rendered(outcome: PageOutcome, reason: str) -> None:
    """In the same turn of its site, by a question of its own; the shell's validators are not kept."""
    reading, fetcher = _read(_static(outcome, reason), _shown(PageOutcome.OK, page=_page(500)))
    answer = reading.answer
    assert (answer.outcome, answer.reason, answer.page) == (PageOutcome.OK, None, _page(500))
    assert [name for name, _, _ in steps(reading)] == ["fetch", "browser", "text"]
    assert (answer.etag, answer.hops, answer.bytes_received) == (None, (URL,), 7)
    first, second = fetcher.asked
    assert (first.render, first.browser_domains, first.url) == (False, (), URL)
    assert (second.render, second.browser_domains, second.url) == (True, ("example.org", "bells.example"), URL)
    assert (second.etag, second.honour_robots) == (None, True)


@pytest.mark.parametrize(
    ("outcome", "reason", "changes"),
    [
        (PageOutcome.OK, None, {}),
        (PageOutcome.OK, "too_many_tags", {}),
        (PageOutcome.LOGIN_REQUIRED, "login", {}),
        (PageOutcome.LOGIN_REQUIRED, "paywall", {}),
        (PageOutcome.SOFT_404, "says_not_found", {}),
        (PageOutcome.EMPTY, "parked", {}),
        (PageOutcome.EMPTY, "frames", {}),
        (PageOutcome.EMPTY, "no_content", {}),
        (PageOutcome.NOT_FOUND, "status_404", {"status": 404}),
        (PageOutcome.BLOCKED, "bot_wall", {"status": 403}),
        (PageOutcome.EMPTY, "too_little_text", {"status": 404}),
        (PageOutcome.EMPTY, "too_little_text", {"media_type": "application/pdf"}),
        (PageOutcome.MALFORMED, "truncated", {"media_type": None}),
        (PageOutcome.ROBOTS_DISALLOWED, "robots", {"media_type": None, "status": None}),
        (*SHELL, {"final_url": "https://notexample.org/"}),
    ],
)
def test_no_other_page_is_rendered(outcome: PageOutcome, reason: str | None, changes: dict[str, Any]) -> None:
    """What is whole, what a login or a status answers for, what is no markup, what is on no named domain."""
    reading, fetcher = _read(_static(outcome, reason, **changes))
    assert (len(fetcher.asked), len(reading.answer.steps)) == (1, 1)


def test_without_a_browser_or_a_domain_nothing_is_rendered() -> None:
    """Which is the default of both."""
    assert len(_read(_static(*SHELL), browser_domains=())[1].asked) == 1
    fetcher = ScriptedFetcher(_static(*SHELL))
    chain(fetcher, FakeClock(), browser_domains=("example.org",)).read(URL)
    assert len(fetcher.asked) == 1


@pytest.mark.parametrize(
    ("before", "shown", "kept"),
    [
        (_page(1_000, truncated=True), _page(5_000), True),
        (_page(1_000, truncated=True), _page(950), True),
        (_page(1_000, truncated=True), _page(300), False),
        (_page(1_000, truncated=True), _page(1_001, truncated=True), True),
        (_page(1_000, truncated=True), _page(950, truncated=True), False),
    ],
)
def test_of_two_texts_the_fuller_one_is_kept(before: ExtractedPage, shown: ExtractedPage, *, kept: bool) -> None:
    """The other's step says that it had no more, and a text that was cut stays marked as such."""
    reading, _ = _read(_static(*CUT, page=before), _shown(PageOutcome.OK, page=shown))
    assert reading.answer.page == (shown if kept else before)
    assert reading.answer.etag == (None if kept else '"v1"')
    assert steps(reading)[-1] == ("text", "ok", None if kept else "not_fuller")
    assert reading.answer.reason == (None if kept else "truncated")


@pytest.mark.parametrize(
    ("before", "shown", "left"),
    [
        (SHELL, (PageOutcome.LOGIN_REQUIRED, "login"), (PageOutcome.LOGIN_REQUIRED, "login")),
        (SHELL, (PageOutcome.OUT_OF_TIME, "browser_too_slow"), SHELL),
        (SHELL, (PageOutcome.TOO_LARGE, "too_large"), SHELL),
        (SHELL, (PageOutcome.RATE_LIMITED, "status_429"), SHELL),
        (SHELL, (PageOutcome.ROBOTS_DISALLOWED, "robots"), SHELL),
        (CUT, (PageOutcome.LOGIN_REQUIRED, "login"), CUT),
        (CUT, (PageOutcome.EMPTY, "too_little_text"), CUT),
    ],
)
def test_a_browser_that_reads_nothing_spoils_nothing(
    before: tuple[PageOutcome, str], shown: tuple[PageOutcome, str], left: tuple[PageOutcome, str]
) -> None:
    """A text stays; a verdict on the rendered page says more than one on its shell, a fault does not."""
    reading, _ = _read(_static(*before), _shown(*shown))
    assert (reading.answer.outcome, reading.answer.reason) == left
    assert reading.answer.degraded is (left == CUT), "it is no drift when there is more of it next time"
    assert steps(reading)[-1][1:] == (shown[0].value, shown[1])


@pytest.mark.parametrize("fault", FetcherFault)
def test_a_fetcher_that_cannot_be_asked_for_a_browser_leaves_the_page(fault: FetcherFault) -> None:
    """Nor the chain: whether the page may be read is known by then."""
    reading, _ = _read(_static(*SHELL), FetcherUnavailable(fault), told(PageOutcome.UNAVAILABLE, "tls"), archive=True)
    assert reading.answer.outcome is PageOutcome.NEEDS_JAVASCRIPT
    late = "out_of_time" if fault is FetcherFault.OUT_OF_TIME else "unavailable"
    assert steps(reading)[1:] == [("browser", late, fault.value), ("archive", "unavailable", "tls")]


def test_no_more_browsers_run_in_the_fleet_than_the_stack_allows() -> None:
    """Two environments, two sites: who finds none free in time goes on without, and is told."""
    research = Research(scripts={}, clock=FakeClock())
    others = ScriptedFetcher(_static(*SHELL, final_url=OTHER), told(PageOutcome.UNAVAILABLE, "tls"))
    meanwhile = _browsing(others, research, elsewhere=True, archive=True)
    found: list[Reading] = []

    def other_site() -> None:
        if len(first.asked) == 2:
            found.append(meanwhile.read(OTHER))

    first = ScriptedFetcher(_static(*SHELL), _shown(PageOutcome.OK, page=_page(9)), takes=other_site)
    assert _browsing(first, research).read(URL).answer.outcome is PageOutcome.OK
    assert steps(found[0])[1:] == [("browser", "out_of_time", "no_browser_in_time"), ("archive", "unavailable", "tls")]
    assert found[0].answer.outcome is PageOutcome.NEEDS_JAVASCRIPT
    again = ScriptedFetcher(_static(*SHELL, final_url=OTHER), _shown(PageOutcome.OK, page=_page(9)))
    assert _browsing(again, research, elsewhere=True).read(OTHER).answer.outcome is PageOutcome.OK, "given back"


@pytest.mark.parametrize(("fault", "free"), [(FetcherFault.FAILED, False), (FetcherFault.THROTTLED, True)])
def test_a_slot_whose_browser_may_still_run_is_free_when_its_session_is_over(
    fault: FetcherFault, *, free: bool
) -> None:
    """A function that died has left a session behind, which is billed for a minute."""
    clock = FakeClock()
    research = Research(scripts={}, clock=clock)
    _browsing(ScriptedFetcher(_static(*SHELL), FetcherUnavailable(fault)), research).read(URL)
    slots = BrowserSlots(research.environment()[2].fleet, 1)
    with slots.one(1.0, Deadline.after(20.0, clock)) as slot:
        assert (slot is not None) is free
    clock.advance(66.0)
    with slots.one(1.0, Deadline.after(20.0, clock)) as slot:
        assert slot is not None


def test_slots_are_counted_over_the_whole_fleet_and_waited_for() -> None:
    """As many as are allowed; while the shared state is down, each environment has as many for itself."""
    clock = FakeClock()
    research = Research(scripts={}, clock=clock)
    here, there = (BrowserSlots(research.environment()[2].fleet, 2) for _ in range(2))
    deadline = Deadline.after(60.0, clock)
    with here.one(0.0, deadline) as first, there.one(0.0, deadline) as second:
        assert None not in (first, second)
        began = clock.now()
        with here.one(2.0, deadline) as third, there.one(0.0, deadline) as fourth:
            assert (third, fourth) == (None, None)
        assert clock.now() - began == pytest.approx(2.0, abs=0.5)
        research.state.fail_with = StoreUnavailable("down")
        with here.one(0.0, deadline) as alone:
            assert alone is not None


def test_with_too_little_time_no_slot_is_taken() -> None:
    """A browser that could not end in time would be paid for nothing."""
    fetcher = ScriptedFetcher(_static(*SHELL))
    short = replace(
        _browsing(fetcher, Research(scripts={}, clock=FakeClock())), deadline=Deadline.after(9.0, FakeClock())
    )
    assert steps(short.read(URL))[-1] == ("browser", "out_of_time", "too_little_time")


@pytest.mark.parametrize(
    ("variables", "most"), [({}, 3), ({"BROWSER_CONCURRENCY": "1"}, 1), ({"BROWSER_CONCURRENCY": "none"}, 3)]
)
def test_the_stack_says_how_many(variables: dict[str, str], most: int) -> None:
    """By its parameter."""
    assert Environment(variables)._most_browsers == most
