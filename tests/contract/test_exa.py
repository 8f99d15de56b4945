"""Exa: every recorded answer, the questions that are put to it, what its contents, prices and failures mean."""

import re
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.exa import PROTOCOL
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
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, Secret

_KEY = "a-key-of-exa"


def _search(asked: SearchRequest, told: HttpAnswer, **extras: str) -> tuple[SearchResult, dict[str, Any]]:
    """The result, and the JSON that was sent for it."""
    transport = ScriptedTransport(told)
    result = instance(PROTOCOL, transport, key=_KEY, extras=extras).search(asked, scope())
    (sent,) = transport.sent
    return result, sent.request.json


def _read(name: str, *, status: int = 200) -> SearchResult:
    return _search(request(), answer(payload("exa", name), status=status))[0]


def _fixture(name: str, *, status: int = 200) -> HttpAnswer:
    return answer(fixture("exa", name), status=status)


def _load(reference: str | None, *script: HttpAnswer) -> tuple[LoadedContent, ScriptedTransport]:
    transport = ScriptedTransport(*script)
    wanted = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference)
    return instance(PROTOCOL, transport, key=_KEY).load_content(wanted, scope()), transport


def _day(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.DAY)


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("exa", __file__) == []


def test_a_recorded_search_is_read_with_its_pages_and_its_price() -> None:
    """Ten of the web, six days alone, authors that are notes; the text is the page, as Markdown."""
    result = _read("search_text_full_page.json")
    assert (result.returned_count, result.dropped_count, result.note) == (10, 0, None)
    first, second, third = result.hits[:3]
    assert first.title == "AI agents arrived in 2025 – here's what happened and the ..."
    assert first.source == "theconversation.com"
    assert first.published_at == _day("2025-12-29")
    assert first.authors == ("Thomas Şerban von Davier",)
    assert first.extras["cost_dollars"] == 0.015
    assert first.extras["image_url"].startswith("https://images.theconversation.com/files/709953/")
    assert first.content is not None
    assert (first.content.inline, first.content.media_type) == (ContentInline.EMBED_TEXT, "text/markdown")
    assert first.content.text is not None
    assert len(first.content.text) == 2500
    assert first.snippet is not None
    assert first.snippet.startswith("AI agents arrived in 2025 –here’s what happened and the challenges ahead in 2026")
    assert len(first.snippet) <= 500
    assert second.authors == ()
    assert third.authors == ("Amer Wilson",)
    assert "cost_dollars" not in second.extras


def test_recorded_papers_carry_their_arxiv_id_and_no_note_for_an_author() -> None:
    hits = _read("search_text_full_page.json").hits
    assert [(hit.identifiers.get("arxiv_id"), hit.authors) for hit in hits[5:]] == [
        ("2509.02547", ()),
        ("2510.05592", ()),
        ("2509.06283", ()),
        (None, ("Silver, David",)),
        ("2502.07056", ()),
    ]


def test_a_recorded_search_of_domains_is_read() -> None:
    """With `includeDomains` and a window; an author may be null or empty."""
    result = _read("search_include_domains.json")
    assert [(hit.source, hit.published_at, hit.authors) for hit in result.hits] == [
        ("kodexolabs.com", _day("2025-07-31"), ()),
        ("www.rolustech.com", _day("2025-09-23"), ("Amer Wilson",)),
        ("kodexolabs.com", _day("2025-08-05"), ()),
        ("kodexolabs.com", _day("2025-09-22"), ()),
        ("kodexolabs.com", _day("2025-08-04"), ()),
        ("kodexolabs.com", _day("2025-10-07"), ()),
    ]
    assert result.hits[2].title == "Build an AI Agent in 2025 | Cost, Benefits & Real Use Cases"


