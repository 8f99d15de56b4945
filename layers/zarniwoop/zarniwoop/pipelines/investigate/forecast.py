"""How an investigation would go: its plan where rules make it, its bounds where a model would; nobody is asked.

What is read: settings, the shared state once, and a tenant's own recipes, since these decide which model is asked. The
worst case is that of the providers' calls, within the run's `max_calls` and `max_cost`, whatever cooldown ends while it
goes on. It does not know of a step whose Lambda dies: that is done again, within the same ceilings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import ModelError
from zarniwoop.contract.hit import ContentInline, ContentReference
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.calls.promises import foretold as tell_ahead
from zarniwoop.dispatch.calls.promises import most_load_calls
from zarniwoop.dispatch.candidates.factory import Assembly
from zarniwoop.dispatch.dispatcher import Dispatcher
from zarniwoop.dispatch.plan import DispatchPlan, WorstCase, price_of, sum_of, worst_of
from zarniwoop.llm.builtin import BUILTIN_ANSWERS
from zarniwoop.llm.gateway import MOST_CALLS_PER_QUESTION, ModelGateway
from zarniwoop.llm.recipes import EVALUATE, INSIGHTS, PLAN, REFINE, RERANK
from zarniwoop.pipelines.investigate.batching import hits_at_once
from zarniwoop.pipelines.investigate.budget import searches_of_first_wave
from zarniwoop.pipelines.investigate.deepening import MOST_BODIES, allowed_by
from zarniwoop.pipelines.investigate.evaluate import most_batches
from zarniwoop.pipelines.investigate.extracting import ANSWER_TOKENS_PER_HIT
from zarniwoop.pipelines.investigate.fitting import hint_chars, room
from zarniwoop.pipelines.investigate.folder import PlanRecord
from zarniwoop.pipelines.investigate.plan import PlanAnswer, ProviderCard, plan_variables, serving, validated_plan
from zarniwoop.pipelines.investigate.planning import affordable, cards_of, limits_of
from zarniwoop.pipelines.investigate.refine import WAVES
from zarniwoop.pipelines.investigate.searching import request_of
from zarniwoop.pipelines.webhook import checked_target
from zarniwoop.settings.models import BUILTIN, ModelSettings
from zarniwoop.tools.dry_run import DryRun, Forecast, ForecastSearch
from zarniwoop.tools.research_investigate import RESEARCH_INVESTIGATE, InvestigateArguments

UNUSABLE = "none"
"""The planner of a project whose model is misconfigured."""
_ANY_BODY = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="-")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What a forecast goes by. `models` holds the model of each recipe, None for one that cannot be used."""

    asked: InvestigateArguments
    assembly: Assembly
    cards: Sequence[ProviderCard]
    models: Mapping[str, ModelSettings | None]
    today: str

    @property
    def modalities(self) -> list[SearchModality]:
        allowed = limits_of(self.asked, 0)
        return [modality for modality in SearchModality if modality in serving(self.cards) and allowed.allow(modality)]


class InvestigationForecaster:
    """`tools.research_investigate.Forecasts`."""

    def __init__(self, *, dispatcher: Dispatcher, models: ModelGateway, clock: Clock) -> None:
        self._dispatcher = dispatcher
        self._models = models
        self._clock = clock

    def forecast(self, arguments: InvestigateArguments, scope: SearchScope) -> DryRun:
        """Raises ProjectScopeMissing, InvalidArgument (webhook) and ConfigurationUnavailable."""
        if arguments.webhook_url is not None:
            checked_target(arguments.webhook_url)
        known = self._known(arguments, scope)
        record = _planned(known)
        planned = record.plan.searches if record else ()
        requests = [request_of(search.query, search.modality, arguments) for search in planned]
        possible = [request_of(arguments.question, modality, arguments) for modality in known.modalities]
        wall = float(arguments.wall_seconds)
        plans = self._dispatcher.plan([*requests, *possible], scope, within=wall) if possible else []
        by_rules, any_kind = plans[: len(requests)], plans[len(requests) :]
        foretold = _forecast(known, record)
        shown = {search.modality for search in planned} if record else set(known.modalities)
        return DryRun(
            tool=RESEARCH_INVESTIGATE.name,
            plans={str(plan.modality): plan for plan in any_kind if plan.modality in shown},
            worst_case=_worst(known, foretold, by_rules, any_kind),
            forecast=foretold,
            notes=_notes(foretold, record),
        )

    def _known(self, arguments: InvestigateArguments, scope: SearchScope) -> _Known:
        assembly = self._dispatcher.factory.assemble(scope)
        return _Known(
            asked=arguments,
            assembly=assembly,
            cards=cards_of(assembly, scope, free_only=arguments.free_only),
            models={
                recipe: _spared(self._model(recipe, scope), arguments)
                for recipe in (PLAN, EVALUATE, REFINE, RERANK, INSIGHTS)
            },
            today=datetime.fromtimestamp(self._clock.now(), tz=UTC).date().isoformat(),
        )

    def _model(self, recipe: str, scope: SearchScope) -> ModelSettings | None:
        try:
            return self._models.settings_for(recipe, scope)
        except ModelError:
            return None


