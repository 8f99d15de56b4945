"""SerpApi: every recorded answer, the questions that are put to its engines, and what its `error` means."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.serpapi import PROTOCOL
from zarniwoop.contract.failure import (
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import DatePrecision, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer, QueryKey, Secret

_KEY = "a-key-of-serpapi"
_SUCCESS = {"status": "Success"}


def _search(asked: SearchRequest, *told: HttpAnswer, **extras: str) -> tuple[SearchResult, list[Mapping[str, str]]]:
    """The result, and the parameters that were sent for it."""
    transport = ScriptedTransport(*told)
    result = instance(PROTOCOL, transport, key=_KEY, extras=extras).search(asked, scope())
    return result, [sent.request.params for sent in transport.sent]


def _read(name: str, modality: SearchModality = SearchModality.WEB) -> SearchResult:
    return _search(request(modality=modality), answer(payload("serpapi", name)))[0]


def _fixture(name: str, *, status: int = 200) -> HttpAnswer:
    return answer(fixture("serpapi", name), status=status)


def _hits(modality: SearchModality) -> tuple[SearchHit, ...]:
    return _search(request(modality=modality), _fixture(f"{modality.lower()}.json"))[0].hits


def _page(count: int, *, first: int = 1, following: str | None = "start=10") -> HttpAnswer:
    numbers = range(first, first + count)
    items = [{"title": f"Page {number}", "link": f"https://pages.example/{number}"} for number in numbers]
    address = f"https://serpapi.com/search.json?engine=google&{following}"
    pagination = {"serpapi_pagination": {"current": 1, "next": address}} if following else {}
    return answer({"search_metadata": _SUCCESS, "organic_results": items, **pagination})


def _failure(told: HttpAnswer) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        _search(request(), told)
    return caught.value


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def _day(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.DAY)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("serpapi", __file__) == []


def test_a_recorded_google_page_is_read_with_its_panel_on_the_first_hit() -> None:
    """Recipes, videos, questions and places beside the results are no hits."""
    result = _read("google_coffee.json")
    assert (result.returned_count, result.dropped_count) == (8, 0)
    assert result.note == "google gave 8 of the 10 results asked for"
    first, second, *_ = result.hits
    assert (first.title, first.url) == ("Coffee - Wikipedia", "https://en.wikipedia.org/wiki/Coffee")
    assert first.snippet is not None
    assert first.snippet.startswith("Coffee is a brewed drink prepared from roasted coffee beans")
    assert first.source == "en.wikipedia.org"
    assert first.extras["engine"] == "google"
    assert first.extras["knowledge_graph"].startswith("Coffee is a brewed drink prepared from roasted coffee beans")
    assert first.extras["thumbnail_url"].startswith("https://serpapi.com/searches/6233bba5d04d6d63bb714e6f/images/")
    assert (second.title, second.extras) == ("Home | The Coffee Bean & Tea Leaf", {"engine": "google"})
    assert [hit.source for hit in result.hits[2:]] == [
        "www.peets.com",
        "www.healthline.com",
        "www.starbucks.com",
        "www.ncausa.org",
        "www.amazon.com",
        "www.stumptowncoffee.com",
    ]


def test_recorded_scholar_pages_are_read_with_authors_venue_year_and_citations() -> None:
    """Positions start at 0 there; the line of a work names its authors."""
    first, second = _read("google_scholar_mock_1.json", SearchModality.ACADEMIC).hits
    assert (first.title, first.authors) == ("Bananas and plantains", ("JC Robinson", "VG Saúco"))
    assert first.published_at == PublishedAt(value="2010", precision=DatePrecision.YEAR)
    assert first.extras == {"engine": "google_scholar", "cited_by": 1179}
    assert second.url == "https://www.cabdirect.org/cabdirect/abstract/19630303919"
    assert second.extras == {"engine": "google_scholar", "venue": "The Evolution of the Bananas.", "cited_by": 956}
    assert second.rank == 2
    (work,) = _read("google_scholar_mock_2.json", SearchModality.ACADEMIC).hits
    assert (work.title, work.authors, work.extras["cited_by"]) == (
        "Population biology of plants.",
        ("JL Harper",),
        14003,
    )


def test_a_recorded_error_that_says_nothing_was_found_is_an_honest_empty_answer() -> None:
    """A 200 that succeeded."""
    result = _read("empty_200_error.json")
    assert (result.hits, result.note, result.degraded, result.error_message) == ((), None, None, None)


def test_a_recorded_account_is_the_quota() -> None:
    """What is left of the plan and of extra credits, until the plan is renewed."""
    quota = _quota(answer(payload("serpapi", "account_2026.json")))
    assert (quota.source, quota.unit, quota.used, quota.limit) == (QuotaSource.PROVIDER, "searches", 117.0, 1250.0)
    assert (quota.remaining, quota.resets_at) == (1133.0, 1_792_368_000.0)


def _quota(told: HttpAnswer) -> QuotaStatus:
    transport = ScriptedTransport(told)
    quota = instance(PROTOCOL, transport, key=_KEY).current_quota(scope())
    assert quota is not None
    (sent,) = transport.sent
    assert (sent.request.url, sent.request.params) == ("https://serpapi.com/account.json", {})
    assert sent.authentication == QueryKey(name="api_key")
    return quota


def test_of_an_account_neither_owner_nor_key_is_read() -> None:
    quota = _quota(_fixture("account.json"))
    assert quota.remaining == 1133.0
    assert "not-read" not in repr(quota)


@pytest.mark.parametrize(
    "account",
    [{"this_month_usage": 1}, {"total_searches_left": 1}, {"this_month_usage": 1, "total_searches_left": "many"}],
)
def test_an_account_of_another_shape_is_malformed(account: object) -> None:
    with pytest.raises(MalformedAnswer):
        _quota(answer(account))


def test_an_account_without_a_renewal_has_no_reset() -> None:
    assert _quota(answer({"this_month_usage": 1, "total_searches_left": 2})).resets_at is None


def test_a_plan_that_is_used_up_and_a_pace_are_told_apart() -> None:
    """Both are a 429."""
    assert isinstance(_failure(_fixture("error_429_searches.json", status=429)), QuotaExhausted)
    assert isinstance(_failure(_fixture("error_429_throughput.json", status=429)), RateLimited)
    assert isinstance(_failure(_fixture("error_401.json", status=401)), CredentialsRejected)
    assert isinstance(_failure(answer({"error": "Missing query `q` parameter."}, status=400)), QueryRejected)


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ("Your account has run out of searches.", QuotaExhausted),
        ("Your searches for the month are exhausted. You can upgrade plans on SerpApi.com website.", QuotaExhausted),
        ("You are exceeding the hourly throughput limit.", RateLimited),
        ("Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key", CredentialsRejected),
        ("We couldn't get valid results for this search. Please try again later.", ProviderUnavailable),
    ],
)
def test_an_error_inside_a_200_is_a_typed_failure(error: str, failure: type[ProviderError]) -> None:
    """Its words are never repeated."""
    caught = _failure(answer({"search_metadata": {"status": "Error"}, "error": error}))
    assert isinstance(caught, failure)
    assert error not in str(caught)


@pytest.mark.parametrize(
    ("engine", "error"),
    [
        ("google", "Google hasn't returned any results for this query."),
        ("bing", "Bing hasn't returned any results for this query."),
        ("duckduckgo", "DuckDuckGo hasn't returned any results for this query."),
        ("google", "No results found for this search."),
    ],
)
def test_every_engine_may_find_nothing(engine: str, error: str) -> None:
    result, _ = _search(request(), answer({"search_metadata": _SUCCESS, "error": error}), engine=engine)
    assert (result.hits, result.error_message) == ((), None)


def test_a_word_in_a_result_is_no_error() -> None:
    """Only the envelope's own `error` is read."""
    item = {"title": "Bells", "link": "https://bells.example/", "rich": {"error": "Invalid API key"}}
    result, _ = _search(request(max_results=1), answer({"search_metadata": _SUCCESS, "organic_results": [item]}))
    assert result.returned_count == 1


