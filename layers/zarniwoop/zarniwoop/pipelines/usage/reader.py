"""What was asked of providers and what came of it: audit records and the results of runs, summed up over some days.

Bounded: of each instance the newest records are read, of the runs the newest as well; what had to be left out is told,
with the moment from which on the sums are whole. Records lapse (`research.log.retentionDays`).

Kept hits are survivors that somebody judged; a hit that several instances found counts for each of them, once. What a
kept hit cost is the price of the runs' own calls over their kept hits, both on the day on which the run began: searches
outside of runs are judged by nobody, so they are in the sums and not in that ratio, and neither is a run whose results
were not read.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.pipelines.usage.report import Cut, Kept, Span, Usage, utc_day
from zarniwoop.pipelines.usage.sums import summed
from zarniwoop.stores.audit import AuditStore, CallRecord
from zarniwoop.stores.run_files import RESULT, RunFiles, read_json
from zarniwoop.stores.runs import Run, RunStore
from zarniwoop.stores.state import ProjectKey

MOST_RECORDS = 20_000
MOST_INSTANCES = 200
MOST_RUNS = 100
FEWEST_RECORDS_EACH = 100
USUAL_RETENTION_SECONDS = 30 * 86_400.0
_AT_ONCE = 8
_LEAST_SECONDS = 2.0


class UsageReader:
    """Reads what there is in a span. Raises StoreUnavailable when the records or runs cannot be read."""

    def __init__(self, *, calls: AuditStore, runs: RunStore, files: RunFiles, clock: Clock) -> None:
        self._calls = calls
        self._runs = runs
        self._files = files
        self._clock = clock

    def usage(self, project: ProjectKey, span: Span, deadline: Deadline) -> Usage:
        runs, cut = self._runs_of(project, span)
        kept, unread = self._kept(project, runs, deadline)
        records, short = self._records(project, span, deadline)
        return summed(span, records, runs, kept, (*cut, *unread, *short, *self._lapsed(span, records)))

    def _runs_of(self, project: ProjectKey, span: Span) -> tuple[Sequence[Run], list[Cut]]:
        found = self._runs.created_between(project, span.since, span.until, at_most=MOST_RUNS + 1)
        if len(found) <= MOST_RUNS:
            return found, []
        runs = found[:MOST_RUNS]
        return runs, [Cut(what="runs", whole_since=runs[-1].created_at)]

    def _kept(
        self, project: ProjectKey, runs: Sequence[Run], deadline: Deadline
    ) -> tuple[dict[str, list[Kept]], list[Cut]]:
        """The survivors of each run that was read; results that there is no time for are left out, and told of once."""

        def read(run: Run) -> list[Kept] | None:
            if deadline.remaining() < _LEAST_SECONDS:
                return None
            return list(kept_in(run, read_json(self._files, project, run.run_id, RESULT)))

        if not runs:
            return {}, []
        with ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="results") as pool:
            found = list(pool.map(read, runs))
        kept = {run.run_id: each for run, each in zip(runs, found, strict=True) if each is not None}
        if None not in found:
            return kept, []
        whole = runs[: found.index(None)]
        return kept, [Cut(what="results", whole_since=whole[-1].created_at if whole else None)]

    def _lapsed(self, span: Span, records: Sequence[CallRecord]) -> list[Cut]:
        """How long records are kept, they say themselves; each as long as the setting was when it was written."""
        kept_seconds = min((each.expires_at - each.started_at for each in records), default=USUAL_RETENTION_SECONDS)
        whole_since = self._clock.now() - kept_seconds
        return [Cut(what="retention", whole_since=whole_since)] if span.since < whole_since else []

    def _records(self, project: ProjectKey, span: Span, deadline: Deadline) -> tuple[list[CallRecord], list[Cut]]:
        """The newest of each instance: an equal share, so that no busy one hides the others."""
        instances = self._instances(project, span)
        cut = [Cut(what="instances")] if len(instances) > MOST_INSTANCES else []
        instances = instances[:MOST_INSTANCES]
        share = max(MOST_RECORDS // max(len(instances), 1), FEWEST_RECORDS_EACH)
        records: list[CallRecord] = []
        for instance_id in instances:
            if deadline.remaining() < _LEAST_SECONDS:
                cut.append(Cut(what="records", instance_id=instance_id))
                continue
            page = self._calls.between(project, instance_id, span.since, span.until, at_most=share)
            records += page.records
            if page.more:
                oldest = page.records[-1].started_at if page.records else None
                cut.append(Cut(what="records", instance_id=instance_id, whole_since=oldest))
        return records, cut

    def _instances(self, project: ProjectKey, span: Span) -> Sequence[str]:
        if span.instance_id is not None:
            return (span.instance_id,)
        return self._calls.instances(project, at_most=MOST_INSTANCES + 1)


def kept_in(run: Run, result: Any) -> Iterator[Kept]:
    """The survivors that somebody judged, out of a run's result; none of one that is missing or of another form."""
    survivors = result.get("survivors") if isinstance(result, Mapping) else None
    for survivor in survivors if isinstance(survivors, list) else ():
        try:
            if not survivor["unjudged"]:
                instances = frozenset(str(source["instance_id"]) for source in survivor["sources"])
                yield Kept(day=utc_day(run.created_at), modality=str(survivor["hit"]["modality"]), instances=instances)
        except (LookupError, TypeError):
            continue
