"""OpenAlex: what is asked, and what its answers come to."""

import json
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.openalex import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    MalformedAnswer,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import QuotaSource
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer, QueryKey

ACADEMIC = SearchModality.ACADEMIC


def search(*script: HttpAnswer, query: str = "cathedral bells", **asked: Any) -> SearchResult:
    return instance(PROTOCOL, ScriptedTransport(*script)).search(request(query, ACADEMIC, **asked), scope())


def params_of(query: str = "cathedral bells", extras: dict[str, str] | None = None, **asked: Any) -> dict[str, str]:
    """The parameters that a search sends."""
    transport = ScriptedTransport(answer(fixture("openalex", "academic.json")))
    instance(PROTOCOL, transport, extras=extras).search(request(query, ACADEMIC, **asked), scope())
    assert transport.sent[0].request.url == "https://api.openalex.org/works"
    return dict(transport.sent[0].request.params)


def items(name: str) -> bytes:
    """A recording of bare result items, put back into the envelope that they came in."""
    return b'{"meta":{},"group_by":[],"results":' + payload("openalex", name) + b"}"


def test_a_search_is_one_request_for_the_fields_that_are_read() -> None:
    """No key, no filter and no e-mail address are sent unless they are there."""
    asked = params_of(max_results=7)
    assert asked.pop("select").split(",")[:2] == ["id", "doi"]
    assert asked == {"search": "cathedral bells", "per-page": "7"}


def test_a_contact_address_goes_along_as_mailto() -> None:
    """OpenAlex writes to that address before it blocks."""
    assert params_of(extras={"contactEmail": "ops@example.org"})["mailto"] == "ops@example.org"


def test_dates_and_language_become_filters_of_openalex() -> None:
    """And the account says that the provider applied them."""
    window: dict[str, Any] = {
        "date_from": date(2020, 1, 1),
        "date_to": date(2021, 6, 30),
        "locale": Locale(language="de", region="AT"),
    }
    asked = params_of(**window)
    assert asked["filter"] == "from_publication_date:2020-01-01,to_publication_date:2021-06-30,language:de"
    applied = search(answer(fixture("openalex", "academic.json")), **window).applied
    assert {(entry.name, entry.handling) for entry in applied} == {
        ("date_from", FilterHandling.PROVIDER),
        ("date_to", FilterHandling.PROVIDER),
        ("locale", FilterHandling.PROVIDER),
    }


def test_freshness_becomes_an_earliest_date() -> None:
    """The window was resolved once for the whole cascade; the adapter only passes it on."""
    asked = params_of(freshness_days=30, published=(date(2026, 10, 1), None))
    assert asked["filter"] == "from_publication_date:2026-10-01"


def test_a_file_type_is_ignored_with_a_reason_and_a_domain_is_applied_here() -> None:
    """A work is no file, and its address tells its host."""
    result = search(answer(fixture("openalex", "academic.json")), filetype="pdf", domain="example.org")
    assert [hit.title for hit in result.hits] == ["Partial tones of cathedral bells near f and above"]
    assert [(entry.name, entry.handling) for entry in result.applied] == [
        ("filetype", FilterHandling.IGNORED),
        ("domain", FilterHandling.HERE),
    ]
    assert "not files" in (result.applied[0].reason or "")


@pytest.mark.parametrize(
    "query", ["10.5555/bells.2021.17", " doi:10.5555/bells.2021.17", "https://doi.org/10.5555/bells.2021.17"]
)
def test_a_query_that_is_a_doi_is_looked_up_instead_of_searched(query: str) -> None:
    """As a filter, since an unknown DOI in the path is a 404 and here simply an empty list."""
    asked = params_of(query, locale=Locale(language="de"))
    assert asked["filter"] == "doi:10.5555/bells.2021.17"
    assert "search" not in asked


def test_a_doi_is_found_in_whatever_language_the_work_is_written() -> None:
    """A default locale must not hide the very work that was named."""
    result = search(answer(fixture("openalex", "academic.json")), query="10.5555/x", locale=Locale(language="de"))
    assert result.applied[0].handling is FilterHandling.IGNORED
    assert "whatever language" in (result.applied[0].reason or "")


@pytest.mark.parametrize("query", ["what does 10.5555/bells say", "10.5555/a,b", "10.5555/a|b"])
def test_a_doi_inside_a_question_or_with_filter_syntax_is_searched(query: str) -> None:
    """A comma or a bar would add a filter of the caller's own."""
    assert params_of(query)["search"] == query


