"""Crossref: what is asked, and what every recorded answer comes to."""

import json
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.crossref import PROTOCOL
from zarniwoop.contract.failure import CredentialsRejected, MalformedAnswer, QueryRejected, RateLimited
from zarniwoop.contract.hit import ContentInline, DatePrecision, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing, WrongSettingsError
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer

ACADEMIC = SearchModality.ACADEMIC
WORKS = "https://api.crossref.org/works"


def search(*script: HttpAnswer, query: str = "cathedral bells", **asked: Any) -> SearchResult:
    return instance(PROTOCOL, ScriptedTransport(*script)).search(request(query, ACADEMIC, **asked), scope())


def params_of(query: str = "cathedral bells", extras: dict[str, str] | None = None, **asked: Any) -> dict[str, str]:
    """The parameters that a search sends."""
    transport = ScriptedTransport(answer(fixture("crossref", "academic.json")))
    instance(PROTOCOL, transport, extras=extras).search(request(query, ACADEMIC, **asked), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", WORKS)
    return dict(sent.request.params)


def found() -> SearchResult:
    return search(answer(fixture("crossref", "academic.json")))


def recorded(name: str) -> SearchResult:
    return search(answer(payload("crossref", name)))


def works(*items: Any) -> SearchResult:
    """Works that came in another envelope, or in none, put into that of a search."""
    return search(answer({"status": "ok", "message": {"total-results": len(items), "items": list(items)}}))


def work(name: str) -> SearchHit:
    """The hit of a recorded look-up, which is no answer to a search."""
    body = payload("crossref", name)
    with pytest.raises(MalformedAnswer):
        search(answer(body))
    (hit,) = works(json.loads(body)["message"]).hits
    return hit


def bare_items(name: str) -> SearchResult:
    """A recording of bare result items, put back into the envelope that they came in."""
    return works(*json.loads(payload("crossref", name)))


def day(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.DAY)


def month(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.MONTH)


def year(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.YEAR)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("crossref", __file__) == []


def test_a_search_is_one_request_for_the_fields_that_are_read() -> None:
    """Reference lists would be most of an answer; notices are named, or they would be left out."""
    asked = params_of(max_results=7)
    fields = asked.pop("select").split(",")
    assert {"DOI", "title", "abstract", "update-to", "updated-by", "relation", "resource"} <= set(fields)
    assert "reference" not in fields
    assert asked == {"query": "cathedral bells", "rows": "7"}


def test_every_field_asked_for_can_be_selected() -> None:
    """One that `/works` does not know turns every search into a 400; `language` and `institution` are such."""
    selectable = (
        "abstract URL resource member posted score created degree update-policy short-title license ISSN "
        "container-title issued update-to issue prefix approved indexed article-number clinical-trial-number accepted "
        "author group-title DOI is-referenced-by-count updated-by event chair standards-body original-title funder "
        "translator published archive published-print alternative-id subject subtitle published-online "
        "publisher-location content-domain reference title link type publisher volume references-count ISBN issn-type "
        "assertion deposited page contributor content-created short-container-title relation editor"
    )
    assert set(params_of()["select"].split(",")) <= set(selectable.split())


def test_a_contact_address_goes_along_as_mailto() -> None:
    assert params_of(extras={"contactEmail": "ops@example.org"})["mailto"] == "ops@example.org"


def test_a_contact_address_that_is_none_makes_no_instance() -> None:
    with pytest.raises(WrongSettingsError):
        instance(PROTOCOL, ScriptedTransport(), extras={"contactEmail": "ops"})


@pytest.mark.parametrize(
    ("key", "extras", "pace"),
    [
        (None, {}, Pacing(subject="crossref@api.crossref.org", requests=1, seconds=1.0)),
        (None, {"contactEmail": "a@b.org"}, Pacing(subject="crossref@api.crossref.org", requests=3, seconds=1.0)),
        ("sekrit-012345", {}, None),
    ],
)
def test_the_pace_is_that_of_the_pool(key: str | None, extras: dict[str, str], pace: Pacing | None) -> None:
    """One list a second in the public pool, three in the polite one; Metadata Plus is not held back."""
    assert instance(PROTOCOL, ScriptedTransport(), key=key, extras=extras).pacing(request(modality=ACADEMIC)) == pace


def test_the_key_of_metadata_plus_goes_into_its_header() -> None:
    transport = ScriptedTransport(answer(fixture("crossref", "academic.json")))
    instance(PROTOCOL, transport, key="sekrit-012345").search(request(modality=ACADEMIC), scope())
    assert transport.sent[0].authentication == HeaderKey(name="Crossref-Plus-API-Token", prefix="Bearer ")
    assert "sekrit" not in repr(transport.sent[0].request)


@pytest.mark.parametrize(
    ("window", "asked"),
    [
        ((date(2020, 1, 1), date(2021, 6, 30)), "from-pub-date:2020-01-01,until-pub-date:2021-06-30"),
        ((date(2020, 1, 1), None), "from-pub-date:2020-01-01"),
        ((None, date(2021, 6, 30)), "until-pub-date:2021-06-30"),
    ],
)
def test_dates_become_filters_of_crossref(window: tuple[date | None, date | None], asked: str) -> None:
    assert params_of(date_from=window[0], date_to=window[1])["filter"] == asked


def test_what_became_of_every_filter_is_told() -> None:
    """Dates are asked for, a domain is applied to landing pages here, the rest is ignored with a reason."""
    result = search(
        answer(fixture("crossref", "academic.json")),
        date_from=date(1990, 1, 1),
        domain="example.org",
        filetype="pdf",
        locale=Locale(language="de"),
    )
    assert {entry.name: entry.handling for entry in result.applied} == {
        "date_from": FilterHandling.PROVIDER,
        "domain": FilterHandling.HERE,
        "filetype": FilterHandling.IGNORED,
        "locale": FilterHandling.IGNORED,
    }
    assert [hit.url for hit in result.hits] == [
        "https://journal.example.org/bells/17",
        "https://ringer.example.org/1998/3",
    ]


@pytest.mark.parametrize("query", ["10.5555/Bells.2021.17", " https://doi.org/10.5555/bells.2021.17"])
def test_a_query_that_is_a_doi_is_asked_for_as_a_filter(query: str) -> None:
    """In the path an unknown one is a 404; here it is simply an empty list."""
    asked = params_of(query, date_from=date(2020, 1, 1))
    assert asked["filter"] == "doi:10.5555/bells.2021.17,from-pub-date:2020-01-01"
    assert "query" not in asked


def test_more_than_is_asked_for_at_once_is_clamped_and_said() -> None:
    """Crossref would give a thousand."""
    assert params_of(max_results=500)["rows"] == "100"
    result = search(answer(fixture("crossref", "academic.json")), max_results=500)
    assert (result.note or "").startswith("crossref gives at most 100 results")


def test_a_work_becomes_a_hit_with_its_abstract_and_extras() -> None:
    """Markup goes, also where it was escaped twice; sections of the abstract keep their headings."""
    hit = found().hits[0]
    assert hit.title == "Partial tones of cathedral bells near f and above"
    assert hit.url == "https://journal.example.org/bells/17"
    assert hit.source == "Journal of Bells & Chimes"
    assert hit.authors == ("Ada Ringer", "Clapper", "The Belfry Group")
    assert hit.published_at == day("2021-09-30")
    assert hit.identifiers == {"doi": "10.5555/bells.2021.17"}
    assert hit.content is not None
    assert hit.content.inline is ContentInline.EMBED_TEXT
    assert hit.content.text == "Background: Bells ring in partials; p < 0.05.\nResults: They differ."
    assert hit.snippet == "Background: Bells ring in partials; p < 0.05. Results: They differ."
    assert hit.extras == {
        "type": "journal-article",
        "publisher": "Campana Press",
        "volume": "12",
        "issue": "3",
        "pages": "17-31",
        "venue": "Journal of Bells & Chimes",
        "subtitle": "A study & its limits",
        "other_titles": ("Teiltöne von Domglocken",),
        "cited_by_count": 12,
        "is_retracted": False,
        "preprints": ("10.5555/pre.2020.4",),
        "pdf_url": "https://journal.example.org/bells/17.pdf",
    }


def test_a_retracted_work_says_so_and_lists_each_notice_once() -> None:
    """Publisher and Retraction Watch tell of the same notice; a correction is told apart."""
    hit = found().hits[1]
    assert hit.title == "RETRACTED: Bells that ring by themselves"
    assert hit.extras["is_retracted"] is True
    assert hit.extras["updated_by"] == (
        {"type": "correction", "doi": "10.5555/bells.2004.9", "date": "2004-03-06", "source": "retraction-watch"},
        {"type": "retraction", "doi": "10.5555/bells.2010.1", "date": "2010-02-06", "source": "publisher"},
    )


def test_a_retraction_is_said_aloud_beside_the_hits() -> None:
    """A flag among the extras is easily overlooked."""
    assert found().note == "Crossref marks as retracted: 10.5555/bells.1998.3"


def test_a_notice_is_not_itself_retracted() -> None:
    """Its title may begin in the same way; it names what it retracts."""
    hit = found().hits[2]
    assert hit.extras["is_retracted"] is False
    assert hit.extras["update_to"] == (
        {"type": "retraction", "doi": "10.5555/bells.1998.3", "date": "2010-02-06", "source": "publisher"},
    )
    assert hit.url == "https://doi.org/10.5555/bells.2010.1"


@pytest.mark.parametrize(
    ("title", "kinds", "retracted"),
    [
        ("Bells", ["withdrawal"], True),
        ("Bells", ["removal"], True),
        ("Bells", ["partial_retraction", "expression_of_concern", "erratum", "new_version"], False),
        ("RETRACTED ARTICLE: Bells", [], True),
        ("[Retracted] Bells", [], True),
        ("WITHDRAWN: Bells", [], True),
        ("Retracted papers and what became of them", [], False),
        ("Retraction: Bells", [], False),
    ],
)
def test_what_counts_as_retracted(title: str, kinds: list[str], retracted: bool) -> None:
    """The whole work taken back, by a notice or in its title; other notices are only listed."""
    notices = [{"DOI": f"10.5555/n{number}", "type": kind} for number, kind in enumerate(kinds)]
    (hit,) = works({"DOI": "10.5555/x", "title": [title], "updated-by": notices}).hits
    assert hit.extras["is_retracted"] is retracted
    assert [notice["type"] for notice in hit.extras.get("updated_by", ())] == kinds


def test_a_book_has_its_isbn_and_a_work_without_a_date_none() -> None:
    """`[[null]]` is how Crossref writes no date; an old DOI is escaped in an address."""
    hit = found().hits[3]
    assert hit.identifiers == {"doi": "10.5555/(sici)1<17::aid-bell>3.0.co;2-#", "isbn": "9780000000002"}
    assert hit.url == "https://doi.org/10.5555/(sici)1%3C17::aid-bell%3E3.0.co;2-%23"
    assert (hit.published_at, hit.source, hit.authors) == (None, "Glockenverlag", ())


def test_a_work_without_a_title_is_dropped_and_counted() -> None:
    """An issue of a journal is registered without one."""
    assert (found().returned_count, found().dropped_count) == (4, 1)


def test_works_that_were_counted_and_not_sent_are_no_honest_nothing() -> None:
    result = search(answer({"status": "ok", "message": {"total-results": 9, "items": []}}))
    assert result.degraded == "Crossref counted works and sent none"


def test_a_list_of_faults_puts_the_query_at_fault_whatever_its_status() -> None:
    """The words stay out of ours."""
    for status in (200, 400):
        with pytest.raises(QueryRejected) as caught:
            search(answer(fixture("crossref", "refused.json"), status=status))
        assert "colour" not in caught.value.message


def test_a_page_that_says_too_many_requests_means_slow_down() -> None:
    """Crossref sends HTML then, and no wait."""
    with pytest.raises(RateLimited):
        search(answer("<html><body><h1>429 Too Many Requests</h1></body></html>", status=429))


def test_a_token_that_is_refused_is_the_key_s_fault() -> None:
    refused = answer({"status": "error", "message-type": "unauthorized"}, status=401)
    with pytest.raises(CredentialsRejected):
        instance(PROTOCOL, ScriptedTransport(refused, refused), key="sekrit-012345").search(
            request(modality=ACADEMIC), scope()
        )


@pytest.mark.parametrize(
    ("name", "limit"), [("works_query_title_select", "150"), ("works_query_list", "50"), ("works_fails_empty", "50")]
)
def test_recorded_headers_of_the_pool_are_handed_on(name: str, limit: str) -> None:
    """The pace that Crossref grants, under both spellings where it sends both."""
    headers = json.loads(payload("crossref", f"{name}.headers.json"))["headers"]
    result = search(answer(payload("crossref", f"{name}.json"), headers={**headers, "x-api-pool": "polite-array"}))
    assert result.upstream_headers["x-rate-limit-limit"] == limit
    assert result.upstream_headers["x-rate-limit-interval"] == "1s"
    assert result.upstream_headers["x-api-pool"] == "polite-array"


def test_the_recorded_list_is_read_and_its_untitled_article_dropped() -> None:
    """Two of eight have no date, one no title; the second title of a series is its container."""
    result = recorded("works_query_list.json")
    assert (result.returned_count, result.dropped_count, result.note) == (7, 1, None)
    first, chapter, oxford, *_, proceedings, funeral = result.hits
    assert first.title == "Strategic Reading, Ontologies, and the Future of Scientific Publishing"
    assert first.url == "https://www.science.org/doi/10.1126/science.1157784"
    assert (first.published_at, first.language) == (day("2009-08-14"), "en")
    assert first.authors[0] == "Allen H. Renear"
    assert (first.snippet or "").startswith("Strategic Reading: Scanning the scientific literature these days is more")
    assert first.extras["cited_by_count"] == 95
    assert (chapter.title, chapter.published_at) == ("Text Encoding", None)
    assert oxford.identifiers["doi"] == "10.1093/acprof:oso/9780198236634.003.0005"
    assert (proceedings.title, proceedings.published_at) == ("XML semantics and digital libraries", None)
    assert (funeral.title, funeral.published_at) == ("A Therapeutic Funeral", month("1979-12"))


def test_the_recorded_list_with_abstracts_is_read() -> None:
    """One abstract consists of nothing but its heading; dates are as exact as they were registered."""
    result = recorded("works_abstract_jats_list.json")
    assert (result.returned_count, result.dropped_count) == (10, 0)
    texts = [hit.content.text if hit.content else None for hit in result.hits]
    assert (texts[0] or "").startswith("Political ecologists have long acknowledged the links between knowledge and")
    assert (result.hits[1].title, texts[1]) == ("Political Ecology", None)
    assert (texts[8] or "").startswith("The Earth has existed for more than four billion years")
    assert (texts[9] or "").startswith("Environmental damage during warfare is generally accepted")
    assert not any("<" in (text or "") for text in texts)
    assert [hit.published_at for hit in result.hits[6:]] == [
        year("2011"),
        year("2012"),
        day("2018-12-01"),
        day("2013-05-09"),
    ]
    assert result.hits[0].extras["pdf_url"].startswith("https://journals.uair.arizona.edu/index.php/JPE/article/")
    assert result.hits[0].url == "https://doi.org/10.2458/v22i1.21112"


def test_the_recorded_list_with_licenses_is_read() -> None:
    """Quotation marks and ampersands in titles and venues."""
    result = recorded("works_query_ecology_license.json")
    assert (result.returned_count, result.dropped_count) == (10, 0)
    assert result.hits[0].title == "Scandinavian Ecology"
    assert result.hits[4].title == '"Ecology" and "Plant Ecology"'
    assert result.hits[8].source == "Trends in Ecology & Evolution"
    assert result.hits[8].identifiers["doi"] == "10.1016/s0169-5347(97)89918-1"
    assert result.hits[9].extras["subtitle"] == "Lifset, Speaking Industrial Ecology"


def test_the_recorded_list_by_orcid_is_read() -> None:
    """A venue with an escaped ampersand, a subtitle that repeats the title."""
    result = recorded("works_query_orcid_filter.json")
    assert [(hit.title, hit.published_at) for hit in result.hits] == [
        (
            "Mapping the global state of invasive alien species: patterns of invasion and policy responses",
            day("2016-09-25"),
        ),
        (
            "Host state reactions to home state diaspora engagement policies: "
            "Rethinking state sovereignty and limits of diaspora governance",
            day("2021-09-02"),
        ),
        ("Global state of sunscreens", day("2014-02-19")),
    ]
    assert result.hits[2].source == "Photodermatology, Photoimmunology & Photomedicine"
    assert result.hits[0].authors[0] == "Anna J. Turbelin"
    assert result.hits[0].extras["cited_by_count"] == 172


def test_the_recorded_list_of_three_fields_is_enough_for_hits() -> None:
    """No date, no address beyond the DOI."""
    (hit,) = recorded("works_query_title_select.json").hits
    assert hit.title == "Augmenting large language models with chemistry tools"
    assert hit.url == "https://doi.org/10.1038/s42256-024-00832-8"
    assert hit.authors[:2] == ("Andres M. Bran", "Sam Cox")
    assert (hit.published_at, hit.content) == (None, None)


def test_the_recorded_retracted_article_shows_why_notices_are_selected() -> None:
    """Asked for without them, nothing in the answer tells that it was retracted."""
    (hit,) = recorded("works_select_retracted_article.json").hits
    assert hit.identifiers == {"doi": "10.1155/2022/8341966"}
    assert hit.source == "Wireless Communications and Mobile Computing"
    assert hit.extras["is_retracted"] is False
    assert "updated_by" not in hit.extras


def test_the_recorded_corrigendum_names_what_it_corrects() -> None:
    """Its title says nothing else."""
    (hit,) = recorded("works_corrigendum_update_to.json").hits
    assert (hit.title, hit.authors, hit.published_at) == ("Corrigendum", (), month("2019-11"))
    assert hit.extras["update_to"] == ({"type": "correction", "doi": "10.1111/ijal.12157", "date": "2019-11-24"},)
    assert (hit.extras["is_retracted"], hit.extras["pages"]) == (False, "380-380")
    assert hit.url == "https://onlinelibrary.wiley.com/doi/abs/10.1111/ijal.12281"


def test_the_recorded_sample_has_a_thesis_without_a_date() -> None:
    """`[[null]]`; German text and a subtitle stay as they are."""
    chapter, thesis, article = recorded("works_sample_issued_null.json").hits
    assert chapter.published_at == day("1965-12-31")
    assert (thesis.title, thesis.published_at) == ("Normandy's role in the development of the Flamboyant style", None)
    assert (thesis.source, thesis.extras["type"]) == ("The University of Iowa", "dissertation")
    assert (article.title, article.language) == ("Über die Eiweisslabilität des Serums", "de")
    assert article.published_at == month("1933-03")


def test_the_recorded_sample_drops_the_issue_of_a_journal() -> None:
    """It has no title; an abstract may be plain HTML."""
    result = recorded("works_sample_original_title.json")
    assert (result.returned_count, result.dropped_count) == (5, 1)
    assert (result.hits[0].snippet or "").startswith("Animal population ecology comprises the study of the growth")
    assert [hit.title for hit in result.hits[1:3]] == ["7. Ecology in culture", "Evolutionary Ecology"]


def test_the_recorded_list_of_full_texts_is_read() -> None:
    """Links for text mining without a media type are no PDFs."""
    result = recorded("works_list_fulltext_links.json")
    assert [hit.title for hit in result.hits] == [
        "Nils Rosén von Rosenstein and His Textbook of Pædiatrics",
        "Calendar of Events",
        "The Computer and Career Development: Retrospect and Prospect",
    ]
    assert ["pdf_url" in hit.extras for hit in result.hits] == [False, False, True]
    assert result.hits[0].authors == ("BO VAHLQUIST", "ARVID WALLGREN")


def test_the_recorded_empty_list_is_empty_and_no_failure() -> None:
    """Only nonsense finds nothing."""
    result = recorded("works_fails_empty.json")
    assert (result.hits, result.dropped_count, result.degraded, result.note) == ((), 0, None, None)


def test_the_recorded_refusal_puts_the_query_at_fault() -> None:
    with pytest.raises(QueryRejected) as caught:
        search(answer(payload("crossref", "works_validation_400.json"), status=400))
    assert "200" not in caught.value.message


def test_the_recorded_404_of_a_doi_puts_the_query_at_fault() -> None:
    """Plain text; the DOI of an arXiv preprint is registered elsewhere."""
    with pytest.raises(QueryRejected):
        search(answer(payload("crossref", "works_doi_not_found_404.txt"), status=404))


def test_the_recorded_preprint_of_2024_names_the_article_that_it_became() -> None:
    """Posted content has no container, so its publisher is its source."""
    hit = work("works_doi_full_jats.json")
    assert hit.title == "High-throughput screening of human genetic variants by pooled prime editing"
    assert (hit.published_at, hit.source) == (day("2024-04-01"), "Cold Spring Harbor Laboratory")
    assert hit.extras["preprint_of"] == ("10.1016/j.xgen.2025.100814",)
    assert ((hit.content and hit.content.text) or "").startswith("Understanding the effects of rare genetic variants")


def test_the_recorded_preprint_of_2020_has_an_abstract_in_sections() -> None:
    """Heading of the abstract, then of its sections."""
    hit = work("works_preprint_biorxiv.json")
    text = hit.content.text or "" if hit.content else ""
    assert text.startswith("Motivation: Over the past years, many computational methods have been developed")
    assert "ABSTRACT" not in text
    assert hit.published_at == day("2020-03-31")
    assert "preprint_of" not in hit.extras


@pytest.mark.parametrize(
    ("name", "title", "published", "url"),
    [
        (
            "works_doi_colon_suffix.json",
            "An essential role of active site arginine residue in iodide binding and histidine residue in electron "
            "transfer for iodide oxidation by horseradish peroxidase",
            month("2001-02"),
            "https://link.springer.com/10.1023/A:1007154515475",
        ),
        (
            "works_doi_large_refs.json",
            "Augmenting large language models with chemistry tools",
            day("2024-05-08"),
            "https://www.nature.com/articles/s42256-024-00832-8",
        ),
        (
            "works_doi_no_author.json",
            "Convalescent-anti-sars-cov-2-plasma/immune-globulin",
            day("2023-06-24"),
            "https://link.springer.com/10.1007/s40278-023-41815-2",
        ),
        (
            "works_doi_scirep.json",
            "Insights into the mechanism of the PIK3CA E545K activating mutation using MD simulations",
            day("2018-10-19"),
            "https://www.nature.com/articles/s41598-018-27044-6",
        ),
        (
            "works_empty_funder.json",
            "An Algorithm for Template-Based Prediction of Secondary Structures of Individual RNA Sequences",
            day("2017-10-10"),
            "http://journal.frontiersin.org/article/10.3389/fgene.2017.00147/full",
        ),
        (
            "works_component_isrctn.json",
            "CapaCiTY Study 2 - Chronic Constipation Treatment Pathway",
            day("2015-11-11"),
            "http://www.isrctn.com/ISRCTN11093872",
        ),
        (
            "works_peer_review.json",
            'Peer Review #2 of "Human agency beliefs influence behaviour during virtual social interactions (v0.1)"',
            day("2017-09-20"),
            "https://peerj.com/articles/3819v0.1/reviews/2/",
        ),
        (
            "works_journal_type_odd.json",
            "Austral Ecology",
            None,
            "http://doi.wiley.com/10.1111/(ISSN)1442-9993",
        ),
    ],
)
def test_a_recorded_look_up_is_no_search_and_its_work_is_read(
    name: str, title: str, published: PublishedAt | None, url: str
) -> None:
    """The envelope of one work has no items."""
    hit = work(name)
    assert (hit.title, hit.published_at, hit.url) == (title, published, url)


def test_what_only_some_recorded_works_have_is_read() -> None:
    """No author, a preprint, a kind of its own, a venue that is an address."""
    assert work("works_doi_no_author.json").authors == ()
    assert work("works_doi_no_author.json").extras["subtitle"].startswith("Fever and mild decrease in baseline oxygen")
    assert work("works_empty_funder.json").extras["preprints"] == ("10.1101/171108",)
    assert work("works_doi_large_refs.json").extras["cited_by_count"] == 238
    assert work("works_doi_colon_suffix.json").identifiers["doi"] == "10.1023/a:1007154515475"
    assert work("works_component_isrctn.json").source == "http://isrctn.com/"
    assert work("works_peer_review.json").extras["type"] == "peer-review"
    assert work("works_journal_type_odd.json").source == "Wiley"
    assert (work("works_doi_scirep.json").snippet or "").startswith("Phosphoinositide 3-kinase alpha (PI3Kα) is")


@pytest.mark.parametrize(
    "name", ["agency.json", "transform_bibtex.txt", "transform_bibtex_sici.txt", "unixsd_abstract_xml.xml"]
)
def test_other_recorded_answers_of_crossref_are_no_lists_of_works(name: str) -> None:
    """Who registered a DOI, and records in other formats."""
    with pytest.raises(MalformedAnswer):
        recorded(name)


def test_recorded_issues_without_a_title_are_dropped() -> None:
    result = bare_items("items_no_title.json")
    assert (result.returned_count, result.dropped_count) == (0, 2)


@pytest.mark.parametrize(
    ("name", "title", "others"),
    [
        (
            "items_title_double_escaped_nbsp.json",
            "Relationship between EEG phase-amplitude coupling and BOLD data in simultaneous ECoG-fMRI in humans",
            (),
        ),
        ("items_title_double_escaped_tag.json", "Noise and scale behavior of relational descriptions", ()),
        (
            "items_title_newlines_markup.json",
            "High-throughput synthesis and specificity characterization of natively paired influenza hemagglutinin "
            "antibodies with oPool + display",
            (),
        ),
        (
            "items_title_sub_italic.json",
            "On the Best Rank-1 and Rank-(R1 ,R2 ,. . .,RN) Approximation of Higher-Order Tensors",
            (),
        ),
        (
            "items_title_two_languages_arabic.json",
            "Data Mining: WEKA Software ( an Overview )",
            ("تنقيب البيانات: برمجيات WEKA (نظرة عامة)",),
        ),
        (
            "items_title_two_languages_japanese.json",
            "The effects of group members on critical thinking disposition during discussions",
            ("構成メンバーの違いが討論時の振る舞いに及ぼす影響",),
        ),
    ],
)
def test_a_recorded_title_is_plain_and_the_others_are_kept(name: str, title: str, others: tuple[str, ...]) -> None:
    """Entities and tags that were escaped twice, line breaks, markup, and a second language."""
    (hit,) = bare_items(name).hits
    assert (hit.title, hit.extras.get("other_titles", ())) == (title, others)


def test_what_else_is_odd_in_recorded_items_is_read() -> None:
    """All authors in one family name, an escaped ampersand, an abstract with line breaks, two containers."""
    (arabic,) = bare_items("items_title_two_languages_arabic.json").hits
    assert arabic.authors == ("Fatma A. Ibrahim, Omar A. Shiba",)
    assert arabic.source == "Journal of Pure & Applied Sciences"
    (antibodies,) = bare_items("items_title_newlines_markup.json").hits
    assert "we present oPool + display, a high-throughput" in ((antibodies.content and antibodies.content.text) or "")
    (noise,) = bare_items("items_title_double_escaped_tag.json").hits
    assert (noise.source, noise.published_at) == ("SPIE Proceedings", day("1994-08-17"))