def test_a_success_without_its_list_is_an_empty_page() -> None:
    """Google may show panels alone."""
    result, _ = _search(request(), answer({"search_metadata": _SUCCESS, "knowledge_graph": {"title": "Bell"}}))
    assert (result.hits, result.note) == ((), None)


@pytest.mark.parametrize(
    "body",
    [
        {"search_metadata": {"status": "Processing"}},
        {"search_metadata": _SUCCESS, "organic_results": {"title": "no list"}},
        {"search_metadata": _SUCCESS, "organic_results": "text"},
        {"organic_results": None},
        {"error": {"message": "an object"}},
    ],
)
def test_what_has_not_the_documented_shape_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _search(request(), answer(body))


def test_a_malformed_item_or_a_script_link_is_dropped_and_counted() -> None:
    result, _ = _search(request(), _fixture("web.json"))
    assert (result.returned_count, result.dropped_count) == (2, 2)
    first, second = result.hits
    assert (first.title, first.source, first.published_at) == (
        "Cathedral bells & their makers",
        "Bell Museum",
        _day("2023-01-29"),
    )
    assert first.extras == {
        "engine": "google",
        "thumbnail_url": "https://thumbs.example/1",
        "knowledge_graph": "A bell hung in a church & rung by rope.",
        "answer_box": "24 tonnes",
    }
    assert second.extras == {"engine": "google", "date_text": "3 days ago"}


