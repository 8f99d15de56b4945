"""Whatever dies on the way, a run ends, loses no hit and counts nothing twice: runs in random trouble.

With and without bodies to load and insights to draw, which come into the project's graph before a stop or not at all.
"""

import json
import re
from random import Random
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.investigation import MODEL, PROJECT, Investigation, hits
from tests.fakes.models import completion, json_completion, refusal
from tests.fakes.state_machine import definition, state_machine
from tests.fakes.states_language import Execution, ExecutionFailed
from zarniwoop.contract.failure import ProviderUnavailable, ZarniwoopError
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.entry.steps import StepBroken
from zarniwoop.pipelines.investigate.insights_graph import ProjectGraph
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Run, RunState

TITLES = ("Cathedral bells ring", "Bells of iron", "How bells are cast", "Soup recipes")
PAGE = LoadedContent(body=b"Bells ring in the cathedral.", media_type="text/plain", source_url="https://alpha.com/1")
TWO = [SearchModality.WEB, SearchModality.NEWS]
PRICE = 0.25
PRICED = {"research.endpoint.alpha.costPerCall": str(PRICE)} | {
    f"research.default.{modality}": "alpha" for modality in ("web", "news")
}


class WhimsicalModel:
    """An endpoint that mostly answers what it is asked, with keys that it was shown; `answered` counts what is paid."""

    def __init__(self, whim: Random) -> None:
        self._whim = whim
        self._share = whim.choice((0.0, 0.1, 0.4))
        self.answered = 0

    def send(self, request: HttpRequest, **_rest: Any) -> HttpAnswer:
        answer = self._answer(request.json["messages"])
        self.answered += answer.status == 200
        return answer

    def _answer(self, messages: list[dict[str, str]]) -> HttpAnswer:
        asked = "".join(message["content"] for message in messages)
        trouble = self._whim.random()
        if trouble < self._share / 2:
            return refusal(self._whim.choice((429, 500)), "not now")
        if trouble < self._share:
            return completion(self._whim.choice(("", "no json")))
        keys = [key for key in sorted(set(re.findall(r"h\d{3}", asked))) if self._whim.random() < 0.9]
        if "You extract entities" in asked:
            return json_completion(self._drawn([message["content"] for message in messages]))
        if "verdicts" not in asked:
            searches = [
                {"query": f"bells {self._whim.random()}", "modality": self._whim.choice(("WEB", "NEWS", "SMELL"))}
                for _ in range(self._whim.randint(0, 5))
            ]
            return json_completion({"searches": searches, "rationale": ""})
        verdict = {"reason": "because", "relevanceScore": self._whim.random()}
        return json_completion(
            {"verdicts": [{"key": key, "verdict": self._whim.choice(("keep", "drop")), **verdict} for key in keys]}
        )

    def _drawn(self, texts: list[str]) -> dict[str, Any]:
        """Of each hit its first and last word, and that they go together; now and then of another hit, or of none."""
        entities, relations = [], []
        for hit in [orjson.loads(line) for text in texts for line in text.splitlines() if line.startswith('{"key":')]:
            title = hit["title"] if self._whim.random() < 0.8 else self._whim.choice(TITLES)
            first, last = title.split()[0], title.split()[-1]
            said = {"key": hit["key"], "span": title if self._whim.random() < 0.8 else first}
            entities += [{"name": name, "type": "thing", **said} for name in (first, last)]
            relations.append({"subject": first, "relation": "goes with", "object": last, **said})
        return {"entities": entities, "relations": relations}


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
            down
            if whim.random() < 0.2
            else hits(*whim.sample(TITLES, whim.randint(0, 4)), host="alpha.com", reference="42")
            for _ in range(50)
        ]
        self.inv = Investigation({"alpha": answers}, PRICED | (MODEL if whim.random() < 0.9 else {}))
        self.model = WhimsicalModel(whim)
        self.inv.model_transport = self.model  # type: ignore[assignment]
        self.inv.protocol.bodies["alpha"] = [PAGE, down, PAGE]
        self.stop_at = whim.randint(1, 60)
        self.graph_at_stop: dict[str, bytes] | None = None

    def carry_out(self) -> str | None:
        """The error with which the execution ended, if it did."""
        run = self.inv.start(
            modalities=TWO,
            refine=self._whim.random() < 0.7,
            refine_depth=self._whim.randint(0, 1),
            insights=self._whim.random() < 0.9,
            max_searches=self._whim.randint(1, 8),
            max_cost=9,
        )
        self.run = run
        stores = {"runs": self.inv.fake_runs, "run_files": self.inv.fake_files, "insights": self.inv.fake_insights}
        for name, store in stores.items():
            self.inv.__dict__[name] = Flaky(store, self._whim, self.share)
        in_threads = Random(self._whim.random())  # noqa: S311 - so that their order changes nothing for the rest
        self.inv.__dict__["content"] = Flaky(self.inv.fake_content, in_threads, self.share)
        self.inv.fake_insights.before_read = self._stop_while_merging
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
            self._stop()
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

    def _stop(self) -> None:
        self.inv.fake_runs.request_stop(PROJECT, self.run.run_id)
        self.graph_at_stop = dict(self.inv.fake_insights.objects)

    def _stop_while_merging(self) -> None:
        """After the step has read the run, and before it writes the graph."""
        if self.graph_at_stop is None and self._whim.random() < 0.3:
            self._stop()

    @property
    def graph(self) -> ProjectGraph:
        standing = self.inv.fake_insights.read(PROJECT)
        return ProjectGraph.decoded(standing.body) if standing else ProjectGraph()

    @property
    def standing(self) -> Run:
        return self.inv.run_of(self.run)


@pytest.mark.parametrize("seed", range(150))
def test_a_run_in_any_trouble_ends_loses_no_hit_and_counts_nothing_twice(seed: int) -> None:
    """Providers, the model, the stores, the functions themselves, and a stop whenever it comes."""
    trouble = Trouble(Random(seed))  # noqa: S311
    error = trouble.carry_out()
    run, asked = trouble.standing, len(trouble.inv.protocol.asked) + len(trouble.inv.protocol.loaded)
    assert run.state.is_terminal or error == "RunLeftOpen"
    assert all(node.done <= node.total for node in run.progress.values())
    if run.state is RunState.SUCCEEDED:
        assert run.progress["search"].done == run.progress["search"].total == run.counts["searches"]
    assert run.usage.calls <= trouble.model.answered
    assert run.cost <= asked * PRICE
    if trouble.share == 0:
        assert (run.usage.calls, run.cost) == (trouble.model.answered, asked * PRICE)
    _check_insights(trouble)
    result, merged = trouble.inv.result(trouble.run), trouble.inv.file(trouble.run, "merged.json")
    if result is not None and run.outcome is not None:
        assert (result["state"], result["outcome"]) == (run.state, run.outcome)
        told = [each["key"] for each in (*result["survivors"], *result["dropped"])]
        assert len(told) == len(set(told))
        assert {each["key"] for each in (merged or {"hits": []})["hits"]} <= set(told)


def _check_insights(trouble: Trouble) -> None:
    """What is in the project's graph is carried by its spans; a run that was asked to stop adds nothing to it."""
    if trouble.graph_at_stop is not None:
        assert trouble.inv.fake_insights.objects == trouble.graph_at_stop
    graph = trouble.graph.insights
    told = trouble.inv.file(trouble.run, "insights.json")
    if told and told["project"]:
        assert (len(graph.entities), len(graph.relations)) == (told["entities"], told["relations"])
    for entity in graph.entities:
        assert all(entity.name.casefold() in each.span.casefold() for each in entity.evidence)


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
