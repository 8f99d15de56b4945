"""The deployed functions behind queue, event bus and project stop: what they publish, hand back and clear away."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import event_names, handler_of, posted, sample
from tests.fakes.transport import ScriptedTransport, answer
from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.request import SearchScope
from zarniwoop.entry.project_stop import project_stop
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.stores.dynamodb_state import DynamoDbStateStore
from zarniwoop.stores.runs import RunState
from zarniwoop.stores.state import Cooldown, ProjectKey, Wanted
from zarniwoop.tools.registry import TOOLS

DEMO = ProjectKey(tenant_id="acme", project_id="demo")
LAB = ProjectKey(tenant_id="acme", project_id="lab")
NAMES = [each.name for each in TOOLS]


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    wanted = with_canary(simulator, "serper-main", "openalex-main", "photon-main")
    with deployed(simulator, monkeypatch, wanted) as made:
        yield made


class Listener:
    """A queue behind a rule of the bus: what a subscriber to `ResearchAnswered` receives."""

    def __init__(self, stack: Deployed) -> None:
        self._queues = stack.cloud.client("sqs")
        self._url = self._queues.create_queue(QueueName="answers")["QueueUrl"]
        described = self._queues.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        rules = stack.cloud.client("events")
        pattern = {"source": ["zarniwoop"], "detail-type": ["ResearchAnswered"]}
        rules.put_rule(Name="answers", EventPattern=orjson.dumps(pattern).decode())
        rules.put_targets(Rule="answers", Targets=[{"Id": "queue", "Arn": described["Attributes"]["QueueArn"]}])

    def heard(self) -> list[Any]:
        """The details that have arrived since it was last asked."""
        received = self._queues.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages", [])
        return [orjson.loads(message["Body"])["detail"] for message in received]


@pytest.mark.parametrize("name", [name for name in event_names() if name.endswith(".event")])
def test_a_sample_event_is_answered_on_the_bus(stack: Deployed, name: str) -> None:
    """Under its own id, with the envelope that an invocation would have brought."""
    stack.leave_behind()
    listener, event, tool = Listener(stack), sample(name), name.partition(".")[0]
    answered = stack.call(tool, event)
    assert answered["ok"]
    assert listener.heard() == [{"request_id": event["id"], "tool": tool, "result": answered}]


@pytest.mark.parametrize("name", [name for name in event_names() if name.endswith(".queue")])
def test_every_message_of_a_sample_batch_is_answered_on_the_bus(stack: Deployed, name: str) -> None:
    """Nothing goes back to the queue."""
    stack.leave_behind()
    listener, event, tool = Listener(stack), sample(name), name.partition(".")[0]
    assert stack.call(tool, event) == {"batchItemFailures": []}
    heard = listener.heard()
    assert [(each["request_id"], each["tool"], each["result"]["ok"]) for each in heard] == [
        (record["messageId"], tool, True) for record in event["Records"]
    ]


def test_what_could_not_be_answered_goes_back_to_the_queue_and_the_rest_does_not(stack: Deployed) -> None:
    """A wrong message, one that asks in a scope of nobody, and one whose provider is down for the moment."""
    listener, event = Listener(stack), sample("research_search.queue")
    good = event["Records"][0]
    stack.simulator.fault("/serper", "503")
    event["Records"] = [
        good,
        _record(good, "not-json", "{"),
        _record(good, "no-scope", '{"arguments": {"query": "bells", "modality": "WEB"}}'),
        _record(good, "down", orjson.dumps({"scope": _scope(), "arguments": _asked("WEB")}).decode()),
    ]
    failures = stack.call("research_search", event)["batchItemFailures"]
    assert [each["itemIdentifier"] for each in failures] == ["not-json", "no-scope", "down"]
    assert [each["request_id"] for each in listener.heard()] == [good["messageId"]]


def test_an_event_that_asks_wrongly_is_answered_with_a_refusal(stack: Deployed) -> None:
    """Retrying would not make it right, so it is answered, not failed."""
    listener, event = Listener(stack), sample("research_search.event")
    event["detail"]["arguments"]["modality"] = "SMELL"
    stack.call("research_search", event)
    (heard,) = listener.heard()
    assert (heard["result"]["ok"], heard["result"]["error"]["field"]) == (False, "modality")
    assert stack.simulator.requests() == []


def test_a_project_stop_clears_what_was_the_projects_and_nothing_else(stack: Deployed) -> None:
    """Generation, cooldowns, quotas, instances, temporary content, the index; audit trail and documents stay.

    What it leaves is when it was, for what is put aside and kept by a call that is still under way.
    """
    objects = stack.cloud.client("s3")
    for key in ("acme/demo/content/1", "acme/demo/content/2", "acme/demo-2/content/1", "acme/lab/content/1"):
        objects.put_object(Bucket=stack.cloud.variables["CONTENT_BUCKET"], Key=key, Body=b"body")
    documents = ("acme/demo/documents/a.txt", "_index/acme/demo/manifest.json", "_index/acme/lab/manifest.json")
    for key in documents:
        objects.put_object(Bucket=stack.cloud.variables["DOCUMENTS_BUCKET"], Key=key, Body=b"body")
    for project_key in (DEMO, LAB):
        EvidenceLedger(store=stack.environment.evidence, clock=stack.environment.clock).keep_hit(
            project_key,
            SearchHit(title="Bells", url="https://example.com/", modality=SearchModality.WEB, snippet="Bells ring."),
            instance_id="serper-main",
        )
    for project in ("demo", "lab"):
        stack.call("research_search", posted(_asked("WEB"), identity={"projects": project}))
    states = DynamoDbStateStore(
        stack.cloud.client("dynamodb"), stack.cloud.variables["STATE_TABLE"], stack.environment.clock
    )
    for project_key in (DEMO, LAB):
        states.extend_cooldown(project_key, _cooldown(stack.environment.clock.now()))
    report = stack.call("project_stop", sample("project_stop"))
    assert report == {
        "generation": 1,
        "stopped_runs": 0,
        "stopping_runs": 0,
        "deleted_state_items": 1,
        "deleted_content_objects": 2,
        "deleted_index_objects": 1,
        "deleted_evidence": 1,
        "deleted_evidence_objects": 1,
    }
    left = objects.list_objects_v2(Bucket=stack.cloud.variables["CONTENT_BUCKET"])["Contents"]
    assert [each["Key"] for each in left] == [
        "acme/demo-2/content/1",
        "acme/demo/content/results/stopped",
        "acme/lab/content/1",
    ]
    (text,) = objects.list_objects_v2(Bucket=stack.cloud.variables["EVIDENCE_BUCKET"])["Contents"]
    assert text["Key"].startswith("acme/lab/evidence/")
    items = [(item["pk"]["S"], item["sk"]["S"][:3]) for item in stack.cloud.items("EVIDENCE_TABLE")]
    assert sorted(items) == [("T#acme#P#demo", "STO"), ("T#acme#P#lab", "CT#"), ("T#acme#P#lab", "EV#")]
    kept = objects.list_objects_v2(Bucket=stack.cloud.variables["DOCUMENTS_BUCKET"])["Contents"]
    assert [each["Key"] for each in kept] == ["_index/acme/lab/manifest.json", "acme/demo/documents/a.txt"]
    cooled = [Wanted(subject=("serper-main", SearchModality.IMAGE), fingerprint="f")]
    assert [len(states.snapshot(project, cooled).cooldowns) for project in (DEMO, LAB)] == [0, 1]
    assert (states.snapshot(DEMO, []).generation, states.snapshot(LAB, []).generation) == (1, 0)
    assert {item["project_id"]["S"] for item in stack.cloud.items("CALLS_TABLE")} == {"demo", "lab"}


def test_a_project_stop_ends_its_runs_and_the_reconciler_tells_of_it(stack: Deployed) -> None:
    """On the template's own tables and bucket: index, conditions, files and the stack's key."""
    asked = {"question": "What is graphene?", "webhook_url": "https://agents.example/hook"}
    receipt = stack.envelope("research_investigate", posted(asked, tool="research_investigate"))
    run_id = receipt["data"]["run_id"]
    report = stack.call("project_stop", sample("project_stop"))
    assert (report["stopped_runs"], report["stopping_runs"]) == (1, 0)
    stopped = stack.environment.runs.get(DEMO, run_id)
    assert stopped is not None
    assert (stopped.state, stopped.error, stopped.webhook_outcome) == (RunState.STOPPED, "project_stopped", None)
    execution = stack.cloud.client("stepfunctions").describe_execution(executionArn=stopped.execution_arn)
    assert execution["status"] == "ABORTED"
    assert {each.name for each in stack.environment.run_files.names(DEMO, run_id)} == {"input.json", "result.json"}
    receiver = stack.environment.__dict__["_strict_transport"] = ScriptedTransport(answer(status=204))
    assert stack.call("reconcile_runs", sample("reconcile_runs")) == {"told": 1}
    assert stack.call("reconcile_runs", sample("reconcile_runs")) == {}
    assert [each.request.json["run_id"] for each in receiver.sent] == [run_id]
    assert stack.call("project_stop", sample("project_stop"))["stopped_runs"] == 0


def test_a_project_that_was_stopped_elsewhere_is_built_anew_here(stack: Deployed) -> None:
    """A warm environment hears of it with the one read that it makes anyway."""
    assert stack.call("research_search", posted(_asked("WEB")))["statusCode"] == 200
    before = stack.environment.tools.dispatcher.factory.assemble(_search_scope(stack)).candidates["serper-main"]
    elsewhere = stack.cloud.environment()
    project_stop(environment=lambda: elsewhere)(sample("project_stop"), LambdaContext())
    assert stack.call("research_search", posted(_asked("WEB")))["statusCode"] == 200
    after = stack.environment.tools.dispatcher.factory.assemble(_search_scope(stack)).candidates["serper-main"]
    assert after.instance is not before.instance


def test_a_stop_that_names_no_project_fails(stack: Deployed) -> None:
    """So that it ends where failed events are looked at."""
    with pytest.raises(InvalidArgument):
        stack.call("project_stop", sample("project_stop") | {"detail": {"tenant_id": "acme"}})
    assert stack.writes() == []


def test_every_trigger_of_a_tool_has_its_sample() -> None:
    """REST, invocation, queue and event for each of them."""
    assert {f"{name}{case}" for name in NAMES for case in ("", ".invoke", ".queue", ".event")} <= set(event_names())
    assert callable(handler_of("project_stop"))


def _scope() -> dict[str, str]:
    return {"tenant_id": "acme", "project_id": "demo"}


def _asked(modality: str) -> dict[str, str]:
    return {"query": "graphene", "modality": modality}


def _record(like: dict[str, Any], message_id: str, body: str) -> dict[str, Any]:
    return {**like, "messageId": message_id, "body": body}


def _cooldown(now: float) -> Cooldown:
    return Cooldown(
        instance_id="serper-main",
        modality=SearchModality.IMAGE,
        reason="provider_unavailable",
        until=now + 30,
        failures=1,
        failed_at=now,
        fingerprint="f",
    )


def _search_scope(stack: Deployed) -> SearchScope:
    return SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(20.0, stack.environment.clock))
