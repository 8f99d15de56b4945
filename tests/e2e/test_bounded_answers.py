"""`max_chars` on the deployed template with IAM enforced: the tool's role puts hits aside, the reader's finds them."""

from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.e2e


def test_an_answer_is_read_to_its_end_within_its_bound(api: httpx.Client) -> None:
    """Over HTTP, by a token for the project; without the bound it is the same hits."""
    asked = {"project_id": "demo", "query": "python", "max_results": 20, "modality": "WEB"}
    whole = api.post("/v1/tools/research_search", json=asked).json()["data"]["hits"]
    answer = api.post("/v1/tools/research_search", json={**asked, "max_chars": 2_000}).json()
    hits, size = answer["data"]["hits"], answer["data"]["size"]
    assert size["handle"], answer
    while size["handle"]:
        page = api.get(f"/v1/results/{size['handle']}", params={"project_id": "demo"})
        assert page.status_code == 200, page.text
        assert page.json()["data"]["hits"], page.text
        hits, size = hits + page.json()["data"]["hits"], page.json()["data"]["size"]
    assert len(hits) == len(whole)


def test_a_handle_that_names_nothing_is_unknown(api: httpx.Client) -> None:
    """Not forbidden: the role may see that there is none."""
    answer = api.get(f"/v1/results/{'0' * 32}-0", params={"project_id": "demo"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "urn:zarniwoop:problem:unknown-result")


def test_a_model_that_knows_tools_alone_follows_a_run_and_reads_its_answer_to_the_end(api: httpx.Client) -> None:
    """`run_status` by the run's id, `result_read` by the handles that it gives, each with its own function's role."""

    def call(tool: str, **arguments: Any) -> Any:
        answer = api.post(f"/v1/tools/{tool}", json={"project_id": "demo", **arguments})
        assert answer.status_code in (200, 202), answer.text
        return answer.json()["data"]

    run_id = call("research_investigate", question="How are large language models evaluated?", max_searches=2)["run_id"]
    data = call("run_status", run_id=run_id, wait=20, max_chars=2_000)
    while data["state"] in ("queued", "running"):
        data = call("run_status", run_id=run_id, wait=20, max_chars=2_000)
    assert data["state"] == "succeeded", data
    found, size = len(data["results"]["hits"]), data["size"]
    assert size["handle"], data
    while size["handle"]:
        page = call("result_read", handle=size["handle"], max_chars=20_000)
        found, size = found + len(page["results"].get("hits", ())), page["size"]
    assert found == data["results"]["hits_total"]


def test_lists_that_are_no_hits_are_bounded_too(api: httpx.Client) -> None:
    """Their functions may put aside what is left over."""
    for tool, arguments in (("research_providers", {"detail": True}), ("evidence_store", {"limit": 100})):
        asked = {"project_id": "demo", **arguments, "max_chars": 4_000}
        data = api.post(f"/v1/tools/{tool}", json=asked).json()["data"]
        assert data["size"]["hits_left"] == 0 or data["size"]["handle"], data["size"]
