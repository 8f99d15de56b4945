"""When the client asks again: only where the API says so, never past its caller's time, never what may do harm."""

from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.client_api import Driven, FakeApi, found, ok, refused, run
from tests.fakes.clock import FakeClock
from zarniwoop_client import (
    Conflicting,
    InvalidRequest,
    NotAuthorized,
    NotFound,
    OutOfTime,
    ServerFault,
    Temporary,
    Unanswered,
    Unreachable,
    ZarniwoopError,
)
from zarniwoop_client.answer import understood
from zarniwoop_client.exchange import Loss, Lost, Received, Request, Send, Sleep
from zarniwoop_client.retrying import Retrying, may_repeat, stated_wait

THROTTLED = refused("throttled", 429, retryable=True, wait_seconds=1)
HTML = httpx.Response(502, text="<html>Bad Gateway</html>", headers={"content-type": "text/html"})


@pytest.fixture(params=["blocking", "asynchronous"])
def kind(request: pytest.FixtureRequest) -> str:
    """All of it holds for both clients."""
    return str(request.param)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_what_is_retryable_is_asked_again_after_the_wait_that_was_stated(kind: str, clock: FakeClock) -> None:
    """And the answer is as if it had come at once."""
    api = FakeApi(THROTTLED, ok(found("bell")))
    answer = Driven(kind, api, clock)("search", "bells")
    assert ([hit.title for hit in answer.data.hits], clock.slept, len(api.requests)) == (["bell"], [1.0], 2)


@pytest.mark.parametrize(
    ("headers", "wait_seconds", "slept"),
    [
        ({"retry-after": "7"}, None, 7.0),
        ({"retry-after": "7"}, 2.0, 7.0),
        ({"retry-after": "2"}, 7.5, 7.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:09 GMT", "date": "Mon, 30 Nov 2026 12:00:00 GMT"}, None, 9.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:09 GMT"}, None, 0.25),
        ({"retry-after": "soon"}, None, 0.25),
        ({"retry-after": "-5"}, None, 0.25),
        ({}, 0.0, 0.0),
    ],
)
def test_the_longer_of_two_stated_waits_is_kept(
    kind: str, clock: FakeClock, headers: dict[str, str], wait_seconds: float | None, slept: float
) -> None:
    """A date counts from the server's own clock; what is no wait is none."""
    api = FakeApi(refused("unready", 503, headers=headers, retryable=True, wait_seconds=wait_seconds), ok(found()))
    Driven(kind, api, clock)("search", "bells")
    assert clock.slept == [slept]


def test_pauses_that_nobody_stated_double_and_differ_from_client_to_client(kind: str, clock: FakeClock) -> None:
    """Clients that were refused together do not come back together."""
    api = FakeApi(HTML)
    with pytest.raises(Unreachable):
        Driven(kind, api, clock, retries=5)("providers")
    assert clock.slept == [0.25, 0.5, 1.0, 2.0, 4.0]
    other = FakeClock()
    with pytest.raises(Unreachable):
        Driven(kind, api, other, retries=5, jitter=lambda: 1.0)("providers")
    assert other.slept == [0.5, 1.0, 2.0, 4.0, 8.0]


def test_jitter_only_lengthens_a_wait_that_was_stated(kind: str, clock: FakeClock) -> None:
    """By a tenth, and never by more than a second."""
    api = FakeApi(THROTTLED, refused("unready", 503, retryable=True, wait_seconds=20), ok(found()))
    Driven(kind, api, clock, jitter=lambda: 1.0)("search", "bells")
    assert clock.slept == [1.1, 21.0]


def test_after_so_many_retries_the_problem_is_raised(kind: str, clock: FakeClock) -> None:
    """Three, unless the caller wants others."""
    api = FakeApi(THROTTLED)
    with pytest.raises(Temporary) as raised:
        Driven(kind, api, clock)("search", "bells")
    assert (len(api.requests), raised.value.problem.slug, raised.value.retryable) == (4, "throttled", True)
    once = FakeApi(THROTTLED)
    with pytest.raises(Temporary):
        Driven(kind, once, clock, retries=0)("search", "bells")
    assert len(once.requests) == 1


def test_a_wait_that_leads_past_the_callers_time_is_not_waited_for(kind: str, clock: FakeClock) -> None:
    """The problem says when to come again, which the caller can do as well."""
    api = FakeApi(refused("all-cooling", 200, data=found(), retryable=True, wait_seconds=120))
    with pytest.raises(Temporary) as raised:
        Driven(kind, api, clock)("search", "bells")
    assert (clock.slept, len(api.requests), raised.value.problem.wait_seconds) == ([], 1, 120)
    assert raised.value.answer.data.query == "bells"


