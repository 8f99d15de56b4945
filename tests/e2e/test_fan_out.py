"""A fan-out on the deployed template, over HTTP, against four indexes of papers in their real wire formats."""

import pytest

from stack.running import Stack
from tests.e2e.project import caller, save_settings

pytestmark = pytest.mark.e2e

PAPER = "Observation of Gravitational Waves from a Binary Black Hole Merger"
INDEXES = ("openalex-main", "arxiv-main", "crossref-main", "pubmed-main")


def test_the_same_paper_from_four_indexes_is_one_hit_with_four_sources(stack: Stack) -> None:
    """Each names it by identifiers of its own and has one vote; the votes sum up to its score."""
    first, *others = INDEXES
    routing = {"research.default.academic": first, "research.fallback.academic": ",".join(others)}
    save_settings(stack, "fanning-out", routing)
    asked = {"query": PAPER, "modality": "ACADEMIC", "strategy": "fanout", "max_results": 5}
    with caller(stack, "fanning-out") as api:
        data = api.post("/v1/tools/research_search", json=asked).json()["data"]
    (paper,) = [hit for hit in data["hits"] if hit["title"] == PAPER]
    assert {each["instance_id"] for each in paper["contributors"]} == set(INDEXES)
    assert len({each["index_family"] for each in paper["contributors"]}) == 4
    assert sum(each["contribution"] for each in paper["contributors"]) == paper["score"] == pytest.approx(4 / 61)
    assert {"doi", "arxiv_id", "pmid", "openalex_id"} <= set(paper["identifiers"])
