"""`GET /v1/usage` through its deployed function: what the other functions wrote down, read and summed."""

from collections.abc import Iterator

import pytest

from tests.fakes.functions import posted, sample
from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator

METERED = {
    "research.endpoint.serper-main.costPerCall": "1",
    "research.endpoint.serper-main.creditKind": "one_time",
    "research.default.web": "serper-main",
}


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    wanted = with_canary(simulator, "serper-main", "openlibrary-main") | METERED
    with deployed(simulator, monkeypatch, wanted) as made:
        yield made


def test_every_call_is_in_the_usage_with_what_it_cost(stack: Deployed) -> None:
    """In credits, since that is what this endpoint counts in; several requests of one search are as many calls."""
    for asked in ({"modality": "WEB", "max_results": 30}, {"modality": "BOOK"}):
        assert stack.envelope("research_search", posted({"query": "cathedral", **asked}))["ok"]
    made = len([seen for seen in stack.simulator.requests() if seen.path.startswith("/serper/")])
    stack.forget_calls()
    told = stack.envelope("usage", sample("usage") | {"queryStringParameters": None})["data"]
    row = told["providers"]["serper-main"]
    assert (row["asked"], row["calls"], row["credits"], row["usd"]) == (1, made, made, 0)
    assert told["providers"]["openlibrary-main"]["asked"] == told["modalities"]["BOOK"]["asked"] == 1
    assert (told["total"]["asked"], told["complete"], len(told["days"])) == (2, True, 1)
    assert set(stack.aws_calls) == {("dynamodb", "Query")}
    assert stack.simulator.requests() == []


def test_the_sample_request_is_answered(stack: Deployed) -> None:
    """Days in which nothing was asked are no error."""
    assert stack.envelope("usage", sample("usage"))["ok"]
