"""OpenAI's chat completions, and the many servers that speak them: Ollama, llama.cpp, vLLM, OpenRouter, MiniMax, …

Wire format: JSON, one POST. https://platform.openai.com/docs/api-reference/chat/create
Quirks: reasoning comes in `reasoning_content`, `reasoning`, `reasoning_details`, in parts of a `content` that is a list
or inline as `<think>…</think>`. A finished answer may have `finish_reason` null or "". Errors also come with status
200, and as a stream that nobody asked for. Groq puts what a model wrote against the schema into a 400; llama.cpp's
servers say with a 500 which `response_format` they do not know, and take a schema in the one that they do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from zarniwoop.contract.chat import ChatAnswer, ChatRequest, FinishReason, ModelUsage
from zarniwoop.contract.failure import Cause, ProviderError, ProviderUnavailable, QueryRejected, QuotaExhausted
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.llm.format import ChatFormat
from zarniwoop.llm.schema import is_closed
from zarniwoop.llm.wording import MAX_COMPLETION_TOKENS, MAX_TOKENS, Objection, Wording, messages_of, objection_in
from zarniwoop.settings.models import ModelSettings, Structured
from zarniwoop.text.retry_after import stated_wait
from zarniwoop.wire.reading import read_json
from zarniwoop.wire.status import failure_of

_FINISHES = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSED,
    "refusal": FinishReason.REFUSED,
    "tool_calls": FinishReason.TOOL,
    "function_call": FinishReason.TOOL,
}
_NAMES = {
    Objection.LIMIT_NAME: (MAX_COMPLETION_TOKENS, MAX_TOKENS),
    Objection.STRUCTURED: ("response_format", "json_schema", "json_object", "structured output", "guided", "grammar"),
    Objection.TEMPERATURE: ("temperature",),
    Objection.SYSTEM_ROLE: ("system role", "'system'", "role: system", "developer instruction"),
}
_USED_UP = ("insufficient_quota", "billing_not_active", "billing_hard_limit_reached")
_LOOKED_AT = 4096


def request(chat: ChatRequest, settings: ModelSettings, wording: Wording, base_url: str) -> HttpRequest:
    in_words = wording.structured is not Structured.JSON_SCHEMA
    messages = messages_of(chat, wording, schema_in_words=in_words)
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        wording.limit_name: chat.max_tokens,
    }
    if chat.temperature is not None and wording.temperature:
        body["temperature"] = chat.temperature
    if chat.schema is not None and wording.structured is not Structured.PROMPT:
        body["response_format"] = _response_format(chat, wording)
    return HttpRequest(url=f"{base_url}/chat/completions", method="POST", json=body)


def _response_format(chat: ChatRequest, wording: Wording) -> dict[str, Any]:
    if wording.structured is Structured.JSON_OBJECT:
        return {"type": "json_object", **({"schema": chat.schema} if wording.schema_in_json_mode else {})}
    schema = {"name": chat.schema_name, "schema": chat.schema, "strict": is_closed(chat.schema)}
    return {"type": "json_schema", "json_schema": schema}


def read(answer: HttpAnswer, _chat: ChatRequest) -> ChatAnswer:
    body = read_json(answer)
    written = _failed_generation(body)
    if written is not None:
        return ChatAnswer(text=written, reasoning=None, finish=FinishReason.OTHER, usage=ModelUsage(), model="")
    choice = body["choices"][0]
    message = choice["message"]
    text, inline = _split(message.get("content"))
    refused = message.get("refusal")
    return ChatAnswer(
        text=text,
        reasoning=_reasoning(message) or inline or None,
        finish=FinishReason.REFUSED if refused else _finish(choice, message),
        usage=_usage(body.get("usage") or {}),
        model=str(body.get("model") or ""),
    )


def _finish(choice: Mapping[str, Any], message: Mapping[str, Any]) -> FinishReason:
    said = choice.get("finish_reason")
    if not said:
        return FinishReason.TOOL if message.get("tool_calls") else FinishReason.OTHER
    return _FINISHES.get(said, FinishReason.OTHER)


def _split(content: Any) -> tuple[str, str]:
    """What the model says and what it thought, out of a text, a list of parts, or nothing."""
    if isinstance(content, str):
        return _split_inline(content)
    parts = content or ()
    text, inline = _split_inline("".join(part["text"] for part in parts if part["type"] == "text"))
    thought = "".join(_texts(part["thinking"]) for part in parts if part["type"] == "thinking")
    return text, thought or inline


def _split_inline(content: str) -> tuple[str, str]:
    """A thought that does not end took all the room; one that does not begin was begun by the server's template."""
    start = content.lstrip()
    if start.startswith("<think>"):
        thought, _, said = start.removeprefix("<think>").partition("</think>")
        return said.strip(), thought.strip()
    thought, end, said = content.partition("</think>")
    return (said.strip(), thought.strip()) if end and "<think>" not in thought else (content, "")


