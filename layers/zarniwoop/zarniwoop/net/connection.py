"""One connection and the HTTP/1.1 spoken on it.

The protocol is h11's: https://h11.readthedocs.io. It knows no sockets; here are the ones it is used with.
Quirk: head and body of a request leave in one packet. Sent apart, the second would wait for the first to be confirmed.
"""

import contextlib
import select
import socket
import ssl
from collections.abc import Iterator
from typing import Final

import h11

from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.exchange import MOST_HEAD_READ, ONE_READ, Exchange, Limits
from zarniwoop.net.message import Message

_KEPT_SECONDS: Final = 60.0
_LONGEST_LINE: Final = 2 * MOST_HEAD_READ
"""Above what an exchange takes in before it speaks of a head that is too large."""
_END: Final = h11.EndOfMessage()


class Connection:
    """A connection, plain or TLS. It may serve many exchanges, one after the other, on different threads."""

    def __init__(self, connection: socket.socket, origin: tuple[str, str, int], limits: Limits) -> None:
        self.origin = origin
        self._connection = connection
        self._limits = limits
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_LINE)
        self._given: list[tuple[bytes, bytes]] = []
        self._last: h11.Request | None = None
        self._kept_until = 0.0
        self._is_deaf = False
        self._poll = select.poll()
        self._poll.register(connection.fileno(), select.POLLIN)

    def ask(self, message: Message, exchange: Exchange) -> h11.Response:
        """Send a request; return the head of its answer. Interim answers are passed over.

        Raises ProviderUnavailable, h11.LocalProtocolError for what cannot be sent, h11.RemoteProtocolError.
        """
        packet = self._protocol.send(self._request(message)) or b""
        if message.body:
            packet += self._protocol.send(h11.Data(data=message.body)) or b""
        self._protocol.send(_END)
        self._send(packet, exchange)
        while True:
            event = self._next_event(exchange)
            if isinstance(event, h11.Response):
                return event

    def _request(self, message: Message) -> h11.Request:
        """h11 looks at every header, which costs as much as the rest of it: not again at those of the last request."""
        given, last = message.headers_on_the_wire(), self._last
        known = last.headers if last is not None and given == self._given else given
        self._last = h11.Request(method=message.method, target=message.target_on_the_wire(), headers=known)
        self._given = given
        return self._last

    def body(self, exchange: Exchange) -> Iterator[bytes]:
        """The body of the answer whose head has come, piece by piece as it arrives. Raises like `ask`."""
        while isinstance(event := self._next_event(exchange), h11.Data):
            yield bytes(event.data)

    def _next_event(self, exchange: Exchange) -> h11.Event | type[h11.PAUSED]:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            self._protocol.receive_data(self._receive(exchange))
        return event  # type: ignore[return-value] # that it is not NEED_DATA is not seen

    def _send(self, packet: bytes, exchange: Exchange) -> None:
        """A peer that no longer listens may have answered already, so reading goes on."""
        unsent = memoryview(packet)
        while unsent:
            allowance = exchange.allowance(self._limits.write)
            try:
                self._connection.settimeout(allowance)
                unsent = unsent[self._connection.send(unsent) :]
            except TimeoutError:
                raise exchange.ran_out(allowance, self._limits.write) from None
            except OSError:
                self._is_deaf = True
                return

    def _receive(self, exchange: Exchange) -> bytes:
        allowance = exchange.allowance(self._limits.read)
        try:
            self._connection.settimeout(allowance)
            data = self._connection.recv(ONE_READ)
        except TimeoutError:
            raise exchange.ran_out(allowance, self._limits.read) from None
        except ssl.SSLError:
            raise ProviderUnavailable("the secure connection broke", cause=Cause.TLS) from None
        except OSError:
            raise ProviderUnavailable("the provider reset the connection", cause=Cause.RESET) from None
        exchange.take_in(data)
        return data

    def is_done(self) -> bool:
        """Whether request and answer are both at their end and another request may follow."""
        return self._protocol.our_state is h11.DONE and self._protocol.their_state is h11.DONE and not self._is_deaf

    def rest(self, now: float) -> None:
        """Be ready for the next exchange; `now` in monotonic seconds."""
        self._protocol.start_next_cycle()
        self._kept_until = now + _KEPT_SECONDS

    def is_sound(self, now: float) -> bool:
        """Whether a resting connection may be used again: what is there to read by now is a hang-up, or worse."""
        return now < self._kept_until and not self._poll.poll(0)

    def abort(self) -> None:
        """Hang up from another thread: whoever reads here gets an end at once. Closing is left to the owner.

        Not through TLS, whose own `shutdown` would pull the encryption away under the reader.
        """
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._connection, socket.SHUT_RDWR)

    def close(self) -> None:
        self._connection.close()
