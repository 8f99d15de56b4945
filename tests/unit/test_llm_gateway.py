"""The model gateway: answers and values, one repair, one larger budget, and every call accounted for."""

import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from pydantic import BaseModel, Field

from tests.fakes.clock import FakeClock
from tests.fakes.models import OPENAI, QUESTION, Models, completion, json_completion, refusal
from tests.fakes.transport import answer
from zarniwoop.contract.chat import FinishReason, ModelRole, ModelUsage
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    Cause,
    CredentialsRejected,
    EmptyLLMResponseError,
    InvalidModelOutput,
    MalformedAnswer,
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.transport import Authentication, HttpAnswer, HttpRequest, Secret
from zarniwoop.llm.conversation import Turns
from zarniwoop.llm.gateway import JsonAnswer
from zarniwoop.llm.recipes import EVALUATE, PLAN, RERANK
from zarniwoop.observe.clock import SystemClock
from zarniwoop.observe.metrics import Metric
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.models import ModelSettings

VARIABLES: dict[str, Any] = {
    "question": "Which bells?",
    "today": "2026-11-30",
    "providers": [{"id": "wiki", "modalities": ["WEB"], "hint": "facts"}],
    "modalities": ["WEB"],
    "max_searches": 3,
    "max_query_chars": 400,
    "nonce": "9f86d081884c7d65",
    "fence": "(hits)",
}
PRICED = {**OPENAI, "costPerMillionInput": "2", "costPerMillionOutput": "10"}


class Answer(BaseModel):
    searches: list[str] = Field(min_length=1)


GOOD = {"searches": ["bells"]}
BAD: dict[str, list[str]] = {"searches": []}


def _json(models: Models, recipe: str = PLAN, seconds: float = 120.0) -> JsonAnswer[Answer]:
    return models.gateway.call_for_json(recipe, VARIABLES, Answer, models.scope(seconds))


def test_a_question_is_answered_and_accounted_for() -> None:
    """Text, reasoning, usage at the settings' prices, and one metric for the call."""
    models = Models(completion("Five.", reasoning="Four, or five.", tokens=(1000, 200, 150)), primary=PRICED)
    got = models.gateway.complete(ModelRole.PRIMARY, QUESTION, models.scope())
    assert (got.text, got.reasoning, got.finish) == ("Five.", "Four, or five.", FinishReason.STOP)
    assert got.usage == ModelUsage(input_tokens=1000, output_tokens=200, reasoning_tokens=150, cost=0.004, calls=1)
    points = models.metrics.drain()
    assert [(point.metric, point.value, dict(point.tags)) for point in points] == [
        (Metric.MODEL_TOKENS, 1000, {"role": "primary", "direction": "input"}),
        (Metric.MODEL_TOKENS, 200, {"role": "primary", "direction": "output"}),
        (Metric.MODEL_CALLS, 1, {"protocol": "openai", "role": "primary", "outcome": "success"}),
    ]


class RecordedTracing(Tracing):
    """Remembers its spans."""

    def __init__(self) -> None:
        super().__init__(lambda: True)
        self.spans: list[tuple[str, dict[str, str]]] = []

    def span(self, name: str, **annotations: str) -> AbstractContextManager[None]:
        self.spans.append((name, annotations))
        return nullcontext()


def test_every_call_of_a_model_is_a_span_of_the_runs_trace() -> None:
    """By protocol and role; no word of what was asked is in it."""
    tracing = RecordedTracing()
    models = Models(json_completion(BAD), json_completion(GOOD), tracing=tracing)
    _json(models)
    assert tracing.spans == [("model", {"protocol": "openai", "role": "primary"})] * 2


def test_a_value_is_asked_for_by_schema_and_checked() -> None:
    """Limit, temperature and schema really are sent."""
    models = Models(json_completion(GOOD), primary={**OPENAI, "temperature": "0.1"})
    got = _json(models)
    assert (got.value, got.mode) == (Answer(searches=["bells"]), "openai")
    (body,) = models.sent
    assert (body["max_tokens"], body["temperature"]) == (2000, 0.1)
    assert body["response_format"]["json_schema"]["name"] == "research_plan"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


@pytest.mark.parametrize(("max_tokens", "sent"), [("300", 300), ("100000", 8000)])
def test_the_smaller_of_the_models_and_the_recipes_budget_counts(max_tokens: str, sent: int) -> None:
    """The settings are a ceiling, and so is the recipe."""
    models = Models(json_completion(GOOD), primary={**OPENAI, "maxTokens": max_tokens})
    _json(models)
    assert models.sent[0]["max_tokens"] == sent
    assert models.gateway.settings_for(PLAN, models.scope()).max_tokens == sent


