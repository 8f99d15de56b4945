"""Runs that their own steps do not end: closed with what they found, counted like any other, and told to who waits."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import sample
from tests.fakes.investigation import PROJECT, Investigation, hits
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import Unready
from zarniwoop.entry import many_runs
from zarniwoop.entry.project_stop import project_stop
from zarniwoop.entry.reconcile import reconcile_runs
from zarniwoop.pipelines.webhook import SIGNATURE_HEADER
from zarniwoop.stores.executions import Execution, ExecutionStatus, StartRefused
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Ending, Run, RunState
from zarniwoop.stores.state import ProjectKey

HOOK = "https://agents.example/hook"
KEY = "h" * 64
WEB: dict[str, Any] = {"modalities": [SearchModality.WEB], "refine": False}
BELLS = hits("Cathedral bells ring", "Bells of iron", host="alpha.com")
LAB = ProjectKey(tenant_id="acme", project_id="lab")


class World(Investigation):
    """Whoever waits for the end of a run gets what `receiver` has sent."""

    def __init__(self, *receiver_answers: Any) -> None:
        super().__init__({"alpha": [BELLS]})
        self.receiver = ScriptedTransport(*receiver_answers)
        self.__dict__["_strict_transport"] = self.receiver
        self.fake_parameters.put_secret("/zarniwoop/test/_stack/queryHashKey", KEY)

    def under_way(self, *, until: str = "evaluate", **arguments: Any) -> Run:
        """A run that has come as far as before that step, and whose steps do nothing any more."""
        run = self.start(**{**WEB, "webhook_url": HOOK, **arguments})
        self.carry_out(run, until=until)
        return run

    def past_the_deadline(self) -> None:
        self.hands.advance(2_000)

    def tick(self, context: LambdaContext | None = None) -> dict[str, int]:
        handler = reconcile_runs(environment=lambda: self)
        return handler(sample("reconcile_runs"), context or LambdaContext(remaining_ms=50_000))

    def stop_project(self, context: LambdaContext | None = None) -> dict[str, Any]:
        handler = project_stop(environment=lambda: self)
        return handler(sample("project_stop"), context or LambdaContext(remaining_ms=110_000))

    def heard(self) -> list[tuple[str, str]]:
        """What the receiver was told, its signatures verified."""
        return [_verified(each) for each in self.receiver.sent]


def _verified(sent: Any) -> tuple[str, str]:
    told = dict(part.split("=", 1) for part in sent.request.headers[SIGNATURE_HEADER].split(","))
    secret = hmac.new(KEY.encode(), b"zarniwoop-webhook-v1:acme", hashlib.sha256).hexdigest()
    body = orjson.dumps(sent.request.json)
    mac = hmac.new(secret.encode(), f"{told['t']}.".encode() + body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(told["v1"], mac)
    assert sent.request.url == HOOK
    return sent.request.json["run_id"], sent.request.json["state"]


class Running(LambdaContext):
    """A function whose time runs out: so many milliseconds are left, each time that it looks."""

    def __init__(self, *left: int) -> None:
        super().__init__()
        self._left = list(left)

    def get_remaining_time_in_millis(self) -> int:
        return self._left.pop(0)


def counted(capsys: pytest.CaptureFixture[str]) -> Counter[str]:
    """The runs that were counted since it was last looked, by outcome; each with its duration."""
    records = [orjson.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    runs, durations = Counter[str](), Counter[str]()
    for each in records:
        runs[each.get("outcome", "")] += len(each.get("vance.research.curated.runs", ()))
        durations[each.get("outcome", "")] += len(each.get("vance.research.curated.duration", ()))
    assert runs == durations
    return +runs


def told_by_result(world: World, run: Run) -> tuple[str, str | None, str | None]:
    """What the result says of the run's end."""
    result = world.result(run)
    return result["state"], result["outcome"], result["error"]


