"""Starting processes and stopping exactly those: each in a session of its own, recorded as soon as it is started.

Quirks: a process id may be given away again, so a record also holds when its process was born (where /proc tells).
`subprocess.Popen` complains when it is dropped while its child runs; these outlive the function that starts them.
"""

import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

RECORD = "processes.json"
_PATIENCE = 10.0
_POLL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process that was started here. `born` is its start in the kernel's clock ticks, empty where /proc is absent."""

    name: str
    pid: int
    born: str


def this_process(name: str) -> Process:
    return Process(name=name, pid=os.getpid(), born=_born(os.getpid()))


def start(name: str, command: Sequence[str | Path], *, environment: Mapping[str, str], folder: Path) -> Process:
    """Start a command in a new session, its output in `<folder>/<name>.log`, and record it there."""
    output = os.fspath(folder / f"{name}.log")
    pid = os.posix_spawn(
        command[0],
        [os.fspath(part) for part in command],
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    process = Process(name=name, pid=pid, born=_born(pid))
    record(folder, [*recorded(folder), process])
    return process


def record(folder: Path, processes: Sequence[Process]) -> None:
    """Whoever reads the record meanwhile reads the one before."""
    draft = folder / f"{RECORD}.draft"
    draft.write_text(json.dumps([asdict(process) for process in processes]))
    draft.replace(folder / RECORD)


def recorded(folder: Path) -> list[Process]:
    path = folder / RECORD
    return [Process(**entry) for entry in json.loads(path.read_text())] if path.exists() else []


def is_running(process: Process) -> bool:
    with suppress(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)  # a child of ours that has ended is a zombie until somebody asks
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    return _born(process.pid) == process.born


def stop(process: Process, patience: float = _PATIENCE) -> None:
    """Ask it and its children to end, and make them when they have not after `patience` seconds."""
    if not is_running(process):
        return
    _signal_group(process.pid, signal.SIGTERM)
    if not wait_for_end(process, patience):
        _signal_group(process.pid, signal.SIGKILL)
        wait_for_end(process, patience)
    _signal_group(process.pid, signal.SIGKILL)  # a child that outlived its parent


def wait_for_end(process: Process, patience: float) -> bool:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if not is_running(process):
            return True
        time.sleep(_POLL)
    return not is_running(process)


def _signal_group(leader: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _born(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # field 22, counted behind the name, which may hold anything
