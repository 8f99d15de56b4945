"""Semantic Scholar: what is asked, and what every recorded answer comes to."""

import json
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, Sent, answer
from zarniwoop.adapters.semanticscholar import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    MalformedAnswer,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, Secret

ACADEMIC = SearchModality.ACADEMIC
PAGE = "https://www.semanticscholar.org/paper/"


def search(*script: HttpAnswer, query: str = "cathedral bells", key: str | None = None, **asked: Any) -> SearchResult:
    made = instance(PROTOCOL, ScriptedTransport(*script), key=key)
    return made.search(request(query, ACADEMIC, **asked), scope())


def sent(query: str = "cathedral bells", key: str | None = None, **asked: Any) -> Sent:
    """The request of a search."""
    transport = ScriptedTransport(answer(fixture("semanticscholar", "academic.json")))
    instance(PROTOCOL, transport, key=key).search(request(query, ACADEMIC, **asked), scope())
    return transport.sent[0]


def recorded(name: str) -> SearchResult:
    return search(answer(payload("semanticscholar", name)))


def papers(items: Any) -> SearchResult:
    """Papers that came in another envelope, put into that of a search."""
    return search(answer({"total": len(items), "offset": 0, "data": items}))


def day(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.DAY)


def year(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.YEAR)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("semanticscholar", __file__) == []


def test_a_search_is_one_get_that_names_its_fields() -> None:
    """Without `fields` there would be ids and titles only."""
    asked = sent(max_results=7).request
    assert (asked.method, asked.url) == ("GET", "https://api.semanticscholar.org/graph/v1/paper/search")
    assert asked.params == {
        "query": "cathedral bells",
        "fields": "paperId,externalIds,title,abstract,tldr,venue,journal,year,publicationDate,publicationTypes,"
        "authors,citationCount,influentialCitationCount,isOpenAccess,openAccessPdf",
        "offset": "0",
        "limit": "7",
    }


def test_a_hyphen_inside_a_word_becomes_a_space() -> None:
    """Words with one match nothing there; a hyphen between spaces is no matter."""
    assert sent("self-supervised state-of-the-art - bells").request.params["query"] == (
        "self supervised state of the art - bells"
    )


def test_the_key_is_optional_and_goes_into_its_header() -> None:
    """The transport puts it there after everything was logged."""
    with_key, without = sent(key="sekrit-012345"), sent()
    assert (with_key.authentication, with_key.secret) == (HeaderKey(name="x-api-key"), Secret("sekrit-012345"))
    assert "sekrit" not in repr(with_key.request)
    assert without.secret is None


@pytest.mark.parametrize(
    ("window", "asked"),
    [
        ((date(2020, 1, 1), date(2021, 6, 30)), "2020-01-01:2021-06-30"),
        ((date(2020, 1, 1), None), "2020-01-01:"),
        ((None, date(2021, 6, 30)), ":2021-06-30"),
    ],
)
def test_dates_are_asked_as_a_range_with_open_ends(window: tuple[date | None, date | None], asked: str) -> None:
    """And the account says that the provider applied them."""
    assert sent(freshness_days=30, published=window).request.params["publicationDateOrYear"] == asked
    found = answer(fixture("semanticscholar", "academic.json"))
    (applied,) = search(found, freshness_days=30, published=window).applied
    assert applied.handling is FilterHandling.PROVIDER


def test_without_dates_none_are_asked() -> None:
    assert "publicationDateOrYear" not in sent().request.params


def test_a_file_type_and_a_locale_are_ignored_with_a_reason_and_a_site_is_applied_here() -> None:
    """A paper is no file, and nothing says in which language it is written."""
    result = search(
        answer(fixture("semanticscholar", "academic.json")),
        filetype="pdf",
        site="arxiv.org/abs",
        locale=Locale(language="de"),
    )
    assert [(entry.name, entry.handling) for entry in result.applied] == [
        ("site", FilterHandling.HERE),
        ("filetype", FilterHandling.IGNORED),
        ("locale", FilterHandling.IGNORED),
    ]
    assert [hit.title for hit in result.hits] == ["On the strike note"]


