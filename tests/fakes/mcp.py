"""Messages of MCP as a client of each revision sends them, and functions of tools that answer as told."""

import io
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from tests.fakes.functions import sample

STATELESS = "2026-07-28"
HANDSHAKES = ("2025-11-25", "2025-06-18")
CLIENT = {"name": "sample-agent", "version": "1.0"}
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
ENVELOPE: dict[str, Any] = {"ok": True, "data": {"hits": []}, "error": None, "evidence": []}


def request(method: str, params: Mapping[str, Any] | None = None, revision: str = STATELESS) -> dict[str, Any]:
    """The JSON-RPC request, with what the revision puts into `_meta`."""
    told = dict(params or {})
    if revision == STATELESS:
        told["_meta"] = META
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": told}


def headers(message: Any, revision: str | None = STATELESS) -> dict[str, str]:
    """What a client sends along, by lower-case names."""
    stated = {} if revision is None else {"mcp-protocol-version": revision}
    if revision != STATELESS or not isinstance(message, Mapping):
        return stated
    params = message.get("params")
    name = params.get("name") if isinstance(params, Mapping) else None
    return {**stated, "mcp-method": str(message.get("method")), **({"mcp-name": name} if isinstance(name, str) else {})}


def sent(
    message: Any,
    revision: str | None = STATELESS,
    extra: Mapping[str, str] | None = None,
    identity: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The event of a POST of this message: JSON of it, or the text as it is."""
    event: dict[str, Any] = sample("mcp")
    event["body"] = message if isinstance(message, str) else orjson.dumps(message).decode()
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    event["headers"] = {**given, **headers(message, revision), **(extra or {})}
    event["multiValueHeaders"] = {name: [value] for name, value in event["headers"].items()}
    event["requestContext"]["authorizer"] |= identity or {}
    return event


class FakeToolFunctions:
    """`stores.functions.ToolFunctions`: answers as told and remembers what it was asked."""

    def __init__(self, answer: Any = ENVELOPE) -> None:
        self.answer = answer
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.allowances: list[float] = []

    def ask(self, tool: str, message: bytes, *, allowance: float, most_bytes: int) -> bytes:
        self.asked.append((tool, orjson.loads(message)))
        self.allowances.append(allowance)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer if isinstance(self.answer, bytes) else orjson.dumps(self.answer)


class FakeLambdaClient:
    """boto3's client of Lambda over functions in this process; `answers` stand in for those of some functions."""

    def __init__(self, call: Callable[[str, Any], Any]) -> None:
        self._call = call
        self.answers: dict[str, Any] = {}
        self.waited: list[float] = []
        self.asked: list[dict[str, Any]] = []

    def __call__(self, seconds: float) -> "FakeLambdaClient":
        self.waited.append(seconds)
        return self

    def invoke(self, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        name = asked["FunctionName"]
        answer = self.answers[name] if name in self.answers else self._call(name, orjson.loads(asked["Payload"]))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Mapping) and "Payload" in answer:
            return {"StatusCode": 200, **answer}
        return {"StatusCode": 200, "Payload": io.BytesIO(_as_lambda_writes(answer))}


def _as_lambda_writes(answer: Any) -> bytes:
    """Its runtime writes ASCII, with blanks."""
    import json

    return json.dumps(answer).encode()