def _texts(value: Any) -> str:
    return value if isinstance(value, str) else "".join(part["text"] for part in value)


def _reasoning(message: Mapping[str, Any]) -> str:
    own = message.get("reasoning_content") or message.get("reasoning")
    if own:
        return str(own)
    details: Iterable[Mapping[str, Any]] = message.get("reasoning_details") or ()
    return "".join(detail.get("text") or detail.get("summary") or "" for detail in details)


def _usage(usage: Mapping[str, Any]) -> ModelUsage:
    """xAI counts reasoning beside the completion, all others in it: the total tells."""
    asked, written = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    details = usage.get("completion_tokens_details") or {}
    return ModelUsage(
        input_tokens=asked,
        output_tokens=max(written, int(usage.get("total_tokens") or 0) - asked),
        reasoning_tokens=int(details.get("reasoning_tokens") or 0),
        calls=1,
    )


def failure(answer: HttpAnswer, now: float) -> ProviderError | None:
    body = _body(answer)
    error = _error(body)
    code = error.get("code") if error else None
    if error is None or _failed_generation(body) is not None:
        return failure_of(answer, now) if error is None else None
    if code in _USED_UP or error.get("type") in _USED_UP:
        wait = stated_wait(answer.headers, now)
        return QuotaExhausted("the plan of this key is used up", status=answer.status, retry_after=wait)
    if code == "model_not_found" or answer.status == 404:
        return QueryRejected("the endpoint has no such model", cause=Cause.STATUS, status=answer.status)
    if code == "context_length_exceeded":
        return QueryRejected("the question is longer than the model reads", cause=Cause.STATUS, status=answer.status)
    if answer.status >= 300:
        return failure_of(answer, now)
    meant = failure_of(replace(answer, status=_status(code)), now)
    return meant or ProviderUnavailable("the endpoint reports an error in its answer", cause=Cause.STATUS)


def _status(code: Any) -> int:
    """The status that an error inside an answer of status 200 stands for; 200 where it does not say."""
    if code == "rate_limit_exceeded":
        return 429
    number = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdecimal()) else 0
    return number if 400 <= number < 600 else 200


def objection(answer: HttpAnswer) -> Objection | None:
    if answer.status not in (400, 422, 500):
        return None
    error = _error(_body(answer)) or {}
    parameter = str(error.get("param") or "")
    if parameter.startswith("response_format"):
        return Objection.STRUCTURED
    if parameter.endswith(".role") and error.get("code") == "unsupported_value":
        return Objection.SYSTEM_ROLE
    return objection_in(answer.body[:_LOOKED_AT].decode("utf-8", "replace"), _NAMES)


def _body(answer: HttpAnswer) -> Any:
    """The body as JSON, or of an unwanted stream the event that tells of an error; None for anything else."""
    body = answer.body.lstrip()
    if body[:1] == b"{":
        return orjson.loads(body)
    events = [line.removeprefix(b"data:").strip() for line in body.splitlines() if line.startswith(b"data:")]
    return next((orjson.loads(event) for event in events if b'"error"' in event), None)


def _error(body: Any) -> Mapping[str, Any] | None:
    """The error object of a body, or of its first choice."""
    if not isinstance(body, Mapping):
        return None
    choices = body.get("choices") or [{}]
    found = body.get("error") or choices[0].get("error")
    if isinstance(found, str):
        return {"message": found}
    return found if isinstance(found, Mapping) else None


def _failed_generation(body: Any) -> str | None:
    """What the model wrote when the server found it to be against the schema or the tools."""
    error = _error(body) or {}
    written = error.get("failed_generation")
    return written if isinstance(written, str) else None


FORMAT = ChatFormat(
    protocol_id="openai",
    display_name="OpenAI-compatible",
    documentation="https://platform.openai.com/docs/api-reference/chat/create",
    default_base_url="https://api.openai.com/v1",
    authentication=HeaderKey(name="Authorization", prefix="Bearer "),
    key_variable="OPENAI_API_KEY",
    request=request,
    read=read,
    failure=failure,
    objection=objection,
)
