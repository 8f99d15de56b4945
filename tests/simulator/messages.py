"""What goes in and out: one HTTP request as it was read, one answer before it is written."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl


@dataclass(frozen=True, kw_only=True)
class Request:
    """`target` is the raw request target, `path` its decoded path; header names are in lower case."""

    method: str
    target: str
    path: str
    query_string: str
    headers: Mapping[str, str]
    body: bytes = b""

    @cached_property
    def query(self) -> dict[str, str]:
        """The query parameters; of a repeated one the last counts, an empty one is kept."""
        return dict(parse_qsl(self.query_string, keep_blank_values=True))

    @cached_property
    def parameters(self) -> dict[str, str]:
        """The query parameters and those of a form in the body."""
        if not self.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            return self.query
        return {**self.query, **dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))}

    def json(self) -> Any:
        """The body as JSON. Raises ValueError."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer; `Date`, `Content-Length` and `Content-Type` are written by the connection."""

    status: int = 200
    body: bytes = b""
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def json_answer(
    value: Any,
    *,
    status: int = 200,
    media_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Answer:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Answer(status=status, body=body, media_type=media_type, headers=headers or {})


def text_answer(text: str, *, status: int = 200, media_type: str = "text/plain; charset=utf-8") -> Answer:
    return Answer(status=status, body=text.encode(), media_type=media_type)


def natural(text: str | None, default: int, *, least: int = 0, most: int = 10_000) -> int:
    """A count out of a parameter, clamped; `default` when it is absent or no number."""
    if text is None or not text.lstrip("-").isdecimal():
        return default
    return max(least, min(most, int(text)))
