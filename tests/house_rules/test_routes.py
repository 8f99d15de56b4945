"""One catalogue of routes: template, handlers, authorizer, problems and OpenAPI document say the same as it."""

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import event_names, sample
from tests.fakes.openapi import DOCUMENT, validator
from tests.fakes.template import ROOT, resources
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.result import DispatchFailure
from zarniwoop.entry import evidence, runs, settings
from zarniwoop.entry.authorizer import authorizer
from zarniwoop.entry.problems import PROBLEMS, TYPE_PREFIX
from zarniwoop.entry.route import Route
from zarniwoop.entry.routes import ROUTES
from zarniwoop.stores.runs import RunState
from zarniwoop.stores.tokens import TokenGrant, hash_token

PACKAGE = ROOT / "layers/zarniwoop/zarniwoop"
TOKEN = "zw_sample-token-not-a-real-one"
BY_NAME = {route.name: route for route in ROUTES}


def test_the_template_has_the_catalogues_routes_and_no_others() -> None:
    """Each at the function that the catalogue says."""
    deployed = {
        (event["Properties"]["Method"], event["Properties"]["Path"], str(function["CodeUri"]).split("/")[1])
        for function in resources("AWS::Serverless::Function").values()
        for event in function.get("Events", {}).values()
        if event["Type"] == "Api"
    }
    assert {(route.method, route.path, route.function) for route in ROUTES} == deployed
    assert len({route.name for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize("module", [runs, evidence, settings], ids=lambda module: module.__name__)
def test_a_handler_of_several_routes_serves_those_of_the_catalogue(module: Any) -> None:
    """What is deployed without a handler is a 404 of ours."""
    function = module.__name__.rpartition(".")[2]
    assert set(module.ROUTES) == {route.key for route in ROUTES if route.function == function}


@pytest.mark.parametrize("name", [name for name, route in BY_NAME.items() if not route.public])
def test_the_authorizer_lets_in_whom_the_catalogue_names(name: str) -> None:
    """A token that is just good enough; and none of a lower level, or for another tool."""
    route = BY_NAME[name]
    assert reaches(route, level=route.level, tools=(route.right,) if route.right else ())
    if route.level and not route.path.startswith("/v1/tools/"):  # a tool's own level is looked at by the tool
        assert not reaches(route, level=route.level - 1, tools=())
    if route.right and not route.right.startswith("result"):
        assert not reaches(route, level=route.level, tools=("no_such_tool",))


def reaches(route: Route, *, level: int, tools: tuple[str, ...]) -> bool:
    """Whether the policy of such a token allows an address of the route."""
    grant = TokenGrant(
        token_hash=hash_token(TOKEN),
        tenant_id="acme",
        projects=("demo",),
        level=level,
        tools=tuple(filter(None, tools)),
    )
    environment = FakeEnvironment(grants=[grant])
    event = sample("authorizer.token") | {"authorizationToken": f"Bearer {TOKEN}"}
    answer = authorizer(environment=lambda: environment)(event, LambdaContext())
    stage = "/".join(event["methodArn"].split("/")[:2])
    asked = f"{stage}/{route.method}{route.path}"
    (statement,) = answer["policyDocument"]["Statement"]
    return any(fnmatchcase(asked, pattern) for pattern in statement["Resource"])


@pytest.mark.parametrize("name", BY_NAME)
def test_every_route_has_a_sample_event(name: str) -> None:
    """From which its examples are made."""
    route = BY_NAME[name]
    events = (sample(each) for each in event_names() if each.partition(".")[0] == route.function)
    assert [each for each in events if (each.get("httpMethod"), each.get("resource")) == route.key]


def test_every_problem_is_told_and_every_kind_can_come() -> None:
    """In the code by a literal or by a word of a closed set, or from the gateway."""
    sources = (path for path in PACKAGE.rglob("*.py") if path.parent.name != "adapters")
    in_code = {slug for path in sources for slug in slugs_in(path)}
    in_code |= {slug_of(failure) for failure in DispatchFailure} | set(reasons(ProviderError))
    in_code |= {f"run-{slug_of(state)}" for state in (RunState.FAILED, RunState.TIMED_OUT)}
    assert {kind.slug for kind in PROBLEMS} == in_code | set(of_the_gateway())
    assert len({kind.slug for kind in PROBLEMS}) == len(PROBLEMS)


def test_what_the_gateway_refuses_comes_with_its_status() -> None:
    """As the catalogue of problems has it."""
    statuses = {kind.slug: kind.statuses for kind in PROBLEMS}
    for slug, status in of_the_gateway().items():
        assert status in statuses[slug], slug


def of_the_gateway() -> dict[str, int]:
    (api,) = resources("AWS::Serverless::Api").values()
    bodies = [
        json.loads(each["ResponseTemplates"]["application/json"])["error"] for each in api["GatewayResponses"].values()
    ]
    return {each["type"].removeprefix(TYPE_PREFIX): each["status"] for each in bodies}


def slug_of(word: StrEnum) -> str:
    return word.value.replace("_", "-")


def reasons(kind: type[ProviderError]) -> Iterator[str]:
    """Of the class and of those below it; a trial tells them."""
    yield kind.reason.replace("_", "-")
    for each in kind.__subclasses__():
        if each.__module__ == kind.__module__ and each.reason != "throttled":
            yield from reasons(each)


def slugs_in(path: Path) -> Iterator[str]:
    """The words of a line that gives a slug, and whole types."""
    text = path.read_text(encoding="utf-8")
    yield from re.findall(rf'"{TYPE_PREFIX}([a-z-]+)"', text)
    for line in re.findall(r"^ *slug ?=(.*)$|, slug=([^,)]*)", text, re.MULTILINE):
        yield from re.findall(r'"([a-z][a-z-]+)"', "".join(line))


def test_the_document_is_openapi_3_1() -> None:
    """By the specification's own schema, references and names of operations included."""
    assert [error.message for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []


def test_the_served_document_is_the_committed_one() -> None:
    """Without the spaces that are for readers."""
    assert json.loads((ROOT / "functions/openapi/openapi.json").read_text(encoding="utf-8")) == DOCUMENT


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for item in DOCUMENT["paths"].values():
        for operation in item.values():
            yield operation["operationId"], operation


@pytest.mark.parametrize("operation", [each for _, each in operations()], ids=[name for name, _ in operations()])
def test_an_operation_says_whatever_a_stranger_needs(operation: dict[str, Any]) -> None:
    """What it is for, who may, each parameter in words, and examples that are valid."""
    assert operation["summary"]
    assert operation["description"]
    for parameter in operation.get("parameters", ()):
        assert parameter.get("description"), parameter["name"]
        for example in parameter.get("examples", {}).values():
            validator(parameter["schema"]).validate(example["value"])
    for media in operation.get("requestBody", {}).get("content", {}).values():
        assert media["examples"]
        for example in media["examples"].values():
            validator(media["schema"]).validate(example["value"])


def test_every_refusal_has_an_example_of_each_kind() -> None:
    """And the examples are refusals."""
    for name, response in DOCUMENT["components"]["responses"].items():
        media = response["content"]["application/json"]
        for example in media["examples"].values():
            validator(media["schema"]).validate(example["value"])
        assert media["examples"], name
