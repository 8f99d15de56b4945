"""What a planner is told of the providers, and when a better order is asked for."""

from typing import Any

import orjson
import pytest

from tests.fakes.investigation import MODEL, Investigation, hits
from tests.fakes.models import completion
from tests.functional.test_investigate_steps import BELLS, WEB, planned

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
