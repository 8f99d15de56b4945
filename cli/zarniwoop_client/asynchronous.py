"""`AsyncZarniwoop`: the same client to be awaited, under asyncio or trio (whose `sleep` is to be given then)."""

import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from inspect import isawaitable
from types import TracebackType
from typing import Self, TypeVar

import httpx

from zarniwoop_client.api import Api, Token, checked_url
from zarniwoop_client.evidence import EvidenceMethods
from zarniwoop_client.exchange import Flow, Give, Lost, Outcome, Send, Sleep, Step, Stream, next_step
from zarniwoop_client.operation import Awaited
from zarniwoop_client.project import ContinuedMethods, ProjectMethods
from zarniwoop_client.retrying import Retrying
from zarniwoop_client.runs import RunMethods, WaitMethods
from zarniwoop_client.settings import SettingsMethods
from zarniwoop_client.tools import ToolMethods
from zarniwoop_client.transport import Gathered, lost, options, parts_of

T = TypeVar("T")


class _Driver:
    """Carries out the steps of flows over httpx. Cancelled, it closes them and sends nothing more."""

    def __init__(self, api: Api, http: httpx.AsyncClient, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._api, self._http, self._sleep = api, http, sleep

    async def run(self, flow: Flow[T]) -> T:
        outcome: Outcome | None = None
        try:
            while True:
                try:
                    step = flow.send(outcome)
                except StopIteration as end:
                    value: T = end.value
                    return value
                outcome = await self._take(step)
        finally:
            flow.close()

    async def iterate(self, stream: Stream[T]) -> AsyncIterator[T]:
        outcome: Outcome | None = None
        try:
            while (step := next_step(stream, outcome)) is not None:
                if isinstance(step, Give):
                    yield step.value
                    outcome = None
                else:
                    outcome = await self._take(step)
        finally:
            stream.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def _take(self, step: Step) -> Outcome | None:
        match step:
            case Send():
                return await self._send(step)
            case Sleep(seconds=seconds):
                await self._sleep(seconds)
            case tell:
                heard = tell.listener(tell.news)
                if isawaitable(heard):
                    await heard
        return None

    async def _send(self, step: Send) -> Outcome:
        try:
            async with self._http.stream(url=self._api.url + step.request.path, **parts_of(step)) as response:
                gathered = Gathered(response, step.seconds, self._api.retrying.clock)
                async for chunk in response.aiter_bytes():
                    if loss := gathered.add(chunk):
                        return Lost(loss=loss)
                return gathered.received()
        except httpx.HTTPError as error:
            return lost(error)


async def _asyncio_sleep(seconds: float) -> None:
    """Whoever does not await anything does not pay for asyncio."""
    import asyncio

    await asyncio.sleep(seconds)


class _Driven(Awaited):
    def __init__(self, api: Api, driver: _Driver) -> None:
        self._api, self._driver = api, driver

    async def _run(self, flow: Flow[T]) -> T:
        return await self._driver.run(flow)

    def _iterate(self, stream: Stream[T]) -> AsyncIterator[T]:
        return self._driver.iterate(stream)


class AsyncRuns(RunMethods, _Driven): ...


class AsyncEvidenceLedger(EvidenceMethods, _Driven): ...


class AsyncSettings(SettingsMethods, _Driven): ...


class AsyncZarniwoop(ToolMethods, WaitMethods, ContinuedMethods, ProjectMethods, _Driven):
    """A stack's API, for code that awaits. Its arguments and methods are those of `Zarniwoop`.

    What gives out one value after the other is iterated over with `async for`. `on_progress` may be a coroutine
    function; `sleep` is another event loop's, where it is not asyncio's.
    """

    runs: AsyncRuns
    evidence: AsyncEvidenceLedger
    settings: AsyncSettings

    def __init__(
        self,
        url: str,
        token: str,
        *,
        project_id: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        allow_plain_http: bool = False,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        secret, address = Token(token), checked_url(url, allow_plain_http=allow_plain_http)
        http = httpx.AsyncClient(transport=transport, **options(address, secret))
        retrying = Retrying(retries=retries, clock=clock, random=jitter)
        api = Api(url=address, project_id=project_id, timeout=timeout, retrying=retrying)
        super().__init__(api, _Driver(api, http, sleep or _asyncio_sleep))
        self.runs = AsyncRuns(api, self._driver)
        self.evidence = AsyncEvidenceLedger(api, self._driver)
        self.settings = AsyncSettings(api, self._driver)

    async def close(self) -> None:
        """Give the connections back."""
        await self._driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncZarniwoop({self._api.url!r})"
