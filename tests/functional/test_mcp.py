"""The official client over MCP, against the deployed functions: the handler of `/mcp` asks those of the tools."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import event_names, handler_of, sample
from tests.fakes.mcp import STATELESS, FakeLambdaClient
from tests.functional.deployed import CANARY, Deployed, deployed, with_canary
from tests.simulator import Simulator
from zarniwoop.stores.functions import LambdaToolFunctions
from zarniwoop.tools.arguments import MOST_BYTES
from zarniwoop.tools.registry import TOOLS

ASKED = {"query": "cathedral bells", "modality": "WEB", "max_results": 2}


class Gateway(httpx2.AsyncBaseTransport):
    """API Gateway before `/mcp`: an HTTP request becomes its event; `seen` are the status lines of its answers."""

    def __init__(self, identity: dict[str, str]) -> None:
        self._identity = identity
        self._handler = handler_of("mcp")
        self.seen: list[tuple[str, int]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        event = sample("mcp") | {"httpMethod": request.method, "body": (await request.aread()).decode() or None}
        event["headers"] = dict(request.headers)
        event["multiValueHeaders"] = {name: [value] for name, value in request.headers.items()}
        event["requestContext"]["authorizer"] |= self._identity
        answer = self._handler(event, LambdaContext(28_000))
        self.seen.append((request.method, answer["statusCode"]))
        return httpx2.Response(answer["statusCode"], headers=answer["headers"], content=answer["body"].encode())


class Mcp:
    """A deployed stack behind `/mcp`."""

    def __init__(self, stack: Deployed) -> None:
        self.stack = stack
        self.functions = FakeLambdaClient(lambda name, message: stack.call(name, message))
        named = {tool.name: tool.name for tool in TOOLS}
        stack.environment.__dict__["tool_functions"] = LambdaToolFunctions(self.functions, named)

    def run(
        self, talk: Callable[[Client], Awaitable[Any]], mode: str = "auto", **identity: str
    ) -> tuple[Any, list[tuple[str, int]]]:
        """What was said, and the status lines of it."""
        gateway = Gateway(identity)

        async def session() -> Any:
            async with _client(gateway, mode) as client:
                return await talk(client)

        return asyncio.run(session()), gateway.seen

    def call(self, tool: str, arguments: dict[str, Any], mode: str = STATELESS, **identity: str) -> CallToolResult:
        result, _ = self.run(lambda client: client.call_tool(tool, arguments), mode, **identity)
        assert isinstance(result, CallToolResult)
        (block,) = result.content
        assert isinstance(block, TextContent)
        assert json.loads(block.text) == result.structured_content
        assert len(block.text.encode()) <= MOST_BYTES
        return result


@asynccontextmanager
async def _client(gateway: Gateway, mode: str) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(transport=gateway, base_url="https://stack.example") as http:
        transport = streamable_http_client("https://stack.example/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture(scope="module")
def served(simulator: Simulator) -> Iterator[Mcp]:
    wanted = with_canary(simulator, "serper-main", "hackernews-main", "openlibrary-main", "nominatim-main")
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        deployed(simulator, monkeypatch, {**wanted, "research.default.web": "serper-main"}) as made,
    ):
        yield Mcp(made)


@pytest.fixture
def mcp(served: Mcp) -> Mcp:
    """One warm environment; nothing is remembered of the test before."""
    served.functions.asked.clear()
    served.stack.environment.__dict__.pop("log", None)
    return served


STATUSES = {
    **dict.fromkeys(("mcp", "mcp.discover", "mcp.list", "mcp.initialize"), 200),
    "mcp.initialized": 202,
    **dict.fromkeys(("mcp.stream", "mcp.session"), 405),
}


def test_every_sample_event_is_answered(mcp: Mcp) -> None:
    """A call, a list, both ways to begin, and what is refused."""
    samples = [name for name in event_names() if name.partition(".")[0] == "mcp"]
    answers = {name: handler_of("mcp")(sample(name), LambdaContext(28_000)) for name in samples}
    assert {name: answer["statusCode"] for name, answer in answers.items()} == STATUSES
    assert json.loads(answers["mcp"]["body"])["result"]["isError"] is False


@pytest.mark.parametrize(("mode", "revision"), [("auto", STATELESS), ("legacy", "2025-11-25"), (STATELESS, STATELESS)])
def test_a_client_of_each_kind_agrees_lists_and_calls(mcp: Mcp, mode: str, revision: str) -> None:
    """By discovering, by a handshake, or without either; nothing is refused on the way."""

    async def talk(client: Client) -> tuple[str, list[str], CallToolResult]:
        listed = await client.list_tools()
        called = await client.call_tool("research_search", ASKED)
        assert isinstance(called, CallToolResult)
        return client.protocol_version, [tool.name for tool in listed.tools], called

    (agreed, names, called), seen = mcp.run(talk, mode)
    assert (agreed, names) == (revision, [tool.name for tool in TOOLS])
    assert called.is_error is False
    assert called.structured_content["data"]["returned_count"] == 2
    assert {status for _, status in seen} <= {200, 202}


def test_every_tool_answers_its_sample_over_mcp(mcp: Mcp) -> None:
    """And as its schema says, which the client looks at; a refusal too."""

    async def talk(client: Client) -> None:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for tool in TOOLS:
            called = await client.call_tool(tool.name, sample(f"{tool.name}.invoke")["arguments"])
            assert isinstance(called, CallToolResult)
            assert schemas[tool.name] is not None
            Draft202012Validator(schemas[tool.name]).validate(called.structured_content)
            assert called.structured_content["error"] is None or called.is_error, tool.name

    mcp.run(talk)
    assert [each["FunctionName"] for each in mcp.functions.asked] == [tool.name for tool in TOOLS]


@pytest.mark.parametrize("mode", ["legacy", STATELESS])
def test_what_a_tool_refuses_the_model_reads(mcp: Mcp, mode: str) -> None:
    """Field and way out, as over REST."""
    called = mcp.call("research_search", {"query": "bells", "modality": "SMELL"}, mode)
    assert called.is_error
    assert called.structured_content["error"]["field"] == "modality"
    assert "ACADEMIC" in called.structured_content["error"]["suggested_action"]


def test_a_token_sees_and_uses_its_own_tools_alone(mcp: Mcp) -> None:
    """Also where a tool's function is asked, to which IAM alone would open everything."""
    identity = {"tools": "research_search", "level": "1"}
    listed, _ = mcp.run(lambda client: client.list_tools(), **identity)
    assert {tool.name for tool in listed.tools} == {"research_search", "result_read"}
    refused = mcp.call("web_fetch", {"urls": ["https://example.com/"]}, **identity)
    assert refused.structured_content["error"]["type"] == "urn:zarniwoop:problem:not-allowed"
    assert not mcp.functions.asked


