"""What is measured in a fresh process: `python -m tests.benchmarks.sides <name> <port>` prints one JSON object.

Timed sides print `cpu_us` and `wall_us` per call; the others what their name says.
"""

import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[2]
WARM_UP, CHUNKS, CALLS = 50, 12, 25


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
        found = client.get(f"http://127.0.0.1:{port}/esearch.fcgi", params={"term": "bells"}).json()
        ids = ",".join(found["esearchresult"]["idlist"])
        client.get(f"http://127.0.0.1:{port}/esummary.fcgi", params={"id": ids}).json()

    return timed(call)


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
    """Wall time of four modalities over providers of 50 ms each, over the time of one such provider alone."""
    import httpx

    from tests.benchmarks.stack import Stack

    stack = Stack(port, "serper", prefix="/slow")
    client = httpx.Client()
    ours, alone = [], []
    for _ in range(20):
        started = time.perf_counter()
        stack.search_rich()
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        client.post(f"http://127.0.0.1:{port}/slow/search", json={"q": "cathedral bells"}).json()
        alone.append(time.perf_counter() - started)
    return {"ratio": statistics.median(ours[2:]) / statistics.median(alone[2:])}


def counts(port: int) -> dict[str, float]:
    """Exact counts through the deployed function's handler: the first search, then ten warm ones."""
    import httpx

    control = httpx.Client()
    handler, event, context = _function(port)

    def counted() -> dict[str, int]:
        found: dict[str, int] = control.get(f"http://127.0.0.1:{port}/_counts").json()
        return found

    counted()
    handler(event, context)
    cold = counted()
    for _ in range(10):
        answer = handler(event, context)
    warm = counted()
    assert orjson.loads(answer["body"])["data"]["returned_count"] == 10, answer["body"]
    return {
        "provider_requests": warm.get("/search", 0) / 10,
        "new_connections": float(warm.get("connections", 0)),
        "warm_dynamodb_calls": (warm.get("BatchGetItem", 0) + warm.get("BatchWriteItem", 0)) / 10,
        "warm_ssm_calls": float(warm.get("GetParametersByPath", 0) + warm.get("GetParameter", 0)),
        "cold_ssm_calls": float(cold.get("GetParametersByPath", 0) + cold.get("GetParameter", 0)),
    }


def memory(port: int) -> dict[str, float]:
    """Resident megabytes after importing the function and a hundred searches, boto3 and all."""
    handler, event, context = _function(port)
    for _ in range(100):
        handler(event, context)
    return {"rss_mb": _status("VmRSS")}


def bomb(port: int) -> dict[str, float]:
    """How far a gzip bomb of 200 MB lifts the peak of resident memory, in megabytes."""
    from tests.benchmarks.stack import Stack
    from zarniwoop.contract.modality import SearchModality

    stack = Stack(port, "serper")
    for _ in range(20):
        stack.search(SearchModality.WEB, hits=10)
    before = _status("VmHWM")
    defused = Stack(port, "serper", prefix="/bomb").dispatcher_result(SearchModality.WEB)
    assert defused.attempts[0].detail == "body_too_large", defused.attempts
    return {"delta_mb": _status("VmHWM") - before}


def import_function(_port: int) -> dict[str, float]:
    """CPU milliseconds of importing a search function as it is deployed."""
    started = time.process_time_ns()
    spec = importlib.util.spec_from_file_location("app", ROOT / "functions/research_search/app.py")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return {"cpu_ms": (time.process_time_ns() - started) / 1e6}


def import_boto3(_port: int) -> dict[str, float]:
    """The base: CPU milliseconds of importing boto3 and making its SSM and DynamoDB clients."""
    started = time.process_time_ns()
    import boto3

    boto3.client("ssm", region_name="us-east-1")
    boto3.client("dynamodb", region_name="us-east-1")
    return {"cpu_ms": (time.process_time_ns() - started) / 1e6}


def _function(port: int) -> tuple[Callable[[Any, Any], dict[str, Any]], dict[str, Any], Any]:
    """The handler of `research_search` against this origin's DynamoDB and Parameter Store, an event and a context."""
    os.environ.update(
        {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "STATE_TABLE": "state",
            "CALLS_TABLE": "calls",
            "SETTINGS_ROOT": "/zarniwoop/bench",
            "ALLOWED_PRIVATE_NETWORKS": "127.0.0.1/32",
            "CONTACT": "bench@example.com",
        }
    )
    from tests.fakes.cloud import LambdaContext
    from zarniwoop.entry.tool import tool
    from zarniwoop.tools.research_search import RESEARCH_SEARCH

    event: dict[str, Any] = orjson.loads((ROOT / "events/research_search.json").read_bytes())
    event["body"] = '{"query": "cathedral bells", "modality": "WEB"}'
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - the metrics' own lines
    return tool(RESEARCH_SEARCH), event, LambdaContext()


def _status(field: str) -> float:
    """A field of /proc/self/status, kB to MB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


SIDES: dict[str, Callable[[int], dict[str, float]]] = {
    side.__name__: side
    for side in (
        httpx_post,
        httpx_two_gets,
        dispatch,
        pubmed,
        rich,
        counts,
        memory,
        bomb,
        import_function,
        import_boto3,
    )
}

if __name__ == "__main__":
    measured = SIDES[sys.argv[1]](int(sys.argv[2]))
    sys.__stdout__.write(orjson.dumps(measured).decode() + "\n")  # type: ignore[union-attr]
