"""`dry_run: true` of every tool through its deployed function: nobody is asked, nothing is spent or written."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.fakes.functions import body_of, posted, sample
from tests.functional.deployed import READS, Deployed, deployed
from tests.simulator import Simulator
from zarniwoop.tools.registry import TOOLS

NAMES = [each.name for each in TOOLS]
SPENDING = [each.name for each in TOOLS if each.spends]
TABLES = ("STATE_TABLE", "CALLS_TABLE", "RUNS_TABLE", "IDEMPOTENCY_TABLE", "EVIDENCE_TABLE")
BUCKETS = ("content", "evidence", "recipes", "documents")
MODEL = {
    "llm.primary.protocol": "openai",
    "llm.primary.model": "a-model",
    "llm.primary.costPerMillionOutput": "2",
}


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with deployed(simulator, monkeypatch) as made:
        yield made


def _kept(stack: Deployed) -> Any:
    """Everything that a tool could have written."""
    objects = [stack.cloud.client("s3").list_objects_v2(Bucket=bucket).get("Contents", []) for bucket in BUCKETS]
    machine = stack.cloud.variables["INVESTIGATE_STATE_MACHINE"]
    runs = stack.cloud.client("stepfunctions").list_executions(stateMachineArn=machine)["executions"]
    return [stack.cloud.items(table) for table in TABLES], objects, runs


def _arguments(name: str) -> dict[str, Any]:
    arguments: dict[str, Any] = orjson.loads(sample(name)["body"])
    return {**arguments, "dry_run": True}


def _assert_nothing_was_done(stack: Deployed) -> None:
    assert stack.simulator.requests() == []
    reads = {("ssm", name) for name in ("GetParametersByPath", "GetParameter")}
    reads |= {("dynamodb", name) for name in READS} | {("s3", "GetObject")}
    assert set(stack.aws_calls) <= reads


@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_asks_no_provider_and_writes_nothing(stack: Deployed, name: str) -> None:
    """Over REST, under an idempotency key too, and by invocation; a 200, also for what would be a run.

    Warm, it is one read of the shared state, two for more than a hundred items; an investigation also looks whether its
    tenant has recipes of its own.
    """
    before = _kept(stack)
    stack.forget_calls()
    for headers in ({}, {"Idempotency-Key": "2f1c"}):
        stack.aws_calls.clear()
        response = stack.call(name, posted(_arguments(name), tool=name, headers=headers))
        envelope = body_of(response)
        assert (response["statusCode"], envelope["ok"], envelope["error"]) == (200, True, None)
        assert (envelope["data"]["tool"], envelope["data"]["dry_run"]) == (name, True)
        _assert_nothing_was_done(stack)
    looks = (
        ([],) if name in ("evidence_store", "run_status", "result_read") else (["BatchGetItem"], ["BatchGetItem"] * 2)
    )
    assert stack.calls_of("dynamodb") in looks
    event = sample(f"{name}.invoke")
    event["arguments"] = {**event["arguments"], "dryRun": True}
    assert stack.call(name, event)["data"]["dry_run"] is True
    _assert_nothing_was_done(stack)
    assert _kept(stack) == before


@pytest.mark.parametrize("name", [name for name in SPENDING if name != "web_fetch"])
def test_a_plan_says_who_would_be_asked_who_not_and_what_it_takes_at_most(stack: Deployed, name: str) -> None:
    """For each modality, in order, with a reason for everybody else."""
    data = stack.envelope(name, posted(_arguments(name), tool=name))["data"]
    assert data["plans"]
    listed = stack.envelope("research_providers", sample("research_providers"))["data"]
    everybody = [row["id"] for row in listed["providers"]]
    for plan in data["plans"].values():
        places = [each["position"] for each in plan["eligible"]]
        assert places == list(range(1, len(places) + 1))
        named = [each["instance_id"] for each in (*plan["eligible"], *plan["skipped"])]
        assert sorted(named) == sorted(everybody)
        assert all(each["reason"] for each in plan["skipped"])
    assert data["worst_case"]["calls"] >= sum(plan["worst_case"]["calls"] > 0 for plan in data["plans"].values())


def test_a_wish_that_is_neither_true_nor_false_spends_nothing_either(stack: Deployed) -> None:
    """It is refused: whoever writes "yes" must not be taken to mean a search."""
    stack.forget_calls()
    for wrong in ("true", 1, "no", None):
        response = stack.call("research_search", posted({"query": "bells", "modality": "WEB", "dry_run": wrong}))
        assert (response["statusCode"], body_of(response)["error"]["field"]) == (400, "dry_run")
    assert stack.simulator.requests() == []


def test_without_a_model_an_investigation_tells_the_searches_that_it_would_make(stack: Deployed) -> None:
    """By the built-in rules, which are the ones that the run goes by."""
    data = stack.envelope("research_investigate", posted(_arguments("research_investigate")))["data"]
    forecast = data["forecast"]
    assert (forecast["planner"], forecast["most_model_calls"], forecast["failure"]) == ("builtin", 0, None)
    assert forecast["searches"]
    assert {each["modality"] for each in forecast["searches"]} == set(data["plans"])
    assert data["notes"] == []


def test_with_a_model_an_investigation_tells_how_often_it_would_ask_it(stack: Deployed) -> None:
    """And that it has not done so."""
    stack.cloud.set_all(MODEL)
    stack.cloud.set("llm.primary.apiKey", "a-key-that-is-long-enough", secure=True)
    before = _kept(stack)
    stack.forget_calls()
    data = stack.envelope("research_investigate", posted(_arguments("research_investigate")))["data"]
    _assert_nothing_was_done(stack)
    assert _kept(stack) == before
    forecast = data["forecast"]
    assert (forecast["planner"], forecast["searches"], forecast["most_searches"]) == ("openai", [], 4)
    assert data["notes"] == [
        f"needs a model: up to {forecast['most_model_calls']} calls, within {forecast['most_tokens']} tokens"
    ]
