"""`/v1/runs…` and `/v1/content/<hash>`: what a run's owner sees and may do, and what nobody else does."""

import hashlib
from typing import Any

import pytest

from tests.contract.test_run_store import run_id
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, handler_of, sample
from tests.fakes.research import PROJECT
from zarniwoop.contract.chat import ModelUsage
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.entry import authorizer
from zarniwoop.entry.runs import OPERATIONS, ROUTES, runs
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.run_files import RESULT
from zarniwoop.stores.runs import Ending, Run, RunState, Step
from zarniwoop.stores.tokens import TokenGrant, hash_token
from zarniwoop.tools.research_investigate import RESEARCH_INVESTIGATE

SAMPLES = ["runs", "runs.list", "runs.stop", "runs.artifacts", "runs.content", "runs.insights", "runs.invoke"]
PAGE = LoadedContent(
    body="Glocken läuten 🔔 weit".encode(), media_type="text/plain", source_url="https://example.com/b"
)


def _environment(**changes: Any) -> FakeEnvironment:
    """With one run that has not started."""
    environment = FakeEnvironment()
    environment.fake_runs.create(_run(environment, **changes))
    return environment


def _run(environment: FakeEnvironment, second: float = 0.0, **changes: Any) -> Run:
    now = environment.clock.now()
    values: dict[str, Any] = {
        "run_id": run_id(second),
        "project": PROJECT,
        "tool": "research_investigate",
        "created_at": now,
        "updated_at": now,
        "deadline_at": now + 360,
        "expires_at": now + 86_400,
        "execution_arn": f"arn:aws:states:us-east-1:123456789012:execution:investigate:{run_id(second)}",
        "request_id": "request-0",
    }
    return Run(**{**values, **changes})


def _call(
    environment: FakeEnvironment,
    case: str = "runs",
    *,
    identity: dict[str, str] | None = None,
    context: LambdaContext | None = None,
    which: str | None = None,
    **query: str,
) -> dict[str, Any]:
    """A sample over REST with the run's own id, other query parameters, or another identity."""
    event = sample(case)
    if event.get("pathParameters", {}) and "run_id" in event["pathParameters"]:
        event["pathParameters"]["run_id"] = which or run_id()
    event["queryStringParameters"] = query or None
    event["requestContext"]["authorizer"] |= identity or {}
    return runs(environment=lambda: environment)(event, context or LambdaContext())


def _data(response: dict[str, Any]) -> Any:
    assert response["statusCode"] == 200, response["body"]
    return body_of(response)["data"]


def _problem(response: dict[str, Any]) -> tuple[int, str, str | None]:
    error = body_of(response)["error"]
    assert error["suggested_action"]
    return response["statusCode"], error["type"].rpartition(":")[2], error["field"]


def test_a_run_tells_its_state_progress_usage_and_cost() -> None:
    """And when things happened, where to look again, and under which request's id it is traced."""
    environment = _environment(webhook=True)
    environment.hands.advance(2)
    used = ModelUsage(input_tokens=100, output_tokens=20, cost=0.25, calls=1)
    step = Step(node="search", item="0", total=3, counts={"hits": 7}, usage=used, cost=0.5)
    environment.fake_runs.update_progress(PROJECT, run_id(), step)
    told = _data(_call(environment))
    created = environment.clock.now() - 2
    assert (told["state"], told["outcome"], told["error"], told["webhook"]) == ("running", None, None, "pending")
    assert told["untrusted"] is True
    assert told["progress"] == {"search": {"done": 1, "total": 3}}
    assert (told["counts"], told["usage"]["input_tokens"], told["cost"]) == ({"hits": 7}, 100, 0.75)
    assert (told["created_at"], told["started_at"], told["ended_at"]) == (created, created + 2, None)
    assert (told["status_url"], told["request_id"]) == (f"/v1/runs/{run_id()}?project_id=demo", "request-0")


def test_a_wait_ends_with_the_run() -> None:
    """And its result is there."""
    environment = _environment()
    pause = environment.hands.sleep

    def sleep(seconds: float) -> None:
        pause(seconds)
        environment.fake_files.put(PROJECT, run_id(), RESULT, {"survivors": [{"title": "Bells"}]})
        environment.fake_runs.finish(PROJECT, run_id(), Ending(state=RunState.SUCCEEDED, outcome="success"))

    environment.hands.sleep = sleep  # type: ignore[method-assign]
    told = _data(_call(environment, wait="25"))
    assert (told["state"], told["results"]["hits"]) == ("succeeded", [{"title": "Bells"}])
    assert environment.hands.slept == [0.25]