def test_a_recorded_answer_with_much_beside_it_is_read() -> None:
    """Flags and filters of Exa's own are passed over; an instant stays one."""
    result = _read("mcp_web_search_output.json")
    assert (result.returned_count, result.dropped_count) == (5, 0)
    assert [hit.authors for hit in result.hits] == [
        (),
        ("Renee Anderson", "Jesse Zanger"),
        ("Contributors to Wikimedia projects",),
        ("ABC News",),
        ("Rebekah Riess", "Maureen Chowdhury", "Elise Hammond", "Kaanita Iyer", "Tori B. Powell"),
    ]
    assert result.hits[0].published_at == PublishedAt(value="2025-11-06T12:27:04Z", precision=DatePrecision.SECOND)
    assert result.hits[0].extras["cost_dollars"] == 0.01


def test_a_recorded_402_is_an_empty_account() -> None:
    with pytest.raises(QuotaExhausted) as caught:
        _read("error_402_no_more_credits.json", status=402)
    assert caught.value.status == 402


def test_a_key_s_own_budget_is_one_too() -> None:
    with pytest.raises(QuotaExhausted):
        _search(request(), _fixture("error_402_budget.json", status=402))


def test_what_exa_will_not_look_for_is_the_query_s_fault() -> None:
    """A team that is blocked is not."""
    with pytest.raises(QueryRejected):
        _search(request(), _fixture("error_403_content.json", status=403))
    with pytest.raises(AccessRefused):
        _search(request(), _fixture("error_403_blocked.json", status=403))


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (400, QueryRejected),
        (401, CredentialsRejected),
        (422, QueryRejected),
        (429, RateLimited),
        (503, ProviderUnavailable),
        (504, ProviderUnavailable),
    ],
)
def test_other_refusals_are_read_as_everybody_s(status: int, failure: type[ProviderError]) -> None:
    told = answer({"requestId": "x", "error": "No.", "tag": "ANYTHING"}, status=status, headers={"retry-after": "7"})
    with pytest.raises(failure):
        _search(request(), told)


def test_a_malformed_item_or_a_script_link_is_dropped_and_counted() -> None:
    """Without contents a hit has neither snippet nor text; one part of a name in two is one author."""
    result, _ = _search(request(), _fixture("web.json"))
    assert (result.returned_count, result.dropped_count) == (3, 2)
    first, second, third = result.hits
    assert (first.title, first.source, first.snippet, first.content) == (
        "How a bell is cast & tuned",
        "bells.example",
        None,
        None,
    )
    assert first.authors == ("Ada Founder", "Bertha Bell")
    assert first.extras == {"image_url": "https://bells.example/casting.jpg", "cost_dollars": 0.005}
    assert second.authors == ("Founder, Ada",)
    assert second.published_at == PublishedAt(value="2019-11-21T09:30:05Z", precision=DatePrecision.SECOND)
    assert (third.authors, third.published_at, third.extras) == ((), None, {})


def test_highlights_are_the_snippet_and_text_is_the_content() -> None:
    result, _ = _search(request(), _fixture("web_with_contents.json"), includeText="true", includeHighlights="true")
    assert [hit.snippet for hit in result.hits] == [
        "Bronze is poured between core and cope. [...] After cooling the bell is tuned.",
        "Twelve peals and their founders.",
        None,
    ]
    texts = [hit.content.text if hit.content else None for hit in result.hits]
    assert texts == [
        "# How a bell is cast\n\nBronze is poured between core and cope.",
        "Twelve peals and their founders.",
        None,
    ]