def _spared(model: ModelSettings | None, asked: InvestigateArguments) -> ModelSettings | None:
    """With `free_only` the built-in answers in the place of a model that costs money."""
    return replace(model, protocol=BUILTIN) if model is not None and asked.free_only and model.is_priced else model


def _planned(known: _Known) -> PlanRecord | None:
    """The first wave as the rules plan it; None where a model would."""
    model, asked = known.models[PLAN], known.asked
    if model is None or model.protocol != BUILTIN:
        return None
    limits = limits_of(asked, searches_of_first_wave(asked))
    hints = hint_chars(len(known.cards), room(model.context_tokens))
    variables = plan_variables(asked.question, known.today, known.cards, limits, hint_chars=hints)
    answer = PlanAnswer.model_validate(BUILTIN_ANSWERS[PLAN](variables))
    plan = validated_plan(answer, serving(known.cards), limits)
    failure = None if plan.searches else "no_search" if known.modalities else "no_providers"
    record = PlanRecord(wave=1, plan=plan, mode=BUILTIN, failure=failure)
    return affordable(record, known.assembly, asked.max_cost, free_only=asked.free_only)


def _forecast(known: _Known, record: PlanRecord | None) -> Forecast:
    asked, model = known.asked, known.models[PLAN]
    first = len(record.plan.searches) if record else searches_of_first_wave(asked)
    ends_early = not known.modalities or model is None or (record is not None and not first)
    most = 0 if ends_early else asked.max_searches if asked.refine or record is None else first
    return Forecast(
        planner=model.protocol if model else UNUSABLE,
        searches=tuple(ForecastSearch(query=each.query, modality=each.modality) for each in record.plan.searches)
        if record
        else (),
        most_searches=most,
        most_bodies=MOST_BODIES * _waves(asked) if asked.refine_depth and most else 0,
        most_model_calls=_model_calls(known, first, most),
        most_tokens=asked.max_model_tokens,
        most_cost=asked.max_cost,
        most_calls=asked.max_calls,
        wall_seconds=asked.wall_seconds,
        rationale=record.plan.rationale if record else None,
        refused=record.plan.refused if record else (),
        failure=record.failure if record else None,
    )


def _waves(asked: InvestigateArguments) -> int:
    return WAVES if asked.refine else 1


def _model_calls(known: _Known, first: int, most: int) -> int:
    """Every question that a model would be asked, each answered as often as it takes at most."""
    questions = _asks(known, PLAN) if known.modalities else 0
    if most:
        waves = (first, most - first) if known.asked.refine else (most,)
        questions += sum(_batches(known, EVALUATE, searches) for searches in waves)
        questions += _asks(known, REFINE) if known.asked.refine else 0
        questions += _asks(known, RERANK) if known.assembly.settings.rerank_recipe else 0
        questions += _batches(known, INSIGHTS, most) if known.asked.insights else 0
    return questions * MOST_CALLS_PER_QUESTION


def _asks(known: _Known, recipe: str) -> int:
    model = known.models[recipe]
    return int(model is not None and model.protocol != BUILTIN)


def _batches(known: _Known, recipe: str, searches: int) -> int:
    """How many batches the hits of so many searches take at most, where a model reads them."""
    model, hits = known.models[recipe], searches * known.asked.max_results
    if model is None or model.protocol == BUILTIN:
        return 0
    if recipe == EVALUATE:
        return most_batches(hits, model.context_tokens, most=hits_at_once(model))
    most = hits_at_once(model, ANSWER_TOKENS_PER_HIT)
    return most_batches(hits, model.context_tokens, most=most, answer_tokens=ANSWER_TOKENS_PER_HIT)


def _worst(
    known: _Known, foretold: Forecast, by_rules: Sequence[DispatchPlan], any_kind: Sequence[DispatchPlan]
) -> WorstCase:
    """The searches that are known, the others as the dearest kind, the bodies as the dearest endpoint's."""
    unknown = foretold.most_searches - len(by_rules)
    dearest = worst_of(plan.worst_case for plan in any_kind)
    everything = sum_of(
        (
            *(plan.worst_case for plan in by_rules),
            dearest.times(max(unknown, 0)),
            _dearest_body(known).times(foretold.most_bodies),
        )
    )
    return everything.within(known.asked.max_calls, known.asked.max_cost)


def _dearest_body(known: _Known) -> WorstCase:
    """Which instances' bodies will be the most promising is not known before."""
    return worst_of(
        price_of(candidate.endpoint, tell_ahead(partial(most_load_calls, candidate, _ANY_BODY), 1))
        for candidate in allowed_by(known.asked, known.assembly.candidates).values()
        if candidate.endpoint.enabled and candidate.instance.capabilities().loads_content
    )


def _notes(foretold: Forecast, record: PlanRecord | None) -> tuple[str, ...]:
    if foretold.planner == UNUSABLE:
        return ("the model that plans is misconfigured: the run would end at once; see research_providers",)
    calls = foretold.most_model_calls
    needs = f"needs a model: up to {calls} calls, within {foretold.most_tokens} tokens" if calls else None
    return tuple(filter(None, (needs, *(record.notes if record else ()))))
