"""`POST /mcp` through its handler: who may ask, what is refused before it is read, and what becomes of a call."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse
from mcp_types.methods import validate_server_result

from tests.fakes.clock import TickingClock
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of
from tests.fakes.mcp import ENVELOPE, HANDSHAKES, STATELESS, FakeToolFunctions, request, sent
from zarniwoop.entry.mcp import mcp
from zarniwoop.mcp.revisions import REVISIONS, Code
from zarniwoop.stores.functions import FunctionFault, FunctionUnavailable
from zarniwoop.tools.arguments import MOST_BYTES, MOST_TOKENS, USUAL_CHARS, parse_arguments
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.research_investigate import InvestigateArguments
from zarniwoop.tools.tool import Tool
from zarniwoop.wiring_mcp import McpWiring

QUERY = "the secret of the bells"
SEARCH = request("tools/call", {"name": "research_search", "arguments": {"query": QUERY, "modality": "WEB"}})


def _answer(
    event: dict[str, Any], functions: FakeToolFunctions | None = None, origins: str = "", remaining_ms: int = 28_000
) -> dict[str, Any]:
    environment = FakeEnvironment()
    environment.clock = TickingClock()
    environment.__dict__["tool_functions"] = functions or FakeToolFunctions()
    environment._variables = {**environment._variables, "MCP_ALLOWED_ORIGINS": origins}
    return mcp(environment=lambda: environment)(event, LambdaContext(remaining_ms=remaining_ms))


def _called(functions: FakeToolFunctions, message: dict[str, Any] = SEARCH, **identity: str) -> dict[str, Any]:
    response = _answer(sent(message, identity=identity), functions)
    assert response["statusCode"] == 200, response
    result: dict[str, Any] = JSONRPCResponse.model_validate(body_of(response)).result
    validate_server_result("tools/call", STATELESS, result)
    assert orjson.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result


def _refusal(response: dict[str, Any]) -> tuple[int, int, Any]:
    error = JSONRPCError.model_validate(body_of(response)).error
    return response["statusCode"], error.code, error.data


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_neither_a_stream_nor_a_session_is_to_be_had(method: str) -> None:
    """405 tells clients to do without."""
    response = _answer({**sent(SEARCH), "httpMethod": method, "body": None})
    status, code, problem = _refusal(response)
    assert (status, code, problem["status"]) == (405, Code.INVALID_REQUEST, 405)
    assert response["headers"]["allow"] == "POST"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "https://chat.example.evil", "https://chat.example:444"]
)
@pytest.mark.parametrize("allowed", ["", "https://chat.example, vscode-webview://abc/"])
def test_a_page_of_a_stranger_may_not_ask(origin: str, allowed: str) -> None:
    """Not even for a list, and whatever the token may do."""
    functions = FakeToolFunctions()
    status, _, problem = _refusal(_answer(sent(SEARCH, extra={"Origin": origin}), functions, allowed))
    assert (status, problem["type"]) == (403, "urn:zarniwoop:problem:not-allowed")
    assert "McpAllowedOrigins" in problem["suggested_action"]
    assert not functions.asked


@pytest.mark.parametrize("origin", ["https://chat.example", "HTTPS://CHAT.example", "vscode-webview://abc"])
def test_a_page_whose_origin_is_named_may(origin: str) -> None:
    """As browsers write it; what names none is no page."""
    allowed = "https://chat.example, vscode-webview://abc/"
    assert _answer(sent(SEARCH, extra={"Origin": origin}), origins=allowed)["statusCode"] == 200
    assert _answer(sent(SEARCH), origins=allowed)["statusCode"] == 200


@pytest.mark.parametrize("name", ["token", "access_token", "project_id"])
def test_nothing_is_taken_out_of_the_address(name: str) -> None:
    """A token in it is in somebody's log by now, and is not repeated."""
    event = {**sent(SEARCH), "queryStringParameters": {name: "zw_secret-secret-secret"}}
    response = _answer(event)
    status, _, problem = _refusal(response)
    assert (status, problem["field"]) == (400, "query")
    assert "secret-secret" not in response["body"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Accept": "text/html"}, 406),
        ({"Accept": "text/event-stream"}, 406),
        ({"Accept": "application/json"}, 200),
        ({"Accept": "*/*;q=0.1"}, 200),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
    ],
)
def test_the_body_is_json_both_ways(headers: dict[str, str], status: int) -> None:
    assert _answer(sent(SEARCH, extra=headers))["statusCode"] == status


