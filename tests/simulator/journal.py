"""The journal: which requests came, over which connections. It holds no key: values of key parameters are masked."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count
from time import monotonic
from typing import Any

from tests.simulator.connection import Connection
from tests.simulator.messages import Request

_KEYS = frozenset(("api_key", "apikey", "api-key", "key", "token"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as it came; times in monotonic seconds, headers by name only.

    `at` is when it came, `ended` when its answer was over; its connection was there from `opened` to `closed`.
    """

    method: str
    path: str
    query: Mapping[str, str]
    header_names: tuple[str, ...]
    connection: int
    opened: float
    at: float
    ended: float | None = None
    closed: float | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Journal:
    """Safe to write from many threads."""

    def __init__(self) -> None:
        self._seen: dict[int, Seen] = {}
        self._closed: dict[int, float] = {}
        self._numbers = count()
        self._lock = threading.Lock()

    def note(self, request: Request, connection: Connection) -> Callable[[], None]:
        """Returns what is to be called when the answer is over, however it went."""
        query = {name: "***" if name.lower() in _KEYS else value for name, value in request.query.items()}
        seen = Seen(
            method=request.method,
            path=request.path,
            query=query,
            header_names=tuple(request.headers),
            connection=connection.number,
            opened=connection.opened_at,
            at=monotonic(),
        )
        number = next(self._numbers)
        with self._lock:
            self._seen[number] = seen
        return partial(self._end, number)

    def note_end_of(self, connection: Connection) -> None:
        """Nothing more comes over it."""
        with self._lock:
            self._closed[connection.number] = monotonic()

    def _end(self, number: int) -> None:
        with self._lock:
            if number in self._seen:
                self._seen[number] = replace(self._seen[number], ended=monotonic())

    def seen(self) -> list[Seen]:
        with self._lock:
            return [replace(each, closed=self._closed.get(each.connection)) for each in self._seen.values()]

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()
            self._closed.clear()
