"""The end of a run, in one place: it is counted once, and told until it has been heard or for an hour."""

from typing import Any

import pytest

from tests.contract.test_run_store import run, run_id
from tests.fakes.environment import FakeEnvironment
from zarniwoop.contract.deadline import Deadline
from zarniwoop.observe.metrics import Metric
from zarniwoop.pipelines.run_end import EXECUTION_TELLS_SECONDS, TOLD_FOR_SECONDS
from zarniwoop.pipelines.webhook import WebhookUndelivered
from zarniwoop.stores.runs import Ending, Run, RunState

URL = "https://agents.example/hook"
STOPPED = Ending(state=RunState.STOPPED, error="project_stopped")


class Receiver:
    """Stands for the webhook's sender: raises its script, then delivers."""

    def __init__(self, *script: Exception) -> None:
        self.script = list(script)
        self.told: list[tuple[str, str, RunState]] = []

    def send(self, run: Run, url: str, _deadline: Any) -> None:
        if self.script:
            raise self.script.pop(0)
        self.told.append((run.run_id, url, run.state))


class World(FakeEnvironment):
    """One run that is under way, and whoever waits for its end."""

    def __init__(self, *script: Exception, url: str | None = URL) -> None:
        super().__init__()
        self.receiver = Receiver(*script)
        self.__dict__["webhooks"] = self.receiver
        created = run(created_at=self.clock.now() - 30, webhook=url is not None, expires_at=self.clock.now() + 86_400)
        self.run = self.fake_runs.create(created)
        self.address = url

    def standing(self) -> Run:
        found = self.fake_runs.get(self.run.project, self.run.run_id)
        assert found is not None
        return found

    def tell(self) -> bool:
        return self.run_ends.tell(self.standing(), self.address, Deadline.after(20, self.clock))

    def counted(self) -> list[tuple[Metric, float, dict[str, str]]]:
        return [(each.metric, each.value, dict(each.tags)) for each in self.metrics.drain()]


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        (Ending(state=RunState.SUCCEEDED, outcome="success", concluded=True), "success"),
        (Ending(state=RunState.SUCCEEDED, outcome="evaluate_failed", concluded=True), "evaluate_failed"),
        (Ending(state=RunState.SUCCEEDED, concluded=True), "succeeded"),
        (Ending(state=RunState.FAILED, outcome="plan_failed", concluded=True), "plan_failed"),
        (Ending(state=RunState.FAILED, outcome="plan_failed"), "failed"),
        (Ending(state=RunState.FAILED, outcome="success", error="step_failed"), "failed"),
        (Ending(state=RunState.STOPPED, outcome="success"), "stopped"),
        (Ending(state=RunState.STOPPED, outcome="plan_failed"), "stopped"),
        (Ending(state=RunState.TIMED_OUT, outcome="plan_failed", error="overdue"), "timed_out"),
    ],
)
def test_an_end_is_counted_once_with_the_time_since_the_runs_start(ending: Ending, outcome: str) -> None:
    """By the seed's outcome where the pipeline came to its end, else by the state; a second ending counts nothing."""
    world = World()
    assert world.run_ends.end(world.run, ending)
    assert not world.run_ends.end(world.run, STOPPED)
    assert world.counted() == [
        (Metric.CURATED_RUNS, 1, {"outcome": outcome}),
        (Metric.CURATED_DURATION, 30_000, {"outcome": outcome}),
    ]
    assert world.standing().state is ending.state


def test_an_end_is_told_once() -> None:
    """To the address that was left, with the state that the run ended in; asked again, nothing more is sent."""
    world = World()
    world.run_ends.end(world.run, STOPPED)
    assert world.tell()
    assert world.tell()
    assert world.receiver.told == [(run_id(), URL, RunState.STOPPED)]
    assert (world.standing().webhook_outcome, world.standing().tell_at) == ("delivered", None)


def test_a_run_that_nobody_waits_for_is_told_to_nobody() -> None:
    """Nor is it looked for."""
    world = World(url=None)
    world.run_ends.end(world.run, STOPPED)
    assert not world.tell()
    assert world.fake_runs.untold(world.clock.now() + 10_000) == ()


def test_an_execution_has_ten_minutes_to_tell_by_itself() -> None:
    """Every other end is to be told at once."""
    world = World()
    world.run_ends.end(world.run, STOPPED, told_by_execution=True)
    now = world.clock.now()
    assert world.fake_runs.untold(now + EXECUTION_TELLS_SECONDS - 1) == ()
    assert len(world.fake_runs.untold(now + EXECUTION_TELLS_SECONDS)) == 1
    another = World()
    another.run_ends.end(another.run, STOPPED)
    assert len(another.fake_runs.untold(another.clock.now())) == 1


def test_a_receiver_that_is_away_is_told_at_growing_intervals_for_an_hour() -> None:
    """Each pause is as long as all that went before; then it is written down that it was not delivered."""
    world = World(*(WebhookUndelivered("timeout", retryable=True) for _ in range(20)))
    world.run_ends.end(world.run, STOPPED)
    ended, tried = world.clock.now(), []
    while world.standing().tell_at is not None:
        world.hands.advance((world.standing().tell_at or 0) - world.clock.now())
        tried.append(world.clock.now() - ended)
        if tried[-1] < TOLD_FOR_SECONDS:
            with pytest.raises(WebhookUndelivered):
                world.tell()
        else:
            assert not world.tell()
    assert tried == [0, 60, 120, 240, 480, 960, 1_920, 3_840]
    assert (world.standing().webhook_outcome, world.receiver.told) == ("undelivered:timeout", [])


def test_attempts_of_the_execution_do_not_bring_the_reconcilers_forward() -> None:
    """Or both would tell at the same time."""
    world = World(WebhookUndelivered("status_503", retryable=True))
    world.run_ends.end(world.run, STOPPED, told_by_execution=True)
    with pytest.raises(WebhookUndelivered):
        world.tell()
    assert world.standing().tell_at == world.clock.now() + EXECUTION_TELLS_SECONDS


def test_a_receiver_that_refuses_is_not_told_again() -> None:
    """It has said so."""
    world = World(WebhookUndelivered("status_410", retryable=False))
    world.run_ends.end(world.run, STOPPED)
    assert not world.tell()
    assert (world.standing().webhook_outcome, world.standing().tell_at) == ("undelivered:status_410", None)


def test_an_address_that_is_gone_is_written_down() -> None:
    """The files of a run may lapse before its end is told."""
    world = World()
    world.address = None
    world.run_ends.end(world.run, STOPPED)
    assert not world.tell()
    assert (world.standing().webhook_outcome, world.standing().tell_at) == ("undelivered:no_address", None)