def _died(world: World, run: Run, status: ExecutionStatus | None) -> None:
    if status is None:
        del world.fake_executions.standing[run.execution_arn]
    else:
        world.fake_executions.standing[run.execution_arn] = Execution(status=status, output={})


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (ExecutionStatus.RUNNING, "timed_out"),
        (ExecutionStatus.TIMED_OUT, "timed_out"),
        (ExecutionStatus.FAILED, "failed"),
        (ExecutionStatus.ABORTED, "stopped"),
        (None, "failed"),
    ],
)
def test_a_run_that_the_reconciler_ends_is_told_and_counted_once_and_keeps_what_it_found(
    capsys: pytest.CaptureFixture[str], status: ExecutionStatus | None, state: str
) -> None:
    """Like a run that ended by itself: signed webhook, metrics, result."""
    world = World(answer(status=204))
    run = world.under_way()
    _died(world, run, status)
    world.past_the_deadline()
    counted(capsys)
    assert world.tick() == {state: 1, "told": 1}
    assert world.tick() == {}
    assert world.heard() == [(run.run_id, state)]
    assert counted(capsys) == {state: 1}
    assert world.run_of(run).webhook_outcome == "delivered"
    result = world.result(run)
    assert (result["state"], result["outcome"], result["ranked"]) == (state, "evaluate_failed", False)
    assert (result["outcome"], result["error"]) == (world.run_of(run).outcome, world.run_of(run).error)
    assert [each["hit"]["title"] for each in result["survivors"]] == ["Cathedral bells ring", "Bells of iron"]


def test_a_run_that_dies_before_its_merge_still_shows_what_its_searches_found() -> None:
    """Out of whatever files there are."""
    world = World(answer())
    run = world.start(**WEB, max_searches=2)
    planned = world.step("plan", run)
    world.step("search", run, index=planned["searches"][0], wave=1)
    world.past_the_deadline()
    world.tick()
    assert len(world.result(run)["survivors"]) == 2


def test_a_run_whose_files_are_away_ends_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """It is ended and counted; its receiver is told as soon as the address can be read again."""
    world = World(answer())
    run = world.under_way()
    world.past_the_deadline()
    counted(capsys)
    world.fake_files.fail_with = StoreUnavailable("S3 refused a call: SlowDown")
    assert world.tick() == {"timed_out": 1, "left": 1}
    assert (world.run_of(run).state, world.heard()) == (RunState.TIMED_OUT, [])
    world.fake_files.fail_with = None
    assert world.tick() == {"told": 1}
    assert counted(capsys) == {"timed_out": 1}


def test_a_run_whose_result_cannot_be_written_is_ended_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its steps wrote is shown instead."""
    world = World(answer())
    run = world.under_way()
    world.past_the_deadline()

    def refuse(*_given: Any) -> None:
        raise StoreUnavailable("S3 refused a call: SlowDown")

    monkeypatch.setattr(world.fake_files, "put", refuse)
    assert world.tick() == {"timed_out": 1, "told": 1}
    assert world.result(run) is None


def test_a_file_that_nobody_can_read_does_not_keep_a_run_open() -> None:
    """Written by another version, or by hand."""
    world = World(answer())
    run = world.under_way()
    world.fake_files.objects[f"acme/demo/runs/{run.run_id}/plan-1.json"] = b'{"plan": 7}'
    world.past_the_deadline()
    assert world.tick() == {"timed_out": 1, "told": 1}
    assert (world.run_of(run).state, world.result(run)) == (RunState.TIMED_OUT, None)


@pytest.mark.parametrize(
    "document", [b"{", b"[]", b'{"arguments": 5}', b'{"arguments": {}}', b'{"arguments": {"webhook_url": 7}}']
)
def test_an_address_that_nobody_can_read_gives_the_webhook_up(document: bytes) -> None:
    """And keeps no other run's end from being told."""
    world = World(answer())
    run, other = world.under_way(), world.under_way()
    world.fake_files.objects[f"acme/demo/runs/{run.run_id}/input.json"] = document
    world.past_the_deadline()
    assert world.tick() == {"timed_out": 2, "given_up": 1, "told": 1}
    assert world.run_of(run).webhook_outcome == "undelivered:no_address"
    assert [told for told, _ in world.heard()] == [other.run_id]


def test_a_run_that_is_ended_by_its_last_step_in_the_same_moment_keeps_its_own_result() -> None:
    """The reconciler writes nothing unless its ending stands."""
    world = World()
    run = world.under_way(until="rank", webhook_url=None)
    describe = world.fake_executions.describe

    def look(execution_arn: str) -> Execution | None:
        world.step("rank", run)
        world.step("finish", run)
        return describe(execution_arn)

    world.fake_executions.describe = look  # type: ignore[method-assign]
    world.past_the_deadline()
    assert world.tick() == {"ended_before": 1}
    assert (world.result(run)["state"], world.run_of(run).state) == ("succeeded", RunState.SUCCEEDED)


