"""OpenAI-compatible chat completions: recorded answers by value, the questions that are put, what refusals mean."""

from dataclasses import dataclass, replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.payloads import payload, recorded
from tests.contract.readings import Long, without_expectation
from tests.contract.test_mutation import choices, mutated, quick
from tests.fakes.clock import FakeClock
from tests.fakes.keys import FakeKeyRing
from tests.fakes.models import OPENAI, QUESTION, completion, refusal, settings_of
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.contract.chat import ChatAnswer, ChatRequest, FinishReason, ModelRole, ModelUsage
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, Secret
from zarniwoop.llm.http_model import HttpModel
from zarniwoop.llm.openai_compatible import FORMAT
from zarniwoop.llm.wording import Objection, Refused, Wording
from zarniwoop.settings.models import Structured

PROVIDER = "openai_compat"
CLOSED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
OPEN = {"type": "object", "additionalProperties": {"type": "number"}}


@dataclass(frozen=True)
class Reading:
    """What a recording says; `tokens` are those put in, written, and of these the ones of reasoning where told."""

    text: str | Long | None
    reasoning: str | Long | None
    finish: FinishReason
    tokens: tuple[int, int, int]
    model: str


READINGS = {
    "alibaba_reasoning.json": Reading(
        Long('The word **"strawberry"** co', "nswer: 3** 🍓", 950),
        Long("We are asked: \"How many 'r's", "l answer: 3.", 4213),
        FinishReason.STOP,
        (24, 1668, 1353),
        "qwen3-max",
    ),
    "azure_deepseek_reasoning.json": Reading(
        Long("Absolutely! Based on the mos", "it fly. 🏙️🧡💙", 4097),
        Long("We need to invent a new holi", "ntertaining.", 3389),
        FinishReason.STOP,
        (19, 1969, 0),
        "deepseek-v4-pro",
    ),
    "azure_o4mini_length_empty_content.json": Reading(
        "",
        None,
        FinishReason.LENGTH,
        (10766, 3072, 3072),
        "o4-mini-2025-04-16",
    ),
    "bedrock_mantle_chat.json": Reading(
        "SAFE",
        Long('The user says: "Reply with e', "d with SAFE.", 195),
        FinishReason.STOP,
        (72, 56, 0),
        "openai.gpt-oss-safeguard-20b",
    ),
    "crusoe_all_keys_null.json": Reading(
        "2 + 2 = 4.",
        Long("1.  **Analyze the Input:** T", '"2 + 2 = 4."', 327),
        FinishReason.STOP,
        (20, 118, 108),
        "zai/GLM-5.2",
    ),
    "crusoe_native_json.json": Reading(
        '{ "city": "Paris", "country": "France" }',
        Long("1.  **Identify the core enti", "Seine River.", 844),
        FinishReason.STOP,
        (20, 233, 217),
        "zai/GLM-5.2",
    ),
    "deepseek_finish_length.json": Reading(
        Long("## **Holiday Name: Gratitude", "ple exchange", 1375),
        None,
        FinishReason.LENGTH,
        (13, 300, 0),
        "deepseek-chat",
    ),
    "deepseek_json_object.json": Reading(
        Long('{\n  "location": "San Francis', 'rature": 7\n}', 78),
        Long("I have the result from the w", "JSON object.", 558),
        FinishReason.STOP,
        (495, 144, 118),
        "deepseek-reasoner",
    ),
    "deepseek_reasoner_reasoning_content.json": Reading(
        Long("XAI (Explainable Artificial ", "c-117972cb).", 1531),
        Long('First, the question is: "Wha', " sufficient.", 5738),
        FinishReason.STOP,
        (1592, 1467, 1170),
        "deepseek-reasoner",
    ),
    "deepseek_reasoning_tool_calls.json": Reading(
        "Let me load the dice rolling capability!",
        Long("The user wants to play a dic", "ility first.", 233),
        FinishReason.TOOL,
        (563, 116, 60),
        "deepseek-v4-flash",
    ),
    "deepseek_tool_call.json": Reading(
        "",
        Long("The user is asking for the w", "er function.", 242),
        FinishReason.TOOL,
        (339, 92, 48),
        "deepseek-reasoner",
    ),
    "groq_400_tool_use_failed.json": Reading(
        '{"name": "get_something_by_name", "arguments": {\n  "foo": "bar"\n}}',
        None,
        FinishReason.OTHER,
        (0, 0, 0),
        "",
    ),
    "groq_400_tool_use_failed_text.json": Reading(
        "maybe",
        None,
        FinishReason.OTHER,
        (0, 0, 0),
        "",
    ),
    "groq_qwen3_inline_think.json": Reading(
        "4",
        Long("Okay, let's see... The user ", "explanation.", 700),
        FinishReason.STOP,
        (21, 173, 0),
        "qwen/qwen3-32b",
    ),
    "groq_reasoning_field.json": Reading(
        "4",
        Long('The user asks: "What is 2+2?', "l answer: 4.", 376),
        FinishReason.STOP,
        (84, 105, 95),
        "openai/gpt-oss-120b",
    ),
    "huggingface_finish_length.json": Reading(
        "",
        Long('Hmm, the user just said "hel', " Acknowledge", 442),
        FinishReason.LENGTH,
        (4, 100, 0),
        "deepseek-ai/DeepSeek-R1",
    ),
    "mistral_content_is_list.json": Reading(
        "4",
        Long("The user is asking for the r", 'nd with "4".', 121),
        FinishReason.STOP,
        (28, 35, 0),
        "mistral-small-latest",
    ),
    "moonshot_reasoning.json": Reading(
        "There are three.",
        "Let me count the letters carefully.",
        FinishReason.STOP,
        (20, 30, 22),
        "kimi-k2.6",
    ),
    "ollama_cloud_tool.json": Reading(
        "",
        Long("The conversation: user asked", "t's do that.", 763),
        FinishReason.TOOL,
        (206, 194, 0),
        "gpt-oss:20b",
    ),
    "ollama_local_json_schema.json": Reading(
        '{ "city": "Paris", "country": "France" }',
        Long("Okay, the user is asking for", "r is Paris.\n", 508),
        FinishReason.STOP,
        (136, 15, 0),
        "qwen3:0.6b",
    ),
    "openai_chat_plain.json": Reading(
        '{\n  "summary": "",\n  "relevance_score": 0\n}',
        None,
        FinishReason.STOP,
        (1654, 16, 0),
        "gpt-4o-2024-11-20",
    ),
    "openai_finish_length.json": Reading(
        "**Title: The Last Ember of Eldoria**\n\n",
        None,
        FinishReason.LENGTH,
        (16, 10, 0),
        "gpt-4o-mini-2024-07-18",
    ),
    "openai_o1mini_length_empty_content.json": Reading(
        "",
        None,
        FinishReason.LENGTH,
        (13506, 4000, 4000),
        "o1-mini-2024-09-12",
    ),
    "openai_text_fixture.json": Reading(
        Long("**Holiday Name:** Galaxy Day", "d our world.", 1842),
        None,
        FinishReason.STOP,
        (16, 363, 0),
        "gpt-4.1-nano-2025-04-14",
    ),
    "openai_tool_call_roundtrip.json": Reading(
        "",
        None,
        FinishReason.TOOL,
        (48, 14, 0),
        "gpt-4o-2024-08-06",
    ),
    "openrouter_finish_reason_null.json": Reading(
        Long("The capital of France is **P", "enturies. 🇫🇷", 219),
        None,
        FinishReason.OTHER,
        (10, 261, 0),
        "deepseek/deepseek-r1",
    ),
    "openrouter_reasoning_details.json": Reading(
        Long("I am Claude, an AI assistant", " assist you?", 691),
        Long("This question is asking me a", " boundaries.", 1180),
        FinishReason.STOP,
        (43, 402, 0),
        "anthropic/claude-3.7-sonnet:thinking",
    ),
    "openrouter_reasoning_leading_whitespace.json": Reading(
        Long("Explainable Artificial Intel", "c-b74e9efc).", 1415),
        Long("Alright, let's tackle this q", "ne clarity.\n", 1551),
        FinishReason.STOP,
        (1608, 662, 346),
        "deepseek/deepseek-r1",
    ),
    "openrouter_web_annotations.json": Reading(
        "https://github.com/pydantic/pydantic-ai",
        None,
        FinishReason.STOP,
        (2315, 40, 0),
        "deepseek/deepseek-chat",
    ),
    "perplexity_citations.json": Reading(
        Long("The most recent estimates fo", "beyond 2024.", 952),
        None,
        FinishReason.STOP,
        (10, 251, 0),
        "sonar",
    ),
    "qwen_tool_calls_reasoning.json": Reading(
        "",
        None,
        FinishReason.TOOL,
        (280, 40, 0),
        "qwen/qwen3-30b-a3b-instruct-2507",
    ),
    "snowflake_reasoning_details.json": Reading(
        "Sure! Let me check that for you!",
        "Let me get the weather for Mexico City.",
        FinishReason.TOOL,
        (597, 81, 0),
        "claude-sonnet-4-6",
    ),
    "snowflake_tool_call_finish_empty.json": Reading(
        "",
        None,
        FinishReason.TOOL,
        (568, 55, 0),
        "claude-sonnet-4-6",
    ),
    "xai_text.json": Reading(
        "Grok",
        Long('First, the user said: "Say a', "ill be: Grok", 1367),
        FinishReason.STOP,
        (12, 322, 320),
        "grok-3-mini",
    ),
}

