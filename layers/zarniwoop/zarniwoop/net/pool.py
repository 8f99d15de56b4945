"""The connections of an execution environment: the resting ones, and how many are out at once."""

import threading
from queue import Empty, SimpleQueue

from zarniwoop.net.connection import Connection
from zarniwoop.net.dialler import Dialler
from zarniwoop.net.exchange import Exchange, Limits, out_of_time
from zarniwoop.net.url import Target


class ConnectionPool:
    """Hands out connections, at most `max_connections` at once, and keeps as many at rest."""

    def __init__(self, dialler: Dialler, limits: Limits, max_connections: int) -> None:
        self._dialler = dialler
        self._limits = limits
        self._max_connections = max_connections
        self._turns: SimpleQueue[None] = SimpleQueue()
        for _ in range(max_connections):
            self._turns.put(None)
        self._lock = threading.Lock()
        self._resting: list[Connection] = []

    def take(self, target: Target, exchange: Exchange, *, fresh: bool) -> Connection:
        """A resting connection to the target or a new one. Every one taken is given back. Raises ProviderUnavailable.

        `fresh` trusts none that rest: after a freeze of the environment, all of them are dead at once.
        """
        self._wait_for_turn(exchange)
        try:
            kept = self._sound(target, exchange, fresh=fresh)
            taken = kept or Connection(self._dialler.connect(target, exchange), target.origin, self._limits)
        except BaseException:
            self._turns.put(None)
            raise
        if exchange.deadline.break_off is not None:
            exchange.deadline.break_off.lend(taken.abort)
        return taken

    def give_back(self, connection: Connection, exchange: Exchange, *, clean: bool) -> None:
        """Keep the connection if its exchange came to a clean end, else close it."""
        if exchange.deadline.break_off is not None:
            exchange.deadline.break_off.take_back(connection.abort)
        if clean and not exchange.deadline.is_broken_off and connection.is_done():
            connection.rest(exchange.deadline.clock.monotonic())
            self._keep(connection)
        else:
            connection.close()
        self._turns.put(None)

    def close(self) -> None:
        """Close all that rest."""
        with self._lock:
            resting, self._resting = self._resting, []
        for connection in resting:
            connection.close()

    def _wait_for_turn(self, exchange: Exchange) -> None:
        try:
            self._turns.get(timeout=exchange.deadline.remaining())
        except Empty:
            raise out_of_time() from None

    def _keep(self, connection: Connection) -> None:
        with self._lock:
            self._resting.append(connection)
            excess = self._resting.pop(0) if len(self._resting) > self._max_connections else None
        if excess is not None:
            excess.close()

    def _sound(self, target: Target, exchange: Exchange, *, fresh: bool) -> Connection | None:
        """The connection to the target that was used last, if it is still good; closes those that are not."""
        while (connection := self._last_used(target.origin)) is not None:
            if not fresh and connection.is_sound(exchange.deadline.clock.monotonic()):
                return connection
            connection.close()
        return None

    def _last_used(self, origin: tuple[str, str, int]) -> Connection | None:
        with self._lock:
            for index in range(len(self._resting) - 1, -1, -1):
                if self._resting[index].origin == origin:
                    return self._resting.pop(index)
        return None
