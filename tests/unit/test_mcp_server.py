"""The methods of MCP in each revision, held against the official models."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse
from mcp_types.methods import CLIENT_REQUESTS, validate_client_request, validate_server_result
from pydantic import ValidationError

from tests.fakes.mcp import CLIENT, ENVELOPE, HANDSHAKES, STATELESS, headers, request
from zarniwoop.mcp.inbound import Headers
from zarniwoop.mcp.listing import cursor_to, described
from zarniwoop.mcp.results import call_result
from zarniwoop.mcp.revisions import REVISIONS, Code
from zarniwoop.mcp.server import INSTRUCTIONS, McpServer, Reply
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.tool import Tool

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
NO_OBJECTS: tuple[Any, ...] = ([], "text", 7, False)
NAMES = [tool.name for tool in TOOLS]


class Calls:
    """`CallTool` that remembers."""

    def __init__(self) -> None:
        self.made: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, tool: Tool[Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.made.append((tool.name, arguments))
        return call_result(ENVELOPE, orjson.dumps(ENVELOPE))


def _server(calls: Calls | None = None, *, allowed: tuple[str, ...] = (), page: int = 50) -> McpServer:
    return McpServer(
        tools=TOOLS,
        may_use=lambda tool: not allowed or tool.name in allowed,
        call=calls or Calls(),
        problem=lambda error: {"title": type(error).__name__},
        page=page,
    )


def _reply(message: Any, revision: str | None = STATELESS, server: McpServer | None = None) -> Reply:
    return (server or _server()).reply(orjson.dumps(message), Headers(values=headers(message, revision)))


def _result(method: str, params: Mapping[str, Any] | None = None, revision: str = STATELESS, **server: Any) -> Any:
    """The result of a request, which the official models know as one of its method and revision."""
    reply = _reply(request(method, params, revision), revision, _server(**server))
    assert reply.status == 200, reply
    found = JSONRPCResponse.model_validate(orjson.loads(orjson.dumps(reply.body)))
    assert found.id == 1
    validate_server_result(method, revision, found.result)
    return found.result


def _code(method: str, params: Mapping[str, Any] | None = None, revision: str = STATELESS) -> tuple[int, int]:
    reply = _reply(request(method, params, revision), revision)
    found = JSONRPCError.model_validate(orjson.loads(orjson.dumps(reply.body)))
    assert found.id == 1
    return reply.status, found.error.code


def test_a_stateless_client_discovers_what_there_is() -> None:
    """And may keep it; it is the same for everybody."""
    result = _result("server/discover")
    assert result["supportedVersions"] == list(REVISIONS) == [STATELESS, *HANDSHAKES]
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert (result["resultType"], result["cacheScope"]) == ("complete", "public")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "zarniwoop"


def test_the_instructions_name_tools_that_there_are() -> None:
    named = {word.strip("().,;") for word in INSTRUCTIONS.split() if "_" in word}
    assert named
    assert named <= set(NAMES)


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [
        *((each, each) for each in HANDSHAKES),
        (STATELESS, "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("x", "2025-11-25"),
    ],
)
def test_a_handshake_agrees_on_a_revision(wanted: str, agreed: str) -> None:
    """On the client's, or on the newest that has a handshake."""
    message = request("initialize", {**INITIALIZE, "protocolVersion": wanted}, "2025-11-25")
    reply = _reply(message, None)
    assert reply.body is not None
    result = reply.body["result"]
    assert (reply.status, result["protocolVersion"]) == (200, agreed)
    validate_server_result("initialize", agreed, result)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {**INITIALIZE, "protocolVersion": 2025},
        {**INITIALIZE, "capabilities": None},
        {**INITIALIZE, "clientInfo": {"name": "x"}},
        {"protocolVersion": "2025-11-25"},
    ],
)
def test_a_handshake_that_lacks_something_is_refused(params: dict[str, Any]) -> None:
    """In a body of 200, which is where older clients look for an error."""
    with pytest.raises(ValidationError):
        validate_client_request("initialize", "2025-11-25", params)
    assert _code("initialize", params, "2025-11-25") == (200, Code.INVALID_PARAMS)


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_a_ping_is_answered_where_there_are_pings(revision: str) -> None:
    assert _result("ping", revision=revision) == {}
    assert _code("ping") == (404, Code.METHOD_NOT_FOUND)


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_tool_is_listed(revision: str) -> None:
    """On one page, since some clients read no other; with what each revision wants to know of a list."""
    result = _result("tools/list", revision=revision)
    assert [tool["name"] for tool in result["tools"]] == NAMES
    assert "nextCursor" not in result
    assert ("ttlMs" in result) is (revision == STATELESS)
    assert result.get("cacheScope") == ("private" if revision == STATELESS else None)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_described_with_hints_and_with_schemas_of_objects(tool: Tool[Any]) -> None:
    """2025-06-18 and 2025-11-25 know no other schemas."""
    described_tool = described(tool)
    assert described_tool["annotations"]["readOnlyHint"] is tool.read_only
    assert described_tool["annotations"]["title"] == described_tool["title"] == tool.title
    for schema in (described_tool["inputSchema"], described_tool["outputSchema"]):
        assert schema["type"] == "object"


def test_only_what_the_token_may_use_is_listed() -> None:
    allowed = ("web_fetch", "research_rich")
    assert {tool["name"] for tool in _result("tools/list", allowed=allowed)["tools"]} == set(allowed)
    assert _result("tools/list", allowed=("none",))["tools"] == []


