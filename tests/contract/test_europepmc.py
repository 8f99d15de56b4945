"""Europe PMC: what is asked, what every recorded answer comes to, and how full texts are read."""

import json
from datetime import date
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import pytest
from defusedxml.ElementTree import fromstring

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.europepmc import PROTOCOL
from zarniwoop.adapters.europepmc_fulltext import full_text
from zarniwoop.contract.failure import MalformedAnswer, ProviderUnavailable, QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, LoadedContent, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer

ACADEMIC = SearchModality.ACADEMIC
BASE = "https://www.ebi.ac.uk/europepmc/webservices/rest"


def search(*script: HttpAnswer, query: str = "cathedral bells", **asked: Any) -> SearchResult:
    return instance(PROTOCOL, ScriptedTransport(*script)).search(request(query, ACADEMIC, **asked), scope())


def params_of(query: str = "cathedral bells", **asked: Any) -> dict[str, str]:
    """The parameters that a search sends."""
    transport = ScriptedTransport(answer(fixture("europepmc", "academic.json")))
    instance(PROTOCOL, transport).search(request(query, ACADEMIC, **asked), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url, sent.secret) == ("GET", f"{BASE}/search", None)
    return dict(sent.request.params)


def found() -> SearchResult:
    return search(answer(fixture("europepmc", "academic.json")))


def recorded(name: str) -> SearchResult:
    return search(answer(payload("europepmc", name)))


def records(*items: Any) -> SearchResult:
    return search(answer({"version": "6.9", "hitCount": len(items), "resultList": {"result": list(items)}}))


def load(body: bytes, reference: str | None = "PMC9000017", status: int = 200) -> tuple[LoadedContent, str]:
    """What a full text comes to, and where it was asked for."""
    transport = ScriptedTransport(answer(body, status=status))
    wanted = ContentReference(inline=ContentInline.EMBED_TEXT, text="An abstract.", reference=reference)
    loaded = instance(PROTOCOL, transport).load_content(wanted, scope())
    return loaded, transport.sent[0].request.url


def day(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.DAY)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("europepmc", __file__) == []


def test_a_search_is_one_get_for_whole_records() -> None:
    """`lite` ones have no abstract."""
    assert params_of(max_results=7) == {
        "query": "cathedral bells",
        "format": "json",
        "resultType": "core",
        "pageSize": "7",
        "cursorMark": "*",
    }


@pytest.mark.parametrize(
    ("window", "clause"),
    [
        ((date(2020, 1, 1), date(2021, 6, 30)), "FIRST_PDATE:[2020-01-01 TO 2021-06-30]"),
        ((date(2020, 1, 1), None), "FIRST_PDATE:[2020-01-01 TO 3000-12-31]"),
        ((None, date(2021, 6, 30)), "FIRST_PDATE:[1500-01-01 TO 2021-06-30]"),
    ],
)
def test_dates_become_a_range_of_first_publication(window: tuple[date | None, date | None], clause: str) -> None:
    """The query stands in brackets of its own, or an OR in it would undo the range."""
    asked = params_of("bells OR chimes", date_from=window[0], date_to=window[1])["query"]
    assert asked == f"(bells OR chimes) AND ({clause})"


def test_a_language_is_asked_for_by_both_of_its_codes() -> None:
    """Papers have the code of MARC, some preprints the short one."""
    asked = params_of(locale=Locale(language="de", region="AT"))["query"]
    assert asked == '(cathedral bells) AND (LANG:"ger" OR LANG:"de")'


def test_what_became_of_every_filter_is_told() -> None:
    """A language without a code there is ignored, a domain is applied here."""
    result = search(
        answer(fixture("europepmc", "academic.json")),
        date_from=date(1990, 1, 1),
        domain="europepmc.org",
        filetype="pdf",
        locale=Locale(language="zu"),
    )
    assert {entry.name: entry.handling for entry in result.applied} == {
        "date_from": FilterHandling.PROVIDER,
        "domain": FilterHandling.HERE,
        "filetype": FilterHandling.IGNORED,
        "locale": FilterHandling.IGNORED,
    }
    assert result.returned_count == 4


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("AUTH:doudna AND (crispr OR cas9)", "AUTH:doudna AND (crispr OR cas9)"),
        ('bells "strike note', "bells  strike note"),
        ("bells) OR (chimes", "bells  OR  chimes"),
    ],
)
def test_europe_pmc_s_own_syntax_is_passed_on_when_its_marks_are_in_pairs(query: str, sent: str) -> None:
    """A lonely bracket would swallow what is appended."""
    assert params_of(query)["query"] == sent


