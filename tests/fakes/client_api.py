"""An API that answers the client as a test has scripted it, and either of the two clients in front of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from inspect import iscoroutine
from operator import attrgetter
from typing import Any

import httpx

from tests.fakes.clock import FakeClock
from zarniwoop_client import AsyncZarniwoop, Zarniwoop

URL = "http://127.0.0.1:4566/local"
TOKEN = "zw_canary-token-that-nobody-may-see"
Scripted = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class FakeApi:
    """Answers in the order of its script, the last answer for ever, and remembers what it was asked."""

    def __init__(self, *script: Scripted) -> None:
        self._script = list(script)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if isinstance(answer, Exception):
            raise answer
        return copied(answer) if isinstance(answer, httpx.Response) else answer(request)

    @property
    def asked(self) -> list[str]:
        """Method and path of each request, without the stage."""
        return [f"{each.method} {each.url.path.removeprefix('/local')}" for each in self.requests]


def copied(answer: httpx.Response) -> httpx.Response:
    """A response can be read only once."""
    return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


class Driven:
    """One of the two clients; what it is told to do is done when the call returns, streams as lists."""

    def __init__(
        self, kind: str, api: Callable[[httpx.Request], httpx.Response], clock: FakeClock, **more: Any
    ) -> None:
        given: dict[str, Any] = {"clock": clock.monotonic, "jitter": lambda: 0.0, **more}
        transport = httpx.MockTransport(api)

        async def sleep(seconds: float) -> None:
            clock.sleep(seconds)

        if kind == "blocking":
            self.client: Any = Zarniwoop(URL, TOKEN, transport=transport, sleep=clock.sleep, **given)
        else:
            self.client = AsyncZarniwoop(URL, TOKEN, transport=transport, sleep=sleep, **given)

    def __call__(self, method: str, *args: Any, **options: Any) -> Any:
        made = attrgetter(method)(self.client)(*args, **options)
        if iscoroutine(made):
            return asyncio.run(made)
        if isinstance(made, AsyncIterator):
            return asyncio.run(_gathered(made))
        return list(made) if isinstance(made, Iterator) else made


async def _gathered(stream: AsyncIterator[Any]) -> list[Any]:
    return [each async for each in stream]


def ok(data: Any, status: int = 200, **headers: str) -> httpx.Response:
    """An envelope with data."""
    return httpx.Response(status, json={"ok": True, "data": data, "error": None, "evidence": []}, headers=headers)


def refused(
    slug: str, status: int, *, data: Any = None, headers: dict[str, str] | None = None, **members: Any
) -> httpx.Response:
    """An envelope with a problem."""
    problem = {"type": f"urn:zarniwoop:problem:{slug}", "title": "No", "status": status, "detail": "not so", **members}
    return httpx.Response(
        status, json={"ok": False, "data": data, "error": problem, "evidence": []}, headers=headers or {}
    )


def found(*titles: str, **more: Any) -> dict[str, Any]:
    """The data of a search with these hits."""
    hits = [{"title": each, "url": f"https://example.org/{each}", "modality": "WEB"} for each in titles]
    return {"query": "bells", "modality": "WEB", "provider_instance_id": "a", "tier": "NORMAL", "hits": hits, **more}


def run(state: str = "running", **changes: Any) -> dict[str, Any]:
    """The data of a run's report."""
    ended = None if state in ("queued", "running", "stopping") else 1_800_000_100.0
    told: dict[str, Any] = {
        "run_id": "r-0123",
        "project_id": "demo",
        "tool": "research_investigate",
        "state": state,
        "outcome": None,
        "error": None,
        "status_url": "/v1/runs/r-0123?project_id=demo",
        "request_id": "q-1",
        "created_at": 1_800_000_000.0,
        "started_at": None,
        "updated_at": 1_800_000_000.0,
        "ended_at": ended,
        "deadline_at": 1_800_000_300.0,
        "progress": {},
        "counts": {},
        "usage": {},
        "cost": 0.0,
        "webhook": None,
    }
    return {**told, **changes}
