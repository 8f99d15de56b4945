"""Connections that are kept: reused, replaced once when they are dead, dropped when they are not clean."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.asking import Make, ask, failure_of, one_transport, transports
from tests.fakes.clock import FakeClock
from tests.fakes.origin import Conversation, Origin, drip, hang_up, raw, reply, reply_and_hang_up, reset
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.transport import HeaderKey, HttpRequest
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock

make = pytest.fixture(transports)
transport = pytest.fixture(one_transport)

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def test_what_comes_after_the_answer_never_opens_the_next_one(transport: PooledTransport) -> None:
    """A second answer in the same packet, held for the next request, would be given to somebody else."""
    sound = _HEAD + b"Content-Length: 2\r\n\r\n{}"
    smuggled = _HEAD + b"Content-Length: 3\r\n\r\nbad"
    with Origin(raw(sound + smuggled, kept_open=True)) as origin:
        assert ask(transport, origin.url).body == b"{}"
        assert ask(transport, origin.url).body == b"{}"
        assert origin.connections == 2


def test_what_comes_after_a_chunked_answer_never_opens_the_next_one(transport: PooledTransport) -> None:
    sound = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    with Origin(raw(sound + b"HTTP/1.1 200 OK\r\n", kept_open=True)) as origin:
        assert ask(transport, origin.url).body == b"{}"
        assert ask(transport, origin.url).body == b"{}"


def test_a_head_with_bare_line_feeds_costs_its_connection(transport: PooledTransport) -> None:
    """Where such a head ends cannot be told for sure."""
    with Origin(raw(b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", kept_open=True)) as origin:
        assert ask(transport, origin.url).body == b"{}"
        assert ask(transport, origin.url).body == b"{}"
        assert origin.connections == 2


def test_an_answer_that_was_there_before_its_request_is_refused(transport: PooledTransport) -> None:
    """The one way past the check above: a chunked answer and a second one that ends just like it."""
    chunked = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    with Origin(raw(chunked + chunked, kept_open=True)) as origin:
        assert ask(transport, origin.url).body == b"{}"
        assert failure_of(transport, origin.url).cause is Cause.PROTOCOL
        assert ask(transport, origin.url).body == b"{}"


def test_a_kept_connection_sends_each_request_its_own_key(transport: PooledTransport) -> None:
    """Headers like the last ones are not looked at again, and nothing of them stays for others."""
    place, keys = HeaderKey(name="X-Key"), ["first-key-1", "second-key-2", "second-key-2", None]
    with Origin(reply()) as origin:
        for key in keys:
            ask(transport, origin.url, authentication=place, secret=key)
        assert [each.headers.get("x-key") for each in origin.requests] == keys
        assert origin.connections == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_connection_closed_while_idle_is_replaced_without_a_word(transport: PooledTransport, method: str) -> None:
    with Origin(reply_and_hang_up()) as origin:
        for _ in range(3):
            assert ask(transport, origin.url, method=method).status == 200
        assert len(origin.requests) == 3


def test_a_kept_connection_that_dies_under_a_request_is_replaced_once(transport: PooledTransport) -> None:
    """The request was sent into a dead connection and no byte came back: it is sent once more, and that is all."""
    with Origin(reply(), hang_up, reply(b"[]")) as origin:
        ask(transport, origin.url, method="POST")
        assert ask(transport, origin.url, method="POST").body == b"[]"
        assert (len(origin.requests), origin.connections) == (3, 2)


def test_a_second_hang_up_is_a_failure(transport: PooledTransport) -> None:
    with Origin(reply(), reset, hang_up, reply()) as origin:
        ask(transport, origin.url)
        assert failure_of(transport, origin.url, method="POST").cause is Cause.RESET
        assert len(origin.requests) == 3


def test_a_new_connection_that_is_hung_up_on_is_not_tried_again(transport: PooledTransport) -> None:
    """The provider saw this request, and it may have cost a credit."""
    with Origin(hang_up, reply()) as origin:
        assert failure_of(transport, origin.url, method="POST").cause is Cause.RESET
        assert len(origin.requests) == 1


def test_a_kept_connection_that_answers_half_is_not_replaced(transport: PooledTransport) -> None:
    with Origin(reply(), raw(b"HTTP/1.1 2"), reply()) as origin:
        ask(transport, origin.url)
        assert failure_of(transport, origin.url).cause is Cause.TRUNCATED
        assert len(origin.requests) == 2


def test_the_replacement_is_new_even_when_other_kept_connections_are_dead_too(transport: PooledTransport) -> None:
    """After a long freeze all connections are dead at once."""
    together = threading.Barrier(2, timeout=5)

    def reply_together(conversation: Conversation) -> None:
        together.wait()
        reply()(conversation)

    with Origin(reply_together, reply_together, hang_up, reply()) as origin:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: ask(transport, origin.url), range(2)))
        assert ask(transport, origin.url).status == 200
        assert origin.connections == 3


def test_an_early_answer_to_a_request_that_was_not_read_is_heard(transport: PooledTransport) -> None:
    """A server may refuse a large body before it has read it, and close."""
    listener = socket.create_server(("127.0.0.1", 0))

    def refuse() -> None:
        connection, _ = listener.accept()
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        connection.shutdown(socket.SHUT_RDWR)
        time.sleep(0.05)
        connection.close()

    server = threading.Thread(target=refuse)
    server.start()
    request = HttpRequest(url=f"http://127.0.0.1:{listener.getsockname()[1]}/", method="POST", json="x" * 20_000_000)
    with listener:
        try:
            assert transport.send(request, deadline=Deadline.after(5, SystemClock())).status == 413
        except ProviderUnavailable as failure:  # the reset may overtake the answer; never a hang, never a second try
            assert failure.cause is Cause.RESET
        server.join(2)


def test_threads_share_the_transport_without_mixing_answers_or_deadlines(transport: PooledTransport) -> None:
    """One thread's short deadline must not end another's exchange on a connection that both have used."""

    with Origin(reply(b"ok")) as origin, Origin(drip(_HEAD + b"Content-Length: 999\r\n\r\n", b" ")) as slow:

        def many(number: int) -> int:
            if number == 0:
                assert failure_of(transport, slow.url, seconds=0.1).cause is Cause.DEADLINE
            return sum(ask(transport, f"{origin.url}/{number}").body == b"ok" for _ in range(20))

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(many, range(8))) == 160
        assert len(origin.requests) == 160
        assert origin.connections <= 8


def test_a_closed_transport_holds_no_connection(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        ask(transport, origin.url)
        transport.close()
        assert ask(transport, origin.url).status == 200
        assert transport.connections_opened == 2


def test_a_connection_is_not_kept_for_ever(transport: PooledTransport) -> None:
    """Servers and the boxes between give idle connections up without a word."""
    clock = FakeClock()

    def ask_at_the_clock() -> int:
        return transport.send(HttpRequest(url=origin.url), deadline=Deadline.after(5, clock)).status

    with Origin(reply()) as origin:
        ask_at_the_clock()
        clock.advance(59)
        ask_at_the_clock()
        assert origin.connections == 1
        clock.advance(61)
        ask_at_the_clock()
        assert origin.connections == 2


def test_no_more_connections_rest_than_may_be_out(make: Make) -> None:
    """The one that was used longest ago makes room."""
    transport = make(max_connections=1)
    with Origin(reply()) as first, Origin(reply()) as second:
        for origin in (first, second, second, first):
            ask(transport, origin.url)
        assert (first.connections, second.connections) == (2, 1)


def test_a_failed_connection_leaves_its_turn_to_the_next(make: Make) -> None:
    """Else a dead provider would use up the turns of all others."""
    transport = make(max_connections=1)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with Origin(hang_up, reply()) as origin:
        assert failure_of(transport, f"http://127.0.0.1:{port}/").cause is Cause.CONNECT
        assert failure_of(transport, origin.url).cause is Cause.RESET
        assert ask(transport, origin.url).status == 200
