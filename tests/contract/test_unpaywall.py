"""Unpaywall: what is asked, and what every recorded answer comes to."""

import json
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test, settings_for
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.unpaywall import PROTOCOL
from zarniwoop.contract.failure import AccessRefused, MalformedAnswer, QueryRejected
from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import WrongSettingsError
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer, HttpRequest

ACADEMIC = SearchModality.ACADEMIC
API = "https://api.unpaywall.org/v2"
EMAIL = {"email": "ops@library.test"}


def asked(*script: HttpAnswer, query: str = "cathedral bells", **more: Any) -> tuple[SearchResult, list[HttpRequest]]:
    """What a search comes to, and the requests that it sent."""
    transport = ScriptedTransport(*script)
    made = instance(PROTOCOL, transport, extras=settings_for("unpaywall"))
    result = made.search(request(query, ACADEMIC, **more), scope())
    return result, [sent.request for sent in transport.sent]


def search(*script: HttpAnswer, **more: Any) -> SearchResult:
    return asked(*script, **more)[0]


def found(**more: Any) -> SearchResult:
    return search(answer(fixture("unpaywall", "academic.json")), **more)


def looked_up(name: str, **more: Any) -> SearchResult:
    return search(answer(fixture("unpaywall", name)), query="10.5555/bells.2021.17", **more)


def titles(count: int) -> HttpAnswer:
    """A page of so many titles."""
    work = json.loads(fixture("unpaywall", "doi.json"))
    listed = [{"response": work | {"doi": f"10.5555/{number}"}, "score": 1.0, "snippet": ""} for number in range(count)]
    return answer({"elapsed_seconds": 0.2, "results": listed})


def day(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.DAY)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("unpaywall", __file__) == []


@pytest.mark.parametrize("extras", [{}, {"contactEmail": ""}, {"contactEmail": "ops"}])
def test_without_an_email_address_there_is_no_instance(extras: dict[str, str]) -> None:
    """Unpaywall answers nobody who does not say who he is, and we invent nobody."""
    with pytest.raises(WrongSettingsError) as caught:
        instance(PROTOCOL, ScriptedTransport(), extras=extras)
    assert [name for name, _ in caught.value.faults] == ["contactEmail"]


@pytest.mark.parametrize(
    "query",
    ["10.5555/Bells.2021.17", "where may I read https://doi.org/10.5555/bells.2021.17?", "(10.5555/bells.2021.17)"],
)
def test_a_query_that_holds_a_doi_is_looked_up(query: str) -> None:
    """Whatever sentence it stands in."""
    result, (sent,) = asked(answer(fixture("unpaywall", "doi.json")), query=query)
    assert (sent.method, sent.url, sent.params) == ("GET", f"{API}/10.5555/bells.2021.17", EMAIL)
    assert (result.returned_count, result.note) == (1, None)


def test_the_title_is_searched_where_there_is_no_doi() -> None:
    """In one request for what fits into a page."""
    _, (sent,) = asked(answer(fixture("unpaywall", "academic.json")), max_results=50)
    assert (sent.url, sent.params) == (f"{API}/search", {"query": "cathedral bells", **EMAIL})


def test_more_than_a_page_takes_a_second_page_and_no_third() -> None:
    """A page that is not full is the last."""
    result, sent = asked(titles(50), titles(50), max_results=70)
    assert (result.returned_count, [each.params.get("page") for each in sent]) == (70, [None, "2"])
    result, sent = asked(titles(49), max_results=100)
    assert (result.returned_count, len(sent)) == (49, 1)
    assert (search(titles(50), titles(50), max_results=500).note or "").startswith("unpaywall gives at most 100")


def test_what_became_of_every_filter_is_told() -> None:
    """Dates are filtered here."""
    result = found(date_from=date(2000, 1, 1), filetype="pdf", locale=Locale(language="de"))
    assert [entry.handling for entry in result.applied] == [
        FilterHandling.IGNORED,
        FilterHandling.HERE,
        FilterHandling.IGNORED,
    ]
    assert [hit.identifiers["doi"] for hit in result.hits] == ["10.5555/bells.2021.17"]


