"""Brave Search: every recorded answer, the questions that are put to it, its rate headers, what its failures mean."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.clock import FakeClock
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.brave import PROTOCOL
from zarniwoop.contract.failure import (
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, Secret

_KEY = "a-key-of-brave"
_RATES = {
    "x-ratelimit-limit": "1, 15000",
    "x-ratelimit-policy": "1;w=1, 15000;w=2592000",
    "x-ratelimit-remaining": "0, 1000",
    "x-ratelimit-reset": "1, 1419704",
}


def _search(asked: SearchRequest, *told: HttpAnswer) -> tuple[SearchResult, list[Mapping[str, str]]]:
    """The result, and the parameters that were sent for it."""
    transport = ScriptedTransport(*told)
    result = instance(PROTOCOL, transport, key=_KEY).search(asked, scope())
    return result, [sent.request.params for sent in transport.sent]


def _fixture(name: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpAnswer:
    return answer(fixture("brave", name), status=status, headers=headers)


def _page(count: int, *, first: int = 1, more: bool = True) -> HttpAnswer:
    numbers = range(first, first + count)
    items = [{"title": f"Page {number}", "url": f"https://pages.example/{number}"} for number in numbers]
    return answer({"type": "search", "query": {"more_results_available": more}, "web": {"results": items}})


def _failure(told: HttpAnswer) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        _search(request(), told)
    return caught.value


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def _day(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.DAY)


def _second(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.SECOND)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("brave", __file__) == []


def test_a_recorded_web_search_is_read_with_days_languages_and_plain_snippets() -> None:
    """`page_age` at midnight is a day; with a time it is an instant; without one there is no date."""
    result, _ = _search(request(), answer(payload("brave", "web_search.json")))
    assert (result.returned_count, result.dropped_count, result.note) == (10, 0, None)
    first, second, third, fourth = result.hits[:4]
    assert first.title == "Introduction to Semantic Kernel | Microsoft Learn"
    assert first.url == "https://learn.microsoft.com/en-us/semantic-kernel/overview/"
    assert first.snippet is not None
    assert first.snippet.startswith("Semantic Kernel combines prompts with existing APIs to perform actions. By desc")
    assert "the model's request to a function" in first.snippet
    assert (first.source, first.language, first.published_at) == ("Microsoft", "en", None)
    assert first.extras["subtype"] == "generic"
    assert first.extras["thumbnail_url"].startswith("https://imgs.search.brave.com/")
    assert second.published_at == _day("2024-07-25")
    assert (third.source, third.published_at) == ("Medium", _second("2024-01-08T02:03:21Z"))
    assert fourth.published_at == _second("2025-04-05T06:44:24Z")
    assert "date_text" not in fourth.extras


def test_a_recorded_search_of_one_site_is_read() -> None:
    result, _ = _search(request(), answer(payload("brave", "web_search_site_filter.json")))
    assert [hit.source for hit in result.hits] == ["Microsoft", "Microsoft", "Medium", "Analytics Vidhya", "CODE"]
    assert result.hits[4].url == "https://www.codemag.com/Article/2401091/Semantic-Kernel-101"


def test_a_recorded_422_rejects_the_query() -> None:
    """Its `meta` is empty."""
    failure = _failure(answer(payload("brave", "error_422_validation.json"), status=422))
    assert isinstance(failure, QueryRejected)


def test_a_recorded_429_is_the_pace_of_a_plan_that_is_not_used_up() -> None:
    """15 of 2000 in the month, one in the second: how long that takes stands in the headers, if anywhere."""
    body = payload("brave", "error_429_rate_limited.json")
    failure = _failure(answer(body, status=429))
    assert isinstance(failure, RateLimited)
    assert failure.retry_after is None
    waiting = _failure(answer(body, status=429, headers=_RATES))
    assert isinstance(waiting, RateLimited)
    assert waiting.retry_after == 1.0
    told = _failure(answer(body, status=429, headers={**_RATES, "retry-after": "9"}))
    assert told.retry_after == 9.0


def test_a_429_of_the_month_is_an_exhausted_plan() -> None:
    """By its code, or by the month's window in the headers, which tells when it ends."""
    assert isinstance(_failure(_fixture("error_429_quota.json", status=429)), QuotaExhausted)
    used_up = {**_RATES, "x-ratelimit-remaining": "0, 0"}
    failure = _failure(answer(payload("brave", "error_429_rate_limited.json"), status=429, headers=used_up))
    assert isinstance(failure, QuotaExhausted)
    assert failure.retry_after == 1419704.0


