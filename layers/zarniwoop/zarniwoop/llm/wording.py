"""How an endpoint wants to be asked, found out by asking.

Servers that call their API compatible differ in what they refuse: a reasoning model wants `max_completion_tokens`,
another server knows no `response_format`, a third no system role or no temperature. So one request is worded in the
strictest way first, reworded as the endpoint objects, and the wording that it took is remembered for this environment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import orjson

from zarniwoop.contract.chat import ChatAnswer, ChatMessage, ChatRequest
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ProviderError
from zarniwoop.llm.schema import is_closed
from zarniwoop.settings.models import ModelSettings, Structured
from zarniwoop.stores.recent import Recent

MAX_TOKENS = "max_tokens"
MAX_COMPLETION_TOKENS = "max_completion_tokens"

_WAYS_DOWN = (Structured.JSON_SCHEMA, Structured.JSON_OBJECT, Structured.PROMPT)
_REFUSING = (
    *("not support", "n't support", "unsupported", "unavailable", "not available", "not permitted", "not allowed"),
    *("unrecognized", "unknown parameter", "unexpected", "deprecated", "not enabled", "invalid schema", "use 'max_"),
)
_REFUSING_A_VALUE = ("must be", "input should be", "invalid value")
"""Of a JSON mode these refuse the mode itself: there is nothing else to be said about it."""
_IN_WORDS = "Answer with one JSON object and nothing else. It must satisfy this JSON Schema:\n"


class Objection(StrEnum):
    """What of a request an endpoint will not have."""

    LIMIT_NAME = "limit_name"
    STRUCTURED = "structured"
    SYSTEM_ROLE = "system_role"
    TEMPERATURE = "temperature"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An answer that objects to the wording; `failure` is what it means when there is no other wording."""

    objection: Objection
    failure: ProviderError


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """`fixed` keeps `structured` as the settings say, whatever the endpoint thinks of it.

    Some servers take a schema in their JSON mode and only there; others refuse it there (`schema_in_json_mode`).
    """

    structured: Structured = Structured.JSON_SCHEMA
    fixed: bool = False
    schema_in_json_mode: bool = True
    limit_name: str = MAX_TOKENS
    system_role: bool = True
    temperature: bool = True

    def without(self, objection: Objection, chat: ChatRequest) -> "Wording | None":
        """The next wording to try, or None when the objection is not to anything that this request has."""
        if objection is Objection.LIMIT_NAME:
            other = MAX_TOKENS if self.limit_name == MAX_COMPLETION_TOKENS else MAX_COMPLETION_TOKENS
            return replace(self, limit_name=other)
        if objection is Objection.STRUCTURED:
            return self._less_structured() if chat.schema is not None else None
        if objection is Objection.SYSTEM_ROLE:
            has_system = self.system_role and any(message.role == "system" for message in chat.messages)
            return replace(self, system_role=False) if has_system else None
        sends_one = self.temperature and chat.temperature is not None
        return replace(self, temperature=False) if sends_one else None

    def _less_structured(self) -> "Wording | None":
        if self.structured is Structured.JSON_OBJECT and self.schema_in_json_mode:
            return replace(self, schema_in_json_mode=False)
        if self.fixed or self.structured is _WAYS_DOWN[-1]:
            return None
        return replace(self, structured=_WAYS_DOWN[_WAYS_DOWN.index(self.structured) + 1])


class ModelEndpoint(Protocol):
    """One model at one endpoint. Raises ProviderError."""

    def ask(self, chat: ChatRequest, wording: Wording, deadline: Deadline) -> ChatAnswer | Refused: ...


class Wordings:
    """The wordings that endpoints have taken so far."""

    def __init__(self) -> None:
        self._taken: Recent[tuple[str | None, ...], Wording] = Recent()

    def ask(
        self, endpoint: ModelEndpoint, settings: ModelSettings, chat: ChatRequest, deadline: Deadline
    ) -> ChatAnswer:
        """Ask, reworded as often as the endpoint has a new objection. Raises ProviderError."""
        wording = self.of(settings)
        tried: set[Wording] = set()
        while True:
            tried.add(wording)
            answer = endpoint.ask(chat, wording, deadline)
            if isinstance(answer, ChatAnswer):
                return answer
            reworded = wording.without(answer.objection, chat)
            if reworded is None or reworded in tried:
                raise answer.failure
            wording = reworded
            self._taken.put(_identity(settings), wording)

    def of(self, settings: ModelSettings) -> Wording:
        taken = self._taken.get(_identity(settings))
        if taken is not None:
            return taken
        if settings.structured is Structured.AUTO:
            return Wording()
        return Wording(structured=settings.structured, fixed=True)


def objection_in(text: str, names: Mapping[Objection, tuple[str, ...]]) -> Objection | None:
    """What an error text objects to, by the names that each part of a request has in this format; None for nothing.

    That a value is wrong ("max_tokens is too large") is no objection to having it.
    """
    text = text.lower()
    refused = any(word in text for word in _REFUSING)
    for objection, words in names.items():
        refuses_it = refused or (objection is Objection.STRUCTURED and any(word in text for word in _REFUSING_A_VALUE))
        if refuses_it and any(word in text for word in words):
            return objection
    return None


def messages_of(chat: ChatRequest, wording: Wording, *, schema_in_words: bool) -> tuple[ChatMessage, ...]:
    """The messages as this wording has them: the schema told in words, the system's part told by the user."""
    messages = chat.messages
    if schema_in_words and chat.schema is not None:
        messages = _with_system(messages, _IN_WORDS + orjson.dumps(dict(chat.schema)).decode())
    return messages if wording.system_role else _folded(messages)


def way_for_closed_schemas(chat: ChatRequest, wording: Wording) -> Structured:
    """As the wording says, but a schema with free keys is told in words where only closed ones are taken."""
    if wording.structured is Structured.JSON_SCHEMA and not is_closed(chat.schema):
        return Structured.PROMPT
    return wording.structured


def split_system(messages: tuple[ChatMessage, ...]) -> tuple[str, list[ChatMessage]]:
    """The system's part as one text, and the conversation."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    return system, [message for message in messages if message.role != "system"]


def _with_system(messages: tuple[ChatMessage, ...], more: str) -> tuple[ChatMessage, ...]:
    system, others = split_system(messages)
    return (ChatMessage(role="system", content=f"{system}\n\n{more}".lstrip()), *others)


def _folded(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    system, others = split_system(messages)
    if not system:
        return messages
    if not others or others[0].role != "user":
        return (ChatMessage(role="user", content=system), *others)
    return (ChatMessage(role="user", content=f"{system}\n\n{others[0].content}"), *others[1:])


def _identity(settings: ModelSettings) -> tuple[str | None, ...]:
    return (settings.protocol, settings.base_url, settings.region, settings.model, settings.structured)
