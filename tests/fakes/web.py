"""A web of strangers on loopback: names that resolve as scripted, connections that are recorded before they are made.

A connection to a public address ends at the web's own server, which plays an act by host and path; one to any other
address ends at the canary, which counts. A guard that holds leaves the canary at nought.
"""

import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.fakes.origin import Act, Origin, Received, raw, reply
from zarniwoop.net.address import is_public
from zarniwoop.net.exchange import Limits

PUBLIC = "93.184.216.34"
HTML = b"<!doctype html><html><head><title>Bells</title></head><body><article><h1>Bells</h1>%s</article></body></html>"
PARAGRAPH = (
    b"<p>A bell of four tonnes is cast in a pit of loam, tuned on the lathe and hung in its frame by the people of the "
    b"last foundry in the valley, who have done so for more than three hundred years without a pause.</p>"
)
NOT_FOUND = raw(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", kept_open=True)
HANG = "hang"

Names = dict[str, list[Sequence[str] | str]]
"""Successive answers by host, each of them addresses, or what becomes of the lookup."""
Route = Callable[[Received], Act]


def page(body: bytes = HTML % (PARAGRAPH * 6), *, status: int = 200, headers: Mapping[str, str] | None = None) -> Act:
    """An ordinary page, with nothing wrong about it."""
    return reply(body, status=status, headers={"Content-Type": "text/html; charset=utf-8", **(headers or {})})


def moved(location: bytes | str, *, status: int = 302) -> Act:
    """A redirect, with its `Location` in the bytes it is given."""
    written = location.encode() if isinstance(location, str) else location
    return raw(b"HTTP/1.1 %d Moved\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n" % (status, written), kept_open=True)


class RoutedOrigin(Origin):
    """An origin that chooses its act by what is asked."""

    def __init__(self, route: Route, *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(NOT_FOUND, tls=tls)
        self._route = route
        self._here = threading.local()

    def _remember(self, received: Received) -> None:
        """By thread: the last request of all may be another connection's."""
        super()._remember(received)
        self._here.received = received

    def _next_act(self) -> Act:
        return self._route(self._here.received)


@dataclass
class Web:
    """Use it in a `with`. `names` are successive answers by host, the last of which stays; `pages` acts by URL path.

    `robots` answers for `/robots.txt` of every host. `tls` is shown on the ports 443 and 8443. Addresses that are
    `silent` never complete a connection.
    """

    names: Names = field(default_factory=dict)
    pages: dict[str, Act] = field(default_factory=dict)
    robots: Act = NOT_FOUND
    otherwise: Act = field(default_factory=page)
    tls: ssl.SSLContext | None = None
    extra_ca_file: Path | None = None
    limits: Limits = field(default_factory=lambda: Limits(lookup=0.3))
    dialled: list[tuple[str, int]] = field(default_factory=list)
    looked_up: Counter[str] = field(default_factory=Counter)
    forbidden: list[str] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)

    def __enter__(self) -> Self:
        self._closing = threading.Event()
        self._canary = Origin(page())
        self._plain = RoutedOrigin(self._act)
        self._secure = RoutedOrigin(self._act, tls=self.tls) if self.tls else None
        for origin in self._origins:
            origin.__enter__()
        return self

    def __exit__(self, *_error: object) -> None:
        self._closing.set()
        for origin in self._origins:
            origin.__exit__(None, None, None)

    @property
    def _origins(self) -> list[Origin]:
        return [self._canary, self._plain, *([self._secure] if self._secure else [])]

    @property
    def canary_connections(self) -> int:
        return self._canary.connections

    @property
    def requests(self) -> list[Received]:
        """What the public servers were asked, robots.txt aside."""
        return [each for origin in self._origins[1:] for each in origin.requests if each.target != "/robots.txt"]

    @property
    def robots_requests(self) -> list[Received]:
        return [each for origin in self._origins[1:] for each in origin.requests if each.target == "/robots.txt"]

    @property
    def network(self) -> dict[str, object]:
        """For a transport that shall see this web and no other."""
        return {
            "resolve": self.resolve,
            "dial": self.dial,
            "limits": self.limits,
            "extra_ca_file": self.extra_ca_file,
        }

    def resolve(self, host: str, port: int) -> Sequence[str]:
        self.looked_up[host] += 1
        answers = self.names.get(host)
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer == HANG:
            self._closing.wait(30.0)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return [answer] if isinstance(answer, str) else answer

    def dial(self, address: str, port: int, seconds: float) -> socket.socket:
        self.dialled.append((address, port))
        if not is_public(address):
            self.forbidden.append(address)
            return socket.create_connection(("127.0.0.1", self._canary.port), timeout=seconds)
        if address in self.silent:
            raise TimeoutError
        origin = self._secure if port in (443, 8443) and self._secure else self._plain
        connection = socket.create_connection(("127.0.0.1", origin.port), timeout=seconds)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _act(self, received: Received) -> Act:
        path = received.target.partition("?")[0]
        if path == "/robots.txt":
            return self.pages.get(path, self.robots)
        host = received.headers.get("host", "")
        return self.pages.get(host + path) or self.pages.get(path) or self.otherwise
