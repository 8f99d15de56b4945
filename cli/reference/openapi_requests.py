"""What an operation takes: parameters in path, query and header, and a body, with examples out of `events/`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from reference.openapi_components import Components
from zarniwoop.entry.route import Route
from zarniwoop.tools.arguments import CallArguments

_EVENTS = Path(__file__).resolve().parents[2] / "events"
_NULL = {"type": "null"}
_HEADERS: Mapping[str, dict[str, Any]] = {
    "Idempotency-Key": {
        "description": "The same key twice is one call, for an hour: the second is given the first one's answer. "
        "An empty one is none.",
        "schema": {"type": "string", "maxLength": 255},
    },
    "X-Deadline-Ms": {
        "description": "How many milliseconds the caller is ready to wait.",
        "schema": {"type": "integer", "minimum": 100, "maximum": 60_000},
    },
    "If-Match": {
        "description": "The same as `version`.",
        "schema": {"type": "string", "maxLength": 64},
    },
}


def parameters(route: Route, components: Components) -> list[dict[str, Any]]:
    """In path, query and header."""
    schema, in_path = _arguments(route, components), _in_path(route)
    made = [_parameter(name, schema, "path", route) for name in in_path]
    if not route.in_body:
        made += [_parameter(name, schema, "query", route) for name in schema["properties"] if name not in in_path]
    return made + [{"name": name, "in": "header", "required": False, **_HEADERS[name]} for name in route.headers]


def body(route: Route, components: Components) -> dict[str, Any] | None:
    if not route.in_body or route.arguments is None:
        return None
    schema, in_path = _arguments(route, components), _in_path(route)
    schema["required"] = [name for name in schema.get("required", ()) if name not in in_path]
    schema["properties"] = {
        name: _or_null(each) if issubclass(route.arguments, CallArguments) and name not in schema["required"] else each
        for name, each in schema["properties"].items()
        if name not in in_path
    }
    content: dict[str, Any] = {"schema": components.schema(route.arguments.__name__, _without_empty(schema))}
    examples = {case: {"value": orjson.loads(event["body"])} for case, event in _samples(route) if event.get("body")}
    if examples:
        content["examples"] = examples
    return {"required": True, "content": {"application/json": content}}


def _parameter(name: str, schema: Mapping[str, Any], place: str, route: Route) -> dict[str, Any]:
    stated = _not_null(schema["properties"][name])
    description = stated.pop("description", None)
    if place == "path":
        stated.pop("default", None)
        if stated.get("type") == "string" and "pattern" not in stated:
            stated["minLength"] = 1
    made = {
        "name": name,
        "in": place,
        "required": place == "path" or name in schema.get("required", ()),
        "description": description,
        "schema": stated,
        "examples": _examples(name, place, stated, route),
    }
    return _without_empty(made)


def _arguments(route: Route, components: Components) -> dict[str, Any]:
    """A schema of its own, to be changed by whoever asked for it."""
    if route.arguments is None:
        return {"properties": {}}
    made = components.taken_in(route.arguments.model_json_schema())
    made.pop("description", None)
    return {"properties": {}, **made}


def _in_path(route: Route) -> list[str]:
    return re.findall(r"{(\w+)}", route.path)


def _not_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An address has no null: who means nothing leaves the parameter out."""
    options = [each for each in schema.get("anyOf", ()) if each != _NULL]
    stated = {key: value for key, value in schema.items() if not (key == "default" and value in (None, ""))}
    if len(options) != 1:
        return stated
    stated.pop("anyOf")
    return {**options[0], **stated}


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """To a tool's argument that may be left out, null says the same as that; but not to a flag."""
    if _NULL in schema.get("anyOf", ()) or schema.get("type") == "boolean":
        return dict(schema)
    said = {key: schema[key] for key in ("description", "default") if key in schema}
    return {"anyOf": [{key: value for key, value in schema.items() if key not in said}, _NULL], **said}


def _examples(name: str, place: str, schema: Mapping[str, Any], route: Route) -> dict[str, Any]:
    key = "pathParameters" if place == "path" else "queryStringParameters"
    given = {case: (event.get(key) or {}).get(name) for case, event in _samples(route)}
    return {case: {"value": _typed(value, schema)} for case, value in given.items() if value is not None}


def _typed(value: str, schema: Mapping[str, Any]) -> Any:
    return float(value) if schema.get("type") == "number" else int(value) if schema.get("type") == "integer" else value


def _samples(route: Route) -> Iterator[tuple[str, dict[str, Any]]]:
    """The sample events that came by this route, by their cases."""
    for path in sorted(_EVENTS.glob(f"{route.function}*.json")):
        function, _, case = path.stem.partition(".")
        event = orjson.loads(path.read_bytes())
        if function == route.function and (event.get("httpMethod"), event.get("resource")) == route.key:
            yield case or "sample", event


def _without_empty(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if value not in (None, [], {})}