def test_the_callers_time_is_over_for_all_retries_together(kind: str, clock: FakeClock) -> None:
    """Each request takes ten seconds here; the third would end behind the deadline, so it gets what is left."""
    timeouts: list[float] = []

    def slow(request: httpx.Request) -> httpx.Response:
        timeouts.append(request.extensions["timeout"]["read"])
        clock.advance(min(10.0, timeouts[-1]))
        return refused("unready", 503, retryable=True)

    with pytest.raises(Temporary):
        Driven(kind, slow, clock, retries=9)("search", "bells", timeout=25)
    assert timeouts == [25.0, 14.75, 4.25]
    assert clock.monotonic() == 1_025.0


def test_a_call_without_any_time_asks_nobody(kind: str, clock: FakeClock) -> None:
    """And says so in the client's own words."""
    api = FakeApi(ok(found()))
    with pytest.raises(OutOfTime, match="0 seconds that the caller gave were over") as raised:
        Driven(kind, api, clock)("search", "bells", timeout=0)
    assert api.requests == []
    assert (raised.value.answer.raw["ok"], raised.value.answer.error) == (False, raised.value.problem)


def test_a_hurried_tool_is_told_how_long_its_caller_waits(kind: str, clock: FakeClock) -> None:
    """So it answers with what it has by then. Who has time says nothing, and nothing else than a tool is told."""
    api = FakeApi(ok(found()))
    driven = Driven(kind, api, clock)
    driven("search", "bells", timeout=10)
    driven("search", "bells", timeout=0.2)
    driven("search", "bells")
    assert [each.headers.get("x-deadline-ms") for each in api.requests] == ["9700", "100", None]
    usage = FakeApi(refused("unready", 503))
    with pytest.raises(ServerFault):
        Driven(kind, usage, clock)("usage", timeout=10)
    assert "x-deadline-ms" not in usage.requests[0].headers


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, InvalidRequest),
        (401, NotAuthorized),
        (403, NotAuthorized),
        (404, NotFound),
        (409, Conflicting),
        (412, Conflicting),
        (413, InvalidRequest),
        (415, InvalidRequest),
        (422, InvalidRequest),
        (428, Conflicting),
        (500, ServerFault),
        (200, Unanswered),
    ],
)
def test_what_time_does_not_heal_is_raised_at_once(
    kind: str, clock: FakeClock, status: int, error: type[Exception]
) -> None:
    """The class says what to do about it, the problem how."""
    api = FakeApi(refused("so-it-is", status, field="query", suggested_action="ask otherwise"))
    with pytest.raises(error) as raised:
        Driven(kind, api, clock)("search", "bells")
    assert type(raised.value) is error
    assert isinstance(raised.value, InvalidRequest) == (error in (InvalidRequest, NotFound, Conflicting))
    problem = raised.value.problem  # type: ignore[attr-defined] # all of them are ZarniwoopErrors
    assert (problem.status, problem.field, problem.suggested_action) == (status, "query", "ask otherwise")
    assert (len(api.requests), clock.slept) == (1, [])


