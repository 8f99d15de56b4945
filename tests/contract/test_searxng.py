"""SearXNG: every recorded answer, what is asked of which engines, and what an instance may lack."""

import re
from datetime import date

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.searxng import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    MalformedAnswer,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import WrongSettingsError
from zarniwoop.contract.quota import ProviderAvailability
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, Secret

_BASE = "https://searx.house.test"


def _search(
    asked: SearchRequest, *script: HttpAnswer, key: str | None = None, **extras: str
) -> tuple[SearchResult, list[dict[str, str]]]:
    """The result, and the parameters of every request that was sent for it."""
    transport = ScriptedTransport(*script)
    result = instance(PROTOCOL, transport, key=key, base_url=_BASE, extras=extras).search(asked, scope())
    return result, [dict(sent.request.params) for sent in transport.sent]


def _read(name: str, *, status: int = 200, max_results: int = 1) -> SearchResult:
    nothing = answer({"results": []})
    told = answer(payload("searxng", name), status=status)
    return _search(request(max_results=max_results), told, *([nothing] * 2))[0]


def _fixture(name: str) -> HttpAnswer:
    return answer(fixture("searxng", name))


_NOTHING = answer({"query": "x", "results": [], "unresponsive_engines": []})


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("searxng", __file__) == []


def test_recorded_results_of_both_kinds_are_read() -> None:
    """Of older engines (`iframe_src` null) and newer ones (""), side by side and not sorted by score."""
    result = _read("search_mixed_result_types.json", max_results=10)
    assert (result.returned_count, result.dropped_count, result.degraded) == (6, 0, None)
    first, _, third, fourth, fifth, last = result.hits
    assert first.source == "coffee.stackexchange.com"
    assert first.title.startswith("ground coffee - How does grind size affect the extraction time")
    assert first.snippet is not None
    assert first.snippet.startswith("Aug 19, 2024 · An overly fine grind produces a slow expression")
    assert first.extras == {"engines": ["brave", "google"], "score": 2.3}
    assert third.published_at == PublishedAt(value="2026-02-03", precision=DatePrecision.DAY)
    assert (fourth.url, fourth.published_at) == ("https://espressoaf.com/guides/beginner.html", None)
    assert fifth.snippet is None
    assert last.extras["thumbnail_url"].startswith("https://encrypted-tbn0.gstatic.com/images?q=tbn%3AANd9GcR-6EX2")


def test_recorded_results_without_an_address_are_dropped_and_counted() -> None:
    """Of an engine that gives keys and values; nobody failed, so that nothing is an honest answer."""
    result = _read("keyvalue_results_url_null.json")
    assert (result.hits, result.dropped_count, result.degraded) == ((), 4, None)


def test_recorded_engines_that_did_not_answer_degrade_an_answer_without_hits() -> None:
    """An empty list then does not mean that there is nothing."""
    result = _read("partial_unresponsive.json")
    assert (result.hits, result.dropped_count) == ((), 4)
    assert result.degraded == "engines that did not answer: brave, duckduckgo, wikipedia"


def test_a_recorded_instance_without_json_says_how_to_turn_it_on() -> None:
    """The 403 is a page; the failure names file and setting."""
    with pytest.raises(AccessRefused) as caught:
        _read("format_disabled_403.html", status=403)
    assert caught.value.status == 403
    assert "settings.yml" in caught.value.message
    assert "search.formats: [html, json]" in caught.value.message


@pytest.mark.parametrize("name", ["bad_pageno_400.json", "no_query_400.json"])
def test_a_recorded_400_is_the_query_s_fault(name: str) -> None:
    with pytest.raises(QueryRejected):
        _read(name, status=400)


def test_another_403_is_a_wall_or_the_key() -> None:
    """A page of somebody else, and a proxy that speaks of the key."""
    with pytest.raises(AccessRefused) as caught:
        _search(request(), answer("<html>Are you a robot?</html>", status=403))
    assert "settings.yml" not in caught.value.message
    with pytest.raises(CredentialsRejected):
        _search(request(), answer({"error": "invalid api key"}, status=403), key="a-key-of-the-proxy")


