"""How the optional steps, re-ranking and insights, ended: told in every result whose run was to have them.

A step that was wanted is announced before it begins, so that one that died, or was never come to, is missed at the end.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from zarniwoop.pipelines.investigate.asking import NO_MODEL
from zarniwoop.pipelines.investigate.budget import FREE_ONLY, OUT_OF_MONEY, OUT_OF_TIME, OUT_OF_TOKENS, why_spared
from zarniwoop.pipelines.investigate.folder import ORDER, RunFolder
from zarniwoop.pipelines.investigate.insights_record import INSIGHTS_FILE
from zarniwoop.stores.runs import Run

NOT_JUDGED = "not_judged"
STOPPED = "stopped"
NOT_REACHED = "not_reached"
STEP_FAILED = "step_failed"

RERANK_NODE = "rerank"
INSIGHTS_NODE = "insights"


class OptionalState(StrEnum):
    """NOT_AVAILABLE: nobody was there to do it, or nothing was left to do it with; FAILED: somebody tried."""

    DONE = "done"
    PARTIAL = "partial"
    EMPTY = "empty"
    NOT_AVAILABLE = "not_available"
    FAILED = "failed"


_REASONS: Mapping[str, str] = {
    NO_MODEL: "no model is configured",
    **{reason: why_spared(reason) for reason in (OUT_OF_TIME, OUT_OF_TOKENS, OUT_OF_MONEY, FREE_ONLY)},
    NOT_JUDGED: "the hits were not judged",
    STOPPED: "the run was stopped",
    NOT_REACHED: "the run did not come so far",
}
"""For what reasons a step is not available, in words; every other reason is a failure's."""


def state_of(reason: str | None) -> OptionalState:
    if reason is None:
        return OptionalState.DONE
    return OptionalState.NOT_AVAILABLE if reason in _REASONS else OptionalState.FAILED


def rerank_told(folder: RunFolder, run: Run, *, ranked: bool) -> dict[str, Any] | None:
    """None where no re-ranking was wanted, or there was nothing to put into order."""
    order = folder.read(ORDER)
    if order is None and RERANK_NODE not in run.progress:
        return None
    missed = _missed(run, RERANK_NODE) if ranked else NOT_JUDGED
    reason = order["failure"] if order else missed
    return {"state": state_of(reason), "reason": reason}


def insights_told(folder: RunFolder, run: Run) -> dict[str, Any] | None:
    """None where none were asked for. The graph itself is in its files."""
    asked = folder.input()
    if not asked or not asked["arguments"].get("insights"):
        return None
    document = folder.read(INSIGHTS_FILE)
    if document:
        return {name: value for name, value in document.items() if name != "graph"}
    reason = _missed(run, INSIGHTS_NODE)
    return {"state": state_of(reason), "reason": reason}


def notes_of(rerank: Mapping[str, Any] | None, insights: Mapping[str, Any] | None) -> list[str]:
    """What is missing of them, in sentences."""
    told = [("not re-ranked", rerank), ("no insights", insights)]
    notes = [
        f"{what}: {_why(each['state'], each['reason'])}"
        for what, each in told
        if each and each["state"] in (OptionalState.NOT_AVAILABLE, OptionalState.FAILED)
    ]
    if insights and insights["state"] == OptionalState.PARTIAL:
        notes.append(f"insights are missing from {insights['failed_batches']} of {insights['batches']} batches of hits")
    if insights and insights.get("entities") and insights["project"] is None:
        notes.append("the insights were not merged into the project's")
    return notes


def _missed(run: Run, node: str) -> str:
    """Why a step left nothing behind."""
    if run.stop_requested:
        return STOPPED
    return STEP_FAILED if node in run.progress else NOT_REACHED


def _why(state: str, reason: str) -> str:
    if state == OptionalState.NOT_AVAILABLE:
        return f"not available, {_REASONS[reason]}"
    return reason
