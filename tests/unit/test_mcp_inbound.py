"""Messages of MCP as they come in: what is a request, and what the official server would have refused as well."""

import base64
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request, encode_header_value
from mcp_types import JSONRPCNotification, JSONRPCRequest
from pydantic import ValidationError

from tests.fakes.mcp import HANDSHAKES, META, STATELESS, headers, request
from zarniwoop.mcp.faults import ProtocolFault
from zarniwoop.mcp.inbound import MOST_DEPTH, Asked, Headers, parsed, read
from zarniwoop.mcp.revisions import Code

REVISION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
WRONG_IDS: tuple[Any, ...] = (None, True, 1.5, [1], {})
NO_OBJECTS: tuple[Any, ...] = ([], "text", 7, True)
CALL = request("tools/call", {"name": "research_search", "arguments": {"query": "bells"}})


def _read(body: Any, given: dict[str, str], *repeated: str) -> Asked | None:
    return read(body, Headers(values=given, repeated=frozenset(repeated)))


def _fault(body: Any, given: dict[str, str], *repeated: str) -> ProtocolFault:
    with pytest.raises(ProtocolFault) as caught:
        _read(body, given, *repeated)
    return caught.value


def test_a_request_whose_headers_agree_is_one() -> None:
    """Of the stateless revision, which its header names."""
    asked = _read(CALL, headers(CALL))
    assert asked == Asked(id=1, method="tools/call", params=CALL["params"], revision=STATELESS)
    assert asked.is_stateless


@pytest.mark.parametrize("revision", [*HANDSHAKES, None])
def test_a_client_of_the_handshake_needs_no_meta(revision: str | None) -> None:
    """Nor a header, which its first message cannot have."""
    asked = _read(request("ping", revision="2025-06-18"), headers({}, revision))
    assert asked == Asked(id=1, method="ping", params={}, revision=revision)
    assert not asked.is_stateless


@pytest.mark.parametrize("request_id", ["", "a", 0, -1, 2**53])
def test_an_id_is_a_text_or_a_whole_number(request_id: Any) -> None:
    asked = _read({**CALL, "id": request_id}, headers(CALL))
    assert asked is not None
    assert (asked.id, type(asked.id)) == (request_id, type(request_id))


@pytest.mark.parametrize(
    "body",
    [
        *(None, True, 3, "text", [], [CALL], [CALL, CALL]),
        *({}, {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "id": 1}, {"id": 1, "method": "ping"}),
        {**CALL, "jsonrpc": "1.0"},
        {**CALL, "jsonrpc": 2},
        *({**CALL, "id": wrong} for wrong in WRONG_IDS),
        *({**CALL, "method": wrong} for wrong in (None, 7, ["tools/call"])),
        *({**CALL, "params": wrong} for wrong in NO_OBJECTS),
        {"jsonrpc": "2.0", "method": 7},
        {"jsonrpc": "2.0", "method": "notifications/initialized", "params": []},
    ],
    ids=str,
)
@pytest.mark.parametrize("revision", [STATELESS, *HANDSHAKES, None])
def test_what_is_no_single_message_is_an_invalid_request(body: Any, revision: str | None) -> None:
    """Batches as well: no revision that is spoken here has them."""
    fault = _fault(body, headers(CALL, revision))
    assert (fault.code, fault.status) == (Code.INVALID_REQUEST, 400)
    with pytest.raises(ValidationError):
        (JSONRPCRequest if isinstance(body, dict) and "id" in body else JSONRPCNotification).model_validate(body)


def test_the_id_of_a_broken_request_is_told_where_it_has_one() -> None:
    """So that its sender knows which; else null."""
    assert _fault({**CALL, "jsonrpc": "1.0", "id": "x"}, headers(CALL)).request_id == "x"
    assert _fault({**CALL, "id": 1.5}, headers(CALL)).body()["id"] is None


