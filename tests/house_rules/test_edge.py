"""The template's outer edge: what API Gateway lets in, refuses and writes down, and how data lies at rest."""

import json
import re
from dataclasses import fields
from typing import Any

import pytest

from tests.fakes.template import ROOT, resources, template
from zarniwoop.contract.problem import Problem
from zarniwoop.entry.routes import ROUTES

(API,) = resources("AWS::Serverless::Api").values()
FUNCTIONS = resources("AWS::Serverless::Function")


def test_only_public_routes_opt_out_of_the_authorizer() -> None:
    """The default authorizer and its usage plan hold for every other route; the limits of the stage hold for all."""
    routes = [
        event["Properties"]
        for properties in FUNCTIONS.values()
        for event in properties.get("Events", {}).values()
        if event["Type"] == "Api"
    ]

    public = {(route.method, route.path) for route in ROUTES if route.public}
    assert {(route["Method"], route["Path"]) for route in routes if "Auth" in route} == public
    assert all(route["Auth"] == {"Authorizer": "NONE", "ApiKeyRequired": False} for route in routes if "Auth" in route)
    (limits,) = API["MethodSettings"]
    assert (limits["ResourcePath"], limits["HttpMethod"]) == ("/*", "*")
    assert {"ThrottlingRateLimit", "ThrottlingBurstLimit"} <= set(limits)
    assert API["Auth"]["DefaultAuthorizer"] in API["Auth"]["Authorizers"]
    assert (API["Auth"]["ApiKeyRequired"], API["ApiKeySourceType"]) == (True, "AUTHORIZER")


@pytest.mark.parametrize("kind", API["GatewayResponses"])
def test_a_refusal_of_the_gateway_is_a_problem_in_the_envelope(kind: str) -> None:
    """The body is the envelope of every answer, and its problem repeats the status line."""
    response = API["GatewayResponses"][kind]

    body = json.loads(response["ResponseTemplates"]["application/json"])

    assert (body["ok"], body["data"], body["evidence"]) == (False, None, [])
    problem = body["error"]
    assert problem["status"] == response["StatusCode"]
    assert problem["type"].startswith("urn:zarniwoop:problem:")
    assert {each.name for each in fields(Problem)} == set(problem)
    if problem["retryable"]:
        assert float(_retry_after(response)) == problem["wait_seconds"]


def test_every_4xx_of_the_gateway_is_named_and_keeps_its_status() -> None:
    """One answer for all of them would make a 400 of a 403; a route that is not there is the only one we restate."""
    of_aws = {
        400: {"BAD_REQUEST_BODY", "BAD_REQUEST_PARAMETERS"},
        401: {"UNAUTHORIZED"},
        403: {"ACCESS_DENIED", "EXPIRED_TOKEN", "INVALID_API_KEY", "INVALID_SIGNATURE", "WAF_FILTERED"},
        404: {"MISSING_AUTHENTICATION_TOKEN", "RESOURCE_NOT_FOUND"},
        413: {"REQUEST_TOO_LARGE"},
        415: {"UNSUPPORTED_MEDIA_TYPE"},
        429: {"QUOTA_EXCEEDED", "THROTTLED"},
    }

    named: dict[int, set[str]] = {}
    for kind, response in API["GatewayResponses"].items():
        named.setdefault(response["StatusCode"], set()).add(kind)

    assert {status: kinds for status, kinds in named.items() if status < 500} == of_aws


def _retry_after(response: dict[str, Any]) -> str:
    text: str = response["ResponseParameters"]["Headers"]["Retry-After"]
    return text.strip("'")


def test_every_variable_that_the_wiring_reads_is_given() -> None:
    """The composition root asks for no variable that the template does not set."""
    wiring = [path.read_text(encoding="utf-8") for path in (ROOT / "layers/zarniwoop/zarniwoop").glob("wiring*.py")]
    read = set(re.findall(r"_variables(?:\[|\.get\()[\"']([A-Z_]+)[\"']", "\n".join(wiring)))
    given = [template()["Globals"]["Function"], *FUNCTIONS.values()]

    assert {"STATE_TABLE", "RUNS_TABLE"} <= read
    assert read <= {name for each in given for name in each.get("Environment", {}).get("Variables", {})}


def test_the_dashboard_is_json() -> None:
    """CloudWatch takes the body as a string; a lost comma would only be found when deploying to AWS."""
    (dashboard,) = resources("AWS::CloudWatch::Dashboard").values()

    assert json.loads(dashboard["DashboardBody"]["Sub"])["widgets"]


def test_whatever_holds_data_is_encrypted_and_private() -> None:
    """Tables, queues and buckets are encrypted at rest, and buckets are closed to the public."""
    assert all(table["SSESpecification"]["SSEEnabled"] for table in resources("AWS::DynamoDB::Table").values())
    assert all(queue["SqsManagedSseEnabled"] for queue in resources("AWS::SQS::Queue").values())
    for bucket in resources("AWS::S3::Bucket").values():
        assert all(bucket["PublicAccessBlockConfiguration"].values())
        assert bucket["BucketEncryption"]


def test_what_runs_and_projects_leave_in_the_bucket_goes_by_itself_and_recipes_stay() -> None:
    """After as many days as the functions are told; a tenant's recipe is nobody's temporary file."""
    buckets = resources("AWS::S3::Bucket")
    (rule,) = buckets["ContentBucket"]["LifecycleConfiguration"]["Rules"]
    told = template()["Globals"]["Function"]["Environment"]["Variables"]["CONTENT_RETENTION_DAYS"]
    assert (rule["Status"], rule["ExpirationInDays"]) == ("Enabled", told)
    assert "Prefix" not in rule
    assert "LifecycleConfiguration" not in buckets["RecipesBucket"]


def test_the_api_writes_down_no_bodies() -> None:
    """Execution logs and data traces would hold queries and tokens."""
    assert all((each["LoggingLevel"], each["DataTraceEnabled"]) == ("OFF", False) for each in API["MethodSettings"])