@pytest.mark.parametrize(("wait", "remaining_ms", "slept"), [("0", 28_000, 0), ("25", 28_000, 25), ("25", 9_500, 8)])
def test_a_wait_is_as_long_as_asked_for_or_as_lambda_has_time(wait: str, remaining_ms: int, slept: float) -> None:
    """The answer is on its way before the function's time is over."""
    environment = _environment()
    told = _data(_call(environment, wait=wait, context=LambdaContext(remaining_ms=remaining_ms)))
    assert told["state"] == "queued"
    assert sum(environment.hands.slept) == pytest.approx(slept)


def test_a_report_stays_within_its_bound_and_is_continued() -> None:
    """What was kept comes before what was dropped."""
    environment = _environment()
    hits = [{"title": f"Bells {number}", "snippet": "b" * 300} for number in range(20)]
    environment.fake_files.put(PROJECT, run_id(), RESULT, {"survivors": hits, "dropped": hits[:3]})
    environment.fake_runs.finish(PROJECT, run_id(), Ending(state=RunState.SUCCEEDED, outcome="success"))
    told = _data(_call(environment, max_chars="4000"))
    (rest,) = environment.fake_continuations.rests.values()
    kept = [hit for path, hit in rest.entries if path == "results/hits"]
    assert told["results"]["hits"] + kept == hits
    assert (told["results"]["dropped"], [path for path, _ in rest.entries[-3:]]) == ([], ["results/dropped"] * 3)
    assert (rest.tool, told["size"]["hits_left"]) == ("research_investigate", len(rest.entries))


def test_the_least_bound_that_a_report_names_lets_a_hit_through() -> None:
    """What a run is and did may take more than the bound."""
    environment = _environment()
    hits = [{"title": f"Bells {number}", "snippet": "b" * 1_900} for number in range(20)]
    environment.fake_files.put(PROJECT, run_id(), RESULT, {"survivors": hits, "dropped": []})
    environment.fake_runs.finish(PROJECT, run_id(), Ending(state=RunState.SUCCEEDED, outcome="success"))
    size = _data(_call(environment, max_chars="2000"))["size"]
    assert (size["hits"], size["hits_left"]) == (0, 20)
    assert _data(_call(environment, max_chars=str(size["least_max_chars"])))["size"]["hits"] >= 1


@pytest.mark.parametrize("wait", ["-1", "25.1", "soon", "nan", "inf", ""])
def test_a_wait_out_of_bounds_is_refused(wait: str) -> None:
    """With the parameter's name."""
    assert _problem(_call(_environment(), wait=wait)) == (400, "invalid-argument", "wait")


def test_a_parameter_that_is_none_is_refused() -> None:
    """Rather than ignored."""
    assert _problem(_call(_environment(), tenant_id="other"))[2] == "tenant_id"


@pytest.mark.parametrize("case", ["runs", "runs.stop", "runs.artifacts"])
@pytest.mark.parametrize(
    ("which", "identity"),
    [
        (run_id(1), {}),
        ("r-1", {}),
        ("../" + run_id(), {}),
        (run_id() + "#", {}),
        (run_id(), {"projects": "lab"}),
        (run_id(), {"tenant_id": "other"}),
    ],
)
def test_an_unknown_run_and_anothers_run_are_the_same(case: str, which: str, identity: dict[str, str]) -> None:
    """404, word for word: that a run exists elsewhere is nobody's business."""
    environment = _environment()
    response = _call(environment, case, which=which, identity=identity)
    assert _problem(response) == (404, "unknown-run", "run_id")
    unknown = _call(environment, case, which=run_id(2))
    assert body_of(response)["error"] == body_of(unknown)["error"]
    assert environment.fake_runs.get(PROJECT, run_id()) == _run(environment)


def test_a_token_of_several_projects_names_the_one_it_means() -> None:
    """As for every tool; a project that is not its own is refused."""
    environment = _environment()
    several = {"projects": "lab,demo"}
    assert _data(_call(environment, identity=several, project_id="demo"))["run_id"] == run_id()
    assert _problem(_call(environment, identity=several, project_id="lab"))[0] == 404
    assert _problem(_call(environment, identity=several, project_id="secret"))[0] == 403
    assert _problem(_call(environment, identity=several))[2] == "project_id"


@pytest.mark.parametrize("case", SAMPLES[:-1])
def test_who_may_not_investigate_sees_no_run(case: str) -> None:
    """A token of another tool, of a lower level, or none at all."""
    environment = _environment()
    assert _call(environment, case, identity={"tools": "research_search"})["statusCode"] == 403
    assert _call(environment, case, identity={"level": "0"})["statusCode"] == 403
    assert _call(environment, case, identity={"tenant_id": ""})["statusCode"] == 401


