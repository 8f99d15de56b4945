"""What every `Executions` promises, put to the one in memory and to Step Functions alike; and its refusals."""

from collections.abc import Iterator
from typing import Any

import boto3
import orjson
import pytest
from botocore.exceptions import ReadTimeoutError

from tests.fakes.aws import REGION, aws_in_process, refuse
from tests.fakes.executions import STATE_MACHINE, FakeExecutions
from zarniwoop.stores.clients import stepfunctions_client
from zarniwoop.stores.executions import (
    Executions,
    ExecutionStatus,
    StartRefused,
    StepFunctionsExecutions,
    execution_arn,
)
from zarniwoop.stores.failure import StoreUnavailable

ARN = execution_arn(STATE_MACHINE, "r-1")
GIVEN = {"run": {"run_id": "r-1"}}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with aws_in_process(monkeypatch):
        definition = {"StartAt": "Pass", "States": {"Pass": {"Type": "Pass", "End": True}}}
        boto3.client("stepfunctions", region_name=REGION).create_state_machine(
            name="investigate",
            definition=orjson.dumps(definition).decode(),
            roleArn="arn:aws:iam::123456789012:role/states",
        )
        yield stepfunctions_client()


@pytest.fixture(params=["memory", "stepfunctions"])
def executions(request: pytest.FixtureRequest) -> Executions:
    if request.param == "memory":
        return FakeExecutions()
    return StepFunctionsExecutions(request.getfixturevalue("client"))


def test_a_started_execution_is_where_its_name_says(executions: Executions) -> None:
    """The ARN is known before there is anything behind it."""
    assert executions.describe(ARN) is None
    executions.start(STATE_MACHINE, "r-1", GIVEN, None)
    found = executions.describe(ARN)
    assert found is not None
    assert (found.status, dict(found.output)) == (ExecutionStatus.RUNNING, {})


def test_a_name_starts_one_execution(executions: Executions) -> None:
    """With the same input or another one: the run is under way."""
    executions.start(STATE_MACHINE, "r-1", GIVEN, "Root=1-0-0")
    executions.start(STATE_MACHINE, "r-1", GIVEN, "Root=1-0-0")
    executions.start(STATE_MACHINE, "r-1", {}, None)
    assert executions.describe(ARN) is not None


def test_an_execution_can_be_broken_off(executions: Executions) -> None:
    """One that is not there needs no breaking."""
    executions.start(STATE_MACHINE, "r-1", GIVEN, None)
    executions.stop(ARN, "overdue")
    found = executions.describe(ARN)
    assert found is not None
    assert found.status is ExecutionStatus.ABORTED
    executions.stop(execution_arn(STATE_MACHINE, "r-2"), "overdue")


def test_a_refused_start_has_certainly_started_nothing(client: Any) -> None:
    """A missing machine, a throttled or a denied call."""
    executions = StepFunctionsExecutions(client)
    with pytest.raises(StartRefused, match="StateMachineDoesNotExist"):
        executions.start(STATE_MACHINE + "x", "r-1", GIVEN, None)
    refuse(client, "ThrottlingException", times=2)
    with pytest.raises(StartRefused, match="ThrottlingException"):
        executions.start(STATE_MACHINE, "r-1", GIVEN, None)


def test_a_failed_start_may_have_started_something(client: Any) -> None:
    """A fault over there, or an answer that never came."""
    executions = StepFunctionsExecutions(client)
    refuse(client, "InternalServerError", status=500, times=2)
    with pytest.raises(StoreUnavailable) as failed:
        executions.start(STATE_MACHINE, "r-1", GIVEN, None)
    assert not isinstance(failed.value, StartRefused)

    def hang(**_rest: Any) -> None:
        raise ReadTimeoutError(endpoint_url="https://secret.example")

    client.meta.events.register_first("before-send", hang)
    with pytest.raises(StoreUnavailable, match=r"^Step Functions could not be asked: ReadTimeoutError$"):
        executions.start(STATE_MACHINE, "r-1", GIVEN, None)


def test_a_look_or_a_stop_that_is_refused_is_unavailable(client: Any) -> None:
    """Denied is not gone: a run must not be ended for want of a permission."""
    executions = StepFunctionsExecutions(client)
    refuse(client, "AccessDeniedException")
    with pytest.raises(StoreUnavailable, match="AccessDeniedException"):
        executions.describe(ARN)
    with pytest.raises(StoreUnavailable, match="AccessDeniedException"):
        executions.stop(ARN, "overdue")


@pytest.mark.parametrize(
    ("output", "read"), [('{"outcome": "empty"}', {"outcome": "empty"}), ("[1]", {}), ("{", {}), (None, {})]
)
def test_what_an_execution_returned_is_an_object_or_nothing(output: str | None, read: dict[str, str]) -> None:
    """Whatever else it may be."""

    class Answering:
        def describe_execution(self, **_asked: Any) -> dict[str, Any]:
            return {"status": "SUCCEEDED", **({} if output is None else {"output": output})}

    found = StepFunctionsExecutions(Answering()).describe(ARN)
    assert found is not None
    assert (found.status, dict(found.output)) == (ExecutionStatus.SUCCEEDED, read)


def test_a_status_that_is_not_known_here_is_no_answer() -> None:
    """Step Functions may learn a new one."""

    class Answering:
        def describe_execution(self, **_asked: Any) -> dict[str, Any]:
            return {"status": "RECONSIDERED"}

    with pytest.raises(StoreUnavailable, match="status"):
        StepFunctionsExecutions(Answering()).describe(ARN)
