"""Asking a model on behalf of a step: within the run's budgets, and with one meaning for everything that goes wrong.

What time may heal is raised under the names that the state machine's Retry knows; it alone tries again. What it will
not heal comes back as a word, and the step goes on without an answer. Where a budget is nearly spent, the built-in
answers in the model's place and says so; where a model failed, nothing answers for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from pydantic import BaseModel

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.contract.failure import MalformedAnswer, ModelError, ProviderError, ProviderUnavailable, RateLimited
from zarniwoop.llm.builtin import BUILTIN_ANSWERS
from zarniwoop.llm.gateway import JsonAnswer
from zarniwoop.pipelines.investigate.budget import OUT_OF_MONEY
from zarniwoop.pipelines.investigate.evaluate import BYTES_PER_TOKEN
from zarniwoop.pipelines.investigate.fitting import room
from zarniwoop.pipelines.investigate.money import hold, price_of, settle
from zarniwoop.pipelines.investigate.services import ModelThrottled, ModelUnavailable, Work
from zarniwoop.settings.models import BUILTIN, ModelSettings
from zarniwoop.stores.ledger import Hold

Model = TypeVar("Model", bound=BaseModel)

NO_MODEL = "no_model"
"""No model is configured, and nothing built in answers the recipe."""
_PROMPT_TOKENS = 700
_ANSWER_TOKENS = 800
_LONGEST_STATED_WAIT = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Generic[Model]):
    """`spared` names the budget for whose sake no model was asked."""

    value: Model
    mode: str
    usage: ModelUsage
    spared: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """`reason` is a word of ours."""

    reason: str
    usage: ModelUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[Model]):
    """A recipe, what it may name, and the form of its answer.

    `tokens` is what asking takes, where that is known, and `schema` the form with the limits of this one question.
    """

    recipe: str
    variables: Mapping[str, Any]
    into: type[Model]
    tokens: float | None = None
    schema: Mapping[str, Any] | None = None

    @property
    def estimate(self) -> float:
        if self.tokens is not None:
            return self.tokens
        return len(orjson.dumps(self.variables)) / BYTES_PER_TOKEN + _PROMPT_TOKENS + _ANSWER_TOKENS


def ask(question: Question[Model], work: Work, seconds: float) -> Answered[Model] | Unanswered:
    """Raises ModelThrottled, ModelUnavailable and ConfigurationUnavailable, for the state machine to try again."""
    model = settings_of(question.recipe, work)
    if isinstance(model, Unanswered):
        return model
    if model.protocol == BUILTIN and question.recipe not in BUILTIN_ANSWERS:
        return Unanswered(reason=NO_MODEL, usage=ModelUsage())
    if model.protocol == BUILTIN:
        return _asked(question, work, seconds)
    spared = work.budget.stands_against_model(question.estimate, model, seconds)
    held = None if spared else hold(price_of(question.estimate, model), work, seconds)
    if held is None:
        return built_in(question, spared or OUT_OF_MONEY)
    return _asked(question, work, seconds, held)


def settings_of(recipe: str, work: Work) -> ModelSettings | Unanswered:
    """The model that the recipe asks, or that it is misconfigured."""
    try:
        return work.services.models.settings_for(recipe, work.scope)
    except ModelError as error:
        return Unanswered(reason=error.reason, usage=error.usage)


def room_for(recipe: str, work: Work) -> float:
    """Tokens that the recipe's model has left for what a prompt shows; none where there is no such model."""
    model = settings_of(recipe, work)
    return 0.0 if isinstance(model, Unanswered) else room(model.context_tokens)


def built_in(question: Question[Model], spared: str | None) -> Answered[Model] | Unanswered:
    """The answer without a model, where there is one."""
    answer = BUILTIN_ANSWERS.get(question.recipe)
    if answer is None:
        return Unanswered(reason=spared or NO_MODEL, usage=ModelUsage())
    value = question.into.model_validate(answer(question.variables))
    return Answered(value=value, mode=BUILTIN, usage=ModelUsage(), spared=spared)


def _asked(
    question: Question[Model], work: Work, seconds: float, held: Hold | None = None
) -> Answered[Model] | Unanswered:
    usage = ModelUsage()
    try:
        answer: JsonAnswer[Model] = work.services.models.call_for_json(
            question.recipe, question.variables, question.into, work.within(seconds), question.schema
        )
        usage = answer.usage
    except ModelError as error:
        usage = error.usage
        return Unanswered(reason=error.reason, usage=usage)
    except ProviderError as error:
        usage = error.usage
        return _failed(error, work)
    finally:
        if held is not None:
            settle(held, usage, work)
    return Answered(value=answer.value, mode=answer.mode, usage=usage)


def _failed(error: ProviderError, work: Work) -> Unanswered:
    """What was used before the endpoint failed is written down now: the next attempt knows nothing of it."""
    too_long = error.retry_after is not None and error.retry_after > _LONGEST_STATED_WAIT
    if isinstance(error, RateLimited | ProviderUnavailable | MalformedAnswer) and not too_long:
        if error.usage.calls:
            moment = int(work.services.clock.now() * 1000)
            work.done("failed_model_calls", f"{work.given.wave}-{work.given.index}-{moment}", usage=error.usage)
        kind = ModelThrottled if isinstance(error, RateLimited) else ModelUnavailable
        raise kind(f"the model's endpoint failed: {error.reason}") from error
    return Unanswered(reason=error.reason, usage=error.usage)
