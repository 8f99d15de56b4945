"""Watching a run: waiting for its end, and the best results that there are so far, within an answer's size."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from zarniwoop.contract.deadline import Clock
from zarniwoop.pipelines.investigate.folder import RunFolder, plain
from zarniwoop.pipelines.investigate.found import gather
from zarniwoop.stores.failure import ILLEGIBLE, StoreUnavailable
from zarniwoop.stores.run_files import MERGED, RANKED, RESULT, RunFiles, read_json
from zarniwoop.stores.runs import Run, RunStore
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.run_report import RunReport, report

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 1.0
_GROWTH = 1.5
HITS_UNDER_WAY = 10
MOST_HITS = 200
_STAGES = (("result", RESULT), ("ranked", RANKED), ("merged", MERGED))
_SEARCHING = "searching"
_MOST_LIST_BYTES = {"hits": 1_900_000, "dropped": 400_000}
_MOST_MEMBER_BYTES = 300_000
"""Together under 2.75 MB: in a proxy response JSON is a string, and there at worst twice as long."""


class RunWatcher:
    """Looks at runs for whoever asks, over REST or within a tool call."""

    def __init__(self, runs: RunStore, files: RunFiles, clock: Clock) -> None:
        self._runs = runs
        self._files = files
        self._clock = clock

    def wait_for_end(self, project: ProjectKey, run_id: str, seconds: float) -> Run | None:
        """The run once it has ended, or as it stands after so many seconds; None for one that is unknown."""
        until = self._clock.monotonic() + seconds
        pause = _FIRST_PAUSE
        while True:
            run = self._runs.get(project, run_id)
            left = until - self._clock.monotonic()
            if run is None or run.state.is_terminal or left <= 0:
                return run
            self._clock.sleep(min(pause, left))
            pause = min(pause * _GROWTH, _LONGEST_PAUSE)

    def report(self, run: Run) -> RunReport:
        """With results, as far as there are any; without S3 the rest is told all the same."""
        try:
            results = self._results(run)
        except StoreUnavailable:
            return report(run, note="the run's files cannot be read right now; ask again")
        gone = results is None and run.state.is_terminal
        return report(run, results, "the run left no results, or they are past their time" if gone else None)

    def _results(self, run: Run) -> Mapping[str, Any] | None:
        most_hits = MOST_HITS if run.state.is_terminal else HITS_UNDER_WAY
        for stage, name in _STAGES:
            document = read_json(self._files, run.project, run.run_id, name)
            if isinstance(document, dict):
                return bounded(stage, document, most_hits)
        searched = run.progress.get("search")
        document = self._gathered(run) if searched and searched.done else None
        return document and bounded(_SEARCHING, document, most_hits)

    def _gathered(self, run: Run) -> dict[str, Any] | None:
        """What the searches that are done have brought, while others are still under way or after none came to a merge.

        A key of these hits is good for this look only; None when the files are those of another version.
        """
        try:
            found = gather(RunFolder(self._files, run.project, run.run_id), 1)
        except ILLEGIBLE:
            return None
        done = [search for search in found.searches() if search["index"] in found.records]
        told: dict[str, Any] = plain({**found.as_json(), "searches": done})
        return told


def bounded(stage: str, document: Mapping[str, Any], most_hits: int) -> dict[str, Any]:
    """A document of hits cut to size: `hits` (`survivors` in a ranked set) and `dropped` from their ends.

    What else it has goes along while it fits. What was cut or left out is named in `truncated`.
    """
    lists = {"hits": document.get("hits", document.get("survivors")), "dropped": document.get("dropped")}
    answer: dict[str, Any] = {"stage": stage}
    cut: list[str] = []
    for name, most_bytes in _MOST_LIST_BYTES.items():
        found = lists[name] if isinstance(lists[name], list) else []
        kept = _within(found[:most_hits], most_bytes)
        answer |= {name: kept, f"{name}_total": len(found)}
        cut += [name] if len(kept) < len(found) else []
    members = [item for item in document.items() if item[0] not in (*lists, "survivors", "stage")]
    small = dict(_within(sorted(members, key=_weight), _MOST_MEMBER_BYTES))
    return {**small, **answer, "truncated": cut + [name for name, _ in members if name not in small]}


def _weight(member: Any) -> int:
    return len(orjson.dumps(member))


def _within(found: Iterable[Any], most_bytes: int) -> list[Any]:
    kept: list[Any] = []
    for each in found:
        most_bytes -= _weight(each) + 1
        if most_bytes < 0:
            break
        kept.append(each)
    return kept
