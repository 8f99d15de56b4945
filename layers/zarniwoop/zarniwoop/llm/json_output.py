"""One JSON object out of what a model wrote, and out of that a checked value; or the reasons why not.

A parser reads it, from the first brace that opens an object: fences, prose before it and text after it do no harm, a
line break inside of a text is a space, and a half of an answer is never taken for the whole.
"""

import re
from dataclasses import replace
from json import JSONDecodeError, JSONDecoder
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from zarniwoop.contract.chat import ChatAnswer, ChatMessage, ChatRequest, FinishReason
from zarniwoop.contract.failure import InvalidModelOutput

Model = TypeVar("Model", bound=BaseModel)

_OPENING = re.compile(r'\{\s*"')
_EMPTY = re.compile(r"\{\s*\}")
_CONTROLS = re.compile(r"[\x00-\x1f]")
_DECODER = JSONDecoder(strict=False)
_MOST_FAULTS = 10
_LONGEST_FAULT = 300
_NOT_JSON = "it is not one complete JSON object"


class Unusable(InvalidModelOutput):
    """`written` is what the model wrote and `faults` what is wrong with it: for the model's eyes, and no log's."""

    def __init__(self, faults: list[str], answer: ChatAnswer) -> None:
        super().__init__("the model's answer does not have the form that was asked for")
        self.faults = faults
        self.written = answer.text
        self.cut_short = answer.finish is FinishReason.LENGTH


def checked(answer: ChatAnswer, into: type[Model]) -> Model:
    """The answer as a value. Raises Unusable."""
    try:
        found = read_object(answer.text)
    except ValueError:
        raise Unusable([_NOT_JSON], answer) from None
    try:
        return into.model_validate(found)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=False)
    raise Unusable([_fault(each) for each in faults[:_MOST_FAULTS]], answer)


def read_object(text: str) -> dict[str, Any]:
    """The first JSON object in a text. Raises ValueError when there is none, or none that is whole."""
    opening = _OPENING.search(text) or _EMPTY.search(text)
    if opening is None:
        raise ValueError("no object opens")
    try:
        _, end = _DECODER.raw_decode(text, opening.start())
        found: dict[str, Any] = orjson.loads(
            _CONTROLS.sub(" ", text[opening.start() : end])
        )  # no NaN, no lone surrogates
    except (JSONDecodeError, RecursionError) as error:
        raise ValueError("no object ends") from error
    return found


def repair_of(chat: ChatRequest, unusable: Unusable) -> ChatRequest:
    """The same question with the model's answer and what is wrong with it. What was cut short is not repeated."""
    listed = "\n".join(f"- {fault}" for fault in unusable.faults)
    complaint = ChatMessage(
        role="user",
        content=(
            f"That answer cannot be used:\n{listed}\n\n"
            "Answer the same request again, with one complete JSON object of the form that was asked for and nothing"
            " else."
        ),
    )
    written = ChatMessage(role="assistant", content="(cut short)" if unusable.cut_short else unusable.written)
    return replace(chat, messages=(*chat.messages, written, complaint))


def _fault(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"]) or "the object"
    return f"{place}: {error['msg']}"[:_LONGEST_FAULT]
