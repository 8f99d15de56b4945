"""Which works are judged together, and for which of them a model may be asked within the budgets.

Decided once, before the batches are judged side by side: so together they stay within what is left, whoever is first.
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
    tokens_of,
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
    made = _within_budget(unasked, model, work)
    work.folder.put_batches(wave, made)
    if made:
        before = sum(len(work.folder.batches(earlier)) for earlier in range(1, wave))
        work.expect("evaluate", before + len(made))
    return {"wave": wave, "batches": list(range(len(made))), "parallel": model.max_parallel}


def _within_budget(hits: Sequence[MergedHit], model: ModelSettings, work: Work) -> list[Batch]:
    by_key = {hit.key: hit for hit in hits}
    taken = 0.0
    made = []
    most = min(max(model.max_tokens // ANSWER_TOKENS_PER_HIT, 1), MOST_HITS_PER_BATCH)
    for keys in batches(hits, model.context_tokens, most=most):
        taken += PROMPT_TOKENS + sum(tokens_of(by_key[key]) for key in keys)
        spent = None
        if model.protocol != BUILTIN:
            spent = work.budget.stands_against_model(taken, model, work.budget.seconds_to_judge)
        made.append(Batch(keys=tuple(keys), budget=spent))
    return made
