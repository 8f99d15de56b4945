"""Which works are put to a model together, and for which of them a model may be asked within the budgets.

Decided once, before they are asked for side by side: so together they stay within what is left, whoever is first.
"""

from collections.abc import Sequence
from typing import Any

from zarniwoop.contract.chat import ModelRole
from zarniwoop.llm.recipes import EVALUATE
from zarniwoop.pipelines.investigate.asking import Unanswered, settings_of
from zarniwoop.pipelines.investigate.evaluate import (
    ANSWER_TOKENS_PER_HIT,
    MOST_HITS_PER_BATCH,
    PROMPT_TOKENS,
    batches,
    tokens_with_answer,
)
from zarniwoop.pipelines.investigate.folder import Batch
from zarniwoop.pipelines.investigate.found import hits_to_judge
from zarniwoop.pipelines.investigate.merge import MergedHit
from zarniwoop.pipelines.investigate.services import Work
from zarniwoop.settings.models import BUILTIN, ModelSettings


def make_batches(work: Work, hits: Sequence[MergedHit]) -> dict[str, Any]:
    """Write the wave's batches down; returns what the state machine's Map over them needs."""
    wave = work.given.wave
    asked_before = {key for earlier in range(1, wave) for batch in work.folder.batches(earlier) for key in batch.keys}
    unasked = hits_to_judge(work.folder, [hit for hit in hits if hit.key not in asked_before])
    found = settings_of(EVALUATE, work)
    model = ModelSettings(role=ModelRole.HARVEST) if isinstance(found, Unanswered) else found
    made = within_budget(unasked, model, work)
    work.folder.put_batches(wave, made)
    if made:
        before = sum(len(work.folder.batches(earlier)) for earlier in range(1, wave))
        work.expect("evaluate", before + len(made))
    return {"wave": wave, "batches": list(range(len(made))), "parallel": model.max_parallel}


def hits_at_once(model: ModelSettings, answer_tokens: int = ANSWER_TOKENS_PER_HIT) -> int:
    """How many hits one answer has room for. `model` has the limit of the recipe too, as `settings_of` tells it."""
    return min(max(model.max_tokens // answer_tokens, 1), MOST_HITS_PER_BATCH)


def within_budget(
    hits: Sequence[MergedHit], model: ModelSettings, work: Work, *, answer_tokens: int = ANSWER_TOKENS_PER_HIT
) -> list[Batch]:
    """Batches whose answers fit what the model may write at once, as far as the budgets go all together.

    `model` is as `settings_of` the recipe tells it: with the recipe's own limit.
    """
    by_key = {hit.key: hit for hit in hits}
    most = hits_at_once(model, answer_tokens)
    taken = 0.0
    made = []
    for keys in batches(hits, model.context_tokens, most=most, answer_tokens=answer_tokens):
        taken += tokens_of_batch([by_key[key] for key in keys], answer_tokens)
        spent = None
        if model.protocol != BUILTIN:
            spent = work.budget.stands_against_model(taken, model, work.budget.seconds_to_judge)
        made.append(Batch(keys=tuple(keys), budget=spent))
    return made


def tokens_of_batch(hits: Sequence[MergedHit], answer_tokens: int = ANSWER_TOKENS_PER_HIT) -> float:
    """What it takes to ask for these hits, with the answer."""
    return PROMPT_TOKENS + sum(tokens_with_answer(hit, answer_tokens) for hit in hits)
