"""AWS in this process: moto, made atomic, with the tables of the stack and with faults on demand."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import boto3
import orjson
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber

if TYPE_CHECKING:
    import pytest

REGION = "us-east-1"
STATE_TABLE = "zarniwoop-test-state"
AUDIT_TABLE = "zarniwoop-test-audit"
TOKEN_TABLE = "zarniwoop-test-tokens"
RUNS_TABLE = "zarniwoop-test-runs"

_ANSWERED = "x-answered-by-the-test"
"""botocore asks every handler and takes the first answer; moto must not carry out what the test has refused."""


_ONE_AT_A_TIME = threading.RLock()
_ANSWER = BotocoreStubber.__call__


def _answer_one_at_a_time(self: BotocoreStubber, event_name: str, request: AWSPreparedRequest, **rest: Any) -> Any:
    if _ANSWERED in request.headers:
        return None
    with _ONE_AT_A_TIME:
        return _ANSWER(self, event_name, request, **rest)


@contextmanager
def moto_account(**options: Any) -> Iterator[None]:
    """moto (`mock_aws`, with its options), which answers one call at a time and carries out none that was refused.

    Left to itself it writes an item of DynamoDB in steps, and closes an object of S3 that another thread is writing.
    """
    with patch.object(BotocoreStubber, "__call__", _answer_one_at_a_time), mock_aws(**options):
        yield


@contextmanager
def aws_in_process(monkeypatch: "pytest.MonkeyPatch") -> Iterator[None]:
    """A `moto_account` in this region."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with moto_account():
        yield


def create_table(name: str, *keys: str) -> None:
    boto3.client("dynamodb", region_name=REGION).create_table(
        TableName=name,
        KeySchema=[
            {"AttributeName": key, "KeyType": kind}  # type: ignore[typeddict-item]
            for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)
        ],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        BillingMode="PAY_PER_REQUEST",
    )


def create_runs_table() -> None:
    """With the sparse indexes of open runs by deadline, and of untold ones by when they are to be told."""
    boto3.client("dynamodb", region_name=REGION).create_table(
        TableName=RUNS_TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
            {"AttributeName": "open", "AttributeType": "S"},
            {"AttributeName": "deadline_at", "AttributeType": "N"},
            {"AttributeName": "untold", "AttributeType": "S"},
            {"AttributeName": "tell_at", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": index,
                "KeySchema": [
                    {"AttributeName": index, "KeyType": "HASH"},
                    {"AttributeName": moment, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
            for index, moment in (("open", "deadline_at"), ("untold", "tell_at"))
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def count_calls(client: Any) -> list[str]:
    """A list that grows by the operation's name with every call of the client."""
    calls: list[str] = []
    client.meta.events.register("before-call", lambda model, **_rest: calls.append(model.name))
    return calls


def refuse(client: Any, code: str, *, status: int = 400, times: int | None = None, after: int = 0) -> list[str]:
    """Let the next calls of the client (all of them when `times` is None) fail; the list grows with each refusal.

    The first of them, as many as `after` says, go through.
    """
    refused: list[str] = []
    left = after

    def answer(request: AWSPreparedRequest, **_rest: Any) -> AWSResponse | None:
        nonlocal left
        if left > 0:
            left -= 1
            return None
        if times is not None and len(refused) >= times:
            return None
        refused.append(code)
        return _answer(request, status, {"__type": code, "message": "a fault of the test"})

    client.meta.events.register_first("before-send", answer)
    return refused


def script(client: Any, *bodies: dict[str, Any]) -> None:
    """Answer the next calls of the client with these bodies instead of moto's."""
    left = list(bodies)

    def answer(request: AWSPreparedRequest, **_rest: Any) -> AWSResponse | None:
        return _answer(request, 200, left.pop(0)) if left else None

    client.meta.events.register_first("before-send", answer)


def _answer(request: AWSPreparedRequest, status: int, body: dict[str, Any]) -> AWSResponse:
    request.headers[_ANSWERED] = "yes"
    return AWSResponse(str(request.url), status, HTTPHeaders(), _Raw(orjson.dumps(body)))


class _Raw:
    """The part of urllib3's response that botocore reads."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_options: Any) -> Iterator[bytes]:
        yield self._body
