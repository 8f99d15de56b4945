"""`python -m tests.e2e.searcher`: one process of the fleet (`tests.e2e.fleet`) on the emulator's tables.

Reads JSON objects from stdin, one a line (`variables`, `tenant_id`, `project_id`, `count`, `seconds`, `ahead`,
`request`). For each it makes an environment of its own and says `ready`; upon a further line it makes so many searches
at once, and tells each on a line of its own.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

import orjson

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.observe.clock import SystemClock
from zarniwoop.wiring import Environment


class ClockAhead(SystemClock):
    """So many seconds later than it is: for what only time brings about."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> float:
        return super().now() + self._seconds


def main() -> None:
    told, sys.stdout = sys.stdout.buffer, sys.stderr  # log lines and metrics are none of what is told
    while line := sys.stdin.readline():
        _search(orjson.loads(line), told)


def _search(given: dict[str, Any], told: BinaryIO) -> None:
    environment = Environment(given["variables"], clock=ClockAhead(given["ahead"]))
    dispatcher = environment.tools.dispatcher
    request = SearchRequest(**given["request"] | {"modality": SearchModality(given["request"]["modality"])})

    def scope() -> SearchScope:
        return SearchScope(
            tenant_id=given["tenant_id"],
            project_id=given["project_id"],
            deadline=Deadline.after(given["seconds"], environment.clock),
        )

    def search(_number: int) -> dict[str, Any]:
        began = time.monotonic()
        result = dispatcher.search(request, scope())
        return _told(result) | {"began": began, "ended": time.monotonic()}

    dispatcher.survey(scope())
    _tell(told, b"ready")
    sys.stdin.readline()
    with ThreadPoolExecutor(max_workers=given["count"]) as pool:
        found = list(pool.map(search, range(given["count"])))
    environment.audit.flush()
    for each in found:
        _tell(told, orjson.dumps(each))


def _tell(told: BinaryIO, line: bytes) -> None:
    told.write(line + b"\n")
    told.flush()


def _told(result: Any) -> dict[str, Any]:
    return {
        "hits": len(result.hits),
        "instance_id": result.provider_instance_id,
        "cached": result.cached,
        "cost": result.cost,
        "failure": result.failure,
        "retry_at": result.retry_at,
        "attempts": result.attempts,
    }


if __name__ == "__main__":
    main()