def test_a_429_of_a_month_without_a_limit_is_the_pace() -> None:
    """A limit of 0 is none, whatever is left of it."""
    unlimited = {**_RATES, "x-ratelimit-limit": "50, 0", "x-ratelimit-remaining": "0, 0"}
    body = {"type": "ErrorResponse", "error": {"code": "RATE_LIMITED", "meta": {"quota_limit": 0, "quota_current": 7}}}
    failure = _failure(answer(body, status=429, headers=unlimited))
    assert isinstance(failure, RateLimited)
    assert failure.retry_after == 1.0


@pytest.mark.parametrize(
    "error",
    [
        {"code": "SUBSCRIPTION_TOKEN_INVALID"},
        {"code": "VALIDATION", "meta": {"errors": [{"loc": ["header", "x-subscription-token"], "type": "missing"}]}},
    ],
)
def test_a_bad_token_is_a_422_and_a_matter_of_the_key(error: object) -> None:
    assert isinstance(_failure(_fixture("error_422_token.json", status=422)), CredentialsRejected)
    assert isinstance(_failure(answer({"type": "ErrorResponse", "error": error}, status=422)), CredentialsRejected)


def test_a_malformed_item_or_a_script_link_is_dropped_and_counted() -> None:
    result, _ = _search(request(), _fixture("web.json"))
    assert (result.returned_count, result.dropped_count) == (2, 2)
    first, second = result.hits
    assert (first.title, first.snippet) == ("How a bell is cast & tuned", "Bronze is poured between core and cope.")
    assert (first.source, first.published_at) == ("Bell Museum", _day("2024-07-25"))
    assert first.extras == {"subtype": "generic", "thumbnail_url": "https://imgs.example/t1"}
    assert (second.source, second.language, second.published_at) == ("forum.example", "de", None)
    assert second.extras == {
        "subtype": "faq",
        "extra_snippets": ["Ours ring twice."],
        "date_text": "2 weeks ago",
    }


def test_news_carry_their_moment_and_whether_they_are_breaking() -> None:
    first, second = _search(request(modality=SearchModality.NEWS), _fixture("news.json"))[0].hits
    assert (first.source, first.published_at) == ("news.example", _second("2027-01-15T05:00:00Z"))
    assert first.extras == {"breaking": True, "thumbnail_url": "https://imgs.example/n1"}
    assert (second.snippet, second.published_at, second.extras) == (None, None, {"date_text": "1 day ago"})


def test_a_video_carries_channel_length_views_and_day() -> None:
    first, second = _search(request(modality=SearchModality.VIDEO), _fixture("video.json"))[0].hits
    assert (first.source, first.published_at) == ("Videos", _second("2022-06-04T18:00:00Z"))
    assert first.extras == {
        "thumbnail_url": "https://imgs.example/v1",
        "duration": "03:53",
        "channel": "Tower Captains",
        "views": 15400,
    }
    assert (second.source, second.extras) == ("clips.example", {})


def test_a_picture_s_page_is_the_hit_and_the_picture_an_extra() -> None:
    result, _ = _search(request(modality=SearchModality.IMAGE), _fixture("image.json"))
    assert result.dropped_count == 1
    first = result.hits[0]
    assert (first.url, first.source) == ("https://museum.example/bells/great", "museum.example")
    assert first.extras == {
        "confidence": "high",
        "thumbnail_url": "https://imgs.example/i1",
        "image_url": "https://museum.example/great.jpg",
        "width": 3072,
        "height": 2043,
    }