def test_what_did_not_fit_is_read_on(mcp: Mcp) -> None:
    """By the handle, which another tool takes."""
    asked = {"query": "cathedral bells", "modality": "WEB", "max_results": 10, "max_chars": 2_000}
    first = mcp.call("research_search", asked).structured_content["data"]
    assert first["size"]["handle"]
    rest = mcp.call("result_read", {"handle": first["size"]["handle"]}).structured_content["data"]
    assert first["hits"]
    assert rest["hits"]
    assert not {hit["url"] for hit in first["hits"]} & {hit["url"] for hit in rest["hits"]}


def test_fetched_text_stays_fenced(mcp: Mcp) -> None:
    """In both forms of the result, as over REST."""
    called = mcp.call("web_fetch", sample("web_fetch.invoke")["arguments"])
    fence = called.structured_content["data"]["fence"]
    (block,) = called.content
    assert isinstance(block, TextContent)
    for text in (block.text, json.dumps(called.structured_content)):
        assert f"UNTRUSTED {fence}" in text


FAULTS: tuple[tuple[Any, str], ...] = (
    (ClientError({"Error": {"Code": "TooManyRequestsException"}}, "Invoke"), "throttled"),
    (ReadTimeoutError(endpoint_url="https://lambda.example"), "out-of-time"),
    ({"errorMessage": "Task timed out after 28.00 seconds"}, "unready"),
    ({"ok": True, "data": "x" * 900_000, "error": None, "evidence": []}, "answer-too-large"),
    (7, "unready"),
)
"""Throttled, timed out, a traceback, too large, garbage."""


@pytest.mark.parametrize("mode", ["legacy", STATELESS])
def test_a_function_that_fails_is_a_result_and_the_session_goes_on(mcp: Mcp, mode: str) -> None:
    """Whatever it was: the next call of the same client is answered."""

    async def talk(client: Client) -> tuple[list[Any], Any]:
        failed = []
        for answer, _ in FAULTS:
            mcp.functions.answers["research_search"] = answer
            failed.append(await client.call_tool("research_search", ASKED))
        del mcp.functions.answers["research_search"]
        return failed, await client.call_tool("research_search", ASKED)

    (failed, answered), _ = mcp.run(talk, mode)
    assert all(each.is_error for each in failed)
    told = [each.structured_content["error"]["type"] for each in failed]
    assert told == [f"urn:zarniwoop:problem:{problem}" for _, problem in FAULTS]
    assert not answered.is_error


def test_a_fault_of_the_protocol_is_raised_by_the_client(mcp: Mcp) -> None:
    """With our words."""

    async def talk(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await client.list_tools(cursor="bm9uZQ==")
        return caught.value.message

    assert mcp.run(talk)[0] == "params.cursor is none of this server's"


@pytest.mark.parametrize("mode", ["legacy", STATELESS])
def test_a_fault_of_ours_is_raised_by_the_client(mcp: Mcp, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """Which would wait for ever for an answer that bears another id than its request."""

    def broken(*_: Any) -> Any:
        raise RuntimeError

    async def talk(client: Client) -> str:
        with monkeypatch.context() as patched, pytest.raises(MCPError) as caught:
            patched.setattr("zarniwoop.mcp.server.page_of", broken)
            await asyncio.wait_for(client.list_tools(), timeout=5)
        assert (await client.list_tools()).tools
        return caught.value.message

    assert mcp.run(talk, mode)[0] == "A fault of ours"


def test_neither_key_nor_query_is_logged(mcp: Mcp, capsys: pytest.CaptureFixture[str]) -> None:
    """But the method, the tool and how it ended."""
    mcp.call("research_search", ASKED, "legacy")
    captured = capsys.readouterr()
    for secret in ("cathedral", CANARY):
        assert secret not in captured.out + captured.err
    assert "tools/call" in captured.out
