"""What an app.py is wrapped in: four ways in, one envelope out."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, posted, sample
from tests.fakes.providers import found
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.entry.replies import UnpublishedAnswerError
from zarniwoop.entry.tool import Handler, tool
from zarniwoop.tools.research_search import RESEARCH_SEARCH

ASKED = {"query": "cathedral bells", "modality": "WEB"}
SCOPE = {"tenant_id": "acme", "project_id": "demo"}


def _handler(environment: FakeEnvironment) -> Handler:
    return tool(RESEARCH_SEARCH, environment=lambda: environment)


def _queue(*bodies: str) -> dict[str, Any]:
    event: dict[str, Any] = sample("research_search.queue")
    record = event["Records"][0]
    event["Records"] = [
        {**record, "messageId": f"message-{number}", "body": body} for number, body in enumerate(bodies, 1)
    ]
    return event


def _message(**arguments: Any) -> str:
    return orjson.dumps({"scope": SCOPE, "arguments": {**ASKED, **arguments}}).decode()


def test_over_rest_the_authorizer_says_who_asks() -> None:
    """And every answer is an envelope in a proxy response."""
    environment = FakeEnvironment({"main": [found(2)]})
    response = _handler(environment)(posted(ASKED), LambdaContext())
    assert (response["statusCode"], body_of(response)["ok"]) == (200, True)
    assert [record.tenant_id for record in environment.fake_calls.records] == ["acme"]


@pytest.mark.parametrize("asked", ["", "99", "60001", "-5", "ten", "²", "9" * 5_000])
def test_a_callers_deadline_is_whole_milliseconds_in_bounds(asked: str) -> None:
    """Anything else is refused, whatever int() thinks of it."""
    environment = FakeEnvironment({"main": [found(2)]})
    response = _handler(environment)(posted(ASKED, headers={"X-Deadline-Ms": asked}), LambdaContext())
    if asked:
        assert (response["statusCode"], body_of(response)["error"]["field"]) == (400, "x-deadline-ms")
        assert environment.protocol.asked == []
    else:
        assert response["statusCode"] == 200


def test_a_callers_deadline_shortens_the_attempt() -> None:
    """Sixty percent of three seconds."""
    environment = FakeEnvironment({"main": [found(2)]})
    _handler(environment)(posted(ASKED, headers={"x-deadline-ms": "3000"}), LambdaContext())
    assert environment.protocol.given_seconds == [pytest.approx(1.8)]


def test_a_direct_invocation_names_its_scope_and_gets_the_envelope() -> None:
    """As plain data that Lambda's own encoder takes."""
    handler = _handler(FakeEnvironment({"main": [found(2)]}))
    assert handler({"scope": SCOPE, "arguments": ASKED}, LambdaContext())["data"]["returned_count"] == 2
    refused: Any = handler(["no", "object"], LambdaContext())  # type: ignore[arg-type]
    assert (refused["ok"], refused["error"]["field"]) == (False, "scope")


def test_an_event_is_answered_on_the_bus() -> None:
    """Under the event's own id."""
    environment = FakeEnvironment({"main": [found(2)]})
    event = sample("research_search.event")
    answered = _handler(environment)(event, LambdaContext())
    (entry,) = environment.bus.published
    detail = orjson.loads(entry["Detail"])
    assert (entry["EventBusName"], entry["Source"], entry["DetailType"]) == ("bus", "zarniwoop", "ResearchAnswered")
    assert (detail["request_id"], detail["tool"], detail["result"]) == (event["id"], "research_search", answered)


def test_an_event_without_an_object_in_it_is_answered_with_a_refusal() -> None:
    """Who asked wrongly hears so on the bus as well."""
    environment = FakeEnvironment({"main": [found(2)]})
    event = {key: value for key, value in sample("research_search.event").items() if key != "id"} | {"detail": "bells"}
    assert _handler(environment)(event, LambdaContext())["error"]["field"] == "scope"
    assert orjson.loads(environment.bus.published[0]["Detail"])["request_id"] == "request-1"


def test_an_answer_that_the_bus_refuses_fails_the_invocation() -> None:
    """So that the event comes again."""
    environment = FakeEnvironment({"main": [found(2)]})
    environment.bus.refuses = True
    with pytest.raises(UnpublishedAnswerError):
        _handler(environment)(sample("research_search.event"), LambdaContext())


def test_every_message_of_a_batch_stands_on_its_own() -> None:
    """The good ones are answered, the bad ones stay in the queue and end in its dead letter queue."""
    environment = FakeEnvironment({"main": [found(2)]})
    event = _queue(_message(), "no json", _message(modality="SMELL"), _message(query="bells"))
    response = _handler(environment)(event, LambdaContext())
    assert response == {"batchItemFailures": [{"itemIdentifier": "message-2"}, {"itemIdentifier": "message-3"}]}
    assert [orjson.loads(entry["Detail"])["request_id"] for entry in environment.bus.published] == [
        "message-1",
        "message-4",
    ]


def test_a_message_that_nobody_could_answer_now_comes_again() -> None:
    """A search that failed for the moment is not an answer yet; one that nobody serves is."""
    environment = FakeEnvironment({"main": [ConfigurationUnavailable("no key now")]})
    assert _handler(environment)(_queue(_message()), LambdaContext())["batchItemFailures"]
    assert environment.bus.published == []
    unserved = FakeEnvironment()
    assert _handler(unserved)(_queue(_message()), LambdaContext()) == {"batchItemFailures": []}
    assert not orjson.loads(unserved.bus.published[0]["Detail"])["result"]["ok"]


def test_a_fault_in_one_message_is_logged_and_leaves_the_others_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Powertools by itself would swallow it."""
    environment = FakeEnvironment({"main": [found(2)]})

    def stumble(*arguments: Any) -> Any:
        if environment.protocol.asked:
            raise RuntimeError
        return RESEARCH_SEARCH.handle(*arguments)

    handler = tool(replace(RESEARCH_SEARCH, handle=stumble), environment=lambda: environment)
    response = handler(_queue(_message(), _message()), LambdaContext())
    assert response == {"batchItemFailures": [{"itemIdentifier": "message-2"}]}
    assert "tool failed" in capsys.readouterr().out


@pytest.mark.parametrize("records", [[], "none", [{"eventSource": "aws:s3"}]])
def test_an_empty_or_foreign_batch_is_no_queue(records: Any) -> None:
    """It is read as a direct invocation, and refused as such."""
    event = sample("research_search.queue") | {"Records": records}
    assert _handler(FakeEnvironment())(event, LambdaContext())["error"]["field"] == "scope"


def test_nothing_is_carried_over_into_the_next_invocation() -> None:
    """Records and metrics are written, however the invocation ended."""
    environment = FakeEnvironment({"main": [found(2)]})

    def fall(*_arguments: Any) -> Any:
        RESEARCH_SEARCH.handle(*_arguments)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tool(replace(RESEARCH_SEARCH, handle=fall), environment=lambda: environment)(posted(ASKED), LambdaContext())
    assert len(environment.fake_calls.records) == 1
    assert environment.metrics.drain() == []
