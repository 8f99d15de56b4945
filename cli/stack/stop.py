"""`make stop`: ends every local stack of this project by the process ids that were recorded when it was started."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from stack import places
from stack.processes import Process, is_running, recorded, wait_for_end
from stack.running import stop_folder

_KEEPER_PATIENCE = 30.0


def main() -> None:
    folders = [folder for folder in sorted(places.run_folder("any").parent.glob("*")) if recorded(folder)]
    for folder in folders:
        stop_stack(folder)
        sys.stdout.write(f"stopped: {folder.name}\n")
    if not folders:
        sys.stdout.write("nothing is running\n")
    places.STACK_FILE.unlink(missing_ok=True)


def stop_stack(folder: Path) -> None:
    """Ask the process that keeps it, which stops the rest; then see to what is left."""
    for keeper in [process for process in recorded(folder) if process.name == "keeper"]:
        _ask(keeper)
    stop_folder(folder)


def _ask(keeper: Process) -> None:
    if not is_running(keeper):
        return
    with suppress(ProcessLookupError):
        os.kill(keeper.pid, signal.SIGTERM)
    wait_for_end(keeper, _KEEPER_PATIENCE)


if __name__ == "__main__":
    main()
