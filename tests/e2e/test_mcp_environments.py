"""One MCP client whose requests are answered by two environments of the function in turn, which share nothing.

Lambda gives a request to another environment while the first is at work; so before every second request somebody else
asks for what takes long. Who answered, the log tells: an environment writes into a stream of its own.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from stack.running import Stack
from tests.e2e.investigations import aws
from tests.e2e.provider_journal import Providers
from tests.fakes.mcp import headers, request
from zarniwoop.tools.registry import TOOLS

pytestmark = pytest.mark.e2e

SLOW_MS = 1_500
PATIENCE = 20.0
_LONG = {"query": "bells", "modality": "ACADEMIC", "pinned_provider_id": "europepmc-main", "cache": "no-store"}
_SEARCH = {"query": "python", "modality": "WEB", "max_results": 20, "max_chars": 2_000}


@dataclass(slots=True, kw_only=True)
class Occupant:
    """Keeps one environment of the function at work, for as long as one provider takes."""

    stack: Stack
    providers: Providers
    pool: ThreadPoolExecutor

    def enter(self) -> "Future[httpx.Response]":
        """Returns when the environment is at work."""
        before = len(self.providers.asked("europepmc"))
        self.providers.fault("europepmc", "slow", times=1, delay_ms=SLOW_MS)
        asking = self.pool.submit(self._ask)
        until = time.monotonic() + PATIENCE
        while len(self.providers.asked("europepmc")) == before and time.monotonic() < until:
            time.sleep(0.02)
        return asking

    def _ask(self) -> httpx.Response:
        message = request("tools/call", {"name": "research_search_expert", "arguments": _LONG})
        given = {**headers(message), "Authorization": f"Bearer {self.stack.token}"}
        answer = httpx.post(f"{self.stack.api_url}/mcp", json=message, headers=given, timeout=40, trust_env=False)
        assert answer.json()["result"]["isError"] is False, answer.text
        return answer


class Alternating(httpx2.AsyncHTTPTransport):
    """One request after the other, every second one while somebody else occupies the environment of the first."""

    def __init__(self, occupant: Occupant) -> None:
        super().__init__()
        self._occupant = occupant
        self._turn = asyncio.Lock()
        self.answered: list[tuple[str, str]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Notes the method and the id under which it is logged."""
        async with self._turn:
            occupied = await asyncio.to_thread(self._occupant.enter) if len(self.answered) % 2 else None
            response = await super().handle_async_request(request)
            if occupied is not None:
                await asyncio.wrap_future(occupied)
            method = json.loads(request.content)["method"] if request.content else request.method
            self.answered.append((method, response.headers["x-request-id"]))
            return response


@pytest.fixture
def alternating(stack: Stack, providers: Providers) -> Iterator[Alternating]:
    with ThreadPoolExecutor(max_workers=1) as pool:
        yield Alternating(Occupant(stack=stack, providers=providers, pool=pool))


async def _session(stack: Stack, mode: str, transport: Alternating) -> tuple[list[str], Any, Any]:
    """The tools that were listed, an answer that is bounded, and what was read on."""
    token = {"Authorization": f"Bearer {stack.token}"}
    async with (
        httpx2.AsyncClient(headers=token, timeout=40, transport=transport) as http,
        Client(streamable_http_client(f"{stack.api_url}/mcp", http_client=http), mode=mode) as client,
    ):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        found: Any = (await client.call_tool("research_search", _SEARCH)).structured_content
        handle = found["data"]["size"]["handle"]
        rest: Any = (await client.call_tool("result_read", {"handle": handle})).structured_content
        return tools, found, rest


def _streams(stack: Stack, since: float) -> Mapping[str, str]:
    """The log stream of every request that the function answered since that moment, by its id."""
    pages = aws(stack, "logs").get_paginator("filter_log_events")
    lines = [
        event
        for page in pages.paginate(logGroupName=stack.outputs["FunctionLogGroupName"], startTime=int(since * 1_000))
        for event in page["events"]
        if '"mcp answered"' in event["message"]
    ]
    return {json.loads(line["message"])["request_id"]: line["logStreamName"] for line in lines}


@pytest.mark.parametrize(("mode", "opening"), [("auto", "server/discover"), ("legacy", "initialize")])
def test_two_environments_answer_one_client_in_turn(
    stack: Stack, alternating: Alternating, mode: str, opening: str
) -> None:
    """What one began the other goes on with: a handshake, and an answer that did not fit."""
    began = time.time()
    tools, found, rest = asyncio.run(_session(stack, mode, alternating))

    assert tools == [tool.name for tool in TOOLS]
    assert found["data"]["hits"]
    assert rest["data"]["hits"]
    streams = _streams(stack, began)
    methods = [method for method, _ in alternating.answered]
    answered_by = [streams[request_id] for _, request_id in alternating.answered]
    assert methods[0] == opening
    assert {"tools/list", "tools/call"} < set(methods)
    assert len(answered_by) >= 4
    assert len(set(answered_by[::2])) == len(set(answered_by[1::2])) == 1
    assert answered_by[0] != answered_by[1]
