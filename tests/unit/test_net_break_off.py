"""Exchanges broken off from outside: the reader sees an end at once, and nobody else's connection is touched."""

import threading

import pytest

from tests.fakes.asking import ask, broken_off, one_transport, transports
from tests.fakes.origin import Conversation, Origin, drip, hang, reply
from zarniwoop.contract.deadline import BreakOff, Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock

make = pytest.fixture(transports)
transport = pytest.fixture(one_transport)


def test_a_request_without_an_answer_ends_when_it_is_broken_off(transport: PooledTransport) -> None:
    """The deadline is half a minute away; the connection is not kept."""
    with Origin(hang, reply()) as origin:
        failure = broken_off(transport, origin.url, when=lambda: bool(origin.requests))
        assert failure.cause in (Cause.RESET, Cause.DEADLINE)  # as the reader was, or was not yet, waiting
        assert ask(transport, origin.url).status == 200
        assert (len(origin.requests), origin.connections) == (2, 2)


def test_a_kept_connection_that_is_broken_off_is_not_mistaken_for_a_stale_one(transport: PooledTransport) -> None:
    """No second request goes out: the provider sees the first, and that is all."""
    with Origin(reply(), hang) as origin:
        ask(transport, origin.url)
        failure = broken_off(transport, origin.url, when=lambda: len(origin.requests) == 2)
        assert isinstance(failure, ProviderUnavailable)
        assert failure.cause is Cause.DEADLINE
        assert (len(origin.requests), origin.connections) == (2, 1)


def test_an_answer_half_read_ends_when_it_is_broken_off(transport: PooledTransport) -> None:
    """Whatever it looks like by then, it is a provider's failure of some kind."""
    opening = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    with Origin(drip(opening, b" ")) as origin:
        broken_off(transport, origin.url, when=lambda: bool(origin.requests))


def test_what_is_broken_off_before_it_began_is_not_sent(transport: PooledTransport) -> None:
    """There is no time for it."""
    break_off = BreakOff()
    break_off.break_off()
    with Origin(reply()) as origin, pytest.raises(ProviderUnavailable):
        transport.send(HttpRequest(url=origin.url), deadline=Deadline.after(5.0, SystemClock()).breakable(break_off))
    assert not origin.requests


def test_breaking_off_what_has_ended_leaves_the_kept_connection_alone(transport: PooledTransport) -> None:
    """It may serve another search by then."""
    break_off, let_go = BreakOff(), threading.Event()

    def late(conversation: Conversation) -> None:
        let_go.wait(10.0)
        reply(b"[]")(conversation)

    with Origin(reply(), late) as origin:
        deadline = Deadline.after(5.0, SystemClock()).breakable(break_off)
        transport.send(HttpRequest(url=origin.url), deadline=deadline)
        answers: list[bytes] = []
        other = threading.Thread(target=lambda: answers.append(ask(transport, origin.url).body))
        other.start()
        break_off.break_off()
        let_go.set()
        other.join()
        assert answers == [b"[]"]
        assert origin.connections == 1
