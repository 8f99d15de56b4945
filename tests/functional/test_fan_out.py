"""A fan-out through the deployed function, against four indexes of papers in their real wire formats."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator

PAPER = "Observation of Gravitational Waves from a Binary Black Hole Merger"
INDEXES = ("openalex-main", "arxiv-main", "crossref-main", "pubmed-main")


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with Simulator() as simulator, deployed(simulator, monkeypatch, with_canary(simulator, *INDEXES)) as made:
        yield made


def asked(stack: Deployed, **arguments: Any) -> Any:
    scope = {"tenant_id": "acme", "project_id": "demo"}
    return stack.call("research_search", {"scope": scope, "arguments": {"modality": "ACADEMIC", **arguments}})


def test_the_same_paper_from_four_indexes_is_one_hit_with_four_sources(stack: Deployed) -> None:
    """OpenAlex, arXiv, Crossref and PubMed name it by DOI, arXiv id and PMID; each has one vote, and they sum up."""
    envelope = asked(stack, query=PAPER, strategy="fanout", max_results=5)
    assert envelope["ok"], envelope
    data = envelope["data"]
    first = data["hits"][0]
    assert first["title"] == PAPER
    assert sum(each["title"] == PAPER for each in data["hits"]) == 1
    assert {each["instance_id"] for each in first["contributors"]} == set(INDEXES)
    assert {each["index_family"] for each in first["contributors"]} == {"openalex", "arxiv", "crossref", "pubmed"}
    assert sum(each["contribution"] for each in first["contributors"]) == first["score"] == pytest.approx(4 / 61)
    assert first["identifiers"]["doi"] == "10.1103/physrevlett.116.061102"
    assert {"arxiv_id", "pmid", "openalex_id"} <= set(first["identifiers"])
    assert {each["outcome"] for each in data["attempts"]} == {"success"}


def test_one_index_down_costs_its_vote_and_nothing_else(stack: Deployed) -> None:
    """Three sources, and the account says whose is missing."""
    stack.cloud.set_all({"research.endpoint.crossref-main.baseUrl": f"http://127.0.0.1:{stack.simulator.port}/nowhere"})
    data = asked(stack, query=PAPER, strategy="fanout")["data"]
    assert {each["instance_id"] for each in data["hits"][0]["contributors"]} == set(INDEXES) - {"crossref-main"}
    assert data["degraded"] == "without crossref-main"


def test_a_fan_out_reads_the_shared_state_once(stack: Deployed) -> None:
    """However many are asked; besides, a turn for each provider that publishes a rate, and one write of the account."""
    asked(stack, query=PAPER, strategy="fanout")
    stack.forget_calls()
    asked(stack, query=PAPER, strategy="fanout")
    calls = stack.calls_of("dynamodb")
    assert sum(call == "BatchGetItem" for call in calls) == 1, calls
    assert stack.calls_of("ssm") == []


def test_a_least_number_of_results_needs_a_fan_out(stack: Deployed) -> None:
    """The refusal names the argument."""
    refused = asked(stack, query=PAPER, min_results=3)
    assert (refused["ok"], refused["error"]["field"]) == (False, "min_results")