@pytest.mark.parametrize("raw", [b"", b"{", b"nan", b'{"a": NaN}', b"\xff", b'"\\ud800"', b"[" * 5000, b"{}{}"])
def test_what_is_no_json_is_a_parse_error(raw: bytes) -> None:
    with pytest.raises(ProtocolFault) as caught:
        parsed(raw)
    assert (caught.value.code, caught.value.status) == (Code.PARSE_ERROR, 400)


def test_what_nests_too_deep_is_refused_before_anybody_walks_it() -> None:
    assert parsed(b"[" * MOST_DEPTH + b"]" * MOST_DEPTH)
    with pytest.raises(ProtocolFault) as caught:
        parsed(b"[" * (MOST_DEPTH + 1) + b"]" * (MOST_DEPTH + 1))
    assert caught.value.code is Code.INVALID_REQUEST


@pytest.mark.parametrize("revision", [STATELESS, *HANDSHAKES, None])
@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "notifications/unheard"])
def test_a_notification_is_taken_and_not_answered(method: str, revision: str | None) -> None:
    assert _read({"jsonrpc": "2.0", "method": method}, headers({}, revision)) is None


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2099-01-01", ""])
def test_a_revision_that_is_not_spoken_is_told_those_that_are(revision: str) -> None:
    """2025-03-26 among the first: it obliges a server to take batches."""
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    stateless = {**CALL, "params": {**CALL["params"], "_meta": {**META, REVISION: revision}}}
    for message in (notification, stateless):
        fault = _fault(message, {**headers(message), "mcp-protocol-version": revision})
        assert (fault.code, fault.status) == (Code.UNSUPPORTED_REVISION, 400)
        assert fault.data == {"supported": [STATELESS, *HANDSHAKES], "requested": revision}


@pytest.mark.parametrize(
    ("revision", "code"),
    [
        ("2025-03-26", Code.UNSUPPORTED_REVISION),
        ("2024-11-05", Code.UNSUPPORTED_REVISION),
        ("2099-01-01", Code.INVALID_PARAMS),
    ],
)
def test_a_request_without_meta_is_judged_by_its_header(revision: str, code: Code) -> None:
    """A revision of the handshake is refused as such; of any other the official order asks for `_meta` first."""
    assert _fault(request("ping", revision=revision), {"mcp-protocol-version": revision}).code is code


def test_a_response_to_a_question_that_nobody_asked_is_dropped() -> None:
    """Where the revision lets clients send one."""
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert _read(response, headers(response, "2025-11-25")) is None
    assert _fault(response, headers(response)).code is Code.INVALID_REQUEST
    assert _fault({**response, "error": {}}, headers(response, "2025-11-25")).code is Code.INVALID_REQUEST


@pytest.mark.parametrize("given", [{}, {"mcp-protocol-version": "2025-11-25"}])
def test_a_stateless_request_that_forgot_its_header_is_not_taken_for_an_old_one(given: dict[str, str]) -> None:
    assert _fault(CALL, given).code is Code.HEADER_MISMATCH


@pytest.mark.parametrize("header", ["mcp-protocol-version", "mcp-method", "mcp-name"])
def test_a_routing_header_that_came_twice_is_refused(header: str) -> None:
    """Two readers of it might disagree."""
    fault = _fault(CALL, headers(CALL), header, "accept")
    assert fault.code is Code.HEADER_MISMATCH
    assert header in fault.message


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("mcp-method", "tools/list"),
        ("mcp-method", None),
        ("mcp-name", "web_fetch"),
        ("mcp-name", None),
        ("mcp-name", "=?base64?!!!?="),
        ("mcp-name", "=?base64?/w==?="),
        ("mcp-protocol-version", None),
    ],
)
def test_a_header_that_does_not_say_what_the_body_says_is_refused(header: str, value: str | None) -> None:
    """As the official server does it."""
    given = {name: each for name, each in {**headers(CALL), header: value}.items() if each is not None}
    fault = _fault(CALL, given)
    official = classify_inbound_request(CALL, headers=given)
    assert isinstance(official, InboundLadderRejection)
    assert (fault.code, fault.request_id) == (official.code, 1)


