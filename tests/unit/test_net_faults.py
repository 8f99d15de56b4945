"""Every way in which an answer does not come: broken, slow, endless."""

import gzip
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.asking import Make, ask, failure_of, one_transport, transports
from tests.fakes.origin import Act, Origin, drip, flood, hang, hang_up, raw, reply, reset, reset_after
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderError, ProviderUnavailable
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.net.exchange import Limits
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock

make = pytest.fixture(transports)
transport = pytest.fixture(one_transport)

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_MANY = b"".join(b"X-%d: y\r\n" % number for number in range(201))

_BROKEN: dict[str, tuple[Act, type[ProviderError], Cause]] = {
    "reset before an answer": (reset, ProviderUnavailable, Cause.RESET),
    "hung up before an answer": (hang_up, ProviderUnavailable, Cause.RESET),
    "reset in the body": (reset_after(_HEAD + b"Content-Length: 9\r\n\r\n{"), ProviderUnavailable, Cause.RESET),
    "short body": (raw(_HEAD + b"Content-Length: 9\r\n\r\n{}"), MalformedAnswer, Cause.TRUNCATED),
    "short chunk": (raw(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\n{}"), MalformedAnswer, Cause.TRUNCATED),
    "short head": (raw(_HEAD), MalformedAnswer, Cause.TRUNCATED),
    "two codings": (reply(headers={"Content-Encoding": "gzip, gzip"}), MalformedAnswer, Cause.ENCODING),
    "coding not asked for": (reply(headers={"Content-Encoding": "br"}), MalformedAnswer, Cause.ENCODING),
    "not gzip": (reply(headers={"Content-Encoding": "gzip"}), MalformedAnswer, Cause.ENCODING),
    "short gzip": (
        reply(gzip.compress(b"bells")[:-4], headers={"Content-Encoding": "gzip"}), MalformedAnswer, Cause.TRUNCATED
    ),
    "huge length": (raw(_HEAD + b"Content-Length: 10737418240\r\n\r\n"), MalformedAnswer, Cause.TOO_LARGE),
    "too many headers": (raw(_HEAD + _MANY + b"Content-Length: 0\r\n\r\n"), MalformedAnswer, Cause.HEADERS),
    "one long header": (
        raw(_HEAD + b"X: " + b"a" * 33_000 + b"\r\nContent-Length: 0\r\n\r\n"), MalformedAnswer, Cause.HEADERS
    ),
    "endless header": (flood(_HEAD + b"X: ", b"a" * 9000), MalformedAnswer, Cause.HEADERS),
    "endless interim answers": (
        flood(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100), MalformedAnswer, Cause.HEADERS
    ),
    "interim answers one by one": (
        drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", every=0.0002), MalformedAnswer, Cause.HEADERS
    ),
    "length and chunks": (
        raw(_HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        MalformedAnswer,
        Cause.PROTOCOL,
    ),
    "two lengths": (raw(_HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), MalformedAnswer, Cause.PROTOCOL),
    "folded header": (raw(_HEAD + b"X: a\r\n b\r\nContent-Length: 0\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "status 999": (raw(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "status 101": (raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "status of letters": (raw(b"HTTP/1.1 abc Odd\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "no head at all": (raw(b"<html>hello</html>\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "zero byte in a header": (raw(_HEAD + b"X: a\x00b\r\nContent-Length: 0\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "bad chunk size": (raw(_HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n"), MalformedAnswer, Cause.PROTOCOL),
}  # fmt: skip


@pytest.mark.parametrize("fault", _BROKEN)
def test_a_broken_answer_is_told_by_its_cause(transport: PooledTransport, fault: str) -> None:
    """And the key that was sent is nowhere in what is raised."""
    act, kind, cause = _BROKEN[fault]
    with Origin(act) as origin:
        failure = failure_of(transport, origin.url, method="POST", seconds=2.0)
        assert (type(failure), failure.cause) == (kind, cause)
        assert len(origin.requests) == 1


_SLOW: dict[str, Act] = {
    "silence": hang,
    "dripped head": drip(b"HTTP/1.1 200 OK\r\nX: ", b"a"),
    "dripped body": drip(_HEAD + b"Content-Length: 9999\r\n\r\n", b" "),
    "dripped chunks": drip(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "dripped interim answers": drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
}


@pytest.mark.parametrize("fault", _SLOW)
def test_the_deadline_ends_every_kind_of_waiting(transport: PooledTransport, fault: str) -> None:
    """Each drop resets a per-read timeout; the deadline is total."""
    with Origin(_SLOW[fault]) as origin:
        started = time.monotonic()
        failure = failure_of(transport, origin.url, seconds=0.25)
        assert failure.cause is Cause.DEADLINE
        assert time.monotonic() - started < 0.35


def test_one_read_has_its_own_cap(make: Make) -> None:
    with Origin(hang) as origin:
        assert failure_of(make(limits=Limits(read=0.05)), origin.url).cause is Cause.TIMEOUT


def test_a_peer_that_does_not_take_the_request_is_given_up_on(make: Make) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    request = HttpRequest(url=f"http://127.0.0.1:{listener.getsockname()[1]}/", method="POST", json="x" * 20_000_000)
    with listener, pytest.raises(ProviderUnavailable) as caught:
        make(limits=Limits(write=0.05)).send(request, deadline=Deadline.after(5, SystemClock()))
    assert caught.value.cause is Cause.TIMEOUT


def test_nothing_is_sent_when_there_is_no_time_left(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        assert failure_of(transport, origin.url, seconds=0.0).cause is Cause.DEADLINE
        assert origin.connections == 0


def test_a_request_that_gets_no_connection_waits_no_longer_than_its_deadline(make: Make) -> None:
    transport = make(max_connections=1)
    with Origin(hang) as origin, ThreadPoolExecutor(1) as pool:
        first = pool.submit(failure_of, transport, origin.url, seconds=0.4)
        while not origin.requests:
            time.sleep(0.005)
        assert failure_of(transport, origin.url, seconds=0.1).cause is Cause.DEADLINE
        assert first.result().cause is Cause.DEADLINE


def test_an_endless_body_ends_at_the_cap(transport: PooledTransport) -> None:
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    with Origin(flood(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk)) as origin:
        assert failure_of(transport, origin.url).cause is Cause.TOO_LARGE


def test_chunk_extensions_count_against_the_cap(transport: PooledTransport) -> None:
    """One byte of body in a thousand on the wire would otherwise be read for a very long time."""
    chunk = b"1;" + b"e" * 9000 + b"\r\nx\r\n"
    with Origin(flood(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk)) as origin:
        assert failure_of(transport, origin.url).cause is Cause.TOO_LARGE


def test_a_request_may_set_its_own_cap(transport: PooledTransport) -> None:
    with Origin(reply(b"x" * 2000)) as origin:
        assert len(ask(transport, origin.url, max_bytes=2000).body) == 2000
        with pytest.raises(MalformedAnswer) as caught:
            ask(transport, origin.url, max_bytes=1999)
        assert caught.value.cause is Cause.TOO_LARGE
