"""Searches on the deployed template: over HTTP, by invocation, queue and event, against the provider simulator."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from stack.running import Stack
from tests.e2e.investigations import aws
from tests.e2e.project import caller
from tests.e2e.provider_journal import Providers
from zarniwoop.tools.registry import TOOLS

SCOPE = {"tenant_id": "local", "project_id": "demo"}
Call = Callable[..., dict[str, Any]]


@pytest.fixture
def call(api: httpx.Client) -> Call:
    """Call a tool for the project `demo` and give its envelope."""

    def post(tool: str, **arguments: Any) -> dict[str, Any]:
        envelope: dict[str, Any] = api.post(f"/v1/tools/{tool}", json={"project_id": "demo", **arguments}).json()
        return envelope

    return post


@pytest.mark.parametrize(
    ("modality", "query", "instance_id"),
    [
        ("WEB", "solar energy", "serper-main"),
        ("NEWS", "climate change", "serper-main"),
        ("IMAGE", "cathedral bells", "serper-main"),
        ("VIDEO", "graphene", "serper-main"),
        ("PDF", "climate change", "serper-main"),
        ("ACADEMIC", "crispr gene editing", "openalex-main"),
        ("ENCYCLOPEDIA", "graphene", "wikipedia-en"),
        ("BOOK", "python", "openlibrary-main"),
        ("CODE", "asyncio", "github-code"),
        ("MAP", "Kölner Dom", "nominatim-main"),
        ("INTERNAL_DOC", "solar energy", "local-index"),
        ("RAG", "notice period of the lease", "local-index"),
    ],
)
def test_every_modality_that_has_a_provider_is_answered(
    call: Call, modality: str, query: str, instance_id: str
) -> None:
    """Hits with title, URL and rank, from the instance that the settings name first."""
    envelope = call("research_search", query=query, modality=modality, max_results=3)
    assert envelope["ok"] is True, envelope
    data = envelope["data"]
    assert data["provider_instance_id"] == instance_id
    assert 1 <= len(data["hits"]) <= 3
    assert [hit["rank"] for hit in data["hits"]] == list(range(1, len(data["hits"]) + 1))
    assert all(hit["title"] and hit["url"].startswith("http") for hit in data["hits"])
    assert [attempt["outcome"] for attempt in data["attempts"]] == ["success"]


@pytest.mark.parametrize("instance_id", ["arxiv-main", "pubmed-main", "openalex-main"])
def test_an_expert_search_keeps_its_pin_and_its_dates(call: Call, instance_id: str) -> None:
    """Every academic provider takes the date window itself, and says so."""
    query = {"arxiv-main": "graphene", "pubmed-main": "crispr", "openalex-main": "graphene"}[instance_id]
    data = call(
        "research_search_expert",
        query=query,
        modality="ACADEMIC",
        date_from="2004-01-01",
        date_to="2014-12-31",
        pinned_provider_id=instance_id,
    )["data"]
    assert data["provider_instance_id"] == instance_id
    assert data["hits"]
    assert all("2004" <= hit["published_at"]["value"][:4] <= "2014" for hit in data["hits"])
    assert {each["name"]: each["handling"] for each in data["applied"]} == {
        "date_from": "provider",
        "date_to": "provider",
    }


def test_a_rich_search_answers_four_modalities_and_tells_of_the_one_that_failed(
    call: Call, providers: Providers
) -> None:
    """One modality down, at everybody who serves it, is partial, not broken."""
    for prefix in ("serper/videos", "brave/res/v1/videos", "serpapi/search.json", "searxng/search"):
        providers.fault(prefix, "500", times=1)
    envelope = call("research_rich", query="solar energy", max_results=2)
    assert (envelope["ok"], envelope["data"]["partial"]) == (True, True)
    assert set(envelope["data"]["results"]) == {"WEB", "IMAGE", "VIDEO", "NEWS"}
    assert list(envelope["data"]["problems"]) == ["VIDEO"]
    assert envelope["data"]["problems"]["VIDEO"]["retryable"] is True


def test_a_throttled_provider_is_replaced_and_its_cooldown_shows_to_the_whole_fleet(
    stack: Stack, providers: Providers
) -> None:
    """The next one answers; `research_providers`, another function with its own memory, shows the wait."""
    providers.fault("openlibrary", "429", retry_after=90, times=1)
    asked = {"query": "python", "modality": "BOOK"}
    with caller(stack, "throttled") as api:
        failed = api.post("/v1/tools/research_search", json=asked).json()
        again = api.post("/v1/tools/research_search", json=asked).json()
        listed = api.post("/v1/tools/research_providers", json={}).json()
    assert (failed["ok"], failed["error"]["retryable"]) == (False, True)
    assert 85 < failed["error"]["wait_seconds"] <= 90
    assert again["data"]["attempts"][0]["reason"] == "cooldown"
    rows = {row["id"]: row for row in listed["data"]["providers"]}
    (cooldown,) = rows["openlibrary-main"]["cooldowns"]
    assert cooldown["reason"] == "rate_limited"
    assert 60 < cooldown["remaining_seconds"] <= 90


def test_a_direct_invocation_is_answered_with_the_envelope(stack: Stack) -> None:
    """IAM vouches for the sender, who names the scope."""
    answer = aws(stack, "lambda").invoke(
        FunctionName=stack.outputs["ResearchSearchFunctionName"],
        Payload=json.dumps({"scope": SCOPE, "arguments": {"query": "graphene", "modality": "ENCYCLOPEDIA"}}),
    )
    envelope = json.loads(answer["Payload"].read())
    assert envelope["ok"] is True, envelope
    assert envelope["data"]["hits"]


@pytest.fixture
def answers(stack: Stack) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Wait for the `ResearchAnswered` event of a request id."""
    sqs, events = aws(stack, "sqs"), aws(stack, "events")
    name = f"answers-{uuid.uuid4().hex[:8]}"
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    bus = stack.outputs["EventBusName"]
    events.put_rule(Name=name, EventBusName=bus, EventPattern=json.dumps({"detail-type": ["ResearchAnswered"]}))
    events.put_targets(Rule=name, EventBusName=bus, Targets=[{"Id": "answers", "Arn": arn}])

    def wait(request_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for message in sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1).get("Messages", ()):
                detail: dict[str, Any] = json.loads(message["Body"])["detail"]
                if detail["request_id"] == request_id:
                    return detail
        raise AssertionError("no answer came")

    yield wait
    events.remove_targets(Rule=name, EventBusName=bus, Ids=["answers"])
    events.delete_rule(Name=name, EventBusName=bus)
    sqs.delete_queue(QueueUrl=url)


