"""The deployed functions by name, and the events that reach them: the samples, and requests made in their likeness."""

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[2]
EVENTS = ROOT / "events"
FUNCTIONS = ROOT / "functions"

Handler = Callable[[Any, Any], dict[str, Any]]


def function_names() -> list[str]:
    return sorted(path.parent.name for path in FUNCTIONS.glob("*/app.py"))


def event_names() -> list[str]:
    """`<function>` or `<function>.<case>`."""
    return sorted(path.name.removesuffix(".json") for path in EVENTS.glob("*.json"))


def sample(name: str) -> Any:
    """The sample event of this name."""
    return orjson.loads((EVENTS / f"{name}.json").read_bytes())


def handler_of(function: str, module: str = "app") -> Handler:
    """The `handler` of `functions/<function>/<module>.py`, loaded as Lambda does it: from its file, anew."""
    path = FUNCTIONS / function / f"{module}.py"
    spec = importlib.util.spec_from_file_location(f"function_{function}_{module}", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(function)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    handler: Handler = loaded.handler
    return handler


def posted(
    arguments: Mapping[str, Any] | str | None,
    *,
    tool: str = "research_search",
    headers: Mapping[str, str] | None = None,
    identity: Mapping[str, str] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """A call of a tool over REST: the sample with another body (text as it is), further headers, another identity."""
    event: dict[str, Any] = sample(tool)
    event["body"] = orjson.dumps(arguments).decode() if isinstance(arguments, Mapping) else arguments
    event["headers"] |= headers or {}
    event["requestContext"]["authorizer"] |= identity or {}
    return event | changes


def body_of(response: Mapping[str, Any]) -> Any:
    """The envelope in a proxy response."""
    return orjson.loads(response["body"])
