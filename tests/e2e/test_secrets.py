"""What the whole run left behind, searched for what must be nowhere. It runs after all other end-to-end tests."""

from collections.abc import Iterable, Sequence
from typing import Any

import httpx
import pytest

from stack.running import Stack
from stack.seeding import SIMULATED_KEY
from tests.e2e import test_settings
from tests.e2e.left_behind import Place, SeenAnswers, everything_else, lines_and_items

pytestmark = pytest.mark.e2e

KEYS = (SIMULATED_KEY, test_settings.KEY, test_settings.OTHER_KEY)
"""The providers' keys that tests save: they belong into Parameter Store alone."""
QUERY = "zebrafish-canary-query"


def _where(places: Iterable[Place], words: Sequence[str]) -> tuple[int, list[str]]:
    """How many texts were looked at, and the places that hold one of the words."""
    looked_at, found = 0, []
    for place, text in places:
        looked_at += 1
        if any(word in text for word in words):
            found.append(place)
    return looked_at, found


@pytest.fixture(scope="module", autouse=True)
def _searched(stack: Stack) -> None:
    """A query that nobody else puts, in every way that searches."""
    with httpx.Client(base_url=stack.api_url, headers={"Authorization": f"Bearer {stack.token}"}, timeout=40) as api:
        asked: dict[str, Any] = {"project_id": stack.project_id, "query": QUERY}
        pinned = {"modality": "ACADEMIC", "pinned_provider_id": "arxiv-main"}
        for tool, more in (
            ("research_search", {"modality": "WEB"}),
            ("research_search_expert", pinned),
            ("research_rich", {}),
        ):
            assert api.post(f"/v1/tools/{tool}", json=asked | more).status_code == 200
        refused = api.post("/v1/tools/research_search", json=asked | {"modality": "WEB", "max_results": 0})
        assert refused.status_code == 400
        assert QUERY not in refused.text


def test_no_key_no_token_and_no_query_is_in_a_log_line_or_an_item(stack: Stack) -> None:
    """Metrics are log lines; audit records, runs, tokens and kept answers are items."""
    looked_at, found = _where(lines_and_items(stack), (*KEYS, stack.token, QUERY))
    assert looked_at > 100
    assert found == []
    assert _where(lines_and_items(stack), ("AU#serper-main#",))[1], "what is there must be found"


def test_no_key_and_no_token_is_in_a_file_a_message_an_execution_or_an_output(stack: Stack) -> None:
    """The traces of state machines and the emulator's own output included."""
    looked_at, found = _where(everything_else(stack), (*KEYS, stack.token))
    assert looked_at > 10
    assert found == []
    assert _where(everything_else(stack), ('"revision"',))[1], "what is there must be found"


def test_no_answer_ever_held_a_key(answers: SeenAnswers) -> None:
    """Errors included: every body that the gateway sent in this run, but for keys that were asked to be revealed."""
    assert len(answers.bodies) > 3
    assert [body for body in answers.bodies if any(key in body for key in KEYS)] == []
