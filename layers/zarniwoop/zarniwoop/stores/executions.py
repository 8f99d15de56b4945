"""Executions of the state machines: started once per name, looked at, broken off.

API: https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
Quirk: a name is used once. The same name with the same input is answered like the first time, with another input it is
`ExecutionAlreadyExists`; for a run, whose id is the name, both mean that it is under way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import orjson

from zarniwoop.stores.failure import StoreUnavailable

_SERVER_FAULT = 500


class ExecutionStatus(StrEnum):
    """Step Functions' own words."""

    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    ABORTED = "ABORTED"
    PENDING_REDRIVE = "PENDING_REDRIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How an execution stands; `output` is what a succeeded one returned, where that is an object."""

    status: ExecutionStatus
    output: Mapping[str, Any]


class StartRefused(StoreUnavailable):
    """Step Functions said no, so nothing has been started; after any other failure something may have been."""


class Executions(Protocol):
    """Every method raises StoreUnavailable when Step Functions does not answer."""

    def start(self, state_machine_arn: str, name: str, given: Mapping[str, Any], trace_header: str | None) -> None:
        """Start it, unless it was started before. Raises StartRefused when it certainly was not."""
        ...

    def describe(self, execution_arn: str) -> Execution | None:
        """How it stands, or None when there is none (any more)."""
        ...

    def stop(self, execution_arn: str, cause: str) -> None:
        """Break it off; one that is over stays as it is."""
        ...


def execution_arn(state_machine_arn: str, name: str) -> str:
    """Known before the execution is started: the ARN of the machine, of another kind, and the name."""
    return f"{state_machine_arn.replace(':stateMachine:', ':execution:', 1)}:{name}"


class StepFunctionsExecutions:
    """`Executions` by a boto3 client."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def start(self, state_machine_arn: str, name: str, given: Mapping[str, Any], trace_header: str | None) -> None:
        asked = {"stateMachineArn": state_machine_arn, "name": name, "input": orjson.dumps(given).decode()}
        if trace_header:
            asked["traceHeader"] = trace_header
        try:
            self._call("start_execution", asked)
        except _RefusedError as refusal:
            if refusal.code == "ExecutionAlreadyExists":
                return
            if refusal.status >= _SERVER_FAULT:
                raise StoreUnavailable(f"Step Functions failed: {refusal.code}") from refusal
            raise StartRefused(f"Step Functions refused a start: {refusal.code}") from refusal

    def describe(self, execution_arn: str) -> Execution | None:
        try:
            answer = self._call("describe_execution", {"executionArn": execution_arn})
        except _RefusedError as refusal:
            if refusal.code == "ExecutionDoesNotExist":
                return None
            raise StoreUnavailable(f"Step Functions refused a look: {refusal.code}") from refusal
        try:
            status = ExecutionStatus(answer["status"])
        except ValueError:
            raise StoreUnavailable("Step Functions told a status that is not known here") from None
        return Execution(status=status, output=_object(answer.get("output")))

    def stop(self, execution_arn: str, cause: str) -> None:
        try:
            self._call("stop_execution", {"executionArn": execution_arn, "cause": cause})
        except _RefusedError as refusal:
            if refusal.code != "ExecutionDoesNotExist":
                raise StoreUnavailable(f"Step Functions refused a stop: {refusal.code}") from refusal

    def _call(self, operation: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer: Mapping[str, Any] = getattr(self._client, operation)(**asked)
        except ClientError as error:
            raise _RefusedError(error.response) from error
        except BotoCoreError as error:
            raise StoreUnavailable(f"Step Functions could not be asked: {type(error).__name__}") from error
        return answer


class _RefusedError(Exception):
    """An answer that is an error: Step Functions' code for it, and the status line."""

    def __init__(self, response: Mapping[str, Any]) -> None:
        self.code = str(response.get("Error", {}).get("Code", "unknown"))
        self.status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400))
        super().__init__(self.code)


def _object(output: str | None) -> Mapping[str, Any]:
    try:
        parsed = orjson.loads(output or "{}")
    except orjson.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
