"""A tool's schema in the shapes that models and their clients read.

JSON Schema 2020-12 by pydantic; OpenAI: platform.openai.com/docs/guides/function-calling; Anthropic:
docs.anthropic.com/en/docs/build-with-claude/tool-use; Bedrock: API_runtime_ToolSpecification; Gemini:
ai.google.dev/api/caching#FunctionDeclaration; MCP: schema 2025-11-25.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from zarniwoop.tools.arguments import ToolArguments
from zarniwoop.tools.tool import Tool
from zarniwoop.tools.vendor_schemas import (
    Schema,
    gemini,
    grammar_size,
    in_one_grammar,
    strict_grammar,
    strict_openai,
)


class SchemaFormat(StrEnum):
    JSON_SCHEMA = "json_schema"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    BEDROCK = "bedrock"
    GEMINI = "gemini"
    MCP = "mcp"


def tool_schema(tool: Tool[Any], shape: SchemaFormat, *, strict: bool = False) -> dict[str, Any]:
    """One tool in one shape; `strict` is for a shape of `STRICT`, and then the vendor holds its model to the schema."""
    arguments: dict[str, Any] = _arguments_schema(tool.arguments)  # type: ignore[arg-type] # classes are hashable
    if not strict:
        return _SHAPES[shape](tool, arguments)
    made = _SHAPES[shape](tool, STRICT[shape](arguments))
    inner = next((made[name] for name in ("function", "toolSpec") if name in made), made)
    inner["strict"] = True
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictSet:
    """Tools for one request: as many of them strict as the vendor takes together, and the names of the others."""

    tools: tuple[dict[str, Any], ...]
    not_strict: tuple[str, ...]


def strict_set(tools: Sequence[Tool[Any]], shape: SchemaFormat, *, as_named: bool = False) -> StrictSet:
    """In the order given. Who is strict is told by the sizes of their grammars, or, `as_named`, by that order."""
    strict = range(len(tools)) if STRICT[shape] is not strict_grammar else _strict_ones(tools, as_named=as_named)
    return StrictSet(
        tools=tuple(tool_schema(tool, shape, strict=place in strict) for place, tool in enumerate(tools)),
        not_strict=tuple(tool.name for place, tool in enumerate(tools) if place not in strict),
    )


def _strict_ones(tools: Sequence[Tool[Any]], *, as_named: bool) -> frozenset[int]:
    """Their places."""
    schemas = [strict_grammar(_arguments_schema(tool.arguments)) for tool in tools]  # type: ignore[arg-type] # as above
    places = list(range(len(tools)))
    if not as_named:
        places.sort(key=lambda place: grammar_size(schemas[place]).optional)
    return frozenset(places[each] for each in in_one_grammar([schemas[place] for place in places]))


def output_schema(tool: Tool[Any]) -> dict[str, Any]:
    """Of all that the tool may answer with: the whole envelope (JSON Schema 2020-12), with `$defs` and references.

    It covers answers, refusals, bounded answers and dry runs. It is kept: to be read, never to be changed.
    """
    from zarniwoop.tools.answer_schema import answer_schema
    from zarniwoop.tools.dry_run import DryRun

    forms: tuple[Any, ...] = (tool.answer, tool.forecast or DryRun)
    return answer_schema(*forms)


@cache
def _arguments_schema(arguments: type[ToolArguments]) -> dict[str, Any]:
    """Made once per environment: it is twenty times the work of handing it out."""
    schema: dict[str, Any] = _plain(arguments.model_json_schema())
    schema.pop("title", None)
    schema.pop("description", None)
    return schema


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """References resolved and `anyOf [X, null]` reduced to X: what every vendor's validator understands."""
    definitions: dict[str, Any] = schema.pop("$defs", {})
    for each in definitions.values():
        each.pop("description", None)  # the docstring of a class, which is not written for models

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(each) for each in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            node = {**definitions[node["$ref"].rsplit("/", 1)[-1]], **{k: v for k, v in node.items() if k != "$ref"}}
        options = [each for each in node.get("anyOf", ()) if each != {"type": "null"}]
        if len(options) == 1:
            node = {**walk(options[0]), **{k: v for k, v in node.items() if k not in ("anyOf", "default")}}
        return {
            key: {name: walk(each) for name, each in value.items()} if key == "properties" else walk(value)
            for key, value in node.items()
            if key != "title"
        }

    walked: dict[str, Any] = walk(schema)
    return walked


def _json_schema(tool: Tool[Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool.name, "title": tool.title, "description": tool.description, "schema": schema}


def _openai(tool: Tool[Any], schema: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": schema}
    return {"type": "function", "function": function}


def _anthropic(tool: Tool[Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _bedrock(tool: Tool[Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {"toolSpec": {"name": tool.name, "description": tool.description, "inputSchema": {"json": schema}}}


def _mcp(tool: Tool[Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": schema,
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.read_only,
            "destructiveHint": False,
            "idempotentHint": tool.read_only,
            "openWorldHint": tool.spends,
        },
    }


def _gemini(tool: Tool[Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": gemini(schema)}


STRICT: Mapping[SchemaFormat, Callable[[Schema], Schema]] = {
    SchemaFormat.OPENAI: strict_openai,
    SchemaFormat.ANTHROPIC: strict_grammar,
    SchemaFormat.BEDROCK: strict_grammar,
}
"""The shapes of vendors who have a strict mode."""
_SHAPES: Mapping[SchemaFormat, Callable[[Tool[Any], dict[str, Any]], dict[str, Any]]] = {
    SchemaFormat.JSON_SCHEMA: _json_schema,
    SchemaFormat.OPENAI: _openai,
    SchemaFormat.ANTHROPIC: _anthropic,
    SchemaFormat.BEDROCK: _bedrock,
    SchemaFormat.GEMINI: _gemini,
    SchemaFormat.MCP: _mcp,
}
