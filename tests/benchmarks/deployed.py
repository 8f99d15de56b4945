"""What is measured of a function as it is deployed: `python -S deployed.py <name> <port>`, by this file's path.

On the Python path are the function's folder, the built layer, and boto3 with what it needs, as in Lambda. Nothing else
is imported before the clock has stopped: what is loaded already would be missing in what is measured.
"""

import sys
import time

SEARCHES, WARM_SEARCHES = 100, 10
VARIABLES = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "STATE_TABLE": "state",
    "CALLS_TABLE": "calls",
    "SETTINGS_ROOT": "/zarniwoop/bench",
    "ALLOWED_PRIVATE_NETWORKS": "127.0.0.1/32",
    "CONTACT": "bench@example.com",
}

Figures = dict[str, float]


class Context:
    """Lambda's, as far as the handler reads it."""

    aws_request_id = function_name = "bench"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:bench"

    def get_remaining_time_in_millis(self) -> int:
        return 25_000


def import_function(_port: int) -> Figures:
    """CPU milliseconds of importing a search function, or of what comes first on the path."""
    started = time.process_time_ns()
    __import__("app")
    return {"cpu_ms": (time.process_time_ns() - started) / 1e6}


def import_mcp(port: int) -> Figures:
    """CPU milliseconds of importing the function that speaks MCP, which knows every tool."""
    sys.path.insert(0, __file__.rpartition("/tests/")[0] + "/functions/mcp")
    return import_function(port)


def import_boto3(_port: int) -> Figures:
    """The base: CPU milliseconds of importing boto3 and making its clients for SSM and DynamoDB."""
    started = time.process_time_ns()
    import boto3

    boto3.client("ssm", region_name="us-east-1")
    boto3.client("dynamodb", region_name="us-east-1")
    return {"cpu_ms": (time.process_time_ns() - started) / 1e6}


def memory(port: int) -> Figures:
    """Resident megabytes after the import and a hundred searches, with DynamoDB and Parameter Store at the origin."""
    search(port, SEARCHES)
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - pathlib would count as ours
        return {"rss_mb": next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))}


def counts(port: int) -> Figures:
    """What one cold search asks for, and what a warm one does, counted by the origin."""
    from collections import Counter
    from http.client import HTTPConnection

    import orjson

    origin = HTTPConnection("127.0.0.1", port)

    def counted() -> Counter[str]:
        origin.request("GET", "/_counts")
        return Counter(orjson.loads(origin.getresponse().read()))

    counted()
    search(port, 1)
    cold = counted()
    search(port, WARM_SEARCHES)
    warm = counted()
    return {
        "provider_requests": warm["/search"] / WARM_SEARCHES,
        "new_connections": warm["connections"],
        "warm_dynamodb_calls": (warm["BatchGetItem"] + warm["BatchWriteItem"]) / WARM_SEARCHES,
        "warm_ssm_calls": warm["GetParametersByPath"] + warm["GetParameter"],
        "cold_ssm_calls": cold["GetParametersByPath"] + cold["GetParameter"],
    }


def search(port: int, times: int) -> None:
    """So many invocations through the handler, each of which must bring ten hits."""
    import os
    from pathlib import Path

    os.environ.update(VARIABLES, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}")
    handler = __import__("app").handler
    import orjson

    event = orjson.loads((Path(__file__).resolve().parents[2] / "events" / "research_search.json").read_bytes())
    event["body"] = '{"query": "cathedral bells", "modality": "WEB"}'
    for _ in range(times):
        answer = handler(event, Context())
        if orjson.loads(answer["body"])["data"]["returned_count"] != 10:
            raise AssertionError(answer["body"])


if __name__ == "__main__":
    printed, sys.stdout = sys.stdout, sys.stderr  # metrics and log lines go elsewhere
    sides = {side.__name__: side for side in (import_function, import_mcp, import_boto3, memory, counts)}
    figures = sides[sys.argv[1]](int(sys.argv[2]))
    printed.write("{%s}" % ", ".join(f'"{name}": {value}' for name, value in figures.items()))  # noqa: UP031 - braces
    printed.flush()  # a settled heap is not taken apart at the end
