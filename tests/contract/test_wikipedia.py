"""Wikipedia: what is asked, and what the envelopes of MediaWiki come to."""

from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.wikipedia import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import WrongSettingsError
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer, HttpRequest

ENCYCLOPEDIA = SearchModality.ENCYCLOPEDIA


def search(
    body: object, extras: dict[str, str] | None = None, base_url: str | None = None, **asked: Any
) -> SearchResult:
    transport = ScriptedTransport(body if isinstance(body, HttpAnswer) else answer(body))
    wiki = instance(PROTOCOL, transport, extras=extras, base_url=base_url)
    return wiki.search(request(modality=asked.pop("modality", ENCYCLOPEDIA), **asked), scope())


def sent(extras: dict[str, str] | None = None, base_url: str | None = None, **asked: Any) -> HttpRequest:
    transport = ScriptedTransport(answer({"batchcomplete": True}))
    instance(PROTOCOL, transport, extras=extras, base_url=base_url).search(
        request(modality=ENCYCLOPEDIA, **asked), scope()
    )
    return transport.sent[0].request


def load(
    body: object, reference: str | None = "500001", transport: ScriptedTransport | None = None
) -> tuple[bytes, str]:
    wiki = instance(PROTOCOL, transport or ScriptedTransport(answer(body)))
    loaded = wiki.load_content(ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference), scope())
    return loaded.body, loaded.source_url


def test_one_request_brings_hits_addresses_and_leads() -> None:
    """A search as generator; the second round trip of `list=search` is saved."""
    asked = sent(max_results=5)
    assert asked.url == "https://en.wikipedia.org/w/api.php"
    assert asked.params == {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "utf8": "1",
        "redirects": "1",
        "generator": "search",
        "gsrsearch": "cathedral bells",
        "gsrlimit": "5",
        "prop": "extracts|info|description|pageprops",
        "exintro": "1",
        "explaintext": "1",
        "exlimit": "max",
        "inprop": "url",
        "ppprop": "disambiguation",
    }


def test_more_than_twenty_hits_are_clamped_since_no_more_leads_come_in_one_answer() -> None:
    """And the note says so."""
    assert sent(max_results=50).params["gsrlimit"] == "20"
    assert "at most 20" in (search({"batchcomplete": True}, max_results=50).note or "")


@pytest.mark.parametrize(
    ("extras", "base_url", "host"),
    [
        ({"language": "de"}, None, "https://de.wikipedia.org"),
        ({"language": "zh-yue"}, None, "https://zh-yue.wikipedia.org"),
        ({}, "https://fr.wikipedia.org/", "https://fr.wikipedia.org"),
        ({"language": "de"}, "https://wiki.example.org", "https://wiki.example.org"),
    ],
)
def test_the_language_picks_the_wikipedia_unless_an_address_was_set(
    extras: dict[str, str], base_url: str | None, host: str
) -> None:
    """Each language is a host of its own."""
    assert sent(extras, base_url).url == f"{host}/w/api.php"


@pytest.mark.parametrize("language", ["evil.example/", "DE", "de#", "d"])
def test_a_language_that_is_no_language_code_makes_no_instance(language: str) -> None:
    """The setting becomes part of a host name."""
    with pytest.raises(WrongSettingsError, match=r"^language must match"):
        sent({"language": language})


@pytest.mark.parametrize(
    ("extras", "base_url", "language"),
    [
        ({}, None, "en"),
        ({"language": "de"}, None, "de"),
        ({}, "https://simple.wikipedia.org", "en"),
        ({"language": "nl"}, "https://wiki.example.org", "nl"),
        ({}, "https://wiki.example.org", None),
    ],
)
def test_a_hit_carries_the_language_of_its_wiki(
    extras: dict[str, str], base_url: str | None, language: str | None
) -> None:
    """A wiki of one's own says it by the setting, or not at all."""
    result = search(fixture("wikipedia", "encyclopedia.json"), extras, base_url)
    assert {hit.language for hit in result.hits} == {language}


def test_a_locale_counts_as_applied_only_in_the_language_of_the_wiki() -> None:
    """An instance searches one language; routing picks the instance."""
    (same,) = search({"batchcomplete": True}, locale=Locale(language="en", region="GB")).applied
    (other,) = search({"batchcomplete": True}, locale=Locale(language="de")).applied
    assert same.handling is FilterHandling.PROVIDER
    assert (other.handling, other.reason) == (FilterHandling.IGNORED, "an instance searches one language")


