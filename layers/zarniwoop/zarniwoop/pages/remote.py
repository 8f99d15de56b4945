"""The fetching function, asked over Lambda by whoever has no sockets to strangers.

API: https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
Quirk: a function that fails answers 200 with the header `X-Amz-Function-Error`, and what it sent then is its traceback.
boto3 would ask again by itself, and the stranger's host be asked twice: each client here makes one attempt, and waits
for as long as the answer may take.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import FetcherFault, FetcherUnavailable, PageAnswer, PageQuestion
from zarniwoop.pages.answering import is_answer_to
from zarniwoop.pages.page_form import NotTheFormError, answer_of, question_form

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError

LambdaClients = Callable[[float], Any]
"""A client that waits so many seconds for an answer."""

_ALLOWANCES = (90.0, 60.0, 40.0, 27.0, 20.0, 15.0, 10.0, 7.0, 5.0, 3.0, 2.0)
"""Seconds: each is a client, which takes memory and time to make."""
_CONNECT_SECONDS = 1.0
_ON_THE_WAY = 1.0
"""Of what may be waited, so much is for starting the function and carrying its answer."""
_FAULTS: Mapping[str, FetcherFault] = {
    "TooManyRequestsException": FetcherFault.THROTTLED,
    "EC2ThrottledException": FetcherFault.THROTTLED,
    "ThrottlingException": FetcherFault.THROTTLED,
    "ResourceNotFoundException": FetcherFault.NOT_CONFIGURED,
    "AccessDeniedException": FetcherFault.NOT_CONFIGURED,
}


class RemoteFetcher:
    """`contract.page.PageFetcher` over the function of this name."""

    def __init__(self, clients: LambdaClients, function_name: str) -> None:
        self._clients = clients
        self._function_name = function_name

    def fetch(self, question: PageQuestion, *, deadline: Deadline) -> PageAnswer:
        allowance = _allowance(deadline)
        seconds = min(question.seconds, allowance - _ON_THE_WAY)
        fault, payload = self._invoked(question_form(replace(question, seconds=seconds)), allowance)
        if fault is None:
            try:
                answer = answer_of(payload)
            except NotTheFormError:
                fault = FetcherFault.FAILED
            else:
                if is_answer_to(answer, question):
                    return answer
                fault = FetcherFault.FAILED
        raise FetcherUnavailable(fault)

    def _invoked(self, payload: bytes, allowance: float) -> tuple[FetcherFault | None, bytes]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._clients(allowance).invoke(
                FunctionName=self._function_name, InvocationType="RequestResponse", Payload=payload
            )
            sent = answer["Payload"].read()
        except ClientError as error:
            return _refused(error), b""
        except BotoCoreError as error:
            return _unsent(error), b""
        return (FetcherFault.FAILED if "FunctionError" in answer else None), sent


def _allowance(deadline: Deadline) -> float:
    """What may be waited for an answer once there is a connection. Raises FetcherUnavailable."""
    room = deadline.remaining() - _CONNECT_SECONDS
    for seconds in _ALLOWANCES:
        if seconds <= room:
            return seconds
    raise FetcherUnavailable(FetcherFault.OUT_OF_TIME)


def _refused(error: "ClientError") -> FetcherFault:
    return _FAULTS.get(error.response.get("Error", {}).get("Code", ""), FetcherFault.FAILED)


def _unsent(error: "BotoCoreError") -> FetcherFault:
    from botocore import exceptions

    slow = (exceptions.ReadTimeoutError, exceptions.ConnectTimeoutError)
    return FetcherFault.OUT_OF_TIME if isinstance(error, slow) else FetcherFault.FAILED
