"""`docs/examples.json`: an answer of each operation, recorded by sending the sample events to the deployed functions.

`make docs` writes it, and the OpenAPI document shows it. Of an answer the beginning is kept: a list's first entry, a
long text's first line or so. What differs from one recording to the next (times, ids, ports, marks) always reads the
same.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import ROOT, event_names, handler_of, sample
from tests.functional.deployed import SAMPLE_RUN, Deployed, deployed
from tests.simulator import Simulator
from zarniwoop.entry.route import Route
from zarniwoop.entry.routes import ROUTES

PAGE = ROOT / "docs" / "examples.json"
WITHOUT = {
    "docs": "a page",
    "openapi": "the document itself",
    "mcp_session": "refused by its nature",
    "mcp_stream": "refused by its nature",
    "content_get": "a run's body, which no sample has loaded",
    "insights_get": "a run's, which no sample has ended",
    "settings_reveal": "a key",
}
"""Operations whose sample is answered with nothing to show."""
_MOST_CHARS = 160
_AT = 1_796_000_000.0
_LATER: Mapping[str, float] = {"deadline_at": 300.0, "expires_at": 3_600.0, "resets_at": 3_600.0}
_SAME: Mapping[str, Any] = {"duration_ms": 120, "x-ratelimit-reset": "3600"}
_FIRST_OF = frozenset(("properties", "results", "providers", "modalities", "protocols"))
"""Members that hold many by their names."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d)?")
"""Of what was found: the simulator's news are always of these days."""
_SPELT: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"http://127\.0\.0\.1:\d+"), "https://provider.example.org"),
    (re.compile(r"\br-[0-9a-hjkmnp-tv-z]{26}\b"), SAMPLE_RUN),
    (re.compile(r"\b[0-9a-f]{16}\b"), "0123456789abcdef"),
)
_AFTER_THE_OTHERS = ("documents", "evidence", "usage", "settings", "run")
"""They tell of what has been done before."""


def recorded() -> dict[str, dict[str, Any]]:
    """By operation and status."""
    with Simulator() as simulator, pytest.MonkeyPatch.context() as patched, deployed(simulator, patched) as stack:
        stack.environment.clock = FakeClock(_AT)
        stack.leave_behind()
        made: dict[str, dict[str, Any]] = {}
        for route, name in _in_turn():
            status, answer = _answered(stack, route, name)
            if 200 <= status < 300 and _has_something(answer):
                made.setdefault(route.name, {}).setdefault(str(status), _same_again(_shortened(answer)))
    return {name: made[name] for name in sorted(made) if name not in WITHOUT}


def written(examples: Mapping[str, Any]) -> str:
    return json.dumps(examples, ensure_ascii=False, indent=1) + "\n"


def _in_turn() -> Iterator[tuple[Route, str]]:
    """Every route with each of its sample events."""
    by_key = {route.key: route for route in ROUTES}
    for name in sorted(event_names(), key=lambda each: (each.startswith(_AFTER_THE_OTHERS), each)):
        event = sample(name)
        route = by_key.get((event.get("httpMethod"), event.get("resource")))
        if route is not None and name.partition(".")[0] == route.function:
            yield route, name


def _answered(stack: Deployed, route: Route, name: str) -> tuple[int, Any]:
    event = sample(name)
    if "authorizer" in event["requestContext"]:
        event["requestContext"]["authorizer"]["level"] = "4"
    if "evidence_id" in (event["pathParameters"] or {}):
        event["pathParameters"]["evidence_id"] = _read_before(stack)
    if route.name == "evidence_list":
        event["queryStringParameters"] = None  # the sample asks for a task's, and none was named
    answer = handler_of(route.function)(event, LambdaContext())
    is_json = answer["headers"].get("content-type", "").startswith("application/json")
    return answer["statusCode"], json.loads(answer["body"]) if is_json and answer["body"] else None


def _read_before(stack: Deployed) -> str:
    listed = stack.envelope("evidence", sample("evidence") | {"queryStringParameters": None})
    identity: str = listed["data"]["evidence"][0]["id"]
    return identity


def _has_something(answer: Any) -> bool:
    return bool(answer) and answer.get("ok", True) and not answer.get("result", {}).get("isError", False)


def _shortened(node: Any, name: str = "") -> Any:
    if isinstance(node, list):
        return [_shortened(each) for each in node[:1]]
    if isinstance(node, dict):
        most = 1 if name in _FIRST_OF else len(node)
        return {key: _shortened(each, key) for key, each in list(node.items())[:most]}
    return f"{node[:_MOST_CHARS]}…" if isinstance(node, str) and len(node) > _MOST_CHARS else node


def _same_again(node: Any, name: str = "") -> Any:
    if isinstance(node, list):
        return [_same_again(each, name) for each in node]
    if isinstance(node, dict):
        return {key: _same_again(each, key) for key, each in node.items()}
    if node is not None and name in _SAME:
        return _SAME[name]
    if isinstance(node, float) and node > 1.7e9:
        return _AT + _LATER.get(name, 0.0)
    return _spelt(node, name) if isinstance(node, str) else node


def _spelt(text: str, name: str) -> str:
    for pattern, instead in _SPELT:
        text = pattern.sub(instead, text)
    return _DATE.sub(lambda found: "2026-11-28" + "T12:00:00" * bool(found[1]), text) if name == "value" else text


if __name__ == "__main__":
    PAGE.write_text(written(recorded()), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)} written\n")
