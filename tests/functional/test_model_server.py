"""The gateway over real HTTP, against the scripted model and everything that it can do wrong."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.models import Models
from tests.fakes.template import ROOT
from tests.simulator.model_answers import PROSE
from tests.simulator.model_faults import FAULTS
from tests.simulator.model_server import ModelServer
from zarniwoop.contract.chat import ChatMessage, ChatRequest, ModelRole
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    Cause,
    CredentialsRejected,
    EmptyLLMResponseError,
    InvalidModelOutput,
    MalformedAnswer,
    ModelError,
    ModelRefused,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.llm.recipes import EVALUATE, INSIGHTS, PLAN, REFINE, RERANK
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.exchange import Limits
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock
from zarniwoop.pipelines.investigate.evaluate import EvaluateAnswer
from zarniwoop.pipelines.investigate.fence import fenced_hits
from zarniwoop.pipelines.investigate.insights import InsightsAnswer
from zarniwoop.pipelines.investigate.plan import PlanAnswer, PlanLimits, ProviderCard, plan_variables
from zarniwoop.pipelines.investigate.rank import RerankAnswer

NONCE = "9f86d081884c7d65"
CARDS = (
    ProviderCard(id="wiki-en", display_name="W", modalities=(SearchModality.ENCYCLOPEDIA,), hint="facts"),
    ProviderCard(id="papers", display_name="P", modalities=(SearchModality.ACADEMIC,), hint="papers"),
)
VARIABLES: dict[str, Any] = {
    **plan_variables("Which bells has a cathedral?", "2026-11-30", CARDS, PlanLimits(max_searches=6)),
    "nonce": NONCE,
    "fence": fenced_hits([{"key": f"h{number:03}", "title": f"Bell {number}"} for number in range(1, 5)], NONCE),
    "previous": [],
    "survivors": 0,
    "threshold": 3,
}
FAILURES: dict[str, type[ProviderError | ModelError]] = {
    "401": CredentialsRejected,
    "429": RateLimited,
    "500": ProviderUnavailable,
    "error_in_200": ProviderUnavailable,
    "hang": ProviderUnavailable,
    "html": MalformedAnswer,
    "empty": EmptyLLMResponseError,
    "truncated": InvalidModelOutput,
    "wrong_schema": InvalidModelOutput,
    "no_json": InvalidModelOutput,
    "refusal": ModelRefused,
    "reasoning_only": EmptyLLMResponseError,
}
HARMLESS = sorted(FAULTS.keys() - FAILURES.keys())


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(scope="module")
def transport() -> Iterator[PooledTransport]:
    made = PooledTransport(contact="", allowed=AllowedNetworks.parse("127.0.0.1/32"), limits=Limits(read=900.0))
    yield made
    made.close()


def _models(transport: PooledTransport, base_url: str, **settings: str) -> Models:
    primary = {"protocol": "openai", "baseUrl": base_url, "model": "scripted", **settings}
    return Models(primary=primary, transport=transport)


def _scope(seconds: float = 20.0) -> SearchScope:
    return SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(seconds, SystemClock()))


def _control(transport: PooledTransport, url: str, what: str, body: object = None) -> Any:
    request = HttpRequest(url=f"{url}/_control/{what}", method="POST" if body else "GET", json=body)
    return json.loads(transport.send(request, deadline=_scope().deadline).body)


def test_the_scripted_model_answers_every_recipe(server: ModelServer, transport: PooledTransport) -> None:
    """In the form that the pipeline reads, about what it was shown."""
    gateway = _models(transport, server.base_url()).gateway
    plan = gateway.call_for_json(PLAN, VARIABLES, PlanAnswer, _scope())
    assert [(each.modality, each.source_affinity) for each in plan.value.searches] == [
        ("ACADEMIC", {"papers": 1.0}),
        ("ENCYCLOPEDIA", {"wiki-en": 1.0}),
    ]
    assert plan.usage.input_tokens > 100
    second = gateway.call_for_json(REFINE, VARIABLES, PlanAnswer, _scope()).value
    assert second.searches[0].query == "Which bells has a cathedral? overview"
    verdicts = gateway.call_for_json(EVALUATE, VARIABLES, EvaluateAnswer, _scope()).value.verdicts
    assert [(each.key, each.verdict) for each in verdicts] == [
        ("h001", "keep"),
        ("h002", "keep"),
        ("h003", "drop"),
        ("h004", "keep"),
    ]
    order = gateway.call_for_json(RERANK, VARIABLES, RerankAnswer, _scope()).value
    assert order.keys == ["h004", "h003", "h002", "h001"]
    insights = gateway.call_for_json(INSIGHTS, VARIABLES, InsightsAnswer, _scope()).value
    assert (len(insights.entities), len(insights.relations)) == (3, 3)
    chat = ChatRequest(messages=(ChatMessage(role="user", content="Hello"),), max_tokens=50)
    assert gateway.complete(ModelRole.PRIMARY, chat, _scope()).text == PROSE


@pytest.mark.parametrize("fault", FAILURES)
def test_a_fault_has_its_consequence(server: ModelServer, transport: PooledTransport, fault: str) -> None:
    """Typed, with what it cost, and not asked more often than it may be."""
    models = _models(transport, server.base_url(fault), timeoutSeconds="1")
    before = len(server.requests)
    with pytest.raises(FAILURES[fault]) as raised:
        models.gateway.call_for_json(PLAN, VARIABLES, PlanAnswer, _scope())
    twice = {"truncated", "wrong_schema", "no_json", "reasoning_only"}
    assert len(server.requests) - before == (2 if fault in twice else 1)
    error: Any = raised.value
    assert (error.usage.calls > 0) is isinstance(error, ModelError)


@pytest.mark.parametrize("fault", HARMLESS)
def test_what_only_looks_wrong_is_got_over(server: ModelServer, transport: PooledTransport, fault: str) -> None:
    """Prose around the JSON, thoughts before it, and servers that refuse a part of the request."""
    models = _models(transport, server.base_url(fault))
    assert models.gateway.call_for_json(PLAN, VARIABLES, PlanAnswer, _scope()).value.searches


@pytest.mark.parametrize("fault", ["truncated", "wrong_schema", "no_json", "reasoning_only"])
def test_a_fault_that_passes_is_got_over(server: ModelServer, transport: PooledTransport, fault: str) -> None:
    """One repair, or one larger budget."""
    models = _models(transport, server.base_url(fault, times=1))
    got = models.gateway.call_for_json(PLAN, VARIABLES, PlanAnswer, _scope())
    assert got.usage.calls == 2
    budgets = [request["body"]["max_tokens"] for request in server.requests[-2:]]
    assert budgets == ([2000, 4000] if fault in ("truncated", "reasoning_only") else [2000, 2000])


def test_a_model_that_hangs_is_left_at_its_deadline(server: ModelServer, transport: PooledTransport) -> None:
    """The caller's, when that comes first."""
    models = _models(transport, server.base_url("hang"))
    started = time.monotonic()
    with pytest.raises(ProviderUnavailable) as raised:
        models.gateway.call_for_json(PLAN, VARIABLES, PlanAnswer, _scope(0.3))
    assert time.monotonic() - started < 2.0
    assert raised.value.cause is Cause.DEADLINE


