"""The result of a run, composed out of its files: `result.json`, and the outcome that it stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zarniwoop.pipelines.investigate.folder import ORDER, PlanRecord, VerdictRecord
from zarniwoop.pipelines.investigate.found import WAVES, Gathered, gather, mode_of, ranked_so_far
from zarniwoop.pipelines.investigate.rank import RankedHitSet
from zarniwoop.pipelines.investigate.services import Work

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


def compose(work: Work, *, error: str | None) -> Composed:
    """Everything that the run's files hold; `error` is what ended it, if anything did."""
    found = gather(work.folder, WAVES)
    verdicts = work.folder.all_verdicts(WAVES)
    ranked = ranked_so_far(work.folder, found.hits, WAVES)
    outcome = _outcome(found, ranked, error)
    reason = error or (found.plans[0].failure if found.plans and outcome == PLAN_FAILED else None)
    run = work.services.runs.get(work.run.project, work.run.run_id) or work.run
    order = work.folder.read(ORDER) or {}
    document = {
        "run_id": run.run_id,
        "request_id": run.request_id,
        "question": work.asked.question,
        "outcome": outcome,
        "error": reason,
        "mode": mode_of([*found.plans, *verdicts]),
        "modes": _modes(found.plans, verdicts, order.get("mode")),
        "plan": _plan(found.plans),
        "searches": found.searches(),
        "survivors": ranked.survivors,
        "dropped": ranked.dropped,
        "ranked": ranked.ranked,
        "reranked": ranked.reranked,
        "refine_depth": ranked.refine_depth,
        "waves": max((record.wave for record in found.plans if record.plan.searches), default=0),
        "usage": run.usage,
        "cost": run.cost,
        "notes": _notes(work, found.plans, verdicts, order.get("failure")),
        "gaps": _gaps(work, found, ranked, verdicts),
    }
    return Composed(outcome=outcome, error=reason, document=document)


def _outcome(found: Gathered, ranked: RankedHitSet, error: str | None) -> str | None:
    """None for a run that was stopped before it had a plan."""
    if not found.planned:
        return PLAN_FAILED if found.plans or error else None
    if not found.hits:
        return EMPTY
    return SUCCESS if ranked.ranked else EVALUATE_FAILED


def _modes(plans: Sequence[PlanRecord], verdicts: Sequence[VerdictRecord], rerank: str | None) -> dict[str, list[str]]:
    """Who answered which question."""
    by_step = {
        "plan": [plan.mode for plan in plans[:1]],
        "refine": [plan.mode for plan in plans[1:]],
        "evaluate": [record.mode for record in verdicts],
        "rerank": [rerank],
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


def _notes(
    work: Work, plans: Sequence[PlanRecord], verdicts: Sequence[VerdictRecord], rerank_failure: str | None
) -> list[str]:
    """What a reader should know of how it came about."""
    notes = [note for record in plans for note in record.notes]
    notes += [f"no second wave: {record.failure}" for record in plans[1:] if record.failure]
    notes += sorted({record.note for record in verdicts if record.note})
    failures = [
        f"the body of {key} was not loaded: {body['failure']}"
        for key, body in sorted(work.folder.bodies().items())
        if "failure" in body
    ]
    return notes + failures + ([f"not re-ranked: {rerank_failure}"] if rerank_failure else [])


def _gaps(work: Work, found: Gathered, ranked: RankedHitSet, verdicts: Sequence[VerdictRecord]) -> list[str]:
    """What is missing, and why."""
    gaps = [
        f"search {search['index']} ({search['modality']}) was not made: {search['skipped']} is nearly spent"
        if search["skipped"]
        else f"search {search['index']} ({search['modality']}) was not answered: {_why(work, search['failure'])}"
        for search in found.searches()
        if not search["ok"]
    ]
    unjudged = sum(hit.unjudged for hit in ranked.survivors)
    if unjudged:
        reasons = sorted({record.failure for record in verdicts if record.failure}) or ["no verdict was given"]
        gaps.append(f"{unjudged} hits were not judged: {', '.join(reasons)}")
    return gaps


def _why(work: Work, failure: str) -> str:
    stopped = failure == "lost" and work.run.stop_requested
    return "the run was stopped" if stopped else failure
