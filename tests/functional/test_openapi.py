"""What the deployed functions answer over REST is what the document of the API says."""

from collections.abc import Iterator

import pytest
from jsonschema import ValidationError

from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import event_names, handler_of, posted, sample
from tests.fakes.openapi import check
from tests.functional.deployed import Deployed, deployed
from tests.simulator import Simulator
from zarniwoop.entry.routes import ROUTES

FULL_RIGHTS = {"level": "4", "projects": "*"}
ROUTE_OF = {
    name: route
    for name in event_names()
    for route in ROUTES
    if (sample(name).get("httpMethod"), sample(name).get("resource")) == route.key
    and name.partition(".")[0] == route.function
}
"""Of each sample request."""


@pytest.fixture(scope="module")
def stack() -> Iterator[Deployed]:
    with Simulator() as simulator, pytest.MonkeyPatch.context() as patched, deployed(simulator, patched) as made:
        yield made


@pytest.mark.parametrize("name", ROUTE_OF)
def test_every_sample_request_is_answered_as_the_document_says(stack: Deployed, name: str) -> None:
    """For a token of full rights, and for one of none."""
    for identity in (FULL_RIGHTS, {"level": "0"}):
        event = sample(name)
        if "authorizer" in event["requestContext"]:
            event["requestContext"]["authorizer"] |= identity
        check(event["httpMethod"], event["resource"], handler_of(ROUTE_OF[name].function)(event, LambdaContext()))


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (None, "application/json"),
        ("[]", "application/json"),
        ("{}", "text/plain"),
        (f'"{"a" * 300_000}"', "application/json"),
    ],
    ids=["none", "a list", "no JSON", "too large"],
)
@pytest.mark.parametrize("path", [route.path for route in ROUTES if route.in_body])
def test_a_body_that_is_none_is_refused_as_the_document_says(
    stack: Deployed, path: str, body: str | None, media_type: str
) -> None:
    """400, 413 and 415 of every operation that takes one."""
    name, route = next((name, each) for name, each in ROUTE_OF.items() if each.path == path and each.in_body)
    event = sample(name) | {"body": body}
    event["headers"]["Content-Type"] = media_type
    event["requestContext"]["authorizer"] |= FULL_RIGHTS
    answer = handler_of(route.function)(event, LambdaContext())
    assert answer["statusCode"] in (400, 413, 415)
    check(route.method, route.path, answer)


def test_an_answer_that_is_not_told_would_be_seen(stack: Deployed) -> None:
    """A status, and a member of another type."""
    event = posted({"query": "bells", "modality": "WEB"})
    answer = handler_of("research_search")(event, LambdaContext())
    with pytest.raises(KeyError):
        check("POST", event["resource"], answer | {"statusCode": 418})
    with pytest.raises(ValidationError):
        check("POST", event["resource"], answer | {"body": answer["body"].replace('"ok":true', '"ok":"yes"', 1)})
