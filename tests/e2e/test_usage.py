"""Before and after the bill, on the deployed template with IAM enforced: dry runs of every tool, and the usage."""

import json

import httpx
import pytest

from stack.running import Stack
from tests.e2e.project import caller
from tests.fakes.functions import sample
from zarniwoop.tools.registry import TOOLS

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("name", [each.name for each in TOOLS])
def test_every_role_may_do_what_a_dry_run_takes(api: httpx.Client, name: str) -> None:
    """Over HTTP; the starting function of investigations reads settings, state and recipes for it."""
    arguments = {**json.loads(sample(name)["body"]), "project_id": "demo", "dry_run": True}
    answer = api.post(f"/v1/tools/{name}", json=arguments)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["ok"], told["data"]["tool"], told["data"]["dry_run"]) == (True, name, True)


def test_a_dry_run_reaches_no_provider(api: httpx.Client, stack: Stack) -> None:
    """The simulator sees nothing of the question."""
    query = "a question that is never asked"
    asked = {"project_id": "demo", "query": query, "modality": "WEB", "dry_run": True}
    assert api.post("/v1/tools/research_search", json=asked).json()["data"]["plans"]["WEB"]["eligible"]
    assert stack.simulator_url is not None
    journal = httpx.get(f"{stack.simulator_url}/_control/requests", trust_env=False).text
    assert query not in journal
    assert query.replace(" ", "+") not in journal
    assert query.replace(" ", "%20") not in journal


def test_what_was_asked_is_in_the_usage(stack: Stack) -> None:
    """By provider, modality and day; a token for the project is enough."""
    asked = {"project_id": "counted", "query": "python", "modality": "BOOK"}
    with caller(stack, "counted") as api:
        for _ in range(2):
            assert api.post("/v1/tools/research_search", json=asked).json()["ok"]
        answer = api.get("/v1/usage", params={"project_id": "counted"})
    assert answer.status_code == 200, answer.text
    told = answer.json()["data"]
    assert set(told["providers"]) == {"openlibrary-main"}
    assert told["providers"]["openlibrary-main"]["asked"] == told["modalities"]["BOOK"]["calls"] == 2
    assert sum(row["asked"] for row in told["days"].values()) == told["total"]["asked"] == 2