def test_a_last_step_that_comes_too_late_tells_how_the_run_has_ended() -> None:
    """Result and run say the same, whoever ended it."""
    world = World()
    run = world.under_way(until="rank", webhook_url=None)
    compose = world.fake_files.put

    def put(project: ProjectKey, run_id: str, name: str, content: Any) -> None:
        compose(project, run_id, name, content)
        if name == "result.json":
            other = Ending(state=RunState.STOPPED, outcome="empty", error="project_stopped")
            world.fake_runs.finish(PROJECT, run.run_id, other)

    world.fake_files.put = put  # type: ignore[method-assign]
    assert world.step("finish", run) == {"state": "stopped", "outcome": "empty", "webhook": False}
    assert told_by_result(world, run) == ("stopped", "empty", "project_stopped")


def test_a_receiver_that_is_away_is_told_at_a_later_tick() -> None:
    """The run has ended meanwhile; each attempt is signed anew, and says the same."""
    world = World(ProviderUnavailable("slow", cause=Cause.TIMEOUT), answer(status=503), answer())
    run = world.under_way()
    world.past_the_deadline()
    assert world.tick() == {"timed_out": 1, "untold": 1}
    assert world.tick() == {}
    world.hands.advance(60)
    assert world.tick() == {"untold": 1}
    assert world.run_of(run).webhook_outcome == "undelivered:status_503"
    world.hands.advance(60)
    assert world.tick() == {"told": 1}
    assert world.heard() == [(run.run_id, "timed_out")] * 3
    assert len({each.request.headers[SIGNATURE_HEADER] for each in world.receiver.sent}) == 3


def test_an_end_that_its_execution_could_not_tell_of_is_told_by_the_reconciler() -> None:
    """The execution was broken off between the end and the webhook; ten minutes later it counts as left undone."""
    world = World(answer())
    run = world.under_way(until="finish")
    assert world.step("finish", run)["webhook"] is True
    assert world.tick() == {}
    world.hands.advance(600)
    assert world.tick() == {"told": 1}
    assert world.heard() == [(run.run_id, "succeeded")]
    assert world.step("webhook", run) == {"delivered": True}
    assert len(world.receiver.sent) == 1


def test_a_receiver_that_refused_is_given_up() -> None:
    """And not asked again."""
    world = World(answer(status=410))
    world.under_way()
    world.past_the_deadline()
    assert world.tick() == {"timed_out": 1, "given_up": 1}
    assert world.tick() == {}


def test_an_end_that_was_told_meanwhile_is_not_told_again() -> None:
    """The index lags behind the table, so the run is read again before anything is sent."""
    world = World(answer())
    run = world.under_way(until="finish")
    world.step("finish", run)
    stale = world.run_of(run)
    world.step("webhook", run)
    world.fake_runs.untold = lambda *_given, **_more: (stale,)  # type: ignore[method-assign]
    assert world.tick() == {"told_before": 1}
    assert len(world.receiver.sent) == 1


def test_receivers_that_were_never_tried_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """With time for one only, one that hangs does not keep another waiting."""
    monkeypatch.setattr(many_runs, "AT_ONCE", 1)
    world = World(ProviderUnavailable("slow", cause=Cause.TIMEOUT), answer())
    first = world.under_way(until="finish")
    world.step("finish", first)
    world.hands.advance(600)
    assert world.tick() == {"untold": 1}
    second = world.under_way(until="finish")
    world.step("finish", second)
    world.hands.advance(1_200)

    assert world.tick(Running(50_000, 1_000)) == {"told": 1, "left": 1}
    assert world.heard()[-1][0] == second.run_id


