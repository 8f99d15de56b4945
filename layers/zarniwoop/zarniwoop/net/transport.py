"""The transport: one pool of connections per execution environment, without a client in between.

It owns what happens around one exchange: the key's place, redirects, the one silent reconnect, the checks of an
answer's head, and the words for what a library could not do.
Quirk: exceptions are raised after their `except` has ended. A library's text can hold a URL or a header, and an
exception raised inside would keep it as its context.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

import h11

from zarniwoop import __version__
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, MalformedAnswer, ProviderError, ProviderUnavailable
from zarniwoop.contract.transport import Authentication, HttpAnswer, HttpRequest, Secret
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.body import DEFAULT_MAX_BYTES, content_length, read_body
from zarniwoop.net.connection import Connection
from zarniwoop.net.dialler import Dial, Dialler, dial_tcp
from zarniwoop.net.exchange import MAX_HEAD_BYTES, MAX_HEADERS, Exchange, Limits, headers_too_large
from zarniwoop.net.lookup import Resolve, system_addresses
from zarniwoop.net.message import Message, checked_key, message_of, unsendable
from zarniwoop.net.pool import ConnectionPool
from zarniwoop.net.redirect import is_redirect, redirected
from zarniwoop.net.tls import TlsContext
from zarniwoop.net.url import Target, parse

_PARSED_URLS: Final = 256
_CONTACT: Final = re.compile(r"[!-'*-~]{0,200}")
_NOTHING_ALLOWED: Final = AllowedNetworks()
_USUAL_LIMITS: Final = Limits()


class PooledTransport:
    """`contract.transport.Transport` on pooled connections; safe to use from many threads.

    No proxy, no cookie and no environment variable has a say. `contact` must be one (`is_contact`), else ValueError.
    `plain_http` and `refused_hosts` are for fetching pages that strangers name; what is `allowed` for such a transport
    is what the operator opened for pages, and never what was opened for search servers.
    """

    def __init__(
        self,
        *,
        contact: str,
        allowed: AllowedNetworks = _NOTHING_ALLOWED,
        plain_http: bool = False,
        refused_hosts: frozenset[str] = frozenset(),
        extra_ca_file: Path | None = None,
        limits: Limits = _USUAL_LIMITS,
        max_connections: int = 16,
        resolve: Resolve = system_addresses,
        dial: Dial = dial_tcp,
    ) -> None:
        self._dialler = Dialler(allowed, limits, TlsContext(extra_ca_file), resolve, dial)
        self._pool = ConnectionPool(self._dialler, limits, max_connections)
        self._standing = (
            (b"Accept", b"*/*"),
            (b"Accept-Encoding", b"gzip"),
            (b"User-Agent", _user_agent(contact)),
        )

        @lru_cache(maxsize=_PARSED_URLS)
        def parsed(url: str) -> Target:
            return parse(url, allowed=allowed, plain_http=plain_http, refused_hosts=refused_hosts)

        self._parsed = parsed

    @property
    def connections_opened(self) -> int:
        """How many connections were made since the start."""
        return self._dialler.connections_opened

    def close(self) -> None:
        self._pool.close()

    def target(self, url: str) -> Target:
        """Where a request for this URL would go. Raises ProviderUnavailable for one that is not asked."""
        return self._parsed(url)

    def send(
        self,
        request: HttpRequest,
        *,
        deadline: Deadline,
        authentication: Authentication | None = None,
        secret: Secret | None = None,
    ) -> HttpAnswer:
        key = checked_key(authentication, secret)
        message = message_of(request, self._parsed(request.url), self._standing, key)
        max_bytes = request.max_bytes if request.max_bytes is not None else DEFAULT_MAX_BYTES
        answer = self._exchange(message, deadline, max_bytes)
        if request.max_redirects == 0 or not is_redirect(answer):
            return answer
        return self._follow(message, answer, request.max_redirects, deadline, max_bytes)

    def _follow(
        self, message: Message, answer: HttpAnswer, max_redirects: int, deadline: Deadline, max_bytes: int
    ) -> HttpAnswer:
        key = message.key
        for _ in range(max_redirects):
            message = redirected(message, key, answer, self._parsed)
            answer = self._exchange(message, deadline, max_bytes)
            if not is_redirect(answer):
                return answer
        raise ProviderUnavailable("the provider redirects too often", cause=Cause.ENDLESS_REDIRECTS)

    def _exchange(self, message: Message, deadline: Deadline, max_bytes: int) -> HttpAnswer:
        """One logical call. A kept connection that turns out to be closed is replaced once: nobody saw the request."""
        exchange = Exchange(deadline, max_bytes)
        try:
            return self._converse(message, exchange, max_bytes)
        except ProviderUnavailable as failure:
            if failure.cause is not Cause.RESET or not exchange.found_stale:
                raise
        return self._converse(message, Exchange(deadline, max_bytes), max_bytes, fresh=True)

    def _converse(self, message: Message, exchange: Exchange, max_bytes: int, *, fresh: bool = False) -> HttpAnswer:
        connection = self._pool.take(message.target, exchange, fresh=fresh)
        clean = False
        failure: ProviderError
        try:
            answer = _answer(message, connection, connection.ask(message, exchange), exchange, max_bytes)
            clean = exchange.left_nothing_over(_length_on_the_wire(message, answer))
        except h11.RemoteProtocolError:
            failure = _protocol_failure(exchange)
        except h11.LocalProtocolError:
            failure = unsendable()
        else:
            return answer
        finally:
            self._pool.give_back(connection, exchange, clean=clean)
        raise failure


def is_contact(text: str) -> bool:
    """Whether the text may stand in our User-Agent, or is empty."""
    return _CONTACT.fullmatch(text) is not None


def _user_agent(contact: str) -> bytes:
    if not is_contact(contact):
        raise ValueError("the contact cannot stand in a User-Agent")
    product = f"Zarniwoop/{__version__}"
    return (f"{product} (+{contact})" if contact else product).encode("ascii")


def _answer(
    message: Message, connection: Connection, head: h11.Response, exchange: Exchange, max_bytes: int
) -> HttpAnswer:
    exchange.in_head = False
    headers = _checked_headers(list(head.headers))
    if not exchange.head or exchange.folds_a_header() or not 200 <= head.status_code <= 599 or _is_ambiguous(headers):
        raise MalformedAnswer("the answer is not sound HTTP", cause=Cause.PROTOCOL)
    body = read_body(connection.body(exchange), headers, max_bytes)
    url = message.target.url(message.path_and_query)
    return HttpAnswer(status=head.status_code, headers=headers, body=body, url=url, received=exchange.received)


def _checked_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    if len(raw) > MAX_HEADERS or sum(len(name) + len(value) for name, value in raw) > MAX_HEAD_BYTES:
        raise headers_too_large()
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("ascii"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _is_ambiguous(headers: dict[str, str]) -> bool:
    """Whether two readers could disagree on where the body ends."""
    return "transfer-encoding" in headers and "content-length" in headers


def _length_on_the_wire(message: Message, answer: HttpAnswer) -> int | None:
    """How long the body was to be; None when only its own end tells."""
    return 0 if message.method == "HEAD" or answer.status in (204, 304) else content_length(answer.headers)


def _protocol_failure(exchange: Exchange) -> MalformedAnswer:
    if exchange.ended:
        return MalformedAnswer("the answer is cut short", cause=Cause.TRUNCATED)
    return MalformedAnswer("the answer is not sound HTTP", cause=Cause.PROTOCOL)
