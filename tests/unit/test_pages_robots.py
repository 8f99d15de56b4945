"""robots.txt: asked once, believed for a while, and never an opening for whoever writes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.clock import FakeClock
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderError, ProviderUnavailable
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.url import Target, parse
from zarniwoop.pages.reasons import FetchReason
from zarniwoop.pages.robots import Permission, Robots

HOUR = 3_600.0


class FakeSite:
    """Answers for `/robots.txt` as told, and counts how often."""

    def __init__(self, body: bytes | str = b"", *, status: int = 200, failure: ProviderError | None = None) -> None:
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.failure = failure
        self.asked: list[HttpRequest] = []

    def send(self, request: HttpRequest, *, deadline: Deadline) -> HttpAnswer:
        self.asked.append(request)
        if self.failure is not None:
            raise self.failure
        return HttpAnswer(status=self.status, headers={}, body=self.body, url=request.url)


def _target(url: str) -> Target:
    return parse(url, allowed=AllowedNetworks(), plain_http=True)


def _ask(
    robots: Robots, clock: FakeClock, url: str = "https://bells.example/tower", seconds: float = HOUR
) -> Permission:
    return robots.permission(_target(url), seconds=seconds, deadline=Deadline.after(10.0, clock))


def _permission(site: FakeSite, url: str = "https://bells.example/tower") -> Permission:
    clock = FakeClock()
    return _ask(Robots(site, clock), clock, url)


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ("User-agent: *\nDisallow: /", False),
        ("User-agent: *\nDisallow: /tower", False),
        ("User-agent: *\nDisallow: /other", True),
        ("User-agent: *\nDisallow:", True),
        ("User-agent: Zarniwoop\nDisallow: /", False),
        ("user-agent: zarniwoop/1.0\ndisallow: /", False),
        ("User-agent: Zarniwoop\nAllow: /tower\nUser-agent: *\nDisallow: /", True),
        ("User-agent: Zarniwoop\nUser-agent: Other\nDisallow: /tower", False),
        ("User-agent: Other\nDisallow: /", True),
        ("User-agent: zarni\nDisallow: /", True),
        ("User-agent: zarniwoopbot\nDisallow: /", True),
        ("User-agent: *\nDisallow: /*tow", False),
        ("User-agent: *\nDisallow: /tower$", False),
        ("User-agent: *\nDisallow: /\nAllow: /tower", True),
        ("\ufeffUser-agent: *\nDisallow: /", False),
        ("User-agent: * # all of you\nDisallow: /tower # not this", False),
        ("<!doctype html><title>Not here</title>", True),
        ("", True),
    ],
)
def test_rules_are_read_as_the_standard_says(rules: str, allowed: bool) -> None:
    """The group that names us, else everybody's; the longest match; our name as a whole."""
    permission = _permission(FakeSite(rules))
    assert permission.refusal is (None if allowed else FetchReason.ROBOTS)


def test_a_crawl_delay_is_reported() -> None:
    """Ours if there is one, else everybody's; one that would last forever for a day at most."""
    assert _permission(FakeSite("User-agent: *\nCrawl-delay: 2.5\nDisallow: /x")).crawl_delay == 2.5
    assert (
        _permission(FakeSite("User-agent: Zarniwoop\nCrawl-delay: 9\nUser-agent: *\nCrawl-delay: 1")).crawl_delay == 9
    )
    assert _permission(FakeSite("User-agent: *\nCrawl-delay: 1e300\nDisallow: /x")).crawl_delay == 86_400
    assert _permission(FakeSite("User-agent: *\nDisallow: /x")).crawl_delay is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 302])
def test_no_such_file_opens_the_host(status: int) -> None:
    """RFC 9309, section 2.3.1.3; nor is a redirect without a goal a file."""
    assert _permission(FakeSite("User-agent: *\nDisallow: /", status=status)).refusal is None


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_file_that_cannot_be_had_closes_the_host_for_five_minutes(status: int) -> None:
    """RFC 9309, section 2.3.1.4; a host that says slow down is not asked for pages instead."""
    clock, site = FakeClock(), FakeSite("User-agent: *\nDisallow:", status=status)
    robots = Robots(site, clock)
    assert _ask(robots, clock).refusal is FetchReason.ROBOTS_UNREACHABLE
    site.status = 200
    clock.advance(299.0)
    assert _ask(robots, clock).refusal is FetchReason.ROBOTS_UNREACHABLE
    assert len(site.asked) == 1
    clock.advance(2.0)
    assert _ask(robots, clock).refusal is None


@pytest.mark.parametrize("cause", [Cause.RESET, Cause.TIMEOUT, Cause.DEADLINE])
def test_silence_closes_the_host_too(cause: Cause) -> None:
    """The file has five seconds of the page's time."""
    site = FakeSite(failure=ProviderUnavailable("silence", cause=cause))
    assert _permission(site).refusal is FetchReason.ROBOTS_UNREACHABLE


@pytest.mark.parametrize("cause", [Cause.TOO_LARGE, Cause.HEADERS, Cause.ENCODING, Cause.TRUNCATED, Cause.PROTOCOL])
def test_a_broken_answer_closes_the_host(cause: Cause) -> None:
    """It may have been about to forbid everything."""
    assert _permission(FakeSite(failure=MalformedAnswer("x", cause=cause))).refusal is FetchReason.ROBOTS_UNREACHABLE


def test_a_row_of_redirects_that_leads_nowhere_is_no_file() -> None:
    """RFC 9309, section 2.3.1.2."""
    site = FakeSite(failure=ProviderUnavailable("x", cause=Cause.ENDLESS_REDIRECTS))
    assert _permission(site).refusal is None
    assert site.asked[0].max_redirects == 5


