"""From a host to a socket: addresses are checked where they are dialled, and TLS is verified for the name.

The pool knows hosts by their name, so certificate, SNI and Host header stay the name, while what is dialled is one of
the addresses just checked. Every step ends with its exchange's deadline.
"""

import socket
import ssl
import threading
from collections.abc import Callable, Sequence

from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.address import AllowedNetworks, number_of
from zarniwoop.net.exchange import Exchange, Limits
from zarniwoop.net.lookup import Lookup, Resolve
from zarniwoop.net.tls import TlsContext
from zarniwoop.net.url import Target

Dial = Callable[[str, int, float], socket.socket]
"""A connection to an address and port, made within so many seconds. Raises OSError."""


def dial_tcp(address: str, port: int, seconds: float) -> socket.socket:
    """What the machine's own network says."""
    connection = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect((address, port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        connection.close()
        raise
    return connection


class Dialler:
    """Dials checked addresses only, and counts how often."""

    def __init__(
        self, allowed: AllowedNetworks, limits: Limits, tls: TlsContext, resolve: Resolve, dial: Dial = dial_tcp
    ) -> None:
        self.connections_opened = 0
        self._counting = threading.Lock()
        self._allowed = allowed
        self._limits = limits
        self._tls = tls
        self._lookup = Lookup(resolve, limits.lookup)
        self._dial_one = dial

    def connect(self, target: Target, exchange: Exchange) -> socket.socket:
        """A new connection to the target. Raises ProviderUnavailable."""
        addresses = self._checked_addresses(target.host, target.port, exchange)
        exchange.connected = True
        connection = self._dial(addresses, target.port, exchange)
        with self._counting:
            self.connections_opened += 1
        if target.scheme == "http":
            return connection
        try:
            return self._secured(connection, target.host, exchange)
        except ProviderUnavailable:
            connection.close()
            raise

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
                return self._dial_one(address, port, allowance)
            except TimeoutError:
                failure = exchange.ran_out(allowance, self._limits.connect)
            except OSError:
                failure = ProviderUnavailable("the provider cannot be reached", cause=Cause.CONNECT)
        raise failure

    def _secured(self, connection: socket.socket, host: str, exchange: Exchange) -> ssl.SSLSocket:
        allowance = exchange.allowance(self._limits.handshake)
        connection.settimeout(allowance)
        try:
            return self._tls.context().wrap_socket(connection, server_hostname=host)
        except TimeoutError:
            failure = exchange.ran_out(allowance, self._limits.handshake)
        except ssl.SSLError:
            failure = ProviderUnavailable("the provider's certificate or TLS is not acceptable", cause=Cause.TLS)
        except OSError:
            failure = ProviderUnavailable("the provider broke off the TLS handshake", cause=Cause.TLS)
        raise failure
