"""A loopback server that misbehaves on demand: one scripted act per request; it remembers what it was sent."""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class Received:
    """One request as it arrived; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Conversation:
    """The server's end of one connection, as an act sees it."""

    connection: socket.socket
    stopping: threading.Event
    kept_open: bool = field(default=False)

    def say(self, data: bytes) -> None:
        self.connection.sendall(data)

    def pause(self, seconds: float) -> None:
        self.stopping.wait(seconds)

    def reset(self) -> None:
        """Close so that the peer sees ECONNRESET instead of an orderly end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


Act = Callable[[Conversation], None]


def reply(body: bytes = b"{}", *, status: int = 200, headers: Mapping[str, str] | None = None) -> Act:
    """A sound answer on a connection that stays open."""
    lines = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    head = f"HTTP/1.1 {status} Said\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())

    def act(conversation: Conversation) -> None:
        conversation.say(head.encode() + b"\r\n" + body)
        conversation.kept_open = True

    return act


def raw(*parts: bytes, kept_open: bool = False) -> Act:
    """Exactly these bytes, then the connection is closed unless `kept_open`."""

    def act(conversation: Conversation) -> None:
        for part in parts:
            conversation.say(part)
        conversation.kept_open = kept_open

    return act


def reply_and_hang_up(body: bytes = b"{}") -> Act:
    """A sound answer that promises to stay, and a connection that is closed after it."""

    def act(conversation: Conversation) -> None:
        reply(body)(conversation)
        conversation.kept_open = False

    return act


def hang_up(conversation: Conversation) -> None:
    """Close without a word."""


def reset(conversation: Conversation) -> None:
    conversation.reset()


def reset_after(data: bytes, seconds: float = 0.02) -> Act:
    def act(conversation: Conversation) -> None:
        conversation.say(data)
        conversation.pause(seconds)
        conversation.reset()

    return act


def hang(conversation: Conversation) -> None:
    """Never answer."""
    conversation.stopping.wait()


def drip(opening: bytes, drop: bytes, *, every: float = 0.02) -> Act:
    """Say the opening, then one drop after the other without end."""

    def act(conversation: Conversation) -> None:
        conversation.say(opening)
        while not conversation.stopping.wait(every):
            conversation.say(drop)

    return act


def flood(opening: bytes, wave: bytes) -> Act:
    """Say the opening, then the wave again and again as fast as it is taken."""

    def act(conversation: Conversation) -> None:
        conversation.say(opening)
        while not conversation.stopping.is_set():
            conversation.say(wave)

    return act


class Origin:
    """The server. Acts are played in order over all connections; the last one is played for every further request."""

    def __init__(self, *acts: Act, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Received] = []
        self.connections = 0
        self._acts = list(acts)
        self._tls = tls
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(2.0)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            with self._lock:
                self.connections += 1
                self._open.append(connection)
                self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        """Play acts until one does not keep the connection, or the peer is gone."""
        with contextlib.suppress(OSError):
            secured = self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
            with self._lock:
                self._open.append(secured)
            conversation = Conversation(secured, self._stopping)
            with secured:
                while self._take_request(secured):
                    conversation.kept_open = False
                    self._next_act()(conversation)
                    if not conversation.kept_open:
                        break
        connection.close()

    def _next_act(self) -> Act:
        with self._lock:
            return self._acts.pop(0) if len(self._acts) > 1 else self._acts[0]

    def _take_request(self, connection: socket.socket) -> bool:
        data = b""
        while b"\r\n\r\n" not in data:
            received = connection.recv(65536)
            if not received:
                return False
            data += received
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        while len(body) < int(headers.get("content-length", "0")):
            body += connection.recv(65536)
        method, target, _ = first.split(" ")
        self._remember(Received(method, target, headers, body))
        return True

    def _remember(self, received: Received) -> None:
        with self._lock:
            self.requests.append(received)
