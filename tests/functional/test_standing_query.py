"""The function behind a schedule as it is deployed: what it reports, remembers, and leaves for the next round."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.fakes.aws import refuse
from tests.fakes.clock import FakeClock
from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import sample
from tests.fakes.template import resources, template
from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.problem import CallerError, InvalidArgument
from zarniwoop.contract.result import SearchResult
from zarniwoop.entry.replies import UnpublishedAnswerError
from zarniwoop.entry.standing_query import UnansweredRoundError, standing_query
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import standing_key
from zarniwoop.stores.project import ProjectKey

NAME = "new-on-graphene"
DAY = 86_400


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture(scope="module")
def shared(simulator: Simulator) -> Iterator[Deployed]:
    wanted = with_canary(simulator, "openalex-main")
    with pytest.MonkeyPatch.context() as patched, deployed(simulator, patched, wanted) as made:
        yield made


@pytest.fixture
def stack(shared: Deployed) -> Deployed:
    """One for all: each test asks in a project of its own."""
    shared.forget_calls()
    return shared


@pytest.fixture
def project(request: pytest.FixtureRequest) -> str:
    return f"p-{hashlib.sha256(request.node.name.encode()).hexdigest()[:12]}"


class Reports:
    """A queue behind a rule of the bus: what a subscriber to `ResearchChanged` receives."""

    def __init__(self, stack: Deployed) -> None:
        self._queues, rules = stack.cloud.client("sqs"), stack.cloud.client("events")
        self._url = self._queues.create_queue(QueueName="reports")["QueueUrl"]
        described = self._queues.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        pattern = {"source": ["zarniwoop"], "detail-type": ["ResearchChanged"]}
        rules.put_rule(Name="reports", EventPattern=orjson.dumps(pattern).decode())
        rules.put_targets(Rule="reports", Targets=[{"Id": "queue", "Arn": described["Attributes"]["QueueArn"]}])

    def heard(self) -> list[Any]:
        """The details that have arrived since it was last asked."""
        received = self._queues.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages", [])
        for each in received:
            self._queues.delete_message(QueueUrl=self._url, ReceiptHandle=each["ReceiptHandle"])
        return [orjson.loads(message["Body"])["detail"] for message in received]


@pytest.fixture(scope="module")
def every_report(shared: Deployed) -> Reports:
    return Reports(shared)


@pytest.fixture
def reports(every_report: Reports) -> Reports:
    every_report.heard()
    return every_report


def asked(project: str, name: str = "standing_query", **arguments: Any) -> Any:
    """The sample in another project and with other arguments: what has the same name is the same query."""
    event = sample(name)
    event["scope"]["project_id"] = project
    event["arguments"] |= arguments
    return event


def round_of(stack: Deployed, project: str, **arguments: Any) -> Any:
    return stack.call("standing_query", asked(project, **arguments))


def urls(report: Any) -> list[str]:
    return [each["url"] for each in report["result"]["data"]["hits"]]


def test_the_schedule_of_the_template_asks_what_the_sample_asks() -> None:
    """Off by default; its role may start this function and set aside what could not be started, and nothing else."""
    assert json.loads(template()["Parameters"]["StandingQueryInput"]["Default"]) == sample("standing_query")
    assert template()["Parameters"]["StandingQuerySchedule"]["Default"] == ""
    for name in ("StandingQueryScheduled", "StandingQueryScheduledRole"):
        assert template()["Resources"][name]["Condition"] == "AsksOnSchedule"
    (schedule,) = resources("AWS::Scheduler::Schedule").values()
    assert schedule["Target"]["Arn"] == {"GetAtt": "StandingQueryFunction.Arn"}
    assert schedule["Target"]["Input"] == {"Ref": "StandingQueryInput"}
    role = resources("AWS::IAM::Role")["StandingQueryScheduledRole"]
    assert schedule["Target"]["RoleArn"] == {"GetAtt": "StandingQueryScheduledRole.Arn"}
    (trusted,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trusted["Principal"] == {"Service": "scheduler.amazonaws.com"}
    (policy,) = role["Policies"]
    assert [(each["Action"], each["Resource"]) for each in policy["PolicyDocument"]["Statement"]] == [
        ("lambda:InvokeFunction", {"GetAtt": "StandingQueryFunction.Arn"}),
        ("sqs:SendMessage", {"GetAtt": "FailedEventsQueue.Arn"}),
    ]


def test_the_first_round_reports_everything_and_the_same_again_nothing(
    stack: Deployed, project: str, reports: Reports
) -> None:
    """The report has the envelope of a search, its hits those that are new, and says that it is the first."""
    first = round_of(stack, project)
    (report,) = reports.heard()
    assert (first["outcome"], first["new_hits"], first["name"]) == ("changed", len(urls(report)), NAME)
    assert len(urls(report)) > 2
    assert (report["tenant_id"], report["project_id"], report["name"]) == ("acme", project, NAME)
    assert (report["first"], report["tool"], report["result"]["ok"]) == (True, "research_search", True)
    assert report["result"]["data"]["attempts"][0]["instance_id"] == "openalex-main"
    assert round_of(stack, project) == {"name": NAME, "outcome": "unchanged", "new_hits": 0}
    assert reports.heard() == []


def test_a_later_round_reports_what_is_new_and_nothing_else(stack: Deployed, project: str, reports: Reports) -> None:
    """Hits that were reported are left out, and counted out."""
    round_of(stack, project, max_results=2)
    round_of(stack, project, max_results=3)
    first, second = reports.heard()
    assert (first["first"], second["first"]) == (True, False)
    assert len(urls(second)) == second["result"]["data"]["returned_count"] == 1
    assert not set(urls(first)) & set(urls(second))
    assert first["report_id"] != second["report_id"]


def test_a_baseline_is_known_and_not_reported(stack: Deployed, project: str, reports: Reports) -> None:
    """The expert's sample: what its first round finds is where it begins."""
    event = asked(project, "standing_query.expert", max_results=2)
    assert stack.call("standing_query", event)["outcome"] == "baseline"
    assert reports.heard() == []
    event["arguments"]["max_results"] = 4
    assert stack.call("standing_query", event)["outcome"] == "changed"
    (report,) = reports.heard()
    assert (len(urls(report)), report["first"], report["tool"]) == (2, False, "research_search_expert")


