"""`python -m tests.benchmarks.abuses`: every abuse of a transfer, each with a second to do its worst in; prints JSON.

The server is a process of its own (`serve`), so that what is measured is the fetcher's: how long behind the deadline it
answers, and how far one fetch lifts the peak of resident memory.
"""

import subprocess
import sys
import time
from pathlib import Path

import orjson

SECONDS = 1.0
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_PEAK = "5"
"""https://docs.kernel.org/filesystems/proc.html: sets the peak back to what is resident now."""


def serve() -> None:
    """Prints its port, and serves until its standard input closes."""
    from tests.fakes.transfers import TRANSFERS
    from tests.fakes.web import NOT_FOUND, RoutedOrigin

    with RoutedOrigin(lambda received: TRANSFERS.get(received.target.removeprefix("/"), NOT_FOUND)) as origin:
        sys.stdout.write(f"{origin.port}\n")
        sys.stdout.flush()
        sys.stdin.read()


def main() -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.abuses", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:  # noqa: S603
        if server.stdin is None or server.stdout is None:
            raise RuntimeError("the server has no pipes")
        try:
            return _measured(int(server.stdout.readline()))
        finally:
            server.stdin.close()


def _measured(port: int) -> dict[str, float]:
    from tests.fakes.page_reader import FakePageReader
    from tests.fakes.transfers import TRANSFERS
    from zarniwoop.contract.deadline import Deadline
    from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion
    from zarniwoop.net.address import AllowedNetworks
    from zarniwoop.net.transport import PooledTransport
    from zarniwoop.observe.clock import SystemClock
    from zarniwoop.pages.fetcher import LocalFetcher
    from zarniwoop.pages.robots import Robots

    clock = SystemClock()
    web = PooledTransport(contact="", allowed=AllowedNetworks.parse("127.0.0.1/32"), plain_http=True)
    fetcher = LocalFetcher(web=web, robots=Robots(web, clock), reader=FakePageReader(), clock=clock)

    def fetch(name: str) -> PageAnswer:
        question = PageQuestion(url=f"http://127.0.0.1:{port}/{name}", seconds=SECONDS, honour_robots=False)
        return fetcher.fetch(question, deadline=Deadline.after(SECONDS, clock))

    for name in ("setcookie", "robots") * 10:
        fetch(name)
    late, lifted, untyped = [], [], 0
    for name in TRANSFERS:
        _CLEAR.write_text(_PEAK, encoding="ascii")
        before, begun = _megabytes("VmRSS:"), time.perf_counter()
        answer = fetch(name)
        late.append(time.perf_counter() - begun - SECONDS)
        lifted.append(_megabytes("VmHWM:") - before)
        untyped += answer.outcome is not PageOutcome.OK and not answer.reason
    return {
        "endpoints": float(len(TRANSFERS)),
        "late_seconds": round(max(0.0, *late), 3),
        "delta_mb": round(max(lifted), 2),
        "untyped": float(untyped),
    }


def _megabytes(name: str) -> float:
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        sys.stdout.buffer.write(orjson.dumps(main()) + b"\n")