def test_a_picture_s_page_is_the_hit_and_the_picture_an_extra() -> None:
    first, second = _hits(SearchModality.IMAGE)
    assert (first.url, first.source) == ("https://museum.example/great", "Bell Museum")
    assert first.extras == {
        "engine": "google_images",
        "thumbnail_url": "https://thumbs.example/i1",
        "image_url": "https://museum.example/great.jpg",
        "width": 3072,
        "height": 2043,
    }
    assert "image_url" not in second.extras


def test_the_stories_of_a_cluster_of_news_are_hits_of_their_own() -> None:
    """Each with its source; a moment in ISO is exact, a written one a day, and "yesterday" no date."""
    result, _ = _search(request(modality=SearchModality.NEWS), _fixture("news.json"))
    assert [(hit.title, hit.source) for hit in result.hits] == [
        ("Minster rings again", "The Ringer"),
        ("A foundry closes", "The Paper"),
        ("Last bell cast", "The Founder"),
    ]
    assert result.dropped_count == 1
    first, second, third = result.hits
    assert first.authors == ("A. Tailor",)
    assert first.published_at == PublishedAt(value="2024-11-12T09:08:00Z", precision=DatePrecision.SECOND)
    assert second.published_at == _day("2025-02-10")
    assert third.extras == {"engine": "google_news", "date_text": "yesterday"}


def test_a_video_carries_channel_length_and_views() -> None:
    first, second = _hits(SearchModality.VIDEO)
    assert (first.source, first.snippet) == ("www.youtube.com", "Filmed in the tower.")
    assert first.extras == {
        "engine": "youtube",
        "thumbnail_url": "https://thumbs.example/v1",
        "duration": "3:53",
        "views": 15400,
        "channel": "Tower Captains",
        "date_text": "2 years ago",
    }
    assert second.extras == {
        "engine": "youtube",
        "thumbnail_url": "https://thumbs.example/v2",
        "channel": "Founders",
    }


