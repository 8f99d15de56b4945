"""The steps `plan` and `refine`: a wave of searches out of the question, and out of what the first wave found."""

from dataclasses import replace
from typing import Any

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import ProviderAvailability
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.dispatch.candidates.credit import dollars_of_a_call
from zarniwoop.dispatch.candidates.factory import Assembly
from zarniwoop.dispatch.candidates.selection import Candidate, line_up
from zarniwoop.llm.recipes import PLAN, REFINE
from zarniwoop.pipelines.investigate.asking import Answered, Question, Unanswered, ask, room_for
from zarniwoop.pipelines.investigate.budget import searches_of_first_wave, why_spared
from zarniwoop.pipelines.investigate.evaluate import Judged
from zarniwoop.pipelines.investigate.fitting import hint_chars
from zarniwoop.pipelines.investigate.folder import PlanRecord
from zarniwoop.pipelines.investigate.found import judged_so_far
from zarniwoop.pipelines.investigate.optional import RERANK_NODE
from zarniwoop.pipelines.investigate.plan import (
    Plan,
    PlanAnswer,
    PlanLimits,
    ProviderCard,
    plan_schema,
    plan_variables,
    serving,
    validated_plan,
)
from zarniwoop.pipelines.investigate.refine import refine_variables, refined_plan
from zarniwoop.pipelines.investigate.services import Work
from zarniwoop.tools.research_investigate import InvestigateArguments
from zarniwoop.tools.untrusted import new_nonce

FEWEST_SURVIVORS = 3
"""A first wave with fewer is followed by a second."""
_PLANNING_SHARE = 0.5


def plan(work: Work) -> dict[str, Any]:
    """The first wave."""
    record = work.folder.plan(1)
    if record is None:
        record = _planned(work)
        work.folder.put_plan(record)
    work.done("plan", "1", total=1, usage=record.usage)
    then = "search" if record.plan.searches else "finish"
    return {**_told(record, work, then=then), "error": record.failure}


def refine(work: Work) -> dict[str, Any]:
    """The second wave; without one the run goes on with what it has."""
    record = work.folder.plan(2)
    if record is None:
        record = _refined(work)
        work.folder.put_plan(record)
    work.done("refine", "1", total=1, usage=record.usage)
    then = "search" if record.plan.searches else begin_ordering(work, judged_so_far(work.folder, 1))
    return _told(record, work, then=then)


def begin_ordering(work: Work, judged: Judged) -> str:
    """Announce that the survivors are re-ranked, where the settings say so; returns the step that is next."""
    wanted = work.services.dispatcher.factory.assemble(work.scope).settings.rerank_recipe is not None
    if not wanted or len(judged.kept) < 2:
        return "rank"
    work.expect(RERANK_NODE, 1)
    return "rerank" if judged.evaluated else "rank"


def _told(record: PlanRecord, work: Work, *, then: str) -> dict[str, Any]:
    searches = record.plan.searches
    if searches:
        earlier = work.folder.plans(record.wave - 1)
        work.expect("search", sum(len(each.plan.searches) for each in (*earlier, record)))
    return {
        "then": then,
        "wave": record.wave,
        "searches": [search.index for search in searches],
        "error": None,
    }


def _planned(work: Work) -> PlanRecord:
    assembly = work.services.dispatcher.factory.assemble(work.scope)
    cards = cards_of(assembly, work.scope, free_only=work.asked.free_only)
    limits = limits_of(work.asked, searches_of_first_wave(work.asked))
    if not any(limits.allow(modality) for modality in serving(cards)):
        return PlanRecord(wave=1, plan=Plan(searches=(), rationale=""), failure="no_providers")
    hints = hint_chars(len(cards), room_for(PLAN, work))
    variables = plan_variables(work.asked.question, work.today, cards, limits, hint_chars=hints)
    question = Question(recipe=PLAN, variables=variables, into=PlanAnswer, schema=plan_schema(variables))
    answer = ask(question, work, work.budget.seconds_to_gather * _PLANNING_SHARE)
    if isinstance(answer, Unanswered):
        return _without(1, answer)
    record = _record(1, validated_plan(answer.value, serving(cards), limits), answer)
    return affordable(record, assembly, work.budget.cost, free_only=work.asked.free_only)