FAILURES: dict[str, tuple[int, type[ProviderError], Objection | None]] = {
    "groq_404_model.json": (404, QueryRejected, None),
    "openai_400_max_tokens_legacy.json": (400, QueryRejected, Objection.LIMIT_NAME),
    "openai_400_missing_param.json": (400, QueryRejected, None),
    "openai_400_stop_unsupported.json": (400, QueryRejected, None),
    "openai_404_model.json": (404, QueryRejected, None),
    "openrouter_401.json": (401, CredentialsRejected, None),
    "openrouter_429.json": (429, RateLimited, None),
    "openrouter_stream_error_mid.txt": (200, QueryRejected, None),
}


def _model(*answers: HttpAnswer | ProviderError, key: str | None = None) -> tuple[HttpModel, ScriptedTransport]:
    transport = ScriptedTransport(*answers)
    settings = settings_of(primary=OPENAI).by_role[ModelRole.PRIMARY]
    keys = FakeKeyRing(**({"saved": key} if key else {}))
    settings = replace(settings, credential_key="saved" if key else None)
    return HttpModel(FORMAT, settings, transport=transport, keys=keys, clock=FakeClock()), transport


def _ask(
    *answers: HttpAnswer | ProviderError, chat: ChatRequest = QUESTION, wording: Wording | None = None
) -> ChatAnswer | Refused:
    return _model(*answers)[0].ask(chat, wording or Wording(), Deadline.after(60.0, FakeClock()))


