"""A reader's process that somebody took over, and that looks into its parent; with a secret in its environment, that
parent, which says what was found.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from zarniwoop.extract.worker import Worker, run

_PR_CAPBSET_DROP = 24


def _pry(_question: Mapping[str, Any], _body: bytes, _begins: Callable[[str], None]) -> Mapping[str, Any]:
    found = {}
    for name in ("environ", "mem", "maps"):
        try:
            with Path(f"/proc/{os.getppid()}/{name}").open("rb") as opened:
                found[name] = opened.read(0 if name == "mem" else -1).decode("latin-1") or "opened"
        except OSError as error:
            found[name] = type(error).__name__
    return found


def _without_rights_of_root() -> None:
    """No function on Lambda has them: this program anew, with none, to look into processes or to be above them."""
    for capability in range(64):
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    again = [sys.executable, "-P", "-B", "-m", "tests.fakes.prying"]
    os.execve(sys.executable, again, {**os.environ, "PLAIN": "yes"})  # noqa: S606 - ourselves


if __name__ == "__main__":
    if "PARENT_SECRET" not in os.environ:
        run(_pry)
    elif "PLAIN" not in os.environ:
        _without_rights_of_root()
    else:
        with Worker("tests.fakes.prying") as worker:
            for name, said in worker.ask({}, b"", lambda _step: 20.0).items():
                sys.stdout.write(f"{name} {said}\n")
