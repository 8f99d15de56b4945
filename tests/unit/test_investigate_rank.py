"""The order of what was kept."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.hits import merged_hit
from zarniwoop.llm.schema import is_closed
from zarniwoop.pipelines.investigate.evaluate import Judged, JudgedHit
from zarniwoop.pipelines.investigate.fitting import tokens_of
from zarniwoop.pipelines.investigate.rank import (
    MOST_RERANKED,
    RankedHitSet,
    RerankAnswer,
    order_schema,
    rank,
    rerank_variables,
    reranked,
)


def judged_hit(number: int, relevance: float | None, *, keep: bool = True, **more: Any) -> JudgedHit:
    return JudgedHit(merged=merged_hit(number, **more), keep=keep, relevance=relevance, reason=f"reason {number}")


def order(*hits: JudgedHit) -> list[str]:
    return [survivor.key for survivor in rank(Judged(hits=hits)).survivors]


def answered(*keys: str) -> RerankAnswer:
    return RerankAnswer(keys=list(keys))


def test_the_score_is_relevance_times_affinity() -> None:
    """So a fair hit of the right source can pass a better one of another."""
    ranked = rank(Judged(hits=(judged_hit(1, 0.8), judged_hit(2, 0.7, affinity=1.4))))
    assert [(each.rank, each.key, each.score) for each in ranked.survivors] == [(1, "h002", 0.98), (2, "h001", 0.8)]
    assert ranked.survivors[0].reason == "reason 2"
    assert ranked.ranked


def test_ties_go_by_reciprocal_rank_and_then_by_key() -> None:
    """The keys as numbers: h1000 comes after h999."""
    assert order(judged_hit(1, 0.5, rank=9), judged_hit(2, 0.5, rank=3)) == ["h002", "h001"]
    assert order(judged_hit(1000, 0.5, rank=1), judged_hit(999, 0.5, rank=1)) == ["h999", "h1000"]


def test_unjudged_hits_follow_the_judged_ones_and_are_marked() -> None:
    """Even those of relevance 0."""
    ranked = rank(Judged(hits=(judged_hit(1, None), judged_hit(2, 0.0))))
    assert [(each.key, each.unjudged, each.score) for each in ranked.survivors] == [
        ("h002", False, 0.0),
        ("h001", True, None),
    ]
    assert ranked.ranked


def test_dropped_hits_come_with_title_url_and_reason() -> None:
    """Apart from the survivors."""
    ranked = rank(Judged(hits=(judged_hit(1, 0.9), judged_hit(2, 0.1, keep=False))), refine_depth=1)
    assert [each.key for each in ranked.survivors] == ["h001"]
    dropped = ranked.dropped[0]
    assert (dropped.key, dropped.title, dropped.url) == ("h002", "Title 2", "https://site.example/2")
    assert dropped.reason == "reason 2"
    assert ranked.refine_depth == 1


def test_without_a_judge_the_order_is_that_of_the_searches_and_says_so() -> None:
    """By reciprocal rank alone; affinity weighs relevance, and there is none."""
    ranked = rank(Judged(hits=(judged_hit(1, None, rank=5), judged_hit(2, None, rank=2, affinity=0.1))))
    assert [each.key for each in ranked.survivors] == ["h002", "h001"]
    assert not ranked.ranked
    assert rank(Judged(hits=())).ranked


def test_a_rerank_answer_reorders_known_keys() -> None:
    """Unknown and repeated ones are ignored and counted; what is missing follows in its order."""
    ranked = rank(Judged(hits=(judged_hit(1, 0.9), judged_hit(2, 0.8), judged_hit(3, 0.7), judged_hit(4, 0.6))))
    better = reranked(ranked, answered("h003", "h999", "h001", "h003"))
    assert [(each.rank, each.key) for each in better.survivors] == [(1, "h003"), (2, "h001"), (3, "h002"), (4, "h004")]
    assert better.reranked
    assert better.ignored_keys == 2
    assert not reranked(ranked, answered("h999")).reranked


def test_the_rerank_recipe_sees_the_best_in_their_order() -> None:
    """At most 25."""
    ranked = rank(Judged(hits=tuple(judged_hit(number, number / 100) for number in range(1, 41))))
    variables = rerank_variables("why?", "2026-01-31", ranked, "0123456789abcdef", tokens=14_600)
    keys: Any = variables["keys"]
    assert len(keys) == MOST_RERANKED
    assert keys[0] == "h040"
    assert str(variables["fence"]).count('"key"') == MOST_RERANKED


def test_a_model_that_reads_little_re_ranks_the_best_that_fit() -> None:
    """The others follow in the order that they had, as whatever an answer leaves out."""
    ranked = rank(Judged(hits=tuple(judged_hit(number, number / 100) for number in range(1, 41))))
    variables = rerank_variables("why?", "2026-01-31", ranked, "0123456789abcdef", tokens=300)
    keys: Any = variables["keys"]
    assert keys == [f"h{number:03d}" for number in range(40, 40 - len(keys), -1)]
    assert 1 < len(keys) < MOST_RERANKED
    assert tokens_of(variables["hits"]) <= 300


def test_the_schema_wants_each_key_in_the_order() -> None:
    """As many as were shown, and no other; every endpoint can be held to it."""
    schema = order_schema(["h002", "h001"])
    wanted = {"type": "array", "items": {"type": "string", "enum": ["h002", "h001"]}, "minItems": 2, "maxItems": 2}
    assert schema["properties"]["keys"] == wanted
    assert is_closed(schema)


def test_a_ranked_set_survives_its_run_file() -> None:
    """Written by orjson, read by `from_json`."""
    ranked = rank(Judged(hits=(judged_hit(1, 0.9), judged_hit(2, None), judged_hit(3, 0.1, keep=False))))
    assert RankedHitSet.from_json(orjson.loads(orjson.dumps(ranked))) == ranked


@given(
    st.lists(st.tuples(st.none() | st.floats(0, 1), st.booleans(), st.floats(0, 2), st.integers(1, 5)), max_size=20),
    st.lists(st.integers(0, 25), max_size=30),
)
def test_ranking_loses_and_invents_nothing(hits: list[Any], named: list[int]) -> None:
    """Survivors and dropped are all hits, ranks run from 1, scores fall, and a re-ranking only permutes."""
    judged = Judged(
        hits=tuple(
            judged_hit(number, relevance, keep=keep, affinity=affinity, rank=place)
            for number, (relevance, keep, affinity, place) in enumerate(hits, 1)
        )
    )
    ranked = rank(judged)
    keys = [each.key for each in ranked.survivors]
    assert sorted([*keys, *(each.key for each in ranked.dropped)]) == sorted(hit.merged.key for hit in judged.hits)
    scores = [-1.0 if each.score is None else each.score for each in ranked.survivors]
    assert scores == sorted(scores, reverse=True)
    assert rank(Judged(hits=judged.hits[::-1])).survivors == ranked.survivors
    better = reranked(ranked, answered(*(f"h{number:03d}" for number in named)))
    assert sorted(each.key for each in better.survivors) == sorted(keys)
    assert [each.rank for each in better.survivors] == list(range(1, len(keys) + 1))
