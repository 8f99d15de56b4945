"""The Python client against the deployed stack: its gateway, its authorizer, its state machine."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from stack.running import Stack
from stack.token import Wanted, issue
from tests.e2e.provider_journal import Providers
from zarniwoop_client import AsyncZarniwoop, InvalidRequest, NotAuthorized, Unreachable, Zarniwoop, ZarniwoopError

pytestmark = pytest.mark.e2e

NOBODY = "zw_nobody-has-this-token-at-all"
QUESTION = "What is the history of cathedral bells in books and news?"


@pytest.fixture
def client(stack: Stack) -> Iterator[Zarniwoop]:
    token = issue(stack.target, Wanted(tenant_id=stack.tenant_id, projects=("demo",)))
    with Zarniwoop(stack.api_url, token) as client:
        yield client


def test_a_search_is_answered_and_read_to_its_end(client: Zarniwoop) -> None:
    """Bounded, page by page, and put together; by a token of one project."""
    whole = client.search("python", "WEB", max_results=20)
    bounded = client.search("python", "WEB", max_results=20, max_chars=2_000)
    assert whole.request_id
    assert len(bounded.data.hits) < len(whole.data.hits)
    assert len(client.complete(bounded).data.hits) == len(whole.data.hits)


def test_a_run_is_watched_to_its_end_with_its_progress(client: Zarniwoop) -> None:
    """Without a model; its files are links that need no token."""
    told: list[str] = []
    run = client.investigate(QUESTION, max_searches=2)
    ended = client.wait_for(run, on_progress=lambda answer: told.append(answer.data.state))
    assert (ended.data.state, told[-1]) == ("succeeded", "succeeded")
    assert ended.data.results
    names = [each.name for each in client.runs.artifacts(run).data.artifacts]
    assert "result.json" in names
    assert run.data.run_id in [each.run_id for each in client.runs.each(limit=50)]


def test_a_run_is_stopped_by_whoever_watches_it(client: Zarniwoop, providers: Providers) -> None:
    """Its end is waited for; its provider is too slow for it to succeed before the stop."""
    providers.fault("wikipedia", "slow", delay_ms=5000)
    run = client.investigate("tungsten", modalities=["ENCYCLOPEDIA"], refine=False, max_searches=1)
    ended = client.wait_for(run, should_stop=lambda: True)
    assert (ended.data.state, ended.data.ended) == ("stopped", True)


def test_the_asynchronous_client_asks_at_once(stack: Stack) -> None:
    """Each gets its own answer, over the connections of one client."""

    async def several() -> Any:
        async with AsyncZarniwoop(stack.api_url, stack.token, project_id="demo") as client:
            return await asyncio.gather(client.search("bells", "WEB"), client.providers(), client.usage())

    search, providers, usage = asyncio.run(several())
    assert search.data.query == "bells"
    assert providers.data.providers
    assert usage.data.days is not None


def test_what_the_gateway_refuses_is_told_in_its_class(stack: Stack, client: Zarniwoop) -> None:
    """A token that is none of the stack's, a place that has no API, an argument that is none."""
    stranger = Zarniwoop(stack.api_url, NOBODY)
    with stranger, pytest.raises(NotAuthorized):
        stranger.usage()
    with pytest.raises(InvalidRequest) as wrong:
        client.call("research_search", query="bells", modality="SMELL")
    assert wrong.value.problem.field == "modality"
    elsewhere = Zarniwoop(stack.api_url.rstrip("/") + "x", NOBODY, retries=0)
    with elsewhere, pytest.raises(ZarniwoopError):
        elsewhere.usage()
    nowhere = Zarniwoop("http://127.0.0.1:9", NOBODY, retries=0)
    with nowhere, pytest.raises(Unreachable):
        nowhere.usage()
