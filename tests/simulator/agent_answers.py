"""What the scripted model says to an agent: it asks a search tool once, then tells the first thing that this found.

In two vendors' formats, each with what their SDKs read: Anthropic's Messages
(https://docs.claude.com/en/api/messages) and OpenAI's Responses (https://platform.openai.com/docs/api-reference/responses).
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.simulator.model_answers import PROSE

Body = Mapping[str, Any]

_SEARCH = "research_search"
_FOUND = re.compile(r'title\\*":\s*\\*"(?P<title>[^"\\]+).*?url\\*":\s*\\*"(?P<url>[^"\\]+)', re.DOTALL)
"""In an envelope, or in one that was put into a string."""


def messages(body: Body) -> Body:
    """A turn of Anthropic's."""
    offered = [tool["name"] for tool in body.get("tools", ())]
    said = body["messages"]
    told = [part["content"] for part in _parts(said[-1]["content"]) if part.get("type") == "tool_result"]
    call = _call(offered, _text(said[0]["content"])) if not told else None
    content: dict[str, Any] = {"type": "text", "text": _conclusion(told)}
    if call:
        content = {"type": "tool_use", "id": "toolu_scripted", "name": call[0], "input": call[1]}
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [content],
        "stop_reason": "tool_use" if call else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }


def responses(body: Body) -> Body:
    """A turn of OpenAI's."""
    offered = [tool["name"] for tool in body.get("tools", ()) if tool["type"] == "function"]
    given = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    told = [item["output"] for item in given if item.get("type") == "function_call_output"]
    call = _call(offered, _text(given[0]["content"])) if not told else None
    text = {"type": "output_text", "text": _conclusion(told), "annotations": []}
    item: dict[str, Any] = {"type": "message", "id": "msg_scripted", "role": "assistant", "content": [text]}
    if call:
        item = {"type": "function_call", "id": "fc_scripted", "call_id": "call_scripted", "name": call[0]}
        item |= {"arguments": json.dumps(call[1])}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "resp_scripted",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": body["model"],
        "output": [item | {"status": "completed"}],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20, **details},
    }


AGENT_PATHS: Mapping[str, Callable[[Body], Body]] = {"/v1/messages": messages, "/v1/responses": responses}


def _call(offered: Iterable[str], question: str) -> tuple[str, Body] | None:
    """The last two words of the question, looked up; None where no tool searches."""
    query = " ".join(re.findall(r"\w+", question)[-2:])
    named = next((name for name in offered if name.endswith(_SEARCH)), None)
    return (named, {"query": query, "modality": "ENCYCLOPEDIA", "max_results": 2}) if named else None


def _conclusion(told: Iterable[Any]) -> str:
    found = _FOUND.search(" ".join(_text(each) for each in told))
    return f"The search found “{found['title']}” at {found['url']}." if found else PROSE


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _text(content: Any) -> str:
    return " ".join(str(part.get("text", "")) for part in _parts(content))
