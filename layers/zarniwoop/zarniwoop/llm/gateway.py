"""The model gateway: a role and a question in, an answer or a checked value out.

It gives each call its model, its deadline and its budget, repairs an answer of the wrong form once, and then refuses
it. It never tries again because an endpoint is down or throttled: whoever runs the step does that, in one place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from zarniwoop.contract.chat import ChatAnswer, ChatRequest, ModelRole, ModelUsage
from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import InvalidModelOutput, ModelMisconfigured
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.transport import KeyRing, Transport
from zarniwoop.llm.bedrock import PROTOCOL_ID as BEDROCK
from zarniwoop.llm.bedrock import BedrockClients, BedrockModel
from zarniwoop.llm.conversation import Conversation, Surroundings, Turns
from zarniwoop.llm.http_model import HttpModel
from zarniwoop.llm.json_output import Unusable, checked, repair_of
from zarniwoop.llm.protocols import CHAT_FORMATS
from zarniwoop.llm.recipes import Recipe, RecipeBook
from zarniwoop.llm.schema import portable_schema
from zarniwoop.llm.wording import ModelEndpoint, Wordings
from zarniwoop.observe.metrics import Metrics
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.models import BUILTIN, ModelSettings, ModelsInForce

Model = TypeVar("Model", bound=BaseModel)

ModelsSource = Callable[[SearchScope], ModelsInForce]
"""The models in force for a scope. Raises ConfigurationUnavailable."""

BuiltinAnswers = Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]
"""What stands for a model where none is configured, by recipe: variables in, the answer's object out."""

MOST_CALLS_PER_QUESTION = 3
"""Answers that one value may take: the first, one with more tokens, the repair. Rewording and retries come on top."""

_FORMATS = {each.protocol_id: each for each in CHAT_FORMATS}


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonAnswer(Generic[Model]):
    """`mode` tells who answered: `builtin`, or the protocol of the model that was asked."""

    value: Model
    usage: ModelUsage
    mode: str


class ModelGateway:
    """One per execution environment; safe to use from many threads."""

    def __init__(
        self,
        *,
        models: ModelsSource,
        recipes: RecipeBook,
        builtin: BuiltinAnswers,
        transport: Transport,
        keys: KeyRing,
        bedrock: BedrockClients,
        clock: Clock,
        metrics: Metrics,
        tracing: Tracing,
    ) -> None:
        self._models = models
        self._recipes = recipes
        self._builtin = builtin
        self._transport = transport
        self._keys = keys
        self._bedrock = bedrock
        self._clock = clock
        self._surroundings = Surroundings(wordings=Wordings(), turns=Turns(), metrics=metrics, tracing=tracing)

    def settings(self, role: ModelRole, scope: SearchScope) -> ModelSettings:
        """The role's model: its protocol, and how much it reads at once. Raises ModelMisconfigured."""
        models = self._models(scope)
        settings = models.by_role.get(role)
        if settings is None:
            faults = ", ".join(fault.setting for fault in models.misconfigured)
            raise ModelMisconfigured(f"the {role} model cannot be used, its settings are wrong: {faults}")
        return settings

    def settings_for(self, recipe: str, scope: SearchScope) -> ModelSettings:
        """The model that a recipe asks, with no larger an answer than the recipe allows. Raises ModelMisconfigured.

        A tenant's own recipe may name another role, and another limit.
        """
        return self._settings_for(self._recipes.recipe(recipe, scope.tenant_id), scope)

    def complete(self, role: ModelRole, chat: ChatRequest, scope: SearchScope) -> ChatAnswer:
        """A text. `usage` covers all calls that it took. Raises ProviderError and ModelError."""
        settings = self.settings(role, scope)
        if settings.protocol == BUILTIN:
            raise ModelMisconfigured(f"no {role} model is configured, and nothing here writes prose without one")
        conversation = self._conversation(settings, scope)
        answer = conversation.ask(chat, lambda answer: answer)
        return ChatAnswer(
            text=answer.text,
            reasoning=answer.reasoning,
            finish=answer.finish,
            usage=conversation.usage,
            model=answer.model,
        )

    def call_for_json(
        self,
        recipe: str,
        variables: Mapping[str, Any],
        into: type[Model],
        scope: SearchScope,
        schema: Mapping[str, Any] | None = None,
    ) -> JsonAnswer[Model]:
        """A value of the form `into`, or nothing at all. Raises ProviderError and ModelError.

        `schema` is a narrower one, for endpoints that hold a model to it; the answer is checked against `into` alone.
        """
        in_force = self._recipes.recipe(recipe, scope.tenant_id)
        settings = self._settings_for(in_force, scope)
        if settings.protocol == BUILTIN:
            return JsonAnswer(value=self._built_in(recipe, variables, into), usage=ModelUsage(), mode=BUILTIN)
        chat = ChatRequest(
            messages=self._recipes.messages(in_force, variables),
            max_tokens=settings.max_tokens,
            temperature=settings.temperature,
            schema=schema or portable_schema(into),
            schema_name=in_force.schema_name,
        )
        conversation = self._conversation(settings, scope)
        value = _value(conversation, chat, lambda answer: checked(answer, into))
        return JsonAnswer(value=value, usage=conversation.usage, mode=settings.protocol)

    def _settings_for(self, recipe: Recipe, scope: SearchScope) -> ModelSettings:
        settings = self.settings(recipe.role, scope)
        return replace(settings, max_tokens=min(recipe.max_tokens, settings.max_tokens))

    def _built_in(self, recipe: str, variables: Mapping[str, Any], into: type[Model]) -> Model:
        answer = self._builtin.get(recipe)
        if answer is None:
            raise ModelMisconfigured(f"recipe {recipe} needs a model, and none is configured")
        try:
            return into.model_validate(answer(variables))
        except ValidationError as error:
            raise InvalidModelOutput("the built-in answer does not have the form that was asked for") from error

    def _conversation(self, settings: ModelSettings, scope: SearchScope) -> Conversation:
        return Conversation(self._endpoint(settings), settings, scope.deadline, self._surroundings)

    def _endpoint(self, settings: ModelSettings) -> ModelEndpoint:
        if settings.protocol == BEDROCK:
            return BedrockModel(settings, self._bedrock)
        chat_format = _FORMATS[settings.protocol]
        return HttpModel(chat_format, settings, transport=self._transport, keys=self._keys, clock=self._clock)


def _value(conversation: Conversation, chat: ChatRequest, read: Callable[[ChatAnswer], Model]) -> Model:
    """Asked once, and once more with what was wrong; an answer that was cut short gets a larger budget as well."""
    try:
        return conversation.ask(chat, read)
    except Unusable as unusable:
        if not conversation.has_time:
            raise
        if unusable.cut_short:
            conversation.escalate(chat)
        repair = repair_of(chat, unusable)
    return conversation.ask(repair, read)
