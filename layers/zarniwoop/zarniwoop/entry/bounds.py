"""`bounds`: how much of an answer an invocation can take, and for how long it can wait.

Whoever asks a tool for somebody else says so beside scope and arguments, as `{"bytes": 62500, "tokens": 25000,
"seconds": 20}`. A bound only ever takes away. Tokens are estimated from above (`text.tokens`).
"""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import CallerError
from zarniwoop.entry.answers import MAX_ANSWER_BYTES, Shorten, Weigh, encode
from zarniwoop.text.tokens import most_tokens
from zarniwoop.tools.arguments import Amount, Count, parse_arguments

LEAST_BYTES = 10_000
LEAST_TOKENS = 4_000


class Bounds(BaseModel):
    """Of an invocation's answer."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    bytes: Count = Field(default=MAX_ANSWER_BYTES, ge=LEAST_BYTES, le=MAX_ANSWER_BYTES)
    tokens: Count | None = Field(default=None, ge=LEAST_TOKENS, le=MAX_ANSWER_BYTES)
    seconds: Amount = Field(default=60.0, gt=0, le=60)


def weight(bounds: Bounds) -> Weigh:
    """What an answer weighs in bytes: more than it has where its tokens are the heavier of the two."""

    def weigh(encoded: bytes) -> int:
        size = len(encoded)
        if bounds.tokens is None or size <= bounds.tokens:  # a token has a byte at least
            return size
        return max(size, ceil(most_tokens(encoded.decode()) * bounds.bytes / bounds.tokens))

    return weigh


def bounds_of(message: Mapping[str, Any]) -> Bounds:
    """Raises InvalidArgument."""
    given = message.get("bounds", {}) if isinstance(message, Mapping) else {}
    return parse_arguments(Bounds, given if isinstance(given, Mapping) else {"bounds": given})


def bounded(result: ToolResult, bounds: Bounds, shorten: Shorten | None) -> dict[str, Any]:
    """The envelope as JSON within its bounds: shortened without losing anything, else refused whole."""
    envelope: dict[str, Any] = orjson.loads(encode(result, bounds.bytes, weight(bounds), shorten))
    if result.data is None or envelope["data"] is not None:
        return envelope
    refused: dict[str, Any] = orjson.loads(encode(replace(result, ok=False, data=None, error=oversized().problem())))
    return refused


def oversized() -> CallerError:
    """To whoever cannot take an answer that is there."""
    return CallerError(
        "there is an answer, and it is too large to be handed out in one piece",
        slug="answer-too-large",
        title="The answer is larger than can be carried",
        status=422,
        suggested_action="ask for less: a smaller max_chars, fewer results, or one thing at a time",
    )