def test_a_queued_search_is_answered_as_an_event(stack: Stack, answers: Callable[[str], dict[str, Any]]) -> None:
    """Nobody waits for a queued search, so its answer goes on the bus."""
    sent = aws(stack, "sqs").send_message(
        QueueUrl=stack.outputs["SearchQueueUrl"],
        MessageBody=json.dumps({"scope": SCOPE, "arguments": {"query": "graphene", "modality": "ACADEMIC"}}),
    )
    answered = answers(sent["MessageId"])
    assert answered["tool"] == "research_search"
    assert answered["result"]["data"]["hits"]


@pytest.mark.parametrize(
    ("tool", "arguments", "answering"),
    [
        (None, {"query": "graphene", "modality": "ENCYCLOPEDIA"}, "research_search"),
        ("research_search", {"query": "graphene", "modality": "ENCYCLOPEDIA"}, "research_search"),
        ("research_search_expert", {"query": "graphene", "modality": "ENCYCLOPEDIA"}, "research_search_expert"),
        ("research_rich", {"query": "solar energy", "max_results": 2}, "research_rich"),
        ("research_providers", {}, "research_providers"),
    ],
)
def test_what_is_asked_for_by_event_is_answered_as_an_event(
    stack: Stack,
    answers: Callable[[str], dict[str, Any]],
    tool: str | None,
    arguments: dict[str, Any],
    answering: str,
) -> None:
    """`ResearchRequested` in, `ResearchAnswered` out, by the tool that the event names."""
    detail = {"scope": SCOPE, "arguments": arguments, **({"tool": tool} if tool else {})}
    entry = {
        "EventBusName": stack.outputs["EventBusName"],
        "Source": "agents.example",
        "DetailType": "ResearchRequested",
        "Detail": json.dumps(detail),
    }
    event_id = aws(stack, "events").put_events(Entries=[entry])["Entries"][0]["EventId"]
    answered = answers(event_id)
    assert (answered["tool"], answered["result"]["ok"]) == (answering, True)


