"""A scripted model behind an OpenAI-compatible endpoint on loopback, for tests and the demo.

    python -m tests.simulator.model_server --port 0 --ready-file PATH

Base URL: `<url>/v1`, or `<url>/fault/<name>/v1` for one that goes wrong in that way each time, or the first N times as
`<url>/fault/<name>;times=N/v1`. Faults: `model_faults.FAULTS`. Without a fault it answers the recipes of this project
by rule (`model_answers`), so that an investigation ends as it should, whatever was asked. Turns of agents, at
`<url>/v1/messages` and `<url>/v1/responses`, are answered by rule, too (`agent_answers`), and never go wrong.
`POST /_control/script` with `{"steps": [{"content": "…"}, {"json": {…}}, {"fault": "429"}]}` says what comes next
instead; a step with a `schema` waits for a question of that schema. `GET /_control/requests` tells what was asked.
"""

import argparse
import json
import re
import signal
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from tests.simulator.agent_answers import AGENT_PATHS
from tests.simulator.model_answers import content_for, schema_of
from tests.simulator.model_faults import FAULTS, Answer, completion

_PATH = re.compile(r"(?:/fault/(?P<fault>[a-z0-9_]+)(?:;times=(?P<times>\d+))?)?/v1/chat/completions")
_HOST = "127.0.0.1"


@dataclass
class _Book:
    """What was asked and what comes next."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    steps: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    stopping: threading.Event = field(default_factory=threading.Event)

    def next_step(self, schema: str) -> dict[str, Any] | None:
        with self.lock:
            for number, step in enumerate(self.steps):
                if step.get("schema", schema) == schema:
                    return self.steps.pop(number)
            return None

    def fault_counts(self, path: str, times: str | None) -> bool:
        """Whether the fault in the path still happens."""
        with self.lock:
            self.faults[path] += 1
            return times is None or self.faults[path] <= int(times)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    book: _Book

    def do_GET(self) -> None:
        with self.book.lock:
            self._send(Answer(body={"requests": list(self.book.requests)}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        if self.path == "/_control/script":
            with self.book.lock:
                self.book.steps = list(body["steps"])
                self.book.requests.clear()
            self._send(Answer(body={"ok": True}))
            return
        if turn := AGENT_PATHS.get(self.path.partition("?")[0]):
            self._note("", body)
            self._send(Answer(body=turn(body)))
            return
        place = _PATH.fullmatch(self.path)
        if place is None:
            self._send(Answer(status=404, body={"error": {"message": "no such path", "code": None}}))
            return
        self._note(schema_of(body), body)
        self._send(self._answer(place, body))

    def _note(self, schema: str, body: dict[str, Any]) -> None:
        with self.book.lock:
            self.book.requests.append({"path": self.path, "schema": schema, "body": body})

    def _answer(self, place: re.Match[str], body: dict[str, Any]) -> Answer:
        step = self.book.next_step(schema_of(body)) or {}
        fault = step.get("fault")
        if place["fault"] and self.book.fault_counts(self.path, place["times"]):
            fault = place["fault"]
        content = json.dumps(step["json"]) if "json" in step else step.get("content") or content_for(body)
        return FAULTS[fault](body, content, self.book.stopping) if fault else completion(body, content)

    def _send(self, answer: Answer) -> None:
        raw = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *_arguments: Any) -> None:  # noqa: A002 - the name that the library gives it
        """Quiet: tests read the requests instead."""


class ModelServer:
    """The server within a test. `url` is without `/v1`."""

    def __init__(self, *, port: int = 0) -> None:
        self._book = _Book()
        handler = type("Handler", (_Handler,), {"book": self._book})
        self._server = ThreadingHTTPServer((_HOST, port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{_HOST}:{self.port}"

    def base_url(self, fault: str | None = None, *, times: int | None = None) -> str:
        """What `llm.primary.baseUrl` has to be."""
        if fault is None:
            return f"{self.url}/v1"
        return f"{self.url}/fault/{fault}{'' if times is None else f';times={times}'}/v1"

    def script(self, *steps: dict[str, Any]) -> None:
        with self._book.lock:
            self._book.steps = list(steps)

    @property
    def requests(self) -> list[dict[str, Any]]:
        with self._book.lock:
            return list(self._book.requests)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._book.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator.model_server")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--ready-file", type=Path, help="port and URL are written here as JSON once the server listens")
    arguments = parser.parse_args()
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    with ModelServer(port=arguments.port) as server:
        if arguments.ready_file:
            draft = arguments.ready_file.with_name(f"{arguments.ready_file.name}.draft")
            draft.write_text(json.dumps({"port": server.port, "url": server.url}), encoding="ascii")
            draft.replace(arguments.ready_file)
        stopped.wait()


if __name__ == "__main__":
    main()
