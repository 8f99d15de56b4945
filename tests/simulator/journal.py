"""The journal: which requests came, over which connections. It holds no key: values of key parameters are masked."""

import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any

from tests.simulator.messages import Request

_KEYS = frozenset(("api_key", "apikey", "api-key", "key", "token"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as it came; `at` in monotonic seconds, headers by name only."""

    method: str
    path: str
    query: Mapping[str, str]
    header_names: tuple[str, ...]
    connection: int
    at: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Journal:
    """Safe to write from many threads."""

    def __init__(self) -> None:
        self._seen: list[Seen] = []
        self._lock = threading.Lock()

    def note(self, request: Request, connection: int) -> None:
        query = {name: "***" if name.lower() in _KEYS else value for name, value in request.query.items()}
        seen = Seen(
            method=request.method,
            path=request.path,
            query=query,
            header_names=tuple(request.headers),
            connection=connection,
            at=monotonic(),
        )
        with self._lock:
            self._seen.append(seen)

    def seen(self) -> list[Seen]:
        with self._lock:
            return list(self._seen)

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()
