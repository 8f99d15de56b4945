"""The result of a run, composed out of its files: `result.json`, and the outcome that it stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zarniwoop.pipelines.investigate.evaluate import apply_verdicts
from zarniwoop.pipelines.investigate.folder import ORDER, PlanRecord, RunFolder, VerdictRecord
from zarniwoop.pipelines.investigate.found import WAVES, Gathered, gather, mode_of, ranked_so_far
from zarniwoop.pipelines.investigate.optional import insights_told, notes_of, rerank_told
from zarniwoop.pipelines.investigate.rank import RankedHit, RankedHitSet
from zarniwoop.stores.runs import Ending, Run, RunState

SUCCESS = "success"
EMPTY = "empty"
PLAN_FAILED = "plan_failed"
EVALUATE_FAILED = "evaluate_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """`outcome` is the seed's word, `error` ours."""

    outcome: str | None
    error: str | None
    document: dict[str, Any]

    @property
    def survivors(self) -> Sequence[RankedHit]:
        ranked: Sequence[RankedHit] = self.document["survivors"]
        return ranked

    def with_evidence(self, links: Sequence[Mapping[str, Any]], note: str | None) -> "Composed":
        """The same, with links to what was kept of the survivors, and why something was not."""
        notes = [*self.document["notes"], *([note] if note else [])]
        return replace(self, document={**self.document, "evidence": list(links), "notes": notes})

    def ended(self, ending: Ending) -> dict[str, Any]:
        """The result under that ending; it says of the end what the run says."""
        return {**self.document, "state": ending.state, "outcome": ending.outcome, "error": ending.error}


def is_concluded(state: RunState, outcome: str | None) -> bool:
    """Whether a run that ends so came to the pipeline's own end, of which a question that nobody could plan is one."""
    return state is RunState.SUCCEEDED or (state is RunState.FAILED and outcome == PLAN_FAILED)


def compose(run: Run, folder: RunFolder, question: str, *, error: str | None) -> Composed:
    """Everything that the run's files hold; `error` is what ended it, if anything did."""
    found = gather(folder, WAVES)
    verdicts = folder.all_verdicts(WAVES)
    ranked = ranked_so_far(folder, found.hits, WAVES)
    outcome = _outcome(found, ranked, error)
    reason = error or (found.plans[0].failure if found.plans and outcome == PLAN_FAILED else None)
    order = folder.read(ORDER) or {}
    rerank, insights = rerank_told(folder, run, ranked=ranked.ranked), insights_told(folder, run)
    document = {
        "run_id": run.run_id,
        "request_id": run.request_id,
        "question": question,
        "outcome": outcome,
        "error": reason,
        "mode": mode_of([*found.plans, *verdicts]),
        "modes": _modes(found.plans, verdicts, order.get("mode"), (insights or {}).get("mode")),
        "plan": _plan(found.plans),
        "searches": found.searches(),
        "survivors": ranked.survivors,
        "dropped": ranked.dropped,
        "ranked": ranked.ranked,
        "reranked": ranked.reranked,
        "rerank": rerank,
        "insights": insights,
        "refine_depth": ranked.refine_depth,
        "waves": max((record.wave for record in found.plans if record.plan.searches), default=0),
        "usage": run.usage,
        "cost": run.cost,
        "notes": [
            *_unanswered(found),
            *_notes(folder, found.plans, verdicts),
            *notes_of(rerank, insights),
            *_without_effect(found, ranked, verdicts),
        ],
        "gaps": _gaps(run, found, ranked, verdicts),
    }
    return Composed(outcome=outcome, error=reason, document=document)


def _outcome(found: Gathered, ranked: RankedHitSet, error: str | None) -> str | None:
    """None for a run that was stopped before it had a plan."""
    if not found.planned:
        return PLAN_FAILED if found.plans or error else None
    if not found.hits:
        return EMPTY
    return SUCCESS if ranked.ranked else EVALUATE_FAILED


def _modes(
    plans: Sequence[PlanRecord], verdicts: Sequence[VerdictRecord], rerank: str | None, insights: str | None
) -> dict[str, list[str]]:
    """Who answered which question."""
    by_step = {
        "plan": [plan.mode for plan in plans[:1]],
        "refine": [plan.mode for plan in plans[1:]],
        "evaluate": [record.mode for record in verdicts],
        "rerank": [rerank],
        "insights": [insights],
    }
    told = {step: sorted({mode for mode in modes if mode}) for step, modes in by_step.items()}
    return {step: modes for step, modes in told.items() if modes}


def _plan(plans: Sequence[PlanRecord]) -> dict[str, Any]:
    return {
        "searches": [
            {"wave": record.wave, "index": each.index, "query": each.query, "modality": each.modality}
            for record in plans
            for each in record.plan.searches
        ],
        "rationale": [record.plan.rationale for record in plans],
        "refused": [told for record in plans for told in record.plan.refused],
    }


def _unanswered(found: Gathered) -> list[str]:
    """An empty list of hits says nothing of the world when nobody answered."""
    if not found.planned or any(record.outcome is not None for record in found.records.values()):
        return []
    return ["no search was answered, so that nothing was found does not mean that there is nothing: see `gaps`"]


def _notes(folder: RunFolder, plans: Sequence[PlanRecord], verdicts: Sequence[VerdictRecord]) -> list[str]:
    """What a reader should know of how it came about."""
    notes = [note for record in plans for note in record.notes]
    notes += [f"no second wave: {record.failure}" for record in plans[1:] if record.failure]
    notes += sorted({record.note for record in verdicts if record.note})
    failures = [
        f"the body of {key} was not loaded: {body['failure']}"
        for key, body in sorted(folder.bodies().items())
        if "failure" in body
    ]
    return notes + failures


def _without_effect(found: Gathered, ranked: RankedHitSet, verdicts: Sequence[VerdictRecord]) -> list[str]:
    """What a model said that nothing came of."""
    judged = apply_verdicts(found.hits, [each.evaluated for each in verdicts if each.evaluated is not None])
    counted = {
        "verdicts ignored, for keys that were not shown": judged.unknown_keys,
        "verdicts ignored, for keys that had one already": judged.repeated_keys,
        "scores out of range, brought into it": judged.clamped_scores,
        "re-ranked keys ignored, unknown or repeated": ranked.ignored_keys,
    }
    return [f"{what}: {count}" for what, count in counted.items() if count]


def _gaps(run: Run, found: Gathered, ranked: RankedHitSet, verdicts: Sequence[VerdictRecord]) -> list[str]:
    """What is missing, and why."""
    gaps = [
        f"search {search['index']} ({search['modality']}) was not made: {search['skipped']} is nearly spent"
        if search["skipped"]
        else f"search {search['index']} ({search['modality']}) was not answered: {_why(run, search['failure'])}"
        for search in found.searches()
        if not search["ok"]
    ]
    unjudged = sum(hit.unjudged for hit in ranked.survivors)
    if unjudged:
        reasons = sorted({record.failure for record in verdicts if record.failure}) or ["no verdict was given"]
        gaps.append(f"{unjudged} hits were not judged: {', '.join(reasons)}")
    return gaps


def _why(run: Run, failure: str) -> str:
    stopped = failure == "lost" and run.stop_requested
    return "the run was stopped" if stopped else failure