def test_dates_and_file_types_are_ignored_with_a_reason() -> None:
    """The date of a page's last change must not pass for a publication date."""
    result = search(fixture("wikipedia", "encyclopedia.json"), date_from=date(2026, 1, 1), filetype="pdf")
    assert result.returned_count == 3
    assert {entry.handling for entry in result.applied} == {FilterHandling.IGNORED}
    assert all(entry.reason for entry in result.applied)


def test_a_site_is_applied_here() -> None:
    """All hits of a wiki are on its host."""
    assert search(fixture("wikipedia", "encyclopedia.json"), domain="wikipedia.org").returned_count == 3
    assert search(fixture("wikipedia", "encyclopedia.json"), site="example.org").dropped_count == 3


def test_the_source_is_the_site_of_the_hit_and_not_who_was_asked() -> None:
    """Behind a mirror or a proxy the pages are still the wiki's; where no page names its address, the wiki's own."""
    asked = "http://127.0.0.1:8080/en"
    hits = search(fixture("wikipedia", "encyclopedia.json"), base_url=asked).hits
    assert {hit.source for hit in hits} == {"en.wikipedia.org"}
    (named,) = search({"batchcomplete": True, "query": {"pages": [{"title": "Bell"}]}}, base_url=asked).hits
    assert (named.url, named.source) == (f"{asked}/wiki/Bell", "127.0.0.1")


def test_pages_come_in_the_order_of_their_index_with_the_lead_as_content() -> None:
    """The list itself is in no order; a `<` in a lead is text."""
    first, second, third = search(fixture("wikipedia", "encyclopedia.json")).hits
    assert [first.title, second.title, third.title] == ["Church bell", "Change ringing", "Bell (disambiguation)"]
    assert (first.url, first.source, first.rank) == ("https://en.wikipedia.org/wiki/Church_bell", "en.wikipedia.org", 1)
    lead = 'A church bell is a bell in a Christian church. Its strike note is near a < b, as "R&D" has it.'
    assert first.snippet == lead
    assert first.content == ContentReference(inline=ContentInline.EMBED_TEXT, text=lead, reference="500001")
    assert first.extras == {"pageid": 500001, "description": "Bell which is rung in a church"}
    assert (second.content, second.snippet, second.extras) == (None, None, {"pageid": 500002})
    assert third.extras["disambiguation"] is True


def test_hits_of_the_plain_search_get_an_encoded_address() -> None:
    """`list=search` gives no URL; its snippets are HTML."""
    first, second = search(fixture("wikipedia", "web.json"), modality=SearchModality.WEB).hits
    assert first.url == "https://en.wikipedia.org/wiki/C%2B%2B_%26_the_%22Great%22_Bell%3F"
    assert (first.title, first.snippet) == ('C++ & the "Great" Bell?', 'the cathedral "bells" of')
    assert second.url == "https://en.wikipedia.org/wiki/Glocke/L%C3%A4uten"
    assert first.modality is SearchModality.WEB


def test_a_suggestion_becomes_a_note() -> None:
    """There may be hits all the same."""
    assert search(fixture("wikipedia", "web.json")).note == "did you mean: cathedral bells"


def test_an_answer_without_query_is_empty_when_the_batch_is_complete() -> None:
    """That is how a generator says that it found nothing."""
    assert search({"batchcomplete": True}).hits == ()
    assert (
        search({"batchcomplete": True, "query": {"searchinfo": {"suggestion": "bells"}}}).note == "did you mean: bells"
    )


@pytest.mark.parametrize(
    "body",
    [{}, [], "text", {"query": {}}, {"batchcomplete": True, "query": None}, {"query": {"pages": "x"}}, {"pages": 1}],
)
def test_any_other_answer_without_pages_is_malformed(body: object) -> None:
    """An outage never looks like no results."""
    with pytest.raises(MalformedAnswer):
        search(answer(b'"text"') if body == "text" else body)


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("ratelimited", RateLimited),
        ("maxlag", RateLimited),
        ("internal_api_error_DBQueryError", ProviderUnavailable),
        ("readonly", ProviderUnavailable),
        ("cirrussearch-query-too-long", QueryRejected),
    ],
)
def test_an_error_in_a_200_is_a_failure(code: str, failure: type[ProviderError]) -> None:
    """The API never uses the status for its own errors."""
    body = {"error": {"code": code, "info": "Their words."}, "servedby": "mw1"}
    with pytest.raises(failure) as caught:
        search(answer(body, headers={"retry-after": "5"}))
    assert caught.value.retry_after == 5.0
    assert "Their" not in caught.value.message


