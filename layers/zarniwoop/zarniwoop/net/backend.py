"""The sockets: addresses are checked where they are dialled, and every operation ends with its exchange's deadline.

Built on httpcore's network backend: https://www.encode.io/httpcore/network-backends/. The pool knows hosts by their
name, so certificate, SNI and Host header stay the name, while what is dialled is one of the addresses just checked.
Quirk: writes are held back until the first read, so that the head and the body of a request leave in one packet.
"""

import select
import socket
import ssl
import threading
from collections.abc import Iterable, Sequence
from typing import cast

import httpcore

from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.address import AllowedNetworks, number_of
from zarniwoop.net.exchange import CurrentExchange, Exchange, Limits
from zarniwoop.net.lookup import Lookup, Resolve, system_addresses
from zarniwoop.net.tls import TlsContext


class GuardedBackend(httpcore.NetworkBackend):
    """Dials checked addresses only. `current` is set by the transport around each exchange."""

    def __init__(self, allowed: AllowedNetworks, limits: Limits, resolve: Resolve = system_addresses) -> None:
        self.current = CurrentExchange()
        self.connections_opened = 0
        self._counting = threading.Lock()
        self._allowed = allowed
        self._limits = limits
        self._lookup = Lookup(resolve, limits.lookup)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - httpcore's signature
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        exchange = _under_way(self.current)
        addresses = self._checked_addresses(host, port, exchange)
        exchange.connected = True
        exchange.reconnecting_to = None
        connection = self._dial(addresses, port, exchange)
        with self._counting:
            self.connections_opened += 1
        return GuardedStream(connection, (host, port), self.current, self._limits)

    def _checked_addresses(self, host: str, port: int, exchange: Exchange) -> Sequence[str]:
        """All addresses of the host, looked up once. One that is bad makes all the others suspect."""
        addresses = (host,) if number_of(host) else self._lookup.addresses(host, port, exchange)
        if not all(self._allowed.permit(address, host=host, port=port) for address in addresses):
            raise ProviderUnavailable("this host leads to an address that is not public", cause=Cause.ADDRESS)
        return addresses

    def _dial(self, addresses: Sequence[str], port: int, exchange: Exchange) -> socket.socket:
        failure = ProviderUnavailable("the provider cannot be reached", cause=Cause.CONNECT)
        for address in addresses:
            allowance = exchange.allowance(self._limits.connect)
            try:
                return _connected(address, port, allowance)
            except TimeoutError:
                failure = exchange.ran_out(allowance, self._limits.connect)
            except OSError:
                failure = ProviderUnavailable("the provider cannot be reached", cause=Cause.CONNECT)
        raise failure


def _under_way(current: CurrentExchange) -> Exchange:
    exchange = current.exchange
    if exchange is None:
        raise RuntimeError("a socket was used outside an exchange")
    return exchange


def _connected(address: str, port: int, allowance: float) -> socket.socket:
    connection = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.settimeout(allowance)
        connection.connect((address, port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        connection.close()
        raise
    return connection


class GuardedStream(httpcore.NetworkStream):
    """One connection, plain or TLS. It may serve many exchanges, one after the other, on different threads."""

    def __init__(
        self, connection: socket.socket, place: tuple[str, int], current: CurrentExchange, limits: Limits
    ) -> None:
        self._connection = connection
        self._place = place
        self._current = current
        self._limits = limits
        self._unsent: list[bytes] = []
        self._spoilt = False
        self._poll = select.poll()
        self._poll.register(connection.fileno(), select.POLLIN)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        if buffer:
            self._unsent.append(buffer)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        exchange = _under_way(self._current)
        if self._unsent:
            self._flush(exchange)
        allowance = exchange.allowance(self._limits.read)
        try:
            self._connection.settimeout(allowance)
            data = self._connection.recv(max_bytes)
        except TimeoutError:
            raise exchange.ran_out(allowance, self._limits.read) from None
        except ssl.SSLError:
            raise ProviderUnavailable("the secure connection broke", cause=Cause.TLS) from None
        except OSError:
            raise ProviderUnavailable("the provider reset the connection", cause=Cause.RESET) from None
        exchange.take_in(data)
        return data

    def _flush(self, exchange: Exchange) -> None:
        """Send what was written. A peer that no longer listens may have answered already, so reading goes on."""
        unsent = memoryview(b"".join(self._unsent))
        self._unsent.clear()
        while unsent:
            allowance = exchange.allowance(self._limits.write)
            try:
                self._connection.settimeout(allowance)
                unsent = unsent[self._connection.send(unsent) :]
            except TimeoutError:
                raise exchange.ran_out(allowance, self._limits.write) from None
            except OSError:
                self._spoilt = True
                return

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        exchange = _under_way(self._current)
        context = cast(TlsContext, ssl_context).context()
        allowance = exchange.allowance(self._limits.handshake)
        self._connection.settimeout(allowance)
        try:
            secured = context.wrap_socket(self._connection, server_hostname=server_hostname)
        except TimeoutError:
            failure = exchange.ran_out(allowance, self._limits.handshake)
        except ssl.SSLError:
            failure = ProviderUnavailable("the provider's certificate or TLS is not acceptable", cause=Cause.TLS)
        except OSError:
            failure = ProviderUnavailable("the provider broke off the TLS handshake", cause=Cause.TLS)
        else:
            return GuardedStream(secured, self._place, self._current, self._limits)
        self.close()
        raise failure

    def spoil(self) -> None:
        """Never use this connection again: what is left on it would be taken for the next answer."""
        self._spoilt = True

    def close(self) -> None:
        self._connection.close()

    def get_extra_info(self, info: str) -> object:
        if info == "is_readable":
            return self._spoilt or self._is_being_replaced() or bool(self._poll.poll(0))
        return None

    def _is_being_replaced(self) -> bool:
        """An exchange that found one stale connection to a place trusts none of the others that were kept."""
        exchange = self._current.exchange
        return exchange is not None and exchange.reconnecting_to == self._place
