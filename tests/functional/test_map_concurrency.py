"""How many items of a Map run at once is what the run says, counted.

What is proven where: moto carries the definition out and keeps to `MaxConcurrencyPath`, so the counts are taken in
here; the house rules see that every Map has a path whose root somebody writes, and the tests below that what is written
there is a number that Step Functions takes. The local emulator knows `MaxConcurrency` alone and ignores the path: there
all items of a Map run at once, and nothing can be shown by it.
"""

import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from tests.fakes.investigation import MODEL, PROJECT, Investigation, hits
from tests.fakes.models import completion, json_completion
from tests.fakes.state_machine import definition, state_machine
from zarniwoop.contract.modality import SearchModality
from zarniwoop.tools.research_investigate import InvestigateArguments

BELLS = hits("Cathedral bells ring", "Bells of iron", host="alpha.com")
WEB: dict[str, Any] = {"modalities": [SearchModality.WEB], "refine": False}
MOST_SEARCHES = 20
MOST_BATCHES = 64
"""The setting `llm.harvest.maxParallel` at most; Step Functions itself runs forty items of an inline Map at once."""
LINGER = 0.02


class Counting:
    """The steps, and how many of one name were at work at the same time; each waits until as many as expected are."""

    def __init__(self, inv: Investigation, step: str, expected: int) -> None:
        self._inv = inv
        self._step = step
        self._expected = expected
        self._lock = threading.Lock()
        self._full = threading.Event()
        self._at_work = 0
        self.peak = 0
        self.seen = 0

    def __call__(self, event: Mapping[str, Any], context: Any) -> Any:
        if event["step"] != self._step:
            with self._lock:
                return self._inv.handler(event, context)
        with self._lock:
            self._at_work += 1
            self.seen += 1
            self.peak = max(self.peak, self._at_work)
            if self._at_work >= self._expected:
                self._full.set()
        self._full.wait(20)
        time.sleep(LINGER)  # whoever may begin beside this one has begun by now, and is counted
        with self._lock:
            self._at_work -= 1
            return self._inv.handler(event, context)


def planned(count: int) -> Any:
    searches = [{"query": f"cathedral bells {number}", "modality": "WEB"} for number in range(count)]
    return json_completion({"searches": searches, "rationale": ""})


@pytest.mark.parametrize("at_once", [1, 3, 20])
def test_as_many_searches_run_at_once_as_the_run_allows_and_no_more(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Of twenty: one after the other, three, and all of them."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[planned(20), *[json_completion({"verdicts": []})] * 9])
    counting = Counting(inv, "search", at_once)
    with state_machine(counting, monkeypatch) as machine:
        run = inv.start(**WEB, max_searches=20, max_concurrency=at_once)
        given = inv.fake_executions.started[run.execution_arn].given
        assert machine.end(machine.start(run.run_id, given))["status"] == "SUCCEEDED"
    assert (counting.peak, counting.seen) == (at_once, 20)
    assert inv.run_of(run).counts["searches"] == 20


@pytest.mark.parametrize("at_once", [1, 3])
def test_as_many_batches_are_judged_at_once_as_the_model_takes(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """By the harvest model's own setting."""
    many = hits(*(f"Cathedral bells {number}" for number in range(25)), host="alpha.com", snippet="They ring. " * 100)
    settings = {**MODEL, "llm.primary.contextTokens": "4000", "llm.harvest.maxParallel": str(at_once)}
    inv = Investigation({"alpha": [many]}, settings, model_script=[planned(1), *[completion("no")] * 40])
    counting = Counting(inv, "evaluate", at_once)
    with state_machine(counting, monkeypatch) as machine:
        run = inv.start(**WEB, max_results=25)
        given = inv.fake_executions.started[run.execution_arn].given
        assert machine.end(machine.start(run.run_id, given))["status"] == "SUCCEEDED"
    assert counting.seen >= 3
    assert counting.peak == at_once


@pytest.mark.parametrize("allowed", [None, 1, 7, 20])
def test_a_run_always_says_how_many_searches_may_run_at_once(allowed: int | None) -> None:
    """A whole number from 1 to 20 in the execution's input, whether the caller gave one or not."""
    inv = Investigation({"alpha": [BELLS]})
    run = inv.start(**WEB, **({} if allowed is None else {"max_concurrency": allowed}))
    told = inv.fake_executions.started[run.execution_arn].given["max_concurrency"]
    assert type(told) is int
    assert told == (allowed or 10)
    assert 1 <= told <= MOST_SEARCHES


@pytest.mark.parametrize("wrong", [0, -1, 21, 1.5, "3", True, None])
def test_no_other_number_of_searches_at_once_gets_into_a_run(wrong: Any) -> None:
    """To Step Functions 0 is no limit at all, and anything but a whole number an error that ends the run."""
    with pytest.raises(ValidationError):
        InvestigateArguments.model_validate({"question": "Why?", "max_concurrency": wrong})


def _is_a_limit(told: Any) -> bool:
    return type(told) is int and 1 <= told <= MOST_BATCHES


@pytest.mark.parametrize(
    ("settings", "parallel"), [({}, 4), ({"llm.harvest.maxParallel": "64"}, 64), ({"llm.harvest.maxParallel": "0"}, 4)]
)
def test_steps_before_a_map_over_batches_always_say_how_many_may_run_at_once(
    settings: dict[str, str], parallel: int
) -> None:
    """Whatever the setting says; and so does each of them when the run is over by then."""
    inv = Investigation({"alpha": [BELLS]}, settings)
    run = inv.start(**WEB, refine_depth=1, insights=True)
    merged = inv.carry_out(run, until="deepen")
    deepened = inv.step("deepen", run, wave=1)
    assert (merged["parallel"], deepened["parallel"]) == (parallel, parallel)
    assert _is_a_limit(inv.step("insights", run)["parallel"])
    inv.fake_runs.request_stop(PROJECT, run.run_id)
    assert all(_is_a_limit(inv.step(step, run, wave=1)["parallel"]) for step in ("merge", "deepen", "insights"))


def test_every_map_is_covered_in_here() -> None:
    """A new one has to be looked at too: where its limit comes from, and that it is always there."""
    maps = {name: each["MaxConcurrencyPath"] for name, each in definition()["States"].items() if each["Type"] == "Map"}
    assert maps == {
        "Search all": "$.max_concurrency",
        "Evaluate all": "$.work.parallel",
        "Extract all": "$.insights.parallel",
    }
