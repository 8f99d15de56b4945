"""dblp: what is asked, and what every recorded answer comes to."""

import json
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.dblp import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    MalformedAnswer,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer

ACADEMIC = SearchModality.ACADEMIC


def search(*script: HttpAnswer, query: str = "cathedral bells", **asked: Any) -> SearchResult:
    return instance(PROTOCOL, ScriptedTransport(*script)).search(request(query, ACADEMIC, **asked), scope())


def params_of(query: str, **asked: Any) -> dict[str, str]:
    """The parameters that a search sends."""
    transport = ScriptedTransport(answer(fixture("dblp", "academic.json")))
    instance(PROTOCOL, transport).search(request(query, ACADEMIC, **asked), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", "https://dblp.org/search/publ/api")
    return dict(sent.request.params)


def found(**asked: Any) -> SearchResult:
    return search(answer(fixture("dblp", "academic.json")), **asked)


def result_of(**result: Any) -> SearchResult:
    return search(answer({"result": result}))


def bare_items(name: str) -> SearchResult:
    """Recorded result items, put back into the envelope that they came in."""
    body = payload("dblp", name)
    with pytest.raises(MalformedAnswer):
        search(answer(body))
    items = json.loads(body)
    return result_of(hits={"@total": str(len(items)), "hit": items})


def year(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.YEAR)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("dblp", __file__) == []


def test_a_search_is_one_request_without_completions() -> None:
    """Which are for those who type."""
    assert params_of("cathedral bells", max_results=7) == {
        "q": "cathedral bells",
        "format": "json",
        "h": "7",
        "f": "0",
        "c": "0",
    }
    assert params_of("bells", max_results=500)["h"] == "100"
    assert found(max_results=500).note == "dblp gives at most 100 results"


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("FGDB: a comprehensive database", "FGDB a comprehensive database"),
        ('"church bells" (loud), [old]?', "church bells loud old"),
        ("graph OR network AND theory", "graph|network theory"),
        ("graph | network$", "graph|network$"),
        ("bells -music e-learning", "bells e-learning"),
        ("author:Ada_Ringer: venue:SODA year:2018", "author:Ada_Ringer: venue:SODA year:2018"),
        ("C++ system's", "C++ system's"),
    ],
)
def test_a_query_is_put_into_dblp_s_syntax(query: str, asked: str) -> None:
    """Words, prefixes and facets; what it cannot say is left out rather than turned around."""
    assert params_of(query)["q"] == asked


def test_a_query_without_words_is_rejected_unasked() -> None:
    with pytest.raises(QueryRejected):
        search(query="-bells ?!")


def test_years_are_filtered_here_out_of_as_much_as_one_answer_holds() -> None:
    """What `year:` makes of a span of years is not documented."""
    assert params_of("bells", date_from=date(2021, 1, 1))["h"] == "100"
    result = found(date_from=date(2021, 1, 1), locale=Locale(language="en"))
    assert [hit.published_at for hit in result.hits] == [year("2021"), year("2021")]
    assert [entry.handling for entry in result.applied] == [FilterHandling.HERE, FilterHandling.IGNORED]


def test_the_pace_is_one_request_a_second() -> None:
    """For each of its hosts."""
    made = instance(PROTOCOL, ScriptedTransport(), base_url="https://dblp.uni-trier.de")
    pace = made.pacing(request(modality=ACADEMIC))
    assert pace == Pacing(subject="dblp@dblp.uni-trier.de", requests=1, seconds=1.0)


def test_a_publication_becomes_a_hit_with_dblp_s_ids_of_its_authors() -> None:
    """Namesakes lose their numbers, a title its entities and its full stop, a DOI its capitals."""
    hit = found().hits[0]
    assert (hit.title, hit.url) == (
        "A Ringer's View of & on Cathedral Bells",
        "https://doi.org/10.5555/bells.2021.17",
    )
    assert (hit.source, hit.authors, hit.published_at) == (
        "J. Bells, Chimes",
        ("Ada Ringer", "Théo Clapper"),
        year("2021"),
    )
    assert (hit.content, hit.snippet, hit.language) == (None, None, None)
    assert hit.identifiers == {"dblp_key": "journals/bells/RingerC21", "doi": "10.5555/bells.2021.17"}
    assert hit.extras == {
        "type": "Journal Articles",
        "venue": "J. Bells, Chimes",
        "volume": "12",
        "issue": "3",
        "pages": "17-31",
        "is_open_access": True,
        "author_ids": ("99/0001-9", "99/0002"),
        "dblp_url": "https://dblp.org/rec/journals/bells/RingerC21",
    }


def test_one_author_is_an_object_and_proceedings_have_none() -> None:
    """An ellipsis is no full stop; without an address elsewhere dblp's own stands."""
    dream, workshop = found().hits[1:]
    assert (dream.title, dream.authors) == ("Do Bells Dream...", ("Sola Ringer",))
    assert dream.identifiers == {"dblp_key": "journals/corr/abs-2109-01234", "arxiv_id": "2109.01234"}
    assert (workshop.authors, workshop.source) == ((), "Campana Press")
    assert workshop.url == workshop.extras["dblp_url"] == "https://dblp.org/rec/conf/bell-chime/2020"
    assert workshop.extras["is_open_access"] is False


