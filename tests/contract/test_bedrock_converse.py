"""Amazon Bedrock's Converse, through boto3's own parser: recorded answers by value, the questions, the refusals."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

import boto3
import orjson
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)
from botocore.stub import Stubber
from hypothesis import given, settings

from tests.contract.payloads import payload
from tests.contract.readings import Long, without_expectation
from tests.contract.test_mutation import choices, mutated, quick
from tests.fakes.clock import FakeClock
from tests.fakes.models import QUESTION, settings_of
from zarniwoop.contract.chat import ChatAnswer, ChatRequest, FinishReason, ModelRole
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.llm.bedrock import BedrockModel
from zarniwoop.llm.wording import Refused, Wording
from zarniwoop.settings.models import Structured
from zarniwoop.stores.clients import KeptClients, bedrock_runtime_client

PROVIDER = "bedrock_converse"
MODEL = "amazon.nova-micro-v1:0"
CLOSED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@dataclass(frozen=True)
class Reading:
    """What a recording says; `tokens` are those put in and written."""

    text: str | Long | None
    reasoning: str | Long | None
    finish: FinishReason
    tokens: tuple[int, int]


READINGS: dict[str, Reading] = {
    "gpt_oss_reasoning.json": Reading(
        "ok", 'User wants reply with the single word: ok. So just "ok".', FinishReason.STOP, (74, 26)
    ),
    "native_output_json.json": Reading(
        Long('{\n\n\n  "city": "Paris",\n  "co', '": 2110000\n}', 71),
        Long("I need to answer the user's ", "user to read", 1260),
        FinishReason.STOP,
        (40, 302),
    ),
    "text_max_tokens.json": Reading("The capital of France is", None, FinishReason.LENGTH, (13, 5)),
    "thinking_deepseek_text_first.json": Reading(
        Long("\n\nCrossing the street safely", "nvenience! 🚸", 1787),
        Long("Okay, the user is asking how", "ep by step.\n", 1245),
        FinishReason.STOP,
        (12, 693),
    ),
    "thinking_end_turn_no_text.json": Reading(
        "", Long("\nOkay, the user wants me to ", "ghtforward.\n", 227), FinishReason.STOP, (15, 55)
    ),
    "thinking_redacted.json": Reading(
        Long("I notice you've sent what ap", " guidelines.", 388), None, FinishReason.STOP, (92, 176)
    ),
    "tool_use_with_thinking.json": Reading(
        Long("I'll need to check what coun", "at question.", 68),
        Long("The user is asking for the l", "hat country.", 306),
        FinishReason.TOOL,
        (397, 130),
    ),
    "vercel_json_tool.json": Reading(
        Long('{"elements":[{"location":"Sa', '":"snowy"}]}', 138), None, FinishReason.TOOL, (15, 42)
    ),
    "vercel_json_with_tools.json": Reading('{"final":"result"}', None, FinishReason.TOOL, (28, 62)),
    "vercel_reasoning.json": Reading(
        'There are **3** r\'s in "strawberry":\n\n1. st**r**awbe**r****r**y',
        Long("Let me count the r's in \"str", "e are 3 r's.", 76),
        FinishReason.STOP,
        (51, 78),
    ),
    "vercel_text.json": Reading(
        Long('Let me count the "r"s in "st', 'strawberry."', 110), None, FinishReason.STOP, (22, 57)
    ),
    "vercel_tool_call.json": Reading("", None, FinishReason.TOOL, (10, 20)),
    "vercel_tool_no_args.json": Reading("I'll update the issue list for you.", None, FinishReason.TOOL, (100, 25)),
}

FAILURES = {"error_400_invalid_model.json"}
"""What is recorded of refusals."""
NOT_FOR_BOTO3 = {"vercel_json_with_tools.json"}
"""It has blocks with two members, of which boto3 expects one: read as it is."""


class _Body:
    """The body of an answer as urllib3 would stream it."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, *_arguments: object, **_options: object) -> list[bytes]:
        return [self._body]


class _Wire:
    """A real client whose requests are answered before they are sent; `asked` remembers them."""

    def __init__(self) -> None:
        self.client: Any = boto3.client("bedrock-runtime", region_name="us-east-1")
        self.client.meta.events.register("before-send.bedrock-runtime.Converse", cast(Any, self._answer))
        self.asked: list[tuple[str, Any]] = []
        self.told: tuple[bytes, int, str] = (b"", 200, "")

    def _answer(self, request: Any, **_more: object) -> AWSResponse:
        self.asked.append((request.url, orjson.loads(request.body)))
        body, status, error = self.told
        headers: Any = {"content-type": "application/json", **({"x-amzn-ErrorType": error} if error else {})}
        return AWSResponse(request.url, status, headers, _Body(body))


@cache
def _wire() -> _Wire:
    return _Wire()


def _client(body: bytes = b"", *, status: int = 200, error: str = "") -> Any:
    """boto3, about to be told this."""
    _wire().told = (body, status, error)
    return _wire().client


