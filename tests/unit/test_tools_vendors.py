"""Tool schemas by the vendors' own types: what their SDKs take, and what their strict modes make of it."""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from anthropic import transform_schema
from anthropic.types import ToolParam
from botocore.session import get_session
from botocore.validate import ParamValidator
from google.genai.types import FunctionDeclaration
from google.genai.types import Tool as GeminiTool
from jsonschema import Draft202012Validator
from openai.lib._pydantic import _ensure_strict_json_schema
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import ConfigDict, TypeAdapter, with_config

from tests.unit.test_tools_schemas import EXAMPLES
from zarniwoop.tools.arguments import parse_arguments
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import STRICT, SchemaFormat, strict_set, tool_schema
from zarniwoop.tools.tool import Tool
from zarniwoop.tools.vendor_schemas import in_one_grammar

MOST_STRICT_TOOLS, MOST_OPTIONAL, MOST_UNIONS = 20, 24, 16
"""For one request: platform.claude.com/docs/en/build-with-claude/structured-outputs, "schema complexity limits"."""
GRAMMARS = pytest.mark.parametrize("shape", [SchemaFormat.ANTHROPIC, SchemaFormat.BEDROCK])
EACH = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
EITHER = pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])


@cache
def _taken_by(vendors: Any) -> TypeAdapter[Any]:
    """The vendor's parameter type, and nothing that it does not name."""
    return TypeAdapter(with_config(ConfigDict(extra="forbid"))(vendors))


def _schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and those within it."""
    yield schema
    for member in schema.get("properties", {}).values():
        yield from _schemas(member)
    if "items" in schema:
        yield from _schemas(schema["items"])


@EITHER
@EACH
def test_openai_takes_it_in_chats_and_in_responses(tool: Tool[Any], strict: bool) -> None:
    """Responses have the function's members one level up."""
    made = tool_schema(tool, SchemaFormat.OPENAI, strict=strict)
    _taken_by(ChatCompletionFunctionToolParam).validate_python(made, strict=True)
    assert made["function"].get("strict", False) is strict
    _taken_by(FunctionToolParam).validate_python({"type": "function", "strict": None, **made["function"]}, strict=True)


@EITHER
@EACH
def test_anthropic_takes_it(tool: Tool[Any], strict: bool) -> None:
    """As a tool of the Messages API."""
    made = tool_schema(tool, SchemaFormat.ANTHROPIC, strict=strict)
    _taken_by(ToolParam).validate_python(made)
    assert made.get("strict", False) is strict


@cache
def _converse() -> Any:
    return get_session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape


@EITHER
@EACH
def test_bedrock_takes_it(tool: Tool[Any], strict: bool) -> None:
    """By botocore's own model of Converse; the pattern of a name is not looked at there."""
    made = tool_schema(tool, SchemaFormat.BEDROCK, strict=strict)
    report = ParamValidator().validate({"modelId": "m", "toolConfig": {"tools": [made]}}, _converse())
    assert not report.has_errors(), report.generate_report()
    specification = _converse().members["toolConfig"].members["tools"].member.members["toolSpec"]
    assert set(made["toolSpec"]) <= set(specification.members)
    assert re.fullmatch(specification.members["name"].metadata["pattern"], tool.name)
    assert made["toolSpec"].get("strict", False) is strict


@EACH
def test_gemini_takes_it(tool: Tool[Any]) -> None:
    """Its type forbids what it does not name; of formats of a text the API knows two, and none is used."""
    made = tool_schema(tool, SchemaFormat.GEMINI)
    (declaration,) = (
        GeminiTool(function_declarations=[FunctionDeclaration.model_validate(made)]).function_declarations or []
    )
    assert declaration.parameters is not None
    assert set(declaration.parameters.properties or ()) == set(tool.arguments.model_fields)
    for schema in _schemas(made["parameters"]):
        assert not {"format", "additionalProperties", "$ref", "anyOf"} & set(schema)
        assert schema["type"] in {"OBJECT", "ARRAY", "STRING", "INTEGER", "NUMBER", "BOOLEAN"}
        assert all(isinstance(each, str) for each in schema.get("enum", ()))


@EACH
def test_openais_strict_mode_has_nothing_to_change(tool: Tool[Any]) -> None:
    """All members required, all objects closed, and only keywords that it knows."""
    schema = tool_schema(tool, SchemaFormat.OPENAI, strict=True)["function"]["parameters"]
    made = copy.deepcopy(schema)
    assert _ensure_strict_json_schema(made, path=(), root=made) == schema
    known = {"type", "description", "enum", "format", "items", "minimum", "maximum", "minItems", "maxItems"}
    for name, member in schema["properties"].items():
        assert set(member) | set(member.get("items", ())) <= known, name
        assert member["description"], name


@GRAMMARS
@EACH
def test_anthropics_strict_mode_has_nothing_to_move_out_of_the_schema(tool: Tool[Any], shape: SchemaFormat) -> None:
    """Its SDK writes what the mode does not take into descriptions: here there is nothing such."""
    made = tool_schema(tool, shape, strict=True)
    schema = made["input_schema"] if shape is SchemaFormat.ANTHROPIC else made["toolSpec"]["inputSchema"]["json"]
    expected = copy.deepcopy(schema)
    for node in _schemas(expected):
        if "enum" in node:
            del node["type"]  # says the same twice, and the SDK says it once
    assert transform_schema(copy.deepcopy(schema)) == expected


