"""The planner and judge for projects without a model: they count words and invent none."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.hits import merged_hit
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.modality import SearchModality
from zarniwoop.llm.builtin import BUILTIN_ANSWERS, KEEP_FROM, evaluate, plan, refine
from zarniwoop.pipelines.investigate.evaluate import EvaluateAnswer
from zarniwoop.pipelines.investigate.fence import hits_variables
from zarniwoop.pipelines.investigate.plan import (
    Plan,
    PlanAnswer,
    PlanLimits,
    ProviderCard,
    plan_variables,
    serving,
    validated_plan,
)
from zarniwoop.text.bm25 import words

CARDS = (
    ProviderCard(
        id="arxiv",
        display_name="arXiv",
        modalities=(SearchModality.ACADEMIC,),
        hint="**arXiv** holds preprints in physics and mathematics. Choose it for recent STEM work.",
    ),
    ProviderCard(
        id="pubmed",
        display_name="PubMed",
        modalities=(SearchModality.ACADEMIC,),
        hint="Indexes biomedical literature: medicine, nursing, asthma. It never has mathematics.",
    ),
    ProviderCard(
        id="library",
        display_name="Library",
        modalities=(SearchModality.BOOK,),
        hint="Catalogues books by title. It holds no papers or poems.",
    ),
    ProviderCard(
        id="wiki",
        display_name="Wikipedia",
        modalities=(SearchModality.ENCYCLOPEDIA, SearchModality.WEB),
        hint="Explains terms, people and places.",
    ),
    ProviderCard(
        id="google",
        display_name="Google",
        modalities=(
            *(SearchModality.WEB, SearchModality.IMAGE, SearchModality.VIDEO, SearchModality.PDF, SearchModality.NEWS),
            SearchModality.ACADEMIC,
        ),
        hint="The open web, also physics.",
    ),
)


def variables(question: str, cards: tuple[ProviderCard, ...] = CARDS, most: int = 6) -> dict[str, Any]:
    return plan_variables(question, "2026-01-31", cards, PlanLimits(max_searches=most))


def queries(answer: dict[str, Any]) -> dict[str, str]:
    return {search["modality"]: search["query"] for search in answer["searches"]}


def judged(question: str, *hits: Any) -> list[dict[str, Any]]:
    verdicts = evaluate(hits_variables(question, "2026-01-31", hits, "0123456789abcdef"))["verdicts"]
    return list(verdicts)


def second_wave(
    question: str, hits: list[dict[str, str]], previous: list[dict[str, str]] | None = None, **more: Any
) -> Any:
    return refine(
        {
            **variables(question),
            "previous": previous or [{"query": question, "modality": "WEB"}],
            "survivors": sum(hit.get("verdict") == "keep" for hit in hits),
            "threshold": 5,
            "hits": hits,
            **more,
        }
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Which randomised trials of vitamin D in asthma are there?",
            {"ACADEMIC": "randomised trials vitamin D asthma", "WEB": "randomised trials vitamin D asthma"},
        ),
        (
            "What is the latest news on fusion?",
            {"NEWS": "fusion", "ENCYCLOPEDIA": "latest news fusion", "WEB": "latest news fusion"},
        ),
        ("Who was Ada Lovelace?", {"ENCYCLOPEDIA": "Ada Lovelace", "WEB": "Ada Lovelace"}),
        ("Please find books by Thomas Mann", {"BOOK": "Thomas Mann", "WEB": "books Thomas Mann"}),
        ("Was ist Photosynthese?", {"ENCYCLOPEDIA": "Photosynthese", "WEB": "Photosynthese"}),
        ("Studien zur Wirkung von Ingwer", {"ACADEMIC": "Wirkung Ingwer", "WEB": "Studien Wirkung Ingwer"}),
        ("photos of a red panda", {"IMAGE": "red panda", "WEB": "photos red panda"}),
    ],
)
def test_words_of_the_question_name_the_modality(question: str, expected: dict[str, str]) -> None:
    """Question words and stop words go, and in each modality the words that only name it."""
    assert queries(plan(variables(question))) == expected


def test_a_hint_points_to_a_modality() -> None:
    """A specialised provider's; a general one's points nowhere."""
    answer = plan(variables("knots in mathematics"))
    assert set(queries(answer)) == {"WEB", "ACADEMIC"}
    assert "the hint of 'arxiv' has words of the question" in answer["rationale"]


def test_what_a_hint_says_it_does_not_hold_does_not_count() -> None:
    """A library without poems is not asked for poems, nor does `holds` make it at home in what somebody holds."""
    assert "BOOK" not in queries(plan(variables("who holds poems")))


def test_affinity_follows_the_likeness_of_hints() -> None:
    """From 0.8 to 1.2; 1 where no hint has a word of the question."""
    searches = {each["modality"]: each for each in plan(variables("asthma mathematics trials"))["searches"]}
    affinity = searches["ACADEMIC"]["sourceAffinity"]
    assert affinity["google"] == 0.8
    assert affinity["arxiv"] > 0.8 < affinity["pubmed"]
    assert max(affinity.values()) == 1.2
    assert set(searches["WEB"]["sourceAffinity"].values()) == {1.0}


def test_a_question_that_names_no_field_goes_to_the_general_indexes() -> None:
    """Web, encyclopedia and papers, and the plan says why."""
    answer = plan(variables("What caused the Vietnam War?"))
    assert queries(answer) == dict.fromkeys(("WEB", "ENCYCLOPEDIA", "ACADEMIC"), "caused Vietnam War")
    assert "the question names no field" in answer["rationale"]
    only_books = plan(variables("Vietnam", CARDS[2:3]))
    assert set(queries(only_books)) == {"BOOK"}
    assert plan(variables("Vietnam", ()))["searches"] == []


def test_the_web_is_always_asked_where_it_is_served_and_limits_hold() -> None:
    """What the question itself names comes first."""
    assert list(queries(plan(variables("papers on asthma", most=1)))) == ["ACADEMIC"]
    assert list(queries(plan(variables("papers on asthma", most=2)))) == ["ACADEMIC", "WEB"]


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Does hepatitis A vaccine by WHO help the US?", "hepatitis A vaccine WHO help US"),
        ("A virus", "virus"),
        ("HOW DO I STOP IT", "STOP"),
        ("Why do I dream?", "dream"),
        ("the who", "the who"),
        ("How fast is C++ and what's C#?", "fast C++ C#"),
        ("Wie war die Schlacht?", "Schlacht"),
        ("量子コンピュータとは？", "量子コンピュータとは"),
    ],
)
def test_names_are_not_stop_words(question: str, query: str) -> None:
    """Capitals tell WHO from who; and when nothing else is left, all words stay."""
    assert queries(plan(variables(question)))["WEB"] == query


def test_a_question_without_words_has_no_plan() -> None:
    """Rather than an invented one."""
    assert plan(variables("?!"))["searches"] == []


def test_a_long_question_is_cut_at_a_word() -> None:
    """An endless word anywhere."""
    query = queries(plan(variables(" ".join(f"word{number}" for number in range(200)))))["WEB"]
    assert 380 < len(query) <= 400
    assert query.split()[-1].startswith("word")
    assert len(queries(plan(variables("x" * 1000)))["WEB"]) == 400


@given(st.text(max_size=80), st.integers(1, 20))
def test_every_plan_is_valid_the_same_each_time_and_invents_no_word(question: str, most: int) -> None:
    """Code that checks a model's plan finds nothing to refuse in this one."""
    given_variables = variables(question, most=most)
    answer = plan(given_variables)
    assert plan(given_variables) == answer
    checked = validated_plan(PlanAnswer.model_validate(answer), serving(CARDS), PlanLimits(max_searches=most))
    assert isinstance(checked, Plan)
    assert len(checked.searches) == len(answer["searches"])
    for search in answer["searches"]:
        assert set(words(search["query"])) <= set(words(given_variables["question"]))