def _answered(*answers: HttpAnswer) -> ChatAnswer:
    got = _ask(*answers)
    assert isinstance(got, ChatAnswer)
    return got


def _body(chat: ChatRequest = QUESTION, wording: Wording | None = None) -> Any:
    model, transport = _model(completion("Five."))
    model.ask(chat, wording or Wording(), Deadline.after(60.0, FakeClock()))
    return transport.sent[0].request.json


def _status(name: str) -> int:
    return 400 if "_400_" in name else 200


@pytest.mark.parametrize("name", READINGS)
def test_a_recorded_answer_is_read_by_value(name: str) -> None:
    """Text, reasoning out of its own field, why it ended, what it used, and who answered."""
    got = _answered(answer(payload(PROVIDER, name), status=_status(name)))
    usage = (got.usage.input_tokens, got.usage.output_tokens, got.usage.reasoning_tokens)
    assert Reading(Long.of(got.text), Long.of(got.reasoning), got.finish, usage, got.model) == READINGS[name]


@pytest.mark.parametrize("name", FAILURES)
def test_a_recorded_refusal_has_its_consequence(name: str) -> None:
    """And is told apart from an objection to how the question was worded."""
    status, failure, objection = FAILURES[name]
    body = answer(payload(PROVIDER, name), status=status)
    if objection is not None:
        got = _ask(body)
        assert isinstance(got, Refused)
        assert (got.objection, type(got.failure)) == (objection, failure)
        return
    with pytest.raises(failure) as raised:
        _ask(body)
    assert raised.value.message not in payload(PROVIDER, name).decode()