def _strict_ones(
    shape: SchemaFormat, tools: Sequence[Tool[Any]], *, as_named: bool = False
) -> dict[str, dict[str, Any]]:
    """Of what a caller hands to the vendor in one request, the schemas that are to be held to, by the tools' names."""
    made = (each.get("toolSpec", each) for each in strict_set(tools, shape, as_named=as_named).tools)
    strict = {each["name"]: each for each in made if each.get("strict")}
    return {name: each.get("input_schema") or each["inputSchema"]["json"] for name, each in strict.items()}


def _is_taken_in_one_request(schemas: Sequence[dict[str, Any]]) -> bool:
    nodes = [node for schema in schemas for node in _schemas(schema)]
    optional = sum(len(set(node.get("properties", ())) - set(node.get("required", ()))) for node in nodes)
    unions = sum("anyOf" in node or isinstance(node["type"], list) for node in nodes)
    return len(schemas) <= MOST_STRICT_TOOLS and optional <= MOST_OPTIONAL and unions <= MOST_UNIONS


@GRAMMARS
@pytest.mark.parametrize("as_named", [False, True])
def test_all_strict_tools_of_a_request_stay_within_the_limits_together(shape: SchemaFormat, as_named: bool) -> None:
    """The vendor refuses the whole request beyond them; there is no room for one tool more."""
    strict = _strict_ones(shape, TOOLS, as_named=as_named)
    assert strict
    assert _is_taken_in_one_request(list(strict.values()))
    for tool in TOOLS:
        if tool.name not in strict:
            assert not _is_taken_in_one_request([*strict.values(), *_strict_ones(shape, [tool]).values()]), tool.name


@GRAMMARS
def test_whoever_is_not_strict_goes_along_as_it_is_and_is_named(shape: SchemaFormat) -> None:
    """None is lost, and the order is kept."""
    made, strict = strict_set(TOOLS, shape), _strict_ones(shape, TOOLS)
    assert [each.get("toolSpec", each)["name"] for each in made.tools] == [tool.name for tool in TOOLS]
    assert set(made.not_strict) == {tool.name for tool in TOOLS} - set(strict)
    plain = [tool_schema(tool, shape) for tool in TOOLS if tool.name in made.not_strict]
    assert [each for each in made.tools if each.get("toolSpec", each)["name"] in made.not_strict] == plain


@GRAMMARS
@EACH
def test_every_tool_can_be_strict_alone_and_first_where_it_is_named_first(tool: Tool[Any], shape: SchemaFormat) -> None:
    """None has more optional arguments than a whole request may have."""
    others = [each for each in TOOLS if each is not tool]
    assert tool.name in _strict_ones(shape, [tool, *others], as_named=True)


def test_more_small_tools_than_a_request_may_have_strict_are_not_all_strict() -> None:
    """The limit on their number, which ours do not reach."""
    small: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    assert len(in_one_grammar([small] * (MOST_STRICT_TOOLS + 5))) == MOST_STRICT_TOOLS
    union = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}
    assert len(in_one_grammar([union] * (MOST_UNIONS + 2))) == MOST_UNIONS


def test_openai_takes_all_tools_strict() -> None:
    """It has no such limit on a request."""
    made = strict_set(TOOLS, SchemaFormat.OPENAI)
    assert (made.not_strict, {each["function"]["strict"] for each in made.tools}) == ((), {True})


@pytest.mark.parametrize("shape", STRICT)
@EACH
def test_what_a_strict_mode_lets_a_model_say_is_taken(tool: Tool[Any], shape: SchemaFormat) -> None:
    """With OpenAI every member is said, most as null, which is the same as nothing; a flag is one or the other."""
    made = tool_schema(tool, shape, strict=True)
    schema: Mapping[str, Any] = {
        SchemaFormat.OPENAI: lambda: made["function"]["parameters"],
        SchemaFormat.ANTHROPIC: lambda: made["input_schema"],
        SchemaFormat.BEDROCK: lambda: made["toolSpec"]["inputSchema"]["json"],
    }[shape]()
    said = dict(EXAMPLES[tool.name])
    if shape is SchemaFormat.OPENAI:
        flags = {name: False for name, each in schema["properties"].items() if each["type"] == "boolean"}
        said = dict.fromkeys(tool.arguments.model_fields) | flags | said
    Draft202012Validator(schema).validate(said)
    parse_arguments(tool.arguments, {name: each for name, each in said.items() if each is not None})


def test_a_default_is_told_where_null_stands_for_it() -> None:
    """A model that must say something knows what saying nothing means."""
    search = next(tool for tool in TOOLS if tool.name == "research_search")
    members = tool_schema(search, SchemaFormat.OPENAI, strict=True)["function"]["parameters"]["properties"]
    assert members["max_results"]["type"] == ["integer", "null"]
    assert members["max_results"]["description"].endswith(" null means 10.")
    assert members["strategy"]["enum"] == ["cascade", "fanout", None]
    assert (members["dry_run"]["type"], members["dry_run"]["description"][-15:]) == ("boolean", " Usually false.")
    assert members["query"]["type"] == "string"
