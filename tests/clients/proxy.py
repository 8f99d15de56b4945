"""A door to a protected endpoint for clients that cannot log in: it adds the token, and changes nothing else.

Space around the value of a header is none of it (RFC 9110 §5.5), so it is not passed on.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from tests.clients.session import Endpoint

_OF_THE_CONNECTION = frozenset(
    ("host", "connection", "keep-alive", "transfer-encoding", "content-length", "accept-encoding", "authorization")
)


class _Server(ThreadingHTTPServer):
    endpoint: Endpoint
    client: httpx.Client
    daemon_threads = True


class _Door(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        given = [(name, value.strip()) for name, value in self.headers.items()]
        headers = [(name, value) for name, value in given if name.lower() not in _OF_THE_CONNECTION]
        token = ("Authorization", f"Bearer {self.server.endpoint.token}")
        answer = self.server.client.request(
            self.command, self.server.endpoint.url, content=body, headers=[*headers, token]
        )
        with suppress(ConnectionError):  # whoever asked may have gone
            self._answer(answer)

    def _answer(self, answer: httpx.Response) -> None:
        self.send_response(answer.status_code)
        for name, value in answer.headers.multi_items():
            if name not in _OF_THE_CONNECTION and name != "content-encoding":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_POST = do_DELETE = _pass_on  # noqa: N815 - the names are the server's

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the server's
        """Nobody reads it."""


@contextmanager
def door_to(endpoint: Endpoint) -> Iterator[str]:
    """The address of the door, on this machine alone."""
    with httpx.Client(timeout=40, trust_env=False) as client, _Server(("127.0.0.1", 0), _Door) as server:
        server.endpoint, server.client = endpoint, client
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