def test_a_query_of_marks_alone_is_rejected_unasked() -> None:
    with pytest.raises(QueryRejected):
        search(query='"()"')


@pytest.mark.parametrize("query", ["10.5555/Bells.2021.17", "https://doi.org/10.5555/bells.2021.17"])
def test_a_query_that_is_a_doi_is_asked_for_as_one(query: str) -> None:
    """In whatever language the work is written."""
    assert params_of(query, locale=Locale(language="de"))["query"] == 'DOI:"10.5555/bells.2021.17"'


def test_a_record_becomes_a_hit_with_its_abstract_and_the_way_to_its_full_text() -> None:
    """Sections keep their headings; a title's markup goes, also where it was escaped."""
    hit = found().hits[0]
    assert hit.title == "Partial tones of cathedral bells near f and above."
    assert hit.url == "https://europepmc.org/article/MED/99000001"
    assert (hit.source, hit.language) == ("Journal of campanology", "en")
    assert hit.authors == ("Ringer A", "The Belfry Group")
    assert hit.published_at == day("2021-09-30")
    assert hit.snippet == "Background: Bells ring in partials (p<0.05). Results: They differ."
    assert hit.content == ContentReference(
        inline=ContentInline.EMBED_TEXT,
        text="Background: Bells ring in partials (p<0.05).\nResults: They differ.",
        reference="PMC9000017",
    )
    assert hit.identifiers == {
        "europepmc_id": "MED/99000001",
        "doi": "10.5555/bells.2021.17",
        "pmid": "99000001",
        "pmcid": "PMC9000017",
    }
    assert hit.extras == {
        "record_source": "MED",
        "publication_types": ("research-article", "Journal Article"),
        "venue": "Journal of campanology",
        "volume": "12",
        "issue": "3",
        "pages": "17-31",
        "cited_by_count": 12,
        "is_retracted": False,
        "is_open_access": True,
        "has_full_text": True,
        "has_pdf": True,
        "pdf_url": "https://europepmc.org/articles/PMC9000017?pdf=render",
        "license": "cc by",
    }


def test_a_retracted_record_says_so_and_lists_its_notices() -> None:
    """A comment is no notice; the result says it aloud."""
    hit = found().hits[1]
    assert hit.extras["is_retracted"] is True
    assert hit.extras["updated_by"] == (
        {"type": "retraction", "europepmc_id": "MED/99000009", "reference": "Bell Ringer. 2010 Feb 6;14(2):1."},
        {"type": "erratum", "europepmc_id": "MED/99000008", "reference": "Bell Ringer. 2004 Mar 6;8(3):9."},
    )
    assert (hit.language, hit.content) == ("de", None)
    assert found().note == "Europe PMC marks as retracted: 10.5555/bells.1998.3"


def test_a_notice_of_retraction_is_not_itself_retracted() -> None:
    correction = {"source": "MED", "id": "1", "type": "Retraction of"}
    result = records(
        {"id": "2", "source": "MED", "title": "Notice", "commentCorrectionList": {"commentCorrection": [correction]}}
    )
    assert result.hits[0].extras["is_retracted"] is False
    assert result.hits[0].extras["update_to"] == ({"type": "retraction", "europepmc_id": "MED/1"},)
    assert result.note is None


def test_a_preprint_has_its_server_as_source_and_a_year_as_date() -> None:
    """arXiv's DOI holds the arXiv id, so that it is merged with what arXiv itself says."""
    hit = found().hits[2]
    assert (hit.source, hit.authors) == ("bellRxiv", ("Clapper B", "Ringer A"))
    assert hit.published_at == PublishedAt(value="2020", precision=DatePrecision.YEAR)
    assert hit.identifiers["arxiv_id"] == "2109.01234"
    assert (hit.content, hit.url) == (None, "https://europepmc.org/article/PPR/PPR900001")


