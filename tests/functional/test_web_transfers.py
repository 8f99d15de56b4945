"""What a hostile server does on the wire and in its bytes: each ends in a typed outcome, within what it may take."""

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.fetching import environment_on, through_page_fetcher
from tests.fakes.origin import Act, Conversation
from tests.fakes.page_reader import FakePageReader
from tests.fakes.transfers import BOMBS, ENDS, TRANSFERS
from tests.fakes.web import NOT_FOUND, PUBLIC, Names, Web, page
from zarniwoop.contract.page import PageOutcome
from zarniwoop.net.exchange import Limits

_NAMES: Names = {"t.evil.test": [(PUBLIC,)]}


@pytest.mark.parametrize("name", TRANSFERS)
def test_every_abuse_of_a_transfer_ends_in_its_own_outcome(name: str) -> None:
    """By the whole time, the bytes on the wire, the bytes decoded or the headers: whatever runs out first."""
    web = Web(names=dict(_NAMES), pages={f"/{name}": TRANSFERS[name]}, limits=Limits(read=0.3))
    with web, environment_on(web, FakePageReader()) as environment:
        fetched = through_page_fetcher(environment, seconds=0.6 if name.startswith("drip") else 5.0)(
            f"http://t.evil.test/{name}"
        )
        assert (fetched.outcome, fetched.reason) == ENDS[name]
        assert len(web.requests) == (6 if name == "redirect-endless" else 1)


def test_what_is_abused_and_how_it_ends_are_the_same_lists() -> None:
    """No act without an end that is asserted."""
    assert ENDS.keys() == TRANSFERS.keys()


@pytest.mark.parametrize("name", BOMBS)
def test_a_robots_file_can_be_a_bomb_as_well(name: str) -> None:
    """It counts as one that cannot be had, and the page is not asked for."""
    web = Web(names=dict(_NAMES), robots=TRANSFERS[name])
    with web, environment_on(web, FakePageReader()) as environment:
        fetched = through_page_fetcher(environment)("http://t.evil.test/")
        assert (fetched.outcome, fetched.reason) == (PageOutcome.UNAVAILABLE, "robots_unreachable")
        assert not web.requests


def test_a_drip_that_would_last_for_hours_ends_with_the_deadline_of_the_clock() -> None:
    """One byte a second by the clock's word: the ninth is not waited for."""
    clock = FakeClock()

    def drop_by_drop(conversation: Conversation) -> None:
        conversation.say(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n")
        while not conversation.stopping.wait(0.001):
            conversation.say(b" ")
            clock.advance(1.0)

    act: Act = drop_by_drop
    web = Web(names=dict(_NAMES), pages={"/robots.txt": NOT_FOUND, "/": act})
    with web, environment_on(web, FakePageReader(), clock=clock) as environment:
        fetched = through_page_fetcher(environment, seconds=9.0)("http://t.evil.test/")
        assert (fetched.outcome, fetched.reason) == (PageOutcome.OUT_OF_TIME, "deadline")
        assert clock.monotonic() < 1_000.0 + 60.0


def test_a_body_longer_than_it_said_is_cut_where_it_said_and_its_connection_dropped() -> None:
    """What is left over would otherwise open the next answer."""
    web = Web(names=dict(_NAMES), pages={"/cl-lie-long": TRANSFERS["cl-lie-long"]})
    reader = FakePageReader()
    with web, environment_on(web, reader) as environment:
        fetch_page = through_page_fetcher(environment)
        fetch_page("http://t.evil.test/cl-lie-long")
        assert [len(body) for body in reader.bodies] == [10]
        before = len(web.dialled)
        fetch_page("http://t.evil.test/next")
        assert len(web.dialled) == before + 1


def test_a_trailer_is_no_header() -> None:
    """A validator that comes after the body is not kept."""
    web = Web(names=dict(_NAMES), pages={"/trailers": TRANSFERS["trailers"]})
    with web, environment_on(web, FakePageReader()) as environment:
        assert "evil\\" not in through_page_fetcher(environment)("http://t.evil.test/trailers").told


def test_a_cookie_is_neither_kept_nor_sent() -> None:
    """Not to the same host in the same environment either."""
    web = Web(names=dict(_NAMES), otherwise=page(headers={"Set-Cookie": "session=1"}))
    with web, environment_on(web, FakePageReader()) as environment:
        for _ in range(2):
            through_page_fetcher(environment)("http://t.evil.test/")
        assert all("cookie" not in request.headers for request in web.requests)
        assert len(web.requests) == 2
