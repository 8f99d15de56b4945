"""Anthropic's messages: the questions that are put, how answers are read, and what refusals mean."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from tests.contract.test_mutation import choices, mutated, quick
from tests.fakes.clock import FakeClock
from tests.fakes.keys import FakeKeyRing
from tests.fakes.models import QUESTION, settings_of
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.contract.chat import ChatAnswer, ChatRequest, FinishReason, ModelRole, ModelUsage
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, Secret
from zarniwoop.llm.anthropic import FORMAT
from zarniwoop.llm.http_model import HttpModel
from zarniwoop.llm.wording import Refused, Wording
from zarniwoop.settings.models import Structured

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 3}},
    "required": ["n"],
    "additionalProperties": False,
}
UNBOUNDED = {
    "type": "object",
    "properties": {"n": {"type": "array", "items": {"type": "integer"}}},
    "required": ["n"],
    "additionalProperties": False,
}
THINKING = {"type": "thinking", "thinking": "Four, or five.", "signature": "c2ln"}
USAGE = {"input_tokens": 12, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 40}


def _message(*content: object, stop_reason: str | None = "end_turn") -> HttpAnswer:
    return answer(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5",
            "content": list(content),
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": USAGE,
        }
    )


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _error(status: int, kind: str, message: str = "no") -> HttpAnswer:
    return answer({"type": "error", "error": {"type": kind, "message": message}, "request_id": "r1"}, status=status)


def _ask(
    told: HttpAnswer, *, chat: ChatRequest = QUESTION, wording: Wording | None = None
) -> tuple[ChatAnswer | Refused, ScriptedTransport]:
    transport = ScriptedTransport(told)
    settings = settings_of(primary={"protocol": "anthropic", "model": "claude-sonnet-5", "apiKey": "yes"})
    model = HttpModel(
        FORMAT,
        settings.by_role[ModelRole.PRIMARY],
        transport=transport,
        keys=FakeKeyRing(**{"/primary/apiKey": "a-key-0123456789"}),
        clock=FakeClock(),
    )
    return model.ask(chat, wording or Wording(), Deadline.after(60.0, FakeClock())), transport


def _read(told: HttpAnswer, **more: Any) -> ChatAnswer:
    got = _ask(told, **more)[0]
    assert isinstance(got, ChatAnswer)
    return got


def _body(chat: ChatRequest, wording: Wording | None = None) -> Any:
    return _ask(_message(_text("Five.")), chat=chat, wording=wording)[1].sent[0].request.json


def test_a_question_is_put_with_version_key_and_limit() -> None:
    """The system's part stands apart from the conversation."""
    _, transport = _ask(_message(_text("Five.")), chat=replace(QUESTION, temperature=0.0))
    (sent,) = transport.sent
    assert sent.request.url == "https://api.anthropic.com/v1/messages"
    assert sent.request.headers == {"anthropic-version": "2023-06-01"}
    assert (sent.authentication, sent.secret) == (HeaderKey(name="x-api-key"), Secret("a-key-0123456789"))
    assert sent.request.json == {
        "model": "claude-sonnet-5",
        "max_tokens": 400,
        "system": "You count bells.",
        "messages": [{"role": "user", "content": "How many bells has a cathedral?"}],
        "temperature": 0.0,
    }


def test_a_schema_goes_along_without_the_bounds_that_are_refused() -> None:
    """Bounds are checked afterwards, here."""
    body = _body(replace(QUESTION, schema=SCHEMA))
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": UNBOUNDED}}


def test_a_schema_with_free_keys_is_told_in_words() -> None:
    """It would be refused, and then be remembered as a model that takes no schema at all."""
    body = _body(replace(QUESTION, schema={"type": "object", "additionalProperties": {"type": "number"}}))
    assert "output_config" not in body
    assert "JSON Schema" in body["system"]


