"""Firecrawl: every recorded answer, the questions that are put to it, what its pages, credits and failures mean."""

import re
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.firecrawl import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, LoadedContent, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, Secret

_KEY = "fc-a-key-of-firecrawl"
_CHEAPLY = {"formats": ["markdown"], "proxy": "basic", "parsers": [{"type": "pdf", "maxPages": 20}]}
_MODALITIES = (SearchModality.WEB, SearchModality.NEWS, SearchModality.IMAGE)


def _search(asked: SearchRequest, told: HttpAnswer, **extras: str) -> tuple[SearchResult, dict[str, Any]]:
    """The result, and the JSON that was sent for it."""
    transport = ScriptedTransport(told)
    result = instance(PROTOCOL, transport, key=_KEY, extras=extras).search(asked, scope())
    (sent,) = transport.sent
    return result, sent.request.json


def _read(name: str, *, status: int = 200, modality: SearchModality = SearchModality.WEB) -> SearchResult:
    return _search(request(modality=modality), answer(payload("firecrawl", name), status=status))[0]


def _fixture(name: str, *, status: int = 200) -> HttpAnswer:
    return answer(fixture("firecrawl", name), status=status)


def _load(reference: str | None, *script: HttpAnswer) -> tuple[LoadedContent, ScriptedTransport]:
    transport = ScriptedTransport(*script)
    wanted = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference)
    return instance(PROTOCOL, transport, key=_KEY).load_content(wanted, scope()), transport


def _quota(told: HttpAnswer) -> QuotaStatus:
    quota = instance(PROTOCOL, ScriptedTransport(told), key=_KEY).current_quota(scope())
    assert quota is not None
    return quota


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("firecrawl", __file__) == []


def test_a_recorded_search_with_scraped_pages_is_read() -> None:
    """Some pages came along, some could not be had; the credits are an extra of the first hit."""
    result = _read("v2_search_with_scrape.json")
    assert (result.returned_count, result.dropped_count, result.note) == (5, 0, None)
    assert [(hit.title, hit.url) for hit in result.hits] == [
        ("Firecrawl - The Web Data API for AI", "https://www.firecrawl.dev/"),
        (
            "firecrawl/firecrawl: The Web Data API for AI - Turn entire ... - GitHub",
            "https://github.com/firecrawl/firecrawl",
        ),
        ("Firecrawl (@firecrawl_dev) / Posts / X", "https://x.com/firecrawl_dev?lang=en"),
        ("Firecrawl - GitHub", "https://github.com/firecrawl"),
        ("Firecrawl | LinkedIn", "https://www.linkedin.com/company/firecrawl"),
    ]
    code = {"category": "github"}
    assert [hit.extras for hit in result.hits] == [{"credits": 3}, code, {}, code, {}]
    assert [hit.content is not None for hit in result.hits] == [True, True, False, True, False]
    page = result.hits[1].content
    assert page is not None
    assert (page.inline, page.media_type) == (ContentInline.EMBED_TEXT, "text/markdown")
    assert page.text is not None
    assert page.text.startswith("[Skip to content](https://github.com/firecrawl/firecrawl#start-of-content)")


def test_the_documented_search_has_a_list_per_source() -> None:
    """A page has a description, a story a snippet and a date for readers, a picture its size."""
    web, news, images = (_read("doc_search.json", modality=modality).hits for modality in _MODALITIES)
    assert [hit.source for hit in web] == ["www.firecrawl.dev", "github.com"]
    assert web[0].snippet is not None
    assert web[0].snippet.startswith("The web crawling, scraping, and search API for AI.")
    (story,) = news
    assert story.title.startswith("Y Combinator startup Firecrawl is ready to pay $1M")
    assert story.snippet is not None
    assert story.snippet.startswith("It's now placed three new ads on YC's job board")
    assert (story.published_at, story.extras) == (None, {"date_text": "3 months ago"})
    (picture,) = images
    assert (picture.title, picture.url) == ("Quickstart | Firecrawl", "https://docs.firecrawl.dev/")
    assert picture.extras == {
        "image_url": "https://mintlify.s3.us-west-1.amazonaws.com/firecrawl/logo/logo.png",
        "width": 5814,
        "height": 1200,
    }


