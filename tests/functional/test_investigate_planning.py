"""What a planner is told of the providers, and when a better order is asked for."""

from typing import Any

import orjson
import pytest

from tests.fakes.investigation import MODEL, Investigation, hits
from tests.fakes.models import completion
from tests.functional.test_investigate_steps import BELLS, WEB, planned, verdicts

BETA = hits("Bells of brass", host="beta.com")


@pytest.mark.parametrize(
    "settings",
    [
        {"research.endpoint.beta.enabled": "false"},
        {"research.endpoint.beta.costPerCall": "0.4"},
    ],
)
def test_a_planner_is_told_of_those_alone_that_a_search_could_get_to(settings: dict[str, str]) -> None:
    """Not of one that is switched off, nor of one that costs and that nobody said to ask."""
    for more, told_of in ((settings, False), ({}, True)):
        inv = Investigation({"alpha": [BELLS], "beta": [BETA]}, {**MODEL, **more}, model_script=[planned("bells")])
        inv.step("plan", inv.start(**WEB))
        (sent,) = inv.model_transport.sent
        prompt = orjson.dumps(sent.request.json).decode()
        assert "- alpha (" in prompt
        assert ("- beta (" in prompt) is told_of


def test_hits_that_nobody_judged_are_not_put_into_a_better_order() -> None:
    """Nobody said yet that any of them belongs there."""
    script: list[Any] = [planned("bells"), completion("no json"), completion("again none")]
    settings = {**MODEL, "research.rerank.recipe": "zarniwoop-research-rerank"}
    inv = Investigation({"alpha": [BELLS]}, settings, model_script=script)
    run = inv.start(**WEB)
    inv.carry_out(run)
    assert (inv.result(run)["outcome"], inv.result(run)["reranked"]) == ("evaluate_failed", False)
    assert len(inv.model_transport.sent) == 3


@pytest.mark.parametrize(("second", "then"), [(planned("iron bells"), "search"), (planned(), "rerank")])
def test_a_better_order_is_announced_when_it_is_next(second: Any, then: str) -> None:
    """Not while a second wave has still to be searched and judged: a run that ends before was to have none yet."""
    settings = {**MODEL, "research.rerank.recipe": "zarniwoop-research-rerank"}
    judged = verdicts(h001=("keep", 0.9), h002=("keep", 0.5), h003=("drop", 0.1))
    inv = Investigation({"alpha": [BELLS]}, settings, model_script=[planned("bells"), judged, second])
    run = inv.start(**{**WEB, "refine": True})
    inv.carry_out(run, until="refine")
    assert inv.step("refine", run)["then"] == then
    assert ("rerank" in inv.run_of(run).progress) is (then == "rerank")
