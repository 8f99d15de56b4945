"""One reading of a URL: ours, the standard library's, urllib3's and a browser's, over many that are nearly ones."""

import contextlib
import socket
import zlib
from collections.abc import Sequence

import pytest

from tests.fakes.mutated_urls import differing, mutated_urls, node, place_of, read_by_browsers
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.transport import PooledTransport
from zarniwoop.net.url import Target, parse, spelled
from zarniwoop.observe.clock import SystemClock

COUNT = 100_000
DIALLED = 400
_WITHOUT_CASE = (range(0x3400, 0xA000), range(0xAC00, 0xE000), range(0x12000, 0x1D000), range(0x20000, 0xE0000))

needs_node = pytest.mark.skipif(node() is None, reason="Playwright has no Node.js for this machine")


def _accepted(count: int) -> dict[str, Target]:
    """Of so many URLs those that may be asked, each with what we read in it."""
    found = {}
    for url in mutated_urls(count):
        try:
            found[url] = parse(url, allowed=AllowedNetworks(), plain_http=True)
        except ProviderUnavailable as refusal:
            assert refusal.cause is Cause.ADDRESS, ascii(url)
    return found


@pytest.fixture(scope="module")
def accepted() -> dict[str, Target]:
    return _accepted(COUNT)


def test_what_is_written_anew_is_read_as_the_same(accepted: dict[str, Target]) -> None:
    """Once is as good as twice, for every URL that is taken."""
    assert len(accepted) > COUNT // 20
    assert [url for url, target in accepted.items() if spelled(target.url()) != target] == []


@needs_node
def test_nobody_reads_another_host_or_port_in_what_we_take(accepted: dict[str, Target]) -> None:
    """In its one spelling by anybody, and as it was written by a browser, unless that refuses it."""
    assert differing(list(accepted), list(accepted.values())) == []


@needs_node
def test_no_letter_is_read_as_another_or_dropped() -> None:
    """In any label, the great scripts without case aside, whose letters are all alike: what browsers map is refused."""
    taken = {}
    for number in range(0x80, 0xF0000):
        if any(number in block for block in _WITHOUT_CASE):
            continue
        url = f"http://a{chr(number)}b.example/"
        with contextlib.suppress(ProviderUnavailable):
            taken[url] = spelled(url)
    assert len(taken) > 13_000
    assert differing(list(taken), list(taken.values())) == []


@needs_node
def test_readers_that_fall_out_would_be_noticed() -> None:
    """A URL that a browser reads otherwise than we would, had we not refused it."""
    target = Target(scheme="http", host="example.com", port=80, path_and_query="/")
    assert differing(["http://example.com\\@127.0.0.1/"], [target]) == []
    assert differing(["http://127.0.0.1\\@example.com/"], [target]) == [
        ("browser, as written", "http://127.0.0.1\\@example.com/")
    ]
    assert read_by_browsers(["http://0x7f.1/", "http://a b/"]) == [("127.0.0.1", 80), None]


@needs_node
def test_what_is_dialled_is_what_that_one_host_was_resolved_to(accepted: dict[str, Target]) -> None:
    """Down at the socket: an address of the host that everybody reads, on the port that everybody reads."""
    dialled: list[tuple[str, int]] = []

    def resolve(host: str, _port: int) -> Sequence[str]:
        return [_address_of(host)]

    def dial(address: str, port: int, _seconds: float) -> socket.socket:
        dialled.append((address, port))
        raise ConnectionRefusedError

    transport = PooledTransport(contact="", plain_http=True, resolve=resolve, dial=dial)
    urls = list(accepted)[:DIALLED]
    for url in urls:
        with pytest.raises(ProviderUnavailable) as caught:
            transport.send(HttpRequest(url=url), deadline=Deadline.after(5.0, SystemClock()))
        assert caught.value.cause is Cause.CONNECT
    read = read_by_browsers([accepted[url].url() for url in urls])
    assert dialled == [(_address_of(place[0]), place[1]) for place in read if place]
    assert [place_of(accepted[url]) for url in urls] == read


def _address_of(host: str) -> str:
    """A public address for each name, itself for an address."""
    if ":" in host or host.replace(".", "").isdigit():
        return host
    number = zlib.crc32(host.encode())
    return f"93.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