def test_a_start_that_was_refused_ends_counts_and_tells_its_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody comes back to it without a key."""
    world = World(answer())

    def refuse(*_given: Any) -> None:
        raise StartRefused("Step Functions refused a start: AccessDeniedException")

    monkeypatch.setattr(world.fake_executions, "start", refuse)
    with pytest.raises(Unready):
        world.start(webhook_url=HOOK)
    assert world.tick() == {"told": 1}
    assert [state for _, state in world.heard()] == ["failed"]
    assert counted(capsys) == {"failed": 1}


def test_a_project_stop_ends_the_projects_runs_and_keeps_what_they_found(capsys: pytest.CaptureFixture[str]) -> None:
    """Asked to stop, broken off, closed as stopped, counted; bodies go, results stay; another project goes on."""
    world = World(answer(), answer())
    runs = [world.under_way(until=until) for until in ("search", "evaluate")]
    ended = world.under_way(until="finish", webhook_url=None)
    world.step("finish", ended)
    other = _in_another_project(world, runs[0])
    body = LoadedContent(body=b"Bells.", media_type="text/plain", source_url="https://alpha.com/1")
    world.fake_content.put(PROJECT, body, instance_id="alpha")
    counted(capsys)
    report = world.stop_project()
    assert (report["stopped_runs"], report["stopping_runs"], report["deleted_content_objects"]) == (2, 0, 1)
    assert sorted(world.fake_executions.stopped) == sorted(run.execution_arn for run in runs)
    for run in runs:
        standing = world.run_of(run)
        assert (standing.state, standing.stop_requested, standing.error) == (RunState.STOPPED, True, "project_stopped")
        assert told_by_result(world, run) == (standing.state, standing.outcome, standing.error)
    assert len(world.result(runs[1])["survivors"]) == 2
    assert world.run_of(ended).state is RunState.SUCCEEDED
    assert world.result(ended) is not None
    assert counted(capsys) == {"stopped": 2}
    assert not other().state.is_terminal
    assert world.tick() == {"told": 2}
    assert sorted(world.heard()) == sorted((run.run_id, "stopped") for run in runs)


def _in_another_project(world: World, like: Run) -> Callable[[], Run]:
    copy = world.fake_runs.create(replace(like, project=LAB, webhook=False))

    def standing() -> Run:
        found = world.fake_runs.get(LAB, copy.run_id)
        assert found is not None
        return found

    return standing


def test_a_project_that_is_stopped_again_has_nothing_left_to_stop() -> None:
    """EventBridge promises at least once; the second time nobody is broken off, counted or told again."""
    world = World(answer())
    world.under_way()
    assert world.stop_project()["stopped_runs"] == 1
    again = world.stop_project()
    assert (again["stopped_runs"], again["stopping_runs"], len(world.fake_executions.stopped)) == (0, 0, 1)
    assert world.tick() == {"told": 1}


def test_a_step_that_was_under_way_when_its_project_stopped_leads_nowhere() -> None:
    """What it brings is not counted, and the run stays as it ended."""
    world = World(answer())
    run = world.under_way(until="evaluate")
    world.stop_project()
    assert world.step("evaluate", run, index=0, wave=1) == {"ok": False, "error": "over"}
    assert world.step("finish", run)["state"] == "stopped"
    assert world.run_of(run).error == "project_stopped"


def test_runs_for_which_there_is_no_time_are_stopping_and_end_by_themselves() -> None:
    """Every one has been asked to stop before the first is closed; what else there is of it goes all the same."""
    world = World(*[answer()] * 3)
    runs = [world.under_way() for _ in range(3)]
    report = world.stop_project(Running(111_000, 110_000, 1_000, 1_000))
    assert (report["stopped_runs"], report["stopping_runs"]) == (1, 2)
    assert world.fake_state.calls["clear_project"] == 1
    states = Counter(world.run_of(run).state for run in runs)
    assert states == {RunState.STOPPED: 1, RunState.STOPPING: 2}
    for run in runs:
        world.step("finish", run)
    assert {world.run_of(run).state for run in runs} == {RunState.STOPPED}


def test_an_execution_that_cannot_be_broken_off_is_left_to_its_stop() -> None:
    """Step Functions is throttled: the run's own steps see that it was asked to stop."""
    world = World()
    run = world.under_way()
    world.fake_executions.fail_with = StoreUnavailable("Step Functions refused a stop: ThrottlingException")
    assert world.stop_project()["stopping_runs"] == 1
    assert world.run_of(run).state is RunState.STOPPING


def test_a_table_of_runs_that_is_away_fails_the_stop_so_that_it_comes_again() -> None:
    """Before anything is deleted."""
    world = World()
    world.under_way()
    world.fake_runs.fail_with = StoreUnavailable("throttled")
    with pytest.raises(StoreUnavailable):
        world.stop_project()
    assert world.fake_content.calls["delete_project"] == 0
    world.fake_runs.fail_with = None
    assert world.stop_project()["stopped_runs"] == 1


def test_hundreds_of_runs_are_stopped_and_each_is_told_once() -> None:
    """Some at once; nobody is left out, nobody comes twice."""
    world = World(*[answer()] * 150)
    runs = [world.start(**WEB, webhook_url=HOOK) for _ in range(150)]
    assert world.stop_project()["stopped_runs"] == 150
    assert world.tick() == {"told": 150}
    assert sorted(each for each, _ in world.heard()) == sorted(run.run_id for run in runs)