def test_space_around_what_a_header_says_is_none_of_it() -> None:
    """RFC 9110 §5.5; and nobody promises that what stands between has taken it away."""
    padded = {name: f" {value}\t" for name, value in sent(SEARCH)["headers"].items()}
    assert _answer(sent(SEARCH, extra=padded))["statusCode"] == 200


def test_a_body_that_is_too_large_or_missing_is_refused() -> None:
    assert _refusal(_answer(sent("[" + " " * 300_000 + "]")))[0] == 413
    assert _refusal(_answer({**sent(SEARCH), "body": None}))[0] == 400


def test_a_request_without_identity_is_401() -> None:
    """The gateway lets none through."""
    assert _refusal(_answer(sent(SEARCH, identity={"tenant_id": ""})))[0] == 401


def test_a_call_goes_to_the_tools_own_function_in_the_callers_name() -> None:
    """With what its token lists, and with how much it can take."""
    functions = FakeToolFunctions()
    assert _called(functions, tools="research_search,web_fetch")["isError"] is False
    ((tool, message),) = functions.asked
    assert tool == "research_search"
    whose = {"tenant_id": "acme", "project_id": "demo", "level": 1}
    assert message["scope"] == {**whose, "tools": ["research_search", "web_fetch"]}
    assert message["arguments"] == {"query": QUERY, "modality": "WEB", "max_chars": USUAL_CHARS}
    assert message["bounds"] == {"bytes": MOST_BYTES, "tokens": MOST_TOKENS, "seconds": 23.0}
    assert functions.allowances == [25.0]


@pytest.mark.parametrize(
    ("tool", "given", "passed"),
    [
        ("research_search", {"max_chars": 5_000}, {"max_chars": 5_000}),
        ("research_search", {"maxChars": 900_000}, {"maxChars": USUAL_CHARS}),
        ("research_search", {"max_chars": None}, {"max_chars": USUAL_CHARS}),
        ("research_search", {"max_chars": 2_000_000}, {"max_chars": 2_000_000}),
        ("research_search", {"max_chars": "many"}, {"max_chars": "many"}),
        ("web_fetch", {}, {}),
        ("web_fetch", {"max_chars": 900_000}, {"max_chars": USUAL_CHARS}),
        ("geo_resolve", {"text": "x"}, {"text": "x"}),
    ],
)
def test_an_answer_is_bounded_where_it_can_be_read_on(tool: str, given: dict[str, Any], passed: dict[str, Any]) -> None:
    """What is no bound at all is left for the tool to refuse."""
    functions = FakeToolFunctions()
    _called(functions, request("tools/call", {"name": tool, "arguments": given}))
    arguments = functions.asked[0][1]["arguments"]
    if tool == "geo_resolve":
        arguments.pop("max_chars", None)
    assert arguments == passed


@pytest.mark.parametrize(
    ("identity", "arguments", "problem"),
    [
        ({"level": "0"}, {}, "not-allowed"),
        ({"tools": "web_fetch"}, {}, "not-allowed"),
        ({"projects": "demo,lab"}, {}, "no-project-scope"),
        ({}, {"project_id": "theirs"}, "not-allowed"),
        ({}, {"projectId": "Not An Id"}, "invalid-argument"),
        ({}, {"project_id": "demo", "projectId": "demo"}, "invalid-argument"),
    ],
)
def test_what_the_token_may_not_do_is_a_result_that_says_so(
    identity: dict[str, str], arguments: dict[str, Any], problem: str
) -> None:
    """A model can mend that; and no function is asked."""
    functions = FakeToolFunctions()
    message = request("tools/call", {"name": "research_search", "arguments": arguments})
    result = _called(functions, message, **identity)
    assert (result["isError"], result["structuredContent"]["ok"]) == (True, False)
    assert result["structuredContent"]["error"]["type"] == f"urn:zarniwoop:problem:{problem}"
    assert not functions.asked


