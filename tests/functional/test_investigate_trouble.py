"""Whatever dies on the way, a run ends, loses no hit and counts nothing twice: runs in random trouble."""

import json
import re
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.fakes.cloud import LambdaContext
from tests.fakes.investigation import MODEL, PROJECT, Investigation, hits
from tests.fakes.models import completion, json_completion, refusal
from tests.fakes.state_machine import definition, state_machine
from tests.fakes.states_language import Execution, ExecutionFailed
from zarniwoop.contract.failure import ProviderUnavailable, ZarniwoopError
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.entry.steps import StepBroken
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Run, RunState

TITLES = ("Cathedral bells ring", "Bells of iron", "How bells are cast", "Soup recipes")
TWO = [SearchModality.WEB, SearchModality.NEWS]
PRICE = 0.25
PRICED = {"research.endpoint.alpha.costPerCall": str(PRICE)} | {
    f"research.default.{modality}": "alpha" for modality in ("web", "news")
}


class WhimsicalModel:
    """An endpoint that mostly answers what it is asked, with keys that it was shown; `answered` counts what is paid."""

    def __init__(self, whim: Random) -> None:
        self._whim = whim
        self.answered = 0

    def send(self, request: HttpRequest, **_rest: Any) -> HttpAnswer:
        answer = self._answer(orjson.dumps(request.json).decode())
        self.answered += answer.status == 200
        return answer

    def _answer(self, asked: str) -> HttpAnswer:
        trouble = self._whim.random()
        if trouble < 0.2:
            return refusal(self._whim.choice((429, 500)), "not now")
        if trouble < 0.4:
            return completion(self._whim.choice(("", "no json")))
        if "verdicts" not in asked:
            searches = [
                {"query": f"bells {self._whim.random()}", "modality": self._whim.choice(("WEB", "NEWS", "SMELL"))}
                for _ in range(self._whim.randint(0, 5))
            ]
            return json_completion({"searches": searches, "rationale": ""})
        verdict = {"reason": "because", "relevanceScore": self._whim.random()}
        keys = [key for key in set(re.findall(r"h\d{3}", asked)) if self._whim.random() < 0.9]
        return json_completion(
            {"verdicts": [{"key": key, "verdict": self._whim.choice(("keep", "drop")), **verdict} for key in keys]}
        )


class Flaky:
    """A store some of whose calls fail, before or after they had their effect."""

    def __init__(self, store: Any, whim: Random, share: float) -> None:
        self._store = store
        self._whim = whim
        self._share = share

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        def call(*given: Any, **named: Any) -> Any:
            trouble = self._whim.random()
            if trouble < self._share / 2:
                raise StoreUnavailable("before")
            answer = method(*given, **named)
            if trouble < self._share:
                raise StoreUnavailable("after")
            return answer

        return call


class Trouble:
    """A run, its machine, and what goes wrong with them: nothing at all, or a share of whatever is called."""

    def __init__(self, whim: Random) -> None:
        self._whim = whim
        self.share = whim.choice((0.0, 0.0, 0.02, 0.05))
        down = ProviderUnavailable("down")
        answers = [
            down if whim.random() < 0.2 else hits(*whim.sample(TITLES, whim.randint(0, 4)), host="alpha.com")
            for _ in range(50)
        ]
        self.inv = Investigation({"alpha": answers}, PRICED | (MODEL if whim.random() < 0.7 else {}))
        self.model = WhimsicalModel(whim)
        self.inv.model_transport = self.model  # type: ignore[assignment]
        self.stop_at = whim.randint(1, 40)

    def carry_out(self) -> str | None:
        """The error with which the execution ended, if it did."""
        run = self.inv.start(
            modalities=TWO, refine=self._whim.random() < 0.7, max_searches=self._whim.randint(1, 8), max_cost=9
        )
        self.run = run
        for name, store in (("runs", self.inv.fake_runs), ("run_files", self.inv.fake_files)):
            self.inv.__dict__[name] = Flaky(store, self._whim, self.share)
        self.inv.__dict__.pop("steps", None)
        try:
            Execution(definition(), self._invoke).run(self.inv.fake_executions.started[run.execution_arn].given)
        except ExecutionFailed as failed:
            return failed.error
        return None

    def _invoke(self, event: dict[str, Any]) -> Any:
        self.inv.hands.advance(0.01)  # no two invocations of a step are in the same millisecond
        self.stop_at -= 1
        if self.stop_at == 0:
            self.inv.fake_runs.request_stop(PROJECT, self.run.run_id)
        if self._whim.random() < self.share:
            raise ExecutionFailed("Sandbox.Timedout")
        try:
            answer = self.inv.handler(event, LambdaContext(remaining_ms=300_000))
        except StepBroken:
            raise  # a bug of ours
        except ZarniwoopError as error:
            raise ExecutionFailed(type(error).__name__) from error
        if self._whim.random() < self.share:
            raise ExecutionFailed("Lambda.Unknown")
        return answer

    @property
    def standing(self) -> Run:
        return self.inv.run_of(self.run)


