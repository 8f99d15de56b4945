"""One question to one model, with all that may follow it: a larger token budget once, and what it costs every time."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TypeVar

from zarniwoop.contract.chat import ChatAnswer, ChatRequest, FinishReason, ModelRole, ModelUsage
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    Cause,
    EmptyLLMResponseError,
    ModelError,
    ModelRefused,
    ProviderError,
    ProviderUnavailable,
)
from zarniwoop.llm.wording import ModelEndpoint, Wordings
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.models import ModelSettings

Returned = TypeVar("Returned")

_LEAST_SECONDS = 2.0


class Turns:
    """How many calls of the harvest model may run at once in this environment, by the limit in the settings."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_limit: dict[int, threading.BoundedSemaphore] = {}

    def turn(self, settings: ModelSettings, deadline: Deadline) -> AbstractContextManager[object]:
        """To be held during a call. Entering raises ProviderUnavailable when no turn comes before the deadline."""
        if settings.role is not ModelRole.HARVEST:
            return nullcontext()
        with self._lock:
            limit = settings.max_parallel
            return _Turn(self._by_limit.setdefault(limit, threading.BoundedSemaphore(limit)), deadline)


@dataclass(frozen=True, slots=True)
class _Turn:
    semaphore: threading.BoundedSemaphore
    deadline: Deadline

    def __enter__(self) -> None:
        if not self.semaphore.acquire(timeout=self.deadline.remaining()):
            raise ProviderUnavailable("no turn came for this call in time", cause=Cause.DEADLINE)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.semaphore.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What all conversations of an environment share."""

    wordings: Wordings
    turns: Turns
    metrics: Metrics
    tracing: Tracing


class _RanOut(EmptyLLMResponseError):  # noqa: N818 - named by its consequence
    """Reasoning used the whole budget up."""


class Conversation:
    """`usage` is what it took so far; whatever it raises carries the same. `deadline` is the caller's."""

    def __init__(
        self, endpoint: ModelEndpoint, settings: ModelSettings, deadline: Deadline, surroundings: Surroundings
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._deadline = deadline
        self._surroundings = surroundings
        self._escalated = False
        self.usage = ModelUsage()

    def ask(self, chat: ChatRequest, read: Callable[[ChatAnswer], Returned]) -> Returned:
        """What `read` makes of the answer; when it has no text for want of tokens, of one with twice as many.

        Raises ProviderError, ModelError, and what the key ring raises.
        """
        try:
            return self._once(chat, read)
        except _RanOut:
            if not (self.escalate(chat) and self.has_time):
                raise
        return self._once(chat, read)

    def escalate(self, chat: ChatRequest) -> bool:
        """From now on twice as many tokens, but never more than the model reads at once; whether that is more."""
        before = self._budget(chat)
        self._escalated = True
        return self._budget(chat) > before

    def _budget(self, chat: ChatRequest) -> int:
        if not self._escalated:
            return chat.max_tokens
        return max(chat.max_tokens, min(2 * chat.max_tokens, self._settings.context_tokens))

    @property
    def has_time(self) -> bool:
        """Whether it makes sense to ask again."""
        return self._deadline.remaining() >= _LEAST_SECONDS

    def _once(self, chat: ChatRequest, read: Callable[[ChatAnswer], Returned]) -> Returned:
        outcome = "error"
        deadline = self._deadline.within(self._settings.timeout_seconds)
        chat = replace(chat, max_tokens=self._budget(chat))
        try:
            with self._surroundings.turns.turn(self._settings, deadline), self._span():
                answer = self._surroundings.wordings.ask(self._endpoint, self._settings, chat, deadline)
            returned = read(_visible(self._accounted(answer)))
            outcome = "success"
        except (ProviderError, ModelError) as error:
            outcome = error.reason
            error.usage = self.usage
            raise
        finally:
            self._count_call(outcome)
        return returned

    def _span(self) -> AbstractContextManager[None]:
        return self._surroundings.tracing.span("model", protocol=self._settings.protocol, role=str(self._settings.role))

    def _accounted(self, answer: ChatAnswer) -> ChatAnswer:
        priced = replace(answer, usage=replace(answer.usage, cost=_cost(answer.usage, self._settings), calls=1))
        self.usage = self.usage.plus(priced.usage)
        role = str(self._settings.role)
        metrics = self._surroundings.metrics
        metrics.count(Metric.MODEL_TOKENS, priced.usage.input_tokens, role=role, direction="input")
        metrics.count(Metric.MODEL_TOKENS, priced.usage.output_tokens, role=role, direction="output")
        return priced

    def _count_call(self, outcome: str) -> None:
        self._surroundings.metrics.count(
            Metric.MODEL_CALLS, protocol=self._settings.protocol, role=str(self._settings.role), outcome=outcome
        )


def _visible(answer: ChatAnswer) -> ChatAnswer:
    """The answer if it says something. Raises ModelRefused and EmptyLLMResponseError."""
    if answer.finish is FinishReason.REFUSED:
        raise ModelRefused("the model refuses to answer")
    if answer.text.strip():
        return answer
    if answer.finish is FinishReason.LENGTH:
        raise _RanOut("the model's answer has no text: its token budget was used up before")
    raise EmptyLLMResponseError("the model's answer has no text")


def _cost(usage: ModelUsage, settings: ModelSettings) -> float:
    read = usage.input_tokens * settings.cost_per_million_input
    written = usage.output_tokens * settings.cost_per_million_output
    return (read + written) / 1_000_000
