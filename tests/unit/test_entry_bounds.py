"""Bounds of an invocation: what its sender can take, and for how long it waits."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.entry.answers import MAX_ANSWER_BYTES
from zarniwoop.entry.bounds import LEAST_BYTES, Bounds, bounded, bounds_of
from zarniwoop.entry.tool import tool
from zarniwoop.tools.research_search import RESEARCH_SEARCH

SCOPE = {"tenant_id": "acme", "project_id": "demo"}
ASKED = {"query": "bells", "modality": "WEB", "max_results": 50}


def test_without_any_an_answer_may_be_what_lambda_takes() -> None:
    assert bounds_of({}) == Bounds(bytes=MAX_ANSWER_BYTES, seconds=60.0)
    assert bounds_of({"bounds": {"bytes": 20_000, "seconds": 3}}) == Bounds(bytes=20_000, seconds=3.0)


@pytest.mark.parametrize(
    "given",
    [
        *("text", 7, [], None),
        *({"bytes": wrong} for wrong in (True, "many", LEAST_BYTES - 1, MAX_ANSWER_BYTES + 1, 2.5)),
        *({"seconds": wrong} for wrong in (0, -1, 61, "long", float("nan"))),
        {"more": 1},
    ],
)
def test_bounds_that_are_none_are_refused(given: Any) -> None:
    with pytest.raises(InvalidArgument):
        bounds_of({"bounds": given})


def test_what_cannot_be_shortened_is_refused_rather_than_handed_out_empty() -> None:
    """`data: null` beside `ok: true` would say that there is nothing."""
    result = ToolResult(ok=True, data={"text": "x" * 20_000}, evidence=({"id": "ev-1"},))
    envelope = bounded(result, Bounds(bytes=10_000), None)
    assert (envelope["ok"], envelope["data"]) == (False, None)
    assert envelope["error"]["type"] == "urn:zarniwoop:problem:answer-too-large"
    assert envelope["evidence"] == [{"id": "ev-1"}]
    assert bounded(result, Bounds(bytes=30_000), None)["data"] == result.data


def _heavy(request: SearchRequest) -> SearchResult:
    """Twenty hits, each with nine thousand bytes of Chinese."""
    text = ContentReference(inline=ContentInline.EMBED_TEXT, text="鐘" * 3_000)
    hits = tuple(
        SearchHit(
            title=f"Hit {rank}", url=f"https://example.com/{rank}", modality=request.modality, rank=rank, content=text
        )
        for rank in range(1, 21)
    )
    return SearchResult(
        query=request.query,
        modality=request.modality,
        provider_instance_id="main",
        tier=request.tier,
        hits=hits,
        returned_count=len(hits),
    )


def _invoked(bounds: Any, environment: FakeEnvironment) -> dict[str, Any]:
    handler = tool(RESEARCH_SEARCH, environment=lambda: environment)
    return handler({"scope": SCOPE, "arguments": ASKED, "bounds": bounds}, LambdaContext())


def test_a_tool_shortens_its_answer_to_what_its_caller_takes_and_keeps_the_rest() -> None:
    """In bytes, of which a letter may take three."""
    answer = _invoked({"bytes": 100_000}, FakeEnvironment({"main": [_heavy]}))
    assert len(orjson.dumps(answer)) <= 100_000
    assert 5 < len(answer["data"]["hits"]) < 20
    assert answer["data"]["size"]["handle"]
    whole = _invoked({}, FakeEnvironment({"main": [_heavy]}))
    assert len(whole["data"]["hits"]) == 20


def test_a_tool_takes_no_longer_than_its_caller_waits() -> None:
    """Nor longer than it would have by itself."""
    for bounds, seconds in (({"seconds": 4}, 4.0), ({"seconds": 60}, 20.0), ({}, 20.0)):
        seen: list[float] = []

        def note(_arguments: Any, scope: SearchScope, _services: Any, seen: list[float] = seen) -> ToolResult:
            seen.append(scope.deadline.remaining())
            return ToolResult(ok=True)

        tool(replace(RESEARCH_SEARCH, handle=note), environment=FakeEnvironment)(
            {"scope": SCOPE, "arguments": ASKED, "bounds": bounds}, LambdaContext(30_000)
        )
        assert seen == [pytest.approx(seconds)]


def test_an_invocation_with_bounds_that_are_none_is_refused() -> None:
    answer = _invoked({"bytes": 1}, FakeEnvironment({"main": [_heavy]}))
    assert (answer["ok"], answer["error"]["field"]) == (False, "bytes")