def test_a_stop_is_asked_for_once_however_often_it_is_asked_for() -> None:
    """Stopping, stopping, and stopped when the run has seen it."""
    environment = _environment()
    assert _data(_call(environment, "runs.stop"))["state"] == "stopping"
    assert _data(_call(environment, "runs.stop"))["state"] == "stopping"
    environment.fake_runs.finish(PROJECT, run_id(), Ending(state=RunState.STOPPED, outcome="partial"))
    again = _data(_call(environment, "runs.stop"))
    assert (again["state"], again["outcome"]) == ("stopped", "partial")


@pytest.mark.parametrize("state", [RunState.SUCCEEDED, RunState.FAILED, RunState.TIMED_OUT])
def test_a_finished_run_cannot_be_stopped(state: RunState) -> None:
    """409, with how it ended; asking again will not help."""
    environment = _environment()
    environment.fake_runs.finish(PROJECT, run_id(), Ending(state=state))
    response = _call(environment, "runs.stop")
    assert _problem(response) == (409, "run-ended", "run_id")
    envelope = body_of(response)
    assert (envelope["ok"], envelope["data"]["state"], envelope["error"]["retryable"]) == (False, state, False)
    assert str(state) in envelope["error"]["detail"]
    found = environment.fake_runs.get(PROJECT, run_id())
    assert found is not None
    assert not found.stop_requested


def test_runs_are_listed_newest_first() -> None:
    """Page by page, without their results."""
    environment = _environment()
    for second in (1, 2):
        environment.fake_runs.create(_run(environment, second))
    first = _data(_call(environment, "runs.list", limit="2"))
    assert [each["run_id"] for each in first["runs"]] == [run_id(2), run_id(1)]
    second_page = _data(_call(environment, "runs.list", limit="2", page_token=first["next_page_token"]))
    assert [each["run_id"] for each in second_page["runs"]] == [run_id()]
    assert second_page["next_page_token"] is None
    assert environment.fake_files.calls["get"] == 0


@pytest.mark.parametrize(("limit", "field"), [("0", "limit"), ("101", "limit"), ("x", "limit")])
def test_a_page_has_bounds(limit: str, field: str) -> None:
    """1 to 100."""
    assert _problem(_call(_environment(), "runs.list", limit=limit)) == (400, "invalid-argument", field)


def test_a_page_token_of_another_project_or_of_ones_own_making_is_refused() -> None:
    """It cannot be turned into a look at somebody else's runs."""
    environment = _environment()
    environment.fake_runs.create(_run(environment, 1))
    token = _data(_call(environment, "runs.list", limit="1"))["next_page_token"]
    foreign = _call(environment, "runs.list", identity={"tenant_id": "other"}, page_token=token)
    assert _problem(foreign) == (400, "invalid-argument", "page_token")
    assert _problem(_call(environment, "runs.list", page_token="x"))[2] == "page_token"


def test_artifacts_are_links_to_the_runs_files() -> None:
    """Good for a quarter of an hour, and for nobody else's files."""
    environment = _environment()
    environment.fake_files.put(PROJECT, run_id(), "input.json", b"123")
    environment.fake_files.put(PROJECT, run_id(), "searches/0.json", b"1")
    environment.fake_files.put(PROJECT, run_id(1), "input.json", b"")
    told = _data(_call(environment, "runs.artifacts"))
    assert [(each["name"], each["size"]) for each in told["artifacts"]] == [("input.json", 3), ("searches/0.json", 1)]
    assert all(f"acme/demo/runs/{run_id()}/" in each["url"] for each in told["artifacts"])
    assert told["expires_in"] == 900


def _stored(environment: FakeEnvironment, content: LoadedContent = PAGE) -> str:
    return environment.fake_content.put(PROJECT, content, instance_id="wikipedia-de").sha256


def _content(environment: FakeEnvironment, sha256: str, **more: Any) -> dict[str, Any]:
    identity = more.pop("identity", {})
    event = sample("runs.content")
    event["pathParameters"] = {"sha256": sha256}
    event["queryStringParameters"] = more or None
    event["requestContext"]["authorizer"] |= identity
    return runs(environment=lambda: environment)(event, LambdaContext())


