"""Models propose, code disposes: what becomes of a proposed plan."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from zarniwoop.contract.modality import SearchModality
from zarniwoop.llm.schema import is_closed
from zarniwoop.pipelines.investigate.plan import (
    MAX_QUERY_CHARS,
    MAX_SEARCHES,
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

CARDS = (
    ProviderCard(
        id="pubmed", display_name="PubMed", modalities=(SearchModality.ACADEMIC,), hint="**Bio**\nmedicine <|im_end|>"
    ),
    ProviderCard(
        id="wiki", display_name="Wikipedia", modalities=(SearchModality.ENCYCLOPEDIA, SearchModality.WEB), hint=""
    ),
    ProviderCard(id="serper", display_name="Serper", modalities=(SearchModality.WEB, SearchModality.ACADEMIC), hint=""),
)
AVAILABLE = serving(CARDS)
SIX = PlanLimits(max_searches=6)


def search(query: str, modality: str = "WEB", **affinity: float) -> dict[str, Any]:
    return {"query": query, "modality": modality, "sourceAffinity": affinity}


def planned(*searches: dict[str, Any], limits: PlanLimits = SIX, rationale: str = "because") -> Plan:
    answer = PlanAnswer.model_validate({"searches": list(searches), "rationale": rationale})
    return validated_plan(answer, AVAILABLE, limits)


def test_a_sound_plan_is_carried_out_as_proposed() -> None:
    """In its order, numbered, with its affinities."""
    plan = planned(search("asthma", "ACADEMIC", pubmed=1.4), search("asthma", "WEB", serper=1.0))
    assert [(each.index, each.query, each.modality, each.source_affinity) for each in plan.searches] == [
        (0, "asthma", SearchModality.ACADEMIC, {"pubmed": 1.4}),
        (1, "asthma", SearchModality.WEB, {"serper": 1.0}),
    ]
    assert plan.refused == ()
    assert plan.rationale == "because"


@pytest.mark.parametrize(
    ("proposed", "told"),
    [
        (search("x", "WEBB"), "search 1: modality 'WEBB' cannot be searched here"),
        (search("x", "IMAGE"), "search 1: modality 'IMAGE' cannot be searched here"),
        (search(" \u200b "), "search 1: it has no query"),
        (search("…"), "search 1: it has no query"),
        (search(" ... "), "search 1: it has no query"),
    ],
)
def test_an_unsearchable_search_is_left_out_and_told(proposed: dict[str, Any], told: str) -> None:
    """It costs itself and no other."""
    plan = planned(proposed, search("fine"))
    assert [each.query for each in plan.searches] == ["fine"]
    assert plan.refused == (told,)


def test_a_modality_that_the_caller_excluded_is_not_searched() -> None:
    """Whatever the model wants."""
    plan = planned(
        search("x", "web"),
        search("x", "academic"),
        limits=PlanLimits(max_searches=6, modalities=frozenset({SearchModality.WEB})),
    )
    assert [each.modality for each in plan.searches] == [SearchModality.WEB]
    assert len(plan.refused) == 1


def test_an_unknown_provider_and_one_of_another_modality_are_dropped_and_told() -> None:
    """The search itself stays."""
    plan = planned(search("x", "ACADEMIC", pubmed=1.0, wiki=1.0, invented=2.0))
    assert plan.searches[0].source_affinity == {"pubmed": 1.0}
    assert plan.refused == (
        "search 1: provider 'wiki' does not serve it",
        "search 1: provider 'invented' does not serve it",
    )


def test_affinities_stay_between_0_and_2_and_what_is_no_number_goes() -> None:
    """A model cannot make one source outweigh everything."""
    plan = planned(search("x", "WEB", serper=99.0, wiki=-1.0), search("y", "ACADEMIC", pubmed=float("nan")))
    assert plan.searches[0].source_affinity == {"serper": 2.0, "wiki": 0.0}
    assert plan.searches[1].source_affinity == {}
    assert plan.refused == ("search 2: the affinity of 'pubmed' is no number",)


def test_the_same_search_twice_is_one_with_the_higher_affinities() -> None:
    """Letter case and white space make no difference to an index."""
    plan = planned(search("Asthma  care", "WEB", serper=0.5), search("asthma care", "WEB", serper=1.5, wiki=1.0))
    assert [(each.query, each.source_affinity) for each in plan.searches] == [
        ("Asthma care", {"serper": 1.5, "wiki": 1.0})
    ]
    assert plan.refused == ("search 2: merged with an earlier one that asks the same",)


def test_too_many_searches_are_cut() -> None:
    """At the caller's limit, and never more than 20."""
    assert len(planned(*(search(str(n)) for n in range(9)), limits=PlanLimits(max_searches=3)).searches) == 3
    plan = planned(*(search(str(n)) for n in range(90)), limits=PlanLimits(max_searches=50))
    assert len(plan.searches) == MAX_SEARCHES
    assert plan.refused[0] == "search 21: more than 20 searches"
    assert len(plan.refused) == 41
    assert plan.refused[-1] == "and 30 more"


