"""Every run ends: what becomes of runs whose deadline has passed."""

from dataclasses import replace
from functools import cached_property
from threading import Thread, current_thread, main_thread
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


def test_a_run_that_is_long_overdue_ends_without_its_executions_word() -> None:
    """A refusal may last for ever, and such runs come first at every tick; one that was asked to stop has stopped."""
    environment = FakeEnvironment()
    run, stopping = _overdue(environment), _overdue(environment, 1.0)
    environment.fake_runs.request_stop(DEMO, stopping.run_id)
    environment.fake_executions.fail_with = StoreUnavailable("Step Functions refused a look: AccessDeniedException")
    environment.hands.advance(15 * 60 - 40 - 1)
    assert _reconcile(environment) == {"left": 2}
    environment.hands.advance(2)
    assert _reconcile(environment) == {"failed": 1, "stopped": 1}
    assert _ended(environment, run) == (RunState.FAILED, None, "execution_unknown")


def test_a_run_that_is_long_overdue_still_ends_as_its_execution_did_where_that_is_known() -> None:
    """The schedule may have been away for an hour."""
    environment = FakeEnvironment()
    run = _overdue(environment)
    _stands(environment, run, ExecutionStatus.SUCCEEDED, outcome="success")
    environment.hands.advance(3_600)
    assert _reconcile(environment) == {"succeeded": 1}


def test_one_odd_run_does_not_break_the_tick_off(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever it raises; the log names the kind and nothing of its text."""
    environment = FakeEnvironment()
    odd = _overdue(environment)
    _overdue(environment, 1.0)
    describe = environment.fake_executions.describe

    def look(execution_arn: str) -> Execution | None:
        if execution_arn == odd.execution_arn:
            raise AttributeError("cathedral bells")
        return describe(execution_arn)

    environment.fake_executions.describe = look  # type: ignore[method-assign]
    assert _reconcile(environment) == {"left": 1, "failed": 1}
    (logged,) = [record for record in caplog.records if record.message == "a run was left"]
    assert vars(logged)["error"] == "AttributeError"
    assert "cathedral" not in caplog.text


def test_what_was_counted_is_written_out_run_by_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lambda may cut the tick off, and with it everything that is counted and not written."""
    environment = FakeEnvironment()
    for second in (0.0, 1.0):
        _overdue(environment, second)
    written: list[int] = []
    monkeypatch.setattr(environment, "write_metrics", lambda: written.append(len(environment.metrics.drain())))
    assert _reconcile(environment) == {"failed": 2}
    assert (len(written), sum(written)) == (3, 4)


def test_whatever_the_runs_share_is_made_before_their_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python 3.12 on a cached property has no lock: two threads would make two clients of a session."""
    environment = FakeEnvironment()
    made = {}
    for name in ("executions", "run_files", "runs", "run_ends", "webhooks"):
        made[name] = _made_by(name, monkeypatch)
    _overdue(environment)
    _reconcile(environment)
    told = environment.fake_runs.create(replace(_overdue(environment, 2.0), run_id=run_id(3), webhook=True))
    environment.fake_runs.finish(DEMO, told.run_id, Ending(state=RunState.FAILED), tell_at=0.0)
    _reconcile(environment)
    threads = {name: [thread.name for thread in made_in] for name, made_in in made.items()}
    assert threads == {name: [main_thread().name] for name in made}


def _made_by(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Thread]:
    """The threads in which a part of the environment is made."""
    owner = next(each for each in FakeEnvironment.__mro__ if name in vars(each))
    make, threads = vars(owner)[name].func, []

    def watched(environment: FakeEnvironment) -> Any:
        threads.append(current_thread())
        return make(environment)

    part = cached_property(watched)
    part.__set_name__(owner, name)
    monkeypatch.setattr(owner, name, part)
    return threads


def test_with_little_time_left_the_rest_is_left_for_the_next_tick() -> None:
    """Rather than cut off in the middle."""
    environment = FakeEnvironment()
    _overdue(environment)
    assert _reconcile(environment, remaining_ms=14_000) == {"left": 1}
    assert environment.fake_executions.calls["describe"] == 0


def test_a_table_that_is_away_fails_the_tick() -> None:
    """So that its alarm sees it."""
    environment = FakeEnvironment()
    environment.fake_runs.fail_with = StoreUnavailable("throttled")
    with pytest.raises(StoreUnavailable):
        _reconcile(environment)