@pytest.mark.parametrize(
    "wrong",
    [
        json_completion(BAD),
        completion("I would search for bells."),
        completion('{"searches": ["bel', finish="stop"),
        json_completion(["bells"]),
        json_completion({"queries": ["bells"]}),
    ],
)
def test_an_answer_of_the_wrong_form_is_repaired_once(wrong: HttpAnswer) -> None:
    """With what was wrong, and nothing that was not sent before."""
    models = Models(wrong, json_completion(GOOD), primary=PRICED)
    got = _json(models)
    assert got.value == Answer(searches=["bells"])
    assert got.usage == ModelUsage(input_tokens=200, output_tokens=40, cost=0.0008, calls=2)
    first, second = models.sent
    assert second["messages"][:2] == first["messages"]
    assert [message["role"] for message in second["messages"][2:]] == ["assistant", "user"]
    assert [tags["outcome"] for _, tags in models.counted(Metric.MODEL_CALLS)] == ["invalid_output", "success"]


def test_an_answer_that_is_wrong_twice_is_refused() -> None:
    """Fail closed: nothing of it is used; what it cost is told; its text is in no message."""
    models = Models(json_completion(BAD), completion("secret plans"), primary=PRICED)
    with pytest.raises(InvalidModelOutput) as raised:
        _json(models)
    assert (raised.value.reason, raised.value.usage.calls) == ("invalid_output", 2)
    assert "secret" not in str(raised.value)


def test_a_truncated_value_is_repaired_with_a_larger_budget() -> None:
    """Else it would be cut short again."""
    models = Models(completion('{"searches": ["bel', finish="length"), json_completion(GOOD))
    _json(models)
    assert [body["max_tokens"] for body in models.sent] == [2000, 4000]


def test_reasoning_that_used_the_budget_up_gets_twice_as_much_once() -> None:
    """And the second answer counts."""
    models = Models(completion("", finish="length", tokens=(100, 400, 400)), completion("Five."))
    got = models.gateway.complete(ModelRole.PRIMARY, QUESTION, models.scope())
    assert got.text == "Five."
    assert got.usage == ModelUsage(input_tokens=200, output_tokens=420, reasoning_tokens=400, calls=2)
    assert [body["max_tokens"] for body in models.sent] == [400, 800]


def test_a_budget_is_escalated_once_and_then_the_answer_is_empty() -> None:
    """An error instead of an empty text."""
    models = Models(completion("", finish="length"), completion("<think>hm", finish="length"))
    with pytest.raises(EmptyLLMResponseError) as raised:
        models.gateway.complete(ModelRole.PRIMARY, QUESTION, models.scope())
    assert (raised.value.reason, raised.value.usage.calls) == ("empty_answer", 2)
    assert [tags["outcome"] for _, tags in models.counted(Metric.MODEL_CALLS)] == ["empty_answer", "empty_answer"]


@pytest.mark.parametrize(
    "script",
    [
        (json_completion(BAD), completion("{")),
        (completion("", finish="length"), completion("")),
        (completion("no"), refusal(500, "Which bells?")),
        (refusal(400, "Which bells? is not supported, nor is response_format"),) * 4,
        (answer({"choices": "Which bells?"}),),
        (completion(None, refusal="Which bells?"),),
    ],
)
def test_no_failure_repeats_what_was_asked(script: tuple[HttpAnswer, ...]) -> None:
    """Nor does anything that it was raised from: a traceback may end up in a log."""
    with pytest.raises((ModelError, ProviderError)) as raised:
        _json(Models(*script))
    error: BaseException | None = raised.value
    while error is not None:
        assert "bells" not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(("context_tokens", "budgets"), [("2500", [2000, 2500]), ("2000", [2000]), ("1000", [2000])])
def test_a_larger_budget_never_exceeds_what_the_model_reads(context_tokens: str, budgets: list[int]) -> None:
    """Where there is no more room there is no second call."""
    models = Models(
        completion("", finish="length"), json_completion(GOOD), primary={**OPENAI, "contextTokens": context_tokens}
    )
    try:
        _json(models)
    except EmptyLLMResponseError:
        assert len(budgets) == 1
    assert [body["max_tokens"] for body in models.sent] == budgets


def test_after_an_escalation_the_repair_keeps_the_larger_budget() -> None:
    """Three calls at most: empty, wrong, right."""
    models = Models(completion("", finish="length"), completion("{", finish="length"), json_completion(GOOD))
    assert _json(models).usage.calls == 3
    assert [body["max_tokens"] for body in models.sent] == [2000, 4000, 4000]


@pytest.mark.parametrize("empty", [completion(""), completion(" \n"), completion(None), completion("<think>a</think>")])
def test_no_visible_text_is_an_error(empty: HttpAnswer) -> None:
    """Asking the same again would not help: it ended in order."""
    models = Models(empty)
    with pytest.raises(EmptyLLMResponseError):
        models.gateway.complete(ModelRole.PRIMARY, QUESTION, models.scope())


