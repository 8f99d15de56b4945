"""ORCID: what is asked, and what every recorded answer comes to."""

from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.orcid import PROTOCOL
from zarniwoop.contract.failure import (
    CredentialsRejected,
    MalformedAnswer,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest

ENCYCLOPEDIA = SearchModality.ENCYCLOPEDIA
API = "https://pub.orcid.org/v3.0"
ADA = "0000-0000-0100-0003"


def asked(*script: HttpAnswer, query: str = "Ada Ringer", **more: Any) -> tuple[SearchResult, list[HttpRequest]]:
    """What a search comes to, and the requests that it sent."""
    transport = ScriptedTransport(*script)
    result = instance(PROTOCOL, transport).search(request(query, ENCYCLOPEDIA, **more), scope())
    return result, [sent.request for sent in transport.sent]


def search(*script: HttpAnswer, **more: Any) -> SearchResult:
    return asked(*script, **more)[0]


def found(**more: Any) -> SearchResult:
    return search(answer(fixture("orcid", "encyclopedia.json")), **more)


def loaded(*script: HttpAnswer, orcid: str = ADA) -> LoadedContent:
    reference = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=orcid)
    return instance(PROTOCOL, ScriptedTransport(*script)).load_content(reference, scope())


def recorded_profile(orcid: str, person: str, works: str = "works_empty.json") -> list[str]:
    """The lines that a recorded person comes to."""
    body = loaded(answer(payload("orcid", person)), answer(payload("orcid", works)), orcid=orcid).body
    return body.decode().split("\n")


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("orcid", __file__) == []


def test_people_are_a_domain_of_their_own_asked_for_by_choice() -> None:
    """Entries of a reference work about people; a search that nobody directed at people gets none."""
    made = instance(PROTOCOL, ScriptedTransport())
    assert made.domains() == {SearchDomain.PEOPLE}
    assert made.modalities() == {ENCYCLOPEDIA}
    assert made.tiers() == {SearchTier.EXPERT}


def test_a_search_is_one_request_in_which_names_weigh_most() -> None:
    """It never pages, so nothing beyond the first 10,000 is asked for."""
    _, (sent,) = asked(answer(fixture("orcid", "encyclopedia.json")), query="Carberry: who?", max_results=500)
    assert (sent.method, sent.url, sent.headers) == ("GET", f"{API}/expanded-search", {"Accept": "application/json"})
    assert sent.params["q"].startswith('{!edismax qf="given-and-family-names^50.0 ')
    assert sent.params["q"].endswith("}Carberry: who?")
    assert (sent.params["start"], sent.params["rows"]) == ("0", "100")


@pytest.mark.parametrize("query", [ADA, f" https://orcid.org/{ADA}/"])
def test_an_orcid_id_is_asked_for_as_such(query: str) -> None:
    _, (sent,) = asked(answer(fixture("orcid", "encyclopedia.json")), query=query)
    assert sent.params["q"] == f"orcid:{ADA}"


def test_an_id_that_nobody_can_have_is_rejected_unasked() -> None:
    """Its last character checks the others."""
    with pytest.raises(QueryRejected):
        search(query="https://orcid.org/0000-0000-0100-0004")


def test_a_token_goes_into_its_header_and_is_not_needed() -> None:
    """It lifts the quota of the day, not the rate."""
    transport = ScriptedTransport(answer(fixture("orcid", "nobody.json")))
    made = instance(PROTOCOL, transport, key="sekrit-012345")
    made.search(request(modality=ENCYCLOPEDIA), scope())
    assert transport.sent[0].authentication == HeaderKey(name="Authorization", prefix="Bearer ")
    assert "sekrit" not in repr(transport.sent[0].request)
    assert made.pacing(request(modality=ENCYCLOPEDIA)) == Pacing(
        subject="orcid@pub.orcid.org", requests=12, seconds=1.0
    )
    with pytest.raises(CredentialsRejected):
        instance(PROTOCOL, ScriptedTransport(answer(b"{}", status=401)), key="sekrit-012345").search(
            request(modality=ENCYCLOPEDIA), scope()
        )


