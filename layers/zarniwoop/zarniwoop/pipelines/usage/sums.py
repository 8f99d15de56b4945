"""Records and kept hits summed up by provider, modality and day; pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zarniwoop.pipelines.usage.report import Cut, Kept, ModelUse, Span, Usage, UsageRow, utc_day
from zarniwoop.stores.audit import CallRecord
from zarniwoop.stores.runs import Run


@dataclass(slots=True)
class _Sums:
    """A row under way. `run_…` is what the runs' own calls cost, which is what kept hits are put against."""

    asked: int = 0
    calls: int = 0
    failed: int = 0
    hits: int = 0
    credits: float = 0.0
    usd: float = 0.0
    kept_hits: int = 0
    run_credits: float = 0.0
    run_usd: float = 0.0

    def add(self, record: CallRecord) -> None:
        self.asked += 1
        self.calls += record.calls
        self.failed += not record.ok
        self.hits += record.hit_count if record.operation == "search" else 0
        self.credits += record.credits
        self.usd += record.usd

    def add_cost_of_run(self, record: CallRecord) -> None:
        self.run_credits += record.credits
        self.run_usd += record.usd

    def told(self) -> UsageRow:
        return UsageRow(
            asked=self.asked,
            calls=self.calls,
            failed=self.failed,
            hits=self.hits,
            credits=round(self.credits, 9),
            usd=round(self.usd, 9),
            kept_hits=self.kept_hits,
            credits_per_kept_hit=self._each(self.run_credits),
            usd_per_kept_hit=self._each(self.run_usd),
        )

    def _each(self, cost: float) -> float | None:
        return round(cost / self.kept_hits, 9) if self.kept_hits else None


_Views = dict[str, dict[str, _Sums]]


def summed(
    span: Span,
    records: Iterable[CallRecord],
    runs: Sequence[Run],
    kept: Mapping[str, Sequence[Kept]],
    cut: tuple[Cut, ...],
) -> Usage:
    """Everything in the span, by every view of it. Trials of an endpoint's settings count: they cost as well."""
    views: _Views = {"providers": {}, "modalities": {}, "days": {}}
    total = _Sums()
    begun = {run.run_id: utc_day(run.created_at) for run in runs if run.run_id in kept}
    for record in records:
        if span.modality in (None, record.modality):
            _add_record(record, begun.get(record.request_id), total, views)
    for hit in (each for survivors in kept.values() for each in survivors):
        if span.modality in (None, hit.modality) and (span.instance_id is None or span.instance_id in hit.instances):
            _add_kept(hit, span, total, views)
    return Usage(
        date_from=span.first.isoformat(),
        date_to=span.last.isoformat(),
        total=total.told(),
        providers=_told(views["providers"]),
        modalities=_told(views["modalities"]),
        days=_told(views["days"]),
        runs=len(runs),
        models=_models(runs),
        complete=not cut,
        cut=cut,
    )


def _add_record(record: CallRecord, run_begun: str | None, total: _Sums, views: _Views) -> None:
    """`run_begun` is the day on which the run began that made the call; None for a call outside of those runs."""
    instance_id, modality = record.instance_id, str(record.modality)
    for sums in (total, *_rows(views, (instance_id, modality, utc_day(record.started_at)))):
        sums.add(record)
    if run_begun:
        for sums in (total, *_rows(views, (instance_id, modality, run_begun))):
            sums.add_cost_of_run(record)


def _add_kept(hit: Kept, span: Span, total: _Sums, views: _Views) -> None:
    for sums in (total, *_rows(views, (None, hit.modality, hit.day))):
        sums.kept_hits += 1
    for instance_id in hit.instances if span.instance_id is None else (span.instance_id,):
        views["providers"].setdefault(instance_id, _Sums()).kept_hits += 1


def _rows(views: _Views, names: Sequence[str | None]) -> Iterator[_Sums]:
    for view, name in zip(views.values(), names, strict=True):
        if name is not None:
            yield view.setdefault(name, _Sums())


def _told(view: Mapping[str, _Sums]) -> dict[str, UsageRow]:
    return {name: view[name].told() for name in sorted(view)}


def _models(runs: Sequence[Run]) -> ModelUse:
    return ModelUse(
        calls=sum(run.usage.calls for run in runs),
        input_tokens=sum(run.usage.input_tokens for run in runs),
        output_tokens=sum(run.usage.output_tokens for run in runs),
        usd=round(sum(run.usage.cost for run in runs), 9),
    )
