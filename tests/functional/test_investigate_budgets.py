"""Budgets of a run: when one is nearly spent nothing new is begun, and what there is is judged all the same."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.fakes.investigation import MODEL, Investigation
from tests.fakes.keys import FakeKeyRing
from tests.functional.test_investigate_steps import BELLS, WEB, planned, verdicts
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.llm.builtin import BUILTIN_ANSWERS
from zarniwoop.llm.gateway import ModelGateway
from zarniwoop.llm.recipes import EVALUATE, RecipeBook
from zarniwoop.pipelines.investigate.searching import SEARCH_SECONDS

ONE_KEPT = verdicts(h001=("keep", 0.9), h002=("drop", 0.1), h003=("drop", 0.0))
REFINABLE: dict[str, Any] = {"modalities": [SearchModality.WEB]}
PRICED = {**MODEL, "llm.primary.costPerMillionInput": "1000", "llm.primary.costPerMillionOutput": "1000"}
"""An answer of `completion` (120 tokens) takes 0.12."""


def completion_of(answer: Any, *, tokens: int) -> Any:
    """The same answer, written with so many tokens."""
    body = orjson.loads(answer.body)
    body["usage"] = {"prompt_tokens": 0, "completion_tokens": tokens, "total_tokens": tokens}
    return replace(answer, body=orjson.dumps(body))


@pytest.mark.parametrize(("limit", "budget"), [({"max_model_tokens": 5_000}, "max_model_tokens"), ({}, "max_cost")])
def test_no_second_wave_is_begun_on_what_is_left_of_a_budget(limit: dict[str, Any], budget: str) -> None:
    """No model may plan it, and nothing built in plans one in its place: it would be new work."""
    dear = completion_of(ONE_KEPT, tokens=4_500 if limit else 3_500)
    inv = Investigation({"alpha": [BELLS]}, MODEL if limit else PRICED, model_script=[planned("cathedral bells"), dear])
    run = inv.start(**REFINABLE, **(limit or {"max_cost": 5.0}))
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["outcome"], result["waves"], len(inv.protocol.asked)) == ("success", 1, 1)
    assert result["modes"] == {"plan": ["openai"], "evaluate": ["openai"]}
    assert f"no second wave: {budget} is nearly spent" in result["notes"]


def test_money_that_is_overspent_asks_for_no_second_wave_at_all() -> None:
    """The judge took more than was left; that is the last thing that the run pays."""
    inv = Investigation(
        {"alpha": [BELLS]}, PRICED, model_script=[planned("bells"), completion_of(ONE_KEPT, tokens=6_000)]
    )
    run = inv.start(**REFINABLE, max_cost=5.0)
    inv.carry_out(run)
    assert inv.run_of(run).cost > 5.0
    assert "refine" not in inv.run_of(run).progress
    assert len(inv.model_transport.sent) == 2


def test_a_run_whose_searches_are_used_up_asks_for_no_second_wave() -> None:
    """Three are too few to keep one back, and a fourth is not allowed: no model is asked for it."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[planned("one", "two", "three"), ONE_KEPT])
    run = inv.start(**REFINABLE, max_searches=3)
    inv.carry_out(run)
    assert "refine" not in inv.run_of(run).progress
    assert (len(inv.protocol.asked), len(inv.model_transport.sent)) == (3, 2)


def test_a_late_run_begins_no_second_wave() -> None:
    """With less than a quarter of its time left for gathering, what there is is ranked."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[planned("bells"), ONE_KEPT])
    run = inv.start(**REFINABLE, wall_seconds=100)
    inv.carry_out(run, until="evaluate")
    inv.hands.advance(60)
    inv.step("evaluate", run, index=0, wave=1)
    assert inv.step("judge", run, wave=1)["then"] == "rank"


def test_a_wave_that_nobody_answered_is_not_followed_by_a_second() -> None:
    """It would find them down once more."""
    inv = Investigation({"alpha": [ProviderUnavailable("down")]}, MODEL, model_script=[planned("bells")])
    run = inv.start(**REFINABLE)
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["outcome"], result["waves"], len(inv.model_transport.sent)) == ("empty", 1, 1)


def test_what_the_planner_took_is_no_longer_there_for_searches() -> None:
    """The plan is paid for before its searches are counted out."""
    settings = {**PRICED, "research.endpoint.alpha.costPerCall": "0.9", "research.default.web": "alpha"}
    plan = completion_of(planned("one", "two", "three"), tokens=3_000)
    inv = Investigation({"alpha": [BELLS]}, settings, model_script=[plan])
    run = inv.start(**WEB, max_cost=5.0)
    assert len(inv.step("plan", run)["searches"]) == 2
    assert inv.run_of(run).cost == pytest.approx(3.0)


def test_a_search_has_its_own_limit_and_no_more_than_the_run_has_left() -> None:
    """Twenty seconds, whatever Lambda allows; near the end of the run what is left for gathering."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(modalities=[SearchModality.WEB, SearchModality.ACADEMIC], refine=False, wall_seconds=60)
    inv.step("plan", run)
    inv.step("search", run, index=0, wave=1)
    inv.hands.advance(40)
    inv.step("search", run, index=1, wave=1)
    early, late = inv.protocol.given_seconds
    assert late < early <= SEARCH_SECONDS
    assert late <= 60 - 40 - 12


def test_as_many_batches_are_judged_at_once_as_the_harvest_model_may_be_asked() -> None:
    """HARVEST_MAX_PARALLEL, or what the settings say, is what the state machine's Map is told."""
    for more, parallel in (({}, 4), ({"llm.harvest.maxParallel": "2"}, 2)):
        inv = Investigation({"alpha": [BELLS]}, {**MODEL, **more}, model_script=[planned("bells")])
        assert inv.carry_out(inv.start(**WEB), until="evaluate")["parallel"] == parallel


def test_the_budget_of_a_tenants_own_recipe_is_that_of_the_model_that_it_asks() -> None:
    """A recipe may name another role: what counts is the price of the model behind it."""
    front = '+++\nrole = "primary"\nversion = "9"\nschema = "verdicts"\ninternal = true\nmax_tokens = 500\n+++\n'
    text = front + "## system\nJudge.\n## user\n{{ question }}\n{{ fence }}\n"
    inv = Investigation(
        {"alpha": [BELLS]},
        {**PRICED, "llm.harvest.protocol": "builtin"},
        model_script=[planned("cathedral bells")],
    )
    inv.__dict__["models"] = ModelGateway(
        models=inv._model_settings.read,
        recipes=RecipeBook(lambda _tenant_id, name: text if name == EVALUATE else None),
        builtin=BUILTIN_ANSWERS,
        transport=inv.model_transport,
        keys=FakeKeyRing(),
        bedrock=lambda *_given: pytest.fail("no test in here asks Bedrock"),
        clock=inv.clock,
        metrics=inv.metrics,
        tracing=inv.tracing,
    )
    run = inv.start(**WEB, max_cost=1.6)
    inv.carry_out(run)
    result = inv.result(run)
    assert (result["modes"], len(inv.model_transport.sent)) == ({"plan": ["openai"], "evaluate": ["builtin"]}, 1)
    assert result["notes"] == ["judged without a model: max_cost is nearly spent"]
