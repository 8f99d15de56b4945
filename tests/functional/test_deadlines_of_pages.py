"""Twenty ways to keep a reader waiting or to fill it up: none takes longer than it may, by the clock, or more bytes.

What each adds to the memory of the process is measured by `make bench`.
"""

import gzip
import itertools
import tracemalloc
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from tests.fakes.fetching import Fetched, environment_on, through_page_fetcher
from tests.fakes.page_reader import FakePageReader
from tests.fakes.timed_wire import NEVER, Script, TimedWire
from tests.fakes.web import Web
from zarniwoop.contract.page import PageOutcome
from zarniwoop.net.body import DEFAULT_MAX_BYTES
from zarniwoop.net.exchange import MOST_HEAD_READ

SECONDS, GRACE = 9.0, 0.1
LATE = (PageOutcome.OUT_OF_TIME, "deadline")
SILENT = (PageOutcome.UNAVAILABLE, "timeout")
LARGE = (PageOutcome.TOO_LARGE, "body_too_large")
HEADS = (PageOutcome.TOO_LARGE, "headers_too_large")
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
GZIP = OK + b"Content-Encoding: gzip\r\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
MOVED = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /again\r\n\r\n"


def says(opening: bytes, *more: tuple[float, bytes]) -> Script:
    """At once the opening, then the rest."""
    return lambda _target: iter([(0.0, opening), *more])


def goes_on(opening: bytes, wave: bytes, every: float = 0.0) -> Script:
    """Without an end."""
    return lambda _target: itertools.chain([(0.0, opening)], itertools.repeat((every, wave)))


def ten_gigabytes() -> Iterator[tuple[float, bytes]]:
    """Zeros in ten megabytes of gzip, made as they are taken."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    megabyte = bytes(1_000_000)
    opening = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
    yield 0.0, GZIP + b"Content-Length: %d\r\n\r\n" % (len(opening) + 9_999 * len(again)) + opening
    for _ in range(9_999):
        yield 0.0, again


ABUSES: Mapping[str, tuple[Script, tuple[PageOutcome, str]]] = {
    "silence": (says(b"", (NEVER, b"x")), SILENT),
    "half a head, then silence": (says(OK, (NEVER, b"x")), SILENT),
    "half a body, then silence": (says(OK + b"Content-Length: 9\r\n\r\nbell", (NEVER, b"x")), SILENT),
    "a head, byte by byte": (goes_on(OK + b"X: ", b"a", 1.0), LATE),
    "headers, one a second": (goes_on(OK, b"X: y\r\n", 1.0), LATE),
    "a body, byte by byte": (goes_on(OK + b"Content-Length: 99999\r\n\r\n", b" ", 1.0), LATE),
    "chunks, one every seven seconds": (goes_on(CHUNKED, b"1\r\nx\r\n", 7.0), LATE),
    "gzip, member by member": (goes_on(GZIP + b"\r\n", gzip.compress(b" "), 1.0), LATE),
    "interim answers, one a second": (goes_on(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 1.0), LATE),
    "redirects, one every two seconds": (lambda _target: iter([(2.0, MOVED)]), LATE),
    "redirects without an end": (says(MOVED), (PageOutcome.UNAVAILABLE, "too_many_redirects")),
    "ten gigabytes in ten megabytes": (lambda _target: ten_gigabytes(), LARGE),
    "a body of two gigabytes": (goes_on(OK + b"Content-Length: 2147483648\r\n\r\n", bytes(65_536)), LARGE),
    "a body without an end": (goes_on(OK + b"\r\n", bytes(65_536)), LARGE),
    "chunks without an end": (goes_on(CHUNKED, b"1000\r\n" + b"x" * 4096 + b"\r\n"), LARGE),
    "extensions without an end": (goes_on(CHUNKED, b"1;a=" + b"a" * 60_000 + b"\r\nx\r\n"), LARGE),
    "empty members without an end": (goes_on(GZIP + b"\r\n", gzip.compress(b"") * 3_000), LARGE),
    "a million headers": (goes_on(OK, b"".join(b"X-%d: y\r\n" % number for number in range(1_000))), HEADS),
    "one header without an end": (goes_on(OK + b"X: ", b"a" * 65_536), HEADS),
    "interim answers without an end": (goes_on(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100), HEADS),
}


def fetched_over(wire: TimedWire, **asked: Any) -> tuple[Fetched, float]:
    """How it ended, and how long it took by the wire's clock."""
    begun = wire.clock.monotonic()
    with environment_on(cast(Web, wire), FakePageReader(), clock=wire.clock) as environment:
        fetched = through_page_fetcher(environment, seconds=SECONDS, **asked)("http://t.evil.test/page")
    return fetched, wire.clock.monotonic() - begun


@pytest.mark.parametrize("name", ABUSES)
def test_no_abuse_takes_longer_than_it_may_or_more_than_it_may(name: str) -> None:
    """By its own outcome, a tenth of a second behind the deadline at the most."""
    script, end = ABUSES[name]
    wire = TimedWire(script)
    fetched, seconds = fetched_over(wire, honour_robots=False)
    assert (fetched.outcome, fetched.reason) == end
    assert seconds <= SECONDS + GRACE
    assert wire.taken <= DEFAULT_MAX_BYTES + 2 * MOST_HEAD_READ


@pytest.mark.parametrize(("connects", "sends"), [(NEVER, 0.0), (0.0, NEVER)], ids=["no connection", "no ear"])
def test_a_host_that_is_there_for_nobody_is_left_in_time(connects: float, sends: float) -> None:
    """Neither dialling nor speaking has to come to an end."""
    wire = TimedWire(says(OK), connect_seconds=connects, send_seconds=sends)
    fetched, seconds = fetched_over(wire, honour_robots=False)
    assert (fetched.outcome, fetched.reason) == SILENT
    assert seconds <= SECONDS + GRACE


@pytest.mark.parametrize("name", ABUSES)
def test_rules_of_robots_that_do_not_come_take_no_longer_than_the_page(name: str) -> None:
    """The same where robots.txt is to be; where it cannot be had in time, the page is not asked for."""
    script, _ = ABUSES[name]
    wire = TimedWire(lambda target: script(target) if target in ("/robots.txt", "/again") else iter([(0.0, NOT_FOUND)]))
    fetched, seconds = fetched_over(wire)
    assert fetched.outcome is not PageOutcome.OK
    assert seconds <= SECONDS + GRACE


def test_ten_gigabytes_are_given_up_after_their_first_five_megabytes() -> None:
    """A few kilobytes of the wire; neither the ten megabytes nor what they unfold to is ever held."""
    wire = TimedWire(lambda _target: ten_gigabytes())
    fetched_over(TimedWire(says(NOT_FOUND)), honour_robots=False)
    tracemalloc.start()
    try:
        fetched, _ = fetched_over(wire, honour_robots=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert fetched.outcome is PageOutcome.TOO_LARGE
    assert wire.taken < 20_000
    assert peak < 10_000_000
