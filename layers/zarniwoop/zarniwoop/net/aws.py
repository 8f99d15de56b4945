"""AWS's services as providers: one call by boto3, within the deadline, with the function's role instead of a key.

API: https://boto3.amazonaws.com/v1/documentation/api/latest/guide/error-handling.html
Quirks: boto3 bounds connecting and reading by timeouts of its client's, so there is a client for each of a few lengths
of time; what boto3 does not know its client has no method for, and the boto3 of a Lambda runtime may be months old;
its parser raises errors outside of botocore's tree. Its own exceptions may quote the question: ours are raised after
their `except` has ended, so that none of them is kept as a context.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    EndpointMisconfigured,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.transport import AwsCall, HttpAnswer
from zarniwoop.net.aws_grants import ResourceGrants
from zarniwoop.text.retry_after import stated_wait
from zarniwoop.wire.reading import MISREAD
from zarniwoop.wire.status import failure_of

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError

AwsClients = Callable[[str, str | None, float], Any]
"""A client for a service in a region (None: the stack's own) that waits so many seconds for an answer."""

_ALLOWANCES = (20.0, 12.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.5, 1.0, 0.5)
"""Seconds: each is a client, which takes memory and time to make."""
_SLOW_DOWN = "AWS says slow down"
_NOT_ALLOWED = "the stack's role may not make this call"
_NOT_ACCEPTED = "AWS does not accept the function's credentials"
_FAILURES: Mapping[str, tuple[type[ProviderError], str]] = {
    "ThrottlingException": (RateLimited, _SLOW_DOWN),
    "Throttling": (RateLimited, _SLOW_DOWN),
    "TooManyRequestsException": (RateLimited, _SLOW_DOWN),
    "RequestLimitExceeded": (RateLimited, _SLOW_DOWN),
    "ServiceQuotaExceededException": (RateLimited, "the account's quota of this service is used up"),
    "AccessDeniedException": (AccessRefused, _NOT_ALLOWED),
    "AccessDenied": (AccessRefused, _NOT_ALLOWED),
    "UnrecognizedClientException": (AccessRefused, _NOT_ACCEPTED),
    "InvalidSignatureException": (AccessRefused, _NOT_ACCEPTED),
    "IncompleteSignatureException": (AccessRefused, _NOT_ACCEPTED),
    "MissingAuthenticationTokenException": (AccessRefused, _NOT_ACCEPTED),
    "ExpiredTokenException": (AccessRefused, _NOT_ACCEPTED),
    "ValidationException": (QueryRejected, "the service rejects this query"),
    "ConflictException": (ProviderUnavailable, "the service is being changed"),
    "DependencyFailedException": (ProviderUnavailable, "what the service depends on failed"),
}
"""No failure puts a key at fault: there is none, and what is wrong with a role is mended outside of the settings."""

_NOT_THERE = "ResourceNotFoundException"


class BotoCaller:
    """`contract.transport.AwsCaller` over boto3."""

    def __init__(self, clients: AwsClients, clock: Clock, grants: ResourceGrants, *, connect_seconds: float) -> None:
        self._clients = clients
        self._clock = clock
        self._grants = grants
        self._connect_seconds = connect_seconds

    def call(self, call: AwsCall, *, tenant_id: str, deadline: Deadline) -> Mapping[str, Any]:
        if not self._grants.allow(tenant_id, call.resource):
            raise EndpointMisconfigured(
                call.resource_setting, "the stack's parameters do not give it to this tenant", cause=Cause.CONNECT
            )
        answer = self._answer(call, deadline)
        if isinstance(answer, ProviderError):
            raise answer
        return {name: value for name, value in answer.items() if name != "ResponseMetadata"}

    def _answer(self, call: AwsCall, deadline: Deadline) -> Mapping[str, Any] | ProviderError:
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        seconds = self._allowance(deadline)
        try:
            ask = _operation(self._clients(call.service, call.region, seconds), call.operation)
        except BotoCoreError as error:  # no region, no such service
            return _unsent(error)
        if ask is None:
            return EndpointMisconfigured(
                "protocol", f"this Python's boto3 is too old to know {call.operation}", cause=Cause.CONNECT
            )
        try:
            answer: Mapping[str, Any] = ask(**call.parameters)
        except ClientError as error:
            return _refusal(error, call, self._clock.now())
        except BotoCoreError as error:
            return _unsent(error)
        except (ResponseParserError, RuntimeError, *MISREAD):  # its parser raises all of them, the second for dates
            return MalformedAnswer("the answer does not have the documented shape", cause=Cause.SHAPE)
        return answer

    def _allowance(self, deadline: Deadline) -> float:
        """What may be waited for an answer once there is a connection. Raises ProviderUnavailable."""
        room = deadline.remaining() - self._connect_seconds
        for seconds in _ALLOWANCES:
            if seconds <= room:
                return seconds
        raise ProviderUnavailable("there is no time left", cause=Cause.DEADLINE)


def _operation(client: Any, name: str) -> Callable[..., Any] | None:
    """The client's method for an operation; None where its boto3 does not know it."""
    methods: Mapping[str, str] = {operation: method for method, operation in client.meta.method_to_api_mapping.items()}
    return getattr(client, methods[name]) if name in methods else None


def _refusal(error: "ClientError", call: AwsCall, now: float) -> ProviderError:
    code = error.response.get("Error", {}).get("Code", "")
    answered = error.response.get("ResponseMetadata", {})
    status, headers = answered.get("HTTPStatusCode", 500), answered.get("HTTPHeaders", {})
    wait = stated_wait(headers, now)
    if code == _NOT_THERE:
        return EndpointMisconfigured(call.resource_setting, "AWS knows no such thing", status=status)
    if code in _FAILURES:
        failure, message = _FAILURES[code]
        return failure(message, cause=Cause.STATUS, status=status, retry_after=wait)
    by_status = failure_of(HttpAnswer(status=status, headers=headers, body=b"", url=""), now, keyed=False)
    return by_status or ProviderUnavailable("the service cannot answer", cause=Cause.STATUS, status=status)


def _unsent(error: "BotoCoreError") -> ProviderError:
    from botocore import exceptions

    if isinstance(error, exceptions.ParamValidationError):
        return QueryRejected("the service's model does not allow this query", cause=Cause.CONNECT)
    if isinstance(error, exceptions.NoRegionError):
        return EndpointMisconfigured("region", "no region is known", cause=Cause.CONNECT)
    if isinstance(error, (exceptions.NoCredentialsError, exceptions.CredentialRetrievalError)):
        return AccessRefused("there are no AWS credentials", cause=Cause.CONNECT)
    if isinstance(error, exceptions.ReadTimeoutError):
        return ProviderUnavailable("the service did not answer in time", cause=Cause.TIMEOUT)
    if isinstance(error, exceptions.ConnectionClosedError):
        return ProviderUnavailable("the connection broke", cause=Cause.RESET)
    return ProviderUnavailable("the service could not be asked", cause=Cause.CONNECT)
