"""Every event that asks for a tool is answered, whatever name it gives.

What is proven where: that each event meets the rules it should, by moto's matching in here and by the emulator's own in
`tests/e2e/test_events.py`, which also shows the refusal arriving on the deployed bus; that the rules' names are those
of the registry, by the house rules; that whoever gets an event answers it, in here. How EventBridge itself matches a
number or a null is known from its documentation alone.
"""

from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext, cloud
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import sample
from tests.fakes.providers import found
from tests.fakes.requested_tools import ASKED_FOR, detail, patterns
from zarniwoop.entry.replies import UnpublishedAnswerError
from zarniwoop.entry.tool import tool
from zarniwoop.entry.unknown_tool import unknown_tool
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.research_search import RESEARCH_SEARCH


def test_each_event_meets_the_rule_that_it_is_for() -> None:
    """The template's own patterns, each with a queue behind it."""
    with cloud() as account:
        events, queues = account.client("events"), account.client("sqs")
        urls = {}
        for folder, pattern in patterns().items():
            urls[folder] = queues.create_queue(QueueName=folder)["QueueUrl"]
            asked = queues.get_queue_attributes(QueueUrl=urls[folder], AttributeNames=["QueueArn"])
            events.put_rule(Name=folder, EventPattern=orjson.dumps(pattern).decode())
            events.put_targets(Rule=folder, Targets=[{"Id": "queue", "Arn": asked["Attributes"]["QueueArn"]}])
        for what, (named, _) in ASKED_FOR.items():
            entry = {"Source": "agents.example", "DetailType": "ResearchRequested"}
            said = orjson.dumps({**detail(named), "what": what}).decode()
            assert events.put_events(Entries=[{**entry, "Detail": said}])["FailedEntryCount"] == 0
        met: dict[str, set[str]] = {what: set() for what in ASKED_FOR}
        for folder, url in urls.items():
            while told := queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
                for message in told:
                    met[orjson.loads(message["Body"])["detail"]["what"]].add(folder)
                    queues.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    assert met == {what: rules for what, (_, rules) in ASKED_FOR.items()}


def _refused(named: Any) -> dict[str, Any]:
    environment = FakeEnvironment()
    event = sample("unknown_tool")
    event["detail"]["tool"] = named
    answered = unknown_tool(environment=lambda: environment)(event, LambdaContext())
    (entry,) = environment.bus.published
    assert (entry["Source"], entry["DetailType"], entry["EventBusName"]) == ("zarniwoop", "ResearchAnswered", "bus")
    told: dict[str, Any] = orjson.loads(entry["Detail"])
    assert (told["request_id"], told["result"]) == (event["id"], answered)
    return told


def test_an_unknown_name_is_refused_with_the_names_that_there_are() -> None:
    """Under the event's own id, and the name that was given, so that whoever asked finds it."""
    told = _refused("reserach_search")
    assert told["tool"] == "reserach_search"
    error = told["result"]["error"]
    assert (told["result"]["ok"], error["field"], error["status"], error["retryable"]) == (False, "tool", 404, False)
    assert error["type"] == "urn:zarniwoop:problem:unknown-tool"
    assert all(each.name in error["suggested_action"] for each in TOOLS)


@pytest.mark.parametrize("named", [None, 7, "", "x" * 65, "what is graphene?", ["web_search"], {"name": "x"}])
def test_what_could_be_no_name_is_not_repeated(named: Any) -> None:
    """It may be a question that went into the wrong field."""
    told = _refused(named)
    assert told["tool"] == "unknown"
    assert "graphene" not in orjson.dumps(told).decode()


@pytest.mark.parametrize("given", [{}, {"detail": None}, {"detail": "x", "id": ""}])
def test_an_event_without_a_detail_is_refused_too(given: dict[str, Any]) -> None:
    """Under the id of the invocation, where it has none of its own."""
    environment = FakeEnvironment()
    unknown_tool(environment=lambda: environment)(given, LambdaContext())
    assert orjson.loads(environment.bus.published[0]["Detail"])["request_id"] == "request-1"


def test_a_refusal_that_the_bus_does_not_take_fails_so_that_it_comes_again() -> None:
    """And ends where failed events are looked at."""
    environment = FakeEnvironment()
    environment.bus.refuses = True
    with pytest.raises(UnpublishedAnswerError):
        unknown_tool(environment=lambda: environment)(sample("unknown_tool"), LambdaContext())


@pytest.mark.parametrize("named", [{"name": "research_rich"}, {}, [], ["research_search"], "research_rich", None])
def test_a_tool_refuses_events_that_name_another_way_than_by_its_name(named: Any) -> None:
    """To a pattern an object is no field, and a list is each of its members: such an event reaches a tool."""
    environment = FakeEnvironment({"main": [found(1)]})
    event = sample("research_search.event")
    event["detail"]["tool"] = named
    answered = tool(RESEARCH_SEARCH, environment=lambda: environment)(event, LambdaContext())
    assert (answered["ok"], answered["error"]["field"]) == (False, "tool")
    assert orjson.loads(environment.bus.published[0]["Detail"])["result"] == answered
    assert environment.protocol.asked == []


def test_an_unknown_tool_costs_no_search() -> None:
    """Nothing is built to say no."""
    environment = FakeEnvironment({"main": [found(1)]})
    unknown_tool(environment=lambda: environment)(sample("unknown_tool"), LambdaContext())
    assert "tools" not in environment.__dict__
    assert environment.fake_parameters.calls["read_level"] == 0