def test_a_work_becomes_a_hit_with_its_abstract_identifiers_and_extras() -> None:
    """Markup is gone, a formula does not stick to its neighbours, and gaps in the abstract close up."""
    hit = search(answer(fixture("openalex", "academic.json"))).hits[0]
    assert hit.title == "Partial tones of cathedral bells near f and above"
    assert hit.url == "https://journal.example.org/bells/17"
    assert hit.source == "Journal of Campanology"
    assert hit.snippet == "Bells ring in partials; Bells differ."
    assert hit.content is not None
    assert (hit.content.inline, hit.content.text) == (ContentInline.EMBED_TEXT, hit.snippet)
    assert hit.authors == ("Ada Ringer", "B. Clapper")
    assert hit.published_at == PublishedAt(value="2021-09-30", precision=DatePrecision.DAY)
    assert hit.language == "en"
    assert hit.identifiers == {
        "openalex_id": "W4000000001",
        "doi": "10.5555/bells.2021.17",
        "pmid": "99000001",
        "pmcid": "PMC9000017",
        "arxiv_id": "2109.01234",
    }
    assert hit.extras == {
        "type": "article",
        "cited_by_count": 12,
        "is_retracted": False,
        "venue": "Journal of Campanology",
        "open_access": "gold",
        "pdf_url": "https://journal.example.org/bells/17.pdf",
    }


def test_a_bare_work_keeps_its_year_and_its_openalex_address() -> None:
    """A work without DOI, place, abstract and date is still a hit; a retracted one says so."""
    hit = search(answer(fixture("openalex", "academic.json"))).hits[1]
    assert (hit.title, hit.url) == ("Glocken und ihre Gießer", "https://openalex.org/W4000000002")
    assert hit.published_at == PublishedAt(value="1987", precision=DatePrecision.YEAR)
    assert hit.content is None
    assert hit.identifiers == {"openalex_id": "W4000000002"}
    assert hit.extras["is_retracted"] is True


def test_a_work_without_a_title_is_dropped_and_counted() -> None:
    """OpenAlex lists front matter with a null title."""
    result = search(answer(fixture("openalex", "academic.json")))
    assert (result.returned_count, result.dropped_count) == (2, 1)


def test_what_the_headers_say_of_the_budget_rides_on_the_result() -> None:
    """In dollars where they are stated, with the moment of observation."""
    headers = {"x-ratelimit-remaining-usd": "0.42", "x-ratelimit-limit-usd": "1", "x-ratelimit-remaining": "4200"}
    asked = instance(PROTOCOL, ScriptedTransport(answer({"results": []}, headers=headers)), key="k")
    quota = asked.search(request(modality=ACADEMIC), scope()).quota
    assert quota is not None
    assert (quota.source, quota.unit, quota.limit, quota.remaining) == (QuotaSource.HEADERS, "usd", 1.0, 0.42)
    assert quota.observed_at == 1_800_000_000.0


@pytest.mark.parametrize(
    ("stated", "resets_at"), [("3600", 1_800_003_600.0), ("0", 1_800_000_000.0), ("-5", None), ("1800003600", None)]
)
def test_the_seconds_to_the_reset_become_a_moment(stated: str, resets_at: float | None) -> None:
    """Whoever reads the quota later must not count from then; what cannot be seconds of a day says nothing."""
    headers = {"x-ratelimit-remaining-usd": "0.42", "x-ratelimit-reset": stated}
    quota = search(answer({"results": []}, headers=headers)).quota
    assert quota is not None
    assert quota.resets_at == resets_at


@pytest.mark.parametrize(("more", "wait"), [({}, 3600.0), ({"retry-after": "7200"}, 7200.0)])
def test_a_spent_budget_is_waited_for_until_its_reset(more: dict[str, str], wait: float) -> None:
    """Unless Retry-After says something else."""
    headers = {"x-ratelimit-remaining-usd": "0", "x-ratelimit-reset": "3600", **more}
    with pytest.raises(QuotaExhausted) as caught:
        search(answer(b"", status=429, headers=headers))
    assert caught.value.retry_after == wait


