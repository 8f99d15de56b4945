"""`result_read`: an answer read to its end by a model, which knows handles and no routes."""

from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, posted
from tests.fakes.providers import found
from zarniwoop.entry.tool import tool
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.tools.arguments import USUAL_CHARS
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.research_search import RESEARCH_SEARCH
from zarniwoop.tools.result_read import RESULT_READ

MANY = 40


@pytest.fixture
def environment() -> FakeEnvironment:
    return FakeEnvironment({"main": [found(MANY)]})


def _search(environment: FakeEnvironment, max_chars: int = 4_000) -> Any:
    arguments = {"query": "bells", "modality": "WEB", "max_results": MANY, "max_chars": max_chars}
    return body_of(tool(RESEARCH_SEARCH, lambda: environment)(posted(arguments), LambdaContext()))["data"]


def _read(environment: FakeEnvironment, identity: dict[str, str] | None = None, **arguments: Any) -> dict[str, Any]:
    event = posted(arguments, tool="result_read", identity=identity)
    return tool(RESULT_READ, lambda: environment)(event, LambdaContext())


def test_an_answer_is_read_to_its_end(environment: FakeEnvironment) -> None:
    """Every hit once, in its order, within the bound of the answer, and nobody is asked again."""
    data = _search(environment)
    hits, size, pages = list(data["hits"]), data["size"], 0
    while size["handle"]:
        response = _read(environment, handle=size["handle"])
        assert len(response["body"]) <= 4_000 + 100
        page = body_of(response)["data"]
        assert (page["tool"], page["untrusted"]) == ("research_search", True)
        hits, size, pages = hits + page["hits"], page["size"], pages + 1
    assert [hit["rank"] for hit in hits] == list(range(1, MANY + 1))
    assert pages >= 2
    assert len(environment.protocol.asked) == 1


def test_a_page_is_no_longer_than_a_model_can_take_unless_it_says_so(environment: FakeEnvironment) -> None:
    """What was too heavy to be sent was cut at much more than that."""
    handle = _search(environment)["size"]["handle"]
    (key, rest) = next(iter(environment.fake_continuations.rests.items()))
    long = tuple(("hits", {"title": "b" * 1_000}) for _ in range(200))
    environment.fake_continuations.rests[key] = type(rest)(
        tool=rest.tool, max_chars=1_000_000, begun_at=rest.begun_at, expires_at=rest.expires_at, entries=long
    )
    assert len(_read(environment, handle=handle)["body"]) <= USUAL_CHARS + 100
    whole = body_of(_read(environment, handle=handle, max_chars=1_000_000))["data"]
    assert len(whole["hits"]) == 200


@pytest.mark.parametrize(
    ("identity", "status"),
    [
        ({"tools": "research_search"}, 200),
        ({"tools": "research_search,geo_resolve"}, 200),
        ({"tools": "research_rich"}, 403),
        ({"tools": "result_read"}, 403),
        ({"level": "0"}, 403),
        ({"tenant_id": "rival"}, 404),
        ({"projects": "other"}, 404),
    ],
)
def test_a_handle_is_good_for_its_own_project_and_for_whoever_may_use_the_tool(
    environment: FakeEnvironment, identity: dict[str, str], status: int
) -> None:
    """As `GET /v1/results/<handle>` has it."""
    assert _read(environment, identity, handle=_search(environment)["size"]["handle"])["statusCode"] == status


def test_who_asks_for_a_token_of_few_tools_says_so(environment: FakeEnvironment) -> None:
    """A function that passes a call on passes the limits of its caller on as well."""
    handle = _search(environment)["size"]["handle"]

    def asked(*tools: str) -> dict[str, Any]:
        scope = {"tenant_id": "acme", "project_id": "demo", "tools": tools}
        return tool(RESULT_READ, lambda: environment)(
            {"scope": scope, "arguments": {"handle": handle}}, LambdaContext()
        )

    assert asked("research_search")["ok"]
    assert asked()["ok"]
    assert asked("research_rich")["error"]["status"] == 403


def test_a_scope_of_a_lower_level_reads_no_answer_of_a_tool_of_a_higher_one(
    environment: FakeEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As over HTTP; also when the token lists no tools."""
    handle = _search(environment)["size"]["handle"]
    higher = tuple(replace(each, level=3) if each is RESEARCH_SEARCH else each for each in TOOLS)
    monkeypatch.setattr("zarniwoop.tools.registry.TOOLS", higher)

    def status(**told: Any) -> int | None:
        scope = {"tenant_id": "acme", "project_id": "demo", **told}
        answer = tool(RESULT_READ, lambda: environment)(
            {"scope": scope, "arguments": {"handle": handle}}, LambdaContext()
        )
        return None if answer["error"] is None else answer["error"]["status"]

    assert status(level=2) == status(level=2, tools=["research_search"]) == 403
    assert status(level=3) is status(level=3, tools=["research_search"]) is status() is None


@pytest.mark.parametrize("handle", ["nonsense", f"{'f' * 32}-0", f"{'0' * 32}-99999", "../../secret-0"])
def test_what_is_no_handle_is_unknown(environment: FakeEnvironment, handle: str) -> None:
    """With the way out."""
    _search(environment)
    error = body_of(_read(environment, handle=handle))["error"]
    assert (error["status"], error["type"]) == (404, "urn:zarniwoop:problem:unknown-result")
    assert error["suggested_action"]


def test_a_bucket_that_is_away_comes_back(environment: FakeEnvironment) -> None:
    """So a model is told to ask again."""
    handle = _search(environment)["size"]["handle"]
    environment.fake_continuations.fail_with = StoreUnavailable("down")
    assert _read(environment, handle=handle)["statusCode"] == 503


def test_a_dry_run_reads_nothing(environment: FakeEnvironment) -> None:
    """And says so."""
    data = body_of(_read(environment, handle="nonsense", dry_run=True))["data"]
    assert (data["dry_run"], data["notes"]) == (True, ["reads what was put aside, and asks nobody"])
    assert environment.fake_continuations.calls["find"] == 0
