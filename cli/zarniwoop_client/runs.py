"""Runs: listed, read, stopped, watched to their end, and what they leave behind."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias, Unpack
from urllib.parse import parse_qs, urlsplit

from zarniwoop_client.answer import Answer, own_answer
from zarniwoop_client.api import Api, segments
from zarniwoop_client.exchange import Flow, Give, Sleep, Stream, Tell, next_step
from zarniwoop_client.operation import Operation, Streaming
from zarniwoop_client.options import Options, Scope
from zarniwoop_client.problems import Conflicting, OutOfTime, Temporary, own_problem
from zarniwoop_client.results.runs import (
    ContentAnswer,
    InsightsAnswer,
    RunAccepted,
    RunArtifacts,
    RunReport,
    RunsPage,
)
from zarniwoop_client.surface import Surface, as_json, reader

AnyRun: TypeAlias = str | RunAccepted | Answer[RunAccepted]
"""A run by its id, its receipt or report, or the answer that held one."""
LONGEST_RUN = 1_000.0
"""Seconds: a run may take 900, and what ends one that hangs needs a little."""
_LONG_LOOK, _SHORT_LOOK = 25.0, 2.0
_LEAST_BETWEEN = 0.2
_TO_ANSWER = 1.0
"""Seconds that are kept for the answer to come back in."""
_MOST_FAILURES = 3
"""How many looks in a row may fail, each after its own retries."""


class RunMethods(Surface):
    """`client.runs`."""

    @Operation
    def list(
        self, *, limit: int | None = None, page_token: str | None = None, **options: Unpack[Options]
    ) -> Flow[Answer[RunsPage]]:
        """A page of the project's runs, the newest first."""
        return self._api.get("/v1/runs", {"limit": limit, "page_token": page_token, **options}, reader(RunsPage))

    @Streaming
    def each(self, *, limit: int | None = None, **options: Unpack[Options]) -> Stream[RunReport]:
        """Every run of the project, page after page; `limit` is how many a page holds."""
        page_token: str | None = None
        while True:
            given = {"limit": limit, "page_token": page_token, **options}
            page = yield from self._api.get("/v1/runs", given, reader(RunsPage))
            for run in page.data.runs:
                yield Give(run)
            page_token = page.data.next_page_token
            if page_token is None:
                return

    @Operation
    def get(
        self, run: AnyRun, *, wait: float | None = None, max_chars: int | None = None, **options: Unpack[Options]
    ) -> Flow[Answer[RunReport]]:
        """How far it is, and the best that it has found; after its end, or `wait` (up to 25) seconds."""
        run_id, given = _named(run, {"wait": wait, "max_chars": max_chars, **options})
        return self._api.get(segments("/v1/runs/{run_id}", run_id=run_id), given, reader(RunReport))

    @Operation
    def stop(self, run: AnyRun, **options: Unpack[Options]) -> Flow[Answer[RunReport]]:
        """End it and keep what was found. Raises Conflicting, with its report, for one that has ended otherwise."""
        run_id, given = _named(run, options)
        return self._api.post(segments("/v1/runs/{run_id}/stop", run_id=run_id), given, reader(RunReport))

    @Operation
    def artifacts(self, run: AnyRun, **options: Unpack[Options]) -> Flow[Answer[RunArtifacts]]:
        """Links to the run's files. They need no token, so they are to be kept like one."""
        run_id, given = _named(run, options)
        return self._api.get(segments("/v1/runs/{run_id}/artifacts", run_id=run_id), given, reader(RunArtifacts))

    @Streaming
    def watch(
        self, run: AnyRun, *, timeout: float | None = None, every: float = _SHORT_LOOK, **options: Unpack[Scope]
    ) -> Stream[Answer[RunReport]]:
        """The run's report whenever there is news of it, the last one of its end. See `wait_for`."""
        return Watch(self._api, run, options, timeout=timeout, every=every).reports()

    @Operation
    def content(
        self, sha256: str, *, offset: int | None = None, max_chars: int | None = None, **options: Unpack[Options]
    ) -> Flow[Answer[ContentAnswer]]:
        """A body that a run has loaded: a stretch of its text from `offset` on, or a link to what is no text."""
        given = {"offset": offset, "max_chars": max_chars, **options}
        return self._api.get(segments("/v1/content/{sha256}", sha256=sha256), given, reader(ContentAnswer))

    @Operation
    def insights(
        self,
        format: str | None = None,  # noqa: A002 - the API's own name for it
        *,
        offset: int | None = None,
        max_chars: int | None = None,
        version: str | None = None,
        **options: Unpack[Options],
    ) -> Flow[Answer[InsightsAnswer]]:
        """Entities and relations of all runs of the project: `json`, `jsonld` or `graphml`."""
        given = {"format": format, "offset": offset, "max_chars": max_chars, "version": version, **options}
        return self._api.get("/v1/insights", given, reader(InsightsAnswer))