def test_a_search_that_fails_reports_nothing_and_forgets_nothing(
    stack: Deployed, project: str, reports: Reports
) -> None:
    """Lambda tries again, at once if it likes; then nothing that was known is news."""
    round_of(stack, project)
    reports.heard()
    stack.simulator.fault("/", "503")
    with pytest.raises(UnansweredRoundError, match=r"^urn:zarniwoop:problem:all-failed$"):
        round_of(stack, project)
    stack.simulator.reset()
    _let_cooldowns_go(stack, project)
    assert round_of(stack, project)["outcome"] == "unchanged"
    assert reports.heard() == []


def _let_cooldowns_go(stack: Deployed, project: str) -> None:
    for item in items(stack, project):
        if item["sk"]["S"].startswith("CD#"):
            key = {name: item[name] for name in ("pk", "sk")}
            stack.cloud.client("dynamodb").delete_item(TableName=stack.cloud.variables["STATE_TABLE"], Key=key)


def items(stack: Deployed, project: str) -> list[Any]:
    return [each for each in stack.cloud.items("STATE_TABLE") if each["pk"]["S"] == f"T#acme#P#{project}"]


@pytest.mark.parametrize("name", ["dry_run", "maxChars", "store_evidence"])
def test_what_makes_no_sense_here_is_refused(stack: Deployed, project: str, name: str) -> None:
    """With the way out, before anything is asked or written."""
    with pytest.raises(InvalidArgument, match="a standing query takes no"):
        round_of(stack, project, **{name: 2_000 if name == "maxChars" else True})
    assert (stack.writes(), stack.simulator.requests()) == ([], [])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "No Name"}, "name"),
        ({"scope": {"tenant_id": "acme"}}, "project_id"),
        ({"tool": "web_fetch"}, "tool"),
        ({"keep_days": 0}, "keep_days"),
        ({"query": "graphene"}, "query"),
    ],
)
def test_a_schedule_that_asks_wrongly_fails(stack: Deployed, project: str, change: dict[str, Any], field: str) -> None:
    """So that it ends where failed events are looked at."""
    with pytest.raises(CallerError) as refused:
        stack.call("standing_query", asked(project) | change)
    assert refused.value.field == field
    assert stack.writes() == []


