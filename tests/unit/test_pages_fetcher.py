"""One page of a stranger's: redirects hop by hop, robots first, conditions, and an outcome for whatever happens."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.fetching import environment_on
from tests.fakes.origin import hang_up, raw, reply, reset
from tests.fakes.page_reader import FakePageReader
from tests.fakes.web import PUBLIC, Names, Web, moved, page
from zarniwoop import __version__
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion
from zarniwoop.extract.outcome import Extraction
from zarniwoop.net.url import Target
from zarniwoop.observe.clock import SystemClock
from zarniwoop.pages.fetcher import LocalFetcher
from zarniwoop.pages.reasons import FetchReason

URL = "http://www.bells.com/tower?q=1#top"
CANONICAL = "http://www.bells.com/tower?q=1"


def _names(*hosts: str) -> Names:
    return {host: [(PUBLIC,)] for host in ("www.bells.com", "bells.com", "other.com", *hosts)}


@contextmanager
def _fetching(
    web: Web, reader: FakePageReader | None = None, variables: Mapping[str, str] | None = None
) -> Iterator[LocalFetcher]:
    with web, environment_on(web, reader or FakePageReader(), variables) as environment:
        yield environment.local_fetcher


def _ask(fetcher: LocalFetcher, url: str = URL, *, seconds: float = 5.0, **asked: Any) -> PageAnswer:
    question = PageQuestion(url=url, seconds=seconds, **asked)
    return fetcher.fetch(question, deadline=Deadline.after(10.0, SystemClock()))


def _fetch(web: Web, url: str = URL, reader: FakePageReader | None = None, **asked: Any) -> PageAnswer:
    with _fetching(web, reader) as fetcher:
        return _ask(fetcher, url, **asked)


def test_a_page_comes_with_where_and_how_it_was_found() -> None:
    """Canonical URL, hops, status, claimed type and charset, validators, bytes, and the steps."""
    headers = {
        "Content-Type": 'Text/HTML; Charset="ISO-8859-1"',
        "ETag": 'W/"33a6"',
        "Last-Modified": "Wed, 21 Oct 2026 07:28:00 GMT",
    }
    reader = FakePageReader()
    answer = _fetch(Web(names=_names(), otherwise=page(b"<p>bells</p>", headers=headers)), reader=reader)
    assert (answer.outcome, answer.reason, answer.status) == (PageOutcome.OK, None, 200)
    assert (answer.url, answer.final_url, answer.hops) == (CANONICAL, CANONICAL, (CANONICAL,))
    assert (answer.media_type, answer.charset) == ("text/html", "iso-8859-1")
    assert (answer.etag, answer.last_modified) == ('W/"33a6"', "Wed, 21 Oct 2026 07:28:00 GMT")
    assert answer.bytes_received > len(b"<p>bells</p>")
    assert [step.name for step in answer.steps] == ["fetch", "fake"]
    assert answer.page is not None
    assert answer.page.markdown == "<p>bells</p>"
    assert reader.claimed == [("text/html", "iso-8859-1", 200)]


def test_we_say_who_we_are_and_ask_for_nothing_that_we_cannot_bound() -> None:
    """An honest User-Agent, one content coding, no language of anybody's, no cookie."""
    web = Web(names=_names())
    _fetch(web)
    (request,) = web.requests
    assert request.headers["user-agent"] == f"Zarniwoop/{__version__} (+tests@example.com)"
    assert request.headers["accept-encoding"] == "gzip"
    assert request.headers["host"] == "www.bells.com"
    assert set(request.headers) == {"host", "accept", "accept-encoding", "user-agent"}
    assert web.robots_requests[0].headers["user-agent"] == request.headers["user-agent"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_within_a_site_are_followed_and_told(status: int) -> None:
    """Over hosts of one registrable domain, and from http to https were it there."""
    web = Web(names=_names(), pages={"www.bells.com/tower": moved("//bells.com/new", status=status)})
    answer = _fetch(web)
    assert answer.outcome is PageOutcome.OK
    assert answer.hops == (CANONICAL, "http://bells.com/new")
    assert (answer.url, answer.final_url) == (CANONICAL, "http://bells.com/new")
    assert [request.headers["host"] for request in web.robots_requests] == ["www.bells.com", "bells.com"]


def test_a_redirect_to_another_site_is_told_and_not_followed() -> None:
    """That site has a turn of its own, which the asker takes."""
    web = Web(names=_names(), pages={"/tower": moved("http://other.com:80/x#y")})
    answer = _fetch(web)
    assert answer.moved_to == "http://other.com/x"
    assert (answer.outcome, answer.reason, answer.status) == (PageOutcome.UNAVAILABLE, FetchReason.MOVED, 302)
    assert answer.page is None
    assert "other.com" not in web.looked_up


@pytest.mark.parametrize("location", ["https://ada.github.io/", "http://bells.co.uk/"])
def test_a_public_suffix_is_no_site(location: str) -> None:
    web = Web(names=_names("grace.github.io", "clocks.co.uk"), otherwise=moved(location))
    url = "http://grace.github.io/" if "github" in location else "http://clocks.co.uk/"
    assert _fetch(web, url).moved_to == location


def test_five_redirects_are_followed_and_no_more() -> None:
    pages = {f"/{number}": moved(f"/{number + 1}") for number in range(6)}
    reached = _fetch(Web(names=_names(), pages=pages), "http://bells.com/1")
    assert (reached.outcome, len(reached.hops)) == (PageOutcome.OK, 6)
    lost = _fetch(Web(names=_names(), pages=pages), "http://bells.com/0")
    assert (lost.outcome, lost.reason) == (PageOutcome.UNAVAILABLE, FetchReason.TOO_MANY_REDIRECTS)
    assert (lost.status, len(lost.hops)) == (302, 6)


def test_a_location_in_raw_bytes_is_percent_encoded() -> None:
    """As browsers do it; a host in raw bytes stays refused."""
    web = Web(names=_names(), pages={"/tower": moved("/türme?q=glöckchen".encode())})
    answer = _fetch(web)
    assert answer.final_url == "http://www.bells.com/t%C3%BCrme?q=gl%C3%B6ckchen"
    assert answer.outcome is PageOutcome.OK


@pytest.mark.parametrize(
    "location", ["http://bells.com:99/", "http://[::1", "/a b", "http://a@bells.com/", "gopher://x/"]
)
def test_a_redirect_to_what_is_no_url_of_ours_is_refused(location: str) -> None:
    answer = _fetch(Web(names=_names(), pages={"/tower": moved(location)}))
    assert answer.outcome is PageOutcome.ADDRESS_REFUSED
    assert answer.moved_to is None
    assert answer.hops == (CANONICAL,)


def test_a_page_that_robots_disallow_is_not_asked_for() -> None:
    """Nor any further hop that they disallow; the setting can say that nobody shall look."""
    rules = reply(b"User-agent: *\nDisallow: /tower\nCrawl-delay: 3")
    web = Web(names=_names(), robots=rules)
    answer = _fetch(web)
    assert (answer.outcome, answer.reason) == (PageOutcome.ROBOTS_DISALLOWED, FetchReason.ROBOTS)
    assert answer.crawl_delay == 3.0
    assert not web.requests
    hop = _fetch(Web(names=_names(), robots=rules, pages={"/in": moved("/tower")}), "http://bells.com/in")
    assert (hop.outcome, hop.hops[-1]) == (PageOutcome.ROBOTS_DISALLOWED, "http://bells.com/tower")
    free = Web(names=_names(), robots=rules)
    assert _fetch(free, honour_robots=False).outcome is PageOutcome.OK
    assert not free.robots_requests


def test_a_page_that_is_allowed_tells_the_crawl_delay() -> None:
    rules = reply(b"User-agent: *\nDisallow: /x\nCrawl-delay: 3")
    assert _fetch(Web(names=_names(), robots=rules)).crawl_delay == 3.0


def test_what_is_stored_is_asked_for_only_if_it_changed() -> None:
    """Both validators go along, and nothing is read."""
    reader = FakePageReader()
    web = Web(names=_names(), otherwise=raw(b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n', kept_open=True))
    answer = _fetch(web, reader=reader, etag='"a"', last_modified="Wed, 21 Oct 2026 07:28:00 GMT", known_url=CANONICAL)
    assert (answer.outcome, answer.status, answer.etag) == (PageOutcome.NOT_MODIFIED, 304, '"a"')
    (request,) = web.requests
    assert request.headers["if-none-match"] == '"a"'
    assert request.headers["if-modified-since"] == "Wed, 21 Oct 2026 07:28:00 GMT"
    assert not reader.bodies


def test_a_304_that_nobody_asked_for_is_malformed() -> None:
    answer = _fetch(Web(names=_names(), otherwise=raw(b"HTTP/1.1 304 Not Modified\r\n\r\n")))
    assert (answer.outcome, answer.reason) == (PageOutcome.MALFORMED, FetchReason.NOT_ASKED_CONDITIONALLY)


def test_validators_go_to_the_url_that_gave_them_and_to_no_other_hop() -> None:
    """What redirects to it hears nothing of them, and a 304 is an answer there alone."""
    unchanged = raw(b"HTTP/1.1 304 Not Modified\r\n\r\n", kept_open=True)
    web = Web(names=_names(), pages={"/tower": moved("/new"), "/new": unchanged})
    answer = _fetch(web, etag='"a"', known_url="http://www.bells.com/new")
    assert (answer.outcome, answer.final_url) == (PageOutcome.NOT_MODIFIED, "http://www.bells.com/new")
    assert ["if-none-match" in request.headers for request in web.requests] == [False, True]


@pytest.mark.parametrize("known_url", [None, "http://www.bells.com/other"])
def test_a_304_of_another_url_than_the_stored_one_is_malformed(known_url: str | None) -> None:
    web = Web(names=_names(), otherwise=raw(b"HTTP/1.1 304 Not Modified\r\n\r\n"))
    answer = _fetch(web, etag='"a"', known_url=known_url)
    assert (answer.outcome, answer.reason) == (PageOutcome.MALFORMED, FetchReason.NOT_ASKED_CONDITIONALLY)
    assert "if-none-match" not in web.requests[0].headers


def test_a_page_that_was_read_with_a_step_too_few_is_told_as_such() -> None:
    class Slow(FakePageReader):
        def read(self, body: bytes, **asked: Any) -> Extraction:
            return replace(super().read(body, **asked), degraded=True)

    assert _fetch(Web(names=_names()), reader=Slow()).degraded is True
    assert _fetch(Web(names=_names())).degraded is False


@pytest.mark.parametrize("etag", ['"a\r\nX-Evil: 1"', "bare", '"é"'])
def test_a_validator_that_no_header_can_carry_is_not_sent(etag: str) -> None:
    web = Web(names=_names())
    assert _fetch(web, etag=etag, known_url=CANONICAL).outcome is PageOutcome.OK
    assert "if-none-match" not in web.requests[0].headers


_STATUSES = {
    204: (PageOutcome.EMPTY, "no_content"),
    400: (PageOutcome.UNAVAILABLE, "status_400"),
    401: (PageOutcome.LOGIN_REQUIRED, "status_401"),
    402: (PageOutcome.LOGIN_REQUIRED, "paywall"),
    403: (PageOutcome.BLOCKED, "status_403"),
    404: (PageOutcome.NOT_FOUND, "status_404"),
    407: (PageOutcome.BLOCKED, "status_407"),
    410: (PageOutcome.NOT_FOUND, "status_410"),
    429: (PageOutcome.RATE_LIMITED, "status_429"),
    451: (PageOutcome.BLOCKED, "legal"),
    500: (PageOutcome.UNAVAILABLE, "status_500"),
    503: (PageOutcome.UNAVAILABLE, "status_503"),
}


@pytest.mark.parametrize("body", [b"", b"sorry"])
@pytest.mark.parametrize("status", _STATUSES)
def test_a_status_is_an_outcome_with_a_reason(status: int, body: bytes) -> None:
    """The same with a body as without, and no page in either."""
    answer = _fetch(Web(names=_names(), otherwise=page(b"" if status == 204 else body, status=status)))
    assert (answer.outcome, answer.reason, answer.status) == (*_STATUSES[status], status)
    assert answer.page is None


def test_the_body_of_an_error_may_say_better_which_wall_it_is() -> None:
    """A challenge that comes with 503 is a wall; what stands in it is no page."""
    wall = FakePageReader(PageOutcome.BLOCKED, "bot_wall")
    answer = _fetch(Web(names=_names(), otherwise=page(b"checking", status=503)), reader=wall)
    assert (answer.outcome, answer.reason) == (PageOutcome.BLOCKED, "bot_wall")
    assert answer.page is None


def test_the_reader_gets_ready_while_the_page_is_on_its_way() -> None:
    """And not for a URL that is refused."""
    reader = FakePageReader()
    _fetch(Web(names=_names()), reader=reader)
    assert reader.started == 1
    _fetch(Web(names=_names()), "http://127.0.0.1/", reader=reader)
    assert reader.started == 1


def test_a_wait_that_a_site_states_is_told() -> None:
    busy = page(b"busy", status=429, headers={"Retry-After": "17"})
    assert _fetch(Web(names=_names(), otherwise=busy)).retry_after == 17.0


def test_a_body_without_a_byte_is_empty_and_not_read() -> None:
    reader = FakePageReader()
    answer = _fetch(Web(names=_names(), otherwise=page(b"")), reader=reader)
    assert (answer.outcome, answer.reason) == (PageOutcome.EMPTY, FetchReason.NO_CONTENT)
    assert not reader.bodies


@pytest.mark.parametrize("content_type", ["a" * 10_000, "text/html\xff; charset=\xe9", "; charset=utf-8", "text", ""])
def test_a_type_that_is_none_is_not_repeated(content_type: str) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: {content_type}\r\n\r\nbells"
    answer = _fetch(Web(names=_names(), otherwise=raw(head.encode("latin-1"), kept_open=True)))
    assert answer.outcome is PageOutcome.OK
    assert answer.media_type is None


@pytest.mark.parametrize(("act", "reason"), [(reset, "reset"), (hang_up, "reset")])
def test_a_broken_connection_is_told_as_such(act: Any, reason: str) -> None:
    answer = _fetch(Web(names=_names(), otherwise=act))
    assert (answer.outcome, answer.reason) == (PageOutcome.UNAVAILABLE, reason)


def test_a_page_may_be_no_larger_than_the_question_says() -> None:
    web = Web(names=_names(), otherwise=page(b"x" * 2_000))
    with _fetching(web) as fetcher:
        assert _ask(fetcher, max_bytes=2_000).outcome is PageOutcome.OK
        answer = _ask(fetcher, max_bytes=1_999)
    assert (answer.outcome, answer.reason) == (PageOutcome.TOO_LARGE, "body_too_large")


def test_the_seconds_of_the_question_bound_all_of_it() -> None:
    """Even where the asker would wait for longer; what it was spent on is told."""
    answer = _fetch(Web(names=_names()), seconds=0.0)
    assert (answer.outcome, answer.reason) == (PageOutcome.OUT_OF_TIME, "robots_out_of_time")
    answer = _fetch(Web(names=_names()), seconds=0.0, honour_robots=False)
    assert (answer.outcome, answer.reason) == (PageOutcome.OUT_OF_TIME, "deadline")


@pytest.mark.parametrize(
    "url", ["", "\ud800", "http://\ud83d/", "x" * 9_000, "http://bells.com/" + "a" * 9_000, "http://é\x00/"]
)
def test_what_is_no_url_is_refused_in_words_that_can_be_sent(url: str) -> None:
    web = Web(names=_names())
    answer = _fetch(web, url)
    assert answer.outcome is PageOutcome.ADDRESS_REFUSED
    assert answer.hops == ()
    assert len(answer.url) <= 8_192
    answer.url.encode()
    assert not web.looked_up


def test_what_the_operator_opened_for_pages_may_be_fetched() -> None:
    """A name of the house, on its port, and no other; what is opened for search servers opens nothing here."""
    web = Web(names={"wiki.corp.internal": [("10.0.0.9",)], "hr.corp.internal": [("10.0.0.8",)]})
    opened = {"FETCH_ALLOWED_NETWORKS": "wiki.corp.internal:8080", "ALLOWED_PRIVATE_NETWORKS": "10.0.0.0/8"}
    with _fetching(web, variables=opened) as fetcher:
        assert _ask(fetcher, "http://wiki.corp.internal:8080/").outcome is PageOutcome.OK
        assert web.dialled[0] == ("10.0.0.9", 8080)
        for url in ("http://wiki.corp.internal/", "http://hr.corp.internal:8080/", "http://10.0.0.9:8080/"):
            assert _ask(fetcher, url).outcome is PageOutcome.ADDRESS_REFUSED
    assert web.forbidden == ["10.0.0.9"]


def test_hosts_that_lead_back_to_us_are_never_fetched() -> None:
    """The API's own, and what the operator names."""
    web = Web(names=_names("abc.execute-api.eu-west-1.amazonaws.com", "api.bells.com"))
    own = {"OWN_API_HOST": "abc.execute-api.eu-west-1.amazonaws.com", "FETCH_REFUSED_HOSTS": "API.bells.com., x.com"}
    with _fetching(web, variables=own) as fetcher:
        for url in ("https://abc.execute-api.eu-west-1.amazonaws.com/live/", "http://api.bells.com/", "http://x.com"):
            assert _ask(fetcher, url).outcome is PageOutcome.ADDRESS_REFUSED
        assert _ask(fetcher, "http://bells.com/").outcome is PageOutcome.OK
    assert list(web.looked_up) == ["bells.com"]


def test_a_page_is_handed_to_a_browser_when_that_is_asked_for_and_there_is_one() -> None:
    """Unread, and only then."""
    asked: list[tuple[str, PageOutcome, int]] = []

    def render(target: Target, question: PageQuestion, answer: PageAnswer, deadline: Deadline) -> PageAnswer:
        asked.append((target.url(), answer.outcome, len(answer.steps)))
        return replace(answer, outcome=PageOutcome.OK, reason=None)

    web = Web(names=_names())
    shell = FakePageReader(PageOutcome.NEEDS_JAVASCRIPT, "shell")
    with web, environment_on(web, shell) as environment:
        fetcher = LocalFetcher(
            web=environment._web,
            robots=environment.local_fetcher._robots,
            reader=shell,
            clock=environment.clock,
            render=render,
        )
        assert _ask(fetcher).outcome is PageOutcome.NEEDS_JAVASCRIPT
        assert _ask(fetcher, render=True).outcome is PageOutcome.OK
    assert asked == [(CANONICAL, PageOutcome.UNAVAILABLE, 0)]
    assert len(shell.bodies) == 1
