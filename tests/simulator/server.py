"""The server: a listening socket on loopback and one thread per connection."""

import contextlib
import socket
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from tests.simulator.connection import BadRequestError, Connection
from tests.simulator.formats import FORMATS
from tests.simulator.formats.format import Credits, World, plain_refusal
from tests.simulator.journal import Seen
from tests.simulator.library import Library, empty_library, open_library
from tests.simulator.pacing import Pacer
from tests.simulator.routing import Router, rule_of

_HOST = "127.0.0.1"
_PATIENCE = 2.0


class Simulator:
    """Every provider, and a web of pages, on one port of 127.0.0.1.

    `strict_pacing` holds clients to the pace of arXiv and NCBI. `serper_balance` is in credits, `openalex_credits` in
    units of 0.0001 USD; both are spent by searches.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        strict_pacing: bool = False,
        serper_balance: int = 1_000_000,
        openalex_credits: int = 100_000_000,
    ) -> None:
        self._wanted_port = port
        self._strict_pacing = strict_pacing
        self._balances = (serper_balance, openalex_credits)
        self._lock = threading.Lock()
        self._conversations: dict[Connection, threading.Thread] = {}
        self._listener: socket.socket | None = None
        self._acceptor: threading.Thread | None = None
        self._libraries: tuple[Library, Library] | None = None
        self._router: Router | None = None

    def start(self) -> "Simulator":
        self._listener = socket.create_server((_HOST, self._wanted_port), backlog=128)
        self._libraries = (open_library(self.base_url), empty_library())
        self._router = self._new_router()
        self._acceptor = threading.Thread(target=self._accept, args=(self._listener,), name="simulator", daemon=True)
        self._acceptor.start()
        return self

    def stop(self) -> None:
        """Stop listening, hang up on everybody and wait until their threads are gone."""
        if self._listener is None or self._acceptor is None or self._libraries is None:
            return
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._acceptor.join(_PATIENCE)
        with self._lock:
            conversations = dict(self._conversations)
        for connection, thread in conversations.items():
            connection.hang_up()
            thread.join(_PATIENCE)
        for library in self._libraries:
            library.close()
        self._listener = None

    def __enter__(self) -> "Simulator":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def port(self) -> int:
        if self._listener is None:
            raise RuntimeError("the simulator is not running")
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def base_url(self) -> str:
        return f"http://{_HOST}:{self.port}"

    def page_url(self, path: str, *, fault: str | None = None, **options: Any) -> str:
        """The URL of a page of the simulator's web (`mills/history`), with a permanent fault when one is named."""
        return f"{self.base_url}{_in_path(fault, options)}/web/{path}"

    def change_page(self, path: str, *, find: str = "", put: str = "", status: int = 200) -> None:
        """From now on this page has other words, or another status."""
        self._running().web.change(f"/web/{path}", find=find, put=put, status=status)

    def url(self, provider: str, *, language: str = "en", fault: str | None = None, **options: Any) -> str:
        """The base URL of a provider, with a permanent fault and its options in the path when one is named."""
        if provider not in FORMATS:
            raise ValueError(f"no such provider: {provider}")
        place = f"/{language}" if provider == "wikipedia" else ""
        return f"{self.base_url}{_in_path(fault, options)}/{provider}{place}"

    def fault(self, prefix: str, name: str, *, times: int | None = None, **options: Any) -> None:
        """From now on (or for the next `times` requests) paths that begin with `prefix` go wrong in this way."""
        self._running().rules.add(rule_of({"prefix": prefix, "fault": name, "times": times, **options}))

    def requests(self) -> list[Seen]:
        """The requests so far, those to `/_control` excepted."""
        return self._running().journal.seen()

    def connections(self) -> int:
        """How many connections those requests came over."""
        return len({seen.connection for seen in self.requests()})

    def reset(self) -> None:
        """Forget rules, requests, balances and paces; connections stay open."""
        self._router = self._new_router()

    def _running(self) -> Router:
        if self._router is None:
            raise RuntimeError("the simulator is not running")
        return self._router

    def _new_router(self) -> Router:
        if self._libraries is None:
            raise RuntimeError("the simulator is not running")
        full, empty = self._libraries
        serper, openalex = (Credits(balance) for balance in self._balances)
        metered = {name: Credits(each.credits) for name, each in FORMATS.items() if each.credits is not None}
        return Router(
            world=World(library=full, serper=serper, openalex=openalex, metered=metered),
            empty_world=World(library=empty, serper=serper, openalex=openalex, metered=metered),
            pacer=Pacer() if self._strict_pacing else None,
        )

    def _accept(self, listener: socket.socket) -> None:
        number = 0
        while True:
            try:
                opened, _ = listener.accept()
            except OSError:
                return
            number += 1
            connection = Connection(opened, number)
            thread = threading.Thread(target=self._converse, args=(connection,), name=f"client-{number}", daemon=True)
            with self._lock:
                self._conversations[connection] = thread
            thread.start()

    def _converse(self, connection: Connection) -> None:
        try:
            while (request := connection.read_request()) is not None:
                self._running().handle(request, connection)
                if not connection.is_open:
                    break
        except BadRequestError:
            with contextlib.suppress(OSError):
                connection.send(plain_refusal(400))
        except OSError:
            pass  # the client left in the middle of it, which is its right
        finally:
            connection.close()
            self._running().journal.note_end_of(connection)
            with self._lock:
                del self._conversations[connection]


def _in_path(fault: str | None, options: Mapping[str, Any]) -> str:
    settings = "".join(f";{name}={value}" for name, value in options.items())
    return f"/fault/{fault}{settings}" if fault else ""
