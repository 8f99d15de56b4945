"""One TCP connection: requests are read off it and answers written to it, HTTP/1.1 with keep-alive.

https://www.rfc-editor.org/rfc/rfc9112
Quirk: it owns no buffered file object, so that closing the socket really closes it and a fault can send a bare RST.
"""

import select
import socket
import struct
from email.utils import formatdate
from http import HTTPStatus
from time import monotonic
from urllib.parse import unquote

from tests.simulator.messages import Answer, Request

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_LONGEST_HEAD = 256 * 1024
_LONGEST_BODY = 8 * 1024 * 1024
_PIECE = 64 * 1024


class BadRequestError(Exception):
    """What came is no HTTP request that this server reads."""


class Connection:
    """`is_open` turns False when the conversation is over; a client that left shows as an OSError."""

    def __init__(self, opened: socket.socket, number: int) -> None:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = opened
        self._buffer = bytearray()
        self.number = number
        self.opened_at = monotonic()
        self.is_open = True

    def read_request(self) -> Request | None:
        """The next request, None when the client has closed. Raises BadRequestError."""
        head = self._read_head()
        if head is None:
            return None
        start, *lines = head.decode("latin-1").split("\r\n")
        parts = start.split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            raise BadRequestError("no request line")
        headers = _headers(lines)
        path, _, query_string = parts[1].partition("?")
        if headers.get("connection", "").lower() == "close" or parts[2] == "HTTP/1.0":
            self.is_open = False
        body = self._read_body(headers)
        return Request(
            method=parts[0],
            target=parts[1],
            path=unquote(path),
            query_string=query_string,
            headers=headers,
            body=body,
        )

    def send(self, answer: Answer) -> None:
        self.write(head_of(answer) + answer.body)

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def wait(self, seconds: float) -> None:
        """Let time pass. Raises ConnectionAbortedError as soon as the client leaves or the server stops."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            readable, _, _ = select.select([self._socket], [], [], left)
            if readable and not self._socket.recv(1, socket.MSG_PEEK):
                raise ConnectionAbortedError("the client has left")
            if readable:
                select.select([], [], [], min(left, 0.05))

    def reset(self) -> None:
        """Close with a RST instead of a FIN."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def hang_up(self) -> None:
        """End both directions from another thread, which wakes the one that reads or writes."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def close(self) -> None:
        self.is_open = False
        self._socket.close()

    def _read_head(self) -> bytes | None:
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if len(self._buffer) > _LONGEST_HEAD:
                raise BadRequestError("the head is too long")
            if not self._fill():
                return None
        head = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        return head

    def _read_body(self, headers: dict[str, str]) -> bytes:
        if "transfer-encoding" in headers:
            raise BadRequestError("chunked bodies are not read here")
        text = headers.get("content-length", "0")
        if not text.isdecimal() or int(text) > _LONGEST_BODY:
            raise BadRequestError("no usable content length")
        length = int(text)
        while len(self._buffer) < length:
            if not self._fill():
                raise ConnectionAbortedError("the client left in the middle of a body")
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return body

    def _fill(self) -> bool:
        piece = self._socket.recv(_PIECE)
        self._buffer += piece
        return bool(piece)


def head_of(answer: Answer, *, length: int | None = None) -> bytes:
    """Status line and headers of an answer; `length` is declared instead of the body's own."""
    phrase = _PHRASES.get(answer.status, "Nonstandard")
    lines = [
        f"HTTP/1.1 {answer.status} {phrase}",
        f"Date: {formatdate(usegmt=True)}",
        "Server: simulator",
        f"Content-Type: {answer.media_type}",
        f"Content-Length: {len(answer.body) if length is None else length}",
        *(f"{name}: {value}" for name, value in answer.headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadRequestError("a header line without a colon")
        headers[name.strip().lower()] = value.strip()
    return headers
