"""How runs end and what is seen of them until then: when a step dies, when stores are away, when two end one run."""

import pytest

from tests.fakes.investigation import PROJECT, Investigation, hits
from tests.functional.test_investigate_steps import BELLS, WEB
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.pipelines.investigate.steps import StepImpossible
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Ending, Run, RunState


class Receiver:
    """Stands for the webhook's sender, which always delivers."""

    def __init__(self) -> None:
        self.told: list[RunState] = []

    def send(self, run: Run, _url: str, _deadline: Deadline) -> None:
        self.told.append(run.state)


def test_what_was_searched_so_far_is_shown_while_others_are_under_way() -> None:
    """Hits, and how each search that is done was answered; also of a run that never came to a merge."""
    inv = Investigation({"alpha": [ProviderUnavailable("down")], "beta": [hits("Cathedral bells ring"), BELLS]})
    run = inv.start(modalities=[SearchModality.WEB, SearchModality.ACADEMIC], refine=False)
    inv.step("plan", run)
    assert inv.run_watcher.report(inv.run_of(run)).results is None
    inv.step("search", run, index=1, wave=1)
    told = inv.run_watcher.report(inv.run_of(run)).results
    assert told is not None
    assert (told["stage"], told["hits_total"]) == ("searching", 1)
    (search,) = told["searches"]
    assert (search["index"], search["ok"], search["hits"]) == (1, True, 1)
    assert [attempt["outcome"] for attempt in search["attempts"]] == ["failure", "success"]
    inv.fake_runs.finish(PROJECT, run.run_id, Ending(state=RunState.TIMED_OUT, error="overdue"))
    assert inv.run_watcher.report(inv.run_of(run)).results == told


def test_searches_of_another_version_do_not_keep_a_run_from_being_seen() -> None:
    """Its state is told without them."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.step("plan", run)
    inv.step("search", run, index=0, wave=1)
    inv.fake_files.put(PROJECT, run.run_id, "searches/00.json", {"another": "version"})
    told = inv.run_watcher.report(inv.run_of(run))
    assert (told.state, told.results) == (RunState.RUNNING, None)


@pytest.mark.parametrize("denied", [None, StoreUnavailable("AccessDenied")])
def test_a_step_that_dies_after_the_stop_leaves_a_stopped_run(denied: Exception | None) -> None:
    """Whoever asked for the stop got it, whatever the machine died of then, and with S3 denied as well."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.carry_out(run, until="evaluate")
    inv.fake_runs.request_stop(PROJECT, run.run_id)
    inv.fake_files.fail_with = denied
    assert inv.step("fail", run, error="States.Timeout")["state"] == "stopped"
    assert inv.run_of(run).state is RunState.STOPPED


def test_a_late_ending_leaves_what_the_reconciler_said() -> None:
    """A result that says "succeeded" under a run that timed out would be two truths."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.carry_out(run, until="finish")
    inv.fake_runs.finish(PROJECT, run.run_id, Ending(state=RunState.TIMED_OUT, error="overdue"))
    assert inv.step("finish", run)["state"] == inv.step("fail", run)["state"] == "timed_out"
    assert inv.result(run) is None


def test_a_webhook_that_was_delivered_is_not_sent_again() -> None:
    """The step's answer was lost, and the state machine asks once more."""
    inv = Investigation({"alpha": [BELLS]})
    receiver = Receiver()
    inv.__dict__["webhooks"] = receiver
    run = inv.start(**WEB, webhook_url="https://agents.example/hook")
    assert inv.carry_out(run)["webhook"] is True
    assert [inv.step("webhook", run) for _ in range(2)] == [{"delivered": True}] * 2
    assert receiver.told == [RunState.SUCCEEDED]


def test_a_step_says_no_more_than_the_state_machine_can_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    """An excess would be an error that nothing catches: it is refused by a name that is caught."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB)
    inv.carry_out(run, until="rank")
    monkeypatch.setattr("zarniwoop.pipelines.investigate.steps.MOST_BYTES", 20)
    with pytest.raises(StepImpossible):
        inv.step("rank", run, wave=1)
