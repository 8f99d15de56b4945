"""A tool of the registry is there over MCP by itself: its function is known, may be asked, and nothing else may."""

import json
from typing import Any

from tests.fakes.template import resources, template
from zarniwoop.tools.registry import TOOLS

FUNCTIONS = resources("AWS::Serverless::Function")
ROLE = resources("AWS::IAM::Role")["McpRole"]


def _variables() -> dict[str, Any]:
    found: dict[str, Any] = FUNCTIONS["McpFunction"]["Environment"]["Variables"]
    return found


def _functions() -> dict[str, str]:
    """The logical id of each tool's function, as MCP is told."""
    named = json.loads(_variables()["TOOL_FUNCTIONS"]["Sub"])
    return {tool: reference.removeprefix("${").removesuffix("}") for tool, reference in named.items()}


def test_every_tool_is_asked_by_its_own_function() -> None:
    """And none besides."""
    assert set(_functions()) == {tool.name for tool in TOOLS}
    for tool, function in _functions().items():
        assert FUNCTIONS[function]["CodeUri"] == f"functions/{tool}/"
        assert "Handler" not in FUNCTIONS[function]


def test_mcp_may_ask_these_functions_and_nothing_else() -> None:
    """No table, no parameter, no bucket: what takes MCP over can call tools, and no more."""
    (policy,) = ROLE["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Action"]) == ("Allow", "lambda:InvokeFunction")
    assert [each["GetAtt"] for each in statement["Resource"]] == [f"{name}.Arn" for name in _functions().values()]
    assert ROLE["ManagedPolicyArns"] == [{"Ref": "WriteTelemetryPolicy"}]


def test_nobody_without_a_token_reaches_mcp() -> None:
    """Its three methods stand behind the authorizer, like all routes of tools."""
    routes = [each["Properties"] for each in FUNCTIONS["McpFunction"]["Events"].values()]
    assert sorted((each["Method"], each["Path"]) for each in routes) == [
        ("DELETE", "/mcp"),
        ("GET", "/mcp"),
        ("POST", "/mcp"),
    ]
    assert not [each for each in routes if "Auth" in each]


def test_no_function_has_more_variables_than_lambda_takes() -> None:
    """Four kilobytes; a reference may become a name of 64 characters, or a URL."""
    shared = template()["Globals"]["Function"]["Environment"]["Variables"]
    texts = {**dict.fromkeys(shared, "x" * 64), **_variables()}
    told = json.dumps(dict.fromkeys(_functions(), "x" * 64))
    size = sum(len(name) + len(told if name == "TOOL_FUNCTIONS" else str(text)) for name, text in texts.items())
    assert size < 4_096
