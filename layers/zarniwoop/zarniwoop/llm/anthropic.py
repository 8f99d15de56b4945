"""Anthropic's messages.

Wire format: JSON, one POST. https://docs.anthropic.com/en/api/messages
Quirks: the system's part stands beside the messages. Input tokens out of the cache are counted apart. Bounds in a
schema are refused; newer models also refuse a temperature and a forced tool, which older ones need for JSON.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from zarniwoop.contract.chat import ChatAnswer, ChatRequest, FinishReason, ModelUsage
from zarniwoop.contract.failure import Cause, ProviderError, QueryRejected, QuotaExhausted
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.llm.format import ChatFormat
from zarniwoop.llm.schema import without_bounds
from zarniwoop.llm.wording import Objection, Wording, messages_of, objection_in, split_system, way_for_closed_schemas
from zarniwoop.settings.models import ModelSettings, Structured
from zarniwoop.wire.reading import read_json
from zarniwoop.wire.status import failure_of

_VERSION = "2023-06-01"
_FINISHES = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.REFUSED,
    "tool_use": FinishReason.TOOL,
}
_NAMES = {
    Objection.STRUCTURED: ("output_config", "output_format", "tool_choice", "structured output", "schema"),
    Objection.TEMPERATURE: ("temperature",),
}
_INPUT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_LOOKED_AT = 4096


def request(chat: ChatRequest, settings: ModelSettings, wording: Wording, base_url: str) -> HttpRequest:
    structured = way_for_closed_schemas(chat, wording)
    messages = messages_of(chat, wording, schema_in_words=structured is Structured.PROMPT)
    system, conversation = split_system(messages)
    body: dict[str, Any] = {
        "model": settings.model,
        "max_tokens": chat.max_tokens,
        "messages": [{"role": message.role, "content": message.content} for message in conversation],
    }
    if system:
        body["system"] = system
    if chat.temperature is not None and wording.temperature:
        body["temperature"] = chat.temperature
    if chat.schema is not None:
        body.update(_structured(chat, chat.schema, structured))
    headers = {"anthropic-version": _VERSION}
    return HttpRequest(url=f"{base_url}/v1/messages", method="POST", json=body, headers=headers)


def _structured(chat: ChatRequest, schema: Mapping[str, Any], structured: Structured) -> dict[str, Any]:
    """There is no JSON mode without a schema: a tool that must be called stands for it."""
    if structured is Structured.JSON_SCHEMA:
        return {"output_config": {"format": {"type": "json_schema", "schema": without_bounds(schema)}}}
    if structured is Structured.JSON_OBJECT:
        tool = {"name": chat.schema_name, "input_schema": without_bounds(schema)}
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": chat.schema_name}}
    return {}


def read(answer: HttpAnswer, chat: ChatRequest) -> ChatAnswer:
    body = read_json(answer)
    blocks: list[Mapping[str, Any]] = body["content"]
    called = [block["input"] for block in blocks if block["type"] == "tool_use" and block["name"] == chat.schema_name]
    said = _joined(blocks, "text")
    return ChatAnswer(
        text=orjson.dumps(called[-1]).decode() if called else said,
        reasoning=_joined(blocks, "thinking") or None,
        finish=_FINISHES.get(body.get("stop_reason") or "", FinishReason.OTHER),
        usage=_usage(body["usage"]),
        model=str(body.get("model") or ""),
    )


def _joined(blocks: Iterable[Mapping[str, Any]], kind: str) -> str:
    return "".join(block[kind] for block in blocks if block["type"] == kind)


def _usage(usage: Mapping[str, Any]) -> ModelUsage:
    asked = sum(int(usage.get(name) or 0) for name in _INPUT_COUNTS)
    return ModelUsage(input_tokens=asked, output_tokens=int(usage.get("output_tokens") or 0), calls=1)


def failure(answer: HttpAnswer, now: float) -> ProviderError | None:
    if answer.status < 300:
        return failure_of(answer, now)
    error = orjson.loads(answer.body)["error"]
    if error["type"] == "billing_error" or "credit balance" in error["message"]:
        return QuotaExhausted("the plan of this key is used up", cause=Cause.STATUS, status=answer.status)
    if error["type"] == "not_found_error":
        return QueryRejected("the endpoint has no such model", cause=Cause.STATUS, status=answer.status)
    return failure_of(answer, now)


def objection(answer: HttpAnswer) -> Objection | None:
    if answer.status != 400:
        return None
    return objection_in(answer.body[:_LOOKED_AT].decode("utf-8", "replace"), _NAMES)


FORMAT = ChatFormat(
    protocol_id="anthropic",
    display_name="Anthropic",
    documentation="https://docs.anthropic.com/en/api/messages",
    default_base_url="https://api.anthropic.com",
    authentication=HeaderKey(name="x-api-key"),
    key_variable="ANTHROPIC_API_KEY",
    request=request,
    read=read,
    failure=failure,
    objection=objection,
)
