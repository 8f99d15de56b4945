"""Answers that are more than can be sent: what does not go along is kept under a handle, whichever way it went out."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, posted, sample
from zarniwoop.contract.hit import ContentInline, ContentReference, SearchHit
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import SearchResult
from zarniwoop.entry.answers import MAX_ANSWER_BYTES, weight_as_string
from zarniwoop.entry.question_lines import Line, answer_to
from zarniwoop.entry.replies import MAX_DETAIL_BYTES
from zarniwoop.entry.results import results
from zarniwoop.entry.tool import tool
from zarniwoop.stores.continuations import KEPT_SECONDS
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import MAX_CHARS
from zarniwoop.tools.research_rich import RESEARCH_RICH
from zarniwoop.tools.research_search import RESEARCH_SEARCH

ASKED = {"query": "cathedral bells", "modality": "WEB", "max_results": 50}
SCOPE = {"tenant_id": "acme", "project_id": "demo"}
DEMO = ProjectKey(**SCOPE)
DAY = 86_400
Answer = dict[str, Any]


def heavy(*bodies: str, long: int = 0) -> Callable[[SearchRequest], SearchResult]:
    """A hit for each inline body, with an address of so many characters more."""

    def answer(request: SearchRequest) -> SearchResult:
        hits = tuple(
            SearchHit(
                title=f"Hit {rank}",
                url=f"https://example.com/{request.modality}/{rank}{'x' * long}",
                modality=request.modality,
                rank=rank,
                content=ContentReference(inline=ContentInline.EMBED_TEXT, text=body),
            )
            for rank, body in enumerate(bodies, 1)
        )
        return SearchResult(
            query=request.query,
            modality=request.modality,
            provider_instance_id="main",
            tier=request.tier,
            hits=hits,
            returned_count=len(hits),
        )

    return answer


def over_rest(environment: FakeEnvironment) -> Answer:
    response = tool(RESEARCH_SEARCH, environment=lambda: environment)(posted(ASKED), LambdaContext())
    assert weight_as_string(response["body"].encode()) <= MAX_ANSWER_BYTES
    data: Answer = body_of(response)["data"]
    return data


def by_invocation(environment: FakeEnvironment) -> Answer:
    answer = tool(RESEARCH_SEARCH, environment=lambda: environment)(
        {"scope": SCOPE, "arguments": ASKED}, LambdaContext()
    )
    assert len(orjson.dumps(answer)) <= MAX_ANSWER_BYTES
    data: Answer = answer["data"]
    return data


def by_event(environment: FakeEnvironment) -> Answer:
    event = sample("research_search.event")
    event["detail"] = {"scope": SCOPE, "arguments": ASKED}
    tool(RESEARCH_SEARCH, environment=lambda: environment)(event, LambdaContext())
    return published(environment)


def by_queue(environment: FakeEnvironment) -> Answer:
    event = sample("research_search.queue")
    event["Records"] = event["Records"][:1]
    event["Records"][0]["body"] = orjson.dumps({"scope": SCOPE, "arguments": ASKED}).decode()
    tool(RESEARCH_SEARCH, environment=lambda: environment)(event, LambdaContext())
    return published(environment)


def published(environment: FakeEnvironment) -> Answer:
    (entry,) = environment.bus.published
    assert len(entry["Detail"].encode()) <= MAX_DETAIL_BYTES + 200
    data: Answer = orjson.loads(entry["Detail"])["result"]["data"]
    return data


def read_on(environment: FakeEnvironment, size: Answer) -> list[Answer]:
    """All hits behind a handle, page by page."""
    hits: list[Answer] = []
    while size["handle"]:
        asked = {"scope": SCOPE, "arguments": {"handle": size["handle"]}}
        page = results(lambda: environment)(asked, LambdaContext())["data"]
        assert page["hits"], "every page brings something"
        hits, size = hits + page["hits"], page["size"]
    return hits


@pytest.mark.parametrize(
    ("way", "length"), [(over_rest, 150_000), (by_invocation, 150_000), (by_event, 7_000), (by_queue, 7_000)]
)
@pytest.mark.parametrize("letter", ["b", '"', "漢"])
def test_what_is_too_much_to_send_is_kept_under_a_handle(
    way: Callable[[FakeEnvironment], Answer], length: int, letter: str
) -> None:
    """Whole hits from the front, bodies and all; together with what the handle leads to, they are all there were."""
    bodies = [letter * length for _ in range(45)]
    environment = FakeEnvironment({"main": [heavy(*bodies)]})
    data = way(environment)
    assert (data["truncated"], data["dropped_count"]) == (True, 0)
    assert data["size"]["hits_left"] == 45 - len(data["hits"]) > 0
    hits = data["hits"] + read_on(environment, data["size"])
    assert [hit["rank"] for hit in hits] == list(range(1, 46))
    assert [hit["content"]["text"] for hit in hits] == bodies
    assert len(environment.fake_continuations.rests) == 1


def test_a_bound_of_the_caller_s_own_is_kept_where_that_is_more_than_can_be_sent() -> None:
    """The event bus takes less than the largest bound; no hit falls between the two."""
    environment = FakeEnvironment({"main": [heavy(*["b" * 50_000] * 20)]})
    event = sample("research_search.event")
    event["detail"] = {"scope": SCOPE, "arguments": ASKED | {"max_chars": 500_000}}
    tool(RESEARCH_SEARCH, environment=lambda: environment)(event, LambdaContext())
    data = published(environment)
    assert 0 < len(data["hits"]) < 5
    assert [hit["rank"] for hit in data["hits"] + read_on(environment, data["size"])] == list(range(1, 21))


def in_a_file(environment: FakeEnvironment) -> Answer:
    line = Line(number=1, raw=orjson.dumps({"arguments": ASKED}))
    data: Answer = orjson.loads(answer_to(line, DEMO, environment, LambdaContext()).told)["data"]
    return data


@pytest.mark.parametrize("way", [by_event, by_queue, in_a_file])
def test_what_nobody_waits_for_is_kept_as_long_as_other_content(way: Callable[[FakeEnvironment], Answer]) -> None:
    """A report of the night is read in the morning, and one of Friday on Monday."""
    environment = FakeEnvironment({"main": [heavy(*["b" * 7_000] * 45)]})
    size = way(environment)["size"]
    assert size["expires_at"] == environment.clock.now() + 7 * DAY
    environment.hands.advance(7 * DAY - 1)
    assert len(read_on(environment, size)) == size["hits_left"]
    environment.hands.advance(1)
    gone = results(lambda: environment)({"scope": SCOPE, "arguments": {"handle": size["handle"]}}, LambdaContext())
    assert gone["error"]["type"] == "urn:zarniwoop:problem:unknown-result"


def test_what_somebody_waits_for_is_kept_for_an_hour() -> None:
    """Whoever got the handle is still there to use it."""
    environment = FakeEnvironment({"main": [heavy(*["b" * 150_000] * 45)]})
    assert by_invocation(environment)["size"]["expires_at"] == environment.clock.now() + KEPT_SECONDS


def test_a_rich_answer_is_kept_likewise() -> None:
    """The best of every kind go along."""
    environment = FakeEnvironment({"main": [heavy(*["b" * 150_000] * 12)]})
    handler = tool(RESEARCH_RICH, environment=lambda: environment)
    answer = handler({"scope": SCOPE, "arguments": {"query": "bells", "max_results": 50}}, LambdaContext())
    data = answer["data"]
    counts = [len(each["hits"]) for each in data["results"].values()]
    assert 0 < min(counts) <= max(counts) <= min(counts) + 1
    assert data["size"]["hits_left"] == 48 - sum(len(each["hits"]) for each in data["results"].values())
    assert data["size"]["handle"]


def test_what_can_be_sent_costs_no_write() -> None:
    """Whatever goes along."""
    environment = FakeEnvironment({"main": [heavy(*["b" * 150_000] * 20)]})
    assert over_rest(environment)["size"] is None
    assert environment.fake_continuations.rests == {}


def test_a_hit_that_no_page_could_hold_goes_without_its_body() -> None:
    """Or nobody would ever get at it, and at those behind it."""
    environment = FakeEnvironment({"main": [heavy("b" * 6 * MAX_CHARS, "short", "also short")]})
    data = over_rest(environment)
    assert [hit["content"] and hit["content"]["text"] for hit in data["hits"]] == [None, "short", "also short"]
    assert data["truncated"]


def test_with_s3_down_the_hits_that_fit_are_given_out_all_the_same() -> None:
    """And it is told how many are missing."""
    environment = FakeEnvironment({"main": [heavy(*["b" * 150_000] * 45)]})
    environment.fake_continuations.fail_with = StoreUnavailable("down")
    size = over_rest(environment)["size"]
    assert (size["handle"], size["hits_left"] > 0) == (None, True)


def test_a_refusal_has_nothing_to_put_aside() -> None:
    """It is as short as it is."""
    environment = FakeEnvironment({"main": [heavy("b")]})
    refused = tool(RESEARCH_SEARCH, environment=lambda: environment)(posted({"query": ""}), LambdaContext())
    assert refused["statusCode"] == 400


def linked(hits: list[Answer]) -> list[str]:
    return [each["id"] for hit in hits for each in hit["evidence"]]


def test_a_bounded_answer_links_to_the_evidence_of_what_it_shows_and_the_rest_takes_its_own_along() -> None:
    """So that links are no way around the bound, and none is lost."""
    environment = FakeEnvironment({"main": [heavy(*["bells " * 300] * 40)]})
    asked = ASKED | {"store_evidence": True, "max_chars": 9_000}
    answer = tool(RESEARCH_SEARCH, environment=lambda: environment)(
        {"scope": SCOPE, "arguments": asked}, LambdaContext()
    )
    hits = answer["data"]["hits"]
    assert 0 < len(hits) < 10
    assert [each["url"] for each in answer["evidence"]] == [hit["url"] for hit in hits]
    rest = read_on(environment, answer["data"]["size"])
    assert len(hits) + len(rest) == 40
    everything = [each["id"] for each in answer["evidence"]] + linked(rest)
    assert sorted(everything) == sorted(each.id for each in environment.evidence.list(DEMO, limit=100).evidence)


def test_links_take_a_fifth_of_the_bound_and_those_that_are_left_out_are_counted() -> None:
    """Their evidence is kept all the same."""
    environment = FakeEnvironment({"main": [heavy(*["bells"] * 40)]})
    asked = ASKED | {"store_evidence": True, "max_chars": 6_000}
    answer = tool(RESEARCH_SEARCH, environment=lambda: environment)(
        {"scope": SCOPE, "arguments": asked}, LambdaContext()
    )
    hits, links = answer["data"]["hits"], answer["evidence"]
    assert answer["data"]["size"]["evidence_left"] == len(hits) - len(links) > 0
    assert [each["url"] for each in links] == [hit["url"] for hit in hits[: len(links)]]
    assert 0 < len(orjson.dumps(links)) <= 6_000 / 5
    assert len(environment.evidence.list(DEMO, limit=100).evidence) == 40


def test_links_never_keep_an_answer_from_being_sent() -> None:
    """The event bus takes less than many links with long addresses and titles are."""
    environment = FakeEnvironment({"main": [heavy(*["bells"] * 50, long=6_000)]})
    event = sample("research_search.event")
    event["detail"] = {"scope": SCOPE, "arguments": ASKED | {"store_evidence": True}}
    tool(RESEARCH_SEARCH, environment=lambda: environment)(event, LambdaContext())
    data = published(environment)
    assert 0 < len(data["hits"]) < 50
    rest = read_on(environment, data["size"])
    assert len(data["hits"]) + len(rest) == 50
    assert len(linked(rest)) == len(rest)