def test_an_answer_that_is_not_ok_is_an_error_with_all_that_it_says() -> None:
    problem = {
        "type": "urn:zarniwoop:problem:no-endpoint",
        "title": "None",
        "status": 200,
        "detail": "",
        "retryable": False,
    }
    envelope = {"ok": False, "data": {"attempts": []}, "error": problem, "evidence": []}
    result = _called(FakeToolFunctions(envelope))
    assert (result["isError"], result["structuredContent"]) == (True, envelope)


@pytest.mark.parametrize(
    ("fault", "problem", "retryable"),
    [
        (FunctionFault.THROTTLED, "throttled", True),
        (FunctionFault.OUT_OF_TIME, "out-of-time", True),
        (FunctionFault.FAILED, "unready", True),
        (FunctionFault.NOT_CONFIGURED, "stack-misconfigured", False),
        (FunctionFault.TOO_LARGE, "answer-too-large", False),
    ],
)
def test_every_fault_of_a_function_has_its_problem(fault: FunctionFault, problem: str, retryable: bool) -> None:
    """And says whether to ask again."""
    result = _called(FakeToolFunctions(FunctionUnavailable(fault)))
    error = result["structuredContent"]["error"]
    assert (error["type"], error["retryable"]) == (f"urn:zarniwoop:problem:{problem}", retryable)
    assert (error["wait_seconds"] is not None) is retryable
    assert result["isError"] is True


@pytest.mark.parametrize(
    "garbage",
    [
        *(b"", b"null", b"[1]", b'"text"', b"{", b"\xff\xfe", b"{}"),
        b'{"errorMessage": "Task timed out", "errorType": "Sandbox.Timedout"}',
        orjson.dumps({**ENVELOPE, "ok": "yes"}),
        orjson.dumps({**ENVELOPE, "error": "text"}),
        orjson.dumps({**ENVELOPE, "evidence": None}),
        orjson.dumps({**ENVELOPE, "more": 1}),
    ],
)
def test_what_is_no_envelope_is_not_handed_on(garbage: bytes) -> None:
    """It may be a traceback."""
    result = _called(FakeToolFunctions(garbage))
    assert result["structuredContent"]["error"]["type"] == "urn:zarniwoop:problem:unready"