def test_an_error_without_a_code_is_malformed() -> None:
    """It is an answer without pages."""
    with pytest.raises(MalformedAnswer):
        search({"error": "broken"})


def test_the_whole_text_of_a_page_loads_by_its_number_or_title() -> None:
    """The paragraphs are kept, for it is a body and no snippet."""
    transport = ScriptedTransport(*[answer(fixture("wikipedia", "content.json"))] * 2)
    body, url = load(None, transport=transport)
    assert body.decode().endswith("\n\n== History ==\nBells were cast early.")
    assert url == "https://en.wikipedia.org/wiki/Church_bell"
    load(None, "Church bell", transport=transport)
    by_number, by_title = (entry.request.params for entry in transport.sent)
    assert (by_number["pageids"], by_title["titles"]) == ("500001", "Church bell")
    assert "exintro" not in by_number


@pytest.mark.parametrize("reference", [None, ""])
def test_a_reference_that_names_no_page_is_rejected_unasked(reference: str | None) -> None:
    """Nothing is sent."""
    with pytest.raises(QueryRejected):
        load(None, reference, transport=ScriptedTransport())


def test_a_page_that_is_gone_cannot_be_loaded() -> None:
    """Version 2 marks it, version 1 as well."""
    with pytest.raises(QueryRejected):
        load({"query": {"pages": [{"pageid": 500001, "missing": True}]}})
    with pytest.raises(QueryRejected):
        load(payload("wikipedia", "page_missing_2014.json"))


@pytest.mark.parametrize(
    "body", [{"query": {"pages": []}}, {"batchcomplete": True}, {"query": {"pages": [{"pageid": 1}]}}]
)
def test_a_page_without_text_is_malformed(body: object) -> None:
    """It was asked for by its number, so it must be there."""
    with pytest.raises(MalformedAnswer):
        load(body)


def test_the_recorded_search_of_2026_is_read() -> None:
    """Three hits and yet a suggestion."""
    result = search(payload("wikipedia", "search_2026_continue.json"))
    assert [hit.title for hit in result.hits] == [
        "Rust (programming language)",
        "Outline of the Rust programming language",
        "Rust syntax",
    ]
    first = result.hits[0]
    assert first.url == "https://en.wikipedia.org/wiki/Rust_(programming_language)"
    assert (first.snippet or "").startswith(
        "Rust is a general-purpose programming language that emphasizes performance"
    )
    assert (first.extras, first.published_at) == ({"pageid": 29414838}, None)
    assert result.note == "did you mean: ruby programming"


def test_the_recorded_titles_of_2014_are_enough_for_hits() -> None:
    """Titles alone, `query-continue` and a harmless `warnings`."""
    result = search(payload("wikipedia", "search_titles_2014.json"))
    assert (result.returned_count, result.dropped_count) == (10, 0)
    assert result.hits[1].url == "https://en.wikipedia.org/wiki/Barack_Obama,_Sr."
    assert result.hits[8].url == "https://en.wikipedia.org/wiki/List_of_Batman:_The_Brave_and_the_Bold_characters"


def test_the_recorded_misspelling_is_empty_with_a_note() -> None:
    """The suggestion is what the caller can do next."""
    result = search(payload("wikipedia", "search_suggestion_2014.json"))
    assert (result.hits, result.note) == ((), "did you mean: hallelujah")


def test_the_recorded_nonsense_is_empty() -> None:
    """Without a suggestion and without a failure."""
    result = search(payload("wikipedia", "search_suggestion_none_2014.json"))
    assert (result.hits, result.note) == ((), None)