def test_of_every_recording_something_is_expected() -> None:
    """A recording that is added has to be read here too, and one that goes is no longer expected."""
    assert without_expectation(PROVIDER, READINGS, FAILURES) == []


@pytest.mark.parametrize("name", recorded(PROVIDER))
@quick
@given(chosen=choices)
def test_a_recording_broken_anywhere_gives_an_answer_or_a_typed_failure(name: str, chosen: list[Any]) -> None:
    """Whatever a server gets wrong."""
    body = mutated(payload(PROVIDER, name), chosen)
    for status in (200, _status(name)):
        try:
            got = _ask(answer(body, status=status))
        except ProviderError:
            continue
        assert isinstance(got, Refused) or (isinstance(got.text, str) and got.usage.output_tokens >= 0)


@quick
@given(body=st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_a_body_that_is_no_answer_is_malformed(body: bytes) -> None:
    """HTML, half of a JSON, nothing at all."""
    with pytest.raises(ProviderError):
        _ask(answer(body))


def test_a_question_is_put_with_its_limit_and_its_key() -> None:
    """The limit really is sent; the key goes where OpenAI reads it."""
    model, transport = _model(completion("Five."), key="a-key-0123456789")
    model.ask(replace(QUESTION, temperature=0.2), Wording(), Deadline.after(60.0, FakeClock()))
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("POST", "https://models.test/v1/chat/completions")
    assert sent.authentication == HeaderKey(name="Authorization", prefix="Bearer ")
    assert sent.secret == Secret("a-key-0123456789")
    assert sent.request.json == {
        "model": "thinker-1",
        "messages": [
            {"role": "system", "content": "You count bells."},
            {"role": "user", "content": "How many bells has a cathedral?"},
        ],
        "max_tokens": 400,
        "temperature": 0.2,
    }


def test_a_schema_goes_along_as_such_and_strict_when_it_is_closed() -> None:
    """One with free keys cannot be enforced to the letter, and OpenAI refuses it as strict."""
    closed = _body(replace(QUESTION, schema=CLOSED, schema_name="count"))["response_format"]
    assert closed == {"type": "json_schema", "json_schema": {"name": "count", "schema": CLOSED, "strict": True}}
    opened = _body(replace(QUESTION, schema=OPEN))["response_format"]
    assert opened["json_schema"]["strict"] is False


@pytest.mark.parametrize(
    ("wording", "response_format"),
    [
        (Wording(structured=Structured.JSON_OBJECT), {"type": "json_object", "schema": CLOSED}),
        (Wording(structured=Structured.JSON_OBJECT, schema_in_json_mode=False), {"type": "json_object"}),
        (Wording(structured=Structured.PROMPT), None),
    ],
)
def test_where_no_schema_may_be_taken_it_is_told_in_words(wording: Wording, response_format: object) -> None:
    """JSON mode wants the word JSON in the messages anyway."""
    body = _body(replace(QUESTION, schema=CLOSED), wording)
    assert body.get("response_format") == response_format
    system = body["messages"][0]["content"]
    assert system.startswith("You count bells.\n\nAnswer with one JSON object")
    assert orjson.loads(system.rpartition("\n")[2]) == CLOSED


def test_a_wording_leaves_out_what_the_endpoint_refused() -> None:
    """No system role, the other name of the limit, no temperature."""
    wording = Wording(system_role=False, limit_name="max_completion_tokens", temperature=False)
    body = _body(replace(QUESTION, temperature=0.2), wording)
    assert body == {
        "model": "thinker-1",
        "messages": [{"role": "user", "content": "You count bells.\n\nHow many bells has a cathedral?"}],
        "max_completion_tokens": 400,
    }


@pytest.mark.parametrize(
    ("told", "objection"),
    [
        (refusal(400, "This response_format type is unavailable now", code="invalid_request_error"), "structured"),
        (refusal(400, "Invalid schema for response_format 'plan'", param="response_format"), "structured"),
        (refusal(400, "Unsupported value: 'temperature' does not support 0.2", param="temperature"), "temperature"),
        (refusal(400, "x", param="messages[0].role", code="unsupported_value"), "system_role"),
        (refusal(500, "response_format type must be one of 'text', but got: json_schema"), "structured"),
        (refusal(500, "{'loc': ('response_format', 'type'), 'msg': \"Input should be 'text'\"}"), "structured"),
        (answer({"error": "'response_format.type' must be 'json_schema'"}, status=400), "structured"),
        (refusal(500, "System role not supported"), "system_role"),
        (refusal(400, "'max_completion_tokens' is not supported"), "limit_name"),
        (answer({"detail": [{"loc": ["response_format"], "msg": "input not permitted"}]}, status=422), "structured"),
    ],
)  # fmt: skip
def test_refused_parts_of_a_request_are_objections(told: HttpAnswer, objection: str) -> None:
    """Said by parameter and code, or only in words, as servers other than OpenAI's do."""
    got = _ask(told)
    assert isinstance(got, Refused)
    assert got.objection == objection


@pytest.mark.parametrize(
    ("told", "failure"),
    [
        (refusal(400, "max_tokens is too large: 100000", param="max_tokens", code="invalid_value"), QueryRejected),
        (refusal(400, "too long", code="context_length_exceeded"), QueryRejected),
        (refusal(429, "You exceeded your current quota", code="insufficient_quota"), QuotaExhausted),
        (refusal(200, "slow down", code=429), RateLimited),
        (refusal(200, "slow down", code="rate_limit_exceeded"), RateLimited),
        (refusal(200, "who are you", code="401"), CredentialsRejected),
        (refusal(200, "broken", code=None), ProviderUnavailable),
        (refusal(200, "broken", code="server_error"), ProviderUnavailable),
        (answer({"error": "loading model"}), ProviderUnavailable),
        (answer({"error": "loading model"}, status=503), ProviderUnavailable),
        (answer({"choices": [{"error": {"code": 502, "message": "upstream"}}]}), ProviderUnavailable),
        (answer({"choices": []}), MalformedAnswer),
        (answer({"choices": [{"message": {"content": 5}}]}), MalformedAnswer),
        (answer("data: {not json, but an \"error\"}\n"), MalformedAnswer),
    ],
)  # fmt: skip
def test_an_error_is_read_wherever_it_stands(told: HttpAnswer, failure: type[ProviderError]) -> None:
    """In a 200 too, and with a code that is a number, a string or nothing."""
    with pytest.raises(failure):
        _ask(told)


def test_a_refusal_of_the_model_is_no_text() -> None:
    """In its own field, or as the reason why it ended."""
    assert _answered(completion(None, refusal="I cannot help with that.")).finish is FinishReason.REFUSED
    assert _answered(completion("", finish="content_filter")).finish is FinishReason.REFUSED


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("<think>one, two</think>\nFive.", "Five.", "one, two"),
        ("one, two</think>Five.", "Five.", "one, two"),
        ("<think>one, two, thr", "", "one, two, thr"),
        ("Write <think> before and </think> after.", "Write <think> before and </think> after.", None),
        ([{"type": "thinking", "thinking": "one, two"}, {"type": "text", "text": "Five."}], "Five.", "one, two"),
        ([{"type": "text", "text": "<think>one</think>Five."}], "Five.", "one"),
        (None, "", None),
    ],
)
def test_reasoning_is_parted_from_the_text(content: object, text: str, reasoning: str | None) -> None:
    """A thought that never ends leaves no text; tags within a sentence are the sentence's own."""
    got = _answered(completion(content))
    assert (got.text, got.reasoning) == (text, reasoning)


def test_reasoning_details_may_be_summaries_or_secret() -> None:
    """What is encrypted has no text and is left out."""
    details = [{"type": "reasoning.summary", "summary": "counted"}, {"type": "reasoning.encrypted", "data": "…"}]
    assert _answered(completion("Five.", reasoning_details=details)).reasoning == "counted"


def test_an_answer_without_usage_costs_nothing_that_is_known() -> None:
    """Local servers leave it out."""
    assert _answered(answer({"choices": [{"message": {"content": "Five."}}]})).usage == ModelUsage(calls=1)