def _ask(
    client: Any, chat: ChatRequest = QUESTION, wording: Wording | None = None, seconds: float = 60.0
) -> ChatAnswer | Refused:
    configured = settings_of(primary={"protocol": "bedrock", "model": MODEL}).by_role[ModelRole.PRIMARY]
    model = BedrockModel(configured, lambda _region, _seconds: client)
    return model.ask(chat, wording or Wording(), Deadline.after(seconds, FakeClock()))


def _asked(chat: ChatRequest, wording: Wording | None = None) -> Any:
    _ask(_client(_answer("Five.")), chat, wording)
    return _wire().asked[-1][1]


def _answer(text: str) -> bytes:
    message = {"role": "assistant", "content": [{"text": text}]}
    usage = {"inputTokens": 10, "outputTokens": 2, "totalTokens": 20, "cacheReadInputTokens": 8}
    return orjson.dumps({"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {}})


class _Telling:
    """A client that hands a body on as it is."""

    def __init__(self, body: Any) -> None:
        self._body = body

    def converse(self, **_arguments: object) -> Any:
        return self._body


class _Raising:
    """A client whose call goes wrong on the way."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def converse(self, **_arguments: object) -> object:
        raise self._error


@pytest.mark.parametrize("name", READINGS)
def test_a_recorded_answer_is_read_by_value(name: str) -> None:
    """Text before or after the reasoning, hidden reasoning left out, the input of the JSON tool as the text."""
    body = payload(PROVIDER, name)
    client = _Telling(orjson.loads(body)) if name in NOT_FOR_BOTO3 else _client(body)
    got = _ask(client, replace(QUESTION, schema_name="json"))
    assert isinstance(got, ChatAnswer)
    tokens = (got.usage.input_tokens, got.usage.output_tokens)
    assert Reading(Long.of(got.text), Long.of(got.reasoning), got.finish, tokens) == READINGS[name]
    assert (got.model, got.usage.calls) == (MODEL, 1)


@pytest.mark.parametrize("name", sorted(NOT_FOR_BOTO3))
def test_a_block_that_boto3_does_not_read_is_malformed(name: str) -> None:
    """Its parser raises an exception of its own, outside of botocore's tree."""
    with pytest.raises(MalformedAnswer):
        _ask(_client(payload(PROVIDER, name)))


@pytest.mark.parametrize("name", sorted(FAILURES))
def test_a_recorded_refusal_rejects_the_question(name: str) -> None:
    """Its class was in a header that the recording has lost."""
    with pytest.raises(QueryRejected):
        _ask(_client(payload(PROVIDER, name), status=400))


def test_of_every_recording_something_is_expected() -> None:
    """A recording that is added has to be read here too, and one that goes is no longer expected."""
    assert without_expectation(PROVIDER, READINGS, FAILURES) == []


@pytest.mark.parametrize("name", READINGS)
@settings(quick, max_examples=25)
@given(chosen=choices)
def test_a_recording_broken_anywhere_gives_an_answer_or_a_typed_failure(name: str, chosen: list[Any]) -> None:
    """boto3 parses what it can, drops some of the rest, and cannot read the remainder."""
    broken = mutated(payload(PROVIDER, name), chosen)
    for client in (_client(broken), _Telling(orjson.loads(broken))):
        with suppress(ProviderError):
            _ask(client)


def test_a_question_is_put_with_its_limit() -> None:
    """To the model's own address, with the system's part apart."""
    _ask(_client(_answer("Five.")), replace(QUESTION, temperature=0.0))
    url, body = _wire().asked[-1]
    assert url == "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-micro-v1%3A0/converse"
    assert body == {
        "messages": [{"role": "user", "content": [{"text": "How many bells has a cathedral?"}]}],
        "system": [{"text": "You count bells."}],
        "inferenceConfig": {"maxTokens": 400, "temperature": 0.0},
    }


def test_tokens_out_of_the_cache_count_as_put_in() -> None:
    """They cost, if less."""
    got = _ask(_client(_answer("Five.")))
    assert isinstance(got, ChatAnswer)
    assert got.usage.input_tokens == 18


def test_json_is_asked_for_by_schema_then_by_tool_then_in_words() -> None:
    """As far down as the model needs it."""
    chat = replace(QUESTION, schema=CLOSED, schema_name="count")
    text_format = _asked(chat)["outputConfig"]["textFormat"]
    assert orjson.loads(text_format["structure"]["jsonSchema"]["schema"]) == CLOSED
    tools = _asked(chat, Wording(structured=Structured.JSON_OBJECT))["toolConfig"]
    assert tools["tools"] == [{"toolSpec": {"name": "count", "inputSchema": {"json": CLOSED}}}]
    assert tools["toolChoice"] == {"tool": {"name": "count"}}
    plain = _asked(replace(chat, temperature=1.0), Wording(structured=Structured.PROMPT, temperature=False))
    assert set(plain) == {"messages", "system", "inferenceConfig"}
    assert "JSON Schema" in plain["system"][0]["text"]
    assert "system" not in _asked(chat, Wording(system_role=False))
    assert "outputConfig" not in _asked(replace(chat, schema={"type": "object", "additionalProperties": {}}))


@pytest.mark.parametrize(
    ("code", "status", "failure"),
    [
        ("ThrottlingException", 429, RateLimited),
        ("ModelNotReadyException", 429, RateLimited),
        ("ServiceQuotaExceededException", 400, RateLimited),
        ("AccessDeniedException", 403, AccessRefused),
        ("UnrecognizedClientException", 403, CredentialsRejected),
        ("ExpiredTokenException", 403, CredentialsRejected),
        ("ValidationException", 400, QueryRejected),
        ("ResourceNotFoundException", 404, QueryRejected),
        ("ModelTimeoutException", 408, ProviderUnavailable),
        ("ModelErrorException", 424, ProviderUnavailable),
        ("InternalServerException", 500, ProviderUnavailable),
        ("ServiceUnavailableException", 503, ProviderUnavailable),
        ("SomethingNewException", 418, ProviderUnavailable),
    ],
)
def test_an_error_of_the_service_has_its_consequence(code: str, status: int, failure: type[ProviderError]) -> None:
    """By its code; the words are ours."""
    client = boto3.client("bedrock-runtime", region_name="us-east-1")
    with Stubber(client) as stubber, pytest.raises(failure) as raised:
        stubber.add_client_error("converse", service_error_code=code, service_message="secret", http_status_code=status)
        _ask(client)
    assert raised.value.status == status
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("message", "objection"),
    [
        ("This model doesn't support the outputConfig.textFormat field.", "structured"),
        ("This model doesn't support tool use.", "structured"),
        ("This model doesn't support system messages.", "system_role"),
        ("temperature is deprecated for this model", "temperature"),
    ],
)
def test_refused_parts_of_a_request_are_objections(message: str, objection: str) -> None:
    """Each is left out of the next wording."""
    body = orjson.dumps({"message": message})
    got = _ask(_client(body, status=400, error="ValidationException"))
    assert isinstance(got, Refused)
    assert got.objection == objection


def test_a_boto3_that_knows_no_schema_is_told_in_another_way() -> None:
    """The runtime's boto3 may be older than structured output."""
    report = 'Unknown parameter in input: "outputConfig", must be one of: modelId, messages'
    got = _ask(_Raising(ParamValidationError(report=report)))
    assert isinstance(got, Refused)
    assert got.objection == "structured"


@pytest.mark.parametrize(
    ("error", "failure", "cause"),
    [
        (ReadTimeoutError(endpoint_url="https://b"), ProviderUnavailable, Cause.TIMEOUT),
        (ConnectTimeoutError(endpoint_url="https://b"), ProviderUnavailable, Cause.TIMEOUT),
        (EndpointConnectionError(endpoint_url="https://b"), ProviderUnavailable, Cause.CONNECT),
        (NoCredentialsError(), CredentialsRejected, None),
        (ParamValidationError(report="Invalid length for parameter modelId"), QueryRejected, None),
    ],
)
def test_trouble_on_the_way_has_its_consequence(
    error: Exception, failure: type[ProviderError], cause: Cause | None
) -> None:
    """Time, connection, credentials, and a request that boto3 does not send."""
    with pytest.raises(failure) as raised:
        _ask(_Raising(error))
    assert raised.value.cause is cause


def test_an_answer_without_a_message_is_malformed() -> None:
    """boto3 gives what there is."""
    with pytest.raises(MalformedAnswer):
        _ask(_client(b'{"stopReason": "end_turn"}'))


def test_without_a_second_left_nothing_is_asked() -> None:
    """A model needs more than that."""
    with pytest.raises(ProviderUnavailable) as raised:
        _ask(_Raising(AssertionError("asked")), seconds=0.9)
    assert raised.value.cause is Cause.DEADLINE


@pytest.mark.parametrize(("seconds", "timeout"), [(60.0, 60.0), (58.0, 50.0), (10.5, 10.0), (9.9, 9.0), (1.0, 1.0)])
def test_clients_are_shared_by_deadlines_that_are_alike(seconds: float, timeout: float) -> None:
    """One per region and ten seconds, made once, with that much patience and one attempt."""
    made: list[float] = []

    def make(region: str | None, read_seconds: float) -> Any:
        made.append(read_seconds)
        return _client(_answer("Five."))

    configured = settings_of(primary={"protocol": "bedrock", "model": MODEL}).by_role[ModelRole.PRIMARY]
    model = BedrockModel(configured, KeptClients(make))
    for _ in range(2):
        model.ask(QUESTION, Wording(), Deadline.after(seconds, FakeClock()))
    assert made == [timeout]


def test_the_real_client_waits_as_long_as_it_is_told_and_tries_once() -> None:
    """Retries live in one place, and that is not boto3."""
    config: Any = bedrock_runtime_client("eu-central-1", 50.0).meta.config
    assert (config.read_timeout, config.retries["total_max_attempts"], config.region_name) == (50.0, 1, "eu-central-1")
