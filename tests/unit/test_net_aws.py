"""boto3 as the way to AWS's services: time, errors, an old boto3, and who may name which resource."""

from typing import Any

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    ReadTimeoutError,
)

from tests.fakes.clock import FakeClock
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    EndpointMisconfigured,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
)
from zarniwoop.contract.transport import AwsCall
from zarniwoop.net.aws import BotoCaller
from zarniwoop.net.aws_grants import ResourceGrants
from zarniwoop.stores.clients import KeptClients, provider_client

CALL = AwsCall(service="bedrock-agentcore", operation="InvokeWebSearch", parameters={"searchQuery": "secret question"})


class _Meta:
    def __init__(self, *operations: tuple[str, str]) -> None:
        self.method_to_api_mapping = {method: operation for operation, method in operations}


class _Client:
    """A client with one operation, whose call goes wrong or is answered."""

    def __init__(self, outcome: Exception | dict[str, Any]) -> None:
        self.meta = _Meta(("InvokeWebSearch", "invoke_web_search"))
        self._outcome = outcome

    def invoke_web_search(self, **_parameters: object) -> dict[str, Any]:
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


class _Clients:
    """Hands out one client and remembers for how long it was to wait."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.seconds: list[float] = []

    def __call__(self, _service: str, _region: str | None, seconds: float) -> Any:
        self.seconds.append(seconds)
        if isinstance(self._client, Exception):
            raise self._client
        return self._client


def called(client: Any, seconds: float = 8.0, grants: str = "", call: AwsCall = CALL) -> tuple[Any, list[float]]:
    clients = _Clients(client)
    caller = BotoCaller(clients, FakeClock(), ResourceGrants.parse(grants), connect_seconds=1.0)
    return caller.call(call, tenant_id="acme", deadline=Deadline.after(seconds, FakeClock())), clients.seconds


def test_an_answer_comes_without_what_boto3_adds() -> None:
    answer, _ = called(_Client({"results": [], "ResponseMetadata": {"HTTPStatusCode": 200}}))
    assert answer == {"results": []}


@pytest.mark.parametrize(("remaining", "waits"), [(8.0, 6.0), (6.96, 5.0), (2.2, 1.0), (1.5, 0.5), (900.0, 20.0)])
def test_connecting_and_reading_together_stay_within_the_deadline(remaining: float, waits: float) -> None:
    """In few lengths, so that few clients serve all deadlines."""
    _, seconds = called(_Client({}), remaining)
    assert seconds == [waits]


def test_without_time_for_an_answer_nobody_is_asked() -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        called(_Client({}), 1.4)
    assert caught.value.cause is Cause.DEADLINE


@pytest.mark.parametrize(
    ("error", "failure", "cause"),
    [
        (ReadTimeoutError(endpoint_url="x"), ProviderUnavailable, Cause.TIMEOUT),
        (ConnectTimeoutError(endpoint_url="x"), ProviderUnavailable, Cause.CONNECT),
        (EndpointConnectionError(endpoint_url="x"), ProviderUnavailable, Cause.CONNECT),
        (ConnectionClosedError(endpoint_url="x"), ProviderUnavailable, Cause.RESET),
        (NoCredentialsError(), AccessRefused, Cause.CONNECT),
        (ParamValidationError(report="secret question"), QueryRejected, Cause.CONNECT),
    ],
)
def test_what_goes_wrong_on_the_way_is_typed_and_quotes_nothing(
    error: BotoCoreError, failure: type[ProviderError], cause: Cause
) -> None:
    """boto3's own error repeats the parameters, so it is not even kept as a context."""
    with pytest.raises(failure) as caught:
        called(_Client(error))
    assert caught.value.cause is cause
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_no_region_is_the_region_s_fault() -> None:
    with pytest.raises(EndpointMisconfigured) as caught:
        called(NoRegionError())
    assert caught.value.setting == "region"


def test_a_boto3_that_does_not_know_the_operation_says_so() -> None:
    """That of a Lambda runtime may be months old; a layer with a newer one mends it."""
    client = _Client({})
    client.meta = _Meta()
    with pytest.raises(EndpointMisconfigured, match="too old to know InvokeWebSearch"):
        called(client)


@pytest.mark.parametrize(
    ("grants", "allowed"),
    [("", False), ("acme=ABCDEFGHIJ", True), ("beta=ABCDEFGHIJ", False), ("*=ABCDEFGHIJ, beta=KLMNOPQRST", True)],
)
def test_a_resource_is_asked_for_those_tenants_that_it_was_given_to(grants: str, allowed: bool) -> None:
    """Nobody, as long as nothing is granted."""
    call = AwsCall(
        service="x",
        operation="InvokeWebSearch",
        parameters={},
        resource="ABCDEFGHIJ",
        resource_setting="knowledgeBaseId",
    )
    if allowed:
        assert called(_Client({}), grants=grants, call=call)[0] == {}
        return
    with pytest.raises(EndpointMisconfigured) as caught:
        called(_Client({}), grants=grants, call=call)
    assert (caught.value.setting, caught.value.reached_provider) == ("knowledgeBaseId", False)


@pytest.mark.parametrize("written", ["acme", "acme=short", "ACME=ABCDEFGHIJ", "=ABCDEFGHIJ", "acme=ABCDEFGHIJ;b=c"])
def test_grants_that_cannot_be_read_are_refused(written: str) -> None:
    with pytest.raises(ValueError, match="a grant is"):
        ResourceGrants.parse(written)


def test_clients_are_made_once_ask_once_and_know_the_web_search() -> None:
    """One attempt: the cascade is the retry."""
    made: list[tuple[str, str | None, float]] = []

    def make(service: str, region: str | None, seconds: float) -> Any:
        made.append((service, region, seconds))
        return provider_client(service, region, seconds)

    kept = KeptClients(make)
    client = kept("bedrock-agentcore", "eu-central-1", 6.5)
    assert kept("bedrock-agentcore", "eu-central-1", 6.5) is client
    assert made == [("bedrock-agentcore", "eu-central-1", 6.5)]
    assert client.meta.config.retries["total_max_attempts"] == 1
    assert (client.meta.config.connect_timeout, client.meta.config.read_timeout) == (1.0, 6.5)
    assert "invoke_web_search" in client.meta.method_to_api_mapping


def test_few_clients_are_kept() -> None:
    """Regions come out of settings, and a client takes megabytes."""
    made: list[int] = []

    def make(number: int) -> object:
        made.append(number)
        return object()

    kept = KeptClients(make)
    first = kept(0)
    assert [kept(number) for number in range(1, 17)]
    assert kept(16) is kept(16)
    assert kept(0) is not first
    assert made == [*range(17), 0]
