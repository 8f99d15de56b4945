"""Executions in memory: a name starts one, and the test says how it stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.outage import Outage
from zarniwoop.stores.executions import Execution, ExecutionStatus, execution_arn

STATE_MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:investigate"


@dataclass(frozen=True)
class Started:
    """One execution as it was asked for."""

    state_machine_arn: str
    name: str
    given: Mapping[str, Any]
    trace_header: str | None


@dataclass
class FakeExecutions(Outage):
    """`stores.executions.Executions`; `started` by ARN, `standing` how they stand, `stopped` what was broken off."""

    started: dict[str, Started] = field(default_factory=dict)
    standing: dict[str, Execution] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def start(self, state_machine_arn: str, name: str, given: Mapping[str, Any], trace_header: str | None) -> None:
        with self._lock:
            self._called("start")
            arn = execution_arn(state_machine_arn, name)
            self.started.setdefault(arn, Started(state_machine_arn, name, given, trace_header))
            self.standing.setdefault(arn, Execution(status=ExecutionStatus.RUNNING, output={}))

    def describe(self, execution_arn: str) -> Execution | None:
        with self._lock:
            self._called("describe")
            return self.standing.get(execution_arn)

    def stop(self, execution_arn: str, cause: str) -> None:
        with self._lock:
            self._called("stop")
            self.stopped.append(execution_arn)
            if execution_arn in self.standing:
                self.standing[execution_arn] = Execution(status=ExecutionStatus.ABORTED, output={})
