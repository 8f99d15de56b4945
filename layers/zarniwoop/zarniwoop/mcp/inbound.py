"""One message as it came over HTTP: what it asks, in which revision, and whether its headers say the same.

The order in which a request of 2026-07-28 is refused is that of the official server, so that clients which negotiate by
trying see what they expect.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from zarniwoop.mcp.faults import ProtocolFault, RequestId, unsupported
from zarniwoop.mcp.revisions import (
    HANDSHAKES,
    META_CAPABILITIES,
    META_CLIENT,
    META_REVISION,
    METHOD_HEADER,
    NAME_HEADER,
    REVISION_HEADER,
    ROUTING_HEADERS,
    STATELESS,
    Code,
)
from zarniwoop.text.as_json import is_deeper

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that `Mcp-Name` repeats."""
_OLDER = frozenset(("2024-11-05", "2025-03-26"))
MOST_DEPTH = 32
_BASE64 = re.compile(r"=\?base64\?(.*)\?=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Headers:
    """Of the request, by their names in lower case; `repeated` are those that came more than once."""

    values: Mapping[str, str]
    repeated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that is one. `revision` is None where a client of the handshake did not say it again."""

    id: RequestId
    method: str
    params: Mapping[str, Any]
    revision: str | None

    @property
    def is_stateless(self) -> bool:
        return self.revision == STATELESS


def parsed(raw: bytes) -> Any:
    """The JSON of a body, of bounded depth. Raises ProtocolFault."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise ProtocolFault(Code.PARSE_ERROR, "The body is not JSON") from None
    if is_deeper(body, MOST_DEPTH):
        raise ProtocolFault(Code.INVALID_REQUEST, f"The body nests deeper than {MOST_DEPTH} levels")
    return body


def read(body: Any, headers: Headers) -> Asked | None:
    """The request; None for a message that wants no answer. Raises ProtocolFault."""
    stateless = _is_stateless(body, headers)
    if not isinstance(body, dict) or body.get("jsonrpc") != "2.0" or not _has_params(body):
        raise _no_message(body)
    if "id" not in body or (not stateless and _is_response(body)):
        _check_unanswered(body, headers)
        return None
    if not (_is_id(body["id"]) and isinstance(body.get("method"), str)):
        raise _no_message(body)
    if stateless:
        return _of_stateless(body, headers)
    _check_handshake(headers, body["id"])
    params = body.get("params")
    revision = headers.values.get(REVISION_HEADER)
    return Asked(id=body["id"], method=body["method"], params=params or {}, revision=revision)


def _is_stateless(body: Any, headers: Headers) -> bool:
    """By its header. Who forgot it and says its revision in `_meta` is told so, and not taken for an old client."""
    stated = headers.values.get(REVISION_HEADER)
    if stated is not None and stated not in HANDSHAKES and stated not in _OLDER:
        return True
    return META_REVISION in _meta(body)


def _meta(body: Any) -> Mapping[str, Any]:
    params = body.get("params") if isinstance(body, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _has_params(body: Mapping[str, Any]) -> bool:
    """MCP's are an object, where there are any; JSON-RPC alone would take a list as well."""
    return isinstance(body.get("params"), dict | None)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _is_response(body: Mapping[str, Any]) -> bool:
    """To a question of the server's, which asks none: taken, and dropped."""
    return "method" not in body and ("result" in body) != ("error" in body)


def _no_message(body: Any) -> ProtocolFault:
    request_id = body.get("id") if isinstance(body, dict) else None
    return ProtocolFault(
        Code.INVALID_REQUEST,
        "The body must be one JSON-RPC 2.0 request or notification; there are no batches",
        request_id=request_id if _is_id(request_id) else None,
    )


def _check_unanswered(body: Mapping[str, Any], headers: Headers) -> None:
    """A notification, whatever it says: a call ends by its own deadline, and no call is known to another."""
    if "id" not in body and not isinstance(body.get("method"), str):
        raise _no_message(body)
    stated = headers.values.get(REVISION_HEADER)
    if stated is not None and stated != STATELESS and stated not in HANDSHAKES:
        raise unsupported(stated)


def _check_handshake(headers: Headers, request_id: RequestId) -> None:
    stated = headers.values.get(REVISION_HEADER)
    if stated in _OLDER:
        raise unsupported(str(stated), request_id)


def _of_stateless(body: Mapping[str, Any], headers: Headers) -> Asked:
    request_id, params, meta = body["id"], body.get("params") or {}, _meta(body)
    repeated = sorted(headers.repeated & ROUTING_HEADERS)
    if repeated:
        raise ProtocolFault(Code.HEADER_MISMATCH, f"The header {repeated[0]} came twice", request_id=request_id)
    missing = [key for key in (META_REVISION, META_CAPABILITIES) if key not in meta]
    if missing:
        raise ProtocolFault(
            Code.INVALID_PARAMS, f"params._meta must have {' and '.join(missing)}", request_id=request_id
        )
    wrong = _other_than(body, headers, meta[META_REVISION])
    if wrong:
        raise ProtocolFault(
            Code.HEADER_MISMATCH, f"The header {wrong} does not say what the body says", request_id=request_id
        )
    if meta[META_REVISION] != STATELESS:
        raise unsupported(meta[META_REVISION], request_id)
    _check_client(meta, request_id)
    return Asked(id=request_id, method=body["method"], params=params, revision=STATELESS)


def _other_than(body: Mapping[str, Any], headers: Headers, revision: Any) -> str | None:
    """The first of the headers that contradicts the body, or is not there."""
    stated = headers.values.get(REVISION_HEADER)
    if stated is None or stated != revision:
        return REVISION_HEADER
    if headers.values.get(METHOD_HEADER) != body["method"]:
        return METHOD_HEADER
    named = body["params"].get(_NAMED_BY.get(body["method"], ""))
    if named is not None and _decoded(headers.values.get(NAME_HEADER)) != named:
        return NAME_HEADER
    return None


def _decoded(header: str | None) -> str | None:
    """What does not fit into a header comes as `=?base64?…?=`. A broken one is nothing, so it is never the body's."""
    found = _BASE64.fullmatch(header or "")
    if found is None:
        return header
    try:
        decoded = base64.b64decode(found.group(1), validate=True)
        return decoded.decode() if base64.b64encode(decoded).decode() == found.group(1) else None
    except (binascii.Error, ValueError):
        return None


def _check_client(meta: Mapping[str, Any], request_id: RequestId) -> None:
    """Who asks is self-reported and believed in nothing; but it must have its form."""
    client = meta.get(META_CLIENT)
    if not isinstance(meta[META_CAPABILITIES], dict) or not (client is None or is_implementation(client)):
        raise ProtocolFault(Code.INVALID_PARAMS, "params._meta does not describe a client", request_id=request_id)


def is_implementation(value: Any) -> bool:
    """The name and the version of a piece of software."""
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("name", "version"))
