"""MCP's official clients, of every line and revision there is, with every tool on the deployed stack."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest

from stack.running import Stack
from tests.clients.session import (
    NEWER,
    OLDER,
    STATELESS,
    Call,
    Endpoint,
    Session,
    newest_python,
    older_python,
    typescript,
    why_no_typescript,
)
from tests.fakes.functions import sample
from zarniwoop.tools.registry import TOOLS

pytestmark = pytest.mark.e2e

Talk = Callable[[Endpoint, list[Call]], Session]
_INVESTIGATION = {"question": "How do cathedral bells ring?", "max_searches": 1, "idempotency_key": "mcp-clients"}
"""The same for all of them, so that it is one run."""


@pytest.fixture(scope="module")
def calls(stack: Stack) -> list[Call]:
    """Every tool with the arguments of its sample event, but where the sample names what only its own stack has."""
    with httpx.Client(
        base_url=stack.api_url, headers={"Authorization": f"Bearer {stack.token}"}, timeout=40, trust_env=False
    ) as api:

        def data(tool: str, **arguments: Any) -> Any:
            answer = api.post(f"/v1/tools/{tool}", json=arguments)
            return answer.raise_for_status().json()["data"]

        run = data("research_investigate", **_INVESTIGATION)
        bounded = data("research_search", query="python", modality="WEB", max_results=20, max_chars=2_000)
    here: dict[str, dict[str, Any]] = {
        "web_fetch": {"urls": [f"{stack.simulator_url}/web/mills/history"]},
        "research_investigate": _INVESTIGATION,
        "run_status": {"run_id": run["run_id"]},
        "result_read": {"handle": bounded["size"]["handle"]},
    }
    samples = {tool.name: json.loads(sample(tool.name)["body"]) for tool in TOOLS}
    return [(name, here.get(name, arguments)) for name, arguments in samples.items()]


def _in_typescript(line: int, revision: str) -> Talk:
    return lambda endpoint, calls: typescript(endpoint, line, revision, calls)


TALKS: Mapping[str, tuple[str, Talk]] = {
    "python 2": (STATELESS, lambda endpoint, calls: newest_python(endpoint, "auto", calls)),
    "python 2, handshake": (NEWER, lambda endpoint, calls: newest_python(endpoint, "legacy", calls)),
    "python 1": (NEWER, lambda endpoint, calls: older_python(endpoint, NEWER, calls)),
    "python 1, older": (OLDER, lambda endpoint, calls: older_python(endpoint, OLDER, calls)),
    "typescript 2": (STATELESS, _in_typescript(2, STATELESS)),
    "typescript 2, older": (OLDER, _in_typescript(2, OLDER)),
    "typescript 1": (NEWER, _in_typescript(1, NEWER)),
}


@pytest.mark.parametrize("name", TALKS)
def test_an_official_client_lists_and_calls_every_tool(stack: Stack, calls: list[Call], name: str) -> None:
    """It agrees on its newest revision that is spoken here, finds all tools of the registry, and every answer of theirs
    is one, of the schema that was listed, which each of the clients checks."""
    if name.startswith("typescript") and why_no_typescript():
        pytest.skip(why_no_typescript())
    revision, talk = TALKS[name]
    calls = calls if revision != OLDER else calls[:2]  # the rest is the same as in the revision after it
    session = talk(Endpoint(url=f"{stack.api_url}/mcp", token=stack.token), calls)

    assert (session.revision, session.server) == (revision, "zarniwoop")
    assert session.tools == [tool.name for tool in TOOLS]
    assert list(session.results) == [tool for tool, _ in calls]
    for tool, result in session.results.items():
        assert result["is_error"] is False, (tool, result["structured"]["error"])
        assert result["structured"]["ok"] is True
        assert json.loads(result["text"]) == result["structured"]
