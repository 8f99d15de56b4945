"""Amazon Bedrock's Converse: one shape for every model there, asked with the function's own role.

API: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
Quirks: text and reasoning are blocks in either order; an answer may end in order and have no text; a tool call is the
only JSON mode that older models have; a boto3 from before 2026-02 knows no `outputConfig`. boto3 bounds a read by a
timeout of its client's, so there is a client for every ten seconds of deadline.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from zarniwoop.contract.chat import ChatAnswer, ChatRequest, FinishReason, ModelUsage
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
from zarniwoop.llm.schema import without_bounds
from zarniwoop.llm.wording import (
    Objection,
    Refused,
    Wording,
    messages_of,
    objection_in,
    split_system,
    way_for_closed_schemas,
)
from zarniwoop.settings.models import ModelSettings, Structured
from zarniwoop.wire.reading import MISREAD

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

PROTOCOL_ID = "bedrock"

BedrockClients = Callable[[str | None, float], "BedrockRuntimeClient"]
"""A client for a region (None: the stack's own) that waits so many seconds for an answer."""

_FINISHES = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "guardrail_intervened": FinishReason.REFUSED,
    "content_filtered": FinishReason.REFUSED,
    "tool_use": FinishReason.TOOL,
}
_NAMES = {
    Objection.STRUCTURED: (
        *("outputconfig", "output_config", "textformat", "structured output", "json schema"),
        *("toolconfig", "toolchoice", "tool_choice", "tool use", "schema"),
    ),
    Objection.SYSTEM_ROLE: ("system",),
    Objection.TEMPERATURE: ("temperature",),
}
_FAILURES: Mapping[str, tuple[type[ProviderError], str]] = {
    "ThrottlingException": (RateLimited, "Bedrock says slow down"),
    "TooManyRequestsException": (RateLimited, "Bedrock says slow down"),
    "ServiceQuotaExceededException": (RateLimited, "Bedrock says slow down"),
    "ModelNotReadyException": (RateLimited, "the model is not ready yet"),
    "AccessDeniedException": (AccessRefused, "the role may not call this model, or it is not enabled in the account"),
    "UnrecognizedClientException": (CredentialsRejected, "AWS does not accept the function's credentials"),
    "InvalidSignatureException": (CredentialsRejected, "AWS does not accept the function's credentials"),
    "ExpiredTokenException": (CredentialsRejected, "AWS does not accept the function's credentials"),
    "ValidationException": (QueryRejected, "Bedrock rejects the request or knows no such model"),
    "ResourceNotFoundException": (QueryRejected, "Bedrock knows no such model"),
}
_LEAST_SECONDS = 1.0
_STEP_SECONDS = 10.0


class BedrockModel:
    """`wording.ModelEndpoint` over boto3."""

    def __init__(self, settings: ModelSettings, clients: BedrockClients) -> None:
        self._settings = settings
        self._clients = clients

    def ask(self, chat: ChatRequest, wording: Wording, deadline: Deadline) -> ChatAnswer | Refused:
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        arguments = converse_arguments(chat, self._settings, wording)
        try:
            client = self._clients(self._settings.region, _allowance(deadline))
            return read(client.converse(**arguments), chat, self._settings.model)
        except ClientError as error:
            failure, text = _failure(error), str(error.response.get("Error", {}).get("Message", ""))
        except BotoCoreError as error:
            failure, text = _unsent(error), str(error)
        except (ResponseParserError, *MISREAD) as error:  # boto3's parser raises both, our reader the latter
            raise MalformedAnswer("the answer does not have the documented shape", cause=Cause.SHAPE) from error
        objection = objection_in(text, _NAMES) if isinstance(failure, QueryRejected) else None
        if objection is None:
            raise failure  # out here, because boto3's own error may quote the question
        return Refused(objection=objection, failure=failure)


