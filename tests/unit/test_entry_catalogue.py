"""`GET /v1/tools`: what the caller's token may use, in the shape that its model reads."""

from typing import Any

import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, sample
from zarniwoop.entry.catalogue import catalogue
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import STRICT, SchemaFormat

NAMES = [tool.name for tool in TOOLS]


def _listed(parameters: dict[str, str] | None, **identity: str) -> dict[str, Any]:
    event = sample("tools") | {"queryStringParameters": parameters}
    event["requestContext"]["authorizer"] |= identity
    return catalogue(environment=FakeEnvironment)(event, LambdaContext())


def test_without_a_format_every_shape_is_given() -> None:
    """Name and level, and each of the shapes."""
    tools = body_of(_listed(None))["tools"]
    assert [tool["name"] for tool in tools] == NAMES
    assert set(tools[0]) == {"name", "level", *(shape.value for shape in SchemaFormat)}


@pytest.mark.parametrize("shape", SchemaFormat)
def test_with_a_format_it_is_that_shape_alone(shape: SchemaFormat) -> None:
    """Ready to be handed to a model."""
    response = _listed({"format": shape.value})
    assert response["statusCode"] == 200
    assert len(body_of(response)["tools"]) == len(NAMES)


def test_only_what_the_token_may_use_is_listed() -> None:
    """A model is not tempted with tools that will be refused; what reads answers on comes with their tools."""

    def named(tools: str) -> list[str]:
        return [tool["name"] for tool in body_of(_listed(None, tools=tools))["tools"]]

    assert named("research_rich") == ["research_rich", "result_read"]
    assert named("research_investigate") == ["research_investigate", "run_status", "result_read"]
    assert body_of(_listed(None, level="0"))["tools"] == []


@pytest.mark.parametrize("shape", STRICT)
def test_a_vendors_strict_mode_can_be_asked_for(shape: SchemaFormat) -> None:
    """For those that have one; of the tools that are not strict, because not all may be, it is told which and why."""
    plain, strict = (body_of(_listed({"format": shape.value, "strict": each})) for each in ("false", "true"))
    left = strict.get("not_strict", {"tools": [], "reason": "none"})
    for name, before, after in zip(NAMES, plain["tools"], strict["tools"], strict=True):
        outer = next((name for name in ("function", "toolSpec") if name in after), None)
        assert "strict" not in (before[outer] if outer else before)
        assert (after[outer] if outer else after).get("strict", False) is (name not in left["tools"])
    assert "not_strict" not in plain
    assert left["reason"]


def test_tools_can_be_named_and_the_first_are_strict_first() -> None:
    """In the order in which they are named, each once."""
    asked = {"format": "anthropic", "strict": "true", "tools": "web_search,research_search, geo_resolve,web_search"}
    listed = body_of(_listed(asked))
    assert [tool["name"] for tool in listed["tools"]] == ["web_search", "research_search", "geo_resolve"]
    assert [tool.get("strict", False) for tool in listed["tools"]] == [True, False, True]
    assert listed["not_strict"]["tools"] == ["research_search"]
    assert [tool["name"] for tool in body_of(_listed({"tools": "run_status"}))["tools"]] == ["run_status"]
    alone = body_of(_listed({"format": "bedrock", "strict": "true", "tools": "research_search_expert"}))
    assert "not_strict" not in alone


@pytest.mark.parametrize("named", ["", "no_such_tool", "web_search,", "research_rich"])
def test_a_name_that_the_token_may_not_use_is_refused_with_those_that_it_may(named: str) -> None:
    """Whether there is such a tool is no matter."""
    response = _listed({"tools": named}, tools="web_search")
    error = body_of(response)["error"]
    assert (response["statusCode"], error["field"]) == (400, "tools")
    assert error["suggested_action"] == "name some of web_search, result_read"


@pytest.mark.parametrize("asked", [{"strict": "true"}, {"strict": "true", "format": "mcp"}, {"strict": "yes"}])
def test_strict_without_a_mode_of_that_name_is_refused(asked: dict[str, str]) -> None:
    """With the way out."""
    response = _listed(asked)
    assert (response["statusCode"], bool(body_of(response)["error"]["suggested_action"])) == (400, True)


@pytest.mark.parametrize("shape", sorted(set(SchemaFormat) - set(STRICT)))
def test_strict_is_what_is_wrong_with_a_format_that_has_no_such_mode(shape: SchemaFormat) -> None:
    """The format is right, and goes without."""
    error = body_of(_listed({"format": shape.value, "strict": "true"}))["error"]
    assert error["field"] == "strict"
    assert f"leave strict out for {shape.value}; " in error["suggested_action"]


@pytest.mark.parametrize("wanted", ["yaml", ""])
def test_an_unknown_format_is_refused_with_those_that_are_known(wanted: str) -> None:
    """The way out names them all."""
    response = _listed({"format": wanted})
    error = body_of(response)["error"]
    assert (response["statusCode"], error["field"]) == (400, "format")
    assert all(shape in error["suggested_action"] for shape in SchemaFormat)


def test_nobody_gets_no_list() -> None:
    """A request without an identity is 401."""
    assert _listed(None, tenant_id="")["statusCode"] == 401


def test_a_fault_of_ours_is_told_as_a_problem_and_logged_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """Not left to the gateway, which would say that it could not start the function."""
    response = _listed(None, level="not-a-number-and-secret")
    error = body_of(response)["error"]
    assert (response["statusCode"], error["type"]) == (500, "urn:zarniwoop:problem:internal")
    assert "request-1" in error["detail"]
    logged = capsys.readouterr().out
    assert '"tool":"tools","error":"ValueError"' in logged
    assert "not-a-number" not in logged