def test_a_name_that_fits_into_no_header_comes_encoded() -> None:
    """And means the same."""
    named = request("tools/call", {"name": "schön"})
    assert _read(named, {**headers(named), "mcp-name": encode_header_value("schön")}) is not None
    padded = f"=?base64?{base64.b64encode('schö'.encode()).decode()}?="
    assert _fault(named, {**headers(named), "mcp-name": padded}).code is Code.HEADER_MISMATCH


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (CAPABILITIES, None),
        (CAPABILITIES, []),
        (CLIENT, "agent"),
        (CLIENT, {"name": "agent"}),
        (CLIENT, {"version": 1}),
    ],
)
def test_a_client_that_does_not_describe_itself_is_refused(key: str, value: Any) -> None:
    """Who it is, is optional; what it can do, is not."""
    message = {**CALL, "params": {**CALL["params"], "_meta": {**META, key: value}}}
    assert _fault(message, headers(message)).code is Code.INVALID_PARAMS
    anonymous = {**CALL, "params": {**CALL["params"], "_meta": {k: v for k, v in META.items() if k != CLIENT}}}
    assert _read(anonymous, headers(anonymous)) is not None


LEAVES = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
VERSIONS = st.sampled_from([STATELESS, *HANDSHAKES, "2099-01-01", ""])
METHODS = st.sampled_from(["tools/call", "tools/list", "server/discover", "ping", "resources/read", ""])
METAS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={REVISION: VERSIONS | LEAVES, CAPABILITIES: st.just({}) | LEAVES, CLIENT: LEAVES}
)
PARAMS = st.fixed_dictionaries(
    {}, optional={"_meta": METAS | LEAVES, "name": st.sampled_from(["a", "b"]) | LEAVES, "uri": LEAVES}
)
BODIES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers(0, 9), "method": METHODS}, optional={"params": PARAMS}
)
GIVEN = st.fixed_dictionaries(
    {"mcp-protocol-version": st.sampled_from([STATELESS, "2099-01-01"])},
    optional={"mcp-method": METHODS, "mcp-name": st.sampled_from(["a", "b", "=?base64?YQ==?="])},
)


@settings(max_examples=100, deadline=None)
@given(body=BODIES, given_headers=GIVEN)
def test_a_stateless_request_is_refused_where_the_official_server_refuses_it(
    body: dict[str, Any], given_headers: dict[str, str]
) -> None:
    """With the same code; beyond that, only a client that does not describe itself."""
    official = classify_inbound_request(body, headers=given_headers)
    try:
        asked = _read(body, given_headers)
    except ProtocolFault as fault:
        if isinstance(official, InboundLadderRejection):
            assert fault.code == official.code
        else:
            assert fault.code is Code.INVALID_PARAMS
            assert "describe" in fault.message
    else:
        assert asked is not None
        assert not isinstance(official, InboundLadderRejection)


@settings(max_examples=100, deadline=None)
@given(
    body=JSON | BODIES,
    given_headers=st.dictionaries(
        st.sampled_from(["mcp-protocol-version", "mcp-method"]), st.text(max_size=12) | VERSIONS
    ),
)
def test_whatever_comes_is_a_message_or_a_fault_of_the_protocol(body: Any, given_headers: dict[str, str]) -> None:
    """And its words are ours."""
    try:
        _read(parsed(orjson.dumps(body)), given_headers)
    except ProtocolFault as fault:
        assert 400 <= fault.status < 500


@settings(max_examples=50, deadline=None)
@given(raw=st.binary(max_size=60))
def test_whatever_bytes_come_are_json_or_a_parse_error(raw: bytes) -> None:
    try:
        parsed(raw)
    except ProtocolFault as fault:
        assert fault.code in (Code.PARSE_ERROR, Code.INVALID_REQUEST)