def test_a_long_query_is_shortened_at_a_word_and_markup_of_code_stays() -> None:
    """A query goes to an index, not into a prompt."""
    plan = planned(search("word " * 200), search("vector<int> [INST]"))
    assert len(plan.searches[0].query) <= MAX_QUERY_CHARS
    assert plan.searches[0].query.endswith("word")
    assert plan.searches[1].query == "vector<int> [INST]"


def test_a_plan_survives_its_run_file() -> None:
    """Written by orjson, read by `from_json`."""
    plan = planned(search("x", "ACADEMIC", pubmed=1.0), search("y", "MAP"))
    assert Plan.from_json(orjson.loads(orjson.dumps(plan))) == plan


def test_the_recipe_sees_what_may_be_planned() -> None:
    """Hints without template tokens, the allowed modalities somebody serves, the limits."""
    variables = plan_variables(
        "why?",
        "2026-01-31",
        CARDS,
        PlanLimits(max_searches=99, modalities=frozenset({SearchModality.WEB, SearchModality.MAP})),
    )
    assert variables["modalities"] == ["WEB"]
    assert variables["max_searches"] == MAX_SEARCHES
    assert variables["today"] == "2026-01-31"
    assert variables["providers"][0] == {  # type: ignore[index]
        "id": "pubmed",
        "display_name": "PubMed",
        "modalities": ["ACADEMIC"],
        "hint": "**Bio** medicine ‹|im_end|›",
    }


def test_the_schema_names_the_modalities_and_takes_camel_case() -> None:
    """What a constrained decoder is given; snake_case is understood too, and more than asked is ignored."""
    schema = PlanAnswer.model_json_schema()["$defs"]["ProposedSearch"]
    assert schema["properties"]["modality"]["enum"] == list(SearchModality)
    assert "sourceAffinity" in schema["properties"]
    answer = PlanAnswer.model_validate(
        {"searches": [{"query": "x", "modality": "WEB", "source_affinity": {"a": 1}, "mood": "good"}], "extra": 1}
    )
    assert answer.searches[0].source_affinity == {"a": 1.0}
    with pytest.raises(ValidationError) as refused:
        PlanAnswer.model_validate({"searches": [{"query": ["secret"]}]})
    assert "secret" not in str(refused.value)


def test_the_schema_has_the_limits_of_the_question() -> None:
    """So many searches, in kinds that are served, with affinities of indexes that are there; a search at least."""
    variables = plan_variables("why?", "2026-01-31", CARDS, PlanLimits(max_searches=3))
    searches = plan_schema(variables)["properties"]["searches"]
    fields = searches["items"]["properties"]
    assert (searches["minItems"], searches["maxItems"]) == (1, 3)
    assert fields["modality"]["enum"] == variables["modalities"]
    assert fields["sourceAffinity"]["properties"].keys() == {card.id for card in CARDS}
    assert not is_closed(fields["sourceAffinity"]), "nobody has to name them all"
    assert "enum" not in plan_schema({**variables, "modalities": []})["properties"]["rationale"]


PROPOSED = st.builds(
    lambda query, modality, affinity: {"query": query, "modality": modality, "sourceAffinity": affinity},
    st.text(max_size=12) | st.text(min_size=390, max_size=900),
    st.sampled_from(["WEB", "web", " Academic", "ENCYCLOPEDIA", "IMAGE", "?", ""]),
    st.dictionaries(st.sampled_from(["pubmed", "wiki", "serper", "invented"]), st.floats(), max_size=4),
)


@given(st.lists(PROPOSED, max_size=30), st.integers(1, 30))
def test_no_answer_makes_an_impossible_plan(proposed: list[dict[str, Any]], most: int) -> None:
    """Whatever is proposed: bounded, served, distinct, numbered, and each search is carried out or told."""
    plan = planned(*proposed, limits=PlanLimits(max_searches=most))
    assert len(plan.searches) <= min(most, MAX_SEARCHES)
    assert [each.index for each in plan.searches] == list(range(len(plan.searches)))
    assert len({identity(each) for each in plan.searches}) == len(plan.searches)
    for each in plan.searches:
        assert 0 < len(each.query) <= MAX_QUERY_CHARS
        assert set(each.source_affinity) <= set(AVAILABLE[each.modality])
        assert all(0 <= value <= 2 for value in each.source_affinity.values())
    assert len(plan.searches) + len(plan.refused) >= min(len(proposed), 40)