@pytest.mark.parametrize(
    "broken",
    [
        httpx.ConnectError("no"),
        httpx.ConnectTimeout("no"),
        httpx.ReadTimeout("no"),
        httpx.ReadError("no"),
        httpx.WriteError("no"),
        httpx.RemoteProtocolError("no"),
        httpx.PoolTimeout("no"),
        httpx.ProxyError("no"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_connection_that_fails_is_tried_again(kind: str, clock: FakeClock, broken: Exception) -> None:
    """Where asking twice costs nothing, whenever it failed."""
    api = FakeApi(broken, ok({"ended": True, **run("succeeded")}))
    assert Driven(kind, api, clock)("run_status", "r-0123").data.state == "succeeded"
    down = FakeApi(broken)
    with pytest.raises(Unreachable) as raised:
        Driven(kind, down, clock)("providers")
    assert (len(down.requests), raised.value.answer.ok, raised.value.answer.status) == (4, False, 0)
    assert type(broken).__name__ in str(raised.value)


def test_a_run_bears_the_same_idempotency_key_however_often_it_is_asked_for(kind: str, clock: FakeClock) -> None:
    """So it starts once; two calls are two runs, unless the caller says otherwise."""
    api = FakeApi(httpx.ReadTimeout("no"), THROTTLED, ok(run("queued"), 202))
    driven = Driven(kind, api, clock)
    driven("investigate", "why?")
    driven("investigate", "why?")
    driven("investigate", "why?", idempotency_key="mine")
    keys = [each.headers["idempotency-key"] for each in api.requests]
    assert (len(set(keys[:3])), len(set(keys)), keys[4]) == (1, 3, "mine")
    assert len(keys[0]) == 32


def test_a_tool_that_changes_nothing_has_no_idempotency_key(kind: str, clock: FakeClock) -> None:
    """It would cost the stack two writes. One that this client does not know may change something."""
    api = FakeApi(ok(found()))
    driven = Driven(kind, api, clock)
    driven("search", "bells")
    driven("call", "tool_of_tomorrow", name="x")
    assert ["idempotency-key" in each.headers for each in api.requests] == [False, True]
    plans = FakeApi(refused("x", 400))
    with pytest.raises(InvalidRequest):
        Driven(kind, plans, clock)("plan", "web_fetch", urls=["https://example.org"])
    assert "idempotency-key" not in plans.requests[0].headers


def test_a_run_that_failed_under_its_key_is_not_asked_for_again(kind: str, clock: FakeClock) -> None:
    """The same key would bring the same run."""
    api = FakeApi(refused("run-failed", 200, data=run("failed"), retryable=True))
    with pytest.raises(Temporary) as raised:
        Driven(kind, api, clock)("investigate", "why?", wait=20)
    assert (len(api.requests), raised.value.answer.data.state) == (1, "failed")


CHANGES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("settings.save", ({"research.default.web": "a"},), {"version": "v1"}),
    ("settings.delete", ("serper-main",), {"version": "*"}),
    ("settings.test", ("serper-main",), {}),
    ("settings.reveal", ("research.endpoint.a.apiKey",), {}),
]


@pytest.mark.parametrize(("method", "args", "options"), CHANGES, ids=lambda each: each if isinstance(each, str) else "")
@pytest.mark.parametrize(
    ("trouble", "requests"),
    [
        (httpx.ReadTimeout("no"), 1),
        (HTML, 1),
        (refused("half-saved", 503, retryable=True, wait_seconds=1), 1),
        (httpx.ConnectError("no"), 4),
        (THROTTLED, 4),
    ],
    ids=["lost", "proxy", "half-saved", "unconnected", "throttled"],
)
def test_what_changes_settings_is_never_sent_again_once_it_may_have_arrived(
    kind: str,
    clock: FakeClock,
    method: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    trouble: httpx.Response | Exception,
    requests: int,
) -> None:
    """What never got so far is."""
    api = FakeApi(trouble)
    with pytest.raises(Temporary):
        Driven(kind, api, clock)(method, *args, **options)
    assert len(api.requests) == requests


OUTCOMES = st.one_of(
    st.sampled_from([Lost(loss=each) for each in Loss]),
    st.builds(
        lambda status, retryable, wait, header: Received(
            status=status,
            headers={"retry-after": header} if header else {},
            content=refused("x", status, retryable=retryable, wait_seconds=wait).content,
        ),
        st.sampled_from([200, 400, 409, 429, 500, 503]),
        st.booleans(),
        st.one_of(st.none(), st.floats(0, 90)),
        st.sampled_from(["", "0", "3", "70"]),
    ),
    st.sampled_from([Received(status=each, headers={}, content=b"<html>") for each in (200, 404, 502)]),
)


@settings(max_examples=80, deadline=None)
@given(
    outcomes=st.lists(st.tuples(OUTCOMES, st.floats(0, 1)), min_size=12, max_size=12),
    seconds=st.floats(0, 120),
    retries=st.integers(0, 8),
    jitter=st.floats(0, 1),
    repeatable=st.booleans(),
)
def test_whatever_happens_a_call_ends_in_time_and_never_comes_back_too_early(
    outcomes: list[tuple[Any, float]], seconds: float, retries: int, jitter: float, repeatable: bool
) -> None:
    """Within the caller's seconds, within its retries, after every stated wait, and only where that may be done."""
    clock = FakeClock()
    retrying = Retrying(retries=retries, clock=clock.monotonic, random=lambda: jitter)
    request = Request(method="POST", path="/v1/tools/x", repeatable=repeatable)
    flow = retrying.exchange(request, lambda data: data, seconds)
    script, sent, last = iter(outcomes), 0, None
    with pytest.raises(ZarniwoopError) as raised:
        step = next(flow)
        while True:
            if isinstance(step, Sleep):
                assert last is not None
                clock.sleep(step.seconds)
                step = flow.send(None)
                continue
            assert isinstance(step, Send)
            assert last is None or may_repeat(request, last, understood(last, lambda data: data).error)  # type: ignore[arg-type]
            sent, (last, share) = sent + 1, next(script)
            clock.advance(share * step.seconds)
            step = flow.send(last)
            stated = stated_wait(understood(last, lambda data: data).error, last)  # type: ignore[arg-type]
            assert isinstance(step, Sleep)
            assert step.seconds >= (stated or 0.0)
    assert sent <= retries + 1
    assert clock.monotonic() - 1_000.0 <= seconds + 1e-6
    assert raised.value.problem