def test_a_search_is_asked_with_its_type_pinned_and_nothing_that_costs_more() -> None:
    """Names in camelCase, and no contents."""
    transport = ScriptedTransport(_fixture("web.json"))
    instance(PROTOCOL, transport, key=_KEY).search(request("bells", max_results=7), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("POST", "https://api.exa.ai/search")
    assert sent.request.json == {"query": "bells", "type": "auto", "numResults": 7}
    assert (sent.authentication, sent.secret) == (HeaderKey(name="x-api-key"), Secret(_KEY))


def test_contents_are_asked_for_where_the_settings_say_so() -> None:
    _, body = _search(
        request(), _fixture("web.json"), includeText="true", includeHighlights="True", searchType="instant"
    )
    assert body["contents"] == {"text": {"maxCharacters": 10_000}, "highlights": {"maxCharacters": 1_000}}
    assert body["type"] == "instant"
    _, body = _search(request(), _fixture("web.json"), includeText="false", includeHighlights="true")
    assert body["contents"] == {"highlights": {"maxCharacters": 1_000}}


@pytest.mark.parametrize(
    ("modality", "category"),
    [(SearchModality.WEB, None), (SearchModality.NEWS, "news"), (SearchModality.ACADEMIC, "research paper")],
)
def test_a_modality_is_asked_as_a_category(modality: SearchModality, category: str | None) -> None:
    _, body = _search(request(modality=modality), _fixture(f"{modality.lower()}.json"))
    assert body.get("category") == category


def test_a_page_can_be_had_on_demand_only_where_the_settings_say_so() -> None:
    """It costs, and an investigation loads what it is offered."""
    hit = _search(request(), _fixture("web.json"), extract="true")[0].hits[0]
    assert hit.content == ContentReference(
        inline=ContentInline.STASH_ON_DEMAND, media_type="text/markdown", reference="https://bells.example/casting"
    )


def test_a_page_is_asked_of_contents_where_its_options_lie_at_the_top() -> None:
    content, transport = _load("https://bells.example/casting", _fixture("contents.json"))
    assert content.body == b"# How a bell is cast\n\nBronze is poured between core and cope."
    assert (content.media_type, content.source_url) == ("text/markdown", "https://bells.example/casting/")
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("POST", "https://api.exa.ai/contents")
    assert sent.request.json == {"urls": ["https://bells.example/casting"], "text": {"maxCharacters": 200_000}}


def test_a_page_that_exa_cannot_read_is_rejected() -> None:
    """A 200 with the failure among its statuses."""
    with pytest.raises(QueryRejected):
        _load("https://bells.example/gone", _fixture("contents_failed.json"))


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_page_without_text_is_rejected(text: str | None) -> None:
    with pytest.raises(QueryRejected):
        _load("https://bells.example/", answer({"results": [{"url": "https://bells.example/", "text": text}]}))


@pytest.mark.parametrize("body", [{"statuses": []}, {"results": ["text"]}, {"results": [{"text": 7}]}])
def test_contents_of_another_shape_are_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _load("https://bells.example/", answer(body))


@pytest.mark.parametrize("reference", [None, "", "bells", "javascript:alert(1)"])
def test_what_is_no_address_is_not_asked_for(reference: str | None) -> None:
    with pytest.raises(QueryRejected):
        _load(reference)


def test_a_window_of_days_is_asked_just_outside_of_its_ends() -> None:
    """So that a page of midnight is in it, whether "after" means at or after."""
    asked = request("bells", date_from=date(2024, 1, 5), date_to=date(2024, 12, 31))
    result, body = _search(asked, _fixture("web.json"))
    assert body["startPublishedDate"] == "2024-01-04T23:59:59.999Z"
    assert body["endPublishedDate"] == "2024-12-31T23:59:59.999Z"
    assert _handling(result) == dict.fromkeys(("date_from", "date_to"), FilterHandling.PROVIDER)


def test_freshness_is_asked_as_the_window_it_was_resolved_to() -> None:
    asked = request("bells", SearchModality.NEWS, freshness_days=7, published=(date(2027, 1, 8), None))
    result, body = _search(asked, _fixture("news.json"))
    assert body["startPublishedDate"] == "2027-01-07T23:59:59.999Z"
    assert "endPublishedDate" not in body
    assert _handling(result) == {"freshness_days": FilterHandling.PROVIDER}


def test_the_first_of_all_days_has_no_day_before_it() -> None:
    _, body = _search(request("bells", date_from=date.min), _fixture("web.json"))
    assert body["startPublishedDate"] == "0001-01-01T23:59:59.999Z"


def test_a_site_with_a_path_is_asked_as_its_domain_and_the_path_is_applied_here() -> None:
    """Out of a page that costs no more."""
    result, body = _search(request("bells", site="bells.example/casting", max_results=3), _fixture("web.json"))
    assert (body["includeDomains"], body["numResults"]) == (["bells.example"], 10)
    assert _handling(result) == {"site": FilterHandling.HERE}
    assert [hit.url for hit in result.hits] == ["https://bells.example/casting"]


def test_a_domain_beside_a_site_is_applied_here() -> None:
    result, body = _search(request("bells", site="bells.example", domain="example"), _fixture("web.json"))
    assert body["includeDomains"] == ["bells.example"]
    assert _handling(result) == {"site": FilterHandling.PROVIDER, "domain": FilterHandling.HERE}


def test_a_filetype_is_applied_here() -> None:
    result, _ = _search(request("bells", filetype="pdf"), _fixture("web.json"))
    assert _handling(result) == {"filetype": FilterHandling.HERE}
    assert [hit.url for hit in result.hits] == ["https://museum.example/bells/rhineland.pdf"]


def test_site_operators_in_the_query_become_domains() -> None:
    result, body = _search(request("bells site:museum.example -site:ads.example"), _fixture("web.json"))
    assert body["query"] == "bells"
    assert (body["includeDomains"], body["excludeDomains"]) == (["museum.example"], ["ads.example"])
    assert _handling(result) == {"site": FilterHandling.PROVIDER, "-site": FilterHandling.PROVIDER}


def test_a_region_is_the_user_s_country_and_a_language_alone_is_ignored() -> None:
    result, body = _search(request("bells", locale=Locale(language="de", region="AT")), _fixture("web.json"))
    assert body["userLocation"] == "AT"
    assert _handling(result) == {"locale": FilterHandling.PROVIDER}
    result, body = _search(request("bells", locale=Locale(language="de")), _fixture("web.json"))
    assert "userLocation" not in body
    assert _handling(result) == {"locale": FilterHandling.IGNORED}


def test_more_than_a_hundred_results_are_not_asked_for() -> None:
    result, body = _search(request("bells", max_results=150), _fixture("web.json"))
    assert body["numResults"] == 100
    assert result.note == "exa gives at most 100 results"


def test_no_results_are_an_honest_empty_answer() -> None:
    result, _ = _search(request(), answer({"requestId": "x", "results": [], "costDollars": {"total": 0.005}}))
    assert (result.hits, result.degraded, result.error_message) == ((), None, None)


@pytest.mark.parametrize("price", [None, "much", {}, {"total": None}])
def test_a_price_that_is_not_told_is_no_extra(price: object) -> None:
    hit = {"title": "Bells", "url": "https://bells.example/", "score": 0.5}
    result, _ = _search(request(), answer({"results": [hit], "costDollars": price}))
    assert [each.extras for each in result.hits] == [{"score": 0.5}]


@pytest.mark.parametrize("body", [{"requestId": "x"}, {"results": "text"}, {"results": {"title": "no list"}}])
def test_an_answer_without_its_list_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _search(request(), answer(body))


def test_exa_tells_no_quota() -> None:
    """Its rate headers are of a moment, and nothing says what is left of the credits."""
    assert instance(PROTOCOL, ScriptedTransport(), key=_KEY).current_quota(scope()) is None


@pytest.mark.parametrize(("rate", "interval"), [(None, 0.15), ("50", 0.03)])
def test_the_published_rate_is_kept_to(rate: str | None, interval: float) -> None:
    extras = {"requestsPerSecond": rate} if rate else {}
    paced = instance(PROTOCOL, ScriptedTransport(), key=_KEY, extras=extras).pacing(request())
    assert paced is not None
    assert paced.subject == "exa@api.exa.ai:apiKey"
    assert paced.interval == pytest.approx(interval)


def test_another_base_url_is_used_as_it_is_saved() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    made = instance(PROTOCOL, transport, key=_KEY, base_url="http://127.0.0.1:8099/exa/")
    made.search(request(), scope())
    assert transport.sent[0].request.url == "http://127.0.0.1:8099/exa/search"


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
