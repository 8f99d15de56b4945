"""`max_chars` on the deployed template with IAM enforced: the tool's role puts hits aside, the reader's finds them."""

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