def test_the_documented_search_of_categories_tells_each_hit_s() -> None:
    hits = _read("doc_search_feature_1.json").hits
    assert [(hit.source, hit.extras) for hit in hits] == [
        ("github.com", {"category": "github"}),
        ("arxiv.org", {"category": "research"}),
    ]


def test_the_older_documented_shape_is_one_list() -> None:
    (hit,) = _read("doc_search_feature_2.json").hits
    assert (hit.title, hit.url) == ("Firecrawl - The Ultimate Web Scraping API", "https://firecrawl.dev/")
    assert hit.content is not None
    assert hit.content.text is not None
    assert hit.content.text.startswith("# Firecrawl\n\nThe Ultimate Web Scraping API")


def test_a_recorded_scrape_is_the_page_s_markdown() -> None:
    """Of the address that it had in the end."""
    content, _ = _load("https://firecrawl.dev", answer(payload("firecrawl", "v2_scrape.json")))
    assert (content.media_type, content.source_url) == ("text/markdown", "https://www.firecrawl.dev/")
    assert content.body.decode().startswith("We just raised our Series A and shipped Firecrawl /v2 🎉.")


@pytest.mark.parametrize(
    ("name", "begin", "source"),
    [
        ("doc_scrape.json", "Launch Week I is here! [See our Day 2 Release 🚀]", "https://firecrawl.dev"),
        ("doc_scrape_actions.json", "Our first Launch Week is over!", "http://google.com"),
    ],
)
def test_the_documented_scrapes_are_read(name: str, begin: str, source: str) -> None:
    """With HTML or what actions brought beside the Markdown."""
    content, _ = _load("https://firecrawl.dev", answer(payload("firecrawl", name)))
    assert content.body.decode().startswith(begin)
    assert content.source_url == source


def test_a_scrape_without_markdown_is_rejected() -> None:
    """As the documented one of JSON alone."""
    with pytest.raises(QueryRejected):
        _load("https://firecrawl.dev", answer(payload("firecrawl", "doc_scrape_json.json")))


@pytest.mark.parametrize("name", ["v2_crawl_start.json", "v2_crawl_status_scraping.json"])
def test_a_recorded_crawl_is_no_page(name: str) -> None:
    """Nothing is crawled here: the answers of that job are of another shape."""
    with pytest.raises(MalformedAnswer):
        _load("https://firecrawl.dev", answer(payload("firecrawl", name)))


def test_the_documented_credit_usage_is_the_quota() -> None:
    """Until the end of the billing period."""
    quota = _quota(answer(payload("firecrawl", "doc_team_credit_usage.json")))
    assert (quota.source, quota.unit) == (QuotaSource.PROVIDER, "credits")
    assert (quota.used, quota.limit, quota.remaining) == (499_000.0, 500_000.0, 1000.0)
    assert quota.resets_at == 1738367999.0


@pytest.mark.parametrize(
    ("name", "status", "failure"),
    [
        ("doc_error_401.json", 401, CredentialsRejected),
        ("doc_error_402.json", 402, QuotaExhausted),
        ("doc_error_408.json", 408, ProviderUnavailable),
        ("doc_error_429.json", 429, RateLimited),
        ("doc_error_500.json", 500, ProviderUnavailable),
    ],
)
def test_the_documented_errors_are_typed(name: str, status: int, failure: type[ProviderError]) -> None:
    """Some without `success`, one with a code."""
    with pytest.raises(failure) as caught:
        _read(name, status=status)
    assert caught.value.status == status


def test_a_402_that_speaks_of_no_credits_is_an_empty_account_too() -> None:
    with pytest.raises(QuotaExhausted):
        _search(request(), _fixture("error_402_plain.json", status=402))