def test_more_than_a_page_holds_is_clamped_and_said() -> None:
    found = answer(fixture("semanticscholar", "academic.json"))
    assert search(found, max_results=150).note == "semanticscholar gives at most 100 results"
    assert sent(max_results=150).request.params["limit"] == "100"


@pytest.mark.parametrize(
    ("key", "subject"),
    [(None, "semanticscholar@api.semanticscholar.org"), ("k", "semanticscholar@api.semanticscholar.org:apiKey")],
)
def test_one_search_a_second_is_the_pace(key: str | None, subject: str) -> None:
    """Of a key for all that use it, and of all who have none."""
    made = instance(PROTOCOL, ScriptedTransport(), key=key)
    assert made.pacing(request(modality=ACADEMIC)) == Pacing(subject=subject, requests=1, seconds=1.0)


def test_a_paper_becomes_a_hit_with_its_abstract_identifiers_and_extras() -> None:
    """Identifiers are in the form under which works of other indexes are merged with it."""
    hit = search(answer(fixture("semanticscholar", "academic.json"))).hits[0]
    assert hit.title == "Partial tones of cathedral bells near f and above"
    assert hit.url == "https://doi.org/10.5555/bells.2021.17"
    assert hit.source == "Journal of Campanology"
    assert hit.snippet == "Bells ring in partials; where p < 0.05, bells differ."
    assert hit.content is not None
    assert (hit.content.inline, hit.content.text) == (ContentInline.EMBED_TEXT, hit.snippet)
    assert hit.authors == ("Ada Ringer", "B. Clapper")
    assert hit.published_at == day("2021-09-30")
    assert hit.identifiers == {
        "semanticscholar_id": "0123456789abcdef0123456789abcdef01234567",
        "doi": "10.5555/bells.2021.17",
        "arxiv_id": "2109.01234",
        "pmid": "99000001",
        "pmcid": "PMC9000017",
    }
    assert hit.extras == {
        "publication_types": ("JournalArticle", "Study"),
        "venue": "Journal of Campanology",
        "cited_by_count": 12,
        "influential_citation_count": 2,
        "is_open_access": True,
        "pdf_url": "https://journal.example.org/bells/17.pdf",
        "license": "CCBY",
        "tldr": "Bells differ in their partials.",
        "semanticscholar_url": f"{PAGE}0123456789abcdef0123456789abcdef01234567",
    }


def test_a_paper_without_a_doi_leads_to_arxiv_and_one_without_either_to_its_page() -> None:
    """An empty address in `openAccessPdf` is no PDF; a year alone is a date."""
    _, preprint, bare = search(answer(fixture("semanticscholar", "academic.json"))).hits
    assert (preprint.url, preprint.source) == ("https://arxiv.org/abs/physics/0503001", "Campanologia")
    assert (preprint.published_at, preprint.content, preprint.snippet) == (year("2005"), None, None)
    assert "pdf_url" not in preprint.extras
    assert (bare.title, bare.url) == ("Glocken und ihre Gießer", f"{PAGE}cdef0123456789abcdef0123456789abcdef0123")
    assert (bare.authors, bare.published_at, bare.source) == ((), None, None)


def test_a_paper_that_semantic_scholar_knows_by_citations_only_is_dropped() -> None:
    """It has no id."""
    result = search(answer(fixture("semanticscholar", "academic.json")))
    assert (result.returned_count, result.dropped_count) == (3, 1)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("10.5555/bells.2021.17", "10.5555/bells.2021.17"),
        (" https://doi.org/10.5555/Bells.2021.17", "10.5555/bells.2021.17"),
        ("doi:10.1002/(sici)1<1::aid-x>3.0.co;2-#", "10.1002/(sici)1%3C1::aid-x%3E3.0.co;2-%23"),
    ],
)
def test_a_query_that_is_a_doi_is_looked_up_by_it(query: str, path: str) -> None:
    """A search for it finds nothing."""
    transport = ScriptedTransport(answer(fixture("semanticscholar", "paper.json")))
    asked = request(query, ACADEMIC, date_from=date(2022, 1, 1))
    result = instance(PROTOCOL, transport).search(asked, scope())
    assert transport.sent[0].request.url == f"https://api.semanticscholar.org/graph/v1/paper/DOI:{path}"
    assert list(transport.sent[0].request.params) == ["fields"]
    assert (result.returned_count, result.dropped_count) == (0, 1)
    assert [entry.handling for entry in result.applied] == [FilterHandling.HERE]


