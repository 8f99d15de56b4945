"""What a running stack opens on this machine, and what it unpacks there."""

from pathlib import Path

import httpx
import pytest

from stack.running import Stack

pytestmark = pytest.mark.e2e

_LISTENING = "0A"
_LOOPBACK = "0100007F"  # 127.0.0.1, as /proc/net/tcp spells it


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells which sockets a process has")
def test_everything_listens_on_127_0_0_1_only(stack: Stack) -> None:
    """The emulator, the simulator and the scripted model cannot be reached from another machine."""
    inodes = {inode for pid in _stack_processes(stack) for inode in _sockets(pid)}

    listening = [address for address, inode in _listeners() if inode in inodes]

    assert len(listening) == 3
    assert {address.partition(":")[0] for address in listening} == {_LOOPBACK}


def test_the_layer_is_unpacked_once_for_all_functions(stack: Stack, api: httpx.Client) -> None:
    """The authorizer's environment and the tools' share a copy; only their own code is unpacked for each."""
    assert api.get("/v1/tools").status_code == 200
    unpacked = [path.parent.parent for path in (stack.folder / "tmp").rglob("zarniwoop/wiring.py")]
    assert len(unpacked) == 1
    assert len(list((stack.folder / "tmp").rglob("code/app.py"))) >= 2


def _stack_processes(stack: Stack) -> set[int]:
    """The servers and everything in their sessions: the functions' workers too."""
    leaders = {process.pid for process in stack.processes() if process.name != "keeper"}
    return {
        int(entry.parent.name)
        for entry in Path("/proc").glob("[0-9]*/stat")
        if (fields := _fields(entry)) and int(fields[3]) in leaders
    }


def _fields(stat: Path) -> list[str]:
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:  # it has ended meanwhile
        return []


def _sockets(pid: int) -> set[str]:
    inodes: set[str] = set()
    for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target.removeprefix("socket:[").removesuffix("]"))
    return inodes


def _listeners() -> list[tuple[str, str]]:
    """Local address and inode of every listening TCP socket of this machine, IPv6 included."""
    rows = [line.split() for table in ("tcp", "tcp6") for line in _lines(Path("/proc/net") / table)]
    return [(row[1], row[9]) for row in rows if row[3] == _LISTENING]


def _lines(table: Path) -> list[str]:
    return table.read_text().splitlines()[1:] if table.exists() else []
