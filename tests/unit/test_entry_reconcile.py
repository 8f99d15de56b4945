"""Every run ends: what becomes of runs whose deadline has passed."""

from dataclasses import replace
from typing import Any

import pytest

from tests.contract.test_run_store import run_id
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.executions import STATE_MACHINE
from tests.fakes.functions import sample
from zarniwoop.entry.reconcile import reconcile_runs
from zarniwoop.stores.executions import Execution, ExecutionStatus, execution_arn
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Ending, Run, RunState
from zarniwoop.stores.state import ProjectKey

DEMO = ProjectKey(tenant_id="acme", project_id="demo")
OTHER = ProjectKey(tenant_id="other", project_id="demo")


def _overdue(environment: FakeEnvironment, second: float = 0.0, project: ProjectKey = DEMO) -> Run:
    now = environment.clock.now()
    return environment.fake_runs.create(
        Run(
            run_id=run_id(second),
            project=project,
            tool="research_investigate",
            created_at=now - 400,
            updated_at=now - 400,
            deadline_at=now - 40 + second,
            expires_at=now + 86_400,
            execution_arn=execution_arn(STATE_MACHINE, run_id(second)),
        )
    )


def _stands(environment: FakeEnvironment, run: Run, status: ExecutionStatus, **output: Any) -> None:
    environment.fake_executions.standing[run.execution_arn] = Execution(status=status, output=output)


def _reconcile(environment: FakeEnvironment, remaining_ms: int = 25_000) -> dict[str, int]:
    handler = reconcile_runs(environment=lambda: environment)
    return handler(sample("reconcile_runs"), LambdaContext(remaining_ms=remaining_ms))


def _ended(environment: FakeEnvironment, run: Run) -> tuple[RunState, str | None, str | None]:
    found = environment.fake_runs.get(run.project, run.run_id)
    assert found is not None
    return found.state, found.outcome, found.error


@pytest.mark.parametrize(
    ("status", "output", "ended"),
    [
        (ExecutionStatus.SUCCEEDED, {"outcome": "empty"}, (RunState.SUCCEEDED, "empty", None)),
        (ExecutionStatus.SUCCEEDED, {"outcome": ["x"]}, (RunState.SUCCEEDED, None, None)),
        (ExecutionStatus.FAILED, {}, (RunState.FAILED, None, "execution_failed")),
        (ExecutionStatus.PENDING_REDRIVE, {}, (RunState.FAILED, None, "execution_failed")),
        (ExecutionStatus.TIMED_OUT, {}, (RunState.TIMED_OUT, None, "execution_timed_out")),
        (ExecutionStatus.ABORTED, {}, (RunState.STOPPED, None, "execution_aborted")),
        (ExecutionStatus.RUNNING, {}, (RunState.TIMED_OUT, None, "overdue")),
        (None, {}, (RunState.FAILED, None, "execution_gone")),
    ],
)
def test_an_overdue_run_ends_as_its_execution_did(
    status: ExecutionStatus | None, output: dict[str, Any], ended: tuple[RunState, str | None, str | None]
) -> None:
    """One whose execution is gone has failed; one still at work is broken off."""
    environment = FakeEnvironment()
    run = _overdue(environment)
    if status is not None:
        _stands(environment, run, status, **output)
    assert _reconcile(environment) == {ended[0].value: 1}
    assert _ended(environment, run) == ended
    assert environment.fake_executions.stopped == ([run.execution_arn] if status is ExecutionStatus.RUNNING else [])
    assert _reconcile(environment) == {}


@pytest.mark.parametrize("status", [*ExecutionStatus, None])
def test_a_run_that_was_asked_to_stop_has_stopped(status: ExecutionStatus | None) -> None:
    """However its execution came to its end."""
    environment = FakeEnvironment()
    run = _overdue(environment)
    environment.fake_runs.request_stop(run.project, run.run_id)
    if status is not None:
        _stands(environment, run, status)
    assert _reconcile(environment) == {"stopped": 1}


def test_runs_within_their_time_and_ended_ones_are_left_alone() -> None:
    """Nobody is asked about them."""
    environment = FakeEnvironment()
    run = _overdue(environment)
    environment.fake_runs.finish(run.project, run.run_id, Ending(state=RunState.SUCCEEDED))
    environment.fake_runs.create(
        replace(run, run_id=run_id(1), deadline_at=environment.clock.now() + 1, ended_at=None, ended_as=None)
    )
    assert _reconcile(environment) == {}
    assert environment.fake_executions.calls["describe"] == 0


def test_a_run_that_ends_in_the_same_moment_keeps_its_own_ending() -> None:
    """Its last step wrote while the reconciler looked."""
    environment = FakeEnvironment()
    run = _overdue(environment)
    describe = environment.fake_executions.describe

    def look(execution_arn: str) -> Execution | None:
        environment.fake_runs.finish(run.project, run.run_id, Ending(state=RunState.SUCCEEDED, outcome="success"))
        return describe(execution_arn)

    environment.fake_executions.describe = look  # type: ignore[method-assign]
    assert _reconcile(environment) == {"ended_before": 1}
    assert _ended(environment, run) == (RunState.SUCCEEDED, "success", None)


def test_one_run_that_cannot_be_ended_does_not_keep_the_others_open(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and tried again at the next tick; runs of all tenants are looked after."""
    environment = FakeEnvironment()
    stuck, other = _overdue(environment), _overdue(environment, 1.0, OTHER)
    describe = environment.fake_executions.describe

    def look(execution_arn: str) -> Execution | None:
        if execution_arn == stuck.execution_arn:
            raise StoreUnavailable("Step Functions refused a look: ThrottlingException")
        return describe(execution_arn)

    environment.fake_executions.describe = look  # type: ignore[method-assign]
    assert _reconcile(environment) == {"left": 1, "failed": 1}
    assert _ended(environment, other)[0] is RunState.FAILED
    assert "a run was left" in caplog.messages
    environment.fake_executions.describe = describe  # type: ignore[method-assign]
    assert _reconcile(environment) == {"failed": 1}


def test_with_little_time_left_the_rest_is_left_for_the_next_tick() -> None:
    """Rather than cut off in the middle."""
    environment = FakeEnvironment()
    _overdue(environment)
    assert _reconcile(environment, remaining_ms=2_000) == {"left": 1}
    assert environment.fake_executions.calls["describe"] == 0


def test_a_table_that_is_away_fails_the_tick() -> None:
    """So that its alarm sees it."""
    environment = FakeEnvironment()
    environment.fake_runs.fail_with = StoreUnavailable("throttled")
    with pytest.raises(StoreUnavailable):
        _reconcile(environment)