def _refined(work: Work) -> PlanRecord:
    assembly = work.services.dispatcher.factory.assemble(work.scope)
    cards = cards_of(assembly, work.scope, free_only=work.asked.free_only)
    first = work.folder.plan(1)
    previous = first.plan if first else Plan(searches=(), rationale="")
    limits = limits_of(work.asked, work.asked.max_searches - len(previous.searches))
    variables = refine_variables(
        work.asked.question,
        work.today,
        cards,
        limits,
        previous=previous,
        judged=judged_so_far(work.folder, 1),
        threshold=FEWEST_SURVIVORS,
        nonce=new_nonce(),
        tokens=room_for(REFINE, work),
    )
    question = Question(recipe=REFINE, variables=variables, into=PlanAnswer, schema=plan_schema(variables))
    answer = ask(question, work, work.budget.seconds_to_gather * _PLANNING_SHARE)
    if isinstance(answer, Answered) and answer.spared:
        answer = Unanswered(reason=why_spared(answer.spared), usage=answer.usage)
    if isinstance(answer, Unanswered):
        return _without(2, answer)
    record = _record(2, refined_plan(answer.value, serving(cards), limits, previous), answer)
    return affordable(record, assembly, work.budget.cost, free_only=work.asked.free_only)


def _record(wave: int, plan: Plan, answer: Answered[PlanAnswer]) -> PlanRecord:
    notes = (f"planned without a model: {why_spared(answer.spared)}",) if answer.spared else ()
    failure = None if plan.searches else "no_search"
    return PlanRecord(wave=wave, plan=plan, mode=answer.mode, failure=failure, notes=notes, usage=answer.usage)


def _without(wave: int, answer: Unanswered) -> PlanRecord:
    return PlanRecord(wave=wave, plan=Plan(searches=(), rationale=""), failure=answer.reason, usage=answer.usage)


def limits_of(asked: InvestigateArguments, searches: int) -> PlanLimits:
    """What a plan of so many searches may hold."""
    modalities = frozenset(asked.modalities) if asked.modalities else None
    return PlanLimits(max_searches=searches, modalities=modalities)


def cards_of(assembly: Assembly, scope: SearchScope, *, free_only: bool) -> list[ProviderCard]:
    """The instances that a search could get to, each with the modalities for which it would be asked."""
    routed = {modality: _asked_for(modality, assembly, free_only) for modality in SearchModality}
    cards = [
        ProviderCard(
            id=candidate.endpoint.id,
            display_name=candidate.instance.display_name(),
            modalities=tuple(modality for modality, asked in routed.items() if candidate in asked),
            hint=candidate.instance.prompt_hint(),
        )
        for candidate in assembly.candidates.values()
        if candidate.instance.availability(scope) is ProviderAvailability.READY
    ]
    return [card for card in cards if card.modalities]


def _asked_for(modality: SearchModality, assembly: Assembly, free_only: bool) -> tuple[Candidate, ...]:
    request = SearchRequest(query="-", modality=modality, free_only=free_only)
    return line_up(request, assembly.candidates, assembly.settings).candidates


def affordable(record: PlanRecord, assembly: Assembly, budget: float, *, free_only: bool) -> PlanRecord:
    """The searches whose expected costs fit into the budget together, in the plan's order."""
    left = budget - record.usage.cost
    kept = []
    for search in record.plan.searches:
        cost = _expected_cost(search.modality, assembly, free_only)
        if cost and cost > left:
            continue
        left -= cost
        kept.append(search)
    out = len(record.plan.searches) - len(kept)
    if not out:
        return record
    return replace(
        record,
        plan=replace(record.plan, searches=tuple(kept)),
        failure=record.failure if kept else "max_cost",
        notes=(*record.notes, f"{out} of {out + len(kept)} searches were left out: max_cost would be exceeded"),
    )


def _expected_cost(modality: SearchModality, assembly: Assembly, free_only: bool) -> float:
    """What the instance that is asked first takes for a call."""
    candidates = _asked_for(modality, assembly, free_only)
    return dollars_of_a_call(candidates[0].endpoint) if candidates else 0.0
