"""MCP on the deployed stack: through the gateway, its authorizer and two functions with roles of their own."""

import asyncio
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from stack.running import Stack
from stack.token import Wanted, issue
from tests.fakes.mcp import headers, request

pytestmark = pytest.mark.e2e

_SEARCH = {"query": "cathedral bells", "modality": "WEB", "max_results": 2}


def _session(stack: Stack, token: str, mode: str, calls: dict[str, dict[str, Any]]) -> tuple[str, set[str], list[Any]]:
    """The revision that was agreed upon, the tools that were listed, and the results of the calls."""

    async def talk() -> tuple[str, set[str], list[Any]]:
        async with httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"}, timeout=40, trust_env=False
        ) as http:
            transport = streamable_http_client(f"{stack.api_url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                names = {tool.name for tool in (await client.list_tools()).tools}
                return client.protocol_version, names, [await client.call_tool(*call) for call in calls.items()]

    return asyncio.run(talk())


@pytest.mark.parametrize(("mode", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_lists_and_calls(stack: Stack, api: httpx.Client, mode: str, revision: str) -> None:
    """What GET /v1/tools lists, and with what POST /v1/tools/research_search answers."""
    calls: dict[str, dict[str, Any]] = {
        "research_search": _SEARCH,
        "research_providers": {},
        "run_status": {"run_id": "r-none"},
    }
    agreed, names, (searched, providers, unknown) = _session(stack, stack.token, mode, calls)

    assert agreed == revision
    assert names == {tool["name"] for tool in api.get("/v1/tools", params={"format": "mcp"}).json()["tools"]}
    over_rest = api.post("/v1/tools/research_search", json=_SEARCH).json()
    found = searched.structured_content
    assert [hit["url"] for hit in found["data"]["hits"]] == [hit["url"] for hit in over_rest["data"]["hits"]]
    assert providers.structured_content["data"]["providers"]
    assert unknown.is_error
    assert unknown.structured_content["error"]["type"] == "urn:zarniwoop:problem:unknown-run"


def test_a_token_of_one_tool_has_that_one_alone(stack: Stack) -> None:
    """Listed, and called."""
    token = issue(stack.target, Wanted(tenant_id="local", projects=("demo",), tools=("research_providers",)))

    _, names, (searched, providers) = _session(
        stack, token, "auto", {"research_search": _SEARCH, "research_providers": {}}
    )

    assert names == {"research_providers", "result_read"}
    assert searched.structured_content["error"]["type"] == "urn:zarniwoop:problem:not-allowed"
    assert not providers.is_error


def test_what_http_refuses_is_refused(stack: Stack, api: httpx.Client) -> None:
    """No stream, no session, no stranger's page, no token in the address, and nobody without a token."""
    message = request("tools/list")
    given = {"Accept": "application/json, text/event-stream", **headers(message)}

    assert api.post("/mcp", json=message, headers=given).status_code == 200
    for method in ("GET", "DELETE"):
        answer = api.request(method, "/mcp", headers=given)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert api.post("/mcp", json=message, headers={**given, "Origin": "https://evil.example"}).status_code == 403
    assert api.post("/mcp?token=zw_x", json=message, headers=given).status_code == 400
    nobody = httpx.post(f"{stack.api_url}/mcp", json=message, headers=given, timeout=40, trust_env=False)
    assert nobody.status_code == 401
    assert nobody.headers["www-authenticate"] == (
        'Bearer resource_metadata="https://zarniwoop.example/.well-known/oauth-protected-resource/mcp"'
    )
