"""Solr: every recorded answer under a mapping of its own, what is sent, and a 400 that carries an answer."""

import re
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.solr import PROTOCOL
from zarniwoop.contract.failure import (
    CredentialsRejected,
    EndpointMisconfigured,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
)
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import WrongSettingsError
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest

_BASE = "https://solr.house.example:8983/solr"
_KEY = "reader:a-password"
_MAPPED = {
    "dateField": "published",
    "authorField": "author",
    "extraFields": "department",
    "languageField": "language",
}


def _asked(query: str = "bells", *, rag: bool = False, max_results: int = 10, **expert: Any) -> SearchRequest:
    modality = SearchModality.RAG if rag else SearchModality.INTERNAL_DOC
    return request(query, modality, max_results=max_results, **expert)


def _search(asked: SearchRequest, told: HttpAnswer, **extras: str) -> tuple[SearchResult, HttpRequest]:
    """The result, and the request that was sent for it."""
    transport = ScriptedTransport(told)
    settings = {"core": "docs"} | extras
    result = instance(PROTOCOL, transport, key=_KEY, base_url=_BASE, extras=settings).search(asked, scope())
    return result, transport.sent[0].request


def _recorded(name: str, *, max_results: int = 100, **extras: str) -> SearchResult:
    return _search(_asked(max_results=max_results), answer(payload("solr", name)), **extras)[0]


def _fixture(name: str, *, status: int = 200) -> HttpAnswer:
    return answer(fixture("solr", name), status=status)


def _failure(told: HttpAnswer) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        _search(_asked(), told)
    return caught.value


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("solr", __file__) == []


def test_a_recorded_catalogue_with_lists_and_markup_is_read() -> None:
    """Titles are lists, a date may end in day 00, and there is a header."""
    result = _recorded(
        "ads_select_full.json",
        idField="bibcode",
        textField="abstract",
        authorField="author",
        dateField="pubdate",
        languageField="lang",
        extraFields="doctype,citation_count,doi",
        urlTemplate="https://ui.adsabs.harvard.edu/abs/{bibcode}",
    )
    assert (result.returned_count, result.dropped_count) == (2, 0)
    first = result.hits[0]
    assert first.title == "Observation of Gravitational Waves from a Binary Black Hole Merger"
    assert first.url == "https://ui.adsabs.harvard.edu/abs/2016PhRvL.116f1102A"
    assert first.published_at == PublishedAt(value="2016-02", precision=DatePrecision.MONTH)
    assert (first.authors[0], first.source) == ("Abbott, B. P.", "docs")
    assert first.snippet is not None
    assert first.snippet.startswith(
        "On September 14, 2015 at 09:50:45 UTC the two detectors of the Laser Interferometer"
    )
    assert first.content is not None
    assert first.content.inline is ContentInline.EMBED_TEXT
    assert first.extras["doctype"] == "article"
    assert first.extras["doi"] == "10.1103/PhysRevLett.116.061102"


def test_a_recorded_register_of_addresses_is_read() -> None:
    """Any field can be the title."""
    result = _recorded("pdok_locatieserver.json", titleField="weergavenaam", urlField="rdf_seealso", extraFields="type")
    first = result.hits[0]
    assert first.title == "Nieuwezijds Voorburgwal 147, 1012RJ Amsterdam"
    assert first.url == "http://bag.basisregistraties.overheid.nl/bag/id/nummeraanduiding/0363200000218908"
    assert first.extras == {"id": "adr-563f90756e46d1c554b4ab00ac61b932", "score": 21.486404, "type": "adres"}
    assert (result.returned_count, result.dropped_count) == (10, 0)


def test_recorded_documents_of_an_id_alone_are_shown_by_it() -> None:
    result = _recorded("plos_select_deep_start.json", urlTemplate="https://journals.plos.org/{id}")
    assert (result.returned_count, result.dropped_count) == (15, 0)
    assert result.hits[0].title == "10.1371/journal.pgen.1005056/abstract"
    assert result.hits[0].url == "https://journals.plos.org/10.1371%2Fjournal.pgen.1005056%2Fabstract"


def test_recorded_dates_at_midnight_are_days() -> None:
    """Without an address of its own a document has that in its core."""
    first, second = _recorded("plos_select_fields.json", dateField="publication_date").hits
    assert first.published_at == PublishedAt(value="2007-11-28", precision=DatePrecision.DAY)
    assert first.url == f"{_BASE}/docs/get?ids=10.1371%2Fjournal.pone.0001248"
    assert second.published_at == PublishedAt(value="2013-04-24", precision=DatePrecision.DAY)


@pytest.mark.parametrize(
    ("name", "dropped"),
    [("plos_title_markup.json", 19), ("plos_authors_list.json", 100), ("plos_facets.json", 10)],
)
def test_recorded_documents_without_id_and_address_are_dropped_and_no_honest_emptiness(name: str, dropped: int) -> None:
    """Nothing leads to them; the fields of the settings are other ones than the schema's."""
    result = _recorded(name)
    assert (result.hits, result.dropped_count) == ((), dropped)
    assert result.degraded == "no document has the fields that the settings name"