def test_hits_are_judged_by_the_words_they_share() -> None:
    """The title counts more; the reason tells the number, and what shares nothing is dropped."""
    verdicts = judged(
        "Does vitamin D help against asthma?",
        merged_hit(1, title="Vitamin D and asthma", snippet="A trial."),
        merged_hit(2, title="A trial", snippet="Vitamin D and asthma, among other things."),
        merged_hit(3, title="Cooking with gas", snippet="Pots."),
        merged_hit(
            4, title="Pots and pans", snippet="Vitamin pots. " + "Many other words about pots follow here. " * 20
        ),
    )
    assert [(each["key"], each["verdict"]) for each in verdicts] == [
        ("h001", "keep"),
        ("h002", "keep"),
        ("h003", "drop"),
        ("h004", "drop"),
    ]
    assert verdicts[0]["relevanceScore"] == 1.0 > verdicts[1]["relevanceScore"]
    assert verdicts[0]["reason"] == "shares 3 of 4 words with the question (bm25 1.00)"
    assert verdicts[2]["reason"] == "shares no words with the question (bm25 0.00)"
    assert verdicts[3]["reason"].startswith("shares few words with the question (bm25 0.0")
    assert 0 < verdicts[3]["relevanceScore"] < KEEP_FROM


def test_the_best_of_a_bad_batch_is_not_fully_relevant() -> None:
    """Batches are judged apart, so the best alone must not set the scale."""
    weak = judged(
        "solar wind turbines cost offshore", merged_hit(1, title="Cost of living"), merged_hit(2, title="Pots")
    )
    assert weak[0]["relevanceScore"] < 0.5


