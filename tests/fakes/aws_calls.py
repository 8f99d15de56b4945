"""AWS's services answered by a transport: real boto3 clients whose requests go to it just before they would be sent.

So a script or a fixture is what stands on the wire, and what an adapter gets has passed botocore's own serializer,
signature, parser and errors.
"""

import threading
from collections.abc import Mapping
from typing import Any, cast

import boto3
import orjson
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from moto.core.models import botocore_stubber

from tests.fakes.clock import FakeClock
from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.transport import AwsCall, HttpRequest, Transport
from zarniwoop.net.aws import BotoCaller
from zarniwoop.net.aws_grants import ResourceGrants

EVERYBODY = ResourceGrants.parse("*=ABCDEFGHIJ")
_CREDENTIALS = {"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "example"}
_SENDING = threading.local()


class _Body:
    """The body of an answer as urllib3 would stream it."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, *_arguments: object, **_options: object) -> list[bytes]:
        return [self._body]


def _send(request: Any, **_more: object) -> AWSResponse:
    asked = HttpRequest(url=request.url, method=request.method, json=orjson.loads(request.body or b"null"))
    answer = _SENDING.transport.send(asked, deadline=_SENDING.deadline)
    return AWSResponse(request.url, answer.status, cast(Any, dict(answer.headers)), _Body(answer.body))


_CLIENTS: dict[tuple[str, str], Any] = {}
"""Made once: a service's model takes longer to parse than a test takes to run."""


def _client(service: str, region: str | None, _seconds: float) -> Any:
    key = (service, region or "eu-central-1")
    if key not in _CLIENTS:
        config = Config(retries={"total_max_attempts": 1})
        made: Any = boto3.client(service, region_name=key[1], config=config, **_CREDENTIALS)  # type: ignore[call-overload]
        made.meta.events.unregister("before-send", botocore_stubber)  # a mocked account would answer, too
        made.meta.events.register("before-send", cast(Any, _send))
        _CLIENTS[key] = made
    return _CLIENTS[key]


class AwsOverTransport:
    """`contract.transport.AwsCaller` as the product has it, its requests handed to a transport."""

    def __init__(self, transport: Transport, clock: Clock | None = None, grants: ResourceGrants = EVERYBODY) -> None:
        self._transport = transport
        self._caller = BotoCaller(_client, clock or FakeClock(), grants, connect_seconds=1.0)
        self.calls: list[AwsCall] = []

    def call(self, call: AwsCall, *, tenant_id: str, deadline: Deadline) -> Mapping[str, Any]:
        self.calls.append(call)
        _SENDING.transport, _SENDING.deadline = self._transport, deadline
        return self._caller.call(call, tenant_id=tenant_id, deadline=deadline)
