"""What the command line knows of the tools: a data file, because it speaks HTTP and imports no layer."""

import json
from collections.abc import Mapping
from typing import Any

from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import SchemaFormat, tool_schema
from zarniwoop.tools.tool import Tool

_PLAIN = ("text", "integer", "number", "boolean")


def known_tools() -> str:
    """`cli/zarniwoop_cli/tools.json`: indented, so that a change is a few lines of a diff."""
    return json.dumps([tool_entry(tool) for tool in TOOLS], ensure_ascii=False, indent=1) + "\n"


def tool_entry(tool: Tool[Any]) -> dict[str, Any]:
    """One tool, its description by the first sentence."""
    schema = tool_schema(tool, SchemaFormat.JSON_SCHEMA)["schema"]
    required = schema.get("required", ())
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description.partition(". ")[0].removesuffix(".") + ".",
        "arguments": [_argument(name, each, name in required) for name, each in schema["properties"].items()],
    }


def _argument(name: str, schema: Mapping[str, Any], required: bool) -> dict[str, Any]:
    """What is neither a plain value nor a list of such is told as JSON."""
    kind, choices = _kind(schema)
    many = False
    if schema.get("type") == "array":
        (kind, choices), many = _kind(schema.get("items", {})), True
        if kind in ("json", "boolean"):
            kind, many = "json", False
    told = {"name": name, "type": kind, "description": schema.get("description", "")}
    if choices:
        told["choices"] = choices
    if many:
        told["many"] = True
    if required:
        told["required"] = True
    if schema.get("default") not in (None, []):
        told["default"] = schema["default"]
    return told


def _kind(schema: Mapping[str, Any]) -> tuple[str, list[str]]:
    choices = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if choices:
        return ("text", list(choices)) if all(isinstance(each, str) for each in choices) else ("json", [])
    kind = schema.get("type")
    plain = "text" if kind == "string" else kind
    return (str(plain) if plain in _PLAIN else "json"), []
