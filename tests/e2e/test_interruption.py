"""A local stack that is interrupted leaves nothing running, however early that happens."""

import os
import signal
import subprocess
import time

import pytest

from stack import places
from stack.processes import is_running, recorded

pytestmark = pytest.mark.e2e

_KEEPING = "from stack.running import running_stack\nwith running_stack('interrupted', simulator=True): pass"
_PATIENCE = 30.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_starting_ends_everything_that_was_started(number: signal.Signals) -> None:
    """Ctrl-C, kill and a closed terminal, with the servers up and the template not yet deployed."""
    folder = places.run_folder("interrupted")
    paths = os.pathsep.join((str(places.ROOT / "cli"), str(places.LAYER)))
    command = [str(places.PROJECT_PYTHON), "-c", _KEEPING]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.PIPE) as keeper:  # noqa: S603
        end = time.monotonic() + _PATIENCE
        while len(recorded(folder)) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        started = recorded(folder)
        keeper.send_signal(number)
        keeper.communicate(timeout=_PATIENCE)

    assert [process.name for process in started] == ["keeper", "emulator", "simulator"]
    assert not [process for process in started if is_running(process)]
    assert recorded(folder) == []
    assert not (folder / "tmp").exists()
