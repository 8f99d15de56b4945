"""The second wave: when it is wanted, and what it may ask."""

from dataclasses import replace
from typing import Any

from tests.fakes.hits import merged_hit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.pipelines.investigate.evaluate import Judged, JudgedHit
from zarniwoop.pipelines.investigate.fitting import tokens_of
from zarniwoop.pipelines.investigate.plan import Plan, PlanAnswer, PlanLimits, PlannedSearch, ProviderCard
from zarniwoop.pipelines.investigate.refine import MOST_SHOWN, needs_refinement, refine_variables, refined_plan

WEB = SearchModality.WEB
CARDS = (ProviderCard(id="serper", display_name="Serper", modalities=(WEB,), hint="the open web"),)
FIRST = Plan(
    searches=(
        PlannedSearch(index=0, query="Asthma care", modality=WEB, source_affinity={}),
        PlannedSearch(index=4, query="asthma", modality=WEB, source_affinity={}),
    ),
    rationale="",
)


def judged(*relevances: float | None, kept: int = 0) -> Judged:
    return Judged(
        hits=tuple(
            JudgedHit(merged=merged_hit(number), keep=number > len(relevances) - kept, relevance=relevance, reason="")
            for number, relevance in enumerate(relevances, 1)
        )
    )


def test_too_few_survivors_call_for_a_second_wave_and_never_for_a_third() -> None:
    """Nothing found at all is too few."""
    few = judged(0.1, 0.9, kept=1)
    assert needs_refinement(few, 2, 1)
    assert not needs_refinement(few, 1, 1)
    assert not needs_refinement(few, 2, 2)
    assert needs_refinement(judged(), 1, 1)


def test_without_a_judge_nobody_knows_whether_it_was_too_little() -> None:
    """A second wave would be judged by nobody either."""
    assert not needs_refinement(judged(None, None, kept=2), 5, 1)


def test_the_recipe_sees_what_was_asked_and_what_it_found() -> None:
    """Survivors first, each hit with its verdict, inside the fence."""
    variables: Any = refine_variables(
        "why?",
        "2026-01-31",
        CARDS,
        PlanLimits(max_searches=4),
        previous=FIRST,
        judged=judged(*[0.1] * 30, 0.9, kept=1),
        threshold=5,
        nonce="0123456789abcdef",
        tokens=14_600,
    )
    assert variables["previous"][0] == {"query": "Asthma care", "modality": "WEB"}
    assert (variables["survivors"], variables["threshold"], variables["max_searches"]) == (1, 5, 4)
    assert len(variables["hits"]) == MOST_SHOWN
    assert variables["hits"][0] == {
        "key": "h031",
        "title": "Title 31",
        "source": "site.example",
        "verdict": "keep",
    }
    assert variables["hits"][1]["verdict"] == "drop"
    assert variables["fence"].count("\n") == MOST_SHOWN + 1


def test_a_model_that_reads_little_sees_short_hints_and_the_best_hits() -> None:
    """Both fit into the room that there is, and there is at least one hit."""

    def shown(tokens: float) -> Any:
        return refine_variables(
            "why?",
            "2026-01-31",
            [replace(CARDS[0], id=f"index-{number}", hint="What it is good for. " * 20) for number in range(8)],
            PlanLimits(max_searches=4),
            previous=FIRST,
            judged=judged(*[0.1] * 30, 0.9, kept=1),
            threshold=5,
            nonce="0123456789abcdef",
            tokens=tokens,
        )

    small = shown(648)
    assert tokens_of(small["providers"]) + tokens_of(small["hits"]) < 648
    assert 3 <= len(small["hits"]) < MOST_SHOWN
    assert {len(each["hint"]) for each in small["providers"]} < set(range(20, 60))
    smallest = shown(0)
    assert [hit["key"] for hit in smallest["hits"]] == ["h031"]
    assert {each["hint"] for each in smallest["providers"]} == {""}
    assert {each["hint"] for each in shown(14_600)["providers"]} == {
        "What it is good for. " * 19 + "What it is good for."
    }


def test_the_second_wave_repeats_no_query_and_goes_on_counting() -> None:
    """A repeated query would bring the same hits."""
    answer = PlanAnswer.model_validate(
        {"searches": [{"query": "asthma  CARE", "modality": "WEB"}, {"query": "asthma therapy", "modality": "WEB"}]}
    )
    plan = refined_plan(answer, {WEB: ("serper",)}, PlanLimits(max_searches=6), FIRST)
    assert [(each.index, each.query) for each in plan.searches] == [(5, "asthma therapy")]
    assert plan.refused == ("search 1: it was asked before",)
    nothing = Plan(searches=(), rationale="")
    assert [
        each.index for each in refined_plan(answer, {WEB: ("serper",)}, PlanLimits(max_searches=6), nothing).searches
    ] == [
        0,
        1,
    ]
