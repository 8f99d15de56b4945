"""The dry run of an investigation: the plan where rules make it, bounds where a model would, and nobody asked."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.investigation import Investigation
from tests.fakes.providers import Step, found
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ProviderUnavailable, QueryRejected, RateLimited
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.provider import Capabilities
from zarniwoop.contract.request import SearchScope
from zarniwoop.tools.dry_run import DryRun
from zarniwoop.tools.research_investigate import InvestigateArguments

QUESTION = "How do cathedral bells ring?"
SETTINGS = {"research.endpoint.beta.costPerCall": "0.01", "research.endpoint.beta.autoAllow": "true"}
MODEL = {
    "llm.primary.protocol": "openai",
    "llm.primary.baseUrl": "https://model.example/v1",
    "llm.primary.model": "a-model",
}


def _made(settings: Mapping[str, str] | None = None, **more: Any) -> Investigation:
    return Investigation({"alpha": [found(1)], "beta": [found(1)]}, {**SETTINGS, **(settings or {})}, **more)


def _foretold(inv: Investigation, **arguments: Any) -> DryRun:
    asked = InvestigateArguments(**{"question": QUESTION, "dry_run": True, **arguments})
    scope = SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(20, inv.clock))
    told = inv.forecasts.forecast(asked, scope)
    assert inv.protocol.asked == []
    assert inv.model_transport.sent == []
    assert not inv.fake_runs.calls
    return told


def test_the_rules_plan_is_the_one_that_the_run_then_has() -> None:
    """The same searches in the same order, worded the same."""
    inv = _made()
    forecast = _foretold(inv, refine=False).forecast
    assert forecast is not None
    run = inv.start(question=QUESTION, refine=False)
    inv.carry_out(run)
    planned = inv.result(run)["plan"]["searches"]
    assert [(each["query"], each["modality"]) for each in planned] == [
        (each.query, each.modality) for each in forecast.searches
    ]
    assert forecast.most_searches == len(forecast.searches)


ENDS = st.sampled_from(
    [ProviderUnavailable("503"), RateLimited("429", retry_after=1.0), QueryRejected("400"), found(0), found(2)]
)


@settings(deadline=None, max_examples=60)
@given(
    alpha=st.lists(ENDS, min_size=1, max_size=8),
    beta=st.lists(ENDS, min_size=1, max_size=8),
    depth=st.integers(0, 1),
    max_cost=st.sampled_from([0.0, 0.03, 100.0]),
    max_calls=st.sampled_from([None, 3]),
)
def test_the_run_takes_no_more_than_was_foretold(
    alpha: list[Step], beta: list[Step], depth: int, max_cost: float, max_calls: int | None
) -> None:
    """Calls and costs of the whole run, with its second wave and its bodies, whoever fails and takes over."""
    inv = Investigation({"alpha": [*alpha], "beta": [*beta]}, SETTINGS)
    asked = {"refine_depth": depth, "max_cost": max_cost, "max_calls": max_calls}
    told = _foretold(inv, **asked)
    run = inv.start(question=QUESTION, **asked)
    inv.carry_out(run)
    assert len(inv.protocol.asked) + len(inv.protocol.loaded) <= told.worst_case.calls <= (max_calls or 1_000)
    cost = round(inv.run_of(run).cost, 9)  # the same cents, added up in another order
    assert cost <= round(told.worst_case.usd, 9) <= max_cost


def test_a_run_may_take_all_that_was_foretold() -> None:
    """Every search fails over, and whoever ends last is asked again: one call less, and the forecast would be wrong."""
    soon = RateLimited("429", retry_after=1.0)
    inv = Investigation({"alpha": [found(0)], "beta": [soon]}, {**SETTINGS, "research.default.web": "alpha"})
    inv.save({"research.fallback.web": "beta"})
    told = _foretold(inv, modalities=["WEB"], refine=False, max_searches=1)
    assert (told.worst_case.calls, told.worst_case.usd) == (3, 0.02)
    one = Investigation({"beta": [soon]}, SETTINGS)
    told = _foretold(one, modalities=["WEB"], refine=False, max_searches=1)
    run = one.start(question=QUESTION, modalities=["WEB"], refine=False, max_searches=1)
    one.carry_out(run)
    assert (len(one.protocol.asked), one.run_of(run).cost) == (told.worst_case.calls, told.worst_case.usd) == (2, 0.02)


def test_who_is_asked_again_before_the_run_is_over_counts() -> None:
    """A cooldown that ends meanwhile; one that outlasts the run does not."""
    for seconds, calls in ((100.0, 3), (400.0, 2)):
        inv = _made()
        inv.protocol.scripts["alpha"] = [RateLimited("429", retry_after=seconds)]
        inv.carry_out(inv.start(question=QUESTION, modalities=["WEB"], refine=False, max_searches=1))
        inv.protocol.asked.clear()
        inv.fake_runs.calls.clear()
        told = _foretold(inv, modalities=["WEB"], refine=False, max_searches=1, wall_seconds=300)
        assert [each.reason for each in told.plans["WEB"].skipped] == ["cooldown"]
        assert told.worst_case.calls == calls


def test_the_runs_own_ceilings_bound_what_is_foretold() -> None:
    """They hold before every call."""
    told = _foretold(_made(), max_cost=0.015, max_calls=4)
    assert (told.worst_case.calls, told.worst_case.usd) == (4, 0.015)
    assert told.forecast is not None
    assert (told.forecast.most_calls, told.forecast.most_cost) == (4, 0.015)


def test_a_second_wave_counts_as_searches_of_the_dearest_kind() -> None:
    """What it would ask is not known before the first one is judged."""
    inv = _made()
    once, twice = _foretold(inv, refine=False), _foretold(inv, refine=True)
    assert once.forecast is not None
    assert twice.forecast is not None
    assert twice.forecast.most_searches == 6
    assert twice.worst_case.calls > once.worst_case.calls


def test_with_a_model_nothing_is_planned_and_its_calls_are_bounded() -> None:
    """A plan, its repair and a longer answer; the same for each batch of hits, and for the second wave's plan."""
    told = _foretold(_made(MODEL), max_searches=4, max_results=5)
    assert told.forecast is not None
    assert (told.forecast.planner, told.forecast.searches, told.forecast.most_searches) == ("openai", (), 4)
    assert told.forecast.most_model_calls == 3 * (1 + 2 + 1 + 1)
    assert told.notes == (f"needs a model: up to {told.forecast.most_model_calls} calls, within 200000 tokens",)


