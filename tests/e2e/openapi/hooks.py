"""What schemathesis may not send: a request leads nowhere but to the simulator, and changes one project alone."""

import os
import re
from collections.abc import Mapping
from typing import Any

import schemathesis

_PAGE = os.environ["ZARNIWOOP_PAGE"]
_ADDRESSES = frozenset(("urls", "url", "webhook_url"))
_THERE = {"run_id": os.environ["ZARNIWOOP_RUN"], "handle": os.environ["ZARNIWOOP_HANDLE"]}
"""What a body may name; what an address names is in the configuration."""
_OF_THE_SAMPLES = ("project_id", "demo")
"""The project of the examples; the token has another one."""
_ENDPOINT = re.compile(r"^research\.endpoint\.[^.]*\.")
_ONE_ENDPOINT = "research.endpoint.fuzzed."
"""Whose settings all are that are of any endpoint: nobody is sent to it but those who name it."""
_ENOUGH_MS = "4000"
_LONGEST_WAIT = 25
_LONGEST_ID = 64


@schemathesis.hook  # type: ignore[untyped-decorator]
def before_call(ctx: Any, case: Any, kwargs: Any) -> None:
    """No stranger is ever fetched from, or told anything; nobody waits for a run, and everybody has time to answer."""
    for part in ("query", "body"):
        if isinstance(getattr(case, part), Mapping):
            setattr(case, part, _harmless(getattr(case, part)))
    if str(case.headers.get("X-Deadline-Ms", "")).isdigit() and 100 <= int(case.headers["X-Deadline-Ms"]) < 60_000:
        case.headers["X-Deadline-Ms"] = _ENOUGH_MS
    if case.operation.label == "PUT /v1/settings" and isinstance(case.body, Mapping):
        case.body = {**case.body, **_of_one_endpoint(case.body)}


@schemathesis.hook  # type: ignore[untyped-decorator]
def filter_headers(ctx: Any, headers: Any) -> bool:
    """A header that is empty is none, to the API and to whatever lies on the way to it."""
    return all(str(value) for value in (headers or {}).values())


def _harmless(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _instead(name, value) for name, value in given.items() if (name, value) != _OF_THE_SAMPLES}


def _instead(name: str, value: Any) -> Any:
    if name in _ADDRESSES:
        return _elsewhere(value)
    if name == "wait":
        return _soon(value)
    return _THERE[name] if name in _THERE and isinstance(value, str) and 1 <= len(value) <= _LONGEST_ID else value


def _elsewhere(value: Any) -> Any:
    if isinstance(value, list):
        return [_elsewhere(each) for each in value]
    return _PAGE if isinstance(value, str) and ":" in value else value


def _soon(value: Any) -> Any:
    return 0.1 if isinstance(value, (int, float)) and 0 < value <= _LONGEST_WAIT else value


def _of_one_endpoint(body: Mapping[str, Any]) -> dict[str, Any]:
    settings = body.get("settings")
    if not isinstance(settings, Mapping):
        return {}
    led_here = {name: _elsewhere(value) if _is_address(name) else value for name, value in settings.items()}
    return {"settings": {_ENDPOINT.sub(_ONE_ENDPOINT, name): value for name, value in led_here.items()}}


def _is_address(name: str) -> bool:
    return name.lower().endswith("url")