def test_its_limiter_is_named_and_a_stated_wait_is_kept() -> None:
    with pytest.raises(RateLimited) as caught:
        _search(request(), answer("Too Many Requests", status=429, headers={"retry-after": "7"}))
    assert "limiter" in caught.value.message
    assert caught.value.retry_after == 7.0


def test_all_engines_silent_is_a_degraded_answer_that_names_some() -> None:
    result, _ = _search(request(), _fixture("all_silent.json"))
    assert result.hits == ()
    assert result.degraded == (
        "engines that did not answer: brave, duckduckgo, google, startpage, wikipedia and 1 more"
    )
    assert result.note is None


def test_no_results_of_engines_that_answered_are_an_honest_empty_answer() -> None:
    result, _ = _search(request(), _fixture("web_nothing.json"))
    assert (result.hits, result.degraded, result.note, result.error_message) == ((), None, None, None)


def test_a_search_is_read_with_engines_dates_and_panels() -> None:
    """An answer and a box are no pages: their texts ride on the first hit. Silent engines are noted."""
    result, _ = _search(request(max_results=2), _fixture("web.json"))
    assert (result.returned_count, result.dropped_count) == (2, 2)
    assert result.note == "engines that did not answer: duckduckgo"
    first, second = result.hits
    assert (first.title, first.snippet) == ("How a bell is cast & tuned", "Bronze is poured between core and cope.")
    assert first.published_at == PublishedAt(value="2024-05-03", precision=DatePrecision.DAY)
    assert first.extras == {
        "engines": ["brave", "google"],
        "score": 2.3,
        "answer_box": "A bell is rung.",
        "knowledge_graph": "A percussion instrument.",
    }
    assert second.authors == ("Ada Founder",)
    assert second.published_at == PublishedAt(value="2019-11-21T09:30:05Z", precision=DatePrecision.SECOND)


@pytest.mark.parametrize("answers", [["A bell is rung."], [{"answer": "A bell is rung."}]])
def test_an_answer_may_be_a_text_or_an_object(answers: list[object]) -> None:
    hit = {"title": "Bells", "url": "https://bells.example/"}
    result, _ = _search(request(max_results=1), answer({"results": [hit], "answers": answers}))
    assert result.hits[0].extras == {"answer_box": "A bell is rung."}


def test_pictures_and_videos_carry_what_is_theirs() -> None:
    """A length is text or seconds; whose film it is, is a channel."""
    images, _ = _search(request(modality=SearchModality.IMAGE, max_results=2), _fixture("image.json"))
    own = ("image_url", "thumbnail_url", "width", "height")
    assert [{name: hit.extras.get(name) for name in own} for hit in images.hits] == [
        {
            "image_url": "https://imgs.example/great.jpg",
            "thumbnail_url": "https://imgs.example/great-small.jpg",
            "width": 1200,
            "height": 900,
        },
        {"image_url": "https://imgs.example/clapper.png", "thumbnail_url": None, "width": 640, "height": 480},
    ]
    videos, _ = _search(request(modality=SearchModality.VIDEO, max_results=2), _fixture("video.json"))
    first, second = videos.hits
    assert (first.extras["duration"], first.extras["channel"], first.extras["views"]) == (
        "26:10",
        "Foundry Films",
        "12K",
    )
    assert (first.authors, second.extras["duration"]) == ((), "1:02:05")


def test_papers_carry_authors_venue_and_identifiers() -> None:
    """So that they meet the same work out of another index."""
    result, _ = _search(request(modality=SearchModality.ACADEMIC, max_results=2), _fixture("academic.json"))
    first, second = result.hits
    assert first.authors == ("Ada Founder", "Bertha Bell")
    assert first.identifiers == {"doi": "10.1000/bell.1"}
    assert (first.extras["venue"], first.extras["publisher"]) == ("Journal of Bells", "Bell Press")
    assert first.extras["pdf_url"] == "https://journal.example/partials.pdf"
    assert second.identifiers["arxiv_id"] == "2401.01234"
    assert second.published_at == PublishedAt(value="2024-01-02T10:11:12Z", precision=DatePrecision.SECOND)