def test_a_question_without_words_judges_nothing() -> None:
    """The hits stay, unjudged."""
    assert judged("?!", merged_hit(1)) == []
    assert judged("asthma") == []


@given(st.text(max_size=40), st.lists(st.tuples(st.text(max_size=30), st.text(max_size=60)), max_size=12))
def test_every_verdict_is_valid(question: str, texts: list[tuple[str, str]]) -> None:
    """Scores in 0..1, and one verdict per hit or none at all."""
    hits = [merged_hit(number, title=title, snippet=snippet) for number, (title, snippet) in enumerate(texts, 1)]
    verdicts = judged(question, *hits)
    assert len(verdicts) in (0, len(hits))
    answer = EvaluateAnswer.model_validate({"verdicts": verdicts})
    assert all(0 <= each.relevance_score <= 1 for each in answer.verdicts)


def test_a_second_wave_borrows_the_words_of_titles_that_proved_right() -> None:
    """Those that two of them have, with the question's words that were found."""
    found = [
        {"key": "h001", "title": "Cholecalciferol in bronchial asthma", "verdict": "keep"},
        {"key": "h002", "title": "Asthma and cholecalciferol 2020", "verdict": "keep"},
        {"key": "h003", "title": "Bronchial tubes of brass 2020", "verdict": "drop"},
    ]
    answer = second_wave("Does vitaminD help asthma?", found)
    assert queries(answer) == {"WEB": "asthma cholecalciferol"}
    assert answer["rationale"] == (
        "Second wave, planned without a model: 2 hits survived, 5 wanted; the words of 2 titles that proved right."
    )


def test_without_right_titles_the_rarest_words_are_left_out() -> None:
    """Those that no hit has; of these, the longest."""
    found = [{"key": "h001", "title": "Asthma", "snippet": "vitamin", "verdict": "drop"}]
    answer = second_wave("asthma vitamin cholecalciferol supplementation", found)
    assert queries(answer) == {"WEB": "asthma vitamin cholecalciferol"}
    assert answer["rationale"].endswith("1 of 4 words left out.")
    assert queries(second_wave("extraordinarily long", [])) == {"WEB": "long"}
    assert second_wave("single", [])["searches"] == []


def test_a_second_wave_asks_the_modalities_of_the_first() -> None:
    """Each once, as far as they are still allowed, within the limit."""
    before = [{"query": "x", "modality": each} for each in ("ACADEMIC", "WEB", "ACADEMIC", "MAP", "BOOK")]
    answer = second_wave("knots mathematics", [], before)
    assert [each["modality"] for each in answer["searches"]] == ["ACADEMIC", "WEB", "BOOK"]
    assert len(second_wave("knots mathematics", [], before, max_searches=2)["searches"]) == 2


def test_there_is_an_answer_for_the_three_recipes_that_can_be_counted_out() -> None:
    """And for none that would need prose or knowledge."""
    assert {name.removeprefix("zarniwoop-research-") for name in BUILTIN_ANSWERS} == {"plan", "evaluate", "refine"}


def test_the_hints_of_the_built_in_providers_can_be_planned_with() -> None:
    """Their real words, with all modalities."""
    cards = tuple(
        ProviderCard(
            id=protocol.id(),
            display_name=protocol.display_name(),
            modalities=tuple(sorted(protocol.modalities_supported())),
            hint=f"{protocol.display_name()} index",
        )
        for protocol in BUILTIN
    )
    assert set(queries(plan(variables("history of asthma papers", cards)))) >= {"ACADEMIC", "ENCYCLOPEDIA", "WEB"}
