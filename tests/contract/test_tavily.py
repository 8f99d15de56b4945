"""Tavily: every recorded answer, the questions that are put to it, what its pages, credits and failures mean."""

import re
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.tavily import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
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

_KEY = "tvly-a-key-of-tavily"
_PLAIN = {"topic": "general", "search_depth": "basic", "auto_parameters": False, "include_usage": True}


def _search(asked: SearchRequest, told: HttpAnswer, **extras: str) -> tuple[SearchResult, dict[str, Any]]:
    """The result, and the JSON that was sent for it."""
    transport = ScriptedTransport(told)
    result = instance(PROTOCOL, transport, key=_KEY, extras=extras).search(asked, scope())
    (sent,) = transport.sent
    return result, sent.request.json


def _read(name: str, *, status: int = 200, modality: SearchModality = SearchModality.WEB) -> SearchResult:
    return _search(request(modality=modality), answer(payload("tavily", name), status=status))[0]


def _fixture(name: str, *, status: int = 200) -> HttpAnswer:
    return answer(fixture("tavily", name), status=status)


def _load(reference: str | None, *script: HttpAnswer) -> tuple[LoadedContent, ScriptedTransport]:
    transport = ScriptedTransport(*script)
    wanted = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference)
    return instance(PROTOCOL, transport, key=_KEY).load_content(wanted, scope()), transport


def _quota(body: object) -> QuotaStatus:
    quota = instance(PROTOCOL, ScriptedTransport(answer(body)), key=_KEY).current_quota(scope())
    assert quota is not None
    return quota


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("tavily", __file__) == []


def test_a_recorded_search_is_read_with_its_passages_and_scores() -> None:
    """`answer`, `raw_content` and `images` are null or empty unless asked for."""
    result = _read("search_basic.json")
    assert (result.returned_count, result.dropped_count, result.note) == (5, 0, None)
    first, second, third = result.hits[:3]
    assert (first.title, first.source) == ("Pydantic AI: Agent Framework", "medium.com")
    assert first.url == "https://medium.com/ai-agent-insider/pydantic-ai-agent-framework-02b138e8db71"
    assert first.snippet is not None
    assert first.snippet.startswith("## AI Agent Insider. # Pydantic AI: Agent Framework.")
    assert first.extras == {"score": 0.9999875}
    assert (second.url, second.extras) == ("https://ai.pydantic.dev/", {"score": 0.99997807})
    assert third.snippet == (
        "Pydantic AI lets you integrate large language models like GPT-5 **directly into your Python applications**."
    )
    assert [hit.content for hit in result.hits] == [None] * 5


def test_a_recorded_search_of_one_domain_is_read() -> None:
    """With `include_domains` and `max_results`."""
    result = _read("search_bound_params.json")
    assert [(hit.title, hit.url) for hit in result.hits] == [
        ("[2601.03329] Attention mechanisms in neural networks", "https://arxiv.org/abs/2601.03329"),
        ("A General Survey on Attention Mechanisms in Deep ...", "https://arxiv.org/abs/2203.14263"),
    ]
    assert [hit.extras["score"] for hit in result.hits] == [0.81770587, 0.8138313]


def test_a_recorded_search_of_one_site_is_read() -> None:
    result = _read("search_site_filter.json")
    assert [hit.source for hit in result.hits] == ["devblogs.microsoft.com"] * 4
    assert result.hits[2].title == "Semantic Kernel and AutoGen Part 2 - devblogs.microsoft.com"


def test_a_recorded_answer_with_pages_and_a_model_s_answer_is_read() -> None:
    """The answer is an extra of the first hit; a page that came along is the hit's content; a null one is none."""
    result = _read("search_answer_images_raw.json")
    first, *others = result.hits
    assert first.title == "Semantic Kernel overview for .NET - .NET | Microsoft Learn"
    assert first.extras["answer"].startswith("Semantic Kernel is an open-source SDK for integrating AI models")
    assert not [hit for hit in others if "answer" in hit.extras]
    pages = [hit.content for hit in result.hits if hit.content is not None]
    assert pages
    assert {(page.inline, page.media_type) for page in pages} == {(ContentInline.EMBED_TEXT, "text/markdown")}
    assert all(page.text and len(page.text) > 500 for page in pages)