def test_a_stored_text_is_given_with_where_it_is_from() -> None:
    """Whole, when it fits."""
    environment = FakeEnvironment()
    told = _data(_content(environment, _stored(environment)))
    assert (told["text"], told["offset"], told["next_offset"]) == (PAGE.body.decode(), 0, None)
    assert (told["source_url"], told["instance_id"], told["media_type"], told["size"]) == (
        "https://example.com/b",
        "wikipedia-de",
        "text/plain; charset=utf-8",
        len(PAGE.body),
    )
    assert told["url"] is None


@pytest.mark.parametrize("max_chars", [1, 2, 3, 7, 100])
def test_stretches_of_a_text_are_the_text(max_chars: int) -> None:
    """No character is cut, lost or given twice, whatever it takes in UTF-8."""
    environment = FakeEnvironment()
    sha256, read, offset = _stored(environment), "", 0
    while True:
        told = _data(_content(environment, sha256, offset=str(offset), max_chars=str(max_chars)))
        assert len(told["text"]) <= max_chars
        read += told["text"]
        if told["next_offset"] is None:
            break
        offset = told["next_offset"]
    assert read == PAGE.body.decode()


def test_an_offset_within_a_character_means_the_next_one() -> None:
    """From every byte on there is an answer."""
    environment = FakeEnvironment()
    sha256 = _stored(environment)
    for offset in range(len(PAGE.body) + 1):
        told = _data(_content(environment, sha256, offset=str(offset)))
        assert told["text"] == PAGE.body[offset:].decode("utf-8", "ignore")
        assert told["offset"] + len(told["text"].encode()) == len(PAGE.body)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"offset": "-1"}, "offset"),
        ({"offset": "26"}, "offset"),
        ({"offset": "1e99"}, "offset"),
        ({"max_chars": "0"}, "max_chars"),
        ({"max_chars": "200001"}, "max_chars"),
    ],
)
def test_a_stretch_has_bounds(query: dict[str, str], field: str) -> None:
    """The end of the body, and 200,000 characters."""
    environment = FakeEnvironment()
    assert len(PAGE.body) == 25
    assert _problem(_content(environment, _stored(environment), **query)) == (400, "invalid-argument", field)


def test_without_a_bound_of_ones_own_it_is_twenty_thousand_characters() -> None:
    """And as much again from there on."""
    environment = FakeEnvironment()
    long = LoadedContent(body=b"a" * 50_000, media_type="text/plain", source_url="https://example.com/")
    told = _data(_content(environment, _stored(environment, long)))
    assert (len(told["text"]), told["next_offset"]) == (20_000, 20_000)


def test_what_is_no_text_is_a_link() -> None:
    """Never base64 in an answer."""
    environment = FakeEnvironment()
    pdf = LoadedContent(body=b"%PDF-1.7\x00", media_type="application/pdf", source_url="https://example.com/p.pdf")
    sha256 = _stored(environment, pdf)
    told = _data(_content(environment, sha256))
    assert (told["text"], told["media_type"], told["url_expires_in"]) == (None, "application/pdf", 900)
    assert f"acme/demo/content/{sha256}" in told["url"]


def test_an_empty_text_is_an_empty_text() -> None:
    """There are no bytes to ask S3 for."""
    environment = FakeEnvironment()
    empty = LoadedContent(body=b"", media_type="text/plain", source_url="https://example.com/")
    told = _data(_content(environment, _stored(environment, empty)))
    assert (told["text"], told["next_offset"]) == ("", None)


def test_unknown_expired_and_foreign_content_are_the_same() -> None:
    """404, word for word; also when the bucket was quicker than the table."""
    environment = FakeEnvironment()
    sha256 = _stored(environment)
    answers = [
        _content(environment, hashlib.sha256(b"other").hexdigest()),
        _content(environment, sha256, identity={"tenant_id": "other"}),
        _content(environment, sha256, identity={"projects": "lab"}),
    ]
    environment.fake_content.objects.clear()
    answers.append(_content(environment, sha256))
    environment.hands.advance(7 * 86_400)
    answers.append(_content(environment, sha256))
    assert {_problem(each) for each in answers} == {(404, "unknown-content", "sha256")}
    assert len({body_of(each)["error"]["detail"] for each in answers}) == 1


@pytest.mark.parametrize("sha256", ["", "abc", "A" * 64, "../" + "a" * 61])
def test_a_hash_that_is_none_is_refused(sha256: str) -> None:
    """Before anything is asked."""
    environment = FakeEnvironment()
    assert _problem(_content(environment, sha256)) == (400, "invalid-argument", "sha256")
    assert environment.fake_content.calls["find"] == 0


