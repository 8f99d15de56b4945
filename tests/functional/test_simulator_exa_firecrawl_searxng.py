"""Exa, Firecrawl and SearXNG in the simulator: formats beside the recorded answers, adapters over real sockets."""

import json
from datetime import date
from typing import Any

import httpx
import pytest

from tests.contract.payloads import payload
from tests.fakes.httpx_transport import HttpxTransport
from tests.fakes.instances import request, scope
from tests.fakes.simulated import endpoint
from tests.simulator import Simulator
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    ProviderError,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference
from zarniwoop.contract.modality import SearchModality


def exa(client: httpx.Client, path: str = "search", key: str = "good-key", **asked: Any) -> httpx.Response:
    return client.post(f"/exa/{path}", json=asked, headers={"x-api-key": key})


def firecrawl(client: httpx.Client, path: str = "search", key: str = "fc-good", **asked: Any) -> httpx.Response:
    return client.post(f"/firecrawl/v2/{path}", json=asked, headers={"Authorization": f"Bearer {key}"})


def searxng(client: httpx.Client, path: str = "search", **asked: str) -> httpx.Response:
    return client.get(f"/searxng/{path}", params={"format": "json", **asked})


def test_exa_has_no_keys_that_recorded_answers_lack(client: httpx.Client) -> None:
    """Text and highlights only when they are asked for, and priced then."""
    real = json.loads(payload("exa", "search_text_full_page.json"))
    ours = exa(client, query="climate change", category="news", contents={"text": True, "highlights": True}).json()
    assert set(ours) == set(real)
    known = {key for result in real["results"] for key in result} | {"highlights", "highlightScores"}
    assert all(set(result) <= known for result in ours["results"])
    pages = len(ours["results"])
    assert ours["costDollars"]["total"] == pytest.approx(0.005 + 0.002 * pages)
    plain = exa(client, query="climate change").json()
    assert {"text", "highlights"} & {key for result in plain["results"] for key in result} == set()
    assert plain["costDollars"] == {"total": 0.005, "search": {"neural": 0.005}}


@pytest.mark.parametrize(
    ("key", "asked", "status", "tag"),
    [
        ("bad-1", {"query": "bells"}, 401, "INVALID_API_KEY"),
        ("empty-1", {"query": "bells"}, 402, "NO_MORE_CREDITS"),
        ("good", {"query": " "}, 400, "INVALID_REQUEST_BODY"),
        ("good", {"query": "bells", "numResults": 101}, 400, "INVALID_NUM_RESULTS"),
        ("good", {"query": "bells", "type": "magic"}, 400, "INVALID_REQUEST_BODY"),
        ("good", {"query": "bells", "startPublishedDate": "soon"}, 400, "INVALID_REQUEST_BODY"),
    ],
)
def test_exa_refuses_with_a_tag(client: httpx.Client, key: str, asked: dict[str, Any], status: int, tag: str) -> None:
    refused = exa(client, key=key, **asked)
    assert (refused.status_code, refused.json()["tag"]) == (status, tag)
    assert set(json.loads(payload("exa", "error_402_no_more_credits.json"))) <= set(refused.json())


def test_exa_tells_of_every_page_whether_it_could_be_read(client: httpx.Client) -> None:
    link = exa(client, query="python asyncio").json()["results"][0]["url"]
    told = exa(client, "contents", urls=[link, "https://nowhere.example/"], text=True).json()
    assert [status["status"] for status in told["statuses"]] == ["success", "error"]
    assert [result["url"] for result in told["results"]] == [link]


def test_firecrawl_has_no_keys_that_recorded_answers_lack(client: httpx.Client) -> None:
    real = json.loads(payload("firecrawl", "v2_search_with_scrape.json"))
    ours = firecrawl(client, query="climate change", scrapeOptions={"formats": ["markdown"]}).json()
    assert set(ours) <= set(real) | {"id"}
    known = {key for item in real["data"]["web"] for key in item}
    assert ours["data"]["web"]
    assert all(set(item) <= known for item in ours["data"]["web"])
    documented = json.loads(payload("firecrawl", "doc_search.json"))["data"]
    told = firecrawl(client, query="climate change", sources=["web", "news", "images"]).json()["data"]
    assert set(told) == set(documented)
    assert all(set(item) <= set(documented["news"][0]) for item in told["news"])
    assert all(set(item) <= set(documented["images"][0]) for item in told["images"])


