"""The run's files as the steps see them: who writes which, and the values that come back out of them.

    input.json                what was asked (written by the launcher)
    plan-<wave>.json          searches of a wave, what was refused, who planned
    searches/<index>.json     what one search brought, and the account of how
    merged.json               each work once, with a key
    bodies.json               texts that were loaded, by key
    batches-<wave>.json       which keys are judged together, and whether a model may be asked
    verdicts/<wave>-<n>.json  what was said of a batch
    order.json                the re-ranked keys
    ranked.json, result.json  what the caller sees
    insights…                 see `insights_record`

A file is written once; a step that finds its own is repeated by a retry, and does nothing twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.pipelines.investigate.evaluate import EvaluatedBatch
from zarniwoop.pipelines.investigate.merge import MergedHit, SearchOutcome
from zarniwoop.pipelines.investigate.plan import Plan
from zarniwoop.stores.run_files import INPUT, MERGED, RunFiles, read_json
from zarniwoop.stores.state import ProjectKey

BODIES = "bodies.json"
ORDER = "order.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRecord:
    """A wave's plan; `failure` is the word for why there is none, `mode` who planned."""

    wave: int
    plan: Plan
    mode: str | None = None
    failure: str | None = None
    notes: tuple[str, ...] = ()
    usage: ModelUsage = field(default_factory=ModelUsage)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "PlanRecord":
        plan, usage = Plan.from_json(value["plan"]), ModelUsage(**value["usage"])
        return cls(**{**value, "plan": plan, "usage": usage, "notes": tuple(value["notes"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRecord:
    """How a search ended: an `outcome`, or the word for why there is none (`failure`, or `skipped` for a budget)."""

    index: int
    outcome: SearchOutcome | None = None
    failure: str | None = None
    skipped: str | None = None
    attempts: tuple[Mapping[str, Any], ...] = ()
    note: str | None = None
    cost: float = 0.0
    milliseconds: int = 0

    @property
    def hits(self) -> int:
        return len(self.outcome.hits) if self.outcome else 0

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "SearchRecord":
        outcome = SearchOutcome.from_json(value["outcome"]) if value["outcome"] else None
        return cls(**{**value, "outcome": outcome, "attempts": tuple(value["attempts"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Keys that are judged together. `budget` names the one that a model's verdicts would exceed."""

    keys: tuple[str, ...]
    budget: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """What was said of a batch, or the word for why nothing was."""

    wave: int
    index: int
    evaluated: EvaluatedBatch | None = None
    mode: str | None = None
    failure: str | None = None
    note: str | None = None
    usage: ModelUsage = field(default_factory=ModelUsage)

    def as_json(self) -> dict[str, Any]:
        evaluated = self.evaluated.model_dump(by_alias=True) if self.evaluated else None
        return {
            "wave": self.wave,
            "index": self.index,
            "evaluated": evaluated,
            "mode": self.mode,
            "failure": self.failure,
            "note": self.note,
            "usage": self.usage,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "VerdictRecord":
        evaluated = EvaluatedBatch.model_validate(value["evaluated"]) if value["evaluated"] else None
        return cls(**{**value, "evaluated": evaluated, "usage": ModelUsage(**value["usage"])})


class RunFolder:
    """The files of one run. Every method raises StoreUnavailable when S3 does not answer."""

    def __init__(self, files: RunFiles, project: ProjectKey, run_id: str) -> None:
        self._files = files
        self._project = project
        self._run_id = run_id

    def read(self, name: str) -> Any:
        """What a file says; None when there is none."""
        return read_json(self._files, self._project, self._run_id, name)

    def write(self, name: str, content: Any) -> None:
        self._files.put(self._project, self._run_id, name, content)

    def input(self) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = self.read(INPUT)
        return found

    def webhook_url(self) -> str | None:
        """The address that was left for the run's end; it lies with the question, and lapses with it."""
        asked = self.input()
        arguments = asked.get("arguments") if isinstance(asked, Mapping) else None
        address = arguments.get("webhook_url") if isinstance(arguments, Mapping) else None
        return address if isinstance(address, str) else None

    def plan(self, wave: int) -> PlanRecord | None:
        found = self.read(f"plan-{wave}.json")
        return PlanRecord.from_json(found) if found else None

    def plans(self, waves: int) -> list[PlanRecord]:
        """Of the first so many waves, those that were planned."""
        return [plan for wave in range(1, waves + 1) if (plan := self.plan(wave)) is not None]

    def put_plan(self, record: PlanRecord) -> None:
        self.write(f"plan-{record.wave}.json", record)

    def search(self, index: int) -> SearchRecord | None:
        found = self.read(f"searches/{index:02d}.json")
        return SearchRecord.from_json(found) if found else None

    def put_search(self, record: SearchRecord) -> None:
        self.write(f"searches/{record.index:02d}.json", record)

    def merged(self) -> tuple[int, tuple[MergedHit, ...]]:
        """After which wave it was merged (0: not yet), and the works."""
        found = self.read(MERGED)
        if not found:
            return 0, ()
        return found["wave"], tuple(MergedHit.from_json(hit) for hit in found["hits"])

    def bodies(self) -> dict[str, dict[str, Any]]:
        """What was loaded: for each key a stored body, or the word for why there is none."""
        found: dict[str, dict[str, Any]] = self.read(BODIES) or {}
        return found

    def batches(self, wave: int) -> list[Batch]:
        found = self.read(f"batches-{wave}.json") or []
        return [Batch(keys=tuple(batch["keys"]), budget=batch["budget"]) for batch in found]

    def put_batches(self, wave: int, batches: Sequence[Batch]) -> None:
        self.write(f"batches-{wave}.json", list(batches))

    def verdicts(self, wave: int, index: int) -> VerdictRecord | None:
        found = self.read(_verdicts_name(wave, index))
        return VerdictRecord.from_json(found) if found else None

    def put_verdicts(self, record: VerdictRecord) -> None:
        self.write(_verdicts_name(record.wave, record.index), record.as_json())

    def all_verdicts(self, waves: int) -> list[VerdictRecord]:
        return [
            record
            for wave in range(1, waves + 1)
            for index in range(len(self.batches(wave)))
            if (record := self.verdicts(wave, index)) is not None
        ]


def _verdicts_name(wave: int, index: int) -> str:
    return f"verdicts/{wave}-{index:03d}.json"


def plain(value: Any) -> Any:
    """A value as JSON gives it back."""
    return orjson.loads(orjson.dumps(value))
