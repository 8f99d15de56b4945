"""Insights on moto's Step Functions: every way through their states leads to the run's end, and none to its failure."""

from typing import Any

import pytest

from tests.fakes.investigation import MODEL, PROJECT, Investigation, hits
from tests.fakes.models import completion, json_completion, refusal
from tests.fakes.state_machine import state_machine
from tests.functional.test_investigate_machine import Around, play
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.runs import Run, RunState

ASKED: dict[str, Any] = {"modalities": [SearchModality.WEB], "refine": False, "insights": True}
BELLS = hits(*(f"Cathedral bells {number}" for number in range(10)), host="alpha.com")
PLAN = json_completion({"searches": [{"query": "bells", "modality": "WEB"}], "rationale": ""})
KEPT = json_completion(
    {
        "verdicts": [
            {"key": f"h{number:03d}", "verdict": "keep", "relevanceScore": 0.5, "reason": "r"}
            for number in range(1, 11)
        ]
    }
)


DRAWN = json_completion(
    {
        "entities": [
            {"name": name, "type": "object", "key": key, "span": name}
            for name, key in (("Cathedral bells", "h001"), ("Cathedral bells", "h009"), ("Gold", "h001"))
        ],
        "relations": [],
    }
)
"""In either batch one entity stands in its hit, another is of a hit of the other one, and the third in none."""


def played(
    monkeypatch: pytest.MonkeyPatch, inv: Investigation, around: Around | None = None
) -> tuple[Run, dict[str, Any], list[str]]:
    """The run and the execution as they ended, and the steps that were invoked after the ranking."""
    with state_machine(around or Around(inv), monkeypatch) as machine:
        run, execution = play(inv, machine, **ASKED)
        steps = [each["step"] for each in machine.functions.invoked]
    assert (execution["status"], run.state, run.outcome) == ("SUCCEEDED", RunState.SUCCEEDED, "success")
    return run, inv.result(run)["insights"], steps[steps.index("rank") + 1 :]


def test_insights_come_after_the_ranking_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten survivors are two batches of a model with 2,000 tokens for an answer."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[PLAN, KEPT, DRAWN, DRAWN])
    run, told, steps = played(monkeypatch, inv)
    assert steps == ["insights", "extract", "extract", "keep_insights", "finish"]
    assert (told["state"], told["entities"], told["project"]["entities"]) == ("done", 1, 1)
    assert told["refused"] == {"not_verbatim": 1, "unknown_key": 3}
    assert run.progress["insights"].done == run.progress["insights"].total == 3
    assert inv.fake_insights.read(PROJECT) is not None


def test_without_a_model_no_batch_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The states between are passed over."""
    inv = Investigation({"alpha": [hits("Cathedral bells ring", host="alpha.com")]})
    _, told, steps = played(monkeypatch, inv)
    assert steps == ["insights", "keep_insights", "finish"]
    assert (told["state"], told["reason"]) == ("not_available", "no_model")


@pytest.mark.parametrize(
    "answers",
    [
        [completion("no json"), completion("again none")],
        [ProviderUnavailable("down")] * 3,
        [refusal(429, "Rate limit reached")] * 4,
    ],
)
def test_a_batch_that_fails_leaves_the_others_as_they_are(monkeypatch: pytest.MonkeyPatch, answers: list[Any]) -> None:
    """Its retries spent, it is caught inside of the Map; the run succeeds with what the rest brought."""
    inv = Investigation(
        {"alpha": [BELLS]},
        {**MODEL, "llm.harvest.maxParallel": "1"},
        model_script=[PLAN, KEPT, *answers, DRAWN],
    )
    _, told, _ = played(monkeypatch, inv)
    assert (told["state"], told["failed_batches"], told["entities"]) == ("partial", 1, 1)


@pytest.mark.parametrize("step", ["insights", "keep_insights"])
@pytest.mark.parametrize("error", ["Runtime.ExitError", "StepBroken"])
def test_a_step_that_dies_does_not_sink_the_run(monkeypatch: pytest.MonkeyPatch, step: str, error: str) -> None:
    """It is caught, and the result says that there are none."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[PLAN, KEPT, DRAWN, DRAWN])
    around = Around(inv)
    around.fails[step, 0] = [error]
    _, told, _ = played(monkeypatch, inv, around)
    assert told == {"state": "failed", "reason": "step_failed"}


def test_a_project_graph_that_stays_away_does_not_sink_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tried again by the state machine, then told as not merged; the run's own files are there."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[PLAN, KEPT, DRAWN, DRAWN])
    inv.fake_insights.fail_with = StoreUnavailable("SlowDown")
    run, told, steps = played(monkeypatch, inv)
    assert steps.count("keep_insights") == 4
    assert (told["state"], told["entities"], told["project"]) == ("done", 1, None)
    assert inv.file(run, "insights.jsonld") is not None


def test_a_project_graph_that_is_away_for_a_moment_is_written_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same step again, and nothing twice."""
    inv = Investigation({"alpha": [BELLS]}, MODEL, model_script=[PLAN, KEPT, DRAWN, DRAWN])
    around = Around(inv)
    around.fails["keep_insights", 0] = ["StoreUnavailable", "Lambda.ServiceException"]
    run, told, _ = played(monkeypatch, inv, around)
    assert (told["state"], told["project"]["entities"], run.usage.calls) == ("done", 1, 4)
