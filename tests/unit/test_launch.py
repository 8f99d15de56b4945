"""Starting an investigation: what is written and started, once per key, and what is said when it cannot be."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import boto3
import orjson
import pytest

from tests.fakes.aws import (
    REGION,
    RUNS_TABLE,
    STATE_TABLE,
    aws_in_process,
    count_calls,
    create_runs_table,
    create_table,
)
from tests.fakes.clock import FakeClock
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.executions import STATE_MACHINE
from tests.fakes.functions import body_of, posted, sample
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument, Unready
from zarniwoop.contract.request import SearchScope
from zarniwoop.entry.answers import MAX_ANSWER_BYTES
from zarniwoop.entry.tool import tool
from zarniwoop.pipelines import watch
from zarniwoop.stores.executions import StartRefused, execution_arn
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.run_files import INPUT, MERGED, RANKED, RESULT, read_json
from zarniwoop.stores.runs import Ending, Run, RunState, is_run_id
from zarniwoop.tools.arguments import parse_arguments
from zarniwoop.tools.research_investigate import RESEARCH_INVESTIGATE, InvestigateArguments
from zarniwoop.tools.run_report import RunAccepted, RunReport
from zarniwoop.wiring import Environment

QUESTION = "Why do cathedral bells crack?"
HOOK = "https://hooks.example.com/zarniwoop"
SCOPE = {"tenant_id": "acme", "project_id": "demo"}


def _scope(environment: FakeEnvironment, *, request_id: str = "request-1", project_id: str = "demo") -> SearchScope:
    return SearchScope(
        tenant_id="acme",
        project_id=project_id,
        process_id="writing",
        request_id=request_id,
        deadline=Deadline.after(26.0, environment.clock),
    )


def _investigate(environment: FakeEnvironment, **given: Any) -> RunAccepted | RunReport:
    arguments = parse_arguments(InvestigateArguments, {"question": QUESTION, **given})
    return environment.investigations.investigate(arguments, _scope(environment))


def _run(environment: FakeEnvironment, run_id: str) -> Run:
    found = environment.fake_runs.get(PROJECT, run_id)
    assert found is not None
    return found


def _over_rest(environment: FakeEnvironment, headers: dict[str, str] | None = None, **given: Any) -> dict[str, Any]:
    event = posted({"question": QUESTION, **given}, headers=headers)
    return tool(RESEARCH_INVESTIGATE, environment=lambda: environment)(event, LambdaContext())


def test_a_run_is_a_file_an_item_and_an_execution() -> None:
    """The question is in the file alone; item and state machine get ids and numbers."""
    environment = FakeEnvironment()
    data = _investigate(environment, webhook_url=HOOK + "#x", max_concurrency=4, wall_seconds=120, refine_depth=1)
    assert isinstance(data, RunAccepted)
    assert is_run_id(data.run_id)
    assert (data.state, data.status_url) == (RunState.QUEUED, f"/v1/runs/{data.run_id}?project_id=demo")
    written = read_json(environment.fake_files, PROJECT, data.run_id, INPUT)
    assert (written["arguments"]["question"], written["process_id"], written["request_id"]) == (
        QUESTION,
        "writing",
        "request-1",
    )
    assert written["arguments"]["webhook_url"] == HOOK
    assert not {"wait", "idempotency_key"} & set(written["arguments"])
    run, now = _run(environment, data.run_id), environment.clock.now()
    assert (run.tool, run.webhook, run.request_id, run.created_at) == ("research_investigate", True, "request-1", now)
    assert (run.deadline_at - now, run.expires_at - now) == (180, 30 * 86_400)
    ((arn, started),) = environment.fake_executions.started.items()
    assert (arn, started.state_machine_arn, started.name) == (run.execution_arn, STATE_MACHINE, data.run_id)
    assert started.given == {
        "run": {"tenant_id": "acme", "project_id": "demo", "run_id": data.run_id, "request_id": "request-1"},
        "max_concurrency": 4,
        "wall_seconds": 120,
        "refine": True,
        "refine_depth": 1,
        "webhook": True,
    }
    assert QUESTION not in repr((run, started))


def test_the_trace_goes_on_in_the_state_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One trace from the request to the last step."""
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1")
    environment = FakeEnvironment()
    _investigate(environment)
    (started,) = environment.fake_executions.started.values()
    assert started.trace_header == "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1"


