"""Envelopes to answers: status, headers, and JSON that fits where it goes."""

import json
from typing import Any

import orjson
import pytest

from tests.fakes.functions import body_of
from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.problem import InvalidArgument, OutOfTime
from zarniwoop.contract.result import SearchResult
from zarniwoop.entry.answers import broken, encode, http_response, refused, unconfigured, weight_as_string
from zarniwoop.tools.research_rich import RichResult


def _hit(rank: int, *, text: str | None = None, snippet: str = "s", **extras: Any) -> SearchHit:
    content = ContentReference(inline=ContentInline.EMBED_TEXT, text=text) if text else None
    return SearchHit(
        title=f"Hit {rank}",
        url=f"https://example.com/{rank}",
        modality=SearchModality.WEB,
        snippet=snippet,
        content=content,
        rank=rank,
        extras=extras,
    )


def _search(*hits: SearchHit, modality: SearchModality = SearchModality.WEB) -> SearchResult:
    return SearchResult(
        query="bells",
        modality=modality,
        provider_instance_id="main",
        tier=SearchTier.NORMAL,
        hits=hits,
        returned_count=len(hits),
    )


def _rich(**results: SearchResult) -> ToolResult:
    return ToolResult(ok=True, data=RichResult(query="bells", results=results, problems={}, partial=False, cost=0.0))


def test_an_answer_is_200_and_never_cached() -> None:
    """Nobody between us and the caller keeps what was found."""
    response = http_response(ToolResult(ok=True, data=_search(_hit(1))), "request-1")
    assert response["statusCode"] == 200
    assert response["headers"] == {
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-request-id": "request-1",
    }
    assert body_of(response)["data"]["hits"][0]["title"] == "Hit 1"


def test_a_problem_sets_the_status_and_says_when_to_come_again() -> None:
    """Retry-After in whole seconds, rounded up, where waiting helps."""
    late = http_response(refused(OutOfTime("late", wait_seconds=0.3)), "request-1")
    assert (late["statusCode"], late["headers"]["retry-after"]) == (504, "1")
    wrong = http_response(refused(InvalidArgument("wrong", field="query")), "request-1")
    assert wrong["statusCode"] == 400
    assert "retry-after" not in wrong["headers"]
    assert body_of(wrong)["error"]["field"] == "query"


def test_unreadable_settings_are_a_503_with_a_wait() -> None:
    """Not our caller's fault, and it heals."""
    response = http_response(unconfigured(ConfigurationUnavailable("SSM", retry_after=5.0)), "request-1")
    assert (response["statusCode"], response["headers"]["retry-after"]) == (503, "5")


def test_a_fault_of_ours_says_where_to_look_and_nothing_else() -> None:
    """The request id leads to the log."""
    problem = broken("request-1").error
    assert problem is not None
    assert (problem.status, problem.retryable) == (500, True)
    assert "request-1" in problem.detail


def test_what_fits_is_left_as_it_is() -> None:
    """Trimming is for what is too large."""
    whole = ToolResult(ok=True, data=_search(_hit(1, text="body")))
    assert orjson.loads(encode(whole)) == orjson.loads(orjson.dumps(whole))


def test_inline_bodies_go_before_any_hit_does() -> None:
    """A hit without its body still leads somewhere."""
    data = orjson.loads(encode(ToolResult(ok=True, data=_search(_hit(1, text="b" * 5_000), _hit(2))), 2_000))["data"]
    assert [hit["content"] for hit in data["hits"]] == [None, None]
    assert (data["truncated"], data["returned_count"], data["dropped_count"]) == (True, 2, 0)


def test_hits_go_from_the_end_when_there_are_no_bodies_left() -> None:
    """The best ranked stay longest, and the count of the dropped is exact."""
    hits = [_hit(rank, snippet="s" * 400) for rank in range(1, 9)]
    data = orjson.loads(encode(ToolResult(ok=True, data=_search(*hits)), 2_500))["data"]
    assert [hit["rank"] for hit in data["hits"]] == [1, 2]
    assert (data["truncated"], data["returned_count"], data["dropped_count"]) == (True, 2, 6)


def test_a_rich_answer_loses_its_bodies_first_too() -> None:
    """Modalities without bodies keep their hits while another one has a body to lose."""
    rich = _rich(WEB=_search(_hit(1, text="b" * 5_000)), NEWS=_search(_hit(1), _hit(2)), IMAGE=_search())
    results = orjson.loads(encode(rich, 3_000))["data"]["results"]
    assert [results[name]["returned_count"] for name in ("WEB", "NEWS", "IMAGE")] == [1, 2, 0]
    assert [results[name]["truncated"] for name in ("WEB", "NEWS", "IMAGE")] == [True, False, False]


def test_a_rich_answer_then_loses_hits_of_every_modality() -> None:
    """Half of each, so that none is lost for another."""
    heavy = [_hit(rank, snippet="s" * 400) for rank in range(1, 5)]
    results = orjson.loads(encode(_rich(WEB=_search(*heavy), NEWS=_search(*heavy)), 3_500))["data"]["results"]
    assert [results[name]["returned_count"] for name in ("WEB", "NEWS")] == [2, 2]


def test_what_cannot_be_made_lighter_goes_as_a_whole() -> None:
    """Better no data than an answer that Lambda throws away."""
    assert orjson.loads(encode(ToolResult(ok=True, data={"blob": "b" * 5_000}), 1_000)) == {
        "ok": True,
        "data": None,
        "error": None,
        "evidence": [],
    }
    assert orjson.loads(encode(ToolResult(ok=True, data=_search()), 10))["data"] is None


def test_the_weight_of_a_body_counts_what_is_escaped_once_more() -> None:
    """A proxy response holds the envelope as a JSON string."""
    encoded = orjson.dumps({"said": 'a "word" \\ é'})
    assert weight_as_string(encoded) == len(orjson.dumps(encoded.decode())) - 2


@pytest.mark.parametrize(
    ("value", "said"),
    [({1, 2}, "{1, 2}"), (b"raw", "b'raw'"), (10**30, 10**30), ({1: "one"}, {"1": "one"}), ("half \ud83d", "half ?")],
)
def test_what_an_addon_puts_in_a_hit_never_breaks_the_answer(value: Any, said: Any) -> None:
    """Extras are whatever an add-on says they are; JSON says it as well as it can."""
    encoded = encode(ToolResult(ok=True, data=_search(_hit(1, odd=value))))
    assert json.loads(encoded)["data"]["hits"][0]["extras"] == {"odd": said}
