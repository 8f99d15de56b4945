"""`max_chars` and `GET /v1/results/<handle>`: an answer read to its end, within its bound, by its own project only."""

from typing import Any

import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, posted, sample
from tests.fakes.providers import found
from zarniwoop.entry.results import results
from zarniwoop.entry.tool import tool
from zarniwoop.stores.continuations import KEPT_SECONDS
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.tools.research_rich import RESEARCH_RICH
from zarniwoop.tools.research_search import RESEARCH_SEARCH

MANY = 40


def _asked(environment: FakeEnvironment, **more: Any) -> Any:
    arguments = {"query": "bells", "modality": "WEB", "max_results": MANY, "max_chars": 4_000, **more}
    return body_of(tool(RESEARCH_SEARCH, lambda: environment)(posted(arguments), LambdaContext()))


def _read(environment: FakeEnvironment, handle: str, identity: dict[str, str] | None = None, **given: str) -> Any:
    event = sample("results") | {"pathParameters": {"handle": handle}, "queryStringParameters": given or None}
    event["requestContext"]["authorizer"] |= identity or {}
    return results(lambda: environment)(event, LambdaContext())


def test_an_answer_is_read_to_its_end_page_by_page() -> None:
    """Every hit once and in its order, no page above the bound, and no provider is asked again."""
    environment = FakeEnvironment({"main": [found(MANY)]})
    answer = _asked(environment)
    hits, size = list(answer["data"]["hits"]), answer["data"]["size"]
    pages = 0
    while size["handle"]:
        response = _read(environment, size["handle"])
        assert len(response["body"]) <= 4_000 + 100
        page = body_of(response)["data"]
        hits += page["hits"]
        size, pages = page["size"], pages + 1
    assert (len(hits), [hit["rank"] for hit in hits]) == (MANY, list(range(1, MANY + 1)))
    assert pages >= 2
    assert environment.fake_continuations.calls["keep"] == 1
    assert len(environment.protocol.asked) == 1


def test_another_bound_may_be_asked_for() -> None:
    """All that is left, at once."""
    environment = FakeEnvironment({"main": [found(MANY)]})
    answer = _asked(environment)["data"]
    page = body_of(_read(environment, answer["size"]["handle"], max_chars="1000000"))["data"]
    assert len(answer["hits"]) + len(page["hits"]) == MANY
    assert (page["size"]["handle"], page["size"]["hits_left"], page["tool"]) == (None, 0, "research_search")


def test_the_least_bound_leads_out_of_an_answer_without_hits() -> None:
    """Both where the tool is asked again and where its answer is read on."""
    environment = FakeEnvironment({"main": [found(20) for _ in range(8)]})
    handler = tool(RESEARCH_RICH, lambda: environment)

    def rich(max_chars: int) -> Any:
        arguments = {"query": "bells " * 40, "max_results": 20, "max_chars": max_chars}
        return body_of(handler(posted(arguments, tool="research_rich"), LambdaContext()))["data"]

    size = rich(2_000)["size"]
    assert (size["hits"], size["hits_left"], size["least_max_chars"] > 2_000) == (0, 80, True)
    again = rich(size["least_max_chars"])["size"]
    assert again["hits"] >= 1
    page = body_of(_read(environment, again["handle"], max_chars=str(again["least_max_chars"])))["data"]["size"]
    assert page["hits"] >= 1
    assert page["least_max_chars"] >= 2_000


def test_an_answer_that_fits_puts_nothing_aside() -> None:
    """Nor does one without a bound, or a dry run."""
    environment = FakeEnvironment({"main": [found(2), found(MANY)]})
    assert _asked(environment)["data"]["size"]["handle"] is None
    assert _asked(environment, max_chars=None)["data"]["size"] is None
    assert _asked(environment, dry_run=True)["ok"]
    assert environment.fake_continuations.calls["keep"] == 0