def test_two_requests_without_a_key_are_two_runs() -> None:
    """Nobody said that they are one."""
    environment = FakeEnvironment()
    assert _investigate(environment) != _investigate(environment)
    assert len(environment.fake_executions.started) == 2


def test_two_requests_under_one_key_are_one_run() -> None:
    """However the second is worded in what does not matter: how long to wait."""
    environment = FakeEnvironment()
    first = _investigate(environment, idempotency_key="k")
    second = _investigate(environment, idempotency_key="k", wait=1)
    assert first == second
    assert len(environment.fake_executions.started) == 1


def test_fifty_requests_under_one_key_at_once_are_one_run() -> None:
    """Whichever comes first claims the key, and all of them may write the same file and start the same name."""
    environment = FakeEnvironment()
    barrier = Barrier(50)
    assert environment.investigations

    def act(_: int) -> str:
        barrier.wait()
        return _investigate(environment, idempotency_key="k").run_id

    with ThreadPoolExecutor(50) as pool:
        assert len(set(pool.map(act, range(50)))) == 1
    assert (len(environment.fake_executions.started), len(environment.fake_files.objects)) == (1, 1)


def test_the_second_request_under_a_key_hears_how_the_run_stands_by_then() -> None:
    """Running, and then its result."""
    environment = FakeEnvironment()
    run_id = _investigate(environment, idempotency_key="k").run_id
    environment.fake_runs.request_stop(PROJECT, run_id)
    assert _investigate(environment, idempotency_key="k").state is RunState.STOPPING
    environment.fake_runs.finish(PROJECT, run_id, Ending(state=RunState.STOPPED))
    assert isinstance(_investigate(environment, idempotency_key="k"), RunReport)
    assert environment.fake_executions.calls["start"] == 1


def test_other_arguments_under_the_same_key_are_refused() -> None:
    """One of the two was not meant; 422, as for every other tool. Another process has other settings: the same."""
    environment = FakeEnvironment()
    _investigate(environment, idempotency_key="k")
    with pytest.raises(InvalidArgument) as refused:
        _investigate(environment, idempotency_key="k", max_searches=3)
    assert (refused.value.status, refused.value.field) == (422, "idempotency_key")
    arguments = parse_arguments(InvestigateArguments, {"question": QUESTION, "idempotency_key": "k"})
    with pytest.raises(InvalidArgument):
        environment.investigations.investigate(arguments, replace(_scope(environment), process_id="reading"))