@pytest.mark.parametrize("body", [{}, [], {"total": 0, "offset": 0}])
def test_an_answer_to_a_look_up_that_is_no_paper_is_malformed(body: object) -> None:
    """An empty object, a list, or the answer to a search."""
    with pytest.raises(MalformedAnswer):
        search(answer(body), query="10.5555/bells.2021.17")


def test_papers_that_were_counted_and_not_sent_are_no_honest_nothing() -> None:
    result = search(answer({"total": 5, "offset": 0}))
    assert (result.hits, result.degraded) == ((), "Semantic Scholar counted papers and sent none")


def test_the_recorded_search_is_read_in_full() -> None:
    """Five of 360,715; the first has a year and no day."""
    result = recorded("search_transformer_full_fields.json")
    assert (result.returned_count, result.dropped_count, result.degraded) == (5, 0, None)
    assert [(hit.title, hit.url) for hit in result.hits] == [
        (
            "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows",
            "https://doi.org/10.1109/iccv48922.2021.00986",
        ),
        (
            "Informer: Beyond Efficient Transformer for Long Sequence Time-Series Forecasting",
            "https://doi.org/10.1609/aaai.v35i12.17325",
        ),
        ("Longformer: The Long-Document Transformer", "https://arxiv.org/abs/2004.05150"),
        (
            "Restormer: Efficient Transformer for High-Resolution Image Restoration",
            "https://doi.org/10.1109/cvpr52688.2022.00564",
        ),
        ("SwinIR: Image Restoration Using Swin Transformer", "https://doi.org/10.1109/iccvw54120.2021.00210"),
    ]
    swin, informer, longformer, *_ = result.hits
    assert (swin.published_at, informer.published_at) == (year("2021"), day("2020-12-14"))
    assert swin.authors[0] == "Ze Liu"
    assert len(swin.authors) == 8
    assert (swin.snippet or "").startswith("This paper presents a new vision Transformer, called Swin Transformer")
    assert swin.identifiers == {
        "semanticscholar_id": "c8b25fab5608c3e033d34b4483ec47e68ba109b7",
        "doi": "10.1109/iccv48922.2021.00986",
        "arxiv_id": "2103.14030",
    }
    assert informer.extras["pdf_url"] == "https://ojs.aaai.org/index.php/AAAI/article/download/17325/17132"
    assert "pdf_url" not in longformer.extras


def test_the_recorded_empty_answer_has_no_data_and_is_empty() -> None:
    """Empty is an outcome, and nothing is degraded."""
    result = recorded("search_empty.json")
    assert (result.hits, result.dropped_count, result.degraded, result.error_message) == ((), 0, None, None)


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [
        (
            "search_page1.json",
            15,
            "Using DeepSpeed and Megatron to Train Megatron-Turing NLG 530B, A Large-Scale Generative Language Model",
        ),
        ("search_page2_next.json", 10, "How to Run Turing Machines on Encrypted Data"),
        ("search_last_page_no_next.json", 20, "Near-optimal sublinear time algorithms for Ulam distance"),
        ("bulk_search_token.json", 20, "Kubernetes Cluster for Automating Software Production Environment"),
    ],
)
def test_recorded_pages_of_ids_and_titles_are_read(name: str, count: int, first: str) -> None:
    """Whatever way they name to the next one; a hit leads to Semantic Scholar's own page."""
    result = search(answer(payload("semanticscholar", name)), max_results=100)
    assert (result.returned_count, result.dropped_count) == (count, 0)
    assert result.hits[0].title == first
    assert all(hit.url.startswith(PAGE) for hit in result.hits)