def test_one_hit_may_be_an_object_and_its_doi_stand_in_the_address_alone() -> None:
    """As JSON made of XML has it."""
    info = {"title": "T.", "key": "conf/x/Y20", "ee": "https://doi.org/10.5555/X.1", "year": "2020"}
    (hit,) = result_of(hits={"@total": "1", "hit": {"info": info}}).hits
    assert hit.identifiers["doi"] == "10.5555/x.1"


def test_nothing_found_is_empty_and_a_count_without_hits_is_degraded() -> None:
    """An empty answer has no `hit`."""
    assert search(answer(fixture("dblp", "nothing.json"))).degraded is None
    degraded = result_of(hits={"@total": "3", "@sent": "0"})
    assert (degraded.hits, degraded.degraded) == ((), "dblp counted publications and sent none")


@pytest.mark.parametrize(("code", "failure"), [("500", ProviderUnavailable), ("400", QueryRejected)])
def test_an_error_inside_an_answer_is_a_failure(code: str, failure: type[Exception]) -> None:
    with pytest.raises(failure):
        result_of(status={"@code": code, "text": "what went wrong"}, hits={"@total": "0"})


@pytest.mark.parametrize("status", [200, 403, 500])
def test_the_gate_before_dblp_is_a_wall_whatever_its_status(status: int) -> None:
    """It would else be a broken answer, or a server that is down for a moment."""
    with pytest.raises(AccessRefused) as caught:
        search(answer(fixture("dblp", "gate.html"), status=status))
    assert caught.value.status == status


def test_who_asks_too_often_is_told_for_how_long_to_wait() -> None:
    """An empty document with a header."""
    with pytest.raises(RateLimited) as caught:
        search(answer(b"", status=429, headers={"retry-after": "90"}))
    assert caught.value.retry_after == 90.0


def test_the_recorded_envelope_is_read() -> None:
    """Of 112 one was kept."""
    (hit,) = search(answer(payload("dblp", "search_publ_envelope.json"))).hits
    assert hit.title == "Attentional Transfer is All You Need: Technology-aware Layout Pattern Generation"
    assert hit.authors == ("Xiaopeng Zhang", "Haoyu Yang", "Evangeline F. Y. Young")
    assert hit.extras["author_ids"] == ("167/1261-9", "17/8386", "y/EFYYoung")
    assert (hit.source, hit.published_at, hit.extras["pages"]) == ("DAC", year("2021"), "169-174")
    assert hit.identifiers == {"dblp_key": "conf/dac/ZhangYY21", "doi": "10.1109/dac18074.2021.9586227"}
    assert (hit.url, hit.extras["is_open_access"]) == ("https://doi.org/10.1109/DAC18074.2021.9586227", False)


def test_recorded_journal_articles_are_read() -> None:
    """Two namesakes among the authors."""
    result = bare_items("items_publ.json")
    assert (result.returned_count, result.dropped_count) == (5, 0)
    assert [hit.title[:24] for hit in result.hits] == [
        "FGDB: a comprehensive gr",
        "iPfam: a database of pro",
        "Quality assurance for th",
        "The RCSB Protein Data Ba",
        "PDB NextGen Archive: cen",
    ]
    assert not any(hit.title.endswith(".") for hit in result.hits)
    assert result.hits[1].identifiers["doi"] == "10.1093/nar/gkt1210"
    assert (result.hits[1].source, result.hits[1].extras["issue"]) == ("Nucleic Acids Res.", "Database-Issue")
    assert "Li Chen" in result.hits[3].authors
    assert "James Smith" in result.hits[4].authors
    assert len(result.hits[4].authors) == len(result.hits[4].extras["author_ids"]) == 18


def test_a_recorded_author_who_is_alone_is_read() -> None:
    """Of the conference paper and of its preprint, which has no DOI but an arXiv id."""
    paper, preprint = bare_items("items_single_author_object.json").hits
    assert paper.authors == preprint.authors == ("Sahil Singla",)
    assert (paper.source, paper.identifiers["doi"]) == ("SODA", "10.1137/1.9781611975031.161")
    assert preprint.identifiers == {"dblp_key": "journals/corr/abs-1711-00405", "arxiv_id": "1711.00405"}
    assert (preprint.url, preprint.published_at) == ("http://arxiv.org/abs/1711.00405", year("2017"))


def test_recorded_proceedings_theses_and_entities_are_read() -> None:
    """A title in three languages and one with its translation; no venue."""
    result = bare_items("items_no_authors_entities.json")
    assert (result.returned_count, result.dropped_count) == (5, 0)
    article, workshop, spanish, french, paper = result.hits
    assert (len(article.authors), article.extras["volume"]) == (6, "29")
    assert (workshop.authors, workshop.source) == ((), "DeepTest")
    assert workshop.title.endswith("Ottawa, ON, Canada, May 3, 2025")
    assert (spanish.source, spanish.authors) == (None, ("Lino Comesaña-Cebral",))
    assert spanish.url == "http://hdl.handle.net/11093/7259"
    assert "Étude des méthodes IA d'analyse de données" in french.title
    assert french.extras["type"] == "Books and Theses"
    assert "System's View" in paper.title
    assert paper.identifiers == {"dblp_key": "conf/amcis/EomAKL24"}
