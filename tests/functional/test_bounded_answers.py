"""`max_chars` through the deployed functions: an answer within its bound, and read to its end by its handle."""

from collections.abc import Iterator

import pytest

from tests.fakes.functions import posted, sample
from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator

ASKED = {"query": "cathedral", "modality": "BOOK", "max_results": 20}


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with deployed(simulator, monkeypatch, with_canary(simulator, "openlibrary-main")) as made:
        yield made


def _continued(stack: Deployed, handle: str) -> dict[str, object]:
    event = sample("results") | {"pathParameters": {"handle": handle}, "queryStringParameters": None}
    answer: dict[str, object] = stack.envelope("results", event)
    return answer


def test_an_answer_is_read_to_its_end_without_asking_anybody_again(stack: Deployed) -> None:
    """The pages hold the very hits of the whole answer; each costs one read of S3, the first one write."""
    whole = stack.envelope("research_search", posted(ASKED))["data"]["hits"]
    stack.forget_calls()
    data = stack.envelope("research_search", posted({**ASKED, "max_chars": 2_000}))["data"]
    assert 0 < len(data["hits"]) < len(whole)
    assert stack.calls_of("s3") == ["PutObject"]
    hits, size = data["hits"], data["size"]
    stack.forget_calls()
    while size["handle"]:
        page = _continued(stack, size["handle"])["data"]
        assert isinstance(page, dict)
        hits, size = hits + page["hits"], page["size"]
    assert hits == whole
    assert set(stack.aws_calls) == {("s3", "GetObject")}
    assert stack.simulator.requests() == []


def test_the_sample_s_handle_is_unknown(stack: Deployed) -> None:
    """Nobody put anything aside under it."""
    for answer in (stack.envelope("results", sample("results")), stack.call("results", sample("results.invoke"))):
        assert answer["error"]["type"] == "urn:zarniwoop:problem:unknown-result"


def test_without_a_bound_s3_is_not_touched(stack: Deployed) -> None:
    """What is not asked for costs nothing."""
    stack.forget_calls()
    assert stack.envelope("research_search", posted(ASKED))["data"]["size"] is None
    assert stack.calls_of("s3") == []