def test_recorded_titles_and_authors_are_read_where_a_template_needs_nothing_else() -> None:
    """Of the documents that have a title."""
    titles = _recorded("plos_title_markup.json", urlTemplate="https://find.example/{title}")
    assert titles.returned_count == 19
    assert titles.hits[1].title == "A DNA Virus of Drosophila"
    assert titles.hits[1].url == "https://find.example/A%20DNA%20Virus%20of%20Drosophila"
    authors = _recorded("plos_authors_list.json", urlTemplate="https://find.example/{title}", authorField="author")
    assert authors.hits[0].authors == ("Jay E Johnson", "F Brad Johnson")
    assert authors.returned_count + authors.dropped_count == 100


def test_a_recorded_answer_that_counts_documents_and_sends_none_is_degraded() -> None:
    """It was recorded with no rows asked for, and without a header."""
    result = _recorded("plos_select_empty_no_header.json")
    assert (result.hits, result.degraded) == ((), "Solr counted documents and sent none")


def test_a_recorded_400_that_carries_an_answer_is_a_failure_all_the_same() -> None:
    """Of a field that the settings name and the schema lacks; what else it says is not repeated."""
    failure = _failure(answer(payload("solr", "plos_bad_facet_400_with_response.json"), status=400))
    assert isinstance(failure, EndpointMisconfigured)
    assert (failure.setting, failure.status) == ("searchFields", 400)
    assert "adsfad" not in str(failure)


@pytest.mark.parametrize(
    ("told", "failure"),
    [
        (_fixture("error_400_syntax.json", status=400), QueryRejected),
        (_fixture("error_404.html", status=404), EndpointMisconfigured),
        (answer(b"", status=404), QueryRejected),
        (answer({"error": {"msg": "x"}}, status=401), CredentialsRejected),
        (answer({"error": {"msg": "x", "code": 500}}, status=500), ProviderUnavailable),
        (answer({"response": {"numFound": 0, "docs": []}, "error": {"msg": "x"}}), ProviderUnavailable),
        (answer({"responseHeader": {"status": 1}, "response": {"numFound": 0, "docs": []}}), ProviderUnavailable),
        (answer({"responseHeader": {"status": 0}}), MalformedAnswer),
        (answer({"response": {"numFound": 0, "docs": None}}), MalformedAnswer),
    ],
)
def test_other_failures_are_typed(told: HttpAnswer, failure: type[ProviderError]) -> None:
    """Words of a query inside an error bench nobody; a page of the web server's tells of a core that is not there."""
    assert type(_failure(told)) is failure


def test_documents_are_read_with_their_passages_by_id() -> None:
    result, _ = _search(_asked(), _fixture("internal_doc.json"), **_MAPPED)
    assert (result.returned_count, result.dropped_count, result.degraded) == (3, 1, None)
    first, second, third = result.hits
    assert (first.title, first.url) == ("How bells are tuned", "https://intranet.example/documents/1")
    assert first.snippet == "Metal is taken off inside the bell … until hum & prime agree"
    assert first.published_at == PublishedAt(value="2021-03-15", precision=DatePrecision.DAY)
    assert (first.authors, first.content) == (("Mira Sturm", "Jonas Feld"), None)
    assert first.extras == {"id": "a/1", "score": 7.5, "department": "Foundry"}
    assert second.published_at == PublishedAt(value="2024-01-01T09:30:00Z", precision=DatePrecision.SECOND)
    assert second.snippet is None
    assert (third.title, third.url) == ("a/3", f"{_BASE}/docs/get?ids=a%2F3")


def test_a_passage_brings_its_text_of_one_value_or_several() -> None:
    first, second = _search(_asked(rag=True), _fixture("rag.json"))[0].hits
    assert first.snippet == "The strike note is half of the nominal."
    assert first.content == ContentReference(
        inline=ContentInline.EMBED_TEXT,
        text="Metal is taken off inside the bell.\nThe strike note is half of the nominal.",
    )
    assert second.snippet == "Bells are lifted by the crown only."


def test_a_search_is_an_edismax_query_with_passages_to_show() -> None:
    _, sent = _search(_asked(max_results=7), _fixture("internal_doc.json"))
    assert (sent.method, sent.url) == ("GET", f"{_BASE}/docs/select")
    assert sent.params == {
        "q": "bells",
        "defType": "edismax",
        "qf": "title^2 content",
        "mm": "2<75%",
        "uf": "title content -_query_ -_val_",
        "fl": "id,title,url,score",
        "rows": "7",
        "wt": "json",
        "hl": "true",
        "hl.fl": "content",
        "hl.method": "unified",
        "hl.snippets": "2",
        "hl.fragsize": "200",
        "hl.defaultSummary": "true",
    }