@pytest.mark.parametrize(
    ("modality", "path", "params"),
    [
        ("WEB", "web", {"q": "bells", "count": "10", "result_filter": "web,query"}),
        ("PDF", "web", {"q": "filetype:pdf bells", "count": "10", "result_filter": "web,query"}),
        ("NEWS", "news", {"q": "bells", "count": "10"}),
        ("VIDEO", "videos", {"q": "bells", "count": "10"}),
        ("IMAGE", "images", {"q": "bells", "count": "10"}),
    ],
)
def test_each_modality_is_asked_at_its_own_path(modality: str, path: str, params: dict[str, str]) -> None:
    transport = ScriptedTransport(_fixture(f"{modality.lower()}.json"))
    instance(PROTOCOL, transport, key=_KEY).search(request("bells", SearchModality(modality)), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", f"https://api.search.brave.com/res/v1/{path}/search")
    assert (sent.request.params, sent.request.headers) == (params, {"Accept": "application/json"})
    assert (sent.authentication, sent.secret) == (HeaderKey(name="X-Subscription-Token"), Secret(_KEY))


def test_site_filetype_dates_and_locale_are_translated_on_the_web() -> None:
    asked = request(
        "bells",
        locale=Locale(language="de", region="AT"),
        site="bells.example/casting",
        filetype="html",
        date_from=date(2024, 1, 5),
        date_to=date(2024, 12, 31),
    )
    result, (params,) = _search(asked, _fixture("web.json"))
    assert params == {
        "q": "site:bells.example/casting filetype:html bells",
        "result_filter": "web,query",
        "freshness": "2024-01-05to2024-12-31",
        "search_lang": "de",
        "country": "AT",
        "count": "10",
    }
    assert set(_handling(result).values()) == {FilterHandling.PROVIDER}
    assert [hit.url for hit in result.hits] == ["https://bells.example/casting"]


@pytest.mark.parametrize(
    ("window", "expert", "span"),
    [
        ((date(2027, 1, 8), None), {"freshness_days": 7}, "2027-01-08to2027-01-15"),
        ((date(2026, 5, 1), None), {"date_from": date(2026, 5, 1)}, "2026-05-01to2100-01-01"),
        ((None, date(2020, 5, 1)), {"date_to": date(2020, 5, 1)}, "1970-01-01to2020-05-01"),
        ((date(2099, 12, 1), None), {"freshness_days": 90}, "2099-12-01to2100-01-01"),
    ],
)
def test_a_span_of_days_has_both_its_ends(
    window: tuple[date | None, date | None], expert: dict[str, Any], span: str
) -> None:
    """Freshness was resolved to its first day, and its last is so many days later."""
    asked = request("bells", SearchModality.NEWS, published=window, **expert)
    result, (params,) = _search(asked, _fixture("news.json"))
    assert params["freshness"] == span
    assert set(_handling(result).values()) == {FilterHandling.PROVIDER}


@pytest.mark.parametrize(
    ("locale", "language", "country"),
    [
        (Locale(language="ja", region="JP"), "jp", "JP"),
        (Locale(language="pt", region="BR"), "pt-br", "BR"),
        (Locale(language="pt"), "pt-pt", None),
        (Locale(language="zh", region="TW"), "zh-hant", "TW"),
        (Locale(language="zh", region="SG"), "zh-hans", None),
        (Locale(language="en", region="GB"), "en-gb", "GB"),
        (Locale(language="no"), "nb", None),
    ],
)
def test_languages_and_countries_are_written_as_brave_lists_them(
    locale: Locale, language: str, country: str | None
) -> None:
    """What is not on its lists would be refused."""
    _, (params,) = _search(request("bells", locale=locale), _fixture("web.json"))
    assert (params["search_lang"], params.get("country")) == (language, country)


def test_a_language_that_brave_does_not_know_is_ignored_and_reported() -> None:
    result, (params,) = _search(request("bells", locale=Locale(language="cy")), _fixture("web.json"))
    assert "search_lang" not in params
    assert [(entry.handling, entry.reason) for entry in result.applied] == [
        (FilterHandling.IGNORED, "Brave does not know this language")
    ]


def test_a_domain_beside_a_site_is_applied_here() -> None:
    """Out of as many results as a page may have."""
    result, (params,) = _search(request("bells", site="bells.example", domain="example"), _fixture("web.json"))
    assert (params["q"], params["count"]) == ("site:bells.example bells", "20")
    assert _handling(result) == {"site": FilterHandling.PROVIDER, "domain": FilterHandling.HERE}


def test_sites_of_news_are_applied_here_out_of_a_full_page() -> None:
    """Operators are documented for the web alone."""
    asked = request("bells", SearchModality.NEWS, domain="paper.example")
    result, (params,) = _search(asked, _fixture("news.json"))
    assert (params["q"], params["count"]) == ("bells", "50")
    assert _handling(result) == {"domain": FilterHandling.HERE}
    assert [hit.url for hit in result.hits] == ["https://paper.example/foundry"]


def test_pictures_have_no_dates_to_filter_by() -> None:
    asked = request("bells", SearchModality.IMAGE, date_from=date(2024, 1, 1))
    result, (params,) = _search(asked, _fixture("image.json"))
    assert "freshness" not in params
    assert _handling(result) == {"date_from": FilterHandling.IGNORED}


def test_no_pdf_is_a_word_document() -> None:
    result, (params,) = _search(request("bells", SearchModality.PDF, filetype="docx"), _fixture("pdf.json"))
    assert params["q"] == "filetype:pdf bells"
    assert (_handling(result), result.hits) == ({"filetype": FilterHandling.HERE}, ())


def test_a_query_keeps_to_fifty_words_operators_included() -> None:
    result, (params,) = _search(request(" ".join(["bell"] * 60), site="bells.example"), _fixture("web.json"))
    assert params["q"] == "site:bells.example " + " ".join(["bell"] * 49)
    assert result.note == "query shortened to 50 words or 400 characters"


def test_a_query_keeps_to_four_hundred_characters_operators_included() -> None:
    """Cut at a word."""
    result, (params,) = _search(request("campanology " * 33, site="bells.example"), _fixture("web.json"))
    assert params["q"] == "site:bells.example" + " campanology" * 31
    assert result.note == "query shortened to 50 words or 400 characters"
    result, (params,) = _search(request("b" * 500, site="bells.example"), _fixture("web.json"))
    assert params["q"] == "site:bells.example " + "b" * 381


def test_as_many_pages_are_read_as_the_results_need() -> None:
    """`offset` counts pages, from 0, and is at most 9."""
    result, asked = _search(request(max_results=50), _page(18), _page(20, first=19), _page(20, first=39))
    assert [params.get("offset") for params in asked] == [None, "1", "2"]
    assert [params["count"] for params in asked] == ["20", "20", "20"]
    assert [hit.url for hit in result.hits] == [f"https://pages.example/{number}" for number in range(1, 51)]


@pytest.mark.parametrize("last", [_page(20, more=False), _page(0)])
def test_the_last_page_says_so_or_is_empty(last: HttpAnswer) -> None:
    _, asked = _search(request(max_results=50), last)
    assert len(asked) == 1


def test_more_than_sixty_results_are_not_asked_for() -> None:
    result, asked = _search(request(max_results=80), *(_page(20, first=first) for first in (1, 21, 41)))
    assert (len(asked), result.returned_count) == (3, 60)
    assert result.note == "brave gives at most 60 results"


@pytest.mark.parametrize("body", [{"type": "search", "query": {}}, {"type": "search", "web": {"type": "search"}}])
def test_an_envelope_without_its_block_is_an_honest_empty_answer(body: object) -> None:
    """Any block may be absent."""
    result, _ = _search(request(), answer(body))
    assert (result.hits, result.degraded, result.error_message) == ((), None, None)


@pytest.mark.parametrize(
    "body",
    [
        {"type": "news", "results": []},
        {"type": "search", "web": []},
        {"type": "search", "web": {"results": "text"}},
        {"web": {"results": []}},
        {"type": "ErrorResponse", "error": {"code": "OTHER"}},
    ],
)
def test_an_answer_of_another_kind_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _search(request(), answer(body))


def _quota(headers: Mapping[str, str]) -> QuotaStatus | None:
    clock = FakeClock(1_000.0)
    made = instance(PROTOCOL, ScriptedTransport(_fixture("web.json", headers=headers)), key=_KEY, clock=clock)
    return made.search(request(), scope()).quota


def test_the_longest_window_of_the_rate_headers_is_the_quota() -> None:
    """Comma lists with a value per window; resets count in seconds from now."""
    assert _quota(_RATES) == QuotaStatus(
        source=QuotaSource.HEADERS,
        used=14000.0,
        limit=15000.0,
        remaining=1000.0,
        resets_at=1_420_704.0,
        observed_at=1_000.0,
    )
    turned = {name: ", ".join(reversed(value.split(", "))) for name, value in _RATES.items()}
    assert _quota(turned) == _quota(_RATES)
    assert _quota({name: value for name, value in _RATES.items() if "policy" not in name}) == _quota(_RATES)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {**_RATES, "x-ratelimit-limit": "50, 0"},
        {"x-ratelimit-limit": "50", "x-ratelimit-remaining": "49", "x-ratelimit-reset": "1"},
        {**_RATES, "x-ratelimit-remaining": "1"},
        {**_RATES, "x-ratelimit-reset": "soon, later"},
        {**_RATES, "x-ratelimit-limit": "1, nan"},
    ],
)
def test_without_a_monthly_limit_the_headers_tell_no_quota(headers: Mapping[str, str]) -> None:
    """Seconds alone are a pace, 0 is no limit, and lists that do not fit together are not read."""
    assert _quota(headers) is None


def test_a_pace_is_kept_where_the_settings_name_one() -> None:
    assert instance(PROTOCOL, ScriptedTransport(), key=_KEY).pacing(request()) is None
    slow = instance(PROTOCOL, ScriptedTransport(), key=_KEY, extras={"requestsPerSecond": "1"})
    one, three = slow.pacing(request()), slow.pacing(request(max_results=50))
    assert one is not None
    assert three is not None
    assert (one.subject, one.calls, three.calls) == ("brave@api.search.brave.com:apiKey", 1, 3)
    assert three.separate, "each page takes a turn of its own"
    assert (one.interval, three.interval) == (1.5, 1.5)


def test_another_base_url_is_used_as_it_is_saved() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    instance(PROTOCOL, transport, key=_KEY, base_url="http://127.0.0.1:8099/brave/").search(request(), scope())
    assert transport.sent[0].request.url == "http://127.0.0.1:8099/brave/res/v1/web/search"


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
