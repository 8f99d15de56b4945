"""The same Idempotency-Key twice is one call, whatever becomes of the table behind it."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.aws import aws_in_process, create_table, refuse
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, posted
from tests.fakes.providers import found
from zarniwoop.contract.failure import QueryRejected
from zarniwoop.entry import idempotency
from zarniwoop.entry.tool import tool
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.tools.research_search import RESEARCH_SEARCH

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "idempotency"


class Remembering(FakeEnvironment):
    """An environment with the one table that is real here."""

    @property
    def idempotency_table(self) -> str:
        return TABLE

    @cached_property
    def _dynamodb(self) -> "DynamoDBClient":
        return dynamodb_client()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Remembering]:
    with aws_in_process(monkeypatch):
        create_table(TABLE, "id")
        yield Remembering({"main": [found(1), found(2)]})


def _ask(environment: Remembering, key: str = "key", identity: dict[str, str] | None = None, **more: Any) -> Any:
    arguments = {"query": "cathedral bells", "modality": "WEB", **more}
    event = posted(arguments, headers={"Idempotency-Key": key}, identity=identity)
    return tool(RESEARCH_SEARCH, environment=lambda: environment)(event, LambdaContext())


def _asked(environment: Remembering) -> int:
    return len(environment.protocol.asked)


def test_the_answer_to_a_key_is_given_again(environment: Remembering) -> None:
    """Byte for byte, and nobody is asked a second time."""
    assert _ask(environment) == _ask(environment)
    assert _asked(environment) == 1


def test_a_key_is_its_callers_own(environment: Remembering) -> None:
    """Another tenant's, another project's or another tool's same key is another call."""
    mine = body_of(_ask(environment))
    other_project = body_of(_ask(environment, identity={"projects": "lab"}))
    other_tenant = body_of(_ask(environment, identity={"tenant_id": "other"}))
    assert (mine["data"]["returned_count"], other_project["data"]["returned_count"]) == (1, 2)
    assert other_tenant["error"]["type"] == "urn:zarniwoop:problem:no-endpoint"


def test_a_remembered_answer_is_not_for_a_token_without_the_tool(environment: Remembering) -> None:
    """Permission comes before memory."""
    _ask(environment)
    assert _ask(environment, identity={"level": "0"})["statusCode"] == 403
    assert _ask(environment, identity={"tenant_id": ""})["statusCode"] == 401


@pytest.mark.parametrize("key", ["k" * 256, "line\nbreak"])
def test_a_key_that_cannot_be_kept_is_refused(environment: Remembering, key: str) -> None:
    """With the header that is wrong, and what to send instead; a dry run tells what the call would be told."""
    response = _ask(environment, key)
    assert (response["statusCode"], body_of(response)["error"]["field"]) == (400, "idempotency-key")
    assert _asked(environment) == 0
    planned = _ask(environment, key, dry_run=True)
    assert (planned["statusCode"], body_of(planned)["error"]["field"]) == (400, "idempotency-key")


def test_another_body_under_the_same_key_is_refused(environment: Remembering) -> None:
    """422: one of the two was not meant."""
    _ask(environment)
    assert _ask(environment, max_results=3)["statusCode"] == 422


def test_a_refusal_is_not_remembered(environment: Remembering) -> None:
    """The caller mends the request and may keep the key."""
    assert _ask(environment, modality="SMELL")["statusCode"] == 400
    assert _ask(environment)["statusCode"] == 200


def test_a_failed_search_is_not_remembered(environment: Remembering) -> None:
    """It was answered with 200, and still must not stand for an hour."""
    environment.protocol.scripts["main"] = [QueryRejected("no"), found(2)]
    assert not body_of(_ask(environment))["ok"]
    assert body_of(_ask(environment))["ok"]


def test_an_answer_too_large_for_the_table_is_given_and_not_remembered(
    environment: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the provider is not asked twice for it."""
    monkeypatch.setattr(idempotency, "MAX_KEPT_BYTES", 100)
    assert _ask(environment)["statusCode"] == 200
    assert _asked(environment) == 1
    assert environment.dynamodb().scan(TableName=TABLE)["Items"] == []


def test_with_the_table_down_the_call_is_made_all_the_same(
    environment: Remembering, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, and the log says why it is not remembered."""
    refuse(environment.dynamodb(), "ProvisionedThroughputExceededException")
    assert _ask(environment)["statusCode"] == 200
    assert _asked(environment) == 1
    assert "idempotency table unavailable" in caplog.messages


def test_a_table_that_goes_down_during_the_call_costs_no_second_one(environment: Remembering) -> None:
    """What was answered is given, even if it could not be remembered."""

    def break_then_find(request: Any) -> Any:
        refuse(environment.dynamodb(), "InternalServerError", status=500)
        return found(1)(request)

    environment.protocol.scripts["main"] = [break_then_find]
    assert body_of(_ask(environment))["ok"]
    assert _asked(environment) == 1