def test_a_work_becomes_a_hit_with_its_best_free_copy_and_all_others() -> None:
    """Authors in two parts, in one, or a group; the address of the hit is that of the work."""
    (hit,) = looked_up("doi.json").hits
    assert (hit.title, hit.url) == ("Partial tones of cathedral bells", "https://doi.org/10.5555/bells.2021.17")
    assert hit.authors == ("Ada Ringer", "Théo Clapper", "The Belfry Group")
    assert (hit.source, hit.published_at, hit.content) == ("Journal of Bells & Chimes", day("2021-09-30"), None)
    assert hit.identifiers == {"doi": "10.5555/bells.2021.17"}
    assert hit.extras == {
        "type": "journal-article",
        "venue": "Journal of Bells & Chimes",
        "publisher": "Campana Press",
        "is_open_access": True,
        "open_access_status": "green",
        "open_url": "https://repository.example.org/bells17.pdf",
        "pdf_url": "https://repository.example.org/bells17.pdf",
        "open_version": "acceptedVersion",
        "open_host": "Belfry Institute - Chimes",
        "open_since": "2022-01-15",
        "license": "cc-by",
        "copies": ("https://repository.example.org/bells17.pdf", "https://journal.example.org/bells/17"),
    }


def test_a_work_without_a_free_copy_is_found_and_said_to_have_none() -> None:
    """An honest answer to whoever wanted to read it; in a list of titles each hit shows it."""
    result = looked_up("doi_closed.json")
    (hit,) = result.hits
    assert result.note == "Unpaywall knows no free copy of this work"
    assert hit.published_at == PublishedAt(value="1998", precision=DatePrecision.YEAR)
    assert hit.extras == {
        "type": "journal-article",
        "publisher": "Campana Press",
        "is_open_access": False,
        "open_access_status": "closed",
    }
    listed = found()
    assert (listed.note, listed.dropped_count) == (None, 1)
    assert [hit.extras["is_open_access"] for hit in listed.hits] == [True, False]


def test_an_address_that_is_refused_is_no_fault_of_the_query() -> None:
    """Every search of this endpoint would end so; the message names the setting."""
    with pytest.raises(AccessRefused) as caught:
        search(answer(fixture("unpaywall", "email_422.json"), status=422))
    assert "contactEmail" in caught.value.message
    assert "ops@library.test" not in caught.value.message


def test_an_unknown_doi_puts_the_query_at_fault() -> None:
    with pytest.raises(QueryRejected):
        search(answer(fixture("unpaywall", "doi_404.json"), status=404), query="10.5555/none")


@pytest.mark.parametrize("body", [b"{}", b"[]", b"null", b'"doi"', b"1"])
def test_another_shape_is_a_malformed_answer_to_a_look_up_too(body: bytes) -> None:
    with pytest.raises(MalformedAnswer):
        search(answer(body), query="10.5555/bells.2021.17")


def test_the_recorded_record_of_a_doi_is_read() -> None:
    """Free to read at the publisher's, and a second copy that is a page."""
    (hit,) = search(answer(payload("unpaywall", "doi_full.json")), query="10.1073/pnas.1414271111").hits
    assert hit.title.startswith("Developing functional musculoskeletal tissues through hypoxia")
    assert hit.authors[0] == "Eleftherios A. Makris"
    assert (len(hit.authors), hit.published_at) == (5, day("2014-10-27"))
    assert hit.source == "Proceedings of the National Academy of Sciences"
    assert hit.extras["open_access_status"] == "bronze"
    assert hit.extras["pdf_url"] == "https://www.pnas.org/content/pnas/111/45/E4832.full.pdf"
    assert hit.extras["copies"] == (
        "https://www.pnas.org/content/pnas/111/45/E4832.full.pdf",
        "http://doi.org/10.1073/pnas.1414271111",
    )
    assert (hit.extras["open_host"], hit.extras["open_version"]) == ("publisher", "publishedVersion")
    assert "license" not in hit.extras


def test_the_recorded_search_of_titles_is_read() -> None:
    """One title is the text of a page of 120,000 characters; its authors are null."""
    tools, page = search(answer(payload("unpaywall", "search_title.json"))).hits
    assert tools.title == "Augmenting large language models with chemistry tools"
    assert tools.authors == (
        "Andres M. Bran",
        "Sam Cox",
        "Oliver Schilter",
        "Carlo Baldassari",
        "Andrew D. White",
        "Philippe Schwaller",
    )
    assert (tools.published_at, tools.source) == (day("2024-05-08"), "Nature Machine Intelligence")
    assert tools.extras["open_url"] == "https://www.nature.com/articles/s42256-024-00832-8.pdf"
    assert (tools.extras["license"], len(tools.extras["copies"])) == ("cc-by", 4)
    assert tools.extras["copies"][3] == "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC11116106"
    assert (len(page.title) <= 500, page.authors, page.published_at) == (True, (), day("2021-12-31"))
    assert page.title.startswith("(2021) Volume 2, Issue 4 Cultural Implications of China Pakistan Economic Corridor")
    assert page.url == "https://doi.org/10.47205/jdss.2021(2-iv)74"
