"""Runs that end otherwise than by their last step, on the deployed stack and under its roles."""

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from stack.running import Stack
from tests.e2e.investigations import Investigations, aws
from tests.e2e.project import caller
from tests.e2e.provider_journal import Providers

pytestmark = pytest.mark.e2e

NOBODY = "https://nobody.example.com/hook"
"""A public name that leads nowhere, as in any network: the webhook is tried, and it is written down that it failed."""
PATIENCE = 30.0
Given = dict[str, Any]
SLOW: Given = {"question": "graphene", "modalities": ["WEB", "ENCYCLOPEDIA"], "refine": False}


@pytest.fixture
def project(stack: Stack) -> Iterator[Investigations]:
    """One that nobody else uses."""
    project_id = f"p-{uuid.uuid4().hex[:8]}"
    with caller(stack, project_id) as api:
        yield Investigations(stack, api, project_id)


@pytest.fixture
def hanging_wikipedia(providers: Providers) -> None:
    providers.fault("wikipedia", "slow", delay_ms=5000)


def _reconciled(stack: Stack) -> dict[str, int]:
    told = aws(stack, "lambda").invoke(FunctionName=stack.outputs["ReconcileRunsFunctionName"], Payload=b"{}")
    assert "FunctionError" not in told, told["Payload"].read()
    done: dict[str, int] = json.loads(told["Payload"].read())
    return done


def _told_of(stack: Stack, asked: Investigations, run_id: str) -> str:
    """What became of the webhook, after the reconciler has looked often enough."""
    until = time.monotonic() + PATIENCE
    while (outcome := str(asked.get(run_id)["webhook"])) == "pending" and time.monotonic() < until:
        _reconciled(stack)
    return outcome


def _started_up(stack: Stack) -> None:
    """A first stop, of nobody's project: a function of the emulator takes seconds to start."""
    detail = json.dumps({"detail": {"tenant_id": "local", "project_id": "nobodys"}})
    told = aws(stack, "lambda").invoke(FunctionName=stack.outputs["ProjectStopFunctionName"], Payload=detail)
    assert "FunctionError" not in told, told["Payload"].read()


def _stop(stack: Stack, project_id: str) -> None:
    entry = {
        "EventBusName": stack.outputs["EventBusName"],
        "Source": "zarniwoop",
        "DetailType": "ProjectEnginesStopRequested",
        "Detail": json.dumps({"tenant_id": "local", "project_id": project_id}),
    }
    aws(stack, "events").put_events(Entries=[entry])


@pytest.mark.usefixtures("hanging_wikipedia")
def test_a_project_stop_ends_its_runs_and_keeps_what_they_found(stack: Stack, project: Investigations) -> None:
    """By event: the execution is broken off, the run is stopped with its partial result, its receiver is told."""
    _started_up(stack)
    run_id = project.start(**SLOW, webhook_url=NOBODY)
    while project.get(run_id)["progress"].get("search", {"done": 0})["done"] < 1:
        pass
    _stop(stack, project.project_id)
    report = project.end(run_id)
    assert (report["state"], report["error"]) == ("stopped", "project_stopped")
    assert report["results"]["hits"]
    machine = stack.outputs["InvestigateStateMachineArn"].replace(":stateMachine:", ":execution:")
    execution = aws(stack, "stepfunctions").describe_execution(executionArn=f"{machine}:{run_id}")
    assert execution["status"] == "ABORTED"
    assert _told_of(stack, project, run_id).startswith("undelivered:")


def test_a_run_whose_execution_died_is_ended_with_its_result_and_told(stack: Stack, project: Investigations) -> None:
    """By the reconciler, under its own role: deadline past, files read and written, webhook signed and tried."""
    run_id = project.start(**SLOW, webhook_url=NOBODY)
    machine = stack.outputs["InvestigateStateMachineArn"].replace(":stateMachine:", ":execution:")
    aws(stack, "stepfunctions").stop_execution(executionArn=f"{machine}:{run_id}", cause="test")
    key = {"pk": {"S": f"T#local#P#{project.project_id}"}, "sk": {"S": f"RUN#{run_id}"}}
    aws(stack, "dynamodb").update_item(
        TableName=stack.outputs["RunsTableName"],
        Key=key,
        UpdateExpression="SET deadline_at = :past",
        ExpressionAttributeValues={":past": {"N": "1"}},
    )
    _reconciled(stack)
    report = project.end(run_id)
    assert (report["state"], report["error"]) == ("stopped", "execution_aborted")
    assert report["results"] is not None
    assert _told_of(stack, project, run_id).startswith("undelivered:")
