"""The steps `evaluate` (one batch), `judge` (what is next), `rerank` and `rank`."""

from typing import Any

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.llm.recipes import EVALUATE, RERANK
from zarniwoop.pipelines.investigate.asking import Answered, Question, Unanswered, ask, built_in, room_for
from zarniwoop.pipelines.investigate.batching import tokens_of_batch
from zarniwoop.pipelines.investigate.budget import Budget, why_spared
from zarniwoop.pipelines.investigate.evaluate import (
    EvaluateAnswer,
    EvaluatedBatch,
    verdicts_schema,
)
from zarniwoop.pipelines.investigate.fence import hits_variables
from zarniwoop.pipelines.investigate.folder import ORDER, Batch, VerdictRecord, plain
from zarniwoop.pipelines.investigate.found import gather, hits_of, judged_so_far, mode_of, ranked_so_far
from zarniwoop.pipelines.investigate.optional import INSIGHTS_NODE, RERANK_NODE, state_of
from zarniwoop.pipelines.investigate.planning import FEWEST_SURVIVORS, begin_ordering
from zarniwoop.pipelines.investigate.rank import RerankAnswer, order_schema, rerank_variables
from zarniwoop.pipelines.investigate.refine import needs_refinement
from zarniwoop.pipelines.investigate.services import Work
from zarniwoop.stores.run_files import RANKED
from zarniwoop.tools.untrusted import new_nonce

_REFINING_SHARE = 0.25


def evaluate(work: Work) -> dict[str, Any]:
    """One batch put to the judge."""
    wave, index = work.given.wave, work.given.index
    record = work.folder.verdicts(wave, index)
    if record is None:
        record = _judged(work.folder.batches(wave)[index], work)
        work.folder.put_verdicts(record)
    counts = {"failed_batches": int(record.evaluated is None)}
    work.done("evaluate", f"{wave}-{index}", counts=counts, usage=record.usage)
    return {"ok": record.evaluated is not None, "index": index}


def judge(work: Work) -> dict[str, Any]:
    """Whether there is enough; and if there is, whether it is put into a better order."""
    wave = work.given.wave
    judged = judged_so_far(work.folder, wave)
    work.done("judge", str(wave), total=wave)
    refining = needs_refinement(judged, FEWEST_SURVIVORS, wave) and _may_refine(work)
    return {"then": "refine" if refining else begin_ordering(work, judged), "wave": wave, "survivors": len(judged.kept)}


def rerank(work: Work) -> dict[str, Any]:
    """The survivors' keys in a model's order. Without an answer the order stays as it is, and it is noted."""
    order = work.folder.read(ORDER)
    if order is None:
        waves, hits = work.folder.merged()
        ranked = ranked_so_far(work.folder, hits, waves)
        variables = rerank_variables(
            work.asked.question, work.today, ranked, new_nonce(), tokens=room_for(RERANK, work)
        )
        schema = order_schema(variables["keys"])
        question = Question(recipe=RERANK, variables=variables, into=RerankAnswer, schema=schema)
        answer = ask(question, work, work.budget.seconds_to_judge)
        order = plain(_order(answer))
        work.folder.write(ORDER, order)
    counts = {f"rerank_{state_of(order['failure'])}": 1}
    work.done(RERANK_NODE, "1", total=1, counts=counts, usage=ModelUsage(**order["usage"]))
    return {"then": "rank"}


def rank(work: Work) -> dict[str, Any]:
    """The ranked set as its owner sees it while the result is written."""
    waves, hits = work.folder.merged()
    ranked = ranked_so_far(work.folder, hits, waves)
    mode = mode_of([*work.folder.plans(waves), *work.folder.all_verdicts(waves)])
    told = {
        "survivors": ranked.survivors,
        "dropped": ranked.dropped,
        "ranked": ranked.ranked,
        "reranked": ranked.reranked,
        "refine_depth": ranked.refine_depth,
        "mode": mode,
    }
    work.folder.write(RANKED, told)
    counts = {"survivors": len(ranked.survivors), "dropped": len(ranked.dropped)}
    if work.asked.insights:
        work.expect(INSIGHTS_NODE, 1)
    work.done("rank", "1", total=1, counts=counts)
    return {"then": "insights" if work.asked.insights else "finish", **counts}


def _judged(batch: Batch, work: Work) -> VerdictRecord:
    wave, index = work.given.wave, work.given.index
    shown = hits_of(batch, work.folder)
    question = Question(
        recipe=EVALUATE,
        variables=hits_variables(work.asked.question, work.today, shown, new_nonce()),
        into=EvaluateAnswer,
        tokens=tokens_of_batch(shown),
        schema=verdicts_schema(batch.keys),
    )
    answer = built_in(question, batch.budget) if batch.budget else ask(question, work, work.budget.seconds_to_judge)
    if isinstance(answer, Unanswered):
        return VerdictRecord(wave=wave, index=index, failure=answer.reason, usage=answer.usage)
    return VerdictRecord(
        wave=wave,
        index=index,
        evaluated=EvaluatedBatch(keys=list(batch.keys), verdicts=answer.value.verdicts),
        mode=answer.mode,
        note=f"judged without a model: {why_spared(answer.spared)}" if answer.spared else None,
        usage=answer.usage,
    )


def _may_refine(work: Work) -> bool:
    """Only with searches, time and money left, and only where somebody answered: asking again would find them down."""
    if not work.asked.refine or work.budget.stands_against_search(0.0):
        return False
    found = gather(work.folder, work.given.wave)
    if len(found.planned) >= work.asked.max_searches or _is_late(work.budget, work.asked.wall_seconds):
        return False
    return any(record.outcome is not None for record in found.records.values())


def _is_late(budget: Budget, wall_seconds: int) -> bool:
    return budget.seconds_to_gather < wall_seconds * _REFINING_SHARE


def _order(answer: Answered[RerankAnswer] | Unanswered) -> dict[str, Any]:
    if isinstance(answer, Unanswered):
        return {"keys": [], "mode": None, "failure": answer.reason, "usage": answer.usage}
    return {"keys": answer.value.keys, "mode": answer.mode, "failure": None, "usage": answer.usage}