@pytest.mark.parametrize(("filler", "most"), [("x", MOST_BYTES), ("ü", MOST_TOKENS), ("鐘", MOST_TOKENS * 2 // 3)])
def test_an_answer_that_no_client_takes_is_refused_with_the_way_out(filler: str, most: int) -> None:
    """Of whatever letters, by bytes or by tokens; what is just small enough is handed on."""
    room = most - len(orjson.dumps({**ENVELOPE, "data": ""}))
    fits = {**ENVELOPE, "data": filler * room}
    assert _called(FakeToolFunctions(fits))["structuredContent"] == fits
    result = _called(FakeToolFunctions({**ENVELOPE, "data": filler * most}))
    assert result["structuredContent"]["error"]["type"] == "urn:zarniwoop:problem:answer-too-large"
    assert "max_chars" in result["structuredContent"]["error"]["suggested_action"]


@pytest.mark.parametrize(("remaining_ms", "allowance"), [(28_000, 25.0), (20_000, 15.0), (6_000, 3.0)])
def test_no_more_is_waited_than_there_is(remaining_ms: int, allowance: float) -> None:
    functions = FakeToolFunctions()
    _answer(sent(SEARCH), functions, remaining_ms=remaining_ms)
    assert functions.allowances == [allowance]


@pytest.mark.parametrize("remaining_ms", [5_000, 1_000, 0])
def test_with_too_little_time_nobody_is_asked(remaining_ms: int) -> None:
    functions = FakeToolFunctions()
    body = body_of(_answer(sent(SEARCH), functions, remaining_ms=remaining_ms))
    assert body["result"]["structuredContent"]["error"]["type"] == "urn:zarniwoop:problem:out-of-time"
    assert not functions.asked


def test_a_fault_of_ours_is_told_without_what_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a tool as its result, of all else as the protocol's internal error; without a request's id it is a 500."""
    result = _called(FakeToolFunctions(RuntimeError(QUERY)))
    assert result["structuredContent"]["error"]["type"] == "urn:zarniwoop:problem:internal"
    status, code, problem = _refusal(_answer(sent(SEARCH, identity={"level": "secret level"})))
    assert (status, code, problem["status"]) == (500, Code.INTERNAL_ERROR, 500)
    assert "request-1" in problem["detail"]
    captured = capsys.readouterr()
    assert QUERY not in captured.out + captured.err
    assert "secret level" not in captured.out + captured.err


def test_a_fault_of_ours_bears_the_id_of_its_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, or with none, the official client waits for ever; the log says where it was."""

    def broken(*_: Any) -> Any:
        raise RuntimeError(QUERY)

    monkeypatch.setattr("zarniwoop.mcp.server.page_of", broken)
    response = _answer(sent({**request("tools/list"), "id": "list-7"}))
    assert body_of(response)["id"] == "list-7"
    status, code, problem = _refusal(response)
    assert (status, code, problem["status"]) == (200, Code.INTERNAL_ERROR, 500)
    assert "request-1" in problem["detail"]
    printed = capsys.readouterr().out
    assert "RuntimeError" in printed
    assert QUERY not in printed + response["body"]


@pytest.mark.parametrize("level", [1, 2, 4])
def test_a_call_goes_on_with_the_level_of_its_token_and_no_other(level: int) -> None:
    """Whatever its arguments say: they are the tool's to refuse."""
    functions = FakeToolFunctions()
    arguments = {"query": QUERY, "level": 4, "scope": {"level": 4}, "tools": []}
    _called(functions, request("tools/call", {"name": "result_read", "arguments": arguments}), level=str(level))
    ((_, message),) = functions.asked
    assert message["scope"] == {"tenant_id": "acme", "project_id": "demo", "tools": [], "level": level}


QUESTION = {"question": QUERY, "max_searches": 3}


def _key(given: dict[str, Any], *, later: float = 0.0, **identity: str) -> Any:
    """The key under which a run is asked for."""
    functions, environment = FakeToolFunctions(), FakeEnvironment()
    environment.__dict__["tool_functions"] = functions
    environment.hands.advance(later)
    event = sent(request("tools/call", {"name": "research_investigate", "arguments": given}), identity=identity)
    mcp(environment=lambda: environment)(event, LambdaContext(remaining_ms=28_000))
    ((_, message),) = functions.asked
    return parse_arguments(InvestigateArguments, message["arguments"]).idempotency_key


def test_a_run_that_is_asked_for_again_is_the_same_run() -> None:
    """Within the hour, however its arguments are ordered or spelt, and for how long it is waited for."""
    key = _key(QUESTION)
    assert QUERY not in key
    assert key == _key({"maxSearches": 3, "question": QUERY, "wait": 5, "max_chars": 4_000}, later=60.0)
    assert key == _key({**QUESTION, "idempotency_key": None, "modalities": None})
    assert _key({**QUESTION, "idempotencyKey": "mine"}) == "mine"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"max_searches": 4}, {}),
        ({"question": "another"}, {}),
        ({"dry_run": True}, {}),
        ({"process_id": "crawl"}, {}),
        ({}, {"later": 3_600.0}),
        ({}, {"tenant_id": "rival"}),
        ({}, {"projects": "lab"}),
        ({}, {"tools": "research_investigate"}),
        ({}, {"level": "2"}),
    ],
)
def test_another_run_has_another_key(arguments: dict[str, Any], told: dict[str, Any]) -> None:
    """So has an hour later the same one."""
    assert _key({**QUESTION, **arguments}, **told) != _key(QUESTION)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@pytest.mark.parametrize("fault", [FunctionFault.OUT_OF_TIME, FunctionFault.FAILED])
def test_what_may_have_been_carried_out_is_not_called_undone(tool: Tool[Any], fault: FunctionFault) -> None:
    """Only what costs and changes nothing is to be asked again without a thought; a run is the same run."""
    message = request("tools/call", {"name": tool.name, "arguments": {}})
    error = _called(FakeToolFunctions(FunctionUnavailable(fault)), message)["structuredContent"]["error"]
    runs = "idempotency_key" in tool.arguments.model_fields
    harmless = tool.read_only and not tool.spends
    assert ("may have been" in error["detail"]) is (runs or not harmless)
    assert ("the same run" in error["suggested_action"]) is runs
    assert ("a second time" in error["suggested_action"]) is (not runs and not harmless)