def test_firecrawl_counts_by_ten_results_and_by_pages(client: httpx.Client) -> None:
    headers = {"Authorization": "Bearer fc-good"}

    def left() -> int:
        usage: dict[str, Any] = client.get("/firecrawl/v2/team/credit-usage", headers=headers).json()
        assert set(usage["data"]) == set(json.loads(payload("firecrawl", "doc_team_credit_usage.json"))["data"])
        remaining: int = usage["data"]["remainingCredits"]
        return remaining

    before = left()
    assert firecrawl(client, query="python asyncio", limit=5).json()["creditsUsed"] == 2
    firecrawl(client, "scrape", url="https://nowhere.example/")
    assert left() == before - 3


@pytest.mark.parametrize(
    ("key", "asked", "status"),
    [
        ("bad-1", {"query": "bells"}, 401),
        ("empty-1", {"query": "bells"}, 402),
        ("good", {"query": "b" * 501}, 400),
        ("good", {"query": "bells", "limit": 101}, 400),
        ("good", {"query": "bells", "sources": ["videos"]}, 400),
    ],
)
def test_firecrawl_refuses_as_documented(client: httpx.Client, key: str, asked: dict[str, Any], status: int) -> None:
    refused = firecrawl(client, key=key, **asked)
    assert refused.status_code == status
    assert refused.json()["success"] is False
    if status in (401, 402):
        assert refused.json() == json.loads(payload("firecrawl", f"doc_error_{status}.json"))


def test_searxng_has_no_keys_that_recorded_answers_lack(client: httpx.Client) -> None:
    """The newer kind of result, whose keys are all there."""
    real = json.loads(payload("searxng", "partial_unresponsive.json"))
    mixed = json.loads(payload("searxng", "search_mixed_result_types.json"))
    ours = searxng(client, q="python asyncio").json()
    assert set(ours) == set(real)
    newer = next(set(result) for result in mixed["results"] if "pubdate" in result and "audio_src" in result)
    assert all(set(result) == newer for result in ours["results"])


def test_searxng_gives_json_only_where_it_is_on(client: httpx.Client) -> None:
    refused = searxng(client, "html-only/search", q="bells")
    assert (refused.status_code, refused.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert refused.content == payload("searxng", "format_disabled_403.html")
    assert client.get("/searxng/search", params={"q": "bells"}).headers["content-type"].startswith("text/html")
    assert client.get("/searxng/search", params={"q": "bells", "format": "csv"}).status_code == 403


def test_searxng_names_engines_that_were_blocked(client: httpx.Client) -> None:
    told = searxng(client, "blocked/search", q="bells").json()
    assert told["results"] == []
    assert [name for name, _ in told["unresponsive_engines"]] == ["brave", "duckduckgo", "google"]


@pytest.mark.parametrize(
    ("asked", "recording"), [({"q": "bells", "pageno": "x"}, "bad_pageno_400.json"), ({"q": ""}, "no_query_400.json")]
)
def test_searxng_refuses_in_the_recorded_words(client: httpx.Client, asked: dict[str, str], recording: str) -> None:
    refused = searxng(client, **asked)
    assert (refused.status_code, refused.json()) == (400, json.loads(payload("searxng", recording)))


@pytest.mark.parametrize("asked", [{"language": "deutsch!"}, {"time_range": "decade"}, {"pageno": "0"}])
def test_searxng_refuses_values_that_it_does_not_know(client: httpx.Client, asked: dict[str, str]) -> None:
    assert searxng(client, q="bells", **asked).status_code == 400


@pytest.mark.parametrize("protocol_id", ["exa", "firecrawl"])
@pytest.mark.parametrize(("key", "failure"), [("bad-key", CredentialsRejected), ("empty-key", QuotaExhausted)])
def test_a_bad_key_and_an_empty_account_are_told_apart(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str, key: str, failure: type[ProviderError]
) -> None:
    """401 and 402."""
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport, key=key)
    with pytest.raises(failure):
        instance.search(request("bells"), scope())


def test_a_proxy_before_searxng_refuses_a_key(simulator: Simulator, transport: HttpxTransport) -> None:
    instance = endpoint("searxng", simulator.url("searxng"), transport, key="bad-key")
    with pytest.raises(CredentialsRejected):
        instance.search(request("bells"), scope())