def test_a_stated_wait_is_kept(server: ModelServer, transport: PooledTransport) -> None:
    """For whoever tries again."""
    with pytest.raises(RateLimited) as raised:
        _models(transport, server.base_url("429")).gateway.call_for_json(PLAN, VARIABLES, PlanAnswer, _scope())
    assert raised.value.retry_after == 1.0


def test_a_script_says_what_comes_next(server: ModelServer, transport: PooledTransport) -> None:
    """A step with a schema waits for its question."""
    server.script({"schema": "research_plan", "fault": "429"}, {"json": {"verdicts": []}})
    gateway = _models(transport, server.base_url()).gateway
    assert gateway.call_for_json(EVALUATE, VARIABLES, EvaluateAnswer, _scope()).value.verdicts == []
    with pytest.raises(RateLimited):
        gateway.call_for_json(PLAN, VARIABLES, PlanAnswer, _scope())
    assert gateway.call_for_json(PLAN, VARIABLES, PlanAnswer, _scope()).value.searches


def test_the_scripted_model_runs_as_a_process(tmp_path: Path, transport: PooledTransport) -> None:
    """It tells where it is once it listens, is scripted over HTTP, and ends when it is told to."""
    ready = tmp_path / "ready.json"
    process = subprocess.Popen(  # noqa: S603 - our own server
        [sys.executable, "-m", "tests.simulator.model_server", "--ready-file", str(ready)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        while not ready.exists():
            assert process.poll() is None
            time.sleep(0.02)
        url = json.loads(ready.read_text(encoding="ascii"))["url"]
        _control(transport, url, "script", {"steps": [{"schema": "research_plan", "content": "never mind"}]})
        got = _models(transport, f"{url}/v1").gateway.call_for_json(PLAN, VARIABLES, PlanAnswer, _scope())
        assert (len(got.value.searches), got.usage.calls) == (2, 2)
        told = _control(transport, url, "requests")
        assert [each["schema"] for each in told["requests"]] == ["research_plan", "research_plan"]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
