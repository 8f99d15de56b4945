"""What a run has found so far, put together out of its files: for the next step, for a run that stops, and for its end.

Nothing here depends on how far the run came: what is missing is left out, so a run that was stopped or failed half-way
shows what it has in the same form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zarniwoop.pipelines.investigate.evaluate import Judged, apply_verdicts
from zarniwoop.pipelines.investigate.folder import ORDER, Batch, PlanRecord, RunFolder, SearchRecord
from zarniwoop.pipelines.investigate.merge import MergedHit, merge
from zarniwoop.pipelines.investigate.plan import PlannedSearch
from zarniwoop.pipelines.investigate.rank import RankedHitSet, RerankAnswer, rank, reranked

WAVES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The searches of the first `wave` waves, merged. A search without a record is lost: its step died or never ran."""

    wave: int
    plans: tuple[PlanRecord, ...]
    records: Mapping[int, SearchRecord]
    hits: tuple[MergedHit, ...]

    @property
    def planned(self) -> tuple[PlannedSearch, ...]:
        return tuple(search for record in self.plans for search in record.plan.searches)

    @property
    def lost(self) -> list[int]:
        return [search.index for search in self.planned if search.index not in self.records]

    @property
    def new_hits(self) -> list[MergedHit]:
        """The works that no search of an earlier wave named."""
        last = self.plans[-1].plan.searches if self.plans else ()
        first_index = last[0].index if last else 0
        return [hit for hit in self.hits if all(source.search_index >= first_index for source in hit.sources)]

    def as_json(self) -> dict[str, Any]:
        return {"wave": self.wave, "hits": self.hits, "searches": self.searches(), "mode": mode_of(self.plans)}

    def searches(self) -> list[dict[str, Any]]:
        """What was asked, and how each search ended."""
        wave_of = {search.index: record.wave for record in self.plans for search in record.plan.searches}
        return [_account(search, wave_of[search.index], self.records.get(search.index)) for search in self.planned]


def gather(folder: RunFolder, wave: int) -> Gathered:
    """Everything that the first `wave` waves brought; works keep the keys that they were given before."""
    plans = tuple(folder.plans(wave))
    planned = [search for record in plans for search in record.plan.searches]
    records = {search.index: record for search in planned if (record := folder.search(search.index)) is not None}
    outcomes = [record.outcome for record in records.values() if record.outcome is not None]
    _, earlier = folder.merged()
    return Gathered(wave=wave, plans=plans, records=records, hits=merge(outcomes, earlier))


def hits_to_judge(folder: RunFolder, hits: Sequence[MergedHit]) -> tuple[MergedHit, ...]:
    """The hits as a judge shall see them: with the passage of a loaded body that is closest to the question."""
    bodies = folder.bodies()
    return tuple(_with_passage(hit, bodies[hit.key]) if hit.key in bodies else hit for hit in hits)


def hits_of(batch: Batch, folder: RunFolder) -> list[MergedHit]:
    """The hits of a batch, as a judge shall see them."""
    keys = set(batch.keys)
    return [hit for hit in hits_to_judge(folder, folder.merged()[1]) if hit.key in keys]


def judged_so_far(folder: RunFolder, waves: int) -> Judged:
    """The works of `merged.json`, with every verdict there is, and where their bodies are stored."""
    bodies = folder.bodies()
    hits = [_with_body(hit, bodies[hit.key]) if hit.key in bodies else hit for hit in folder.merged()[1]]
    return _judged(folder, hits, waves)


def ranked_so_far(folder: RunFolder, hits: Sequence[MergedHit], waves: int) -> RankedHitSet:
    """The works in the best order that can be told: re-ranked, else by score, else by the searches' own ranks."""
    bodies = folder.bodies()
    shown = [_with_body(hit, bodies[hit.key]) if hit.key in bodies else hit for hit in hits]
    loaded = any("sha256" in body for body in bodies.values())
    ordered = rank(_judged(folder, shown, waves), refine_depth=int(loaded))
    order = folder.read(ORDER)
    return reranked(ordered, RerankAnswer(keys=order["keys"])) if order and order.get("keys") else ordered


def mode_of(records: Sequence[Any]) -> str | None:
    """Who answered: `builtin` as soon as it had a hand in anything, else the protocol that was asked last."""
    modes = [record.mode for record in records if record.mode]
    return "builtin" if "builtin" in modes else modes[-1] if modes else None


def _judged(folder: RunFolder, hits: Sequence[MergedHit], waves: int) -> Judged:
    return apply_verdicts(hits, [each.evaluated for each in folder.all_verdicts(waves) if each.evaluated is not None])


def _with_passage(hit: MergedHit, body: Mapping[str, Any]) -> MergedHit:
    if not body.get("passage"):
        return hit
    content = {**(hit.hit.get("content") or {}), "text": body["passage"]}
    return replace(hit, hit={**hit.hit, "content": content})


def _with_body(hit: MergedHit, body: Mapping[str, Any]) -> MergedHit:
    if "sha256" not in body:
        return hit
    extras = {**(hit.hit.get("extras") or {}), "content_sha256": body["sha256"]}
    return replace(hit, hit={**hit.hit, "extras": extras})


def _account(search: PlannedSearch, wave: int, record: SearchRecord | None) -> dict[str, Any]:
    told = {
        "index": search.index,
        "wave": wave,
        "query": search.query,
        "modality": search.modality,
        "source_affinity": search.source_affinity,
    }
    if record is None:
        return {**told, "ok": False, "failure": "lost", "skipped": None, "instance_id": None, "hits": 0, "attempts": []}
    return {
        **told,
        "ok": record.outcome is not None,
        "failure": record.failure,
        "skipped": record.skipped,
        "instance_id": record.outcome.instance_id if record.outcome else None,
        "hits": record.hits,
        "attempts": record.attempts,
        "note": record.note,
        "cost": record.cost,
        "milliseconds": record.milliseconds,
    }