def test_the_question_cannot_be_guessed_from_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a claim remembers of a request is keyed: the same question under another key leaves another mark."""
    environment = FakeEnvironment()
    marks: list[str] = []
    claim = environment.fake_runs.claim

    def watched(project: Any, key: str, wanted: Any, *, expires_at: float) -> Any:
        marks.append(wanted.fingerprint)
        return claim(project, key, wanted, expires_at=expires_at)

    monkeypatch.setattr(environment.fake_runs, "claim", watched)
    for key in ("k", "l", "k"):
        _investigate(environment, idempotency_key=key)
    assert marks[0] == marks[2] != marks[1]


def test_a_key_is_its_projects_own_and_ends_with_its_day() -> None:
    """The same key elsewhere, or a day later, is another run."""
    environment = FakeEnvironment()
    arguments = parse_arguments(InvestigateArguments, {"question": QUESTION, "idempotency_key": "k"})
    run_ids = {_investigate(environment, idempotency_key="k").run_id}
    run_ids.add(environment.investigations.investigate(arguments, _scope(environment, project_id="lab")).run_id)
    environment.hands.advance(86_400)
    run_ids.add(_investigate(environment, idempotency_key="k").run_id)
    assert len(run_ids) == 3


@pytest.mark.parametrize("broken", ["claim", "put", "create", "start"])
def test_a_call_that_died_half_way_is_completed_under_the_same_key(broken: str) -> None:
    """Wherever it died: the next one makes one run of it."""
    environment = FakeEnvironment()
    store = {"put": environment.fake_files, "start": environment.fake_executions}.get(broken, environment.fake_runs)
    original = getattr(store, broken)

    def die(*arguments: Any, **named: Any) -> Any:
        setattr(store, broken, original)
        original(*arguments, **named)
        raise StoreUnavailable("died after the write")

    setattr(store, broken, die)
    with pytest.raises(Unready) as failed:
        _investigate(environment, idempotency_key="k")
    assert failed.value.wait_seconds
    data = _investigate(environment, idempotency_key="k")
    assert [each.name for each in environment.fake_executions.started.values()] == [data.run_id]
    assert len(environment.fake_runs.list(PROJECT, limit=9).runs) == 1


def test_a_start_that_was_refused_ends_its_run() -> None:
    """Nothing runs, and whoever lists the runs sees that."""
    environment = FakeEnvironment()
    environment.fake_executions.fail_with = StartRefused("ThrottlingException")
    with pytest.raises(Unready):
        _investigate(environment)
    (run,) = environment.fake_runs.list(PROJECT, limit=9).runs
    assert (run.state, run.error) == (RunState.FAILED, "not_started")


def test_a_refused_start_under_a_key_may_be_tried_again() -> None:
    """The same run starts as soon as the state machine takes it."""
    environment = FakeEnvironment()
    environment.fake_executions.fail_with = StartRefused("ThrottlingException")
    with pytest.raises(Unready):
        _investigate(environment, idempotency_key="k")
    environment.fake_executions.fail_with = None
    (run,) = environment.fake_runs.list(PROJECT, limit=9).runs
    assert (run.state, _investigate(environment, idempotency_key="k").run_id) == (RunState.QUEUED, run.run_id)
    assert len(environment.fake_executions.started) == 1


def test_a_start_of_unknown_fate_leaves_the_run_open() -> None:
    """It may be under way; if not, it is ended when it is overdue."""
    environment = FakeEnvironment()
    environment.fake_executions.fail_with = StoreUnavailable("timeout")
    with pytest.raises(Unready):
        _investigate(environment)
    (run,) = environment.fake_runs.list(PROJECT, limit=9).runs
    assert run.state is RunState.QUEUED


@pytest.mark.parametrize("denied", ["fake_files", "fake_runs"])
def test_without_its_stores_nothing_is_started(denied: str) -> None:
    """S3 that refuses, a table that is throttled."""
    environment = FakeEnvironment()
    getattr(environment, denied).fail_with = StoreUnavailable("AccessDenied")
    with pytest.raises(Unready):
        _investigate(environment)
    assert environment.fake_executions.started == {}


def test_a_webhook_to_a_private_address_starts_nothing() -> None:
    """400, and the argument's name."""
    environment = FakeEnvironment()
    response = _over_rest(environment, webhook_url="https://169.254.169.254/hook")
    assert (response["statusCode"], body_of(response)["error"]["field"]) == (400, "webhook_url")
    assert environment.fake_executions.started == {}
    assert environment.fake_files.objects == {}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"question": ""}, "question"),
        ({"question": "   "}, "question"),
        ({"question": "x" * 2_001}, "question"),
        ({"question": 7}, "question"),
        ({"max_searches": 0}, "max_searches"),
        ({"max_searches": 21}, "max_searches"),
        ({"max_results": 26}, "max_results"),
        ({"max_concurrency": 0}, "max_concurrency"),
        ({"refine_depth": 2}, "refine_depth"),
        ({"wall_seconds": 901}, "wall_seconds"),
        ({"wall_seconds": 9}, "wall_seconds"),
        ({"max_model_tokens": 999}, "max_model_tokens"),
        ({"max_cost": -0.01}, "max_cost"),
        ({"max_cost": float("nan")}, "max_cost"),
        ({"wait": 25.5}, "wait"),
        ({"wait": -1}, "wait"),
        ({"modalities": []}, "modalities"),
        ({"modalities": ["SMELL"]}, "modalities.0"),
        ({"webhook_url": ""}, "webhook_url"),
        ({"idempotency_key": "k" * 256}, "idempotency_key"),
        ({"tenant_id": "other"}, "tenant_id"),
    ],
)
def test_an_argument_out_of_bounds_is_named(wrong: dict[str, Any], field: str) -> None:
    """And nothing is started."""
    with pytest.raises(InvalidArgument) as refused:
        parse_arguments(InvestigateArguments, {"question": QUESTION, **wrong})
    assert refused.value.field == field
    assert "x" * 100 not in refused.value.detail


