"""Whatever the registry names is whole: a later tool is asked for, described, answered and let in like all others."""

import ast
import subprocess
import sys
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import EVENTS, FUNCTIONS, ROOT, sample
from tests.fakes.template import resources
from zarniwoop.entry.authorizer import authorizer
from zarniwoop.stores.tokens import TokenGrant, hash_token
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import SchemaFormat, output_schema, tool_schema
from zarniwoop.tools.tool import EVERY_TOOL, Tool

EACH = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
TOKEN = "zw_sample-token-not-a-real-one"
README = (ROOT / "README.md").read_text(encoding="utf-8")
WAYS_IN = ("", ".event", ".invoke", ".queue")
WITH_ITS_OWN = [(tool, name) for tool in TOOLS for name in tool.comes_with]


@EACH
def test_a_tool_has_a_function_a_route_a_row_and_a_sample_for_every_way_in(tool: Tool[Any]) -> None:
    """Over REST, by event, by invocation and from a queue."""
    assert (FUNCTIONS / tool.name / "app.py").exists()
    assert all((EVENTS / f"{tool.name}{way}.json").exists() for way in WAYS_IN)
    assert README.count(f"\n| `{tool.name}` |") == 1
    routes = [
        (event["Properties"]["Method"], event["Properties"]["Path"])
        for function in resources("AWS::Serverless::Function").values()
        for event in function.get("Events", {}).values()
        if event["Type"] == "Api"
    ]
    assert routes.count(("POST", f"/v1/tools/{tool.name}")) == 1


def test_what_a_model_is_told_to_do_is_no_route() -> None:
    """It has tools and their arguments, and no HTTP."""
    package = ROOT / "layers" / "zarniwoop" / "zarniwoop"
    files = [file for folder in ("tools", "evidence", "pages", "mcp") for file in (package / folder).rglob("*.py")]
    told = [
        text.value
        for file in files
        for word in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(word, ast.keyword) and word.arg == "suggested_action"
        for text in ast.walk(word.value)
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
    ]
    assert len(told) > 10
    assert [each for each in told if "/v1/" in each] == []


@EACH
def test_a_tool_says_what_it_answers_with(tool: Tool[Any]) -> None:
    """The whole envelope, as an object: what MCP and OpenAPI give out."""
    schema = output_schema(tool)
    Draft202012Validator.check_schema(schema)
    assert (schema["type"], schema["required"]) == ("object", ["ok", "data", "error", "evidence"])
    forms = [each.get("$ref", "") for each in schema["properties"]["data"]["anyOf"]]
    assert len([form for form in forms if form.startswith("#/$defs/")]) >= 2  # the answer and the dry run
    assert not [name for name in schema["$defs"] if name.startswith("_")]


@EACH
def test_a_tool_comes_in_every_shape(tool: Tool[Any]) -> None:
    """By its name; what each vendor's types say of it is tested beside them."""
    assert all(tool.name in str(tool_schema(tool, shape)) for shape in SchemaFormat)


def _reached(tools: tuple[str, ...]) -> set[str]:
    grant = TokenGrant(token_hash=hash_token(TOKEN), tenant_id="acme", projects=("demo",), level=1, tools=tools)
    environment = FakeEnvironment(grants=[grant])
    event = sample("authorizer.token") | {"authorizationToken": f"Bearer {TOKEN}"}
    answer = authorizer(environment=lambda: environment)(event, LambdaContext())
    (statement,) = answer["policyDocument"]["Statement"]
    return {arn.partition("/live/")[2] for arn in statement["Resource"]}


@pytest.mark.parametrize(("tool", "name"), WITH_ITS_OWN, ids=lambda each: getattr(each, "name", each))
def test_what_comes_with_a_tool_is_let_in_with_it(tool: Tool[Any], name: str) -> None:
    """The authorizer knows no tools, so it names them itself."""
    names = [each.name for each in TOOLS] if name == EVERY_TOOL else [name]
    assert set(names) <= {each.name for each in TOOLS}
    for listed in names:
        assert f"POST/v1/tools/{tool.name}" in _reached((listed,))
        assert tool.is_named_by((listed,))


def test_a_cold_start_makes_no_schema() -> None:
    """They are made when they are asked for: a search pays for none."""
    code = "import sys, zarniwoop.entry.tool, zarniwoop.tools.research_search; print(*sorted(sys.modules))"
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT / "layers" / "zarniwoop")},
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = {"zarniwoop.tools.answer_schema", "zarniwoop.tools.schemas", "zarniwoop.tools.registry"}
    assert not heavy & set(ran.stdout.split())