def test_a_refusal_is_not_argued_with() -> None:
    """One call, and what it cost."""
    models = Models(completion(None, refusal="I cannot help with that."))
    with pytest.raises(ModelRefused) as raised:
        _json(models)
    assert (raised.value.reason, raised.value.usage.calls) == ("refused", 1)
    assert "cannot help" not in str(raised.value)


def test_without_time_nothing_is_asked_again() -> None:
    """A repair or a larger budget that cannot end before the deadline is not begun."""
    clock = FakeClock()
    for script in (completion("", finish="length"), json_completion(BAD)):
        models = Models(script, clock=clock)
        with pytest.raises(ModelError):
            _json(models, seconds=1.9)
        assert len(models.sent) == 1


@pytest.mark.parametrize(
    ("told", "failure"),
    [
        (refusal(401, "who"), CredentialsRejected),
        (refusal(429, "slow down"), RateLimited),
        (refusal(500, "oops"), ProviderUnavailable),
        (refusal(404, "no such model", code="model_not_found"), QueryRejected),
        (answer("<html>"), MalformedAnswer),
        (ProviderUnavailable("the provider took too long", cause=Cause.TIMEOUT), ProviderUnavailable),
    ],
)
def test_an_endpoint_in_trouble_is_told_of_and_not_asked_again(
    told: HttpAnswer | ProviderError, failure: type[ProviderError]
) -> None:
    """Retries live with whoever runs the step. What was used until then is told too."""
    models = Models(json_completion(BAD), told)
    with pytest.raises(failure) as raised:
        _json(models)
    assert len(models.sent) == 2
    assert raised.value.usage.calls == 1
    assert [tags["outcome"] for _, tags in models.counted(Metric.MODEL_CALLS)] == ["invalid_output", failure.reason]


def test_an_endpoint_is_reworded_to_as_it_wants() -> None:
    """A reasoning model that takes no `max_tokens`, no schema and no system role; the next call knows."""
    models = Models(
        refusal(400, "Unsupported parameter: 'max_tokens' is not supported", param="max_tokens"),
        refusal(400, "response_format is not supported"),
        refusal(400, "response_format is not supported"),
        refusal(400, "response_format is not supported"),
        refusal(400, "System role not supported"),
        json_completion(GOOD),
        json_completion(GOOD),
    )
    assert _json(models).usage.calls == 1
    assert _json(models).value == Answer(searches=["bells"])
    last = models.sent[-1]
    assert "response_format" not in last
    assert last["max_completion_tokens"] == 2000
    assert [message["role"] for message in last["messages"]] == ["user"]
    assert "JSON Schema" in last["messages"][0]["content"]


def test_what_a_server_found_against_the_schema_is_repaired_like_any_other() -> None:
    """Groq hands the model's words over in a 400."""
    failed = refusal(400, "Failed to generate JSON", code="json_validate_failed", failed_generation='{"searches": ')
    models = Models(failed, json_completion(GOOD))
    assert _json(models).value == Answer(searches=["bells"])


