"""The state machine of an investigation on moto's Step Functions, its tasks carried out by handlers in this process."""

import io
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils

from tests.fakes.aws import REGION, moto_account
from tests.fakes.cloud import LambdaContext
from tests.fakes.template import ROOT

DEFINITION = ROOT / "functions" / "research_investigate" / "research_investigate.asl.json"
STEPS_FUNCTION = f"arn:aws:lambda:{REGION}:123456789012:function:steps"
PATIENCE = 60.0

Handler = Callable[[Mapping[str, Any], Any], Any]


def definition() -> dict[str, Any]:
    """The definition as it is deployed, its function named."""
    text = DEFINITION.read_text(encoding="utf-8").replace("${InvestigateStepsFunctionArn}", STEPS_FUNCTION)
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def hurried(value: Any) -> Any:
    """The same definition, whose retries wait a second at most."""
    if isinstance(value, list):
        return [hurried(each) for each in value]
    if not isinstance(value, dict):
        return value
    quick = {"IntervalSeconds": 1, "BackoffRate": 1} if "BackoffRate" in value else {}
    return {**{name: hurried(each) for name, each in value.items()}, **quick}


class LambdaFailure(Exception):  # noqa: N818 - what it stands for
    """What a task is to fail with instead of being carried out, by the name that Step Functions sees."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


@dataclass
class LambdaOfTests:
    """The one call of Lambda's client that Step Functions makes; `invoked` are the payloads in the order they came."""

    handler: Handler
    invoked: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def invoke(self, *, FunctionName: str, Payload: bytes, **_rest: Any) -> dict[str, Any]:  # noqa: N803 - boto3's
        assert FunctionName == STEPS_FUNCTION
        given = json.loads(Payload)
        with self.lock:
            self.invoked.append(given)
        try:
            answer = self.handler(given, LambdaContext(remaining_ms=300_000))
        except Exception as error:  # noqa: BLE001 - as Lambda's runtime does it
            name = error.error if isinstance(error, LambdaFailure) else type(error).__name__
            told = {"errorType": name, "errorMessage": str(error)}
            return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(told).encode())}
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}

    def steps(self, name: str) -> list[dict[str, Any]]:
        return [each for each in self.invoked if each["step"] == name]


@dataclass
class Machine:
    """A state machine that is there; `end` waits for an execution."""

    client: Any
    arn: str
    functions: LambdaOfTests

    def start(self, name: str, given: Mapping[str, Any]) -> str:
        arn: str = self.client.start_execution(stateMachineArn=self.arn, name=name, input=json.dumps(given))[
            "executionArn"
        ]
        return arn

    def end(self, execution_arn: str) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            told: dict[str, Any] = self.client.describe_execution(executionArn=execution_arn)
            if told["status"] != "RUNNING":
                return told
            time.sleep(0.02)
        raise AssertionError("the execution did not end")

    def largest_state(self, execution_arn: str) -> int:
        """The bytes of the largest input or output in the execution's history."""
        events = self.client.get_execution_history(executionArn=execution_arn, maxResults=1000)["events"]
        told = [
            text
            for event in events
            for details in event.values()
            if isinstance(details, dict)
            for name in ("input", "output", "parameters")
            if isinstance(text := details.get(name), str)
        ]
        return max(len(text.encode()) for text in told)


@contextmanager
def state_machine(
    handler: Handler, monkeypatch: Any, change: Callable[[dict[str, Any]], Any] = hurried
) -> Iterator[Machine]:
    """The definition, changed as a test wants it, on moto, with the handler behind its tasks."""
    functions = LambdaOfTests(handler)
    monkeypatch.setattr(lambda_eval_utils, "boto_client_for", lambda **_rest: functions)
    with moto_account(config={"stepfunctions": {"execute_state_machine": True}}):
        client = boto3.client("stepfunctions", region_name=REGION)
        made = client.create_state_machine(
            name="investigate",
            definition=json.dumps(change(definition())),
            roleArn="arn:aws:iam::123456789012:role/states",
        )
        yield Machine(client, made["stateMachineArn"], functions)