def test_the_log_has_methods_tools_and_outcomes_and_nothing_that_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    _called(FakeToolFunctions())
    _answer(sent(request(f"tools/{QUERY}")))
    _answer(sent(request("tools/call", {"name": QUERY})))
    printed = capsys.readouterr().out
    lines = [orjson.loads(line) for line in printed.splitlines()]
    assert [(line["tool"], line["outcome"]) for line in lines if "tool" in line] == [("research_search", "ok")]
    assert [line["method"] for line in lines if "method" in line] == ["tools/call", "unknown", "tools/call"]
    assert QUERY not in printed
    assert "sample-agent" not in printed


@pytest.mark.parametrize("text", ["", "{", "[]", '{"research_search": 7}', "null"])
def test_functions_that_cannot_be_read_are_the_operators_to_mend(text: str) -> None:
    """A call is told so; listing goes on."""
    environment = FakeEnvironment()
    environment._variables = {**environment._variables, "TOOL_FUNCTIONS": text}
    handler = mcp(environment=lambda: environment)
    error = body_of(handler(sent(SEARCH), LambdaContext(28_000)))["result"]["structuredContent"]["error"]
    assert error["type"] == "urn:zarniwoop:problem:stack-misconfigured"
    listed = body_of(handler(sent(request("tools/list")), LambdaContext()))["result"]["tools"]
    assert len(listed) == len(TOOLS)


def test_the_wiring_reads_both_of_its_variables() -> None:
    wiring = McpWiring()
    wiring._variables = {
        "TOOL_FUNCTIONS": '{"web_fetch": "stack-web-fetch"}',
        "MCP_ALLOWED_ORIGINS": " https://A.example/ ,",
    }
    assert wiring.allowed_origins == {"https://a.example"}
    assert wiring.tool_functions is wiring.tool_functions


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
NEARLY = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.just(1) | VALUES},
    optional={
        "method": st.sampled_from(["tools/call", "tools/list", "initialize", "ping", "server/discover"])
        | st.text(max_size=9),
        "params": st.dictionaries(
            st.sampled_from(["name", "arguments", "cursor", "_meta", "protocolVersion", "capabilities", "clientInfo"]),
            st.sampled_from(["research_search", "2025-11-25"]) | VALUES,
            max_size=5,
        ),
    },
)


@settings(max_examples=120, deadline=None)
@given(message=VALUES | NEARLY | st.text(max_size=40), revision=st.sampled_from([*REVISIONS, "2025-03-26", "x", None]))
def test_whatever_is_sent_is_answered_in_the_protocol_or_taken(message: Any, revision: str | None) -> None:
    """By 200, 202 or a 4xx, with a message of JSON-RPC: never by a fault."""
    event = sent("", revision)
    event["body"] = message if isinstance(message, str) else _text(message)
    response = _answer(event)
    assert response["statusCode"] in (200, 202, 400, 404)
    if response["statusCode"] == 202:
        assert response["body"] == ""
        return
    body = body_of(response)
    assert ("error" in body) != ("result" in body)
    (JSONRPCError if "error" in body else JSONRPCResponse).model_validate(body)
    assert body.get("error", {}).get("code") != Code.INTERNAL_ERROR


def _text(message: Any) -> str:
    """JSON as Python writes it, with what is none (NaN)."""
    import json

    return json.dumps(message)


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_a_session_of_the_handshake_needs_nothing_to_be_remembered(revision: str) -> None:
    """Each message goes to an environment of its own."""
    hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    first = body_of(_answer(sent(request("initialize", hello, revision), None)))["result"]
    assert first["protocolVersion"] == revision
    assert _answer(sent({"jsonrpc": "2.0", "method": "notifications/initialized"}, revision))["statusCode"] == 202
    called = body_of(_answer(sent({**SEARCH, "params": {**SEARCH["params"], "_meta": {"progressToken": 7}}}, revision)))
    validate_server_result("tools/call", revision, called["result"])
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert _answer(sent(cancelled, revision))["statusCode"] == 202