class WaitMethods(Surface):
    """What the clients themselves can do with runs."""

    @Operation
    def wait_for(
        self,
        run: AnyRun,
        *,
        on_progress: Callable[[Answer[RunReport]], Any] | None = None,
        should_stop: Callable[[], bool] | None = None,
        timeout: float | None = None,
        every: float | None = None,
        **options: Unpack[Scope],
    ) -> Flow[Answer[RunReport]]:
        """The run's last report, once it has ended: as succeeded, stopped, failed or timed_out (`data.state`).

        `on_progress` is told whenever something is new. When `should_stop` says so, the run is asked to stop, once, and
        its end is waited for. After `timeout` seconds (by default more than any run may take) OutOfTime is raised, and
        the run goes on; so it does when waiting is cancelled. `every`: seconds between looks.
        """
        usual = _LONG_LOOK if on_progress is None and should_stop is None else _SHORT_LOOK
        looks = usual if every is None else every
        watch = Watch(self._api, run, options, timeout=timeout, every=looks, should_stop=should_stop)
        return _last_of(watch.reports(), on_progress)


class Watch:
    """Looks at a run until it has ended. Looks that fail for a while are repeated: the run does not mind."""

    def __init__(
        self,
        api: Api,
        run: AnyRun,
        options: Mapping[str, Any],
        *,
        timeout: float | None,
        every: float,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self._api = api
        self._run_id, self._scope = _named(run, options)
        self._seconds = LONGEST_RUN if timeout is None else timeout
        self._every = max(_LEAST_BETWEEN, every)
        self._should_stop = should_stop
        self._failures = 0
        self._last: Answer[RunReport] | None = None
        self._ended: Answer[Any] | None = run if isinstance(run, Answer) and run.data.ended else None

    def reports(self) -> Stream[Answer[RunReport]]:
        """Each that says something new, the last one of the end. Raises OutOfTime when the run outlasts the caller."""
        if self._ended is not None:
            yield Give(self._ended)
            return
        clock, wait, due = self._api.retrying.clock, 0.0, 0.0
        ends_at = clock() + self._seconds
        while True:
            began = clock()
            told = self._last
            yield from self._look(wait, ends_at - began)
            if self._last is not None and (told is None or _news(told.data) != _news(self._last.data)):
                yield Give(self._last)
            if self._last is not None and self._last.data.ended:
                return
            yield from self._stop_if_wanted()
            left = ends_at - clock()
            if left <= 0:
                raise _still_running(self._seconds, self._last)
            pause = (self._every if self._failures else due) - (clock() - began)
            if pause > 0:
                yield Sleep(seconds=min(pause, left))
            wait, due = max(0.0, min(self._every, _LONG_LOOK, left - _TO_ANSWER)), self._every

    def _look(self, wait: float, left: float) -> Flow[None]:
        given = {**self._scope, "wait": wait, "timeout": max(_TO_ANSWER, left)}
        path = segments("/v1/runs/{run_id}", run_id=self._run_id)
        try:
            self._last = yield from self._api.get(path, given, reader(RunReport))
            self._failures = 0
        except Temporary:
            self._failures += 1
            if self._failures == _MOST_FAILURES:
                raise

    def _stop_if_wanted(self) -> Flow[None]:
        """Once, unless that fails for a while. A run that has ended meanwhile needs no stop."""
        if self._should_stop is None or not self._should_stop():
            return
        path = segments("/v1/runs/{run_id}/stop", run_id=self._run_id)
        with suppress(Temporary):
            with suppress(Conflicting):
                yield from self._api.post(path, self._scope, as_json)
            self._should_stop = None


def _last_of(
    stream: Stream[Answer[RunReport]], listener: Callable[[Answer[RunReport]], Any] | None
) -> Flow[Answer[RunReport]]:
    """The last value that a stream gives out, each told to the listener."""
    last: Answer[RunReport] | None = None
    outcome: Any = None
    while (step := next_step(stream, outcome)) is not None:
        if isinstance(step, Give):
            last, outcome = step.value, None
            if listener is not None:
                yield Tell(listener=listener, news=last)
        else:
            outcome = yield step
    if last is None:
        raise TypeError("a watched run gives out at least its end")
    return last


def _named(run: AnyRun, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The run's id, and the options with its project: the one that its `status_url` names."""
    known = run.data if isinstance(run, Answer) else run
    if isinstance(known, str):
        return known, dict(options)
    named = parse_qs(urlsplit(known.status_url).query).get("project_id")
    return known.run_id, {**({"project_id": named[0]} if named else {}), **options}


def _news(report: RunReport) -> tuple[Any, ...]:
    return report.state, report.progress, report.counts, report.cost, report.ended_at


def _still_running(seconds: float, last: Answer[RunReport] | None) -> OutOfTime:
    problem = own_problem(
        "client-out-of-time",
        "The run has not ended yet",
        f"the run goes on after the {seconds:g} seconds that it was waited for",
        retryable=True,
        suggested_action="wait for it again, or stop it",
    )
    return OutOfTime(problem, own_answer(problem, last))