def test_a_person_becomes_a_hit_with_names_and_institutions() -> None:
    """An institution once, however often somebody was there; an address of e-mail nowhere."""
    hit = found().hits[0]
    assert (hit.title, hit.url, hit.source) == ("Ada Ringer", f"https://orcid.org/{ADA}", "ORCID")
    assert hit.snippet == "Belfry Institute; University of Chimes"
    assert hit.content == ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=ADA)
    assert (hit.authors, hit.published_at, hit.language) == ((), None, None)
    assert hit.identifiers == {"orcid": ADA}
    assert hit.extras == {
        "given_names": "Ada",
        "family_name": "Ringer",
        "other_names": ("A. Ringer",),
        "institutions": ("Belfry Institute", "University of Chimes"),
    }
    assert "ada@" not in repr(found())


def test_somebody_who_shows_nothing_is_titled_by_the_id() -> None:
    """Nulls everywhere; the name to publish under comes before that of the passport; a wrong id is dropped."""
    result = found()
    assert [hit.title for hit in result.hits] == ["Ada Ringer", "T. Clapper", result.hits[2].identifiers["orcid"]]
    assert (result.hits[2].snippet, result.hits[2].extras) == (None, {})
    assert result.dropped_count == 1


def test_filters_that_make_no_sense_for_people_are_ignored_with_a_reason() -> None:
    """Days and languages."""
    result = found(date_from=date(2020, 1, 1), filetype="pdf")
    assert [entry.handling for entry in result.applied] == [FilterHandling.IGNORED, FilterHandling.IGNORED]
    assert len(result.hits) == 3


def test_nobody_found_is_a_null_and_a_count_without_people_is_degraded() -> None:
    assert search(answer(fixture("orcid", "nobody.json"))).degraded is None
    degraded = search(answer({"expanded-result": None, "num-found": 3}))
    assert (degraded.hits, degraded.degraded) == ((), "ORCID counted people and sent none")


def test_a_record_becomes_text_with_one_fact_a_line() -> None:
    """Names, country, keywords, life, links that lead somewhere, ids elsewhere, works; no e-mail address."""
    content = loaded(answer(fixture("orcid", "person.json")), answer(fixture("orcid", "works.json")))
    assert (content.media_type, content.source_url) == ("text/plain", f"https://orcid.org/{ADA}")
    assert content.body.decode().split("\n") == [
        f"A. R. Ringer (ORCID {ADA})",
        "Also known as: Ada Ringer; A. Ringer",
        "Countries: GB",
        "Keywords: bells, acoustics",
        "Biography: Measures how bells sound. Since 1998.",
        "Links: https://ringer.example.org",
        "Scopus Author ID: 00017",
        "Works (2):",
        "- Partial tones of cathedral bells. Journal of Bells, 2021. doi:10.5555/bells.2021.17",
        "- Strike pitch",
    ]


def test_the_record_of_somebody_else_is_a_malformed_answer() -> None:
    with pytest.raises(MalformedAnswer):
        loaded(
            answer(fixture("orcid", "person.json")), answer(fixture("orcid", "works.json")), orcid="0000-0002-1825-0097"
        )


@pytest.mark.parametrize("reference", ["", "0000-0000-0100-0004", "../status", f"{ADA}/email"])
def test_a_foreign_reference_is_rejected_unasked(reference: str) -> None:
    with pytest.raises(QueryRejected):
        loaded(orcid=reference)


def test_a_long_list_of_works_is_cut() -> None:
    """Some people have thousands."""
    works = {"group": [{"work-summary": [{"title": {"title": {"value": f"W{number}"}}}]} for number in range(900)]}
    lines = loaded(answer(fixture("orcid", "person.json")), answer(works)).body.decode().split("\n")
    assert lines[7] == "Works (900, the first 200 of them):"
    assert lines[-1] == "- W199"


