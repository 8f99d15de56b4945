"""Tavily, Brave and SerpApi against the simulator: what is particular to them, over real sockets."""

from datetime import date

import pytest

from tests.fakes.httpx_transport import HttpxTransport
from tests.fakes.instances import request, scope
from tests.fakes.simulated import endpoint
from tests.simulator import Simulator
from zarniwoop.contract.failure import CredentialsRejected, ProviderError, QuotaExhausted, RateLimited
from zarniwoop.contract.modality import SearchModality


@pytest.mark.parametrize("protocol_id", ["tavily", "brave", "serpapi"])
@pytest.mark.parametrize(("key", "failure"), [("bad-key", CredentialsRejected), ("empty-key", QuotaExhausted)])
def test_a_bad_key_and_an_empty_account_are_told_apart(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str, key: str, failure: type[ProviderError]
) -> None:
    """401, 422 and 401 for the one; 432, 429 and 429 for the other."""
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport, key=key)
    with pytest.raises(failure):
        instance.search(request("bells"), scope())


@pytest.mark.parametrize("protocol_id", ["tavily", "brave", "serpapi"])
def test_a_pace_that_is_too_fast_is_no_empty_account(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    instance = endpoint(protocol_id, simulator.url(protocol_id, fault="429", retry_after=17), transport)
    with pytest.raises(RateLimited) as caught:
        instance.search(request("bells"), scope())
    assert caught.value.retry_after == 17


@pytest.mark.parametrize("protocol_id", ["tavily", "brave", "serpapi"])
def test_a_site_is_searched_by_the_provider(simulator: Simulator, transport: HttpxTransport, protocol_id: str) -> None:
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    result = instance.search(request("python asyncio", domain="python.org"), scope())
    assert result.returned_count >= 2 and result.dropped_count == 0
    assert all(".python.org/" in hit.url for hit in result.hits)


@pytest.mark.parametrize("engine", ["google", "bing", "duckduckgo"])
def test_every_engine_of_serpapi_is_paged_through(simulator: Simulator, transport: HttpxTransport, engine: str) -> None:
    """Without a hit that comes twice."""
    instance = endpoint("serpapi", simulator.url("serpapi"), transport, engine=engine)
    result = instance.search(request("site:org", max_results=30), scope())
    urls = [hit.url for hit in result.hits]
    assert len(urls) == len(set(urls)) > 10
    assert len(simulator.requests()) == result.calls > (engine != "duckduckgo")


def test_brave_s_pages_are_read_on(simulator: Simulator, transport: HttpxTransport) -> None:
    instance = endpoint("brave", simulator.url("brave"), transport)
    urls = [hit.url for hit in instance.search(request("-site:nowhere.example", max_results=50), scope()).hits]
    assert len(urls) == len(set(urls)) > 20
    assert len(simulator.requests()) == 3


def test_news_of_a_window_are_all_in_it(simulator: Simulator, transport: HttpxTransport) -> None:
    """SerpApi is asked loosely, and what it gave too much is dropped here."""
    instance = endpoint("serpapi", simulator.url("serpapi"), transport)
    window = request("climate", SearchModality.NEWS, date_from=date(2023, 3, 20), date_to=date(2023, 3, 20))
    (hit,) = instance.search(window, scope()).hits
    assert hit.published_at is not None
    assert hit.published_at.value.startswith("2023-03-20")


def test_a_page_is_extracted_by_tavily(simulator: Simulator, transport: HttpxTransport) -> None:
    """With the reference that its search offered."""
    instance = endpoint("tavily", simulator.url("tavily"), transport, extract="true")
    hit = instance.search(request("python asyncio"), scope()).hits[0]
    assert hit.content is not None
    content = instance.load_content(hit.content, scope())
    assert (content.media_type, content.source_url) == ("text/markdown", hit.url)
    assert content.body.decode().startswith(f"# {hit.title}")


@pytest.mark.parametrize(("protocol_id", "unit"), [("tavily", "credits"), ("serpapi", "searches")])
def test_the_account_s_quota_goes_down_with_every_search(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str, unit: str
) -> None:
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    before = instance.current_quota(scope())
    instance.search(request("bells"), scope())
    after = instance.current_quota(scope())
    assert before is not None and after is not None and before.remaining is not None
    assert (after.unit, after.remaining) == (unit, before.remaining - 1)


def test_brave_s_quota_comes_with_the_answer(simulator: Simulator, transport: HttpxTransport) -> None:
    instance = endpoint("brave", simulator.url("brave"), transport)
    assert instance.current_quota(scope()) is None
    quota = instance.search(request("bells"), scope()).quota
    assert quota is not None
    assert (quota.used, quota.limit, quota.exhausted) == (1.0, 1_000_000.0, False)
