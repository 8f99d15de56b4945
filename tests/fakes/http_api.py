"""An API that answers over HTTP what a test scripted, remembers what it was asked, and refuses everything else."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import Problem
from zarniwoop.entry.answers import encode

TOKEN = "zw_a-token-that-opens-nothing-at-all"
REQUEST_ID = "00000000-0000-4000-8000-000000000001"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """`date` is what the server's clock shows; `gate` holds the answer back until it is set."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    date: float | None = None
    gate: threading.Event | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


def envelope(
    data: Any, *, ok: bool = True, error: Problem | None = None, evidence: tuple[Any, ...] = (), **more: Any
) -> Reply:
    """An answer as the entry layer encodes it."""
    result = ToolResult(ok=ok, data=data, error=error, evidence=evidence)
    return Reply(body=encode(result), status=error.status if error else 200, **more)


def problem(status: int, slug: str = "out-of-order", *, retryable: bool = False, **more: Any) -> Reply:
    error = Problem(
        type=f"urn:zarniwoop:problem:{slug}",
        title="It did not work",
        status=status,
        detail="for a reason of its own",
        retryable=retryable,
        suggested_action="do something else",
        **more,
    )
    return envelope(None, ok=False, error=error)


class FakeApi:
    """`url` is what a client is given; the last reply to a request is the reply to all that follow."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self._replies: dict[tuple[str, str], list[Reply]] = {}
        self._lock = threading.Lock()

    def script(self, method: str, path: str, *replies: Reply) -> None:
        self._replies[method, path] = list(replies)

    def tool(self, name: str, *replies: Reply) -> None:
        self.script("POST", f"/v1/tools/{name}", *replies)

    def asked_for(self, path: str) -> list[Asked]:
        return [each for each in self.asked if each.path == path]

    def reply(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            if asked.headers.get("authorization") != f"Bearer {TOKEN}":
                return problem(401, "unauthorized")
            replies = self._replies.get((asked.method, asked.path))
            if not replies:
                return problem(404, "not-scripted")
            return replies.pop(0) if len(replies) > 1 else replies[0]


@contextmanager
def fake_api() -> Iterator[FakeApi]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    api = FakeApi(f"http://127.0.0.1:{server.server_port}/live")
    server.api = api  # type: ignore[attr-defined] # handlers see their server alone
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        api: FakeApi = self.server.api  # type: ignore[attr-defined]
        reply = api.reply(
            Asked(
                method=self.command,
                path=parts.path.removeprefix("/live"),
                query=dict(parse_qsl(parts.query)),
                headers={name.lower(): value for name, value in self.headers.items()},
                body=json.loads(content) if content else None,
            )
        )
        if reply.gate is not None:
            reply.gate.wait(20)
        self.send_response_only(reply.status)
        self.send_header("date", formatdate(reply.date, usegmt=True))
        for name, value in {"content-type": "application/json", "x-request-id": REQUEST_ID, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_arguments: Any) -> None:
        """Nobody reads it."""