def test_an_open_record_without_an_abstract_has_its_full_text_on_demand() -> None:
    """And the short form of a record is read like the long one."""
    hit = found().hits[3]
    assert hit.content == ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="PMC9000020")
    assert (hit.source, hit.extras["volume"], hit.extras["issue"]) == ("Bell Ring", "32", "suppl 2")
    assert hit.extras["publication_types"] == ("abstract", "other")
    assert (hit.authors, hit.identifiers["pmcid"]) == ((), "PMC9000020")


def test_a_record_without_a_title_is_dropped_and_counted() -> None:
    assert (found().returned_count, found().dropped_count) == (4, 1)


def test_a_study_group_is_cut_to_a_hundred_names() -> None:
    """The record of a large trial lists thousands."""
    authors = [{"fullName": f"Ringer {number}"} for number in range(300)]
    (hit,) = records({"id": "1", "source": "MED", "title": "Trial", "authorList": {"author": authors}}).hits
    assert (len(hit.authors), hit.extras["authors_truncated"]) == (100, True)


def test_records_that_were_counted_and_not_sent_are_no_honest_nothing() -> None:
    result = search(answer({"version": "6.9", "hitCount": 5, "resultList": {"result": []}}))
    assert result.degraded == "Europe PMC counted records and sent none"


def test_no_matching_record_is_an_empty_result() -> None:
    result = search(answer({"version": "6.9", "hitCount": 0, "resultList": {"result": []}}))
    assert (result.hits, result.degraded, result.note) == ((), None, None)


@pytest.mark.parametrize(("name", "failure"), [("error.json", QueryRejected), ("down.json", ProviderUnavailable)])
def test_an_error_inside_a_200_is_a_typed_failure(name: str, failure: type[Exception]) -> None:
    """Its words, which repeat the query, stay out of ours."""
    with pytest.raises(failure) as caught:
        search(answer(fixture("europepmc", name)))
    assert "FOO" not in str(caught.value)


def test_the_recorded_version_without_a_list_is_degraded() -> None:
    """A 200 that looks like nothing found, when the search backend was down."""
    result = recorded("degraded_200_version_only.json")
    assert (result.hits, result.degraded) == ((), "Europe PMC's search backend did not answer")


@pytest.mark.parametrize(
    ("name", "number", "title", "published", "identifiers"),
    [
        (
            "search_json_by_pmid_no_pmcid.json",
            "22663011",
            "Improved survival with MEK inhibition in BRAF-mutated melanoma.",
            "2012-06-04",
            {"doi": "10.1056/nejmoa1203421", "pmid": "22663011"},
        ),
        (
            "search_json_by_pmid_pagesize1.json",
            "20516115",
            "Comprehensive analysis of missense variations in the BRCT domain of BRCA1 by structural and functional "
            "assays.",
            "2010-06-01",
            {"doi": "10.1158/0008-5472.can-09-4563", "pmid": "20516115", "pmcid": "PMC3040717"},
        ),
        (
            "search_json_lite_1.json",
            "22799487",
            "A novel SYBR-based duplex qPCR for the detection of gene dosage: detection of an APC large deletion in a "
            "familial adenomatous polyposis patient with an unusual phenotype.",
            "2012-07-16",
            {"doi": "10.1186/1471-2350-13-55", "pmid": "22799487", "pmcid": "PMC3458979"},
        ),
        (
            "search_json_lite_1b.json",
            "20516115",
            "Comprehensive analysis of missense variations in the BRCT domain of BRCA1 by structural and functional "
            "assays.",
            "2010-06-01",
            {"doi": "10.1158/0008-5472.can-09-4563", "pmid": "20516115", "pmcid": "PMC3040717"},
        ),
        (
            "search_json_lite_1c.json",
            "26951660",
            "Oligonucleotide-directed mutagenesis screen to identify pathogenic Lynch syndrome-associated MSH2 DNA "
            "mismatch repair gene variants.",
            "2016-03-07",
            {"doi": "10.1073/pnas.1520813113", "pmid": "26951660", "pmcid": "PMC4839441"},
        ),
    ],
)
def test_a_recorded_single_record_is_read(
    name: str, number: str, title: str, published: str, identifiers: dict[str, str]
) -> None:
    """In the short form, without an abstract."""
    result = recorded(name)
    (hit,) = result.hits
    assert (result.dropped_count, result.degraded) == (0, None)
    assert (hit.title, hit.url) == (title, f"https://europepmc.org/article/MED/{number}")
    assert hit.published_at == day(published)
    assert hit.identifiers == {"europepmc_id": f"MED/{number}", **identifiers}


