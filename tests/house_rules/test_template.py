"""What `sam validate --lint` does not see: the template in step with the functions, and nothing left open."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


class _Loader(yaml.SafeLoader):
    """Reads `!Ref X` as {"Ref": "X"} and the like."""


def _tagged(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        return {tag: loader.construct_scalar(node)}
    if isinstance(node, yaml.SequenceNode):
        return {tag: loader.construct_sequence(node, deep=True)}
    assert isinstance(node, yaml.MappingNode)
    return {tag: loader.construct_mapping(node, deep=True)}


_Loader.add_multi_constructor("!", _tagged)


@cache
def template() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load((ROOT / "template.yaml").read_text(), _Loader)  # noqa: S506 - a safe loader
    return loaded


def resources(kind: str) -> dict[str, dict[str, Any]]:
    return {name: found["Properties"] for name, found in template()["Resources"].items() if found["Type"] == kind}


def functions() -> dict[str, dict[str, Any]]:
    return resources("AWS::Serverless::Function")


def test_every_function_folder_is_deployed_and_every_deployed_function_has_a_folder() -> None:
    """The template names exactly the folders under functions/."""
    named = {properties["CodeUri"].strip("/").removeprefix("functions/") for properties in functions().values()}

    assert named == {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}


def test_every_function_has_a_role_of_its_own_and_says_what_it_is_for() -> None:
    """No role is shared; whoever reads the console knows what a function does."""
    roles = [properties["Role"]["GetAtt"] for properties in functions().values()]

    assert len(set(roles)) == len(roles)
    assert all(properties["Description"] for properties in functions().values())


def test_functions_end_before_the_gateway_gives_up() -> None:
    """REST integrations end after 29 seconds; our answer shall be the one that callers see."""
    limits = [template()["Globals"]["Function"]["Timeout"], *(each.get("Timeout", 0) for each in functions().values())]

    assert max(limits) < 29


def test_no_route_opts_out_of_the_authorizer() -> None:
    """The API's default authorizer and its usage plan hold for every route."""
    (api,) = resources("AWS::Serverless::Api").values()
    routes = [
        event["Properties"]
        for properties in functions().values()
        for event in properties.get("Events", {}).values()
        if event["Type"] == "Api"
    ]

    assert len(routes) >= 5
    assert not [route for route in routes if "Auth" in route]
    assert api["Auth"]["DefaultAuthorizer"] in api["Auth"]["Authorizers"]
    assert (api["Auth"]["ApiKeyRequired"], api["ApiKeySourceType"]) == (True, "AUTHORIZER")


def test_every_tool_is_served_under_its_own_name() -> None:
    """POST /v1/tools/<tool> leads to functions/<tool>."""
    for properties in functions().values():
        for event in properties.get("Events", {}).values():
            if event["Type"] == "Api" and event["Properties"]["Method"] == "POST":
                tool = properties["CodeUri"].strip("/").removeprefix("functions/")
                assert event["Properties"]["Path"] == f"/v1/tools/{tool}"


def test_every_variable_that_the_wiring_reads_is_given() -> None:
    """The composition root asks for no variable that the template does not set."""
    wiring = (ROOT / "layers/zarniwoop/zarniwoop/wiring.py").read_text()
    read = set(re.findall(r"_variables(?:\[|\.get\()[\"']([A-Z_]+)[\"']", wiring))
    given = set(template()["Globals"]["Function"]["Environment"]["Variables"])

    assert "STATE_TABLE" in read
    assert read <= given


def _gateway_responses() -> dict[str, dict[str, Any]]:
    (api,) = resources("AWS::Serverless::Api").values()
    responses: dict[str, dict[str, Any]] = api["GatewayResponses"]
    return responses


@pytest.mark.parametrize("kind", _gateway_responses())
def test_a_refusal_of_the_gateway_is_a_problem_in_the_envelope(kind: str) -> None:
    """The body is the envelope of every answer, and its problem repeats the status line."""
    response = _gateway_responses()[kind]

    body = json.loads(response["ResponseTemplates"]["application/json"])

    assert (body["ok"], body["data"], body["evidence"]) == (False, None, [])
    problem = body["error"]
    assert problem["status"] == response["StatusCode"]
    assert problem["type"].startswith("urn:zarniwoop:problem:")
    assert {"title", "detail", "retryable", "suggested_action"} <= set(problem)
    if problem["retryable"]:
        retry_after = response["ResponseParameters"]["Headers"]["Retry-After"].strip("'")
        assert float(retry_after) == problem["wait_seconds"]


def test_the_dashboard_is_json() -> None:
    """CloudWatch takes the body as a string; a lost comma would only be found when deploying to AWS."""
    (dashboard,) = resources("AWS::CloudWatch::Dashboard").values()

    assert json.loads(dashboard["DashboardBody"]["Sub"])["widgets"]


def test_whatever_holds_data_is_encrypted_and_private() -> None:
    """Tables, queues and the bucket are encrypted at rest, and the bucket is closed to the public."""
    (bucket,) = resources("AWS::S3::Bucket").values()

    assert all(table["SSESpecification"]["SSEEnabled"] for table in resources("AWS::DynamoDB::Table").values())
    assert all(table["TimeToLiveSpecification"]["Enabled"] for table in resources("AWS::DynamoDB::Table").values())
    assert all(queue["SqsManagedSseEnabled"] for queue in resources("AWS::SQS::Queue").values())
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["BucketEncryption"]


def test_the_api_logs_no_bodies() -> None:
    """Execution logs and data traces would hold queries and tokens."""
    (api,) = resources("AWS::Serverless::Api").values()

    assert all((each["LoggingLevel"], each["DataTraceEnabled"]) == ("OFF", False) for each in api["MethodSettings"])
