"""Open Library: every recorded answer, the questions that are put to it, and the descriptions behind its hits."""

import re
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.openlibrary import PROTOCOL
from zarniwoop.contract.failure import MalformedAnswer, QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, LoadedContent, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer

_FIELDS = "key,title,subtitle,author_name,first_publish_year,isbn,cover_i,language,edition_count"


def _fixture(name: str) -> HttpAnswer:
    return answer(fixture("openlibrary", name))


def _read(found: HttpAnswer) -> SearchResult:
    return instance(PROTOCOL, ScriptedTransport(found)).search(request(modality=SearchModality.BOOK), scope())


def _load(key: str | None, *answers: HttpAnswer) -> tuple[LoadedContent, ScriptedTransport]:
    transport = ScriptedTransport(*answers)
    reference = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=key)
    return instance(PROTOCOL, transport).load_content(reference, scope()), transport


def _query(locale: Locale | None = None, **expert: Any) -> tuple[str, SearchResult]:
    transport = ScriptedTransport(_fixture("book.json"))
    asked = request("nine bells", SearchModality.BOOK, locale=locale, **expert)
    result = instance(PROTOCOL, transport).search(asked, scope())
    return transport.sent[0].request.params["q"], result


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("openlibrary", __file__) == []


def test_works_about_harry_potter_are_read() -> None:
    first, second = _read(answer(payload("openlibrary", "search_fields_harry_potter.json"))).hits
    assert (first.title, first.url) == (
        "Harry Potter and the Philosopher's Stone",
        "https://openlibrary.org/works/OL82563W",
    )
    assert first.authors == ("J. K. Rowling",)
    assert first.extras == {"cover_url": "https://covers.openlibrary.org/b/id/15155833-L.jpg"}
    assert first.identifiers == {"openlibrary_id": "OL82563W"}
    assert (first.published_at, first.language) == (None, None)
    assert second.title == "Harry Potter and the Deathly Hallows"


def test_works_about_performance_engineering_are_read() -> None:
    result = _read(answer(payload("openlibrary", "search_fields_performance.json")))
    assert [(hit.title, hit.authors) for hit in result.hits] == [
        ("Small-Block Chevy Marine Performance", ("Dennis Moore",)),
        ("Software Engineering", ("Roger S. Pressman", "Bruce Maxim")),
        ("Wide-area data network performance engineering", ("Robert G. Cole",)),
    ]
    assert [hit.rank for hit in result.hits] == [1, 2, 3]


@pytest.mark.parametrize(
    "name",
    [
        "books_isbn.json",
        "edition.json",
        "edition_description_string.json",
        "editions_list.json",
        "work.json",
        "work_2022.json",
    ],
)
def test_an_answer_of_another_endpoint_is_malformed(name: str) -> None:
    """None of them has the list of a search, and none may pass for an empty one."""
    with pytest.raises(MalformedAnswer):
        _read(answer(payload("openlibrary", name)))


def test_a_work_is_described_by_its_description() -> None:
    loaded, transport = _load("/works/OL15832982W", answer(payload("openlibrary", "work.json")))
    assert loaded == LoadedContent(
        body=b"First in the Old Kingdom/Abhorsen series.",
        media_type="text/plain",
        source_url="https://openlibrary.org/works/OL15832982W",
    )
    assert transport.sent[0].request.url == "https://openlibrary.org/works/OL15832982W.json"


def test_an_edition_is_described_as_a_work_is() -> None:
    loaded, _ = _load("/books/OL22951843M", answer(payload("openlibrary", "edition.json")))
    assert loaded.body.startswith(b"Sabriel, daughter of the necromancer Abhorsen")


def test_the_paragraphs_of_a_description_are_kept() -> None:
    loaded, _ = _load("/books/OL36884359M", answer(payload("openlibrary", "edition_description_string.json")))
    paragraphs = loaded.body.decode().split("\n\n")
    assert len(paragraphs) == 2
    assert paragraphs[1].startswith("- [publisher](https://store.cooperdillon.com/")


@pytest.mark.parametrize("name", ["work_2022.json", "books_isbn.json", "editions_list.json"])
def test_what_has_no_description_cannot_be_loaded(name: str) -> None:
    with pytest.raises(QueryRejected):
        _load("/works/OL1904498W", answer(payload("openlibrary", name)))


def test_a_description_that_is_a_string_is_read_without_its_markup() -> None:
    loaded, _ = _load("/works/OL1000001W", _fixture("work.json"))
    assert loaded.body.decode() == "Nine bells,\none village.\n\nWith plates & maps."