def test_what_recorded_flags_and_lists_come_to() -> None:
    """Only an open article leads to its full text, whatever PubMed Central holds."""
    (melanoma,) = recorded("search_json_by_pmid_no_pmcid.json").hits
    assert (melanoma.source, melanoma.authors[0], melanoma.authors[-1]) == (
        "N Engl J Med",
        "Flaherty KT",
        "METRIC Study Group",
    )
    assert melanoma.extras["publication_types"][0] == "clinical trial, phase iii"
    assert (melanoma.extras["is_open_access"], melanoma.extras["cited_by_count"]) == (False, 1594)
    (closed,) = recorded("search_json_by_pmid_pagesize1.json").hits
    assert (closed.extras["has_full_text"], closed.extras["is_open_access"], closed.content) == (True, False, None)
    (open_one,) = recorded("search_json_lite_1.json").hits
    assert open_one.content == ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="PMC3458979")


def test_the_two_recorded_records_of_a_variant_are_read() -> None:
    first, second = recorded("search_json_lite_2.json").hits
    assert first.title.startswith("MSH2 c.1022T>C, p.Leu341Pro is a founder pathogenic variation")
    assert (first.published_at, first.extras["pages"]) == (day("2019-09-03"), "111-118")
    assert (second.identifiers["pmcid"], second.source) == ("PMC3670492", "Br J Cancer")


def test_the_five_recorded_records_have_titles_without_markup() -> None:
    """One has italics, in another they were escaped."""
    result = recorded("search_json_lite_5.json")
    assert (result.returned_count, result.dropped_count) == (5, 0)
    assert result.hits[0].title == (
        "Rare Germline Variants in DNA Repair Genes Detected in BRCA-Negative Finnish Patients with Early-Onset Breast "
        "Cancer."
    )
    assert result.hits[3].title.startswith("Rare, protein-truncating variants in ATM, CHEK2 and PALB2")
    assert not any("<" in hit.title or "&" in hit.title for hit in result.hits)


def test_the_recorded_record_of_pubmed_central_alone_has_neither_pmid_nor_doi() -> None:
    """Nor an author."""
    result = recorded("search_json_lite_6.json")
    assert (result.returned_count, result.dropped_count) == (6, 0)
    abstracts = result.hits[5]
    assert abstracts.url == "https://europepmc.org/article/PMC/PMC11627200"
    assert abstracts.identifiers == {"europepmc_id": "PMC/PMC11627200", "pmcid": "PMC11627200"}
    assert (abstracts.authors, abstracts.published_at) == ((), day("2024-11-01"))
    assert abstracts.extras["record_source"] == "PMC"
    assert abstracts.title.startswith("Abstracts from the 57th European Society of Human Genetics (ESHG) Conference")


def test_the_recorded_xml_is_not_the_format_that_was_asked_for() -> None:
    with pytest.raises(MalformedAnswer):
        recorded("search_xml_core.xml")


def test_the_recorded_xml_shows_whole_records_which_are_read() -> None:
    """The same names as in JSON; a patent has no DOI, its inventors are one string."""
    article, vodka, charka = recorded_core()
    assert article.url == "https://europepmc.org/article/MED/21733903"
    assert article.source == "Proceedings. Biological sciences"
    assert (article.snippet or "").startswith("The metacopines represent one of the oldest and most important extinct")
    assert article.authors == ("Olempska E", "Horne DJ", "Szaniawski H")
    assert (article.published_at, article.language) == (day("2011-07-06"), "en")
    assert article.identifiers["pmcid"] == "PMC3234553"
    assert article.extras["pdf_url"] == "https://www.ncbi.nlm.nih.gov/pmc/articles/pmid/21733903/pdf/?tool=EBI"
    assert article.extras["publication_types"][-1] == "Journal Article"
    assert article.content is not None
    assert article.content.reference is None
    assert (vodka.title, vodka.extras["record_source"]) == ("VODKA SYNEVIR", "PAT")
    assert vodka.authors[0] == "BARANOV VALENTYN VOLODYMYROVYC"
    assert charka.url == "https://europepmc.org/article/PAT/UA37954"


