"""`Zarniwoop`: the client that returns when it has the answer. Threads may share one."""

import random
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self, TypeVar

import httpx

from zarniwoop_client.api import Api, Token, checked_url
from zarniwoop_client.evidence import EvidenceMethods
from zarniwoop_client.exchange import Flow, Give, Lost, Outcome, Send, Sleep, Step, Stream, next_step
from zarniwoop_client.operation import Blocking
from zarniwoop_client.project import ContinuedMethods, ProjectMethods
from zarniwoop_client.retrying import Retrying
from zarniwoop_client.runs import RunMethods, WaitMethods
from zarniwoop_client.settings import SettingsMethods
from zarniwoop_client.tools import ToolMethods
from zarniwoop_client.transport import Gathered, lost, options, parts_of

T = TypeVar("T")


class _Driver:
    """Carries out the steps of flows over httpx."""

    def __init__(self, api: Api, http: httpx.Client, sleep: Callable[[float], None]) -> None:
        self._api, self._http, self._sleep = api, http, sleep

    def run(self, flow: Flow[T]) -> T:
        outcome: Outcome | None = None
        try:
            while True:
                try:
                    step = flow.send(outcome)
                except StopIteration as end:
                    value: T = end.value
                    return value
                outcome = self._take(step)
        finally:
            flow.close()

    def iterate(self, stream: Stream[T]) -> Iterator[T]:
        outcome: Outcome | None = None
        try:
            while (step := next_step(stream, outcome)) is not None:
                if isinstance(step, Give):
                    yield step.value
                    outcome = None
                else:
                    outcome = self._take(step)
        finally:
            stream.close()

    def close(self) -> None:
        self._http.close()

    def _take(self, step: Step) -> Outcome | None:
        match step:
            case Send():
                return self._send(step)
            case Sleep(seconds=seconds):
                self._sleep(seconds)
            case tell:
                tell.listener(tell.news)
        return None

    def _send(self, step: Send) -> Outcome:
        try:
            with self._http.stream(url=self._api.url + step.request.path, **parts_of(step)) as response:
                gathered = Gathered(response, step.seconds, self._api.retrying.clock)
                for chunk in response.iter_bytes():
                    if loss := gathered.add(chunk):
                        return Lost(loss=loss)
                return gathered.received()
        except httpx.HTTPError as error:
            return lost(error)


class _Driven(Blocking):
    def __init__(self, api: Api, driver: _Driver) -> None:
        self._api, self._driver = api, driver

    def _run(self, flow: Flow[T]) -> T:
        return self._driver.run(flow)

    def _iterate(self, stream: Stream[T]) -> Iterator[T]:
        return self._driver.iterate(stream)


class Runs(RunMethods, _Driven): ...


class EvidenceLedger(EvidenceMethods, _Driven): ...


class Settings(SettingsMethods, _Driven): ...


class Zarniwoop(ToolMethods, WaitMethods, ContinuedMethods, ProjectMethods, _Driven):
    """A stack's API, for blocking code.

    `timeout` is how many seconds a call may take in all, up to `retries` retries and the pauses between them included;
    every method takes another as `timeout=…`. `project_id` is needed only where the token has several projects, and
    each method takes another.
    `transport`, `clock`, `sleep` and `jitter` are for tests. Plain http is spoken with this machine alone, unless
    `allow_plain_http`. Raises ValueError for a URL or a token that is none.
    """

    runs: Runs
    evidence: EvidenceLedger
    settings: Settings

    def __init__(
        self,
        url: str,
        token: str,
        *,
        project_id: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        allow_plain_http: bool = False,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        secret, address = Token(token), checked_url(url, allow_plain_http=allow_plain_http)
        http = httpx.Client(transport=transport, **options(address, secret))
        retrying = Retrying(retries=retries, clock=clock, random=jitter)
        api = Api(url=address, project_id=project_id, timeout=timeout, retrying=retrying)
        super().__init__(api, _Driver(api, http, sleep))
        self.runs = Runs(api, self._driver)
        self.evidence = EvidenceLedger(api, self._driver)
        self.settings = Settings(api, self._driver)

    def close(self) -> None:
        """Give the connections back."""
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Zarniwoop({self._api.url!r})"
