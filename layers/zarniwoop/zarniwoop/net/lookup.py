"""Host names to addresses, within a time that `getaddrinfo` itself does not know.

Quirk: a lookup cannot be interrupted, so it runs on a thread that is left behind when it takes too long. Only so many
may be left behind at once.
"""

import socket
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.exchange import Exchange

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host, as text. Raises OSError when there are none."""

_AT_ONCE = 8
_MAX_ADDRESSES = 64


def system_addresses(host: str, port: int) -> list[str]:
    """What the machine's resolver says."""
    return [str(answer[4][0]) for answer in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Lookup:
    """A resolver with a bound on time, threads and the number of answers."""

    def __init__(self, resolve: Resolve, seconds: float) -> None:
        self._resolve = resolve
        self._seconds = seconds
        self._turns = threading.BoundedSemaphore(_AT_ONCE)

    def addresses(self, host: str, port: int, exchange: Exchange) -> Sequence[str]:
        """All addresses of the host, at least one. Raises ProviderUnavailable."""
        allowance = exchange.allowance(self._seconds)
        if not self._turns.acquire(timeout=allowance):
            raise self._too_slow(exchange, allowance)
        found: SimpleQueue[Sequence[str]] = SimpleQueue()
        threading.Thread(target=self._look_up, args=(host, port, found), daemon=True).start()
        try:
            addresses = found.get(timeout=allowance)
        except Empty:
            raise self._too_slow(exchange, allowance) from None
        if not 0 < len(addresses) <= _MAX_ADDRESSES:
            raise ProviderUnavailable("the host name has no usable addresses", cause=Cause.DNS)
        return addresses

    def _look_up(self, host: str, port: int, found: SimpleQueue[Sequence[str]]) -> None:
        try:
            found.put(self._resolve(host, port))
        except (OSError, UnicodeError):
            found.put(())
        finally:
            self._turns.release()

    def _too_slow(self, exchange: Exchange, allowance: float) -> ProviderUnavailable:
        if allowance < self._seconds:
            return exchange.ran_out(allowance, self._seconds)
        return ProviderUnavailable("the host name was not resolved in time", cause=Cause.DNS)
