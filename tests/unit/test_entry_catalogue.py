"""`GET /v1/tools`: what the caller's token may use, in the shape that its model reads."""

from typing import Any

import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, sample
from zarniwoop.entry.catalogue import catalogue
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import SchemaFormat

NAMES = [tool.name for tool in TOOLS]


def _listed(parameters: dict[str, str] | None, **identity: str) -> dict[str, Any]:
    event = sample("tools") | {"queryStringParameters": parameters}
    event["requestContext"]["authorizer"] |= identity
    return catalogue(environment=FakeEnvironment)(event, LambdaContext())


def test_without_a_format_every_shape_is_given() -> None:
    """Name and level, and each of the five shapes."""
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
    """A model is not tempted with tools that will be refused."""
    assert [tool["name"] for tool in body_of(_listed(None, tools="research_rich"))["tools"]] == ["research_rich"]
    assert body_of(_listed(None, level="0"))["tools"] == []


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
