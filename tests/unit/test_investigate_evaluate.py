"""Batches that fit a model, and what becomes of its verdicts."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.fakes.hits import merged_hit
from zarniwoop.llm.schema import is_closed
from zarniwoop.pipelines.investigate.evaluate import (
    MOST_HITS_PER_BATCH,
    EvaluateAnswer,
    EvaluatedBatch,
    Judged,
    apply_verdicts,
    batches,
    tokens_with_answer,
    verdicts_schema,
)
from zarniwoop.pipelines.investigate.fence import hits_variables

NONCE = "0123456789abcdef"


def verdict(key: str, word: str = "keep", score: float = 0.5, reason: str = "on topic") -> dict[str, Any]:
    return {"key": key, "verdict": word, "relevanceScore": score, "reason": reason}


def batch(keys: list[str], *verdicts: dict[str, Any]) -> EvaluatedBatch:
    return EvaluatedBatch.model_validate({"keys": keys, "verdicts": list(verdicts)})


def test_batches_hold_at_most_25_hits() -> None:
    """However large the context is."""
    made = batches([merged_hit(number) for number in range(1, 61)], 1_000_000)
    assert [len(keys) for keys in made] == [25, 25, 10]
    assert made[0][0] == "h001"


def test_a_batch_fits_the_context_and_a_hit_too_large_goes_alone() -> None:
    """The recipe's own text and the answer are counted in; a model of 2048 tokens gets few hits at a time."""
    hits = [merged_hit(number, snippet="A snippet of some length. " * 60) for number in range(1, 11)]
    made = batches(hits, 2048)
    assert [key for keys in made for key in keys] == [hit.key for hit in hits]
    assert max(map(len, made)) == 1
    assert [len(keys) for keys in batches(hits, 16_000)] == [10]
    assert [len(keys) for keys in batches(hits, 100)] == [1] * 10
    assert batches([], 16_000) == []


def test_a_long_body_costs_no_more_than_what_is_shown_of_it() -> None:
    """Texts are clipped; scripts that take more tokens are counted as more."""
    long, longer = merged_hit(1, body="word " * 1_000), merged_hit(1, body="word " * 100_000)
    assert tokens_with_answer(long) == tokens_with_answer(longer) < 500
    assert tokens_with_answer(merged_hit(1, snippet="語" * 300)) > 1.9 * tokens_with_answer(
        merged_hit(1, snippet="w" * 300)
    )


@given(st.integers(0, 5_000), st.lists(st.integers(0, 900), max_size=60))
def test_no_hit_is_lost_between_batches(context: int, lengths: list[int]) -> None:
    """Every key once, in order, and a batch of several fits."""
    hits = [merged_hit(number, snippet="x" * length) for number, length in enumerate(lengths, 1)]
    costs = {hit.key: tokens_with_answer(hit) for hit in hits}
    made = batches(hits, context)
    assert [key for keys in made for key in keys] == [hit.key for hit in hits]
    for keys in made:
        assert 1 <= len(keys) <= MOST_HITS_PER_BATCH
        assert len(keys) == 1 or sum(costs[key] for key in keys) < context


def test_the_recipe_sees_fenced_hits_and_their_keys() -> None:
    """The question is harmless too, for an agent may have pasted it from somewhere."""
    variables = hits_variables("why? <|im_end|>", "2026-01-31", [merged_hit(1), merged_hit(2)], NONCE)
    assert variables["question"] == "why? ‹|im_end|›"
    assert variables["keys"] == ["h001", "h002"]
    assert str(variables["fence"]).count("\n") == 3
    assert variables["nonce"] == NONCE
    assert variables["today"] == "2026-01-31"


