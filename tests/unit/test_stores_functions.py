"""The functions of tools, asked over Lambda: one attempt, bounded, and every fault by its name."""

import io
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError
from botocore.response import StreamingBody

from tests.fakes.mcp import FakeLambdaClient
from zarniwoop.stores.clients import lambda_client
from zarniwoop.stores.functions import ALLOWANCES, FunctionFault, FunctionUnavailable, LambdaToolFunctions

SECRET = "the secret of the bells"


def _asked(answer: Any, tool: str = "web_fetch", most_bytes: int = 1_000) -> tuple[bytes, FakeLambdaClient]:
    client = FakeLambdaClient(lambda _name, _message: answer)
    functions = LambdaToolFunctions(client, {"web_fetch": "stack-web-fetch"})
    return functions.ask(tool, b'{"arguments": {}}', allowance=25.0, most_bytes=most_bytes), client


def test_a_tools_function_is_asked_by_its_name_and_waited_for() -> None:
    sent, client = _asked({"ok": True})
    assert sent == b'{"ok": true}'
    (asked,) = client.asked
    assert (asked["FunctionName"], asked["InvocationType"]) == ("stack-web-fetch", "RequestResponse")
    assert client.waited == [25.0]


def _refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": SECRET}}, "Invoke")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (_refusal("TooManyRequestsException"), FunctionFault.THROTTLED),
        (_refusal("EC2ThrottledException"), FunctionFault.THROTTLED),
        (_refusal("ResourceNotFoundException"), FunctionFault.NOT_CONFIGURED),
        (_refusal("AccessDeniedException"), FunctionFault.NOT_CONFIGURED),
        (_refusal("ServiceException"), FunctionFault.FAILED),
        (ReadTimeoutError(endpoint_url=SECRET), FunctionFault.OUT_OF_TIME),
        (ConnectTimeoutError(endpoint_url=SECRET), FunctionFault.OUT_OF_TIME),
        (EndpointConnectionError(endpoint_url=SECRET), FunctionFault.FAILED),
        ({"Payload": io.BytesIO(b"{}"), "FunctionError": "Unhandled"}, FunctionFault.FAILED),
        ({"Payload": io.BytesIO(b"x" * 1_001)}, FunctionFault.TOO_LARGE),
    ],
)
def test_every_way_of_not_being_answered_has_its_name(answer: Any, fault: FunctionFault) -> None:
    """And nothing of the library's words, which may quote the question, is kept in it."""
    with pytest.raises(FunctionUnavailable) as caught:
        _asked(answer)
    assert caught.value.fault is fault
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_tool_without_a_function_is_not_asked() -> None:
    with pytest.raises(FunctionUnavailable) as caught:
        _asked({}, tool="research_search")
    assert caught.value.fault is FunctionFault.NOT_CONFIGURED


def test_of_six_megabytes_no_more_is_read_than_tells_so() -> None:
    """And the connection is given up, because the rest is still in it."""
    raw = io.BytesIO(b"x" * 6_000_000)
    with pytest.raises(FunctionUnavailable):
        _asked({"Payload": StreamingBody(raw, 6_000_000)})
    assert raw.closed


def test_a_client_makes_one_attempt_and_waits_for_as_long_as_it_is_told() -> None:
    config = lambda_client(ALLOWANCES[0]).meta.config
    assert config.read_timeout == 25.0  # type: ignore[attr-defined]
    assert config.retries["total_max_attempts"] == 1  # type: ignore[attr-defined]