@pytest.mark.parametrize(
    ("name", "count"), [("search_open_access_pdf.json", 20), ("bulk_search_last_token_null.json", 27)]
)
def test_recorded_papers_without_a_title_are_dropped(name: str, count: int) -> None:
    """Only counts or addresses of PDFs had been asked for."""
    result = recorded(name)
    assert (result.returned_count, result.dropped_count) == (0, count)


def test_recorded_addresses_of_pdfs_are_read_whatever_their_status() -> None:
    """An arXiv copy of a closed article is marked CLOSED; the papers get a title for once."""
    found = json.loads(payload("semanticscholar", "search_open_access_pdf.json"))["data"]
    result = papers([{**paper, "title": "Turing"} for paper in found])
    assert [hit.extras["pdf_url"] for hit in result.hits[:3]] == [
        "https://mededu.jmir.org/2023/1/e46939/PDF",
        "http://www.cs.berkeley.edu/~christos/classics/Deutsch_quantum_theory.pdf",
        "http://arxiv.org/pdf/2301.10035",
    ]


def test_the_recorded_report_of_3000_authors_says_that_its_list_was_cut() -> None:
    """Semantic Scholar stops at 500 and does not say so."""
    (hit,) = papers([json.loads(payload("semanticscholar", "items_500_authors_truncated.json"))]).hits
    assert hit.title.startswith("Gemini 2.5: Pushing the Frontier")
    assert (len(hit.authors), hit.authors[0], hit.extras["authors_truncated"]) == (500, "Gheorghe Comanici", True)
    assert (hit.url, hit.identifiers["arxiv_id"]) == ("https://arxiv.org/abs/2507.06261", "2507.06261")
    assert ((hit.content and hit.content.text) or "").startswith("In this report, we introduce the Gemini 2.X")


def test_the_recorded_paper_of_a_doi_is_read() -> None:
    """Venue and journal may differ; the venue is the longer name."""
    found = answer(payload("semanticscholar", "paper_by_doi_full.json"))
    (hit,) = search(found, query="10.1073/pnas.1414271111").hits
    assert hit.title == (
        "Developing functional musculoskeletal tissues through hypoxia and lysyl oxidase-induced collagen cross-linking"
    )
    assert hit.source == "Proceedings of the National Academy of Sciences of the United States of America"
    assert (hit.published_at, hit.identifiers["pmid"]) == (day("2014-10-27"), "25349395")
    assert hit.authors[:2] == ("Eleftherios Makris", "D. Responte")
    assert hit.extras["pdf_url"] == "https://www.pnas.org/content/pnas/111/45/E4832.full.pdf"
    assert (hit.extras["cited_by_count"], hit.extras["is_open_access"]) == (136, True)


def test_the_recorded_paper_without_authors_is_read() -> None:
    """A short report in a weekly; its `openAccessPdf` has an empty address."""
    found = answer(payload("semanticscholar", "paper_by_doi_no_authors.json"))
    (hit,) = search(found, query="10.1007/s40278-023-41815-2").hits
    assert (hit.title, hit.authors) == ("Convalescent-anti-sars-cov-2-plasma/immune-globulin", ())
    assert (hit.published_at, hit.source) == (day("2023-06-01"), "Reactions weekly")
    assert hit.extras["is_open_access"] is False
    assert "pdf_url" not in hit.extras


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("paper_by_doi_not_found_404.json", "10.1101/2024.04.01.587366"),
        ("paper_not_found_404.json", "10.5555/none"),
        ("match_not_found_404.json", "abs12032jsdafn"),
    ],
)
def test_a_recorded_404_puts_the_query_at_fault(name: str, query: str) -> None:
    """The words, which repeat the query, stay out of ours."""
    with pytest.raises(QueryRejected) as caught:
        search(answer(payload("semanticscholar", name), status=404), query=query)
    assert "found" not in caught.value.message