@pytest.mark.parametrize(
    ("name", "status", "failure"),
    [("merged_301.json", 301, QueryRejected), ("broken_500.json", 500, ProviderUnavailable)],
)
def test_the_code_of_an_error_tells_whose_fault_it_is(name: str, status: int, failure: type[Exception]) -> None:
    """An iD that was merged into another, and a fault of ORCID's own."""
    with pytest.raises(failure) as caught:
        loaded(answer(fixture("orcid", name), status=status))
    assert "deprecated" not in str(caught.value)


def test_a_burst_is_a_503_that_means_slow_down() -> None:
    with pytest.raises(RateLimited) as caught:
        search(answer(b"<html>503</html>", status=503, headers={"retry-after": "3"}))
    assert caught.value.retry_after == 3.0


def test_the_recorded_500_of_a_bad_start_puts_the_query_at_fault() -> None:
    """The index could not read it: it is up, and others may go on asking."""
    with pytest.raises(QueryRejected) as caught:
        search(answer(payload("orcid", "search_bad_start_500.json"), status=500))
    assert "solr" not in caught.value.message.lower()


def test_the_recorded_404_of_a_bad_id_puts_the_reference_at_fault() -> None:
    with pytest.raises(QueryRejected):
        loaded(answer(payload("orcid", "person_bad_id_404.json"), status=404))


def test_the_recorded_full_person_is_read() -> None:
    """Four links, one of them among the biography; the two addresses of e-mail are left out."""
    lines = recorded_profile("0000-0002-1642-628X", "person_full.json")
    assert lines == [
        "Carl Boettiger (ORCID 0000-0002-1642-628X)",
        "Countries: US",
        "Keywords: Ecology, Evolution, Regime Shifts, Stochastic Dynamics",
        "Biography: http://carlboettiger.info",
        "Links: http://www.carlboettiger.info; https://twitter.com/cboettig; https://github.com/cboettig; "
        "https://keybase.io/cboettig",
        "Scopus Author ID: 15753693500",
    ]


def test_the_recorded_person_of_nulls_is_read() -> None:
    """Names are all there is; the one to publish under comes first."""
    assert recorded_profile("0000-0002-3141-3057", "person_all_null.json") == [
        "Carl Jacob Liebersohn (ORCID 0000-0002-3141-3057)",
        "Also known as: Carl Liebersohn",
    ]


def test_the_recorded_works_are_read() -> None:
    """Journals are null in all of them."""
    lines = recorded_profile("0000-0002-3141-3057", "person_all_null.json", "works_groups.json")
    assert lines[2].startswith("Works (")
    assert lines[3:5] == [
        "- PeerJ - A case study in improving research collaboration at the journal level. 2013. doi:10.3233/isu-130714",
        "- Reputation, authority and incentives. Or: How to get rid of the Impact Factor. 2009. "
        "doi:10.1038/npre.2009.2801",
    ]
    assert "- PLoS ONE: Background, future development, and article-level metrics. 2009" in lines


@pytest.mark.parametrize(
    "name",
    [
        "search_empty_result_null.json",
        "search_keyword.json",
        "search_rows3_page1.json",
        "search_xml.xml",
        "search_xml_empty.xml",
        "works_empty.json",
        "work_bibtex_citation.json",
        "record_xml.xml",
    ],
)
def test_other_recorded_answers_of_orcid_are_no_expanded_search(name: str) -> None:
    """The plain search gives nothing but iDs; a work, and records as XML, are other things."""
    with pytest.raises(MalformedAnswer):
        search(answer(payload("orcid", name)))


@pytest.mark.parametrize("name", ["record_xml.xml", "work_bibtex_citation.json", "search_keyword.json"])
def test_they_are_no_person_either(name: str) -> None:
    with pytest.raises(MalformedAnswer):
        loaded(answer(payload("orcid", name)), answer(payload("orcid", "works_empty.json")))