@pytest.mark.parametrize("protocol_id", ["exa", "firecrawl", "searxng"])
def test_a_pace_that_is_too_fast_is_no_empty_account(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    instance = endpoint(protocol_id, simulator.url(protocol_id, fault="429", retry_after=17), transport)
    with pytest.raises(RateLimited) as caught:
        instance.search(request("bells"), scope())
    assert caught.value.retry_after == 17


@pytest.mark.parametrize("protocol_id", ["exa", "firecrawl", "searxng"])
def test_a_site_is_found_in_the_provider_s_own_way(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    """As a domain, as an operator, and as an operator whose answer is looked through."""
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    result = instance.search(request("python asyncio", domain="python.org"), scope())
    assert result.returned_count >= 2 and result.dropped_count == 0
    assert all(".python.org/" in hit.url for hit in result.hits)


@pytest.mark.parametrize("protocol_id", ["exa", "firecrawl", "searxng"])
def test_news_of_one_day_are_all_of_it(simulator: Simulator, transport: HttpxTransport, protocol_id: str) -> None:
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    window = request("climate", SearchModality.NEWS, date_from=date(2023, 3, 20), date_to=date(2023, 3, 20))
    (hit,) = instance.search(window, scope()).hits
    assert hit.published_at is not None
    assert hit.published_at.value.startswith("2023-03-20")


@pytest.mark.parametrize("protocol_id", ["exa", "firecrawl"])
def test_a_page_is_read_with_the_reference_that_its_search_offered(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport, extract="true")
    hit = instance.search(request("python asyncio"), scope()).hits[0]
    assert hit.content is not None
    content = instance.load_content(hit.content, scope())
    assert (content.media_type, content.source_url) == ("text/markdown", hit.url)
    assert content.body.decode().startswith(f"# {hit.title}")
    gone = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="https://nowhere.example/")
    with pytest.raises(QueryRejected):
        instance.load_content(gone, scope())


def test_exa_s_text_and_highlights_come_where_the_settings_say_so(
    simulator: Simulator, transport: HttpxTransport
) -> None:
    bare = endpoint("exa", simulator.url("exa"), transport).search(request("python asyncio"), scope())
    assert {(hit.snippet, hit.content) for hit in bare.hits} == {(None, None)}
    settings = {"includeText": "true", "includeHighlights": "true"}
    full = endpoint("exa", simulator.url("exa"), transport, **settings).search(request("python asyncio"), scope())
    assert all(hit.snippet and hit.content for hit in full.hits)
    assert full.hits[0].extras["cost_dollars"] > bare.hits[0].extras["cost_dollars"] == 0.005


def test_firecrawl_s_quota_goes_down_with_what_a_search_costs(simulator: Simulator, transport: HttpxTransport) -> None:
    instance = endpoint("firecrawl", simulator.url("firecrawl"), transport, scrapeResults="true")
    before = instance.current_quota(scope())
    result = instance.search(request("python asyncio", max_results=3), scope())
    after = instance.current_quota(scope())
    assert before is not None and after is not None and before.remaining is not None
    assert result.hits[0].extras["credits"] == 2 + result.returned_count
    assert after.remaining == before.remaining - result.hits[0].extras["credits"]
    assert all(hit.content and hit.content.text for hit in result.hits)


def test_searxng_without_json_says_how_to_turn_it_on(simulator: Simulator, transport: HttpxTransport) -> None:
    instance = endpoint("searxng", f"{simulator.url('searxng')}/html-only", transport)
    with pytest.raises(AccessRefused) as caught:
        instance.search(request("bells"), scope())
    assert "search.formats: [html, json]" in caught.value.message


def test_searxng_with_all_engines_blocked_is_degraded(simulator: Simulator, transport: HttpxTransport) -> None:
    result = endpoint("searxng", f"{simulator.url('searxng')}/blocked", transport).search(request("bells"), scope())
    assert (result.hits, result.degraded) == ((), "engines that did not answer: brave, duckduckgo, google")


def test_searxng_s_pages_are_read_on(simulator: Simulator, transport: HttpxTransport) -> None:
    instance = endpoint("searxng", simulator.url("searxng"), transport)
    urls = [hit.url for hit in instance.search(request("the -site:nowhere.example", max_results=25), scope()).hits]
    assert len(urls) == len(set(urls)) == 25
    assert len(simulator.requests()) == 3