def test_recorded_matches_of_a_title_are_papers_too() -> None:
    """They come in the same envelope, without a total."""
    (hit,) = recorded("match_success.json").hits
    assert hit.title.startswith("Effect of native oxide layers on copper thin-film tensile properties")
    assert (hit.url, hit.source) == ("https://doi.org/10.1063/1.4938384", "Journal of Applied Physics")
    (hit,) = recorded("match_minimal_fields.json").hits
    assert hit.identifiers == {
        "semanticscholar_id": "354dcdebf3f8b5feeed5c62090e0bc1f0c28db06",
        "doi": "10.1038/s42256-024-00832-8",
        "arxiv_id": "2304.05376",
        "pmid": "38799228",
        "pmcid": "PMC11116106",
    }


def test_a_recorded_batch_is_no_search_and_its_unknown_ids_are_null() -> None:
    """An unknown id is dropped and counted, the papers are read."""
    with pytest.raises(MalformedAnswer):
        recorded("batch_with_null.json")
    result = papers(json.loads(payload("semanticscholar", "batch_with_null.json")))
    assert result.dropped_count >= 1
    assert result.hits[0].title == "How Much Should We Trust Differences-in-Differences Estimates?"
    assert result.hits[0].extras["cited_by_count"] == 10670
    assert result.hits[0].extras["pdf_url"] == "http://papers.nber.org/papers/w8841.pdf"
    assert result.hits[0].source == "Experimental & Empirical Studies eJournal"


def test_recorded_recommendations_are_no_search_and_their_papers_are_read() -> None:
    """The same papers under another name."""
    with pytest.raises(MalformedAnswer):
        recorded("recommendations_pmid.json")
    found = json.loads(payload("semanticscholar", "recommendations_pmid.json"))["recommendedPapers"]
    result = papers(found)
    assert (result.returned_count, result.dropped_count) == (len(found), 0)
    assert result.hits[1].identifiers["pmcid"] == "PMC13408275"
    assert (result.hits[0].published_at, result.hits[0].source) == (year("2026"), "Breast Cancer")


@pytest.mark.parametrize(
    ("name", "count"), [("references_null_paperid.json", 17), ("references_pmid.json", 15), ("snippet_search.json", 2)]
)
def test_recorded_references_and_snippets_are_no_papers(name: str, count: int) -> None:
    """Each has its paper one level deeper."""
    result = recorded(name)
    assert (result.returned_count, result.dropped_count) == (0, count)


def test_a_recorded_reference_without_an_id_is_dropped() -> None:
    """Semantic Scholar knows it by citations only."""
    found = json.loads(payload("semanticscholar", "references_null_paperid.json"))["data"]
    result = papers([item["citedPaper"] for item in found])
    assert [hit.title for hit in result.hits][:2] == [
        "On the Macroeconomics of Microfinance",
        "Intra-household resource allocation: an inferential approach",
    ]
    assert result.returned_count + result.dropped_count == 17


def test_the_recorded_forbidden_is_a_bad_key_where_one_was_sent() -> None:
    """Without a key it is a wall like any other."""
    refused = answer(payload("semanticscholar", "forbidden_403.json"), status=403)
    with pytest.raises(CredentialsRejected):
        search(refused, refused, key="sekrit-012345")
    with pytest.raises(AccessRefused):
        search(refused)


def test_another_403_is_a_wall() -> None:
    with pytest.raises(AccessRefused):
        search(answer({"message": "Blocked by policy"}, status=403), key="sekrit-012345")


def test_the_recorded_429_means_slow_down_for_whoever_has_no_key_too() -> None:
    """It advises to apply for a key, and states no wait."""
    with pytest.raises(RateLimited) as caught:
        search(answer(payload("semanticscholar", "too_many_requests_429.json"), status=429), key="sekrit-012345")
    assert caught.value.retry_after is None
