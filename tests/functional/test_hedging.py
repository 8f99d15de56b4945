"""A provider that hangs, through the deployed function, on real connections: who is asked, and what is written down."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator

INSTANCES = ("openalex-main", "crossref-main")


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with Simulator() as simulator:
        settings = with_canary(simulator, *INSTANCES) | {
            "research.default.academic": "openalex-main",
            "research.fallback.academic": "crossref-main",
            "research.hedge.afterMs": "300",
        }
        with deployed(simulator, monkeypatch, settings) as made:
            yield made


def asked(stack: Deployed) -> Any:
    scope = {"tenant_id": "acme", "project_id": "demo"}
    arguments = {"query": "graphene", "modality": "ACADEMIC"}
    return stack.call("research_search", {"scope": scope, "arguments": arguments})


def test_a_hanging_provider_is_joined_by_the_next_on_a_connection_of_its_own(stack: Deployed) -> None:
    """One request each; the one that hangs is hung up on, and both calls stand in the audit trail."""
    stack.simulator.fault("/openalex", "hang", seconds=20)
    envelope = asked(stack)
    assert envelope["ok"], envelope
    told = [(each["instance_id"], each["outcome"], each["reason"]) for each in envelope["data"]["attempts"]]
    assert told == [("crossref-main", "success", None), ("openalex-main", "failure", "superseded")]
    assert sorted(seen.path.split("/")[1] for seen in stack.simulator.requests()) == ["crossref", "openalex"]
    rows = stack.cloud.client("dynamodb").scan(TableName=stack.cloud.variables["CALLS_TABLE"])["Items"]
    assert len(rows) == 2


def test_a_provider_that_answers_in_time_is_asked_alone(stack: Deployed) -> None:
    """And the search makes one read and one write, as without a hedge."""
    stack.cloud.set_all({"research.hedge.afterMs": "20000"})
    asked(stack)
    stack.forget_calls()
    data = asked(stack)["data"]
    assert [each["instance_id"] for each in data["attempts"]] == ["openalex-main"]
    assert len(stack.simulator.requests()) == 1
    assert len(stack.calls_of("dynamodb")) == 2
