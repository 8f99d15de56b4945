"""What AWS starts on the deployed stack: a schedule that reports changes, files in the inbox, a batch in the queue."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from stack.running import Stack
from tests.e2e.bus import Heard, heard
from tests.e2e.investigations import aws
from tests.fakes.functions import sample

pytestmark = pytest.mark.e2e

SCOPE = {"tenant_id": "local", "project_id": "demo"}
_WITHIN_SECONDS = 40.0


@pytest.fixture
def events(stack: Stack) -> Iterator[Heard]:
    with heard(stack) as wait:
        yield wait


@pytest.fixture
def schedule(stack: Stack) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Have the template's own schedule fire now, with this input: by its own target and role."""
    scheduler = aws(stack, "scheduler")
    (named,) = [
        each["Name"]
        for each in scheduler.list_schedules()["Schedules"]
        if each["Target"]["Arn"].endswith(f":{stack.outputs['StandingQueryFunctionName']}")
    ]
    kept = scheduler.get_schedule(Name=named)
    whole = {name: kept[name] for name in ("Name", "FlexibleTimeWindow", "Target", "ScheduleExpression")}
    assert json.loads(whole["Target"]["Input"]) == sample("standing_query")

    def fire(asked: dict[str, Any]) -> None:
        now = datetime.now(tz=UTC).strftime("at(%Y-%m-%dT%H:%M:%S)")
        target = {**whole["Target"], "Input": json.dumps(asked)}
        scheduler.update_schedule(**whole | {"ScheduleExpression": now, "Target": target})

    yield fire
    scheduler.update_schedule(**whole)


def test_a_schedule_reports_what_is_new_and_a_round_that_finds_nothing_new_is_silent(
    stack: Stack, events: Heard, schedule: Callable[[dict[str, Any]], None]
) -> None:
    """Its first round by EventBridge Scheduler, the next ones by invocation with the same input."""
    asked = {**sample("standing_query"), "scope": SCOPE, "name": f"news-{uuid.uuid4().hex[:8]}"}
    asked["arguments"]["max_results"] = 2
    schedule(asked)
    first = _report(events, asked["name"])
    assert first["first"] is True
    assert len(first["result"]["data"]["hits"]) == 2
    assert _round(stack, asked)["outcome"] == "unchanged"
    asked["arguments"]["max_results"] = 3
    assert _round(stack, asked) == {"name": asked["name"], "outcome": "changed", "new_hits": 1}
    second = _report(events, asked["name"])
    assert (second["first"], len(second["result"]["data"]["hits"])) == (False, 1)


def _report(events: Heard, name: str) -> dict[str, Any]:
    """The next one of this query; what other tests asked for may still be answered on the same bus."""
    end = time.monotonic() + _WITHIN_SECONDS
    while time.monotonic() < end:
        for each in events(1):
            if (each["type"], each.get("name")) == ("ResearchChanged", name):
                return each
    raise AssertionError("no report came")


def _round(stack: Stack, asked: dict[str, Any]) -> Any:
    """Once the one before has remembered what it has reported already."""
    function, functions = stack.outputs["StandingQueryFunctionName"], aws(stack, "lambda")
    end = time.monotonic() + _WITHIN_SECONDS
    while time.monotonic() < end:
        answer = functions.invoke(FunctionName=function, Payload=json.dumps(asked))
        told = json.loads(answer["Payload"].read())
        if told.get("outcome") != "concurrent":
            return told
        time.sleep(0.3)
    raise AssertionError("the round before never ended")


def test_a_file_of_questions_is_answered_beside_it(stack: Stack) -> None:
    """S3 tells EventBridge, that the queue, and that the function; its answers start nothing."""
    objects, bucket = aws(stack, "s3"), stack.outputs["InboxBucketName"]
    place = f"local/demo/{uuid.uuid4().hex[:8]}/monday"
    lines = [
        json.dumps({"id": "one", "arguments": {"query": "graphene", "modality": "ENCYCLOPEDIA"}}),
        "no question",
        json.dumps({"id": "two", "arguments": {"query": "graphene", "modality": "SMELL"}}),
    ]
    objects.put_object(Bucket=bucket, Key=f"{place}.questions.jsonl", Body="\n".join(lines))
    answers = _within(lambda: _object(objects, bucket, f"{place}.answers.jsonl"))
    told = [json.loads(line) for line in answers.splitlines()]
    assert [(each["line"], each["id"], each["ok"]) for each in told] == [
        (1, "one", True),
        (2, None, False),
        (3, "two", False),
    ]
    assert told[0]["data"]["hits"]
    assert (told[1]["error"]["field"], told[2]["error"]["field"]) == ("line", "modality")
    listed = objects.list_objects_v2(Bucket=bucket, Prefix=place)["Contents"]
    assert [each["Key"].removeprefix(place) for each in listed] == [".answers.jsonl", ".questions.jsonl"]


def _object(objects: Any, bucket: str, key: str) -> str | None:
    if not objects.list_objects_v2(Bucket=bucket, Prefix=key).get("Contents"):
        return None
    body: bytes = objects.get_object(Bucket=bucket, Key=key)["Body"].read()
    return body.decode()


def _within(found: Callable[[], str | None]) -> str:
    end = time.monotonic() + _WITHIN_SECONDS
    while time.monotonic() < end:
        if answer := found():
            return answer
        time.sleep(0.3)
    raise AssertionError("nothing came")


def test_a_batch_of_searches_is_answered_message_by_message(stack: Stack, events: Heard) -> None:
    """Each under the id that the queue gave it, whatever becomes of the others."""
    modalities = ("ENCYCLOPEDIA", "BOOK", "ENCYCLOPEDIA", "BOOK", "ENCYCLOPEDIA", "BOOK")
    entries = [
        {
            "Id": str(number),
            "MessageBody": json.dumps(
                {"scope": SCOPE, "arguments": {"query": "graphene", "modality": modality, "max_results": number + 1}}
            ),
        }
        for number, modality in enumerate(modalities)
    ]
    sent = aws(stack, "sqs").send_message_batch(QueueUrl=stack.outputs["SearchQueueUrl"], Entries=entries)
    heard = events(len(entries))
    assert {each["request_id"] for each in heard} == {each["MessageId"] for each in sent["Successful"]}
    assert {(each["type"], each["tool"], each["result"]["ok"]) for each in heard} == {
        ("ResearchAnswered", "research_search", True)
    }
