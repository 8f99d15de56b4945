"""A wire on a clock that stands still: what comes, comes after so many seconds of it, and waiting for it takes none.

Each connection plays a script, byte for byte; what is taken off it is counted, and nothing is made before it is taken.
"""

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.clock import FakeClock
from zarniwoop.net.exchange import Limits

Script = Callable[[str], Iterator[tuple[float, bytes]]]
"""By the request's target: after how many seconds comes what. At its end the peer has hung up."""
NEVER = 1e9


class TimedSocket(socket.socket):
    """The client's end. It is connected to nothing."""

    def __init__(self, wire: "TimedWire") -> None:
        super().__init__()
        self._wire = wire
        self._allowance = 0.0
        self._sent = b""
        self._said: Iterator[tuple[float, bytes]] | None = None
        self._coming: tuple[float, bytes] = (0.0, b"")

    def settimeout(self, value: float | None) -> None:
        assert value, "an operation without an end"
        self._allowance = value

    def send(self, data: Any, flags: int = 0) -> int:
        self._wait(self._wire.send_seconds)
        self._sent += bytes(data)
        return len(data)

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        if self._said is None:
            self._said = self._wire.script(self._sent.split(b" ", 2)[1].decode())
        while not self._coming[1]:
            try:
                self._coming = next(self._said)
            except StopIteration:
                return b""
        seconds, data = self._coming
        self._coming = (max(0.0, seconds - self._allowance), data)
        self._wait(seconds)
        self._coming = (0.0, data[bufsize:])
        self._wire.taken += len(data[:bufsize])
        return data[:bufsize]

    def _wait(self, seconds: float) -> None:
        self._wire.clock.advance(min(seconds, self._allowance))
        if seconds > self._allowance:
            raise TimeoutError


@dataclass
class TimedWire:
    """A network for `environment_on`: every name is the one public server."""

    script: Script
    clock: FakeClock = field(default_factory=FakeClock)
    connect_seconds: float = 0.0
    send_seconds: float = 0.0
    taken: int = 0

    @property
    def network(self) -> Mapping[str, object]:
        return {"resolve": self.resolve, "dial": self.dial, "limits": Limits(), "extra_ca_file": None}

    def resolve(self, host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34"]

    def dial(self, address: str, port: int, seconds: float) -> socket.socket:
        self.clock.advance(min(seconds, self.connect_seconds))
        if self.connect_seconds > seconds:
            raise TimeoutError
        return TimedSocket(self)