def test_arguments_that_are_wrong_are_told_by_their_problem_and_not_repeated(stack: Deployed, project: str) -> None:
    """The query stays out of what Lambda logs."""
    with pytest.raises(UnansweredRoundError) as refused:
        round_of(stack, project, query="canary " * 400)
    assert str(refused.value) == "urn:zarniwoop:problem:invalid-argument"


def test_of_two_rounds_at_once_one_searches_and_reports(stack: Deployed, project: str, reports: Reports) -> None:
    """The second comes just as the first reports: schedules fire at least once."""
    during: list[Any] = []

    def second(**_rest: Any) -> None:
        if not during:
            during.append(None)
            asked = len(stack.simulator.requests())
            during[0] = round_of(stack, project)
            assert len(stack.simulator.requests()) == asked

    heard = stack.environment.events.meta.events
    heard.register("before-call.events.PutEvents", second)
    try:
        assert round_of(stack, project)["outcome"] == "changed"
    finally:
        heard.unregister("before-call.events.PutEvents", second)
    assert [each["outcome"] for each in during] == ["concurrent"]
    assert len(reports.heard()) == 1


def test_a_project_that_stops_during_a_round_is_forgotten_all_the_same(
    stack: Deployed, project: str, reports: Reports, caplog: pytest.LogCaptureFixture
) -> None:
    """What the round found is reported, and its memory does not come back."""

    def stopping(**_rest: Any) -> None:
        stack.environment.state.clear_project(ProjectKey(tenant_id="acme", project_id=project))

    heard = stack.environment.events.meta.events
    heard.register("before-call.events.PutEvents", stopping)
    try:
        assert round_of(stack, project)["outcome"] == "changed"
    finally:
        heard.unregister("before-call.events.PutEvents", stopping)
    assert "forgotten or taken over" in caplog.text
    assert [item for item in items(stack, project) if item["sk"]["S"] == standing_key(NAME)] == []
    round_of(stack, project)
    assert [each["first"] for each in reports.heard()] == [True, True]


@pytest.mark.parametrize("can_put_aside", [True, False])
def test_of_a_report_that_is_more_than_an_event_holds_nothing_is_lost(
    stack: Deployed, project: str, reports: Reports, monkeypatch: pytest.MonkeyPatch, can_put_aside: bool
) -> None:
    """The rest is under its handle; where S3 did not take that, the next rounds report it."""
    hits = tuple(
        SearchHit(
            title=f"{number}", url=f"https://example.com/{number}", modality=SearchModality.WEB, snippet="x" * 9_000
        )
        for number in range(50)
    )
    found = SearchResult(
        query="graphene",
        modality=SearchModality.ACADEMIC,
        provider_instance_id="openalex-main",
        tier=SearchTier.NORMAL,
        hits=hits,
        returned_count=50,
    )
    monkeypatch.setattr(stack.environment.tools.dispatcher, "search", lambda *_asked: found)

    def away(*_arguments: Any) -> Any:
        raise StoreUnavailable("away")

    if not can_put_aside:
        monkeypatch.setattr(stack.environment.continuations, "keep", away)
    outcomes = [round_of(stack, project)["outcome"] for _ in range(4)]
    told = [report["result"]["data"] for report in reports.heard()]
    if can_put_aside:
        assert outcomes == ["changed"] + 3 * ["unchanged"]
        (data,) = told
        assert (data["size"]["hits_left"], bool(data["size"]["handle"])) == (50 - len(data["hits"]), True)
        assert data["size"]["expires_at"] > stack.environment.clock.now() + 6 * DAY
    else:
        assert outcomes == ["changed", "changed", "unchanged", "unchanged"]
        assert [hit["title"] for data in told for hit in data["hits"]] == [hit.title for hit in hits]


