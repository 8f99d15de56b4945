"""What only the asynchronous client can do: be cancelled, wait for many at once, await its listener."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.fakes.client_api import TOKEN, URL, FakeApi, found, ok, refused, run
from zarniwoop_client import AsyncZarniwoop


def _client(api: Any, **more: Any) -> AsyncZarniwoop:
    return AsyncZarniwoop(URL, TOKEN, transport=httpx.MockTransport(api), jitter=lambda: 0.0, **more)


async def _for_ever(_seconds: float) -> None:
    await asyncio.Event().wait()


async def _not_at_all(_seconds: float) -> None:
    await asyncio.sleep(0)


def test_a_cancelled_call_asks_no_more() -> None:
    """In the middle of its pause."""
    api = FakeApi(refused("unready", 503, retryable=True, wait_seconds=5))

    async def cancelled() -> None:
        call = asyncio.create_task(_client(api, sleep=_for_ever).search("bells"))
        while not api.requests:
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    assert len(api.requests) == 1


def test_a_cancelled_wait_leaves_the_run_alone() -> None:
    """It can be waited for again."""
    api = FakeApi(ok(run()))

    async def cancelled() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await _client(api, sleep=_for_ever).wait_for("r-0123")

    asyncio.run(cancelled())
    assert {each.method for each in api.requests} == {"GET"}


def test_a_request_that_is_cancelled_under_way_is_given_up() -> None:
    """Its connection is closed, which the transport sees."""
    seen: list[str] = []

    class Hanging(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            try:
                await asyncio.Event().wait()
            finally:
                seen.append("given up")
            raise AssertionError

    async def cancelled() -> None:
        client = AsyncZarniwoop(URL, TOKEN, transport=Hanging())
        call = asyncio.create_task(client.search("bells"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    assert seen == ["given up"]


def test_a_stream_that_is_left_early_asks_no_more() -> None:
    """`async for` with a break, and the generator closed."""
    api = FakeApi(ok(run("queued")), ok(run()), ok(run("succeeded")))

    async def first_only() -> str:
        stream = _client(api, sleep=_not_at_all).runs.watch("r-0123")
        async for answer in stream:
            return answer.data.state
        return "none"

    assert asyncio.run(first_only()) == "queued"
    assert len(api.requests) == 1


def test_a_listener_that_is_a_coroutine_is_awaited() -> None:
    """Before the next look."""
    api = FakeApi(ok(run()), ok(run("succeeded")))
    heard: list[tuple[str, int]] = []

    async def hear(answer: Any) -> None:
        await asyncio.sleep(0)
        heard.append((answer.data.state, len(api.requests)))

    asyncio.run(_waited(_client(api, sleep=_not_at_all), hear))
    assert heard == [("running", 1), ("succeeded", 2)]


async def _waited(client: AsyncZarniwoop, listener: Any) -> None:
    await client.wait_for("r-0123", on_progress=listener)


def test_many_calls_share_a_client() -> None:
    """Each gets its own answer."""

    def echo(request: httpx.Request) -> httpx.Response:
        return ok(found(httpx.Response(200, content=request.content).json()["query"]))

    async def many() -> list[str]:
        client = _client(echo)
        answers = await asyncio.gather(*(client.search(f"q{number}") for number in range(20)))
        return [answer.data.hits[0].title for answer in answers]

    assert asyncio.run(many()) == [f"q{number}" for number in range(20)]
