"""What schemathesis may not send: a request leads nowhere but to the simulator, and changes one project alone."""

import os
from collections.abc import Mapping
from typing import Any

import schemathesis

_PAGE = os.environ["ZARNIWOOP_PAGE"]
_ADDRESSES = frozenset(("urls", "url", "webhook_url"))
_THERE = {"run_id": os.environ["ZARNIWOOP_RUN"], "handle": os.environ["ZARNIWOOP_HANDLE"]}
"""What a body may name; what an address names is in the configuration."""
_OF_THE_SAMPLES = ("project_id", "demo")
"""The project of the examples; the token has another one."""
_SAVED = {"research.hedge.afterMs": "2400"}
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
    if case.operation.label == "PUT /v1/settings" and _names_an_endpoint(case.body):
        case.body = {**case.body, "settings": _SAVED}


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


def _names_an_endpoint(body: Any) -> bool:
    settings = body.get("settings") if isinstance(body, Mapping) else None
    return isinstance(settings, Mapping) and any(key.startswith("research.endpoint.") for key in settings)