@pytest.mark.parametrize(
    ("modality", "category"),
    [
        (SearchModality.WEB, "general"),
        (SearchModality.NEWS, "news"),
        (SearchModality.IMAGE, "images"),
        (SearchModality.VIDEO, "videos"),
        (SearchModality.ACADEMIC, "science"),
        (SearchModality.CODE, "it"),
    ],
)
def test_a_modality_is_asked_as_a_category(modality: SearchModality, category: str) -> None:
    told = _fixture(f"{modality.lower()}.json")
    _, (params,) = _search(request("bells", modality, max_results=2), told, engines="brave")
    if modality is SearchModality.WEB:
        assert params == {"q": "bells", "format": "json", "engines": "brave"}
    else:
        assert params == {"q": "bells", "format": "json", "categories": category}


def test_a_search_without_settings_asks_the_general_engines_without_a_key() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    made = instance(PROTOCOL, transport, base_url=f"{_BASE}/sub/")
    made.search(request("bells", max_results=2), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", f"{_BASE}/sub/search")
    assert sent.request.params == {"q": "bells", "format": "json", "categories": "general"}
    assert sent.secret is None


def test_categories_of_the_settings_are_those_of_the_web() -> None:
    _, (params,) = _search(request(max_results=2), _fixture("web.json"), categories="general,social media")
    assert params["categories"] == "general,social media"


def test_the_key_of_a_proxy_is_a_bearer_token() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    instance(PROTOCOL, transport, key="a-key-of-the-proxy", base_url=_BASE).search(request(max_results=2), scope())
    (sent,) = transport.sent
    assert (sent.authentication, sent.secret) == (
        HeaderKey(name="Authorization", prefix="Bearer "),
        Secret("a-key-of-the-proxy"),
    )


def test_without_an_address_there_is_nobody_to_ask() -> None:
    """No instance is anybody's default."""
    made = instance(PROTOCOL, ScriptedTransport())
    assert made.availability(scope()) is ProviderAvailability.DISABLED


@pytest.mark.parametrize("engines", ["", "brave;google", "brave,,google", "x" * 41])
def test_names_that_are_none_make_no_instance(engines: str) -> None:
    with pytest.raises(WrongSettingsError):
        instance(PROTOCOL, ScriptedTransport(), base_url=_BASE, extras={"engines": engines})


def test_pages_are_read_on_until_there_are_enough_and_none_comes_twice() -> None:
    """Engines count pages each for itself; silent ones are told once."""
    result, sent = _search(request("bells", max_results=3), _fixture("web.json"), _fixture("web_page_2.json"))
    assert [hit.url for hit in result.hits] == [
        "https://bells.example/casting",
        "https://museum.example/bells/rhineland.pdf",
        "https://towers.example/",
    ]
    assert [params.get("pageno") for params in sent] == [None, "2"]
    assert result.hits[0].title == "How a bell is cast & tuned"
    assert result.note == "engines that did not answer: duckduckgo, startpage"


def test_a_page_that_brings_nothing_new_is_the_last() -> None:
    _, sent = _search(request(max_results=9), _fixture("web.json"), _fixture("web.json"))
    assert len(sent) == 2


def test_three_pages_are_the_most_that_are_read() -> None:
    pages = [
        answer({"results": [{"title": str(number), "url": f"https://bells.example/{number}"}]}) for number in range(4)
    ]
    result, sent = _search(request(max_results=60), *pages)
    assert (result.returned_count, len(sent)) == (3, 3)


def test_a_language_is_asked_for() -> None:
    asked = request("bells", max_results=2, locale=Locale(language="de", region="AT"))
    result, (params,) = _search(asked, _fixture("web.json"))
    assert params["language"] == "de-AT"
    assert _handling(result) == {"locale": FilterHandling.PROVIDER}


@pytest.mark.parametrize(
    ("days", "time_range", "handling"),
    [
        (1, "day", FilterHandling.PROVIDER),
        (2, "week", FilterHandling.HERE),
        (7, "week", FilterHandling.PROVIDER),
        (30, "month", FilterHandling.PROVIDER),
        (90, "year", FilterHandling.HERE),
        (365, "year", FilterHandling.PROVIDER),
        (400, None, FilterHandling.HERE),
    ],
)
def test_freshness_is_a_time_range_and_applied_here_where_none_fits(
    days: int, time_range: str | None, handling: FilterHandling
) -> None:
    """The next wider one is asked for then."""
    asked = request("bells", max_results=2, freshness_days=days, published=(date(2019, 1, 1), None))
    result, (params,) = _search(asked, _fixture("web.json"))
    assert params.get("time_range") == time_range
    assert _handling(result) == {"freshness_days": handling}


def test_a_window_of_days_is_applied_here() -> None:
    asked = request("bells", max_results=2, date_from=date(2024, 1, 1), date_to=date(2024, 12, 31))
    result, (params,) = _search(asked, _fixture("web.json"))
    assert "time_range" not in params
    assert _handling(result) == dict.fromkeys(("date_from", "date_to"), FilterHandling.HERE)
    assert [hit.url for hit in result.hits] == ["https://bells.example/casting"]


def test_a_site_and_a_filetype_are_asked_for_in_words_and_looked_at_here() -> None:
    """Not every engine understands operators."""
    asked = request("bells", max_results=2, site="museum.example/bells", filetype="pdf")
    result, (params,) = _search(asked, _fixture("web.json"))
    assert params["q"] == "site:museum.example filetype:pdf bells"
    assert _handling(result) == dict.fromkeys(("site", "filetype"), FilterHandling.HERE)
    assert [hit.url for hit in result.hits] == ["https://museum.example/bells/rhineland.pdf"]
    asked = request("bells", SearchModality.IMAGE, max_results=2, domain="bells.example")
    result, (params,) = _search(asked, _fixture("image.json"))
    assert params["q"] == "bells"
    assert [hit.source for hit in result.hits] == ["bells.example"]


@pytest.mark.parametrize(
    ("query", "asked_for"),
    [
        ("!!g bells", "g bells"),
        ("bells !!wiki", "bells wiki"),
        ("what a bell!!", "what a bell!!"),
        ("!images x", "!images x"),
        ("!!!!g bells", "g bells"),
    ],
)
def test_a_query_never_sends_us_to_another_site(query: str, asked_for: str) -> None:
    """`!!` would make a redirect of the answer; a single `!` chooses an engine, as its users know."""
    _, (params,) = _search(request(query, max_results=2), _fixture("web.json"))
    assert params["q"] == asked_for


@pytest.mark.parametrize("body", [{"query": "x"}, {"results": "text"}, {"results": {}}, {"results": None}])
def test_an_answer_without_its_list_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _search(request(), answer(body))


@pytest.mark.parametrize("silent", [["brave"], [["brave"]], [["brave", "CAPTCHA"], [], None, [7]]])
def test_engines_are_named_however_they_are_listed(silent: object) -> None:
    result, _ = _search(request(), answer({"results": [], "unresponsive_engines": silent}))
    assert result.degraded == "engines that did not answer: brave"


def test_two_pictures_of_one_page_are_two_hits() -> None:
    pictures = [
        {"title": "Bell", "url": "https://bells.example/", "img_src": f"https://imgs.example/{number}.jpg"}
        for number in (1, 2)
    ]
    result, _ = _search(request(modality=SearchModality.IMAGE, max_results=2), answer({"results": pictures}))
    assert result.returned_count == 2


def test_the_form_says_what_an_instance_must_allow() -> None:
    hint = " ".join(PROTOCOL.format.form_hint.split())
    assert "search.formats: [html, json]" in hint
    assert "limiter" in hint


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
