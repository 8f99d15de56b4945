"""Closing a run that its own steps will not end: overdue ones, and those whose project has stopped.

What was found is kept: the result is composed out of whatever files there are. It is written only by whoever ended the
run, and after that, so that the result of a step that ended the run just then is not overwritten.
"""

from dataclasses import replace

from zarniwoop.pipelines.investigate.folder import RunFolder
from zarniwoop.pipelines.investigate.result import Composed, compose, is_concluded
from zarniwoop.pipelines.run_end import RunEnds
from zarniwoop.stores.failure import ILLEGIBLE, StoreUnavailable
from zarniwoop.stores.run_files import RESULT, RunFiles
from zarniwoop.stores.runs import Ending, Run, RunState


def close(run: Run, ending: Ending, ends: RunEnds, files: RunFiles) -> bool:
    """End the run with what it has; True for the one whose ending stands. Raises StoreUnavailable for the table's."""
    folder = RunFolder(files, run.project, run.run_id)
    composed = _composed(run, folder, ending)
    outcome = ending.outcome or (composed.outcome if composed else None)
    ending = replace(ending, outcome=outcome, concluded=is_concluded(ending.state, outcome))
    stands = ends.end(run, ending)
    if stands and composed is not None:
        _write(composed, ending, folder)
    return stands


def _composed(run: Run, folder: RunFolder, ending: Ending) -> Composed | None:
    """None where S3 does not answer, the question is gone or a file is not to be read: the run ends all the same."""
    error = None if ending.state is RunState.STOPPED else ending.error
    try:
        asked = folder.input()
        return compose(run, folder, asked["arguments"]["question"], error=error) if asked else None
    except (StoreUnavailable, *ILLEGIBLE):
        return None


def _write(composed: Composed, ending: Ending, folder: RunFolder) -> None:
    """The run has ended by now; without a result its owner is shown what its steps wrote."""
    try:
        folder.write(RESULT, composed.ended(ending))
    except StoreUnavailable:
        return