def test_json_without_a_schema_is_a_tool_that_must_be_called() -> None:
    """And its input is the text of the answer."""
    chat = replace(QUESTION, schema=SCHEMA, schema_name="count")
    body = _body(chat, Wording(structured=Structured.JSON_OBJECT))
    assert body["tools"] == [{"name": "count", "input_schema": UNBOUNDED}]
    assert body["tool_choice"] == {"type": "tool", "name": "count"}
    called = {"type": "tool_use", "id": "t1", "name": "count", "input": {"n": [5]}}
    got = _read(_message(_text("Let me count."), called, stop_reason="tool_use"), chat=chat)
    assert (got.text, got.finish) == ('{"n":[5]}', FinishReason.TOOL)


def test_in_the_plainest_wording_everything_is_said_in_words() -> None:
    """No schema, no tool, no temperature, no system."""
    wording = Wording(structured=Structured.PROMPT, temperature=False, system_role=False)
    body = _body(replace(QUESTION, schema=SCHEMA, temperature=0.5), wording)
    assert set(body) == {"model", "max_tokens", "messages"}
    (message,) = body["messages"]
    assert message["content"].startswith("You count bells.\n\nAnswer with one JSON object")


def test_an_answer_is_read_by_value() -> None:
    """Reasoning apart, hidden reasoning left out, tokens out of the cache counted in."""
    hidden = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    got = _read(_message(THINKING, hidden, _text("Five "), _text("bells.")))
    assert (got.text, got.reasoning, got.model) == ("Five bells.", "Four, or five.", "claude-sonnet-5")
    assert got.usage == ModelUsage(input_tokens=20, output_tokens=40, calls=1)


@pytest.mark.parametrize(
    ("stop_reason", "finish"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("refusal", FinishReason.REFUSED),
        ("tool_use", FinishReason.TOOL),
        ("pause_turn", FinishReason.OTHER),
        (None, FinishReason.OTHER),
    ],
)
def test_why_it_ended_is_told(stop_reason: str | None, finish: FinishReason) -> None:
    """An unknown reason is none of ours."""
    assert _read(_message(THINKING, stop_reason=stop_reason)).finish is finish


@pytest.mark.parametrize(
    ("told", "failure"),
    [
        (_error(401, "authentication_error"), CredentialsRejected),
        (_error(403, "permission_error"), AccessRefused),
        (_error(404, "not_found_error"), QueryRejected),
        (_error(413, "request_too_large"), QueryRejected),
        (_error(429, "rate_limit_error"), RateLimited),
        (_error(500, "api_error"), ProviderUnavailable),
        (_error(529, "overloaded_error"), ProviderUnavailable),
        (_error(402, "billing_error"), QuotaExhausted),
        (_error(400, "invalid_request_error", "Your credit balance is too low"), QuotaExhausted),
        (_error(400, "invalid_request_error", "max_tokens: 900000 > 64000"), QueryRejected),
        (answer("<html>", status=502), ProviderUnavailable),
        (answer({"content": "text"}), MalformedAnswer),
        (answer("{"), MalformedAnswer),
    ],
)
def test_a_refusal_has_its_consequence(told: HttpAnswer, failure: type[ProviderError]) -> None:
    """By type and status."""
    with pytest.raises(failure):
        _ask(told)


@pytest.mark.parametrize(
    ("message", "objection"),
    [
        ("output_config.format: Extra inputs are not permitted", "structured"),
        ("tool_choice: forced tool use is not supported by this model", "structured"),
        ("`temperature` is deprecated for this model", "temperature"),
    ],
)
def test_refused_parts_of_a_request_are_objections(message: str, objection: str) -> None:
    """Each is left out of the next wording."""
    got, _ = _ask(_error(400, "invalid_request_error", message))
    assert isinstance(got, Refused)
    assert got.objection == objection


@quick
@given(chosen=choices)
def test_an_answer_broken_anywhere_gives_an_answer_or_a_typed_failure(chosen: list[Any]) -> None:
    """Whatever a proxy gets wrong."""
    called = {"type": "tool_use", "id": "t1", "name": "answer", "input": {"n": [5]}}
    for told in (_message(THINKING, _text("Five."), called), _error(400, "invalid_request_error")):
        try:
            _ask(replace(told, body=mutated(told.body, chosen)))
        except ProviderError:
            continue