def test_the_recorded_extract_becomes_snippet_and_content() -> None:
    """Version 1 keeps its pages in an object by number."""
    (hit,) = search(payload("wikipedia", "page_extract_2014.json")).hits
    assert (hit.title, hit.url) == ("Celtuce", "https://en.wikipedia.org/wiki/Celtuce")
    assert hit.content is not None
    assert (hit.content.text or "").endswith("with more strongly flavored ingredients.")
    assert "(Chinese: 莴笋; pinyin: wōsŭn)" in (hit.content.text or "")
    assert (hit.snippet or "").endswith("…")


def test_the_recorded_disambiguation_page_is_marked() -> None:
    """A planner should look for what it lists, not quote it."""
    (hit,) = search(payload("wikipedia", "page_disambiguation_2014.json")).hits
    assert hit.url == "http://en.wikipedia.org/wiki/Dodge_Ram_(disambiguation)"
    assert hit.extras == {"pageid": 18803364, "disambiguation": True}


def test_the_recorded_redirect_is_the_page_it_leads_to() -> None:
    """The lists of redirects and normalised titles are no hits."""
    (hit,) = search(payload("wikipedia", "page_redirect_normalized_2014.json")).hits
    assert (hit.title, hit.url) == ("Communist party", "http://en.wikipedia.org/wiki/Communist_party")


def test_the_recorded_missing_page_is_dropped() -> None:
    """Number -1 and `missing`, although it has an address."""
    result = search(payload("wikipedia", "page_missing_2014.json"))
    assert (result.returned_count, result.dropped_count) == (0, 1)


def test_the_recorded_rest_search_is_read() -> None:
    """Its excerpt repeats the title, so the description serves as the snippet."""
    (hit,) = search(payload("wikipedia", "rest_search_title_paris.json")).hits
    assert (hit.title, hit.url) == ("Paris", "https://en.wikipedia.org/wiki/Paris")
    assert hit.snippet == "Capital and largest city of France"
    assert hit.extras["pageid"] == 22989


@pytest.mark.parametrize("name", ["geosearch_2014.json", "rest_summary_disambiguation.json"])
def test_recorded_answers_to_other_questions_are_malformed(name: str) -> None:
    """Neither has the pages of a search, and an empty result would be a lie."""
    with pytest.raises(MalformedAnswer):
        search(payload("wikipedia", name))


def test_the_recorded_404_puts_the_query_at_fault() -> None:
    """A problem document of the REST gateway."""
    with pytest.raises(QueryRejected):
        search(answer(payload("wikipedia", "rest_summary_404.json"), status=404))


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (403, b"<!DOCTYPE html><p>Requests for <i>how to rotate an api_key</i> are blocked</p>", AccessRefused),
        (403, b'{"message":"blocked: invalid api_key unauthorized"}', AccessRefused),
        (400, b"<html>No page about quota exceeded</html>", QueryRejected),
        (400, b'{"error":"quota exceeded"}', QueryRejected),
        (401, b"", AccessRefused),
    ],
)
def test_a_page_that_repeats_the_query_does_not_bench_a_wiki_that_needs_no_key(
    status: int, body: bytes, failure: type[ProviderError]
) -> None:
    """Anybody could otherwise put Wikipedia out of use until its settings change, by what he searches for."""
    with pytest.raises(ProviderError) as caught:
        search(answer(body, status=status))
    assert type(caught.value) is failure


def test_every_recorded_answer_has_its_test() -> None:
    """A new recording without one fails here."""
    assert recordings_without_a_test("wikipedia", __file__) == []


@pytest.mark.parametrize(
    ("extras", "base_url", "language"),
    [
        ({}, None, "en"),
        ({"language": "de"}, None, "de"),
        ({"language": "simple"}, None, "en"),
        ({}, "https://fr.wikipedia.org", "fr"),
        ({}, "https://ja.m.wikipedia.org", "ja"),
        ({"language": "de"}, "https://wiki.library.test", "de"),
        ({}, "https://wiki.library.test", None),
    ],
)
def test_an_instance_says_which_language_it_searches(
    extras: dict[str, str], base_url: str | None, language: str | None
) -> None:
    """Also where no setting does, so that a search in German comes to the German one of several."""
    made = instance(PROTOCOL, ScriptedTransport(), extras=extras, base_url=base_url)
    assert made.capabilities().language == language


def test_both_names_of_norwegian_are_one_language() -> None:
    result = search({"batchcomplete": True}, {"language": "no"}, locale=Locale(language="nb"))
    assert [entry.handling for entry in result.applied] == [FilterHandling.PROVIDER]