def converse_arguments(chat: ChatRequest, settings: ModelSettings, wording: Wording) -> dict[str, Any]:
    structured = way_for_closed_schemas(chat, wording)
    messages = messages_of(chat, wording, schema_in_words=structured is Structured.PROMPT)
    system, conversation = split_system(messages)
    inference: dict[str, Any] = {"maxTokens": chat.max_tokens}
    if chat.temperature is not None and wording.temperature:
        inference["temperature"] = chat.temperature
    arguments: dict[str, Any] = {
        "modelId": settings.model,
        "messages": [{"role": message.role, "content": [{"text": message.content}]} for message in conversation],
        "inferenceConfig": inference,
    }
    if system:
        arguments["system"] = [{"text": system}]
    if chat.schema is not None:
        arguments.update(_structured(chat.schema_name, without_bounds(chat.schema), structured))
    return arguments


def _structured(name: str, schema: dict[str, Any], structured: Structured) -> dict[str, Any]:
    if structured is Structured.JSON_SCHEMA:
        json_schema = {"name": name, "schema": orjson.dumps(schema).decode()}
        return {"outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": json_schema}}}}
    if structured is Structured.JSON_OBJECT:
        tool = {"toolSpec": {"name": name, "inputSchema": {"json": schema}}}
        return {"toolConfig": {"tools": [tool], "toolChoice": {"tool": {"name": name}}}}
    return {}


def read(response: Mapping[str, Any], chat: ChatRequest, model: str) -> ChatAnswer:
    """May raise what `wire.reading.MISREAD` lists."""
    blocks: list[Mapping[str, Any]] = response["output"]["message"]["content"]
    called = [block["toolUse"]["input"] for block in blocks if _calls(block, chat.schema_name)]
    said = "".join(block["text"] for block in blocks if "text" in block)
    thoughts = [block["reasoningContent"].get("reasoningText", {}) for block in blocks if "reasoningContent" in block]
    return ChatAnswer(
        text=orjson.dumps(called[-1]).decode() if called else said,
        reasoning="".join(thought.get("text", "") for thought in thoughts) or None,
        finish=_FINISHES.get(response.get("stopReason", ""), FinishReason.OTHER),
        usage=_usage(response.get("usage", {})),
        model=model,
    )


def _calls(block: Mapping[str, Any], name: str) -> bool:
    return "toolUse" in block and block["toolUse"]["name"] == name


def _usage(usage: Mapping[str, Any]) -> ModelUsage:
    cached = int(usage.get("cacheReadInputTokens", 0)) + int(usage.get("cacheWriteInputTokens", 0))
    asked = int(usage.get("inputTokens", 0)) + cached
    return ModelUsage(input_tokens=asked, output_tokens=int(usage.get("outputTokens", 0)), calls=1)


def _allowance(deadline: Deadline) -> float:
    """Whole tens of seconds, so that few clients serve all deadlines. Raises ProviderUnavailable when none are left."""
    remaining = deadline.remaining()
    if remaining < _LEAST_SECONDS:
        raise ProviderUnavailable("there is no time left", cause=Cause.DEADLINE)
    return max(remaining // _STEP_SECONDS * _STEP_SECONDS, min(remaining // 1, _STEP_SECONDS))


def _failure(error: "ClientError") -> ProviderError:
    code = error.response.get("Error", {}).get("Code", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    known = _FAILURES.get(code)
    if known is None and status == 400:
        known = _FAILURES["ValidationException"]  # the class is in a header, and proxies lose it
    if known is None:
        return ProviderUnavailable("Bedrock cannot answer", cause=Cause.STATUS, status=status)
    failure, message = known
    return failure(message, cause=Cause.STATUS, status=status)


def _unsent(error: "BotoCoreError") -> ProviderError:
    from botocore.exceptions import ConnectTimeoutError, NoCredentialsError, ParamValidationError, ReadTimeoutError

    if isinstance(error, ParamValidationError):
        return QueryRejected("this boto3 does not know what the request has")
    if isinstance(error, NoCredentialsError):
        return CredentialsRejected("there are no AWS credentials")
    timed_out = isinstance(error, (ConnectTimeoutError, ReadTimeoutError))
    return ProviderUnavailable("Bedrock could not be asked", cause=Cause.TIMEOUT if timed_out else Cause.CONNECT)