def test_a_recorded_extraction_is_the_page_s_markdown() -> None:
    url = "https://en.wikipedia.org/wiki/Artificial_intelligence"
    content, _ = _load(url, answer(payload("tavily", "extract_sdk_sample.json")))
    assert content.body.decode().startswith(
        "# Artificial intelligence\n\nArtificial intelligence (AI) is the capability"
    )
    assert (content.media_type, content.source_url) == ("text/markdown", url)


def test_a_recorded_401_is_a_matter_of_the_key() -> None:
    with pytest.raises(CredentialsRejected):
        _read("error_401.json", status=401)


def test_a_recorded_432_is_an_exhausted_plan() -> None:
    """Not in any registry of status codes, and no fault of the query."""
    with pytest.raises(QuotaExhausted) as caught:
        _read("error_432_plan_limit.json", status=432)
    assert caught.value.status == 432


def test_a_433_is_an_exhausted_pay_as_you_go_limit() -> None:
    with pytest.raises(QuotaExhausted):
        _search(request(), _fixture("error_433.json", status=433))


@pytest.mark.parametrize(
    ("status", "failure"), [(400, QueryRejected), (403, AccessRefused), (422, QueryRejected), (429, RateLimited)]
)
def test_other_refusals_are_read_as_everybody_s(status: int, failure: type[ProviderError]) -> None:
    told = answer({"detail": {"error": "Query is too long."}}, status=status, headers={"retry-after": "7"})
    with pytest.raises(failure):
        _search(request(), told)


def test_a_malformed_item_or_a_script_link_is_dropped_and_counted() -> None:
    result, _ = _search(request(), _fixture("web.json"))
    assert (result.returned_count, result.dropped_count) == (2, 2)
    first, second = result.hits
    assert (first.title, first.source) == ("How a bell is cast & tuned", "bells.example")
    assert first.snippet == (
        "Bronze is poured between core and cope. [...] After cooling the bell is tuned on a lathe."
    )
    assert second.content is not None
    assert second.content.text == "# Cathedral bells\n\nTwelve peals and their founders."


def test_the_credits_of_a_search_are_an_extra_of_the_first_hit() -> None:
    """Once for the whole search, where Tavily tells them."""
    result, _ = _search(request(), _fixture("web.json"))
    assert [hit.extras for hit in result.hits] == [{"score": 0.91, "credits": 1}, {"score": 0.74}]


def test_news_carry_the_moment_that_they_were_published() -> None:
    """ "last week" is none."""
    result, body = _search(request(modality=SearchModality.NEWS), _fixture("news.json"))
    assert body["topic"] == "news"
    assert [hit.published_at for hit in result.hits] == [
        PublishedAt(value="2025-02-10T05:00:00Z", precision=DatePrecision.SECOND),
        None,
    ]