@pytest.mark.parametrize("page", [1, 2, 5, len(NAMES) - 1, len(NAMES)])
@pytest.mark.parametrize("allowed", [(), tuple(NAMES[1::2])])
def test_pages_make_up_the_whole_list(page: int, allowed: tuple[str, ...]) -> None:
    """Each tool once, in the same order, though each page is another environment's."""
    found: list[str] = []
    params: dict[str, Any] = {}
    while True:
        result = _result("tools/list", params, page=page, allowed=allowed)
        assert 0 < len(result["tools"]) <= page
        found += [tool["name"] for tool in result["tools"]]
        if "nextCursor" not in result:
            break
        params = {"cursor": result["nextCursor"]}
    assert found == [name for name in NAMES if not allowed or name in allowed]


def test_a_cursor_holds_when_its_tool_is_no_longer_allowed() -> None:
    """The next one that is comes first."""
    listed = _result("tools/list", {"cursor": cursor_to(TOOLS[1])}, allowed=(NAMES[0], NAMES[2]))
    assert [tool["name"] for tool in listed["tools"]] == [NAMES[2]]


@pytest.mark.parametrize("cursor", ["", "x", "!!!!", "bm9uZQ==", "/w==", 7, [], {}])
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_cursor_of_somebody_else_is_refused(cursor: Any, revision: str) -> None:
    expected = 400 if revision == STATELESS else 200
    assert _code("tools/list", {"cursor": cursor}, revision) == (expected, Code.INVALID_PARAMS)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_call_is_carried_out_and_its_result_has_both_forms(revision: str) -> None:
    """Text for clients that know no other, and the same structured."""
    calls = Calls()
    result = _result("tools/call", {"name": "web_fetch", "arguments": {"urls": []}}, revision, calls=calls)
    assert calls.made == [("web_fetch", {"urls": []})]
    assert (result["isError"], result["structuredContent"]) == (False, ENVELOPE)
    assert orjson.loads(result["content"][0]["text"]) == ENVELOPE
    assert ("resultType" in result) is (revision == STATELESS)


@pytest.mark.parametrize("arguments", [None, {}])
def test_a_call_need_not_have_arguments(arguments: Any) -> None:
    """Nor be refused for what older revisions or extensions send along."""
    calls = Calls()
    params = {"name": "research_providers", "arguments": arguments, "task": {"ttl": 1}, "requestState": "x"}
    _result("tools/call", params, "2025-11-25", calls=calls)
    assert calls.made == [("research_providers", {})]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": None},
        {"name": "no_such_tool"},
        {"name": "Research_Search"},
        *({"name": "web_fetch", "arguments": wrong} for wrong in NO_OBJECTS),
    ],
)
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_call_of_no_tool_is_a_fault_of_the_protocol(params: dict[str, Any], revision: str) -> None:
    """All else is a result that the model reads."""
    assert _code("tools/call", params, revision) == (400 if revision == STATELESS else 200, Code.INVALID_PARAMS)


OURS = {"tools/list", "tools/call", "server/discover", "initialize", "ping"}


@pytest.mark.parametrize(
    ("method", "revision"), [key for key in CLIENT_REQUESTS if key[1] in REVISIONS and key[0] not in OURS]
)
def test_what_is_not_among_the_capabilities_is_no_method_here(method: str, revision: str) -> None:
    """Prompts, resources, completions, log levels, subscriptions."""
    assert _code(method, {}, revision) == (404 if revision == STATELESS else 200, Code.METHOD_NOT_FOUND)


@pytest.mark.parametrize(
    ("method", "revision"), [("ping", STATELESS), ("initialize", STATELESS), ("server/discover", "2025-11-25")]
)
def test_a_method_of_another_revision_is_none_of_this_one(method: str, revision: str) -> None:
    assert _code(method, INITIALIZE, revision)[1] == Code.METHOD_NOT_FOUND


def test_a_name_that_is_none_is_refused_by_its_header_or_its_type() -> None:
    """The header cannot say 7."""
    assert _code("tools/call", {"name": 7}) == (400, Code.HEADER_MISMATCH)
    assert _code("tools/call", {"name": 7}, "2025-11-25") == (200, Code.INVALID_PARAMS)


def test_a_notification_gets_no_body() -> None:
    assert _reply({"jsonrpc": "2.0", "method": "notifications/initialized"}, "2025-06-18") == Reply(status=202)


def test_the_log_is_told_of_methods_that_there_are_only() -> None:
    """A method that somebody made up may say anything."""
    assert _reply(request("tools/list")).method == "tools/list"
    assert _reply(request("my secret")).method == "unknown"


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("request_id", [0, 7, "seven"])
def test_a_fault_of_ours_bears_the_id_of_the_request(
    revision: str, request_id: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the body of a 200, with what may be known of it."""

    def broken(*_: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr("zarniwoop.mcp.server.page_of", broken)
    reply = _reply({**request("tools/list", revision=revision), "id": request_id}, revision)
    found = JSONRPCError.model_validate(orjson.loads(orjson.dumps(reply.body)))
    assert (reply.status, found.id, found.error.code) == (200, request_id, Code.INTERNAL_ERROR)
    assert (found.error.data, reply.method) == ({"title": "RuntimeError"}, "tools/list")