def recorded_core() -> tuple[SearchHit, ...]:
    """The recorded XML as the JSON that `resultType=core` has: lists where an element may come again."""
    root = fromstring(payload("europepmc", "search_xml_core.xml"))
    result = records(*[_as_json(item) for item in root.iter("result")])
    assert result.dropped_count == 0
    return result.hits


def _as_json(element: Element) -> Any:
    if not len(element):
        return element.text or ""
    found: dict[str, Any] = {}
    for child in element:
        value = _as_json(child)
        if element.tag.endswith("List"):
            found.setdefault(child.tag, []).append(value)
        else:
            found[child.tag] = value
    return found


def test_a_full_text_is_read_in_its_order_one_line_a_paragraph() -> None:
    """Lists, captions and tables have lines of their own; TeX, the licence and the references are left out."""
    loaded, url = load(fixture("europepmc", "fulltext.xml"))
    assert url == f"{BASE}/PMC9000017/fullTextXML"
    assert (loaded.media_type, loaded.source_url) == ("text/plain", "https://europepmc.org/article/PMC/PMC9000017")
    assert loaded.body.decode().split("\n") == [
        "Partial tones of cathedral bells",
        "Abstract",
        "Background",
        "Bells ring in partials.",
        "1",
        "Introduction",
        "Where p < 0.05, bells differ [1].",
        "one",
        "two",
        "That is known.",
        "Results",
        "The strike note is f.",
        "Figure 1",
        "A bell.",
        "Weights",
        "bell kg",
        "Emmanuel 13 000",
    ]


@pytest.mark.parametrize("reference", [None, "", "99000001", "PMC1/../search", "pmc1", "PMC9000017\n"])
def test_a_foreign_reference_is_rejected_unasked(reference: str | None) -> None:
    """It stands in the path of an address."""
    wanted = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference)
    with pytest.raises(QueryRejected):
        instance(PROTOCOL, ScriptedTransport()).load_content(wanted, scope())


def test_an_article_without_a_body_or_that_is_not_open_has_no_full_text() -> None:
    """The publisher may allow no more than its head; others are a 404."""
    with pytest.raises(QueryRejected):
        load(fixture("europepmc", "fulltext_without_body.xml"))
    with pytest.raises(QueryRejected):
        load(b"", status=404)


@pytest.mark.parametrize("body", [fixture("europepmc", "fulltext_bomb.xml"), b"<article><body>", b"{}", b""])
def test_a_full_text_that_declares_entities_or_is_no_xml_is_malformed(body: bytes) -> None:
    """An external document type is usual and harmless, entities are not expanded."""
    with pytest.raises(MalformedAnswer):
        load(body)


@pytest.mark.parametrize("body", [b"<article/>", b"<article><body/></article>", b"<responseWrapper/>"])
def test_xml_without_any_text_is_no_full_text(body: bytes) -> None:
    with pytest.raises(QueryRejected):
        load(body)


def test_an_article_of_any_depth_is_read() -> None:
    """Depth costs no recursion."""
    article = Element("article")
    innermost = SubElement(article, "body")
    for _ in range(20_000):
        innermost = SubElement(innermost, "p")
    innermost.text = "bells"
    assert full_text(article) == "bells"


def test_the_recorded_flags_of_all_files_are_of_known_letters() -> None:
    """ "Y" and "N" and nothing else, so that a third one would show."""
    for name in ("search_json_lite_5.json", "search_json_lite_6.json"):
        for record in json.loads(payload("europepmc", name))["resultList"]["result"]:
            assert {record["isOpenAccess"], record["inEPMC"], record["hasPDF"]} <= {"Y", "N"}
