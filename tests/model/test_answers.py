"""The gateway and a real model: plan, verdicts, second wave and order in the form that was asked for, or refused.

What the model says is its own business; what these tests hold fast is what code makes of it.
"""

from collections.abc import Callable, Iterator, Mapping
from statistics import mean
from typing import Any

import pytest

from tests.fakes.hits import merged_hit
from tests.fakes.models import Models
from tests.model.listening import Listening
from tests.model.serving import CONTEXT_TOKENS, LocalModel
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import InvalidModelOutput
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchScope
from zarniwoop.llm.gateway import JsonAnswer
from zarniwoop.llm.recipes import EVALUATE, PLAN, REFINE, RERANK
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.exchange import Limits
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock
from zarniwoop.pipelines.investigate.evaluate import (
    EvaluateAnswer,
    EvaluatedBatch,
    Judged,
    apply_verdicts,
    verdicts_schema,
)
from zarniwoop.pipelines.investigate.fence import hits_variables
from zarniwoop.pipelines.investigate.fitting import room
from zarniwoop.pipelines.investigate.merge import MergedHit
from zarniwoop.pipelines.investigate.plan import (
    MAX_AFFINITY,
    Plan,
    PlanAnswer,
    PlanLimits,
    ProviderCard,
    identity,
    plan_schema,
    plan_variables,
    serving,
    validated_plan,
)
from zarniwoop.pipelines.investigate.rank import RerankAnswer, order_schema, rank, rerank_variables, reranked
from zarniwoop.pipelines.investigate.refine import refine_variables, refined_plan
from zarniwoop.tools.untrusted import new_nonce

TODAY = "2026-11-30"
LIMITS = PlanLimits(max_searches=4)
CARDS = (
    ProviderCard(
        id="wikipedia-en",
        display_name="Wikipedia",
        modalities=(SearchModality.ENCYCLOPEDIA, SearchModality.WEB),
        hint="Encyclopedia articles: what something is, who somebody was, when it happened.",
    ),
    ProviderCard(
        id="openalex-main",
        display_name="OpenAlex",
        modalities=(SearchModality.ACADEMIC,),
        hint="Scholarly works of all fields, with abstracts.",
    ),
    ProviderCard(
        id="openlibrary-main", display_name="Open Library", modalities=(SearchModality.BOOK,), hint="Books by title."
    ),
)
QUESTIONS = (
    "Which studies show the risks of CRISPR gene editing?",
    "What is the history of cathedral bells?",
    "Who wrote the first books about Python programming?",
    "Wie entstand das Kölner Domgeläut?",
)
TITLES = {
    41: "Off-target effects of CRISPR-Cas9 in human cells",
    53: "Soup recipes for cold evenings",
    67: "Mosaicism in edited embryos: a review",
}

NO_REASON = "no reason given"

Ask = Callable[[str, dict[str, object], type[Any], Mapping[str, Any] | None], JsonAnswer[Any] | None]


@pytest.fixture
def listening() -> Iterator[Listening]:
    made = PooledTransport(contact="", allowed=AllowedNetworks.parse("127.0.0.1/32"), limits=Limits(read=900.0))
    yield Listening(made)
    made.close()


@pytest.fixture
def ask(model: LocalModel, listening: Listening, figures: list[str], request: pytest.FixtureRequest) -> Iterator[Ask]:
    """Put a recipe to the model; None when it was refused because its answer was of the wrong form twice."""
    gateway = Models(primary=model.settings(), transport=listening).gateway
    refused = 0

    def asked(
        recipe: str, variables: dict[str, object], into: type[Any], schema: Mapping[str, Any] | None
    ) -> JsonAnswer[Any] | None:
        nonlocal refused
        scope = SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(300, SystemClock()))
        try:
            answer = gateway.call_for_json(recipe, variables, into, scope, schema)
        except InvalidModelOutput as error:
            assert error.usage.calls == 2
            refused += 1
            return None
        assert answer.usage.input_tokens + answer.usage.output_tokens <= CONTEXT_TOKENS * answer.usage.calls
        return answer

    yield asked
    seconds = [each.seconds for each in listening.answers]
    figures.append(
        f"{request.node.name}: {len(seconds)} answers, {mean(seconds):.1f} s each ({min(seconds):.1f} to"
        f" {max(seconds):.1f}), {refused} of wrong form twice"
    )


def _planned(ask: Ask, question: str) -> PlanAnswer | None:
    variables = plan_variables(question, TODAY, CARDS, LIMITS)
    answer = ask(PLAN, variables, PlanAnswer, plan_schema(variables))
    return answer.value if answer else None


def _checked(plan: Plan, first_index: int = 0) -> None:
    """What a run relies on, whatever a model proposed."""
    assert len(plan.searches) <= LIMITS.max_searches
    assert [search.index for search in plan.searches] == list(range(first_index, first_index + len(plan.searches)))
    assert len(set(map(identity, plan.searches))) == len(plan.searches)
    for search in plan.searches:
        assert search.query
        assert set(search.source_affinity) <= set(serving(CARDS)[search.modality])
        assert all(0 <= affinity <= MAX_AFFINITY for affinity in search.source_affinity.values())


