"""Tool schemas: valid JSON Schema, in the shape that each vendor's client reads."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.tools.arguments import parse_arguments
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import SchemaFormat, tool_schema
from zarniwoop.tools.tool import Tool

INTERNAL = re.compile(r"\b(seed|section|docstrings?|zarniwoop\.\w+|tool schemas?|closed:)|`_", re.IGNORECASE)
EXAMPLES: dict[str, dict[str, Any]] = {
    "research_search": {"query": "bells", "modality": "WEB", "max_results": 3, "locale": "en-GB"},
    "research_search_expert": {"query": "bells", "modality": "PDF", "site": "arxiv.org", "date_from": "2024-01-01"},
    "research_rich": {"query": "bells"},
    "research_providers": {"project_id": "demo"},
    "research_investigate": {"question": "how are bells tuned", "max_searches": 3, "wait": 5},
    "web_search": {"query": "bells", "domains": ["example.org"], "freshness_days": 30},
    "web_fetch": {
        "urls": ["https://example.org/bells"],
        "format": "text",
        "quotes": ["cast in bronze"],
        "max_chars": 9000,
    },
    "geo_resolve": {"query": "Cologne", "max_results": 3, "locale": "de"},
    "evidence_store": {"action": "cite", "ids": ["ev-" + "0" * 32], "format": "bibtex"},
    "run_status": {"run_id": "r-01kh4f0e80000g40r40m30e209", "wait": 20},
    "result_read": {"handle": "0" * 32 + "-7", "max_chars": 20_000},
}

OF_ANOTHER_TYPE: dict[str, tuple[Any, ...]] = {
    "number": (False, "1"),
    "integer": (False, "1", 1.5),
    "boolean": (0, "true"),
    "string": (1, False),
    "array": ("x", {}),
}


def _arguments(tool: Tool[Any], shape: SchemaFormat) -> Any:
    """The schema of the arguments inside a shape."""
    made = tool_schema(tool, shape)
    return {
        SchemaFormat.JSON_SCHEMA: lambda: made["schema"],
        SchemaFormat.OPENAI: lambda: made["function"]["parameters"],
        SchemaFormat.ANTHROPIC: lambda: made["input_schema"],
        SchemaFormat.BEDROCK: lambda: made["toolSpec"]["inputSchema"]["json"],
        SchemaFormat.GEMINI: lambda: made["parameters"],
        SchemaFormat.MCP: lambda: made["inputSchema"],
    }[shape]()


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _nodes(child)


@pytest.mark.parametrize("shape", [shape for shape in SchemaFormat if shape is not SchemaFormat.GEMINI])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_arguments_are_valid_json_schema_in_every_shape(tool: Tool[Any], shape: SchemaFormat) -> None:
    """An object without references, alternatives or unknown members: what the strictest vendor takes."""
    schema = _arguments(tool, shape)
    Draft202012Validator.check_schema(schema)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert set(schema.get("required", ())) <= set(schema["properties"])
    for node in _nodes(schema):
        assert not {"$ref", "$defs", "anyOf", "allOf", "oneOf"} & set(node)
    assert all(each["description"] for each in schema["properties"].values())


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schema_and_parser_agree(tool: Tool[Any]) -> None:
    """What the schema lets pass is taken, and what it names is all there is."""
    schema = _arguments(tool, SchemaFormat.JSON_SCHEMA)
    validator = Draft202012Validator(schema)
    assert validator.is_valid(EXAMPLES[tool.name])
    parse_arguments(tool.arguments, EXAMPLES[tool.name])
    assert not validator.is_valid({**EXAMPLES[tool.name], "tenant_id": "other"})
    assert set(schema["properties"]) == set(tool.arguments.model_fields)


@pytest.mark.parametrize("shape", SchemaFormat)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_descriptions_are_written_for_whoever_calls(tool: Tool[Any], shape: SchemaFormat) -> None:
    """No docstring of a class is among them, and nothing that only a reader of this code could look up."""
    texts = [str(node["description"]) for node in _nodes(tool_schema(tool, shape)) if "description" in node]
    assert texts
    for text in texts:
        assert not INTERNAL.search(text), text


def test_a_modality_is_an_enumeration_with_a_description() -> None:
    """A model picks; it does not invent."""
    modality = _arguments(TOOLS[0], SchemaFormat.OPENAI)["properties"]["modality"]
    assert modality["enum"] == [str(each) for each in SearchModality]
    assert modality["description"]


def test_an_optional_argument_is_its_plain_type() -> None:
    """`null` is for validators, not for models."""
    expert = _arguments(TOOLS[1], SchemaFormat.ANTHROPIC)["properties"]
    assert expert["locale"]["type"] == "string"
    assert (expert["date_from"]["type"], expert["date_from"]["format"]) == ("string", "date")
    assert "default" not in expert["locale"]
    assert expert["max_results"]["default"] == 10


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_envelopes_are_the_vendors_own(tool: Tool[Any]) -> None:
    """Names and descriptions where each client looks for them."""
    openai = tool_schema(tool, SchemaFormat.OPENAI)
    assert (openai["type"], openai["function"]["name"]) == ("function", tool.name)
    assert set(tool_schema(tool, SchemaFormat.ANTHROPIC)) == {"name", "description", "input_schema"}
    assert set(tool_schema(tool, SchemaFormat.BEDROCK)["toolSpec"]) == {"name", "description", "inputSchema"}
    assert set(tool_schema(tool, SchemaFormat.JSON_SCHEMA)) == {"name", "title", "description", "schema"}
    mcp = tool_schema(tool, SchemaFormat.MCP)
    assert mcp["title"] == mcp["annotations"]["title"] == tool.title
    assert mcp["annotations"]["readOnlyHint"] is tool.read_only
    assert mcp["annotations"]["openWorldHint"] is tool.spends


def test_a_tool_that_keeps_something_by_itself_is_not_read_only() -> None:
    """MCP's hint means that the environment is not modified; what only keeps when asked to is called read-only."""
    stores = ("store", "store_evidence")
    for tool in TOOLS:
        fields = [tool.arguments.model_fields[name] for name in stores if name in tool.arguments.model_fields]
        keeps = any(field.default is True for field in fields)
        assert tool.read_only is not (keeps or tool.name == "research_investigate")
        annotations = tool_schema(tool, SchemaFormat.MCP)["annotations"]
        assert annotations["destructiveHint"] is False
        assert annotations["idempotentHint"] is tool.read_only


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_description_says_when_to_use_the_tool_when_not_and_what_comes_back(tool: Tool[Any]) -> None:
    """What a model chooses by."""
    for word in ("Use it", "Not for", "Returns"):
        assert word in tool.description, word


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_names_and_descriptions_fit_every_vendor(tool: Tool[Any]) -> None:
    """OpenAI and Bedrock take 64 characters of a-z, digits, _ and -; OpenAI 1024 of description."""
    assert tool.name.replace("_", "").isalnum()
    assert len(tool.name) <= 64
    assert 20 <= len(tool.description) <= 1024


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_an_argument_of_another_type_than_the_schema_says_is_refused(tool: Tool[Any]) -> None:
    """By its name: 0 is no false, and neither false nor "1" is a number."""
    for name, schema in _arguments(tool, SchemaFormat.JSON_SCHEMA)["properties"].items():
        for wrong in OF_ANOTHER_TYPE[schema["type"]]:
            with pytest.raises(InvalidArgument) as refused:
                parse_arguments(tool.arguments, {**EXAMPLES[tool.name], name: wrong})
            assert str(refused.value.field).partition(".")[0] == name, wrong
