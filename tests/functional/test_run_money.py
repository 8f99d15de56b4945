"""What a run may spend is a ceiling: one account that all of its steps share, and nothing that is paid for twice."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.fakes.investigation import MODEL, PROJECT, Investigation, hits
from tests.fakes.research import Research
from tests.functional.test_deepening import PAGE
from tests.functional.test_investigate_steps import planned, verdicts
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.result import DispatchFailure, SearchResult
from zarniwoop.dispatch.spending.purse import RunBudget
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.ledger import Account, Balance, Limits, Spent
from zarniwoop.stores.run_files import RunFiles
from zarniwoop.stores.runs import Run

WEB: dict[str, Any] = {"modalities": [SearchModality.WEB], "refine": False}
THREE: dict[str, Any] = {"modalities": ["WEB", "NEWS", "ACADEMIC"], "refine": False}
DOWN = ProviderUnavailable("503", status=503)
DEAR = {
    "research.endpoint.dear.costPerCall": "0.5",
    "research.endpoint.dear.creditKind": "daily_usd",
    "research.endpoint.dear.autoAllow": "true",
}
PRICED = {**MODEL, "llm.primary.costPerMillionInput": "1000", "llm.primary.costPerMillionOutput": "1000"}
BELLS = hits("Cathedral bells", host="dear.com", reference="42")


def account(inv: Investigation, run: Run) -> Balance:
    return inv.fake_state.standing(Account.of_run(PROJECT, run.run_id))


def three_searches(**settings: str) -> Investigation:
    """A model that plans three of them, and a free provider that is down before the dear one."""
    script = [planned("one", "two", "three"), verdicts(h001=("keep", 0.9))]
    return Investigation({"free": [DOWN], "dear": [BELLS]}, {**DEAR, **MODEL, **settings}, model_script=script)


def test_a_provider_that_takes_over_spends_no_more_than_the_run_has() -> None:
    """Whoever is first in line is free; the plan knew of no cost."""
    inv = Investigation({"free": [DOWN], "dear": [BELLS]}, DEAR)
    run = inv.start(**THREE, max_cost=0)
    inv.carry_out(run)
    assert set(inv.protocol.asked_ids) == {"free"}
    assert (inv.run_of(run).cost, account(inv, run).used.amount) == (0.0, 0.0)


def test_a_run_makes_the_calls_that_it_may_and_tells_which_search_was_not_made() -> None:
    """Two searches have what they ask for, and the third is refused by name."""
    inv = three_searches()
    run = inv.start(**WEB, max_cost=1.0)
    inv.carry_out(run)
    assert inv.protocol.asked_ids.count("dear") == 2
    assert inv.run_of(run).cost == 1.0
    assert "search 2 (WEB) was not made: max_cost is nearly spent" in inv.result(run)["gaps"]


def test_a_run_may_be_bounded_in_calls() -> None:
    """Free ones count too, and bodies."""
    inv = three_searches()
    run = inv.start(**WEB, refine_depth=1, max_cost=100, max_calls=3)
    inv.protocol.bodies["dear"] = [PAGE]
    inv.carry_out(run)
    assert inv.protocol.asked_ids == ["free", "dear", "dear"]
    assert inv.protocol.loaded == []
    assert account(inv, run).used.calls == 3
    assert "the body of h001 was not loaded: max_calls" in inv.result(run)["notes"]
    assert "search 2 (WEB) was not made: max_calls is nearly spent" in inv.result(run)["gaps"]


def test_searches_that_are_made_at_once_share_the_runs_money() -> None:
    """Twenty-four in as many environments, and three are paid for: none of them could see the others' in its run."""
    research = Research({"dear": [BELLS]}, settings=dict(DEAR))
    dispatchers = [research.environment()[2] for _ in range(24)]
    barrier = Barrier(len(dispatchers))
    budget = RunBudget(account=Account.of_run(PROJECT, "r-1"), limits=Limits(amount=1.5))

    def search(number: int) -> SearchResult:
        barrier.wait()
        return dispatchers[number].search(research.request(), research.scope(), budget)

    with ThreadPoolExecutor(len(dispatchers)) as pool:
        results = list(pool.map(search, range(len(dispatchers))))
    assert len(research.protocol.asked) == 3
    refused = [result for result in results if result.failure is DispatchFailure.BUDGET]
    assert len(refused) == len(dispatchers) - 3
    assert {(each.attempts[0].detail, each.retry_at) for each in refused} == {("max_cost", None)}