@pytest.mark.parametrize(("status", "failure"), [(400, QueryRejected), (403, AccessRefused), (422, QueryRejected)])
def test_other_refusals_are_read_as_everybody_s(status: int, failure: type[ProviderError]) -> None:
    with pytest.raises(failure):
        _search(request(), answer({"success": False, "error": "Forbidden"}, status=status))


def test_a_200_that_says_it_failed_is_a_failure() -> None:
    with pytest.raises(ProviderUnavailable):
        _search(request(), _fixture("failed_200.json"))
    with pytest.raises(ProviderUnavailable):
        _load("https://bells.example/", _fixture("failed_200.json"))


def test_a_malformed_item_or_a_script_link_is_dropped_and_counted() -> None:
    result, _ = _search(request(), _fixture("web.json"))
    assert (result.returned_count, result.dropped_count) == (2, 2)
    first, second = result.hits
    assert (first.title, first.source) == ("How a bell is cast & tuned", "bells.example")
    assert first.snippet == "Bronze is poured between core and cope."
    assert [hit.extras for hit in (first, second)] == [{"credits": 2}, {"category": "pdf"}]


def test_an_error_page_that_was_scraped_is_no_content() -> None:
    """Its status stands in the metadata, the call itself is a 200; a warning is told and quoted."""
    result, _ = _search(request(), _fixture("web_scraped.json"), scrapeResults="true")
    texts = [hit.content.text if hit.content else None for hit in result.hits]
    assert texts == ["# How a bell is cast\n\nBronze is poured.", None, None]
    assert result.note == "Firecrawl added a warning to its answer"
    assert result.hits[0].extras == {"credits": 4, "warning": "Some results were not scraped."}


def test_a_warning_that_nothing_was_found_is_an_honest_empty_answer() -> None:
    result, _ = _search(request(), _fixture("warning_empty.json"))
    assert (result.hits, result.degraded, result.note) == ((), None, "Firecrawl added a warning to its answer")


@pytest.mark.parametrize("data", [{}, [], {"web": []}, {"web": None}, {"news": []}])
def test_no_results_are_an_honest_empty_answer(data: object) -> None:
    result, _ = _search(request(), answer({"success": True, "data": data}))
    assert (result.hits, result.degraded, result.error_message) == ((), None, None)


def test_news_and_pictures_carry_what_is_theirs() -> None:
    news, body = _search(request(modality=SearchModality.NEWS), _fixture("news.json"))
    assert body["sources"] == ["news"]
    assert [hit.published_at for hit in news.hits] == [
        None,
        PublishedAt(value="2027-01-14", precision=DatePrecision.DAY),
    ]
    assert news.hits[0].extras == {
        "image_url": "https://imgs.example/n1.jpg",
        "date_text": "3 hours ago",
        "credits": 2,
    }
    images, body = _search(request(modality=SearchModality.IMAGE), _fixture("image.json"), extract="true")
    assert body["sources"] == ["images"]
    assert images.hits[1].extras == {"image_url": "https://imgs.example/clapper.png", "height": 300}
    assert [hit.content for hit in images.hits] == [None, None]