def _judged(hits: list[MergedHit], answer: EvaluateAnswer) -> Judged:
    return apply_verdicts(hits, [EvaluatedBatch(keys=[hit.key for hit in hits], verdicts=answer.verdicts)])


def test_plans_are_made_of_what_can_be_searched(ask: Ask, listening: Listening, figures: list[str]) -> None:
    """Repeated queries are merged, indexes and kinds that are not there left out; and most answers can be used."""
    answers = [answer for question in QUESTIONS if (answer := _planned(ask, question)) is not None]
    plans = [validated_plan(answer, serving(CARDS), LIMITS) for answer in answers]
    for plan in plans:
        _checked(plan)
    assert sum(bool(plan.searches) for plan in plans) >= len(QUESTIONS) / 2
    refused = [told for plan in plans for told in plan.refused]
    figures.append(
        f"  {sum(len(answer.searches) for answer in answers)} searches proposed, {sum(len(p.searches) for p in plans)}"
        f" made of them; refused or merged: {refused}"
    )


def test_a_schema_is_asked_for_in_the_form_that_the_server_takes(ask: Ask, listening: Listening) -> None:
    """It knows no `json_schema` and says so with a 500; its JSON mode takes the schema, and is remembered."""
    for question in QUESTIONS[:2]:
        _planned(ask, question)
    forms = [each.body["response_format"] for each in listening.heard]
    assert [(form["type"], each.status) for form, each in zip(forms, listening.heard, strict=True)][:3] == [
        ("json_schema", 500),
        ("json_object", 200),
        ("json_object", 200),
    ]
    assert forms[1]["schema"]["properties"]["searches"]["minItems"] == 1


@pytest.mark.parametrize("held", [True, False], ids=["held to the keys", "left to itself"])
def test_verdicts_count_for_the_hits_that_were_shown(ask: Ask, figures: list[str], held: bool) -> None:
    """Whatever is unknown, missing, repeated, out of range or without a reason: every hit is there once, with a reason.

    Left to itself the model is free to name keys that it saw in the prompt's example and nowhere else.
    """
    hits = [merged_hit(number, title=title, snippet=f"{title}.") for number, title in TITLES.items()]
    keys = [hit.key for hit in hits]
    told = []
    for question in QUESTIONS[:3]:
        variables = hits_variables(question, TODAY, hits, new_nonce())
        answer = ask(EVALUATE, variables, EvaluateAnswer, verdicts_schema(keys) if held else None)
        if answer is not None:
            judged = _judged(hits, answer.value)
            assert [each.merged.key for each in judged.hits] == keys
            assert all(each.relevance is None or 0 <= each.relevance <= 1 for each in judged.hits)
            assert all(any(map(str.isalnum, each.reason)) for each in judged.hits)
            assert not (held and judged.unknown_keys)
            told.append(_told(judged, len(answer.value.verdicts)))
    assert told
    figures.extend(told)


def _told(judged: Judged, verdicts: int) -> str:
    return (
        f"  {verdicts} verdicts for {len(judged.hits)} hits: {judged.unknown_keys} for unknown keys,"
        f" {judged.repeated_keys} repeated, {judged.clamped_scores} scores out of range,"
        f" {sum(each.reason == NO_REASON for each in judged.hits)} without a reason; {judged.unjudged} hits without one"
    )


def test_a_second_wave_and_an_order_fit_what_the_model_reads(ask: Ask, figures: list[str]) -> None:
    """With as many hits and hints as there may be, all at full length; a 400 for too long a prompt would be raised."""
    many = [merged_hit(number, snippet="What was found, at some length. " * 25) for number in range(1, 26)]
    judged = _judged(many, EvaluateAnswer(verdicts=[]))
    cards = [
        ProviderCard(
            id=f"index-{number}", display_name="I", modalities=(SearchModality.WEB,), hint="It has much. " * 50
        )
        for number in range(12)
    ]
    tokens = room(CONTEXT_TOKENS)
    first = Plan(searches=(), rationale="")
    variables = refine_variables(
        *(QUESTIONS[0], TODAY, cards, LIMITS),
        previous=first,
        judged=judged,
        threshold=3,
        nonce=new_nonce(),
        tokens=tokens,
    )
    wave = ask(REFINE, variables, PlanAnswer, plan_schema(variables))
    if wave is not None:
        plan = refined_plan(wave.value, serving(cards), LIMITS, first)
        assert len(plan.searches) <= LIMITS.max_searches
    ranked = rank(judged)
    shown = rerank_variables(QUESTIONS[0], TODAY, ranked, new_nonce(), tokens=tokens)
    order = ask(RERANK, shown, RerankAnswer, order_schema(shown["keys"]))
    if order is not None:
        better = reranked(ranked, order.value)
        assert sorted(each.key for each in better.survivors) == [hit.key for hit in many]
        figures.append(f"  {len(order.value.keys)} keys put into order, {better.ignored_keys} unknown or repeated")
