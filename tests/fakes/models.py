"""A model gateway on fakes: settings as plain text, the endpoint's answers by script, time by hand."""

from collections.abc import Mapping
from typing import Any

import orjson

from tests.fakes.clock import FakeClock
from tests.fakes.keys import FakeKeyRing
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.contract.chat import ChatMessage, ChatRequest
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.transport import HttpAnswer, KeyRing, Transport
from zarniwoop.llm.bedrock import BedrockClients
from zarniwoop.llm.gateway import BuiltinAnswers, ModelGateway
from zarniwoop.llm.protocols import MODEL_PROTOCOLS
from zarniwoop.llm.recipes import RecipeBook
from zarniwoop.observe.metrics import Metric, MetricsBuffer
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.cascade import EffectiveSettings, Setting
from zarniwoop.settings.levels import Level
from zarniwoop.settings.models import ModelsInForce, model_settings

OPENAI = {"protocol": "openai", "baseUrl": "https://models.test/v1", "model": "thinker-1"}
"""Settings of a primary model behind an OpenAI-compatible server that wants no key."""

QUESTION = ChatRequest(
    messages=(
        ChatMessage(role="system", content="You count bells."),
        ChatMessage(role="user", content="How many bells has a cathedral?"),
    ),
    max_tokens=400,
)


def completion(
    text: object = "",
    *,
    finish: str | None = "stop",
    tokens: tuple[int, int, int] = (100, 20, 0),
    **message: object,
) -> HttpAnswer:
    """An answer in the OpenAI format; `tokens` are those of prompt, completion and reasoning."""
    asked, written, thought = tokens
    return answer(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "thinker-1",
            "choices": [
                {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
            ],
            "usage": {
                "prompt_tokens": asked,
                "completion_tokens": written,
                "total_tokens": asked + written,
                "completion_tokens_details": {"reasoning_tokens": thought},
            },
        }
    )


def json_completion(value: object, **more: Any) -> HttpAnswer:
    """The same, with JSON for a text."""
    return completion(orjson.dumps(value).decode(), **more)


def refusal(status: int, message: str, **error: object) -> HttpAnswer:
    """An error in the OpenAI format."""
    return answer({"error": {"message": message, "type": "invalid_request_error", **error}}, status=status)


def settings_of(**roles: Mapping[str, str]) -> ModelsInForce:
    """Models out of `primary={…}`, `harvest={…}`, everything saved at the tenant's level."""
    values = {
        f"llm.{role}.{suffix}": Setting(
            value=None if suffix == "apiKey" else value,
            level=Level.TENANT,
            secure=suffix == "apiKey",
            parameter_name=f"/{role}/{suffix}",
            version="1",
        )
        for role, settings in roles.items()
        for suffix, value in settings.items()
    }
    return model_settings(EffectiveSettings(values=values), MODEL_PROTOCOLS, {})


class Models:
    """`gateway` answers from the script, unless it has a `transport` of its own; `sent` are the bodies that it sent."""

    def __init__(
        self,
        *script: HttpAnswer | ProviderError,
        primary: Mapping[str, str] | None = None,
        harvest: Mapping[str, str] | None = None,
        overrides: Mapping[tuple[str, str], str] | None = None,
        builtin: BuiltinAnswers | None = None,
        bedrock: BedrockClients | None = None,
        transport: Transport | None = None,
        keys: KeyRing | None = None,
        clock: FakeClock | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self.transport = ScriptedTransport(*script)
        self.metrics = MetricsBuffer()
        self.in_force = settings_of(primary=OPENAI if primary is None else primary, harvest=harvest or {})
        self.gateway = ModelGateway(
            models=lambda _scope: self.in_force,
            recipes=RecipeBook(lambda tenant_id, name: (overrides or {}).get((tenant_id, name))),
            builtin=builtin or {},
            transport=transport or self.transport,
            keys=keys or FakeKeyRing(),
            bedrock=bedrock or _no_bedrock,
            clock=self.clock,
            metrics=self.metrics,
            tracing=tracing or Tracing(lambda: False),
        )

    def scope(self, seconds: float = 120.0) -> SearchScope:
        return SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(seconds, self.clock))

    @property
    def sent(self) -> list[Any]:
        return [sent.request.json for sent in self.transport.sent]

    def counted(self, metric: Metric) -> list[tuple[float, dict[str, str]]]:
        """The points of one metric; those of the others are let go."""
        return [(point.value, dict(point.tags)) for point in self.metrics.drain() if point.metric is metric]


def _no_bedrock(region: str | None, read_seconds: float) -> Any:
    raise AssertionError(f"no Bedrock client was scripted ({region}, {read_seconds})")