@settings(max_examples=100, deadline=None, derandomize=True, phases=(Phase.generate,))
@given(whim=st.randoms(use_true_random=False))
def test_a_run_in_any_trouble_ends_loses_no_hit_and_counts_nothing_twice(whim: Random) -> None:
    """Providers, the model, both stores, the functions themselves, and a stop whenever it comes."""
    trouble = Trouble(whim)
    error = trouble.carry_out()
    run, asked = trouble.standing, len(trouble.inv.protocol.asked)
    assert run.state.is_terminal or error == "RunLeftOpen"
    assert all(node.done <= node.total for node in run.progress.values())
    if run.state is RunState.SUCCEEDED:
        assert run.progress["search"].done == run.progress["search"].total == run.counts["searches"]
    assert run.usage.calls <= trouble.model.answered
    assert run.cost <= asked * PRICE
    if trouble.share == 0:
        assert (run.usage.calls, run.cost) == (trouble.model.answered, asked * PRICE)
    result, merged = trouble.inv.result(trouble.run), trouble.inv.file(trouble.run, "merged.json")
    if result is not None and run.outcome is not None:
        assert (result["state"], result["outcome"]) == (run.state, run.outcome)
        told = [each["key"] for each in (*result["survivors"], *result["dropped"])]
        assert len(told) == len(set(told))
        assert {each["key"] for each in (merged or {"hits": []})["hits"]} <= set(told)


def test_the_quick_machine_goes_the_way_of_the_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same steps with the same input, retries and catchers included."""

    def investigation() -> Investigation:
        down = ProviderUnavailable("down")
        inv = Investigation({"alpha": [hits(*TITLES, host="alpha.com"), down]}, MODEL)
        script = [refusal(429, "slow"), planned(), refusal(500, "down"), refusal(500, "down"), refusal(500, "down")]
        inv.model_transport._script[:] = script
        return inv

    def planned() -> HttpAnswer:
        searches = [{"query": "bells", "modality": each} for each in ("WEB", "NEWS")]
        return json_completion({"searches": searches, "rationale": ""})

    whole, quick = investigation(), investigation()
    arguments: dict[str, Any] = {"modalities": TWO, "max_concurrency": 1}
    run = whole.start(**arguments)
    with state_machine(whole.handler, monkeypatch) as machine:
        arn = machine.start(run.run_id, whole.fake_executions.started[run.execution_arn].given)
        output = json.loads(machine.end(arn)["output"])
    invoked: list[dict[str, Any]] = []

    def invoke(event: dict[str, Any]) -> Any:
        invoked.append({**event, "run": event["run"] | {"run_id": run.run_id}})
        try:
            return quick.handler(event, LambdaContext(remaining_ms=300_000))
        except ZarniwoopError as error:
            raise ExecutionFailed(type(error).__name__) from error

    other = quick.start(**arguments)
    assert Execution(definition(), invoke).run(quick.fake_executions.started[other.execution_arn].given) == output
    assert invoked == machine.functions.invoked