def test_a_redirect_that_is_not_followed_closes_the_host() -> None:
    """From https to http: a file may lie there, and may forbid everything."""
    site = FakeSite("User-agent: *\nDisallow: /", failure=ProviderUnavailable("x", cause=Cause.REDIRECT))
    assert _permission(site).refusal is FetchReason.ROBOTS_UNREACHABLE


@pytest.mark.parametrize("cause", [Cause.ADDRESS, Cause.DNS, Cause.CONNECT, Cause.TLS])
def test_a_host_that_cannot_be_reached_fails_as_its_page_would(cause: Cause) -> None:
    """And is asked anew the next time: nothing is known of its rules."""
    clock, site = FakeClock(), FakeSite(failure=ProviderUnavailable("x", cause=cause))
    robots = Robots(site, clock)
    for _ in range(2):
        with pytest.raises(ProviderUnavailable) as caught:
            _ask(robots, clock)
        assert caught.value.cause is cause
    assert len(site.asked) == 2


@pytest.mark.parametrize("cause", [Cause.DEADLINE, Cause.TIMEOUT, Cause.RESET])
def test_rules_for_which_no_time_was_left_are_unknown_and_the_next_page_asks_again(cause: Cause) -> None:
    """The deadline is the asker's, and the host did nothing wrong; but whether the page may be read nobody knows."""
    clock, site = FakeClock(), FakeSite(failure=ProviderUnavailable("x", cause=cause))
    robots, target = Robots(site, clock), _target("https://bells.example/tower")
    spent = robots.permission(target, seconds=HOUR, deadline=Deadline.after(0.0, clock))
    assert spent.refusal is FetchReason.ROBOTS_OUT_OF_TIME
    site.failure = None
    assert _ask(robots, clock).refusal is None


def test_an_origin_is_asked_once_an_hour() -> None:
    """Scheme, host and port make the origin; the question says how old the copy may be, and a day is the most."""
    clock, site = FakeClock(), FakeSite("User-agent: *\nDisallow: /tower")
    robots = Robots(site, clock)
    for url in ("https://bells.example/a", "https://bells.example/b?q=1"):
        _ask(robots, clock, url)
    assert [request.url for request in site.asked] == ["https://bells.example/robots.txt"]
    _ask(robots, clock, "http://bells.example/a")
    _ask(robots, clock, "https://bells.example:8443/a")
    assert len(site.asked) == 3
    clock.advance(HOUR - 1.0)
    _ask(robots, clock)
    assert len(site.asked) == 3
    _ask(robots, clock, seconds=60.0)
    assert len(site.asked) == 4
    clock.advance(90_000.0)
    _ask(robots, clock, seconds=1e9)
    assert len(site.asked) == 5


def test_what_is_kept_is_bounded_in_number_and_in_size() -> None:
    """Whoever was asked longest ago is asked anew."""
    clock, site = FakeClock(), FakeSite("User-agent: *\nDisallow: /x")
    robots = Robots(site, clock)
    for number in range(501):
        _ask(robots, clock, f"https://h{number}.example/")
    _ask(robots, clock, "https://h500.example/")
    assert len(site.asked) == 501
    _ask(robots, clock, "https://h0.example/")
    assert len(site.asked) == 502
    site.body = b"User-agent: *\n" + b"Disallow: /%s\n" % (b"x" * 400_000)
    for number in range(8):
        _ask(robots, clock, f"https://large{number}.example/")
    assert sum(kept.size for kept in robots._kept.values()) <= 2_000_000


def test_a_file_is_read_up_to_500_kib() -> None:
    """What stands behind is not looked at, and what stands before is kept to."""
    filler = "# bells\n" * 70_000
    assert _permission(FakeSite("User-agent: *\nDisallow: /tower\n" + filler)).refusal is FetchReason.ROBOTS
    assert _permission(FakeSite(filler + "User-agent: *\nDisallow: /tower\n")).refusal is None


def test_a_file_of_many_agents_and_many_rules_is_not_multiplied() -> None:
    """The parser would make 150 million rules of these 500 KiB."""
    agents = "".join(f"User-agent: a{number}\n" for number in range(13_000))
    rules = "".join(f"Disallow: /{number}\n" for number in range(13_000))
    clock, robots = FakeClock(), Robots(FakeSite(agents + "User-agent: *\n" + rules), FakeClock())
    assert _ask(robots, clock, "https://bells.example/12999").refusal is FetchReason.ROBOTS
    (kept,) = robots._kept.values()
    assert kept.rules is not None
    assert len(kept.rules._user_agents) == 2


@given(st.one_of(st.binary(max_size=400), st.text(max_size=400).map(str.encode)))
def test_no_file_breaks_its_reader(body: bytes) -> None:
    """Whatever stands in it."""
    assert _permission(FakeSite(body)).refusal in (None, FetchReason.ROBOTS)


_LINES = st.lists(
    st.tuples(
        st.sampled_from(("User-agent", "useragent", "Disallow", "Allow", "Crawl-delay", "Request-rate", "Visit-time")),
        st.sampled_from((":", " ", ": ", " : ", "\t")),
        st.sampled_from(
            ("*", "Zarniwoop", "x", "/", "/tower", "/*$", "$$", "%", "1e999", "1/0s", "0400-9999", "-1", "")
        ),
    ).map("".join),
    max_size=20,
)


@given(_LINES)
def test_no_rule_breaks_its_reader(lines: list[str]) -> None:
    """Every directive with every odd value."""
    permission = _permission(FakeSite("\n".join(lines)))
    assert permission.refusal in (None, FetchReason.ROBOTS)
    assert permission.crawl_delay is None or 0.0 <= permission.crawl_delay <= 86_400.0
