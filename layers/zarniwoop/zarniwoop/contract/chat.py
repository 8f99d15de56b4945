"""What a model is asked and what it answers, whatever wire format it speaks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal


class ModelRole(StrEnum):
    """PRIMARY thinks (plan, refine, report); HARVEST reads much and cheaply (evaluate), and defaults to PRIMARY."""

    PRIMARY = "primary"
    HARVEST = "harvest"


class FinishReason(StrEnum):
    """Why a model stopped. OTHER is also what an endpoint that says nothing (null, "") comes to."""

    STOP = "stop"
    LENGTH = "length"
    REFUSED = "refused"
    TOOL = "tool"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question to a model. `max_tokens` bounds all it may write, its reasoning included.

    With a `schema` (JSON Schema) the answer shall be one JSON object of that shape; `schema_name` is what formats that
    want a name call it.
    """

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """What was used. `output_tokens` includes `reasoning_tokens`; `cost` follows the prices in the settings."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float = 0.0
    calls: int = 0

    def plus(self, other: "ModelUsage") -> "ModelUsage":
        return ModelUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=self.cost + other.cost,
            calls=self.calls + other.calls,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """What a model said. `text` is what it says to the reader; `reasoning` never gets into it."""

    text: str
    reasoning: str | None
    finish: FinishReason
    usage: ModelUsage
    model: str