def test_credits_count_where_no_dollars_are_stated() -> None:
    """The older of the two price models; a header that is no number counts as absent."""
    headers = {"x-ratelimit-remaining-usd": "n/a", "x-ratelimit-limit": "100000", "x-ratelimit-remaining": "99990"}
    asked = instance(PROTOCOL, ScriptedTransport(answer({"results": []}, headers=headers)))
    quota = asked.search(request(modality=ACADEMIC), scope()).quota
    assert quota is not None
    assert (quota.unit, quota.limit, quota.remaining) == ("credits", 100_000.0, 99_990.0)


@pytest.mark.parametrize(
    "headers",
    [
        {"x-ratelimit-remaining-usd": "0.0004", "x-ratelimit-cost-required-usd": "0.001"},
        {"x-ratelimit-remaining-usd": "0"},
        {"x-ratelimit-remaining": "3", "x-ratelimit-credits-required": "10"},
    ],
)
def test_a_429_with_less_left_than_the_call_costs_is_a_spent_budget(headers: dict[str, str]) -> None:
    """It lasts until midnight UTC, as Retry-After says, so it is no matter of slowing down."""
    refused = answer({"error": "Rate limit exceeded"}, status=429, headers={**headers, "retry-after": "30000"})
    with pytest.raises(QuotaExhausted) as caught:
        search(refused)
    assert (caught.value.retry_after, caught.value.status) == (30_000.0, 429)


@pytest.mark.parametrize(
    "headers", [{}, {"x-ratelimit-remaining-usd": "0.5", "x-ratelimit-cost-required-usd": "0.001"}]
)
def test_any_other_429_means_slow_down(headers: dict[str, str]) -> None:
    """With budget left it is the pace of a hundred requests a second."""
    with pytest.raises(RateLimited) as caught:
        search(answer(b"", status=429, headers={**headers, "retry-after": "2"}))
    assert caught.value.retry_after == 2.0


def test_a_403_means_slow_down_unless_it_is_about_the_key() -> None:
    """OpenAlex documents 403 as too fast."""
    with pytest.raises(RateLimited):
        search(answer({"error": "Forbidden"}, status=403))
    refused = answer({"error": "Invalid API key"}, status=403)
    with pytest.raises(CredentialsRejected):
        instance(PROTOCOL, ScriptedTransport(refused), key="sekrit").search(request(modality=ACADEMIC), scope())
    with pytest.raises(AccessRefused):
        search(refused)


def test_a_bad_filter_puts_the_query_at_fault() -> None:
    """Their words, which list every valid field, stay out of ours."""
    with pytest.raises(QueryRejected) as caught:
        search(answer({"error": "Invalid query parameters error.", "message": "x is not a valid field."}, status=400))
    assert "valid field" not in caught.value.message


def test_the_key_is_optional_and_goes_into_the_query_string() -> None:
    """Keyless calls have cents a day; with a key the transport appends it after everything was logged."""
    transport = ScriptedTransport(answer({"results": []}))
    instance(PROTOCOL, transport, key="sekrit").search(request(modality=ACADEMIC), scope())
    assert transport.sent[0].authentication == QueryKey(name="api_key")
    assert "sekrit" not in repr(transport.sent[0].request)


def test_the_recorded_search_by_title_is_read_in_full() -> None:
    """A journal article and its arXiv preprint."""
    result = search(answer(payload("openalex", "works_title_search.json")))
    assert (result.returned_count, result.dropped_count) == (2, 0)
    article, preprint = result.hits
    assert article.title == "Augmenting large language models with chemistry tools"
    assert article.url == "https://doi.org/10.1038/s42256-024-00832-8"
    assert article.identifiers == {
        "openalex_id": "W4396723768",
        "doi": "10.1038/s42256-024-00832-8",
        "pmid": "38799228",
        "pmcid": "PMC11116106",
    }
    assert article.published_at == PublishedAt(value="2024-05-08", precision=DatePrecision.DAY)
    assert article.authors[0] == "Andres M. Bran"
    assert (article.snippet or "").startswith("Abstract Large language models (LLMs) have shown strong performance")
    assert article.extras["pdf_url"] == "https://www.nature.com/articles/s42256-024-00832-8.pdf"
    assert article.extras["cited_by_count"] == 236
    assert preprint.url == "https://arxiv.org/abs/2304.05376"
    assert preprint.identifiers["arxiv_id"] == "2304.05376"
    assert preprint.extras["type"] == "preprint"


