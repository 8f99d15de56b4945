"""How a request is put to httpx, and what its answer or its exception comes to: the same for both clients."""

import json
import ssl
from collections.abc import Callable, Generator, Mapping
from typing import Any

import httpx

from zarniwoop_client.api import VERSION, Token, is_loopback
from zarniwoop_client.exchange import Loss, Lost, Received, Send

MOST_BYTES = 16_000_000
"""Two times what the API can answer with."""
_CONNECT_SECONDS = 10.0
_UNCONNECTED = (
    *(httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol),
    httpx.ProxyError,  # raised only where a proxy does not let the connection through
)
_JSON = {"Content-Type": "application/json"}
_HEADERS = {"Accept": "application/json", "User-Agent": f"zarniwoop-client/{VERSION}"}


def options(url: str, token: Token) -> dict[str, Any]:
    """The keyword arguments of httpx's clients, but for their transport."""
    return {"auth": Bearer(token), "headers": _HEADERS, "trust_env": not is_loopback(url), "verify": _trust(url)}


def _trust(url: str) -> ssl.SSLContext | bool:
    """Whom TLS believes. Plain http on this machine needs nobody's certificates, which take longer to read than a
    request: a context that trusts nobody.
    """
    is_plain = url.startswith("http:") and is_loopback(url)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else True


class Bearer(httpx.Auth):
    """Puts the token on at the last moment, so that no request that is logged or shown on the way has it."""

    def __init__(self, token: Token) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = self._token.header()
        yield request


def parts_of(step: Send) -> dict[str, Any]:
    """The keyword arguments of httpx's `stream`, but for its URL. The body is ASCII, so no text can break it."""
    request = step.request
    return {
        "method": request.method,
        "params": dict(request.params) or None,
        "content": None if request.body is None else json.dumps(dict(request.body), allow_nan=False),
        "headers": {**step.headers, **({} if request.body is None else _JSON)},
        "timeout": httpx.Timeout(step.seconds, connect=min(step.seconds, _CONNECT_SECONDS)),
    }


class Gathered:
    """A body as it arrives. httpx bounds each wait alone; this bounds them all together, and the size."""

    def __init__(self, response: httpx.Response, seconds: float, clock: Callable[[], float]) -> None:
        self._response = response
        self._clock = clock
        self._ends_at = clock() + seconds
        self._chunks: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> Loss | None:
        """Why there is no point in reading on, if there is none."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size > MOST_BYTES:
            return Loss.TOO_LARGE
        return Loss.TOO_SLOW if self._clock() > self._ends_at else None

    def received(self) -> Received:
        headers: Mapping[str, str] = {name.lower(): value for name, value in self._response.headers.items()}
        return Received(status=self._response.status_code, headers=headers, content=b"".join(self._chunks))


def lost(error: httpx.HTTPError) -> Lost:
    """Nothing but the exception's name is kept: its text may hold an address with a question in it."""
    cause = type(error).__name__
    if isinstance(error, _UNCONNECTED):
        return Lost(loss=Loss.UNCONNECTED, cause=cause)
    slow = isinstance(error, httpx.TimeoutException)
    return Lost(loss=Loss.TOO_SLOW if slow else Loss.BROKEN, cause=cause)