def test_bounds_themselves_are_in_bounds() -> None:
    """The largest and the smallest that is allowed; modalities in any case of letters."""
    largest = {"max_searches": 20, "max_results": 25, "max_concurrency": 20, "refine_depth": 1, "wall_seconds": 900}
    parse_arguments(InvestigateArguments, {"question": "x" * 2_000, "wait": 25, "maxCost": 0, **largest})
    parsed = parse_arguments(InvestigateArguments, {"question": "?", "modalities": ["news", "ACADEMIC"]})
    assert parsed.modalities == (SearchModality.NEWS, SearchModality.ACADEMIC)


def test_over_rest_a_started_run_is_accepted() -> None:
    """202, and the envelope of every other answer."""
    environment = FakeEnvironment()
    response = _over_rest(environment)
    envelope = body_of(response)
    assert (response["statusCode"], envelope["ok"], envelope["error"]) == (202, True, None)
    assert set(envelope["data"]) == {"run_id", "state", "status_url"}


def test_over_rest_the_header_is_the_key() -> None:
    """Without the table of remembered answers: this environment has none."""
    environment = FakeEnvironment()
    first, second = (_over_rest(environment, {"Idempotency-Key": "k"}) for _ in range(2))
    assert first == second
    other = _over_rest(environment, {"Idempotency-Key": "k"}, max_searches=2)
    assert (other["statusCode"], body_of(other)["error"]["field"]) == (422, "idempotency_key")
    assert body_of(_over_rest(environment, {"idempotency-key": "k2"}))["data"] != body_of(first)["data"]


def test_a_store_that_is_away_is_told_as_such_over_rest() -> None:
    """503, and when to come again."""
    environment = FakeEnvironment()
    environment.fake_runs.fail_with = StoreUnavailable("throttled")
    response = _over_rest(environment)
    assert (response["statusCode"], response["headers"]["retry-after"]) == (503, "5")
    assert body_of(response)["error"]["retryable"]


def test_invoked_from_queue_or_bus_it_answers_with_the_same_envelope() -> None:
    """And a message that is brought twice is one run."""
    environment = FakeEnvironment()
    handler = tool(RESEARCH_INVESTIGATE, environment=lambda: environment)
    message = {"scope": SCOPE, "arguments": {"question": QUESTION}}
    direct = handler(message, LambdaContext())
    assert (direct["ok"], set(direct["data"])) == (True, {"run_id", "state", "status_url"})
    event = sample("research_search.event") | {"detail": message}
    assert handler(event, LambdaContext()) == handler(event, LambdaContext())
    queue = sample("research_search.queue")
    for record in queue["Records"]:
        record["body"] = orjson.dumps(message).decode()
    for _ in range(2):
        assert handler(queue, LambdaContext()) == {"batchItemFailures": []}
    answers = [orjson.loads(entry["Detail"])["result"]["data"]["run_id"] for entry in environment.bus.published]
    assert len(environment.fake_executions.started) == len({direct["data"]["run_id"], *answers})
    assert len(answers) - len(set(answers)) == 3


def _ends_after(environment: FakeEnvironment, seconds: float, ending: Ending, **files: Any) -> None:
    """Let the next run end so many seconds after it was started."""
    pause = environment.hands.sleep
    until = environment.clock.now() + seconds

    def sleep(duration: float) -> None:
        pause(duration)
        (run,) = environment.fake_runs.list(PROJECT, limit=1).runs
        if environment.clock.now() >= until:
            for name, content in files.items():
                environment.fake_files.put(PROJECT, run.run_id, f"{name}.json", content)
            environment.fake_runs.finish(PROJECT, run.run_id, ending)

    environment.hands.sleep = sleep  # type: ignore[assignment, method-assign]


def test_a_result_that_is_ready_in_time_is_given_at_once() -> None:
    """200 instead of 202; the table is asked less and less often meanwhile."""
    environment = FakeEnvironment()
    _ends_after(
        environment,
        4.0,
        Ending(state=RunState.SUCCEEDED, outcome="success"),
        result={"survivors": [{"title": "Bells"}], "dropped": [], "mode": "builtin"},
    )
    response = _over_rest(environment, wait=20)
    data = body_of(response)["data"]
    assert (response["statusCode"], data["state"], data["outcome"]) == (200, "succeeded", "success")
    assert (data["results"]["stage"], data["results"]["hits"], data["results"]["mode"]) == (
        "result",
        [{"title": "Bells"}],
        "builtin",
    )
    assert environment.hands.slept[:6] == [0.25, 0.375, 0.5625, 0.84375, 1.0, 1.0]