@pytest.mark.parametrize(
    ("settings", "arguments", "more"),
    [
        ({"research.rerank.recipe": "zarniwoop-research-rerank"}, {}, 3),
        ({}, {"insights": True}, 3 * 3),
        ({}, {"refine": False}, -3 * 1),
    ],
)
def test_what_else_asks_the_model_counts_too(settings: dict[str, str], arguments: dict[str, Any], more: int) -> None:
    """Re-ranking, insights in batches, and no second wave where none is wanted."""
    asked = {"max_searches": 4, "max_results": 5}
    plain, with_it = _foretold(_made(MODEL), **asked), _foretold(_made({**MODEL, **settings}), **asked, **arguments)
    assert plain.forecast is not None
    assert with_it.forecast is not None
    assert with_it.forecast.most_model_calls - plain.forecast.most_model_calls == more


def test_a_model_that_cannot_be_used_ends_the_run_and_the_dry_run_says_so() -> None:
    """Nothing would be searched."""
    told = _foretold(_made({**MODEL, "llm.primary.maxTokens": "many"}))
    assert told.forecast is not None
    assert (told.forecast.planner, told.forecast.most_searches, told.worst_case.calls) == ("none", 0, 0)
    assert "misconfigured" in told.notes[0]


def test_where_nobody_serves_what_is_asked_for_nothing_would_be_done() -> None:
    """And why."""
    told = _foretold(_made(modalities=frozenset({SearchModality.WEB})), modalities=["MAP"])
    assert told.forecast is not None
    assert (told.forecast.failure, told.plans, told.worst_case.calls) == ("no_providers", {}, 0)
    with_model = _foretold(_made(MODEL, modalities=frozenset({SearchModality.WEB})), modalities=["MAP"])
    assert with_model.forecast is not None
    assert (with_model.forecast.most_model_calls, with_model.worst_case.calls) == (0, 0)


def test_a_budget_that_leaves_no_search_is_told_as_the_run_would_tell_it() -> None:
    """The first in line takes more than there is."""
    inv = _made({"research.endpoint.alpha.costPerCall": "2", "research.endpoint.alpha.autoAllow": "true"})
    told = _foretold(inv, max_cost=1)
    assert told.forecast is not None
    assert (told.forecast.failure, told.forecast.searches) == ("max_cost", ())
    assert "max_cost would be exceeded" in told.notes[0]


def test_free_only_leaves_the_others_out_with_their_reason() -> None:
    """On every path, this one too."""
    told = _foretold(_made(), free_only=True)
    assert told.worst_case.usd == 0
    for plan in told.plans.values():
        assert {each.instance_id: each.reason for each in plan.skipped} == {"beta": "metered"}


def test_bodies_count_at_the_dearest_endpoint_that_has_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five for each wave."""
    inv = _made()
    plain = _foretold(inv, refine_depth=1)
    assert plain.forecast is not None
    assert plain.forecast.most_bodies == 10
    monkeypatch.setattr(
        "tests.fakes.providers.FakeInstance.capabilities", lambda _instance: Capabilities(loads_content=True)
    )
    told = _foretold(inv, refine_depth=1)
    assert told.worst_case.calls == plain.worst_case.calls + 10
    assert told.worst_case.usd == pytest.approx(plain.worst_case.usd + 10 * 0.01)


def test_bodies_count_as_many_calls_as_their_endpoint_tells_and_none_where_they_cost_and_shall_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As deepening leaves them out."""
    monkeypatch.setattr(
        "tests.fakes.providers.FakeInstance.capabilities",
        lambda instance: Capabilities(loads_content=instance.id() == "beta"),
    )
    inv = _made()
    inv.protocol.requests_each["beta"] = 3
    without, with_them = _foretold(inv), _foretold(inv, refine_depth=1)
    assert with_them.worst_case.calls == without.worst_case.calls + 10 * 3
    free = _foretold(inv, refine_depth=1, free_only=True)
    assert free.worst_case == _foretold(inv, free_only=True).worst_case


def test_a_webhook_that_would_be_refused_is_refused() -> None:
    """As it would be if the run were to start."""
    with pytest.raises(InvalidArgument):
        _foretold(_made(), webhook_url="http://10.0.0.1/")