@pytest.mark.parametrize("key", ["//elsewhere.example/x", "/works/../admin", "OL1W", "", None])
def test_a_foreign_reference_asks_nobody(key: str | None) -> None:
    with pytest.raises(QueryRejected):
        _load(key)


def test_a_whole_work_is_read() -> None:
    first = _read(_fixture("book.json")).hits[0]
    assert first.title == "The Nine Bells: a history & gazetteer"
    assert first.authors == ("D. Sayer", "E. Toller")
    assert first.published_at == PublishedAt(value="1934", precision=DatePrecision.YEAR)
    assert first.identifiers == {"openlibrary_id": "OL1000001W", "isbn": "9780450001000"}
    assert (first.language, first.source) == ("de", "Open Library")
    assert first.extras == {
        "languages": ["ger"],
        "cover_url": "https://covers.openlibrary.org/b/id/240727-L.jpg",
        "edition_count": 12,
    }
    assert first.content == ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="/works/OL1000001W")


def test_what_a_work_does_not_say_stays_open() -> None:
    """Nulls, a removed cover, several languages: nothing is made up."""
    _, second, third = _read(_fixture("book.json")).hits
    assert (second.authors, second.published_at, second.language) == ((), None, None)
    assert second.identifiers == {"openlibrary_id": "OL1000002W", "isbn": "3150000017"}
    assert second.extras == {"languages": ["ger", "eng"]}
    assert (third.language, third.identifiers) == ("gsw", {"openlibrary_id": "OL1000003W"})


def test_a_work_without_a_title_or_with_a_strange_key_is_dropped_and_counted() -> None:
    result = _read(_fixture("book.json"))
    assert (result.returned_count, result.dropped_count) == (3, 3)


def test_a_search_is_one_get_with_the_fields_that_are_read() -> None:
    transport = ScriptedTransport(_fixture("book.json"))
    asked = request("nine bells", SearchModality.BOOK, max_results=7)
    instance(PROTOCOL, transport).search(asked, scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", "https://openlibrary.org/search.json")
    assert sent.request.params == {"q": "nine bells", "fields": _FIELDS, "limit": "7"}
    assert (sent.authentication, sent.secret) == (None, None)


def test_dates_are_asked_as_years_of_first_publication() -> None:
    query, result = _query(date_from=date(1930, 5, 1), date_to=date(1939, 12, 31))
    assert query == "nine bells first_publish_year:[1930 TO 1939]"
    assert _handling(result) == {"date_from": FilterHandling.PROVIDER, "date_to": FilterHandling.PROVIDER}


@pytest.mark.parametrize(
    ("window", "asked"),
    [({"date_from": date(1930, 5, 1)}, "[1930 TO *]"), ({"date_to": date(1939, 1, 1)}, "[* TO 1939]")],
)
def test_an_open_end_of_the_dates_stays_open(window: dict[str, Any], asked: str) -> None:
    assert _query(**window)[0] == f"nine bells first_publish_year:{asked}"


@pytest.mark.parametrize(
    ("language", "code"), [("de", "ger"), ("fr", "fre"), ("zh", "chi"), ("nb", "nor"), ("en", "eng")]
)
def test_the_locale_is_asked_as_a_marc_code(language: str, code: str) -> None:
    query, result = _query(Locale(language=language, region="XX"))
    assert query == f"nine bells language:{code}"
    assert _handling(result) == {"locale": FilterHandling.PROVIDER}


def test_a_language_without_a_known_code_is_ignored_and_said_to_be() -> None:
    query, result = _query(Locale(language="tlh"))
    assert query == "nine bells"
    (entry,) = result.applied
    assert (entry.handling, entry.reason) == (
        FilterHandling.IGNORED,
        "Open Library's code for this language is not known here",
    )


def test_a_site_is_applied_here() -> None:
    query, result = _query(site="openlibrary.org/works")
    assert query == "nine bells"
    assert _handling(result) == {"site": FilterHandling.HERE}
    assert result.returned_count == 3


def test_no_matching_work_is_an_empty_result() -> None:
    result = _read(answer({"numFound": 0, "start": 0, "docs": []}))
    assert (result.hits, result.error_message, result.note) == ((), None, None)


@pytest.mark.parametrize("body", ["<html><body>Sorry</body></html>", {"docs": None}, {"error": "x"}, [], "{"])
def test_what_has_not_the_documented_shape_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _read(answer(body))


@pytest.mark.parametrize("body", ["<html></html>", {"description": ["a list"]}, {"description": {"type": "x"}}, []])
def test_a_work_of_another_shape_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _load("/works/OL1W", answer(body))


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