def test_core_handler_and_fields_are_those_of_the_settings() -> None:
    """The text is asked for only of passages."""
    mapped = {
        "core": "archive",
        "handler": "query",
        "idField": "key",
        "textField": "body",
        "searchFields": "name^3,body",
    }
    _, sent = _search(_asked(), _fixture("internal_doc.json"), **mapped, **_MAPPED)
    assert sent.url == f"{_BASE}/archive/query"
    assert (sent.params["qf"], sent.params["hl.fl"]) == ("name^3 body", "body")
    assert sent.params["uf"] == "name body -_query_ -_val_"  # no field of the schema that is not searched anyway
    assert sent.params["fl"] == "key,title,url,published,author,language,department,score"
    _, sent = _search(_asked(rag=True), _fixture("rag.json"), **mapped)
    assert sent.params["fl"] == "key,title,url,body,score"


@pytest.mark.parametrize(
    ("query", "sent_as"),
    [
        (
            "{!xmlparser v='<!DOCTYPE a SYSTEM \"http://x\">'}bells",
            "xmlparser v='<!DOCTYPE a SYSTEM \"http://x\">'}bells",
        ),
        ("  {!func}id", "func}id"),
        ("title:bells -rope", "title:bells -rope"),
        ("{!", "*:*"),
    ],
)
def test_a_query_picks_no_parser(query: str, sent_as: str) -> None:
    """Fields, phrases and exclusions are edismax's own."""
    _, sent = _search(_asked(query), _fixture("internal_doc.json"))
    assert sent.params["q"] == sent_as


def test_days_languages_and_the_house_s_own_filter_go_together() -> None:
    asked = _asked(date_from=date(2024, 1, 1), date_to=date(2024, 12, 31), locale=Locale(language="de", region="AT"))
    result, sent = _search(asked, _fixture("internal_doc.json"), filterQuery="state:final OR state:old", **_MAPPED)
    assert sent.params["fq"] == (
        "(state:final OR state:old) AND (published:[2024-01-01T00:00:00Z TO 2025-01-01T00:00:00Z}) "
        'AND (language:("de" OR "de-AT"))'
    )
    assert set(_handling(result).values()) == {FilterHandling.PROVIDER}


@pytest.mark.parametrize(
    ("window", "filtered"),
    [
        ({"date_from": date(2024, 1, 1)}, "published:[2024-01-01T00:00:00Z TO *}"),
        ({"date_to": date(2024, 1, 1)}, "published:[* TO 2024-01-02T00:00:00Z}"),
    ],
)
def test_an_open_end_of_a_window_is_a_star(window: dict[str, Any], filtered: str) -> None:
    _, sent = _search(_asked(**window), _fixture("internal_doc.json"), **_MAPPED)
    assert sent.params["fq"] == filtered


def test_without_those_fields_filters_are_applied_here_or_ignored() -> None:
    asked = _asked(date_from=date(2024, 1, 1), locale=Locale(language="de"), domain="intranet.example")
    result, sent = _search(asked, _fixture("internal_doc.json"))
    assert "fq" not in sent.params
    assert sent.params["rows"] == "100"
    assert _handling(result) == {
        "date_from": FilterHandling.IGNORED,
        "locale": FilterHandling.IGNORED,
        "domain": FilterHandling.HERE,
    }


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("core", "docs/../admin"),
        ("core", "docs?qt=/update"),
        ("handler", "/update"),
        ("filterQuery", "{!func}x"),
        ("filterQuery", "-state:draft"),
        ("filterQuery", "NOT state:draft"),
        ("idField", "id,*"),
        ("extraFields", "a b"),
        ("authentication", "apiKey"),
    ],
)
def test_settings_that_cannot_be_right_make_no_endpoint(setting: str, value: str) -> None:
    """They are part of addresses and parameters."""
    with pytest.raises(WrongSettingsError, match=setting):
        _search(_asked(), _fixture("internal_doc.json"), **{setting: value})


@pytest.mark.parametrize(
    ("way", "header"),
    [
        (None, HeaderKey(name="Authorization", prefix="Basic ", encoded=True)),
        ("bearer", HeaderKey(name="Authorization", prefix="Bearer ")),
    ],
)
def test_the_key_is_sent_as_the_settings_say(way: str | None, header: HeaderKey) -> None:
    transport = ScriptedTransport(_fixture("internal_doc.json"))
    extras = {"core": "docs"} | ({"authentication": way} if way else {})
    instance(PROTOCOL, transport, key=_KEY, base_url=_BASE, extras=extras).search(_asked(), scope())
    assert transport.sent[0].authentication == header


@pytest.mark.parametrize(
    ("documents", "note", "degraded"),
    [
        ([{"id": "1"}], "Solr ran out of time: there may be more", None),
        ([], None, "Solr ran out of time"),
    ],
)
def test_an_answer_that_is_not_whole_says_so(documents: list[Any], note: str | None, degraded: str | None) -> None:
    """Beside what it found, or as the reason why nothing was."""
    body = {"responseHeader": {"status": 0, "partialResults": True}, "response": {"numFound": 1, "docs": documents}}
    result, _ = _search(_asked(), answer(body))
    assert (result.note, result.degraded) == (note, degraded)


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
