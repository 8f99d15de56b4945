"""The functions of this stack's tools, asked over Lambda by whoever holds nothing else.

API: https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
Quirk: a function that fails answers 200 with the header `X-Amz-Function-Error`, and what it sent then is its traceback.
Each client makes one attempt, because a search is not paid for twice unseen, and waits for as long as its answer may
take.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from zarniwoop.contract.failure import ZarniwoopError

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError

LambdaClients = Callable[[float], Any]
"""A client that waits so many seconds for an answer."""

ALLOWANCES = (25.0, 20.0, 15.0, 10.0, 7.0, 5.0, 3.0)
"""Seconds: each is a client, which takes memory and time to make."""
CONNECT_SECONDS = 1.0


def longest_within(room: float, allowances: Sequence[float]) -> float | None:
    """Of these, what may be waited for an answer once there is a connection."""
    return next((seconds for seconds in allowances if seconds <= room - CONNECT_SECONDS), None)


class FunctionFault(StrEnum):
    """Why a function has not answered."""

    THROTTLED = "throttled"
    OUT_OF_TIME = "out_of_time"
    NOT_CONFIGURED = "not_configured"
    FAILED = "failed"
    TOO_LARGE = "too_large"


class FunctionUnavailable(ZarniwoopError):  # noqa: N818 - named by its consequence, as in `contract.failure`
    """A function did not answer, or not with what can be read. It may have done its work all the same."""

    def __init__(self, fault: FunctionFault) -> None:
        super().__init__(f"the function could not be asked: {fault.value}")
        self.fault = fault


class ToolFunctions(Protocol):
    """Tools by their names; each answers with the bytes of an envelope."""

    def ask(self, tool: str, message: bytes, *, allowance: float, most_bytes: int) -> bytes:
        """Raises FunctionUnavailable."""
        ...


class LambdaToolFunctions:
    """`ToolFunctions` over the functions that each tool has by this mapping."""

    def __init__(self, clients: LambdaClients, functions: Mapping[str, str]) -> None:
        self._clients = clients
        self._functions = functions

    def ask(self, tool: str, message: bytes, *, allowance: float, most_bytes: int) -> bytes:
        """Of an answer that is too large no more is read than tells so, and its connection is not used again."""
        if tool not in self._functions:
            raise FunctionUnavailable(FunctionFault.NOT_CONFIGURED)
        failed, sent = invoked(self._clients(allowance), self._functions[tool], message, most_bytes=most_bytes)
        if failed is not None:
            raise FunctionUnavailable(failed)
        return sent


def invoked(
    client: Any, function: str, message: bytes, *, most_bytes: int | None = None
) -> tuple[FunctionFault | None, bytes]:
    """What the function answered, or why it did not: told, not raised, so that no error quotes the question."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        answer = client.invoke(FunctionName=function, InvocationType="RequestResponse", Payload=message)
        sent: bytes = answer["Payload"].read(None if most_bytes is None else most_bytes + 1)
    except ClientError as error:
        return _refused(error), b""
    except BotoCoreError as error:
        return _unsent(error), b""
    if "FunctionError" in answer:
        return FunctionFault.FAILED, b""
    if most_bytes is not None and len(sent) > most_bytes:
        answer["Payload"].close()
        return FunctionFault.TOO_LARGE, b""
    return None, sent


_FAULTS: Mapping[str, FunctionFault] = {
    "TooManyRequestsException": FunctionFault.THROTTLED,
    "EC2ThrottledException": FunctionFault.THROTTLED,
    "ThrottlingException": FunctionFault.THROTTLED,
    "ResourceNotFoundException": FunctionFault.NOT_CONFIGURED,
    "AccessDeniedException": FunctionFault.NOT_CONFIGURED,
}


def _refused(error: "ClientError") -> FunctionFault:
    return _FAULTS.get(error.response.get("Error", {}).get("Code", ""), FunctionFault.FAILED)


def _unsent(error: "BotoCoreError") -> FunctionFault:
    from botocore import exceptions

    slow = (exceptions.ReadTimeoutError, exceptions.ConnectTimeoutError)
    return FunctionFault.OUT_OF_TIME if isinstance(error, slow) else FunctionFault.FAILED