@pytest.mark.parametrize(
    ("case", "store"),
    [
        ("runs", "fake_runs"),
        ("runs.list", "fake_runs"),
        ("runs.stop", "fake_runs"),
        ("runs.artifacts", "fake_files"),
        ("runs.content", "fake_content"),
        ("runs.insights", "fake_insights"),
    ],
)
def test_a_store_that_is_away_is_told_as_such(case: str, store: str) -> None:
    """503, and when to come again."""
    environment = _environment()
    getattr(environment, store).fail_with = StoreUnavailable("AccessDenied")
    response = _call(environment, case)
    assert _problem(response) == (503, "unready", None)
    assert response["headers"]["retry-after"] == "1"


def test_with_s3_denied_a_run_is_told_without_its_results() -> None:
    """Its state is in the table."""
    environment = _environment()
    environment.fake_files.fail_with = StoreUnavailable("AccessDenied")
    told = _data(_call(environment))
    assert (told["state"], told["results"]) == ("queued", None)
    assert told["results_note"]


def test_a_route_that_is_none_is_unknown() -> None:
    """Should the gateway ever let one through."""
    event = sample("runs") | {"httpMethod": "DELETE"}
    response = runs(environment=_environment)(event, LambdaContext())
    assert _problem(response) == (404, "unknown-route", None)


def test_invoked_directly_every_operation_is_there() -> None:
    """With the same envelope, as plain data."""
    environment = _environment()
    handler = runs(environment=lambda: environment)
    message = sample("runs.invoke")
    message["arguments"] = {"run_id": run_id()}
    assert handler(message, LambdaContext())["data"]["state"] == "queued"
    assert handler(message | {"operation": "stop"}, LambdaContext())["data"]["state"] == "stopping"
    listed = handler(message | {"operation": "list", "arguments": {}}, LambdaContext())
    assert [each["run_id"] for each in listed["data"]["runs"]] == [run_id()]
    assert set(ROUTES.values()) == set(OPERATIONS)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ([], "scope"),
        ({"arguments": {}}, "scope"),
        ({"scope": {"tenant_id": "acme", "project_id": "demo"}, "operation": "erase"}, "operation"),
        ({"scope": {"tenant_id": "acme", "project_id": "demo"}, "operation": ["get"]}, "operation"),
        ({"scope": {"tenant_id": "acme", "project_id": "demo"}}, "operation"),
        ({"scope": {"tenant_id": "acme"}, "operation": "get"}, "project_id"),
    ],
)
def test_an_invocation_that_says_too_little_is_refused(message: Any, field: str) -> None:
    """With what is missing."""
    answer = runs(environment=_environment)(message, LambdaContext())
    assert (answer["ok"], answer["error"]["field"]) == (False, field)


@pytest.mark.parametrize("case", SAMPLES)
def test_every_sample_reaches_its_operation(case: str) -> None:
    """Of a run and a body that are not there: unknown, and not unroutable."""
    answer = runs(environment=FakeEnvironment)(sample(case), LambdaContext())
    envelope = body_of(answer) if "body" in answer else answer
    expected = {
        "runs.list": None,
        "runs.content": "urn:zarniwoop:problem:unknown-content",
        "runs.insights": "urn:zarniwoop:problem:no-insights",
    }
    assert (envelope["error"] or {}).get("type") == expected.get(case, "urn:zarniwoop:problem:unknown-run")


def test_the_functions_start_without_anything() -> None:
    """Nothing is made before the first invocation."""
    assert callable(handler_of("runs"))
    assert callable(handler_of("reconcile_runs"))


@pytest.mark.parametrize(
    ("tools", "allowed"), [((), True), (("research_search",), False), ((RESEARCH_INVESTIGATE.name,), True)]
)
def test_a_token_reaches_the_routes_of_runs_if_it_may_investigate(tools: tuple[str, ...], allowed: bool) -> None:
    """The gateway's policy and the function's own check say the same."""
    event = sample("authorizer.token")
    token = event["authorizationToken"].partition(" ")[2]
    grant = TokenGrant(token_hash=hash_token(token), tenant_id="acme", projects=("demo",), level=1, tools=tools)
    environment = FakeEnvironment(grants=[grant])
    policy = authorizer.authorizer(environment=lambda: environment)(event, LambdaContext())
    (statement,) = policy["policyDocument"]["Statement"]
    reached = {arn.partition("/")[2].partition("/")[2] for arn in statement["Resource"]}
    routes = {"GET/v1/runs", "GET/v1/runs/*", "POST/v1/runs/*/stop", "GET/v1/content/*", "GET/v1/insights"}
    assert (routes <= reached) is allowed
    assert bool(routes & reached) is allowed