def test_what_is_free_costs_the_run_no_write() -> None:
    """There is nothing to hold."""
    inv = Investigation({"free": [BELLS]})
    inv.carry_out(inv.start(**THREE))
    assert inv.fake_state.calls["reserve"] == inv.fake_state.calls["settle"] == 0


def test_models_and_providers_are_paid_for_out_of_the_same_account() -> None:
    """It stands at what the run's cost is, and nothing is held at its end."""
    inv = three_searches(**PRICED)
    run = inv.start(**WEB, max_cost=50)
    inv.carry_out(run)
    balance = account(inv, run)
    assert inv.run_of(run).cost == pytest.approx(1.5 + 2 * 0.12)
    assert balance.used.amount == pytest.approx(inv.run_of(run).cost)
    assert (balance.used.calls, balance.holds) == (3, {})


def test_a_model_is_not_asked_where_others_hold_what_is_left() -> None:
    """The built-in answers in its place, as near any budget; what the run has paid for so far would not say so."""
    inv = Investigation({"dear": [BELLS]}, {**DEAR, **PRICED}, model_script=[planned("one")])
    run = inv.start(**WEB, max_cost=4)
    assert inv.carry_out(run, until="evaluate")["batches"] == [0]
    inv.fake_state.charge(Account.of_run(PROJECT, run.run_id), Spent(amount=3.0))
    assert inv.step("evaluate", run, index=0, wave=1)["ok"]
    assert len(inv.model_transport.sent) == 1
    assert inv.run_of(run).cost < 1


class FailingWrites:
    """Run files whose first `failures` writes of a name that begins so fail."""

    def __init__(self, files: RunFiles, begins: str, failures: int) -> None:
        self._files = files
        self._begins = begins
        self.failures = failures

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def put(self, project: Any, run_id: str, name: str, content: Any) -> None:
        if name.startswith(self._begins) and self.failures:
            self.failures -= 1
            raise StoreUnavailable("S3")
        self._files.put(project, run_id, name, content)


def failing_writes(inv: Investigation, begins: str, failures: int) -> None:
    inv.__dict__["run_files"] = FailingWrites(inv.fake_files, begins, failures)
    inv.__dict__.pop("steps", None)
    inv.__dict__.pop("handler", None)


def test_a_search_whose_record_cannot_be_written_at_first_is_not_made_again() -> None:
    """The write is tried again, and nothing else."""
    inv = Investigation({"dear": [BELLS]}, DEAR)
    run = inv.start(**WEB, max_searches=1)
    inv.step("plan", run)
    failing_writes(inv, "searches/", 2)
    assert inv.step("search", run, index=0, wave=1) == {"ok": True, "index": 0, "hits": 1}
    assert (inv.protocol.asked_ids, inv.run_of(run).cost) == (["dear"], 0.5)
    assert inv.step("search", run, index=0, wave=1)["ok"]
    assert (inv.protocol.asked_ids, inv.run_of(run).cost) == (["dear"], 0.5)


def test_a_search_whose_record_cannot_be_written_at_all_is_lost_and_its_cost_is_not() -> None:
    """The step does not fail: the state machine would have the provider asked and paid again."""
    inv = Investigation({"dear": [BELLS]}, DEAR)
    run = inv.start(**WEB, max_searches=1)
    inv.step("plan", run)
    failing_writes(inv, "searches/", 1_000)
    assert inv.step("search", run, index=0, wave=1) == {"ok": False, "index": 0, "hits": 0}
    inv.step("merge", run, wave=1)
    standing = inv.run_of(run)
    assert (inv.protocol.asked_ids, standing.cost) == (["dear"], 0.5)
    assert (standing.counts["searches"], standing.counts["failed_searches"]) == (1, 1)


@pytest.mark.parametrize("failures", [2, 4])
def test_bodies_are_not_paid_for_again_where_their_record_cannot_be_written(failures: int) -> None:
    """They are lost then, and a step that is done again loads nothing."""
    inv = Investigation({"dear": [BELLS]}, DEAR)
    run = inv.start(**WEB, refine_depth=1, max_searches=1, max_cost=10)
    inv.protocol.bodies["dear"] = [PAGE]
    inv.carry_out(run, until="deepen")
    failing_writes(inv, "bodies.json", failures)
    inv.step("deepen", run, wave=1)
    inv.step("deepen", run, wave=1)
    assert len(inv.protocol.loaded) == 1
    assert inv.run_of(run).cost == 1.0
    assert inv.run_of(run).counts["bodies"] == (1 if failures == 2 else 0)
