"""JSON Schema that model endpoints take: pydantic's, with the references put in place and closed.

OpenAI's strict mode, Anthropic and Bedrock want every object closed and every property required, and refuse keywords
that they do not enforce; pydantic enforces those afterwards anyway.
https://platform.openai.com/docs/guides/structured-outputs
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_NEVER = frozenset(("title", "default", "minLength", "maxLength", "uniqueItems", "examples", "discriminator"))
_BOUNDS = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "pattern")
)


def portable_schema(into: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model whose types do not refer to themselves."""
    schema = into.model_json_schema(by_alias=True)
    portable: dict[str, Any] = _portable(schema, schema.get("$defs", {}), _NEVER, closing=True)
    return portable


def without_bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A portable schema for endpoints that refuse bounds of numbers, lists and texts."""
    unbounded: dict[str, Any] = _portable(schema, {}, _NEVER | _BOUNDS, closing=False)
    return unbounded


def is_closed(schema: Any) -> bool:
    """Whether every object in it has just the properties that it names: nothing else can be enforced strictly."""
    if isinstance(schema, list):
        return all(map(is_closed, schema))
    if not isinstance(schema, Mapping):
        return True
    return not _is_open(schema) and all(map(is_closed, schema.values()))


def _is_open(schema: Mapping[str, Any]) -> bool:
    if schema.get("type") != "object":
        return False
    all_required = set(schema.get("required", ())) >= set(schema.get("properties", ()))
    return schema.get("additionalProperties") is not False or not all_required


def _portable(schema: Any, definitions: Mapping[str, Any], left_out: frozenset[str], *, closing: bool) -> Any:
    if isinstance(schema, list):
        return [_portable(item, definitions, left_out, closing=closing) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        inner = {key: value for key, value in definitions.items() if key != name}
        return _portable(definitions[name], inner, left_out, closing=closing)
    portable = {
        key: {name: _portable(each, definitions, left_out, closing=closing) for name, each in value.items()}
        if key == "properties"
        else _portable(value, definitions, left_out, closing=closing)
        for key, value in schema.items()
        if key not in left_out and key != "$defs"
    }
    if closing and "properties" in portable:
        portable.pop("description", None)  # the docstring of a class, which is not written for models
        portable.update(additionalProperties=False, required=list(portable["properties"]))
    return portable
