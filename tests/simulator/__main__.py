"""`python -m tests.simulator --port 0 --ready-file PATH`: the simulator as a process of its own.

It writes `{"port": …, "url": "http://127.0.0.1:…"}` to the ready file once it listens, and ends cleanly on SIGTERM and
SIGINT.
"""

import argparse
import json
import signal
import threading
from pathlib import Path
from types import FrameType

from tests.simulator.server import Simulator


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--ready-file", type=Path, help="port and URL are written here as JSON once the server listens")
    parser.add_argument("--strict-pacing", action="store_true", help="refuse who asks faster than arXiv and NCBI allow")
    arguments = parser.parse_args()
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    with Simulator(port=arguments.port, strict_pacing=arguments.strict_pacing) as simulator:
        if arguments.ready_file:
            _announce(arguments.ready_file, simulator.port)
        stopped.wait()


def _announce(ready_file: Path, port: int) -> None:
    """Write port and URL so that whoever waits for the file never reads half of it."""
    draft = ready_file.with_name(f"{ready_file.name}.draft")
    draft.write_text(json.dumps({"port": port, "url": f"http://127.0.0.1:{port}"}), encoding="ascii")
    draft.replace(ready_file)


if __name__ == "__main__":
    main()
