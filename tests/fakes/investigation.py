"""Investigations in memory: providers and models by script, and the real steps in the order that they name."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import orjson

from tests.fakes.clock import FakeClock
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.keys import FakeKeyRing
from tests.fakes.providers import Step
from tests.fakes.transport import ScriptedTransport
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.contract.transport import HttpAnswer
from zarniwoop.entry.steps import steps
from zarniwoop.llm.bedrock import BedrockClients
from zarniwoop.llm.builtin import BUILTIN_ANSWERS
from zarniwoop.llm.gateway import ModelGateway
from zarniwoop.llm.recipes import RecipeBook
from zarniwoop.pipelines.investigate.steps import STEPS
from zarniwoop.pipelines.launch import InvestigationLauncher
from zarniwoop.stores.runs import Run
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.research_investigate import InvestigateArguments

PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
QUESTION = "How do cathedral bells ring?"
MODEL = {
    "llm.primary.protocol": "openai",
    "llm.primary.baseUrl": "https://models.test/v1",
    "llm.primary.model": "thinker-1",
}
"""A model whose endpoint answers from the script, in the OpenAI format."""


def hits(*titles: str, host: str = "example.com", reference: str | None = None, **fields: Any) -> Step:
    """A step that answers any request with these works; `reference` gives each a body to be loaded."""

    stashed: Any = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference) if reference else None

    def answer(request: SearchRequest) -> SearchResult:
        found = tuple(
            SearchHit(
                title=title,
                url=f"https://{host}/{title.replace(' ', '-')}",
                modality=request.modality,
                rank=rank,
                **{"content": stashed, **fields},
            )
            for rank, title in enumerate(titles, 1)
        )
        return SearchResult(
            query=request.query,
            modality=request.modality,
            provider_instance_id=host.partition(".")[0],
            tier=request.tier,
            hits=found,
            returned_count=len(found),
        )

    return answer


class Investigation(FakeEnvironment):
    """Tenant `acme`, project `demo`; `model_script` is what the model's endpoint answers, call by call."""

    def __init__(
        self,
        scripts: Mapping[str, Sequence[Step]] | None = None,
        settings: Mapping[str, str] | None = None,
        *,
        model_script: Sequence[HttpAnswer | ProviderError] = (),
        **more: Any,
    ) -> None:
        super().__init__(scripts, settings, **more)
        self.model_transport = ScriptedTransport(*model_script)

    @cached_property
    def models(self) -> ModelGateway:
        return ModelGateway(
            models=self._model_settings.read,
            recipes=RecipeBook(),
            builtin=BUILTIN_ANSWERS,
            transport=self.model_transport,
            keys=FakeKeyRing(),
            bedrock=_no_bedrock,
            clock=self.clock,
            metrics=self.metrics,
            tracing=self.tracing,
        )

    def start(self, **arguments: Any) -> Run:
        """A run, as the tool starts it."""
        launcher = InvestigationLauncher(
            runs=self.fake_runs,
            files=self.fake_files,
            executions=self.fake_executions,
            ends=self.run_ends,
            state_machine_arn=self._variables["INVESTIGATE_STATE_MACHINE"],
            clock=self.clock,
        )
        scope = SearchScope(
            tenant_id="acme", project_id="demo", request_id="request-1", deadline=Deadline.after(20, self.clock)
        )
        return launcher.start(InvestigateArguments(**{"question": QUESTION, **arguments}), scope)

    def step(self, name: str, run: Run, **given: Any) -> dict[str, Any]:
        """Invoke one step as the state machine does."""
        event = {"step": name, "run": {"tenant_id": "acme", "project_id": "demo", "run_id": run.run_id}, **given}
        return self.handler(event, LambdaContext(remaining_ms=300_000))

    @cached_property
    def handler(self) -> Callable[[Mapping[str, Any], Any], dict[str, Any]]:
        return steps(STEPS, lambda: self)

    def carry_out(self, run: Run, *, until: str | None = None) -> dict[str, Any]:
        """The whole run, one step after the other as they ask for it, as far as before the step `until`."""
        told = self.step("plan", run)
        while told["then"] not in ("finish", until):
            told = self._next(told, run)
        return self.step("finish", run, error=told.get("error")) if told["then"] == "finish" != until else told

    def _next(self, told: dict[str, Any], run: Run) -> dict[str, Any]:
        wave = told.get("wave", 1)
        if told["then"] == "search":
            for index in told["searches"]:
                self.step("search", run, index=index, wave=wave)
            return self.step("merge", run, wave=wave)
        if told["then"] == "evaluate":
            for index in told["batches"]:
                self.step("evaluate", run, index=index, wave=wave)
            return self.step("judge", run, wave=wave)
        if told["then"] == "extract":
            for index in told["batches"]:
                self.step("extract", run, index=index)
            return self.step("keep_insights", run)
        return self.step(told["then"], run, wave=wave)

    def run_of(self, run: Run) -> Run:
        standing = self.fake_runs.get(PROJECT, run.run_id)
        assert standing is not None
        return standing

    def file(self, run: Run, name: str) -> Any:
        """A run's file; None when it is not there."""
        raw = self.fake_files.objects.get(f"acme/demo/runs/{run.run_id}/{name}")
        return None if raw is None else orjson.loads(raw)

    def result(self, run: Run) -> Any:
        return self.file(run, "result.json")

    @property
    def hand(self) -> FakeClock:
        return self.hands


class _NoBedrock:
    def __call__(self, *_given: Any) -> Any:
        raise AssertionError("no test in here asks Bedrock")


_no_bedrock: BedrockClients = _NoBedrock()