def test_an_event_that_names_no_tool_is_refused_as_an_event(
    stack: Stack, answers: Callable[[str], dict[str, Any]]
) -> None:
    """A misspelt name is answered with the names that there are."""
    entry = {
        "EventBusName": stack.outputs["EventBusName"],
        "Source": "agents.example",
        "DetailType": "ResearchRequested",
        "Detail": json.dumps({"scope": SCOPE, "tool": "reserach_search", "arguments": {"query": "graphene"}}),
    }
    event_id = aws(stack, "events").put_events(Entries=[entry])["Entries"][0]["EventId"]
    answered = answers(event_id)
    error = answered["result"]["error"]
    assert (answered["tool"], error["field"], error["status"]) == ("reserach_search", "tool", 404)
    assert all(tool.name in error["suggested_action"] for tool in TOOLS)


def test_a_project_stop_deletes_its_state_and_content_and_nobody_elses(stack: Stack, call: Call) -> None:
    """Cooldowns, quotas and objects of the project go, but for the marks of the stop; another project's stay."""
    s3, dynamodb = aws(stack, "s3"), aws(stack, "dynamodb")
    bucket, table = stack.outputs["ContentBucketName"], stack.outputs["StateTableName"]
    for project in ("stopping", "staying"):
        s3.put_object(Bucket=bucket, Key=f"local/{project}/content/a", Body=b"body")
        item = {"pk": {"S": f"T#local#P#{project}"}, "sk": {"S": "CD#serper-main#WEB#0123456789abcdef"}}
        dynamodb.put_item(TableName=table, Item=item)
    aws(stack, "events").put_events(
        Entries=[
            {
                "EventBusName": stack.outputs["EventBusName"],
                "Source": "zarniwoop",
                "DetailType": "ProjectEnginesStopRequested",
                "Detail": json.dumps({"tenant_id": "local", "project_id": "stopping"}),
            }
        ]
    )

    def left(project: str) -> tuple[set[str], set[str]]:
        prefix = f"local/{project}/"
        objects = s3.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
        found = dynamodb.query(
            TableName=table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"T#local#P#{project}"}},
        )["Items"]
        return {each["Key"].removeprefix(prefix) for each in objects}, {item["sk"]["S"] for item in found}

    marks = ({"content/results/stopped"}, {"GEN"})
    deadline = time.monotonic() + 20
    while left("stopping") != marks and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left("stopping") == marks
    assert left("staying") == ({"content/a"}, {"CD#serper-main#WEB#0123456789abcdef"})


def test_the_catalogue_lists_the_tools_in_the_shape_of_the_model(api: httpx.Client) -> None:
    """What an OpenAI model reads, over HTTP."""
    tools = api.get("/v1/tools", params={"format": "openai"}).json()["tools"]
    assert [tool["function"]["name"] for tool in tools] == [tool.name for tool in TOOLS]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"query": " ", "modality": "WEB"}, 400, "query"),
        ({"query": "x", "modality": "SMELL"}, 400, "modality"),
        ({"query": "x", "modality": "WEB", "tenant_id": "other"}, 400, "tenant_id"),
        ({"query": "x" * 2001, "modality": "WEB"}, 400, "query"),
        ({"query": "x", "modality": "WEB", "max_results": 0}, 400, "max_results"),
        ({"query": "y" * 300_000, "modality": "WEB"}, 413, "body"),
    ],
)
def test_bad_input_is_a_problem_with_its_field(
    api: httpx.Client, body: dict[str, Any], status: int, field: str
) -> None:
    """Over the real gateway, in the envelope."""
    answer = api.post("/v1/tools/research_search", json={"project_id": "demo", **body})
    error = answer.json()["error"]
    assert (answer.status_code, error["status"], error["field"]) == (status, status, field)
    assert error["suggested_action"]
