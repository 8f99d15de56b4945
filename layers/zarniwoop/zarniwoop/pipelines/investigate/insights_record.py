"""What the steps of the insights write down in the run's folder.

Its files:

    insights/plan.json     which survivors are read together, or why none are
    insights/<n>.json      what stands in the hits of one batch, or the word for why nothing is known of them
    insights.json          the run's graph, and what became of it; insights.jsonld and insights.graphml for others
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.pipelines.investigate.folder import Batch, RunFolder
from zarniwoop.pipelines.investigate.insights import Insights

INSIGHTS_FILE = "insights.json"
JSON_LD_FILE = "insights.jsonld"
GRAPH_ML_FILE = "insights.graphml"
_PLAN_FILE = "insights/plan.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightsPlan:
    """The batches, or `unavailable`: the word for why no model is asked at all."""

    batches: tuple[Batch, ...] = ()
    parallel: int = 1
    unavailable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightsRecord:
    """What one batch brought; `failure` is the word for why it brought nothing."""

    index: int
    insights: Insights | None = None
    mode: str | None = None
    failure: str | None = None
    usage: ModelUsage = field(default_factory=ModelUsage)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "InsightsRecord":
        insights = Insights.from_json(value["insights"]) if value["insights"] else None
        return cls(**{**value, "insights": insights, "usage": ModelUsage(**value["usage"])})


def read_plan(folder: RunFolder) -> InsightsPlan | None:
    found = folder.read(_PLAN_FILE)
    if not found:
        return None
    batches = tuple(Batch(keys=tuple(batch["keys"]), budget=batch["budget"]) for batch in found["batches"])
    return InsightsPlan(**{**found, "batches": batches})


def write_plan(folder: RunFolder, plan: InsightsPlan) -> None:
    folder.write(_PLAN_FILE, plan)


def read_record(folder: RunFolder, index: int) -> InsightsRecord | None:
    found = folder.read(_record_name(index))
    return InsightsRecord.from_json(found) if found else None


def write_record(folder: RunFolder, record: InsightsRecord) -> None:
    folder.write(_record_name(record.index), record)


def _record_name(index: int) -> str:
    return f"insights/{index:03d}.json"