def test_a_result_that_is_not_ready_in_time_is_a_receipt() -> None:
    """After the time that was asked for, and no later."""
    environment = FakeEnvironment()
    started = environment.clock.now()
    assert _over_rest(environment, wait=24.5)["statusCode"] == 202
    assert environment.clock.now() - started == pytest.approx(23.5)
    assert sum(environment.hands.slept) == pytest.approx(23.5)


def test_nobody_waits_beyond_the_callers_deadline() -> None:
    """`X-Deadline-Ms` bounds the wait as it bounds everything."""
    environment = FakeEnvironment()
    assert _over_rest(environment, {"X-Deadline-Ms": "2000"}, wait=20)["statusCode"] == 202
    assert sum(environment.hands.slept) == pytest.approx(2.0)


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.TIMED_OUT])
def test_a_run_that_goes_wrong_while_one_waits_is_told_with_what_it_left(state: RunState) -> None:
    """200: the request was right. A problem, and the hits beside it."""
    environment = FakeEnvironment()
    _ends_after(environment, 1.0, Ending(state=state, error="search_step"), merged={"hits": [{"title": "Bells"}]})
    envelope = body_of(_over_rest(environment, wait=20))
    assert (envelope["ok"], envelope["data"]["results"]["stage"]) == (False, "merged")
    assert envelope["error"]["type"] == f"urn:zarniwoop:problem:run-{state.replace('_', '-')}"
    assert "search_step" in envelope["error"]["detail"]


def test_a_table_that_goes_away_while_one_waits_does_not_lose_the_run() -> None:
    """It has been started, and its caller learns its id."""
    environment = FakeEnvironment()
    pause = environment.hands.sleep

    def sleep(duration: float) -> None:
        pause(duration)
        environment.fake_runs.fail_with = StoreUnavailable("throttled")

    environment.hands.sleep = sleep  # type: ignore[assignment, method-assign]
    assert isinstance(_investigate(environment, wait=10), RunAccepted)


def _watched(environment: FakeEnvironment, run_id: str) -> RunReport:
    return environment.run_watcher.report(_run(environment, run_id))


def test_the_best_there_is_so_far_is_shown() -> None:
    """Nothing, then merged hits, then ranked ones, then the result; few while the run is under way."""
    environment = FakeEnvironment()
    run_id = _investigate(environment).run_id
    assert (_watched(environment, run_id).results, _watched(environment, run_id).results_note) == (None, None)
    hits = [{"key": f"h{number:03}"} for number in range(30)]
    environment.fake_files.put(PROJECT, run_id, MERGED, {"hits": hits})
    merged = _watched(environment, run_id).results
    assert merged == {
        "stage": "merged",
        "hits": hits[:10],
        "hits_total": 30,
        "dropped": [],
        "dropped_total": 0,
        "truncated": ["hits"],
    }
    environment.fake_files.put(PROJECT, run_id, RANKED, {"survivors": hits[:2], "dropped": hits[2:4], "ranked": True})
    ranked = _watched(environment, run_id).results
    assert ranked is not None
    assert (ranked["stage"], ranked["hits"], ranked["dropped"], ranked["ranked"], ranked["truncated"]) == (
        "ranked",
        hits[:2],
        hits[2:4],
        True,
        [],
    )
    environment.fake_files.put(PROJECT, run_id, RESULT, {"survivors": hits})
    environment.fake_runs.finish(PROJECT, run_id, Ending(state=RunState.SUCCEEDED))
    result = _watched(environment, run_id).results
    assert result is not None
    assert (result["stage"], len(result["hits"])) == ("result", 30)


