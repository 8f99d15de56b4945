"""The optional steps `insights` (what is read together), `extract` (one batch of survivors) and `keep_insights`.

They come after the ranking, so that whatever becomes of them the run has its result. Only what a judge kept is read:
hits that nobody judged would carry anything into the project's graph. Nothing built in stands for the model.
"""

from collections.abc import Sequence
from typing import Any

from zarniwoop.llm.recipes import INSIGHTS
from zarniwoop.observe.metrics import Metric
from zarniwoop.pipelines.investigate.asking import NO_MODEL, Question, Unanswered, ask, settings_of
from zarniwoop.pipelines.investigate.batching import tokens_of_batch, within_budget
from zarniwoop.pipelines.investigate.fence import hits_variables
from zarniwoop.pipelines.investigate.folder import plain
from zarniwoop.pipelines.investigate.found import hits_of, hits_to_judge, mode_of, ranked_so_far
from zarniwoop.pipelines.investigate.insights import Insights, InsightsAnswer, extracted, merged
from zarniwoop.pipelines.investigate.insights_export import graph_ml, json_ld
from zarniwoop.pipelines.investigate.insights_graph import IllegibleGraph, add
from zarniwoop.pipelines.investigate.insights_record import (
    GRAPH_ML_FILE,
    INSIGHTS_FILE,
    JSON_LD_FILE,
    InsightsPlan,
    InsightsRecord,
    read_plan,
    read_record,
    write_plan,
    write_record,
)
from zarniwoop.pipelines.investigate.optional import (
    INSIGHTS_NODE,
    NOT_JUDGED,
    STEP_FAILED,
    STOPPED,
    OptionalState,
    state_of,
)
from zarniwoop.pipelines.investigate.services import Work
from zarniwoop.settings.models import BUILTIN
from zarniwoop.tools.untrusted import new_nonce

ANSWER_TOKENS_PER_HIT = 250
"""Two or three entities and a relation, each with its span."""


def insights(work: Work) -> dict[str, Any]:
    """The batches of survivors, and for which of them a model may be asked within the budgets."""
    plan = read_plan(work.folder)
    if plan is None:
        plan = _planned(work)
        write_plan(work.folder, plan)
    work.expect(INSIGHTS_NODE, len(plan.batches) + 1)
    indices = list(range(len(plan.batches)))
    return {"then": "extract" if indices else "keep_insights", "batches": indices, "parallel": plan.parallel}


def extract(work: Work) -> dict[str, Any]:
    """One batch read by the model, and every span of its answer looked up in its hit."""
    index = work.given.index
    record = read_record(work.folder, index)
    if record is None:
        record = _extracted(index, work)
        write_record(work.folder, record)
    failed = int(record.insights is None)
    work.done(INSIGHTS_NODE, str(index), counts={"failed_insights": failed}, usage=record.usage)
    return {"ok": not failed, "index": index}


def keep_insights(work: Work) -> dict[str, Any]:
    """The run's graph into its files, then into the project's; the run that was stopped keeps it to itself."""
    if work.run.state.is_terminal:
        return {"then": "finish"}
    told = work.folder.read(INSIGHTS_FILE)
    if told is None:
        told = _written(work)
    graph = Insights.from_json(told["graph"])
    if graph.entities and told["project"] is None and not work.run.stop_requested:
        told["project"] = _into_project(graph, work)
        work.folder.write(INSIGHTS_FILE, told)
    counts = {
        "entities": told["entities"],
        "relations": told["relations"],
        "refused_insights": sum(told["refused"].values()),
        f"insights_{told['state']}": 1,
    }
    if work.done(INSIGHTS_NODE, "kept", counts=counts):
        work.services.metrics.count(Metric.CURATED_INSIGHTS, outcome=told["state"])
    return {"then": "finish"}