def test_a_search_is_asked_for_one_source_and_nothing_that_costs_more() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    instance(PROTOCOL, transport, key=_KEY).search(request("bells", max_results=7), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("POST", "https://api.firecrawl.dev/v2/search")
    assert sent.request.json == {"query": "bells", "sources": ["web"], "limit": 7}
    assert (sent.authentication, sent.secret) == (HeaderKey(name="Authorization", prefix="Bearer "), Secret(_KEY))


def test_pages_come_along_where_the_settings_say_so() -> None:
    """By the cheap proxy and without the whole of a long PDF; pictures have none."""
    _, body = _search(request(), _fixture("web.json"), scrapeResults="True")
    assert body["scrapeOptions"] == _CHEAPLY
    _, body = _search(request(modality=SearchModality.IMAGE), _fixture("image.json"), scrapeResults="true")
    assert "scrapeOptions" not in body


def test_a_page_can_be_had_on_demand_only_where_the_settings_say_so() -> None:
    assert _search(request(), _fixture("web.json"))[0].hits[0].content is None
    hit = _search(request(), _fixture("web.json"), extract="true")[0].hits[0]
    assert hit.content == ContentReference(
        inline=ContentInline.STASH_ON_DEMAND, media_type="text/markdown", reference="https://bells.example/casting"
    )


def test_a_page_is_scraped_in_the_cheap_way() -> None:
    content, transport = _load("https://bells.example/casting", _fixture("scrape.json"))
    assert content.body == b"# How a bell is cast\n\nBronze is poured between core and cope."
    assert content.source_url == "https://bells.example/casting/"
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("POST", "https://api.firecrawl.dev/v2/scrape")
    assert sent.request.json == {"url": "https://bells.example/casting", **_CHEAPLY}


def test_a_page_that_is_an_error_of_its_site_is_rejected() -> None:
    """A 200 with a page that says 404."""
    with pytest.raises(QueryRejected):
        _load("https://bells.example/gone", _fixture("scrape_error_page.json"))


@pytest.mark.parametrize("data", [None, "text", {"markdown": 7}])
def test_a_scrape_of_another_shape_is_malformed(data: object) -> None:
    with pytest.raises(MalformedAnswer):
        _load("https://bells.example/", answer({"success": True, "data": data}))


@pytest.mark.parametrize("reference", [None, "", "bells", "javascript:alert(1)"])
def test_what_is_no_address_is_not_scraped(reference: str | None) -> None:
    with pytest.raises(QueryRejected):
        _load(reference)


def test_pdfs_are_a_category_of_the_web() -> None:
    """Which carries that file type, and no other."""
    result, body = _search(request("bells", SearchModality.PDF, filetype="pdf"), _fixture("pdf.json"))
    assert (body["query"], body["sources"], body["categories"]) == ("bells", ["web"], ["pdf"])
    assert _handling(result) == {"filetype": FilterHandling.PROVIDER}
    result, body = _search(request("bells", SearchModality.PDF, filetype="djvu"), _fixture("pdf.json"))
    assert body["query"] == "bells"
    assert _handling(result) == {"filetype": FilterHandling.HERE}
    assert result.hits == ()


def test_site_and_filetype_are_google_s_operators() -> None:
    asked = request("bells", site="museum.example/bells", filetype="pdf")
    result, body = _search(asked, _fixture("web.json"))
    assert body["query"] == "filetype:pdf site:museum.example/bells bells"
    assert _handling(result) == dict.fromkeys(("site", "filetype"), FilterHandling.PROVIDER)


def test_a_domain_beside_a_site_and_a_filetype_of_news_are_applied_here() -> None:
    """Out of as many results as cost the same."""
    asked = request("bells", site="bells.example", domain="example", max_results=3)
    result, body = _search(asked, _fixture("web.json"))
    assert (body["query"], body["limit"]) == ("site:bells.example bells", 10)
    assert _handling(result) == {"site": FilterHandling.PROVIDER, "domain": FilterHandling.HERE}
    result, body = _search(request("bells", SearchModality.NEWS, filetype="pdf"), _fixture("news.json"))
    assert body["query"] == "bells"
    assert _handling(result) == {"filetype": FilterHandling.HERE}


def test_more_are_not_asked_for_where_each_is_scraped() -> None:
    asked = request("bells", site="bells.example", domain="example", max_results=3)
    _, body = _search(asked, _fixture("web.json"), scrapeResults="true")
    assert body["limit"] == 3


def test_a_window_of_days_is_asked_as_google_writes_it() -> None:
    asked = request("bells", date_from=date(2024, 1, 5), date_to=date(2024, 12, 31))
    result, body = _search(asked, _fixture("web.json"))
    assert body["tbs"] == "cdr:1,cd_min:1/5/2024,cd_max:12/31/2024"
    assert _handling(result) == dict.fromkeys(("date_from", "date_to"), FilterHandling.PROVIDER)
    fresh = request("bells", SearchModality.NEWS, freshness_days=7, published=(date(2027, 1, 8), None))
    result, body = _search(fresh, _fixture("news.json"))
    assert body["tbs"] == "cdr:1,cd_min:1/8/2027"
    assert _handling(result) == {"freshness_days": FilterHandling.PROVIDER}


def test_pictures_have_no_dates_to_ask_for() -> None:
    asked = request("bells", SearchModality.IMAGE, date_from=date(2024, 1, 5))
    result, body = _search(asked, _fixture("image.json"))
    assert "tbs" not in body
    assert _handling(result) == {"date_from": FilterHandling.IGNORED}


def test_a_region_is_the_country_and_a_language_alone_is_ignored() -> None:
    result, body = _search(request("bells", locale=Locale(language="de", region="AT")), _fixture("web.json"))
    assert body["country"] == "AT"
    assert _handling(result) == {"locale": FilterHandling.PROVIDER}
    result, body = _search(request("bells", locale=Locale(language="de")), _fixture("web.json"))
    assert "country" not in body
    assert _handling(result) == {"locale": FilterHandling.IGNORED}


def test_a_long_query_leaves_room_for_its_operators() -> None:
    asked = request("bell " * 100 + "tower", site="bells.example", max_results=150)
    result, body = _search(asked, _fixture("web.json"))
    assert len(body["query"]) <= 500
    assert body["query"].startswith("site:bells.example bell bell")
    assert body["limit"] == 100
    assert result.note is not None
    assert result.note.split("; ") == [
        "query shortened to 500 characters for firecrawl",
        "firecrawl gives at most 100 results",
        "query shortened to leave room for its filters",
    ]


@pytest.mark.parametrize(
    "body", [{"success": True}, {"data": {}}, {"success": True, "data": {"web": "text"}}, {"success": True, "data": 1}]
)
def test_an_answer_of_another_shape_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _search(request(), answer(body))


def test_a_plan_without_a_billing_period_has_no_renewal() -> None:
    quota = _quota(_fixture("credit_usage.json"))
    assert (quota.used, quota.limit, quota.remaining, quota.resets_at) == (120.0, 500.0, 380.0, None)


@pytest.mark.parametrize("plan", [100, None])
def test_credits_beside_the_plan_leave_no_limit_to_tell(plan: int | None) -> None:
    quota = _quota(answer({"success": True, "data": {"remainingCredits": 380, "planCredits": plan}}))
    assert (quota.used, quota.limit, quota.remaining) == (None, None, 380.0)


@pytest.mark.parametrize("data", [{}, None, {"remainingCredits": "many"}])
def test_a_usage_of_another_shape_is_malformed(data: object) -> None:
    with pytest.raises(MalformedAnswer):
        _quota(answer({"success": True, "data": data}))


def test_the_credit_usage_is_asked_of_the_team() -> None:
    transport = ScriptedTransport(_fixture("credit_usage.json"))
    instance(PROTOCOL, transport, key=_KEY).current_quota(scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", "https://api.firecrawl.dev/v2/team/credit-usage")


@pytest.mark.parametrize(("rate", "interval"), [(None, 6.05), ("100", 0.605)])
def test_the_published_rate_of_a_plan_is_kept_to(rate: str | None, interval: float) -> None:
    extras = {"requestsPerMinute": rate} if rate else {}
    paced = instance(PROTOCOL, ScriptedTransport(), key=_KEY, extras=extras).pacing(request())
    assert paced is not None
    assert paced.subject == "firecrawl@api.firecrawl.dev:apiKey"
    assert paced.interval == pytest.approx(interval)


def test_another_base_url_is_used_as_it_is_saved() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    made = instance(PROTOCOL, transport, key=_KEY, base_url="http://127.0.0.1:8099/firecrawl/")
    made.search(request(), scope())
    assert transport.sent[0].request.url == "http://127.0.0.1:8099/firecrawl/v2/search"


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
