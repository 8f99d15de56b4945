"""What a model's endpoint can do wrong, each as an answer in the OpenAI format."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_HANGING_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`body` is anything that JSON can say, or bytes as they are."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


Request = Mapping[str, Any]
Fault = Callable[[Request, str, threading.Event], Answer]
"""The request, what would have been said, and a sign that the server is stopping; the faulty answer."""


def completion(request: Request, content: str | None, *, finish: str | None = "stop", **message: Any) -> Answer:
    """A sound answer, with tokens counted at four characters each."""
    asked = sum(len(str(each.get("content"))) for each in request.get("messages", ())) // 4
    written = (len(content or "") + len(str(message.get("reasoning_content", "")))) // 4 + 1
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}
    body = {"id": "chatcmpl-scripted", "object": "chat.completion", "model": request.get("model"), "choices": [choice]}
    return Answer(body={**body, "usage": usage})


def _error(status: int, message: str, **more: Any) -> Answer:
    headers = {"Retry-After": "1"} if status == 429 else {}
    return Answer(status=status, body={"error": {"message": message, **more}}, headers=headers)


def _hang(request: Request, content: str, stopping: threading.Event) -> Answer:
    stopping.wait(_HANGING_SECONDS)
    return completion(request, content)


def _reasoning_only(request: Request, _content: str, _stopping: threading.Event) -> Answer:
    limit = int(request.get("max_tokens") or request.get("max_completion_tokens") or 0)
    answer = completion(request, "", finish="length", reasoning_content="Let me think about it …")
    details = {"reasoning_tokens": limit}
    usage = {"prompt_tokens": 10, "completion_tokens": limit, "total_tokens": limit + 10}
    return Answer(body={**answer.body, "usage": {**usage, "completion_tokens_details": details}})


def _unsupported(part: str, parameter: str) -> Fault:
    """Refuses one part of a request and answers those that come without it."""

    def fault(request: Request, content: str, _stopping: threading.Event) -> Answer:
        has_system = any(message["role"] == "system" for message in request["messages"])
        if part in request or (part == "system" and has_system):
            message = f"Unsupported parameter: '{parameter}' is not supported with this model."
            return _error(400, message, type="invalid_request_error", param=parameter, code="unsupported_value")
        return completion(request, content)

    return fault


FAULTS: Mapping[str, Fault] = {
    "401": lambda _request, _content, _stopping: _error(401, "Incorrect API key provided", code="invalid_api_key"),
    "429": lambda _request, _content, _stopping: _error(429, "Rate limit reached", code="rate_limit_exceeded"),
    "500": lambda _request, _content, _stopping: _error(500, "The server had an error", code=None),
    "error_in_200": lambda _request, _content, _stopping: _error(200, "Provider returned error", code=502),
    "hang": _hang,
    "html": lambda _request, _content, _stopping: Answer(body=b"<html><body>Bad gateway</body></html>"),
    "empty": lambda request, _content, _stopping: completion(request, ""),
    "truncated": lambda request, content, _stopping: completion(request, content[: len(content) // 2], finish="length"),
    "wrong_schema": lambda request, _content, _stopping: completion(request, '{"unexpected": true}'),
    "prose": lambda request, content, _stopping: completion(
        request, f"Sure! Here it is:\n```json\n{content}\n```\nBye."
    ),
    "no_json": lambda request, _content, _stopping: completion(request, "I would rather talk about something else."),
    "refusal": lambda request, _content, _stopping: completion(request, None, refusal="I cannot help with that."),
    "reasoning_only": _reasoning_only,
    "inline_think": lambda request, content, _stopping: completion(request, f"<think>Hm {{}}.</think>\n{content}"),
    "no_max_tokens": _unsupported("max_tokens", "max_tokens"),
    "no_schema": _unsupported("response_format", "response_format"),
    "no_system": _unsupported("system", "messages[0].role"),
}