def test_the_recorded_single_result_has_a_long_abstract_in_order() -> None:
    """The most cited paper there is: 288 words out of an index of 184."""
    (hit,) = search(answer(payload("openalex", "works_single_lowry.json"))).hits
    assert hit.title == "PROTEIN MEASUREMENT WITH THE FOLIN PHENOL REAGENT"
    assert hit.url == "https://doi.org/10.1016/s0021-9258(19)52451-6"
    assert hit.identifiers["doi"] == "10.1016/s0021-9258(19)52451-6"
    assert hit.identifiers["pmid"] == "14907713"
    assert hit.published_at == PublishedAt(value="1951-11-01", precision=DatePrecision.DAY)
    assert hit.content is not None
    text = hit.content.text or ""
    assert text.startswith("Since 1922 when Wu proposed the use of the Folin phenol reagent for the measurement")
    assert len(hit.snippet or "") == 300 or (hit.snippet or "").endswith("…")
    assert len(hit.authors) == 4
    assert hit.extras["cited_by_count"] == 319716


def test_the_recorded_minimal_list_still_gives_hits() -> None:
    """Id and title are enough."""
    result = search(answer(payload("openalex", "works_multiple_minimal.json")))
    assert [hit.url for hit in result.hits] == ["https://openalex.org/W3111255098", "https://openalex.org/W3008028633"]
    assert result.hits[0].title == "Safety and Efficacy of the BNT162b2 mRNA Covid-19 Vaccine"
    assert result.hits[0].published_at is None


def test_the_recorded_empty_list_is_empty_and_no_failure() -> None:
    """Empty is an outcome."""
    result = search(answer(payload("openalex", "works_empty.json")))
    assert (result.returned_count, result.dropped_count, result.degraded) == (0, 0, None)


def test_the_recorded_formula_in_a_title_is_set_apart_from_words() -> None:
    """The publisher glued MathML to both neighbours."""
    (hit,) = search(answer(items("items_title_mathml.json"))).hits
    assert hit.title == "Experimental astrophysics with high power lasers and Z pinches"
    assert hit.published_at == PublishedAt(value="2006", precision=DatePrecision.YEAR)
    assert hit.authors == ("B. A. Remington", "R. P. Drake", "D. D. Ryutov")


def test_the_recorded_trademark_loses_its_markup_and_keeps_its_sign() -> None:
    """`<sup>` goes, ™ stays."""
    (hit,) = search(answer(items("items_title_sup_trademark.json"))).hits
    assert hit.title == "Cyberbotics Ltd. Webots™: Professional Mobile Robot Simulation"
    assert hit.extras["pdf_url"] == "https://journals.sagepub.com/doi/pdf/10.5772/5618"


def test_the_recorded_null_title_is_dropped() -> None:
    """Title and display name are both null."""
    result = search(answer(items("items_title_null_100_authors.json")))
    assert (result.returned_count, result.dropped_count) == (0, 1)


def test_a_list_of_100_authors_is_marked_as_cut_short() -> None:
    """A list answer stops there, whatever the work has; the recorded work gets a title for once."""
    (work,) = json.loads(payload("openalex", "items_title_null_100_authors.json"))
    (hit,) = search(answer({"results": [{**work, "title": "The Fibreculture Journal 30"}]})).hits
    assert len(hit.authors) == 100
    assert hit.extras["authors_truncated"] is True


@pytest.mark.parametrize(
    ("name", "count"),
    [("authors_multiple_minimal.json", 2), ("authors_single.json", 1), ("institutions_single.json", 1)],
)
def test_recorded_authors_and_institutions_are_no_works(name: str, count: int) -> None:
    """They have a name and an address as well, but their ids are not those of works."""
    result = search(answer(payload("openalex", name)))
    assert (result.returned_count, result.dropped_count) == (0, count)


def test_the_recorded_single_work_is_not_the_list_that_was_asked_for() -> None:
    """An answer without `results` is not the declared format."""
    with pytest.raises(MalformedAnswer):
        search(answer(payload("openalex", "work_select_open_access.json")))


def test_the_recorded_404_page_puts_the_query_at_fault() -> None:
    """An unknown id answers with HTML."""
    with pytest.raises(QueryRejected):
        search(answer(payload("openalex", "work_not_found_404_html.html"), status=404))


def test_every_recorded_answer_has_its_test() -> None:
    """A new recording without one fails here."""
    assert recordings_without_a_test("openalex", __file__) == []