def test_a_search_is_asked_with_its_depth_pinned_and_nothing_that_costs_more() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    instance(PROTOCOL, transport, key=_KEY).search(request("bells", max_results=7), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("POST", "https://api.tavily.com/search")
    assert sent.request.json == {**_PLAIN, "query": "bells", "max_results": 7}
    assert (sent.authentication, sent.secret) == (HeaderKey(name="Authorization", prefix="Bearer "), Secret(_KEY))


def test_what_costs_more_is_asked_for_where_the_settings_say_so() -> None:
    _, body = _search(
        request("bells"), _fixture("web.json"), searchDepth="advanced", includeAnswer="true", includeRawContent="True"
    )
    wanted = {"search_depth": "advanced", "include_answer": True, "include_raw_content": "markdown"}
    assert body == {**_PLAIN, "query": "bells", "max_results": 10, **wanted}


def test_a_page_can_be_had_on_demand_only_where_the_settings_say_so() -> None:
    """An extraction costs credits, and an investigation loads what it is offered."""
    assert _search(request(), _fixture("web.json"))[0].hits[0].content is None
    first, second = _search(request(), _fixture("web.json"), extract="true")[0].hits
    assert first.content == ContentReference(
        inline=ContentInline.STASH_ON_DEMAND, media_type="text/markdown", reference="https://bells.example/casting"
    )
    assert second.content is not None
    assert second.content.inline is ContentInline.EMBED_TEXT


def test_a_page_is_extracted_in_the_cheap_way() -> None:
    content, transport = _load("https://bells.example/casting", _fixture("extract.json"))
    assert content.body == b"# How a bell is cast\n\nBronze is poured between core and cope."
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("POST", "https://api.tavily.com/extract")
    assert sent.request.json == {
        "urls": ["https://bells.example/casting"],
        "extract_depth": "basic",
        "format": "markdown",
    }


def test_a_page_that_tavily_cannot_read_is_rejected() -> None:
    """A 200 with the failure inside."""
    with pytest.raises(QueryRejected):
        _load("https://bells.example/gone", _fixture("extract_failed.json"))


@pytest.mark.parametrize("raw", [None, "", " \n"])
def test_a_page_without_text_is_rejected(raw: str | None) -> None:
    with pytest.raises(QueryRejected):
        _load("https://bells.example/", answer({"results": [{"url": "https://bells.example/", "raw_content": raw}]}))


@pytest.mark.parametrize("body", [{"failed_results": []}, {"results": [{}]}, {"results": [{"raw_content": 7}]}])
def test_an_extraction_of_another_shape_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _load("https://bells.example/", answer(body))


@pytest.mark.parametrize("reference", [None, "", "bells", "javascript:alert(1)"])
def test_what_is_no_address_is_not_extracted(reference: str | None) -> None:
    with pytest.raises(QueryRejected):
        _load(reference)


def test_a_window_of_days_is_asked_for() -> None:
    asked = request("bells", date_from=date(2024, 1, 5), date_to=date(2024, 12, 31))
    result, body = _search(asked, _fixture("web.json"))
    assert (body["start_date"], body["end_date"]) == ("2024-01-05", "2024-12-31")
    assert _handling(result) == dict.fromkeys(("date_from", "date_to"), FilterHandling.PROVIDER)
    assert result.returned_count == 2


def test_freshness_is_asked_as_the_window_it_was_resolved_to() -> None:
    asked = request("bells", SearchModality.NEWS, freshness_days=7, published=(date(2027, 1, 8), None))
    result, body = _search(asked, _fixture("news.json"))
    assert body["start_date"] == "2027-01-08"
    assert "end_date" not in body
    assert _handling(result) == {"freshness_days": FilterHandling.PROVIDER}


def test_a_site_with_a_path_is_asked_as_its_domain_and_the_path_is_applied_here() -> None:
    """Out of as many results as there are."""
    result, body = _search(request("bells", site="bells.example/casting"), _fixture("web.json"))
    assert (body["include_domains"], body["max_results"]) == (["bells.example"], 20)
    assert _handling(result) == {"site": FilterHandling.HERE}
    assert [hit.url for hit in result.hits] == ["https://bells.example/casting"]


def test_a_domain_beside_a_site_is_applied_here() -> None:
    result, body = _search(request("bells", site="bells.example", domain="example"), _fixture("web.json"))
    assert body["include_domains"] == ["bells.example"]
    assert _handling(result) == {"site": FilterHandling.PROVIDER, "domain": FilterHandling.HERE}


def test_a_filetype_is_applied_here() -> None:
    result, body = _search(request("bells", filetype="pdf"), _fixture("web.json"))
    assert (body["query"], body["max_results"]) == ("bells", 20)
    assert _handling(result) == {"filetype": FilterHandling.HERE}
    assert [hit.url for hit in result.hits] == ["https://museum.example/bells/rhineland.pdf"]


def test_site_operators_in_the_query_become_domains() -> None:
    """Tavily would look for the word."""
    result, body = _search(request("bells site:museum.example -site:ads.example"), _fixture("web.json"))
    assert body["query"] == "bells"
    assert (body["include_domains"], body["exclude_domains"]) == (["museum.example"], ["ads.example"])
    assert _handling(result) == {"site": FilterHandling.PROVIDER, "-site": FilterHandling.PROVIDER}


def test_a_region_is_asked_as_the_country_s_name() -> None:
    result, body = _search(request("bells", locale=Locale(language="de", region="AT")), _fixture("web.json"))
    assert body["country"] == "austria"
    assert _handling(result) == {"locale": FilterHandling.PROVIDER}


@pytest.mark.parametrize(
    ("modality", "locale"),
    [("WEB", Locale(language="de")), ("WEB", Locale(language="de", region="LI")), ("NEWS", Locale(language="de"))],
)
def test_a_language_alone_is_ignored_and_reported(modality: str, locale: Locale) -> None:
    asked = request("bells", SearchModality(modality), locale=locale)
    result, body = _search(asked, _fixture(f"{modality.lower()}.json"))
    assert "country" not in body
    assert [(entry.name, entry.handling) for entry in result.applied] == [("locale", FilterHandling.IGNORED)]


def test_a_country_is_no_filter_of_news() -> None:
    """Tavily takes one for general topics only."""
    asked = request("bells", SearchModality.NEWS, locale=Locale(language="de", region="AT"))
    result, body = _search(asked, _fixture("news.json"))
    assert "country" not in body
    assert _handling(result) == {"locale": FilterHandling.IGNORED}


def test_a_long_query_is_shortened_and_more_than_twenty_results_are_not_asked_for() -> None:
    result, body = _search(request("bell " * 100, max_results=50), _fixture("web.json"))
    assert len(body["query"]) <= 400
    assert body["max_results"] == 20
    assert result.note == "query shortened to 400 characters for tavily; tavily gives at most 20 results"


def test_no_results_are_an_honest_empty_answer() -> None:
    result, _ = _search(request(), answer({"query": "bells", "answer": None, "images": [], "results": []}))
    assert (result.hits, result.degraded, result.error_message) == ((), None, None)


@pytest.mark.parametrize("body", [{"query": "bells"}, {"results": "text"}, {"results": {"title": "no list"}}])
def test_an_answer_without_its_list_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _search(request(), answer(body))


def test_the_tighter_of_the_key_s_and_the_account_s_limit_is_the_quota() -> None:
    transport = ScriptedTransport(_fixture("usage.json"))
    quota = instance(PROTOCOL, transport, key=_KEY).current_quota(scope())
    assert quota is not None
    assert (quota.source, quota.unit) == (QuotaSource.PROVIDER, "credits")
    assert (quota.used, quota.limit, quota.remaining) == (150, 1000, 850.0)
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", "https://api.tavily.com/usage")


@pytest.mark.parametrize(
    ("key_limit", "plan_limit", "paygo_limit", "expected"),
    [
        (None, 1000, 0, (900, 1000, 100.0)),
        (None, 900, 0, (900, 900, 0.0)),
        (None, 900, 50, (900, 950, 50.0)),
        (None, 900, None, (900, 900, None)),
        (800, 900, None, (800, 800, 0.0)),
        (None, None, 0, (900, None, None)),
    ],
)
def test_pay_as_you_go_adds_to_the_plan(
    key_limit: int | None, plan_limit: int | None, paygo_limit: int | None, expected: tuple[float | None, ...]
) -> None:
    """Whether something follows a plan that is used up is not known where that limit is null, and it is not denied."""
    account = {"plan_usage": 900, "plan_limit": plan_limit, "paygo_usage": 0, "paygo_limit": paygo_limit}
    quota = _quota({"key": {"usage": 800, "limit": key_limit}, "account": account})
    assert (quota.used, quota.limit, quota.remaining) == expected


def test_a_usage_of_another_shape_is_malformed() -> None:
    with pytest.raises(MalformedAnswer):
        _quota({"key": {"usage": 1, "limit": 2}})


@pytest.mark.parametrize(("rate", "interval"), [(None, 0.605), ("1000", 0.0605)])
def test_the_published_rate_of_a_key_is_kept_to(rate: str | None, interval: float) -> None:
    extras = {"requestsPerMinute": rate} if rate else {}
    paced = instance(PROTOCOL, ScriptedTransport(), key=_KEY, extras=extras).pacing(request())
    assert paced is not None
    assert paced.subject == "tavily@api.tavily.com:apiKey"
    assert paced.interval == pytest.approx(interval)


def test_another_base_url_is_used_as_it_is_saved() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    made = instance(PROTOCOL, transport, key=_KEY, base_url="http://127.0.0.1:8099/tavily/")
    made.search(request(), scope())
    assert transport.sent[0].request.url == "http://127.0.0.1:8099/tavily/search"
    paced = made.pacing(request())
    assert paced is not None
    assert paced.subject == "tavily@127.0.0.1:apiKey"


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
