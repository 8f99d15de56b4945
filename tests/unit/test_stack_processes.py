"""The local stack's bookkeeping of processes."""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from stack.processes import Process, is_running, recorded, start, stop, this_process, wait_for_end

_WITH_A_CHILD = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.stdin.read(); {}"
_STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def _start(folder: Path, code: str) -> Process:
    return start("probe", [sys.executable, "-c", code], environment=os.environ, folder=folder)


def _said(folder: Path) -> str:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if text := (folder / "probe.log").read_text():
            return text
        time.sleep(0.02)
    raise AssertionError("the process said nothing")


def test_a_started_process_is_recorded_and_its_output_kept(tmp_path: Path) -> None:
    """Whoever comes later finds its id in the folder, and what it said in its log."""
    process = _start(tmp_path, "print('hello')")

    assert wait_for_end(process, 10)
    assert recorded(tmp_path) == [process]
    assert (tmp_path / "probe.log").read_text() == "hello\n"


def test_stopping_a_process_ends_its_children_too(tmp_path: Path) -> None:
    """A worker that the emulator started does not outlive it."""
    process = _start(tmp_path, _WITH_A_CHILD.format("import time; time.sleep(60)"))
    child = int(_said(tmp_path))

    stop(process)

    assert not is_running(process)
    assert _ends(child)


def test_a_process_that_ignores_the_request_is_ended_all_the_same(tmp_path: Path) -> None:
    """After its patience, stop does not ask any more."""
    process = _start(tmp_path, _STUBBORN)
    _said(tmp_path)

    stop(process, patience=0.2)

    assert not is_running(process)


def test_a_process_id_that_was_given_away_again_is_left_alone(tmp_path: Path) -> None:
    """A record of an earlier process with the same id stops nothing."""
    process = _start(tmp_path, "import time; time.sleep(60)")
    if not process.born:
        pytest.skip("only Linux tells when a process was born")
    earlier = replace(process, born="1")

    stop(earlier)

    assert not is_running(earlier)
    assert is_running(process)
    stop(process)


def test_this_process_is_running() -> None:
    """The keeper of a stack finds itself alive."""
    assert is_running(this_process("keeper"))


def _ends(pid: int) -> bool:
    """Whether it is gone within ten seconds; an orphan's zombie counts as gone."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    return False
