"""What is measured in a fresh process of this project: `python -m tests.benchmarks.sides <name> <port>`.

Timed sides print `cpu_us` and `wall_us` of one call; the others what their name says, as one JSON object.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import orjson

WARM_UP, CHUNKS, CALLS = 60, 16, 25
RICH_ROUNDS = 15
HEDGE_MILLISECONDS, HEDGED_SEARCHES = 200, 100
READ_SECONDS = 10.0


def timed(call: Callable[[], object]) -> dict[str, float]:
    """Median over chunks of the CPU and wall time of one call, in microseconds."""
    for _ in range(WARM_UP):
        call()
    cpu, wall = [], []
    for _ in range(CHUNKS):
        cpu_before, wall_before = time.process_time_ns(), time.perf_counter_ns()
        for _ in range(CALLS):
            call()
        cpu.append((time.process_time_ns() - cpu_before) / CALLS / 1000)
        wall.append((time.perf_counter_ns() - wall_before) / CALLS / 1000)
    return {"cpu_us": statistics.median(cpu), "wall_us": statistics.median(wall)}


def httpx_post(port: int) -> dict[str, float]:
    """The base: a bare httpx POST and its JSON."""
    import httpx

    client = httpx.Client()
    url = f"http://127.0.0.1:{port}/search"
    return timed(lambda: client.post(url, json={"q": "cathedral bells", "num": 10}).json())


def httpx_two_gets(port: int) -> dict[str, float]:
    """The base of PubMed: two bare httpx GETs and their JSON."""
    import httpx

    client = httpx.Client()

    def call() -> None:
        found = client.get(f"http://127.0.0.1:{port}/esearch.fcgi", params={"term": "cathedral bells"}).json()
        ids = ",".join(found["esearchresult"]["idlist"])
        client.get(f"http://127.0.0.1:{port}/esummary.fcgi", params={"id": ids}).json()

    return timed(call)


def transport_post(port: int) -> dict[str, float]:
    """The guarded transport alone, for what is left to everything above it."""
    from zarniwoop.contract.deadline import Deadline
    from zarniwoop.contract.transport import HttpRequest
    from zarniwoop.net.address import AllowedNetworks
    from zarniwoop.net.transport import PooledTransport
    from zarniwoop.observe.clock import SystemClock

    clock = SystemClock()
    transport = PooledTransport(contact="bench@example.com", allowed=AllowedNetworks.parse("127.0.0.1/32"))
    body = {"q": "cathedral bells", "num": 10}
    request = HttpRequest(url=f"http://127.0.0.1:{port}/search", method="POST", json=body)
    return timed(lambda: orjson.loads(transport.send(request, deadline=Deadline.after(8, clock)).body))


def dispatch(port: int) -> dict[str, float]:
    """One search through dispatcher, guard and adapter to ten hits, with stores in memory."""
    from tests.benchmarks.stack import Stack
    from zarniwoop.contract.modality import SearchModality

    stack = Stack(port, "serper")
    return timed(lambda: stack.search(SearchModality.WEB, hits=10))


def pubmed(port: int) -> dict[str, float]:
    """The same for PubMed: two requests."""
    from tests.benchmarks.stack import Stack
    from zarniwoop.contract.modality import SearchModality

    stack = Stack(port, "pubmed")
    return timed(lambda: stack.search(SearchModality.ACADEMIC, hits=10))


def rich(port: int) -> dict[str, float]:
    """Wall time of four modalities over providers of 50 ms each, and of one such provider alone."""
    import httpx

    from tests.benchmarks.stack import Stack

    stack = Stack(port, "serper", prefix="/slow")
    client = httpx.Client()
    ours, alone = [], []
    for _ in range(RICH_ROUNDS):
        started = time.perf_counter()
        stack.search_rich()
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        client.post(f"http://127.0.0.1:{port}/slow/search", json={"q": "cathedral bells"}).json()
        alone.append(time.perf_counter() - started)
    return {"ratio": statistics.median(ours[2:]) / statistics.median(alone[2:])}


def fan_out(port: int) -> dict[str, float]:
    """Wall time of a fan-out to four indexes of 50 ms each with their fusion, and of one such provider alone."""
    import httpx

    from tests.benchmarks.stack import Stack

    others = {name: (name, f"/slow/{name}") for name in ("brave", "exa", "tavily")}
    stack = Stack(port, "serper", prefix="/slow", more=others)
    client = httpx.Client()
    ours, alone = [], []
    for _ in range(RICH_ROUNDS):
        started = time.perf_counter()
        stack.fan_out(contributors=4)
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        client.post(f"http://127.0.0.1:{port}/slow/search", json={"q": "cathedral bells"}).json()
        alone.append(time.perf_counter() - started)
    wall = statistics.median(ours[2:])
    return {"ratio": wall / statistics.median(alone[2:]), "over_50_ms": wall / 0.05}


def hedge(port: int) -> dict[str, float]:
    """The slowest of a hundred searches whose first provider hangs, over the threshold and what the next one takes."""
    from tests.benchmarks.stack import Stack
    from zarniwoop.contract.modality import SearchModality

    patient = {"research.hedge.afterMs": str(HEDGE_MILLISECONDS)}
    stack = Stack(port, "serper", prefix="/hang", more={"next": ("serper", "/slow")}, settings=patient)
    alone = Stack(port, "serper", prefix="/slow")
    hedged: list[float] = []
    next_one: list[float] = []
    for _ in range(HEDGED_SEARCHES):
        for taken, search in ((hedged, stack.search), (next_one, alone.search)):
            started = time.perf_counter()
            search(SearchModality.WEB, hits=10)
            taken.append(time.perf_counter() - started)
    return {"ratio": max(hedged) / (HEDGE_MILLISECONDS / 1000 + statistics.median(next_one))}


def bomb(port: int) -> dict[str, float]:
    """How far a gzip bomb of 200 MB lifts the peak of resident memory, in megabytes."""
    from tests.benchmarks.stack import Stack
    from zarniwoop.contract.modality import SearchModality

    stack = Stack(port, "serper")
    for _ in range(20):
        stack.search(SearchModality.WEB, hits=10)
    before = _peak_megabytes()
    defused = Stack(port, "serper", prefix="/bomb").dispatcher_result(SearchModality.WEB)
    if defused.attempts[0].detail != "body_too_large":
        raise AssertionError(defused.attempts)
    return {"delta_mb": _peak_megabytes() - before}


def fetch_bombs(port: int) -> dict[str, float]:
    """How far floods of every kind, fetched as pages, lift the peak of resident memory together, in megabytes."""
    from tests.benchmarks.answers import FLOODS
    from tests.fakes.page_reader import FakePageReader
    from zarniwoop.contract.deadline import Deadline
    from zarniwoop.contract.page import PageOutcome, PageQuestion
    from zarniwoop.net.address import AllowedNetworks
    from zarniwoop.net.transport import PooledTransport
    from zarniwoop.observe.clock import SystemClock
    from zarniwoop.pages.fetcher import LocalFetcher
    from zarniwoop.pages.robots import Robots

    clock = SystemClock()
    web = PooledTransport(contact="", allowed=AllowedNetworks.parse("127.0.0.1/32"), plain_http=True)
    fetcher = LocalFetcher(web=web, robots=Robots(web, clock), reader=FakePageReader(), clock=clock)

    def fetch(path: str) -> PageOutcome:
        url = f"http://127.0.0.1:{port}/{path}"
        question = PageQuestion(url=url, seconds=10.0, honour_robots=False)
        return fetcher.fetch(question, deadline=Deadline.after(10.0, clock)).outcome

    for _ in range(20):
        fetch("search")
    before = _peak_megabytes()
    ends = {name: fetch(f"flood/{name}") for name in FLOODS}
    if not set(ends.values()) <= {PageOutcome.TOO_LARGE, PageOutcome.MALFORMED}:
        raise AssertionError(ends)
    return {"delta_mb": _peak_megabytes() - before}


def read_bombs(_port: int) -> dict[str, float]:
    """The peak of resident memory, in megabytes, of the reader's process over pages that were made to raise it.

    And how long the slowest of them took, over what a page may take.
    """
    import resource

    from tests.benchmarks.bombs import pages
    from zarniwoop.contract.deadline import Deadline
    from zarniwoop.extract.page_reader import PageReader
    from zarniwoop.observe.clock import SystemClock

    clock = SystemClock()
    taken = []
    for body, media_type in pages().values():
        with PageReader() as reader:
            begun = time.perf_counter()
            found = reader.read(
                body,
                url="https://www.bells.example/",
                media_type=media_type,
                charset=None,
                status=200,
                want_html=False,
                deadline=Deadline.after(READ_SECONDS, clock),
            )
            taken.append(time.perf_counter() - begun)
        if not found.steps:
            raise AssertionError(found)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"peak_mb": peak, "over_slice": max(taken) / READ_SECONDS}


def _peak_megabytes() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


SIDES: dict[str, Callable[[int], dict[str, float]]] = {
    side.__name__: side
    for side in (
        httpx_post,
        httpx_two_gets,
        transport_post,
        dispatch,
        pubmed,
        rich,
        fan_out,
        hedge,
        bomb,
        fetch_bombs,
        read_bombs,
    )
}

if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(SIDES[sys.argv[1]](int(sys.argv[2]))))