def test_a_scholar_work_on_arxiv_carries_its_identifier_and_pdf() -> None:
    """A citation without a page is dropped."""
    result, _ = _search(request(modality=SearchModality.ACADEMIC), _fixture("academic.json"))
    work, book = result.hits
    assert result.dropped_count == 1
    assert (work.authors, work.identifiers) == (("A Tailor", "B Ringer"), {"arxiv_id": "1905.01234"})
    assert work.extras == {
        "engine": "google_scholar",
        "venue": "Journal of Bells - Series B",
        "cited_by": 42,
        "pdf_url": "https://arxiv.org/pdf/1905.01234",
    }
    assert (book.authors, book.published_at) == (
        ("JC Robinson",),
        PublishedAt(value="1980", precision=DatePrecision.YEAR),
    )


@pytest.mark.parametrize(
    ("modality", "params"),
    [
        ("WEB", {"engine": "google", "q": "bells"}),
        ("PDF", {"engine": "google", "q": "filetype:pdf bells"}),
        ("IMAGE", {"engine": "google_images", "q": "bells"}),
        ("NEWS", {"engine": "google_news", "q": "bells"}),
        ("VIDEO", {"engine": "youtube", "search_query": "bells"}),
        ("ACADEMIC", {"engine": "google_scholar", "q": "bells"}),
    ],
)
def test_each_modality_has_its_engine_and_the_key_stands_in_no_request(modality: str, params: dict[str, str]) -> None:
    """The transport appends it, after everything was logged."""
    transport = ScriptedTransport(_fixture(f"{modality.lower()}.json"))
    instance(PROTOCOL, transport, key=_KEY).search(request("bells", SearchModality(modality)), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", "https://serpapi.com/search.json")
    assert sent.request.params == params
    assert (sent.authentication, sent.secret) == (QueryKey(name="api_key"), Secret(_KEY))
    assert _KEY not in repr(sent.request)


@pytest.mark.parametrize("engine", ["google", "bing", "duckduckgo"])
def test_the_engine_of_the_web_is_a_setting(engine: str) -> None:
    """It does not change who answers the other modalities."""
    result, (params,) = _search(request("bells"), _fixture("web.json"), engine=engine)
    assert params["engine"] == engine
    assert {hit.extras["engine"] for hit in result.hits} == {engine}
    _, (pictures,) = _search(request("bells", SearchModality.IMAGE), _fixture("image.json"), engine=engine)
    assert pictures["engine"] == "google_images"


_ASKED: dict[str, Any] = {
    "locale": Locale(language="de", region="AT"),
    "site": "bells.example/makers",
    "filetype": "html",
    "date_from": date(2024, 1, 5),
    "date_to": date(2024, 12, 31),
}


@pytest.mark.parametrize(
    ("engine", "params"),
    [
        ("google", {"tbs": "cdr:1,cd_min:1/5/2024,cd_max:12/31/2024", "hl": "de", "gl": "at"}),
        ("bing", {"filters": 'ex1:"ez5_19727_20088"', "mkt": "de-AT"}),
        ("duckduckgo", {"df": "2024-01-05..2024-12-31", "kl": "at-de"}),
    ],
)
def test_each_engine_of_the_web_is_told_of_filters_in_its_own_way(engine: str, params: dict[str, str]) -> None:
    result, (sent,) = _search(request("bells", **_ASKED), _fixture("web.json"), engine=engine)
    assert sent == {"engine": engine, "q": "filetype:html site:bells.example/makers bells", **params}
    assert set(_handling(result).values()) == {FilterHandling.PROVIDER}


@pytest.mark.parametrize(
    ("engine", "expert", "window", "expected"),
    [
        ("google", {"date_from": date(2024, 1, 5)}, None, ("tbs", "cdr:1,cd_min:1/5/2024")),
        ("bing", {"date_to": date(1980, 1, 1)}, None, ("filters", 'ex1:"ez5_0_3652"')),
        ("bing", {"date_from": date(1900, 1, 1), "date_to": date(1980, 1, 1)}, None, ("filters", 'ex1:"ez5_0_3652"')),
        ("duckduckgo", {"freshness_days": 7}, (date(2027, 1, 8), None), ("df", "2027-01-08..2027-01-15")),
        ("duckduckgo", {"date_from": date(2024, 1, 5)}, None, ("df", "2024-01-05..2100-01-01")),
    ],
)
def test_an_open_window_is_closed_for_those_who_want_both_ends(
    engine: str, expert: dict[str, Any], window: tuple[date | None, date | None] | None, expected: tuple[str, str]
) -> None:
    _, (sent,) = _search(request("bells", published=window, **expert), _fixture("web.json"), engine=engine)
    name, value = expected
    assert sent[name] == value


@pytest.mark.parametrize(
    ("locale", "params"),
    [
        (Locale(language="en", region="GB"), {"hl": "en", "gl": "uk"}),
        (Locale(language="zh", region="TW"), {"hl": "zh-tw", "gl": "tw"}),
        (Locale(language="zh"), {"hl": "zh-cn"}),
        (Locale(language="he"), {"hl": "iw"}),
    ],
)
def test_google_s_own_codes_are_used(locale: Locale, params: dict[str, str]) -> None:
    _, (sent,) = _search(request("bells", locale=locale), _fixture("web.json"))
    assert sent == {"engine": "google", "q": "bells", **params}


@pytest.mark.parametrize("engine", ["bing", "duckduckgo"])
def test_a_language_alone_is_ignored_where_a_country_must_go_with_it(engine: str) -> None:
    result, (sent,) = _search(request("bells", locale=Locale(language="de")), _fixture("web.json"), engine=engine)
    assert sent == {"engine": engine, "q": "bells"}
    assert _handling(result) == {"locale": FilterHandling.IGNORED}


def test_great_britain_is_uk_at_duckduckgo_too() -> None:
    asked = request("bells", locale=Locale(language="en", region="GB"))
    _, (sent,) = _search(asked, _fixture("web.json"), engine="duckduckgo")
    assert sent["kl"] == "uk-en"


def test_days_of_news_are_asked_for_loosely_and_applied_here() -> None:
    """Google does not say when a day begins, so a day more is asked for; what comes back carries its moment."""
    asked = request("bells", SearchModality.NEWS, date_from=date(2024, 11, 1), date_to=date(2024, 11, 30))
    result, (sent,) = _search(asked, _fixture("news.json"))
    assert sent["q"] == "after:2024-10-31 before:2024-12-02 bells"
    assert _handling(result) == dict.fromkeys(("date_from", "date_to"), FilterHandling.HERE)
    assert [hit.title for hit in result.hits] == ["Minster rings again"]


@pytest.mark.parametrize(
    ("first", "last", "query"),
    [
        (date(1, 1, 1), None, "bells"),
        (None, date(9999, 12, 31), "bells"),
        (date(2024, 1, 1), None, "after:2023-12-31 bells"),
    ],
)
def test_an_end_beyond_all_news_is_not_asked_for(first: date | None, last: date | None, query: str) -> None:
    asked = request("bells", SearchModality.NEWS, date_from=first, date_to=last)
    _, (sent,) = _search(asked, _fixture("news.json"))
    assert sent["q"] == query


def test_years_of_works_are_translated_and_filetypes_applied_here() -> None:
    asked = request(
        "bells", SearchModality.ACADEMIC, date_from=date(2015, 3, 1), date_to=date(2020, 1, 1), filetype="pdf"
    )
    result, (sent,) = _search(asked, _fixture("academic.json"))
    assert sent == {"engine": "google_scholar", "q": "bells", "as_ylo": "2015", "as_yhi": "2020"}
    assert _handling(result) == {
        "filetype": FilterHandling.HERE,
        "date_from": FilterHandling.PROVIDER,
        "date_to": FilterHandling.PROVIDER,
    }


def test_scholar_is_told_the_language_alone() -> None:
    """It has no countries."""
    asked = request("bells", SearchModality.ACADEMIC, locale=Locale(language="nb", region="NO"))
    result, (sent,) = _search(asked, _fixture("academic.json"))
    assert sent == {"engine": "google_scholar", "q": "bells", "hl": "no"}
    assert _handling(result) == {"locale": FilterHandling.PROVIDER}


def test_youtube_knows_no_operators_and_no_days() -> None:
    asked = request("bells", SearchModality.VIDEO, domain="youtube.com", date_from=date(2015, 3, 1))
    result, (sent,) = _search(asked, _fixture("video.json"))
    assert sent == {"engine": "youtube", "search_query": "bells"}
    assert _handling(result) == {"domain": FilterHandling.HERE, "date_from": FilterHandling.IGNORED}
    assert result.returned_count == 2


def test_a_domain_beside_a_site_is_applied_here() -> None:
    result, (sent,) = _search(request("bells", site="bells.example", domain="example"), _fixture("web.json"))
    assert sent["q"] == "site:bells.example bells"
    assert _handling(result) == {"site": FilterHandling.PROVIDER, "domain": FilterHandling.HERE}


def test_no_pdf_is_a_word_document() -> None:
    result, (sent,) = _search(request("bells", SearchModality.PDF, filetype="docx"), _fixture("pdf.json"))
    assert sent["q"] == "filetype:pdf bells"
    assert (_handling(result), result.hits) == ({"filetype": FilterHandling.HERE}, ())


def test_as_many_pages_are_read_as_the_results_need() -> None:
    """The parameter of the next page comes out of its address."""
    result, asked = _search(request(max_results=20), _page(9, following="start=10"), _page(10, first=10))
    assert asked == [
        {"engine": "google", "q": "cathedral bells"},
        {"engine": "google", "q": "cathedral bells", "start": "10"},
    ]
    assert [hit.url for hit in result.hits] == [f"https://pages.example/{number}" for number in range(1, 20)]
    assert result.note == "google gave 19 of the 20 results asked for"


def test_ten_results_cost_one_page_even_when_it_holds_nine() -> None:
    result, asked = _search(request(max_results=10), _page(9))
    assert (len(asked), result.returned_count) == (1, 9)


def test_no_more_than_three_pages_are_read() -> None:
    pages = (_page(10, first=first, following=f"start={first + 9}") for first in (1, 11, 21))
    result, asked = _search(request(max_results=50), *pages)
    assert [params.get("start") for params in asked] == [None, "10", "20"]
    assert (result.returned_count, result.note) == (30, "google gave 30 of the 50 results asked for")


@pytest.mark.parametrize("following", [None, "num=10", "start=", f"start={'9' * 1001}"])
def test_without_the_parameter_of_a_next_page_there_is_none(following: str | None) -> None:
    _, asked = _search(request(max_results=30), _page(10, following=following))
    assert len(asked) == 1


def test_an_empty_page_is_the_last() -> None:
    _, asked = _search(request(max_results=30), _page(0))
    assert len(asked) == 1


def test_the_token_of_youtube_s_next_page_is_handed_on_as_it_is() -> None:
    """Decoded once, as the transport encodes it once."""
    second = answer({"search_metadata": _SUCCESS, "video_results": []})
    _, asked = _search(request(modality=SearchModality.VIDEO, max_results=30), _fixture("video.json"), second)
    assert asked[1]["sp"] == "CAI%3D"


def test_panels_of_another_shape_cost_no_hit() -> None:
    item = {"title": "Bells", "link": "https://bells.example/"}
    body = {"search_metadata": _SUCCESS, "knowledge_graph": ["a list"], "answer_box": {"answer": 42}}
    (hit,) = _search(request(max_results=1), answer({**body, "organic_results": [item]}))[0].hits
    assert hit.extras == {"engine": "google"}


def test_another_base_url_is_used_as_it_is_saved() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    instance(PROTOCOL, transport, key=_KEY, base_url="http://127.0.0.1:8099/serpapi/").search(request(), scope())
    assert transport.sent[0].request.url == "http://127.0.0.1:8099/serpapi/search.json"


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