class _Watching:
    """A transport that takes its time, and remembers how much it was given and how many calls it had at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self.most = 0
        self.remaining: list[float] = []

    def send(
        self,
        request: HttpRequest,
        *,
        deadline: Deadline,
        authentication: Authentication | None = None,
        secret: Secret | None = None,
    ) -> HttpAnswer:
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
            self.remaining.append(deadline.remaining())
        time.sleep(0.02)
        with self._lock:
            self._running -= 1
        return json_completion(GOOD)


class _Rotated:
    """A key ring whose key was replaced after it was last read."""

    def secret(self, credential_key: str, *, fresh: bool = False, index: int = 1) -> Secret:
        return Secret("new-key-0123" if fresh else "old-key-0123")


def test_a_key_that_was_replaced_is_looked_up_once_more() -> None:
    """As for search providers."""
    models = Models(refusal(401, "who"), completion("Five."), primary={**OPENAI, "apiKey": "saved"}, keys=_Rotated())
    models.gateway.complete(ModelRole.PRIMARY, QUESTION, models.scope())
    assert [sent.secret for sent in models.transport.sent] == [Secret("old-key-0123"), Secret("new-key-0123")]


def test_a_call_has_the_models_time_or_what_the_caller_has_left() -> None:
    """Whichever is less."""
    transport = _Watching()
    models = Models(primary={**OPENAI, "timeoutSeconds": "45"}, transport=transport)
    for seconds in (120.0, 12.0):
        models.gateway.complete(ModelRole.PRIMARY, QUESTION, models.scope(seconds))
    assert transport.remaining == [45.0, 12.0]


def test_the_roles_ask_their_own_models() -> None:
    """Evaluation goes to the harvest model."""
    models = Models(json_completion(GOOD), json_completion(GOOD), harvest={"model": "small-1"})
    for recipe in (PLAN, EVALUATE):
        _json(models, recipe)
    assert [body["model"] for body in models.sent] == ["thinker-1", "small-1"]


def test_built_in_answers_are_checked_and_marked() -> None:
    """No model, no call, no cost."""

    def plan(variables: Mapping[str, Any]) -> dict[str, Any]:
        return {"searches": [variables["question"]]}

    models = Models(primary={}, builtin={PLAN: plan, EVALUATE: lambda _variables: BAD})
    assert _json(models) == JsonAnswer(value=Answer(searches=["Which bells?"]), usage=ModelUsage(), mode="builtin")
    with pytest.raises(InvalidModelOutput):
        _json(models, EVALUATE)
    assert models.metrics.drain() == []


def test_what_needs_a_model_says_so() -> None:
    """Nothing here imitates prose, or an order of merit."""
    models = Models(primary={})
    with pytest.raises(ModelMisconfigured, match="no primary model is configured"):
        models.gateway.complete(ModelRole.PRIMARY, QUESTION, models.scope())
    with pytest.raises(ModelMisconfigured, match="needs a model"):
        _json(models, RERANK)


def test_a_model_with_wrong_settings_is_not_replaced_by_another() -> None:
    """The setting is named, its value is not."""
    models = Models(primary={**OPENAI, "maxTokens": "plenty"})
    with pytest.raises(ModelMisconfigured, match=r"settings are wrong: llm\.primary\.maxTokens") as raised:
        _json(models)
    assert "plenty" not in str(raised.value)


def test_a_tenants_recipe_is_what_the_model_gets() -> None:
    """Only for that tenant, with its own role."""
    front = '+++\nrole = "harvest"\nversion = "2"\nschema = "research_plan"\ninternal = true\nmax_tokens = 50\n+++\n'
    text = front + "## system\nBe brief.\n## user\n{{ question }}\n"
    models = Models(json_completion(GOOD), harvest={"model": "small-1"}, overrides={("acme", PLAN): text})
    _json(models)
    (body,) = models.sent
    assert (body["model"], body["max_tokens"]) == ("small-1", 50)
    assert [message["content"] for message in body["messages"]] == ["Be brief.", "Which bells?"]


def _real_scope(seconds: float) -> SearchScope:
    return SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(seconds, SystemClock()))


@pytest.mark.parametrize(("recipe", "bounded"), [(EVALUATE, True), (PLAN, False)])
def test_harvest_calls_wait_for_a_turn(recipe: str, bounded: bool) -> None:
    """At most `maxParallel` at once; the primary model is not held back by it."""
    transport = _Watching()
    models = Models(harvest={"maxParallel": "2"}, transport=transport)
    with ThreadPoolExecutor(8) as pool:
        calls = [
            pool.submit(models.gateway.call_for_json, recipe, VARIABLES, Answer, _real_scope(30.0)) for _ in range(8)
        ]
        assert all(call.result().value for call in calls)
    assert transport.most <= 2 if bounded else transport.most > 2


def test_a_turn_that_does_not_come_in_time_is_a_failure() -> None:
    """Nothing was asked; the next call finds the turn free again."""
    turns = Turns()
    settings = ModelSettings(role=ModelRole.HARVEST, max_parallel=1)
    with turns.turn(settings, _real_scope(5.0).deadline), pytest.raises(ProviderUnavailable) as raised:
        turns.turn(settings, _real_scope(0.02).deadline).__enter__()
    assert raised.value.cause is Cause.DEADLINE
    with turns.turn(settings, _real_scope(0.02).deadline):
        pass


def test_bedrock_is_asked_through_its_client() -> None:
    """With the region of the settings and the model's time."""
    made: list[tuple[str | None, float]] = []

    class Client:
        def converse(self, **arguments: Any) -> dict[str, Any]:
            message = {
                "content": [{"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": '{"searches": ["b"]}'}]
            }
            return {
                "output": {"message": message},
                "stopReason": "end_turn",
                "usage": {"inputTokens": 5, "outputTokens": 7},
            }

    def clients(region: str | None, read_seconds: float) -> Any:
        made.append((region, read_seconds))
        return Client()

    settings = {"protocol": "bedrock", "model": "amazon.nova-lite-v1:0", "region": "eu-central-1"}
    got = _json(Models(primary=settings, bedrock=clients))
    assert (got.value.searches, got.mode, got.usage.output_tokens) == (["b"], "bedrock", 7)
    assert made == [("eu-central-1", 60.0)]