def _planned(work: Work) -> InsightsPlan:
    waves, hits = work.folder.merged()
    ranked = ranked_so_far(work.folder, hits, waves)
    if not ranked.ranked:
        return InsightsPlan(unavailable=NOT_JUDGED)
    model = settings_of(INSIGHTS, work)
    if isinstance(model, Unanswered):
        return InsightsPlan(unavailable=model.reason)
    if model.protocol == BUILTIN:
        return InsightsPlan(unavailable=NO_MODEL)
    kept = [survivor.as_merged() for survivor in ranked.survivors if not survivor.unjudged]
    survivors = hits_to_judge(work.folder, kept)
    made = within_budget(survivors, model, work, answer_tokens=ANSWER_TOKENS_PER_HIT)
    return InsightsPlan(batches=tuple(made), parallel=model.max_parallel)


def _extracted(index: int, work: Work) -> InsightsRecord:
    plan = read_plan(work.folder) or InsightsPlan()
    batch = plan.batches[index]
    if batch.budget:
        return InsightsRecord(index=index, failure=batch.budget)
    shown = hits_of(batch, work.folder)
    question = Question(
        recipe=INSIGHTS,
        variables=hits_variables(work.asked.question, work.today, shown, new_nonce()),
        into=InsightsAnswer,
        tokens=tokens_of_batch(shown, ANSWER_TOKENS_PER_HIT),
    )
    answer = ask(question, work, work.budget.seconds_to_judge)
    if isinstance(answer, Unanswered):
        return InsightsRecord(index=index, failure=answer.reason, usage=answer.usage)
    found = extracted(answer.value, shown, work.run.run_id)
    return InsightsRecord(index=index, insights=found, mode=answer.mode, usage=answer.usage)


def _written(work: Work) -> dict[str, Any]:
    """The run's graph out of its batches, in three forms, and how it came about."""
    plan = read_plan(work.folder) or InsightsPlan(unavailable=STEP_FAILED)
    found = [read_record(work.folder, index) for index in range(len(plan.batches))]
    records = [record for record in found if record is not None]
    graph = merged(record.insights for record in records if record.insights is not None)
    failed = len(found) - sum(record.insights is not None for record in records)
    state, reason = _ending(plan, records, work)
    told: dict[str, Any] = {
        "state": state,
        "reason": reason,
        "mode": mode_of(records),
        "batches": len(plan.batches),
        "failed_batches": failed,
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "refused": graph.refused,
        "project": None,
    }
    if failed < len(plan.batches):
        work.folder.write(JSON_LD_FILE, json_ld(graph))
        work.folder.write(GRAPH_ML_FILE, graph_ml(graph))
    document: dict[str, Any] = plain({**told, "graph": graph})
    work.folder.write(INSIGHTS_FILE, document)
    return document


def _ending(plan: InsightsPlan, records: Sequence[InsightsRecord], work: Work) -> tuple[OptionalState, str | None]:
    """A batch without a record was lost: its step died, or the run was stopped before it."""
    if plan.unavailable:
        return state_of(plan.unavailable), plan.unavailable
    if not plan.batches:
        return OptionalState.EMPTY, None
    lost = STOPPED if work.run.stop_requested else STEP_FAILED
    reasons = [record.failure for record in records if record.failure]
    reasons += [lost] * (len(plan.batches) - len(records))
    if not reasons:
        return OptionalState.DONE, None
    if len(reasons) < len(plan.batches):
        return OptionalState.PARTIAL, reasons[0]
    failures = [reason for reason in reasons if state_of(reason) is OptionalState.FAILED]
    return state_of((failures or reasons)[0]), (failures or reasons)[0]


def _into_project(graph: Insights, work: Work) -> dict[str, Any] | None:
    """What the project's graph has by now; None where the run's was not merged into it."""
    project, services = work.run.project, work.services

    def still_open() -> bool:
        run = services.runs.get(project, work.run.run_id)
        return run is not None and not run.stop_requested and not run.state.is_terminal

    try:
        whole = add(graph, project, services.insights, services.clock, wanted=still_open)
    except IllegibleGraph:
        return None
    if whole is None:
        return None
    return {
        "entities": len(whole.insights.entities),
        "relations": len(whole.insights.relations),
        "cut": dict(whole.cut),
    }