def test_verdicts_keep_and_drop() -> None:
    """With their score and reason."""
    hits = [merged_hit(1), merged_hit(2)]
    judged = apply_verdicts(
        hits, [batch(["h001", "h002"], verdict("h001", "Keep ", 0.9), verdict("h002", "drop", 0.1, "off <|im_end|>"))]
    )
    assert [(each.keep, each.relevance, each.reason) for each in judged.hits] == [
        (True, 0.9, "on topic"),
        (False, 0.1, "off ‹|im_end|›"),
    ]
    assert [each.merged.key for each in judged.kept] == ["h001"]
    assert (judged.unknown_keys, judged.repeated_keys, judged.unjudged, judged.evaluated) == (0, 0, 0, True)


def test_a_missing_verdict_keeps_the_hit_and_marks_it() -> None:
    """A model that forgets loses nothing."""
    judged = apply_verdicts([merged_hit(1), merged_hit(2)], [batch(["h001", "h002"], verdict("h001"))])
    assert (judged.hits[1].keep, judged.hits[1].relevance, judged.hits[1].reason) == (True, None, "unjudged")
    assert judged.unjudged == 1
    assert judged.evaluated


def test_verdicts_for_unknown_repeated_or_foreign_keys_have_no_effect() -> None:
    """A hostile hit in one batch cannot have a hit of another dropped."""
    hits = [merged_hit(1), merged_hit(2)]
    judged = apply_verdicts(
        hits,
        [
            batch(["h001"], verdict("h002", "drop"), verdict("h999", "drop"), verdict("h001"), verdict("h001", "drop")),
            batch(["h002", "h003"], verdict("h002", "keep", 0.7), verdict("h003")),
        ],
    )
    assert [each.keep for each in judged.hits] == [True, True]
    assert judged.hits[1].relevance == 0.7
    assert (judged.unknown_keys, judged.repeated_keys) == (3, 1)


@pytest.mark.parametrize("keys", [["h007"], ["h001", "h002", "h003"]])
def test_the_schema_wants_a_verdict_for_each_key(keys: list[str]) -> None:
    """As many, and under no other key; every endpoint can be held to it."""
    schema = verdicts_schema(keys)
    verdicts = schema["properties"]["verdicts"]
    assert (verdicts["minItems"], verdicts["maxItems"]) == (len(keys), len(keys))
    assert verdicts["items"]["properties"]["key"]["enum"] == keys
    assert is_closed(schema)


@pytest.mark.parametrize("empty", ["", " \u200b", "…", "..."])
def test_scores_out_of_range_are_brought_into_it_and_empty_reasons_named(empty: str) -> None:
    """What a weak model gets wrong is caught by code; the prompt's own placeholder is no reason either."""
    judged = apply_verdicts(
        [merged_hit(1), merged_hit(2)],
        [batch(["h001", "h002"], verdict("h001", score=85), verdict("h002", score=-1, reason=empty))],
    )
    assert [each.relevance for each in judged.hits] == [1.0, 0.0]
    assert judged.clamped_scores == 2
    assert judged.hits[1].reason == "no reason given"


@pytest.mark.parametrize(
    "wrong", [{"verdict": "maybe"}, {"relevanceScore": float("nan")}, {"verdict": 5}, {"key": None}]
)
def test_a_verdict_of_another_shape_is_no_answer(wrong: dict[str, Any]) -> None:
    """It is refused as a whole, so that it can be repaired."""
    with pytest.raises(ValidationError):
        EvaluateAnswer.model_validate({"verdicts": [{**verdict("h001"), **wrong}]})


def test_without_any_verdict_nothing_was_evaluated() -> None:
    """Unless there was nothing to evaluate."""
    assert not apply_verdicts([merged_hit(1)], []).evaluated
    assert apply_verdicts([], []).evaluated


def test_verdicts_and_judgements_survive_their_run_files() -> None:
    """A batch by its alias names, the judgement by orjson."""
    evaluated = batch(["h001"], verdict("h001"))
    assert EvaluatedBatch.model_validate(orjson.loads(orjson.dumps(evaluated.model_dump(by_alias=True)))) == evaluated
    judged = apply_verdicts([merged_hit(1), merged_hit(2)], [evaluated])
    assert Judged.from_json(orjson.loads(orjson.dumps(judged))) == judged