def test_a_rich_answer_is_continued_by_kind() -> None:
    """In the shape of the answer itself."""
    environment = FakeEnvironment({"main": [found(20) for _ in range(4)]})
    arguments = {"query": "bells", "max_results": 20, "max_chars": 6_000}
    handler = tool(RESEARCH_RICH, lambda: environment)
    answer = body_of(handler(posted(arguments, tool="research_rich"), LambdaContext()))["data"]
    page = body_of(_read(environment, answer["size"]["handle"], max_chars="1000000"))["data"]
    for name, told in answer["results"].items():
        assert len(told["hits"]) + len(page["results"][name]["hits"]) == 20


def test_the_hits_that_fit_are_given_out_also_when_the_rest_cannot_be_kept() -> None:
    """They have been paid for."""
    environment = FakeEnvironment({"main": [found(MANY)]})
    environment.fake_continuations.fail_with = StoreUnavailable("down")
    answer = _asked(environment)
    assert answer["ok"]
    assert answer["data"]["hits"]
    assert (answer["data"]["size"]["handle"], answer["data"]["size"]["hits_left"] > 0) == (None, True)


@pytest.mark.parametrize(
    ("identity", "status"),
    [
        ({"tenant_id": "rival"}, 404),
        ({"projects": "other"}, 404),
        ({"tools": "research_rich"}, 403),
        ({"level": "0"}, 403),
        ({"tools": "research_search"}, 200),
    ],
)
def test_a_handle_is_good_for_its_own_project_and_for_whoever_may_use_the_tool(
    identity: dict[str, str], status: int
) -> None:
    """To everybody else it is unknown, or forbidden."""
    environment = FakeEnvironment({"main": [found(MANY)]})
    handle = _asked(environment)["data"]["size"]["handle"]
    assert _read(environment, handle, identity)["statusCode"] == status


@pytest.mark.parametrize("handle", ["nonsense", "0" * 32 + "-0", "0" * 32 + "-99999", "../../secret-0"])
def test_what_is_no_handle_is_unknown(handle: str) -> None:
    """With the way out."""
    response = _read(FakeEnvironment(), handle)
    error = body_of(response)["error"]
    assert (response["statusCode"], error["type"]) == (404, "urn:zarniwoop:problem:unknown-result")
    assert error["suggested_action"]


def test_an_offset_behind_the_end_is_unknown() -> None:
    """A handle can be made up, and then leads nowhere."""
    environment = FakeEnvironment({"main": [found(MANY)]})
    token = _asked(environment)["data"]["size"]["handle"].partition("-")[0]
    assert _read(environment, f"{token}-{MANY}")["statusCode"] == 404


def test_after_an_hour_a_handle_is_unknown() -> None:
    """As `expires_at` said."""
    environment = FakeEnvironment({"main": [found(MANY)]})
    size = _asked(environment)["data"]["size"]
    assert size["expires_at"] == environment.clock.now() + KEPT_SECONDS
    environment.hands.advance(KEPT_SECONDS)
    assert _read(environment, size["handle"])["statusCode"] == 404


def test_a_bucket_that_is_away_comes_back() -> None:
    """So the caller is told to ask again."""
    environment = FakeEnvironment({"main": [found(MANY)]})
    handle = _asked(environment)["data"]["size"]["handle"]
    environment.fake_continuations.fail_with = StoreUnavailable("down")
    response = _read(environment, handle)
    assert (response["statusCode"], response["headers"]["retry-after"]) == (503, "1")


@pytest.mark.parametrize("max_chars", [1_999, 1_000_001, "4000", True])
def test_a_bound_out_of_bounds_is_refused(max_chars: object) -> None:
    """By name."""
    error = _asked(FakeEnvironment(), max_chars=max_chars)["error"]
    assert (error["status"], error["field"]) == (400, "max_chars")


def test_an_invocation_names_its_scope() -> None:
    """And gets the same envelope."""
    environment = FakeEnvironment({"main": [found(MANY)]})
    handle = _asked(environment)["data"]["size"]["handle"]
    event = {"scope": {"tenant_id": "acme", "project_id": "demo"}, "arguments": {"handle": handle}}
    assert results(lambda: environment)(event, LambdaContext())["data"]["hits"]
