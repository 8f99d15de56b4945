"""Runs through the client: started, watched with their progress, stopped, and waited for no longer than wanted."""

from typing import Any

import httpx
import pytest

from tests.fakes.client_api import Driven, FakeApi, ok, refused, run
from tests.fakes.clock import FakeClock
from zarniwoop_client import Conflicting, NotFound, OutOfTime, Temporary
from zarniwoop_client.results.runs import RunAccepted, RunReport

RECEIPT = {"run_id": "r-0123", "state": "queued", "status_url": "/v1/runs/r-0123?project_id=research"}
DOWN = refused("unready", 503, retryable=True)


@pytest.fixture(params=["blocking", "asynchronous"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def _progress(done: int) -> dict[str, Any]:
    return run("running", progress={"search": {"done": done, "total": 4}})


def test_an_investigation_answers_with_a_receipt_or_with_the_report(kind: str, clock: FakeClock) -> None:
    """202 and 200; the type says which."""
    api = FakeApi(ok(RECEIPT, 202), ok(run("succeeded", results={"survivors": []})))
    driven = Driven(kind, api, clock)
    receipt, report = driven("investigate", "why?"), driven("investigate", "why?", wait=20)
    assert (type(receipt.data), receipt.data.ended, receipt.status) == (RunAccepted, False, 202)
    assert (type(report.data), report.data.ended) == (RunReport, True)


def test_waiting_for_a_run_looks_until_it_has_ended(kind: str, clock: FakeClock) -> None:
    """Each look lets the server wait; the project is the one that the receipt names."""
    api = FakeApi(ok(RECEIPT, 202), ok(run("queued")), ok(run()), ok(run("succeeded")))
    driven = Driven(kind, api, clock)
    ended = driven("wait_for", driven("investigate", "why?"))
    assert ended.data.state == "succeeded"
    assert [each.url.params.get("wait") for each in api.requests[1:]] == ["0.0", "25.0", "25.0"]
    assert {each.url.params["project_id"] for each in api.requests[1:]} == {"research"}


def test_a_run_that_ended_while_it_was_started_is_not_looked_at_again(kind: str, clock: FakeClock) -> None:
    """Its report is there."""
    api = FakeApi(ok(run("succeeded")))
    driven = Driven(kind, api, clock)
    ended = driven("investigate", "why?", wait=20)
    assert driven("wait_for", ended) is ended
    assert len(api.requests) == 1


@pytest.mark.parametrize("state", ["succeeded", "stopped", "failed", "timed_out", "a_newer_word"])
def test_whichever_way_a_run_ended_its_report_is_given(kind: str, clock: FakeClock, state: str) -> None:
    """That it failed is an answer. By its id it is looked for in the client's project."""
    api = FakeApi(ok(run(state)))
    assert Driven(kind, api, clock, project_id="demo")("wait_for", "r-0123").data.state == state
    assert api.requests[0].url.params["project_id"] == "demo"


def test_progress_is_told_whenever_there_is_news_and_only_then(kind: str, clock: FakeClock) -> None:
    """Looks are short then; what a server does not hold for so long is waited for here."""
    api = FakeApi(ok(run("queued")), ok(_progress(1)), ok(_progress(1)), ok(_progress(3)), ok(run("succeeded")))
    told: list[str] = []

    def hear(answer: Any) -> None:
        told.append(f"{answer.data.state} {answer.data.progress['search'].done if answer.data.progress else 0}")

    Driven(kind, api, clock)("wait_for", "r-0123", on_progress=hear)
    assert told == ["queued 0", "running 1", "running 3", "succeeded 0"]
    assert [each.url.params["wait"] for each in api.requests] == ["0.0", "2.0", "2.0", "2.0", "2.0"]
    assert clock.slept == [2.0, 2.0, 2.0]


def test_a_server_that_holds_the_look_is_asked_again_at_once(kind: str, clock: FakeClock) -> None:
    """Its waiting was the pause."""
    states = iter(["running", "running", "succeeded"])

    def hold(request: httpx.Request) -> httpx.Response:
        clock.advance(float(request.url.params["wait"]))
        return ok(run(next(states)))

    Driven(kind, hold, clock)("wait_for", "r-0123")
    assert (clock.slept, clock.monotonic()) == ([], 1_050.0)


def test_watching_gives_out_each_report_that_is_news(kind: str, clock: FakeClock) -> None:
    """The last one is that of the end."""
    api = FakeApi(ok(run("queued")), ok(run("queued")), ok(run()), ok(run("succeeded")))
    states = [each.data.state for each in Driven(kind, api, clock)("runs.watch", "r-0123")]
    assert states == ["queued", "running", "succeeded"]


def test_a_run_that_outlasts_its_watcher_goes_on(kind: str, clock: FakeClock) -> None:
    """What was last known of it comes along, and nobody stops it."""
    api = FakeApi(ok(run()))
    with pytest.raises(OutOfTime, match="goes on after the 60 seconds") as raised:
        Driven(kind, api, clock)("wait_for", "r-0123", timeout=60)
    assert raised.value.answer.data.state == "running"
    raw = raised.value.answer.raw
    assert (raw["ok"], raw["data"]["state"], raw["error"]["retryable"]) == (False, "running", True)
    assert (clock.monotonic(), {each.method for each in api.requests}) == (1_060.0, {"GET"})


@pytest.mark.parametrize(("every", "looks"), [(0, 16), (0.5, 7), (60, 2)])
def test_a_run_is_never_looked_at_without_a_pause(kind: str, clock: FakeClock, every: float, looks: int) -> None:
    """Be the server's waiting too short, the caller's wish too keen, or hardly any time left."""
    api = FakeApi(ok(run()))
    with pytest.raises(OutOfTime):
        Driven(kind, api, clock)("wait_for", "r-0123", timeout=3, every=every)
    assert len(api.requests) in (looks, looks + 1)
    assert clock.monotonic() == pytest.approx(1_003.0)


def test_a_stop_is_asked_for_once_and_the_end_is_waited_for(kind: str, clock: FakeClock) -> None:
    """As Ctrl-C does it; what was found until then is in the report."""
    wanted = iter([False, True, True, True])
    found_by_then = run("stopped", results={"merged": [1]})
    api = FakeApi(ok(run()), ok(_progress(1)), ok(run("stopping")), ok(run("stopping")), ok(found_by_then))
    ended = Driven(kind, api, clock)("wait_for", "r-0123", should_stop=lambda: next(wanted))
    assert (ended.data.state, ended.data.results) == ("stopped", {"merged": [1]})
    assert api.asked == [*["GET /v1/runs/r-0123"] * 2, "POST /v1/runs/r-0123/stop", *["GET /v1/runs/r-0123"] * 2]


def test_a_stop_that_comes_too_late_is_no_trouble(kind: str, clock: FakeClock) -> None:
    """The run has ended; its report is what was waited for."""
    late = refused("run-ended", 409, data=run("succeeded"))
    api = FakeApi(ok(run()), late, ok(run("succeeded")))
    assert Driven(kind, api, clock)("wait_for", "r-0123", should_stop=lambda: True).data.state == "succeeded"
    with pytest.raises(Conflicting) as raised:
        Driven(kind, FakeApi(late), clock)("runs.stop", "r-0123")
    assert raised.value.answer.data.state == "succeeded"


def test_a_stop_that_does_not_get_through_is_asked_for_again(kind: str, clock: FakeClock) -> None:
    """At the next look."""
    api = FakeApi(ok(run()), DOWN, ok(run()), ok(run("stopping")), ok(run("stopped")))
    Driven(kind, api, clock, retries=0)("wait_for", "r-0123", should_stop=lambda: True)
    assert [each.method for each in api.requests] == ["GET", "POST", "GET", "POST", "GET"]


def test_a_look_that_fails_for_a_while_does_not_end_the_waiting(kind: str, clock: FakeClock) -> None:
    """Two failures in a row, each after its retries; the third is told, and so is what time does not heal."""
    api = FakeApi(ok(run()), DOWN, DOWN, ok(run()), DOWN, DOWN, ok(run("succeeded")))
    assert Driven(kind, api, clock, retries=0)("wait_for", "r-0123").data.state == "succeeded"
    down = FakeApi(DOWN)
    with pytest.raises(Temporary):
        Driven(kind, down, clock, retries=0)("wait_for", "r-0123")
    assert len(down.requests) == 3
    gone = FakeApi(refused("unknown-run", 404))
    with pytest.raises(NotFound):
        Driven(kind, gone, clock)("wait_for", "r-0123")
    assert len(gone.requests) == 1


def test_what_a_listener_raises_ends_the_waiting(kind: str, clock: FakeClock) -> None:
    """It is the caller's own, and comes out as it is, be it StopIteration, which ends generators otherwise."""
    api = FakeApi(ok(run()))

    def interrupted(_answer: Any) -> None:
        raise KeyboardInterrupt

    def exhausted(_answer: Any) -> None:
        next(iter(()))

    with pytest.raises(KeyboardInterrupt):
        Driven(kind, api, clock)("wait_for", "r-0123", on_progress=interrupted)
    with pytest.raises((StopIteration, RuntimeError)):
        Driven(kind, api, clock)("wait_for", "r-0123", on_progress=exhausted)
    assert len(api.requests) == 2


def test_all_runs_are_read_page_after_page(kind: str, clock: FakeClock) -> None:
    """As many requests as there are pages."""
    pages = [
        ok({"runs": [run(run_id="r-1"), run(run_id="r-2")], "next_page_token": "more"}),
        ok({"runs": [run(run_id="r-3")], "next_page_token": None}),
    ]
    api = FakeApi(*pages)
    assert [each.run_id for each in Driven(kind, api, clock)("runs.each", limit=2)] == ["r-1", "r-2", "r-3"]
    assert [each.url.params.get("page_token") for each in api.requests] == [None, "more"]


def test_a_runs_files_and_bodies_have_their_methods(kind: str, clock: FakeClock) -> None:
    """The receipt names run and project for all of them."""
    receipt = RunAccepted.model_validate(RECEIPT)
    files = {"run_id": "r-0123", "artifacts": [{"name": "result.json", "size": 7, "url": "https://x"}], "expires_in": 9}
    api = FakeApi(ok(files))
    assert Driven(kind, api, clock)("runs.artifacts", receipt).data.artifacts[0].name == "result.json"
    assert str(api.requests[0].url).endswith("/v1/runs/r-0123/artifacts?project_id=research")
    body = {"sha256": "0" * 64, "media_type": "text/plain", "source_url": "u", "instance_id": "a", "size": 1}
    api = FakeApi(ok({**body, "expires_at": 1.0, "text": "x", "offset": 0, "next_offset": None}))
    assert Driven(kind, api, clock)("runs.content", "0" * 64).data.text == "x"
    graph = {"format": "json", "media_type": "application/json", "version": "v", "entities": 0, "relations": 0}
    api = FakeApi(ok({**graph, "cut": {}, "limits": {}, "size": 2, "document": {}}))
    assert Driven(kind, api, clock)("runs.insights", "json").data.document == {}