@pytest.mark.parametrize("how", ["refused", "away"])
def test_what_the_bus_does_not_take_is_reported_by_the_next_try(
    stack: Deployed, project: str, reports: Reports, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Nothing is remembered that nobody was told of."""
    real = stack.environment.events.put_events
    with monkeypatch.context() as broken:

        def put_events(**_asked: Any) -> Any:
            if how == "away":
                raise ConnectionError
            return {"FailedEntryCount": 1}

        broken.setattr(stack.environment.events, "put_events", put_events)
        with pytest.raises((UnpublishedAnswerError, ConnectionError)):
            round_of(stack, project)
    assert stack.environment.events.put_events == real
    assert round_of(stack, project)["outcome"] == "changed"
    (report,) = reports.heard()
    assert report["first"]


def test_a_round_that_dies_before_it_remembers_is_repeated_under_the_same_id(
    stack: Deployed, project: str, reports: Reports, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Though its search finds more by then. Failing would only make Lambda repeat it at once."""

    def away(*_arguments: Any, **_options: Any) -> bool:
        raise StoreUnavailable("away")

    with monkeypatch.context() as broken:
        broken.setattr(stack.environment.leased_memory, "put_back", away)
        broken.setattr("zarniwoop.entry.standing_query._PAUSE_SECONDS", 0)
        assert round_of(stack, project, max_results=2)["outcome"] == "changed"
    assert "what was reported could not be remembered" in caplog.text
    assert round_of(stack, project)["outcome"] == "concurrent"
    clock = FakeClock(stack.environment.clock.now() + 60)
    own = stack.cloud.environment(clock=clock)
    for most in (3, 4):
        answer = standing_query(lambda: own)(asked(project, max_results=most), LambdaContext())
        assert answer["outcome"] == "changed"
    own._transport.close()  # type: ignore[attr-defined]
    first, second, third = reports.heard()
    assert [len(urls(each)) for each in (first, second, third)] == [2, 3, 1]
    assert first["report_id"] == second["report_id"] != third["report_id"]


def test_with_the_table_down_nobody_is_asked(stack: Deployed, project: str) -> None:
    """Without its memory a round would report everything again."""
    own = stack.cloud.environment()
    refuse(own.dynamodb(), "InternalServerError", status=500)
    with pytest.raises(StoreUnavailable):
        standing_query(lambda: own)(asked(project), LambdaContext())
    assert stack.simulator.requests() == []


def test_a_query_that_nobody_asks_any_more_is_forgotten(stack: Deployed, project: str, reports: Reports) -> None:
    """After `keep_days` without a round; rounds that go on keep it, however long."""
    clock = FakeClock(stack.environment.clock.now())
    own = stack.cloud.environment(clock=clock)
    handler = standing_query(lambda: own)
    outcomes = []
    for days in (0, 25, 25, 31):
        clock.advance(days * DAY)
        outcomes.append(handler(asked(project), LambdaContext())["outcome"])
    own._transport.close()  # type: ignore[attr-defined]
    assert outcomes == ["changed", "unchanged", "unchanged", "changed"]
    assert [each["first"] for each in reports.heard()] == [True, True]


def test_what_is_remembered_holds_neither_query_nor_hit(stack: Deployed, project: str) -> None:
    """Hashes alone, in the project's partition, with a time to live."""
    round_of(stack, project)
    (item,) = [each for each in items(stack, project) if each["sk"]["S"] == standing_key(NAME)]
    assert set(item) == {"pk", "sk", "memory", "expires_at"}
    assert b"graphene" not in item["memory"]["B"]
    assert int(item["expires_at"]["N"]) == pytest.approx(stack.environment.clock.now() + 30 * DAY, abs=60)


def test_a_project_that_stops_is_forgotten(stack: Deployed, project: str, reports: Reports) -> None:
    """With the rest of its state; a schedule that goes on begins anew."""
    round_of(stack, project)
    stop = sample("project_stop")
    stop["detail"]["project_id"] = project
    assert stack.call("project_stop", stop)["deleted_state_items"] >= 1
    round_of(stack, project)
    assert [each["first"] for each in reports.heard()] == [True, True]


def test_a_round_is_counted_by_how_it_ended(stack: Deployed, project: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In the embedded metric format, and without the query's name as a dimension."""
    round_of(stack, project)
    round_of(stack, project)
    counted = [line for line in capsys.readouterr().out.splitlines() if '"vance.research.standing":[' in line]
    assert [orjson.loads(line)["outcome"] for line in counted] == ["changed", "unchanged"]
    assert not [line for line in counted if NAME in line]