def test_two_hundred_long_hits_stay_within_an_answer() -> None:
    """Also where JSON is escaped once more, as a proxy's body is; what was cut is named."""
    hit = {"title": '"' * 200, "snippet": "\\" * 60_000}
    members = {"searches": ["\\" * 200_000], "mode": "builtin", "rationale": '"' * 90_000}
    results = watch.bounded("result", {"survivors": [hit] * 200, "dropped": [hit] * 300, **members}, 200)
    assert 4_500_000 < len(orjson.dumps(orjson.dumps(results).decode())) < MAX_ANSWER_BYTES - 100_000
    assert (results["hits_total"], results["dropped_total"], results["mode"]) == (200, 300, "builtin")
    assert results["truncated"] == ["hits", "dropped", "searches"]


def test_without_s3_a_run_is_told_all_the_same() -> None:
    """Its state does not hang on its files."""
    environment = FakeEnvironment()
    run_id = _investigate(environment).run_id
    environment.fake_files.fail_with = StoreUnavailable("AccessDenied")
    told = _watched(environment, run_id)
    assert (told.state, told.results) == (RunState.QUEUED, None)
    assert told.results_note


def test_a_run_whose_files_are_gone_says_so() -> None:
    """The bucket keeps them for less long than the table keeps the run."""
    environment = FakeEnvironment()
    run_id = _investigate(environment).run_id
    environment.fake_runs.finish(PROJECT, run_id, Ending(state=RunState.SUCCEEDED))
    assert "past their time" in (_watched(environment, run_id).results_note or "")


def test_an_unknown_run_is_not_waited_for() -> None:
    """There is nothing to come."""
    environment = FakeEnvironment()
    assert environment.run_watcher.wait_for_end(PROJECT, "r-00000001dx000g40r40m30e209", 20) is None
    assert environment.hands.slept == []


def test_a_document_with_odd_members_is_still_bounded() -> None:
    """Hits that are no list count as none."""
    assert watch.bounded("merged", {"hits": "none", "stage": "x"}, 10)["hits"] == []


def test_what_is_wired_starts_watches_and_ends_a_run_on_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """DynamoDB, S3 and Step Functions, each asked for as little as it takes."""
    with aws_in_process(monkeypatch):
        create_runs_table()
        create_table(STATE_TABLE, "pk", "sk")
        boto3.client("s3", region_name=REGION).create_bucket(Bucket="content")
        machine = boto3.client("stepfunctions", region_name=REGION).create_state_machine(
            name="investigate",
            definition='{"StartAt": "Pass", "States": {"Pass": {"Type": "Pass", "End": true}}}',
            roleArn="arn:aws:iam::123456789012:role/states",
        )
        environment = Environment(
            {
                "RUNS_TABLE": RUNS_TABLE,
                "STATE_TABLE": STATE_TABLE,
                "CONTENT_BUCKET": "content",
                "SETTINGS_ROOT": "/zarniwoop/test",
                "INVESTIGATE_STATE_MACHINE": machine["stateMachineArn"],
                "CONTENT_RETENTION_DAYS": "3",
            },
            clock=FakeClock(),
        )
        calls = count_calls(environment.dynamodb())
        arguments = parse_arguments(InvestigateArguments, {"question": QUESTION, "idempotency_key": "k"})
        scope = SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(26.0, environment.clock))
        run_id = environment.investigations.investigate(arguments, scope).run_id
        assert calls == ["PutItem", "GetItem", "PutItem"]
        assert environment.investigations.investigate(arguments, scope).run_id == run_id
        execution = environment.executions.describe(execution_arn(machine["stateMachineArn"], run_id))
        assert execution is not None
        assert environment.runs.finish(PROJECT, run_id, Ending(state=RunState.SUCCEEDED))
        assert isinstance(environment.investigations.investigate(arguments, scope), RunReport)
        page = LoadedContent(body=b"bells", media_type="text/plain", source_url="https://example.com/")
        stored = environment.content.put(PROJECT, page, instance_id="web")
        assert stored.expires_at - stored.stored_at == 3 * 86_400
        items = boto3.client("dynamodb", region_name=REGION).scan(TableName=RUNS_TABLE)["Items"]
        assert QUESTION not in repr(items)


def test_what_does_not_investigate_needs_no_state_machine() -> None:
    """The launcher is made when it is asked for."""
    research = Research({"main": []})
    with pytest.raises(AssertionError):
        research.services.investigations()
    environment = FakeEnvironment()
    assert environment.tools.dispatcher
    assert "investigations" not in environment.__dict__
    assert environment.tools.investigations() is environment.investigations
