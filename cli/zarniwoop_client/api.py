"""The API as a client sees it: where it is, what every request says, and which flow answers it."""

import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from zarniwoop_client.answer import Answer, Read
from zarniwoop_client.exchange import Flow, Request
from zarniwoop_client.retrying import Retrying

T = TypeVar("T")
VERSION = "0.1.0"
_TOKEN = re.compile(r"[A-Za-z0-9_\-.~+/]{16,256}=*")
TOKENS_HAVE = "16 to 256 letters, digits and -._~+/"
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


class Token:
    """A bearer token that nothing prints: not its repr, no traceback, no pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        if not is_token(value):
            raise ValueError(f"this is no token: it has {TOKENS_HAVE}")
        self._value = value.strip()

    def __repr__(self) -> str:
        return "Token(***)"

    def __reduce__(self) -> Any:
        raise TypeError("a token is not to be written down")

    def header(self) -> str:
        return f"Bearer {self._value}"


class PlainHttpError(ValueError):
    """A token would go over plain http to another machine."""


def is_token(value: str) -> bool:
    return _TOKEN.fullmatch(value.strip()) is not None


def checked_url(url: str, *, allow_plain_http: bool) -> str:
    """The API's address without its last slash. Raises ValueError where a token must not be sent."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError("the URL must be http(s)://host/stage, without user, query or fragment")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK and not allow_plain_http:
        raise PlainHttpError(
            "over plain http everybody on the way reads the token: use https, or allow_plain_http=True"
        )
    return url.strip().rstrip("/")


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in _LOOPBACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """Makes requests and the flows that answer them."""

    url: str
    project_id: str | None
    timeout: float
    retrying: Retrying = field(repr=False)
    new_key: Callable[[], str] = field(default=lambda: secrets.token_hex(16), repr=False)

    def tool(self, name: str, given: Mapping[str, Any], read: Read[T]) -> Flow[Answer[T]]:
        """POST /v1/tools/<name>. What is None is left out: the server's own default holds then."""
        body, timeout = self._scoped(given)
        key = body.get("idempotency_key") or (self.new_key() if _needs_key(name, body) else None)
        request = Request(
            method="POST",
            path=f"/v1/tools/{_segment(name)}",
            body=body,
            headers={"Idempotency-Key": str(key)} if key else {},
            keyed=key is not None,
            spends=name not in (*READING, *STARTING) and body.get("dry_run") is not True,
            tells_time=True,
            project_id=body.get("project_id"),
        )
        return self.retrying.exchange(request, read, timeout)

    def get(self, path: str, given: Mapping[str, Any], read: Read[T], *, bare: bool = False) -> Flow[Answer[T]]:
        """A route that is read; what is given stands in the query string."""
        params, timeout = self._scoped(given)
        request = Request(
            method="GET", path=path, params=_texts(params), bare=bare, project_id=params.get("project_id")
        )
        return self.retrying.exchange(request, read, timeout)

    def post(self, path: str, given: Mapping[str, Any], read: Read[T]) -> Flow[Answer[T]]:
        """A POST beside the tools, without a body; sent twice it does what it does once."""
        params, timeout = self._scoped(given)
        request = Request(method="POST", path=path, params=_texts(params), project_id=params.get("project_id"))
        return self.retrying.exchange(request, read, timeout)

    def change(
        self, method: str, path: str, given: Mapping[str, Any], read: Read[T], *, in_body: bool = True
    ) -> Flow[Answer[T]]:
        """What is never sent again when it may have arrived. With a body, all that is given stands in it."""
        scoped, timeout = self._scoped(given)
        request = Request(
            method=method,
            path=path,
            params={} if in_body else _texts(scoped),
            body=scoped if in_body else None,
            repeatable=False,
            project_id=scoped.get("project_id"),
        )
        return self.retrying.exchange(request, read, timeout)

    def _scoped(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
        """With the client's project where no other is named, and with how long it may take; "" names none."""
        stated = {name: _plain(value) for name, value in given.items() if value is not None}
        named = {"project_id": self.project_id, **stated}
        timeout = float(named.pop("timeout", self.timeout))
        if not named["project_id"]:
            del named["project_id"]
        return named, timeout


READING = frozenset(("research_providers", "evidence_store", "run_status", "result_read"))
"""Tools that ask no provider: however often they are asked, nothing is spent."""
SEARCHING = frozenset(("research_search", "research_search_expert", "research_rich", "web_search", "geo_resolve"))
"""Tools that may spend, and are mostly answered from the cache when they are asked again."""
STARTING = frozenset(("research_investigate",))
"""Tools that make one run of all calls under one key, however the first of them went."""


def _needs_key(name: str, body: Mapping[str, Any]) -> bool:
    """Whether to spend two writes of the stack on doing it once: where the caller set a ceiling or shut the cache out.

    A tool that is none of the searching or reading ones fetches, starts something, or is not known here.
    """
    if name in READING or body.get("dry_run") is True:
        return False
    is_bounded = "max_cost" in body or "max_calls" in body or body.get("cache") == "no-store"
    return is_bounded or name not in SEARCHING


def segments(template: str, **named: str) -> str:
    """A path with its placeholders filled in, each as one segment whatever stands in it."""
    return template.format(**{name: _segment(value) for name, value in named.items()})


def _segment(value: str) -> str:
    if value in ("", ".", ".."):
        raise ValueError("an id or a name is empty, or no name")
    return quote(value, safe="")


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return list(value)
    return value


def _texts(params: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in params.items()}
