"""PubMed's adapter against recorded answers of the E-utilities, fixtures in their format, and whatever a user types."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.payloads import payload, recorded
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.pubmed import PROTOCOL
from zarniwoop.adapters.pubmed_query import search_fields
from zarniwoop.adapters.pubmed_records import Record, read_records
from zarniwoop.contract.failure import (
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import (
    ContentInline,
    ContentReference,
    DatePrecision,
    LoadedContent,
    PublishedAt,
    SearchHit,
)
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import QueryKey, Secret

FIXTURES = Path(__file__).parents[1] / "fixtures" / "pubmed"
BASE = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
WITH_ABSTRACTS = {"abstracts": "true"}


def fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def listing(*ids: str, count: int | None = None) -> bytes:
    """What esearch answers when it finds these records."""
    total = str(len(ids) if count is None else count)
    return orjson.dumps({"esearchresult": {"count": total, "retmax": total, "retstart": "0", "idlist": list(ids)}})


def ask(
    *bodies: bytes | str, query: str = "bell ringers", settings: dict[str, str] | None = None, **options: Any
) -> SearchResult:
    """Put a query to PubMed, which answers with the bodies one after the other."""
    transport = ScriptedTransport(*(answer(body) for body in bodies))
    pubmed = instance(PROTOCOL, transport, extras=settings)
    return pubmed.search(request(query, SearchModality.ACADEMIC, **options), scope())


def listed_for(query: str, **options: Any) -> dict[str, str]:
    """The parameters of the esearch that a query leads to."""
    transport = ScriptedTransport(answer(fixture("esearch_nothing.json")))
    instance(PROTOCOL, transport).search(request(query, SearchModality.ACADEMIC, **options), scope())
    return dict(transport.sent[0].request.params)


def load(body: bytes | str, pmid: str = "30000001") -> LoadedContent:
    reference = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=pmid)
    return instance(PROTOCOL, ScriptedTransport(answer(body))).load_content(reference, scope())


def records(name: str) -> dict[str, Record]:
    return read_records(answer(payload("pubmed", name)))


def handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def text_of(hit: SearchHit) -> str:
    assert hit.content is not None
    assert hit.content.text is not None
    return hit.content.text


def test_every_recorded_answer_and_every_fixture_has_a_test() -> None:
    """A recorded answer or a fixture that no test here opens is a hole in the contract."""
    source = Path(__file__).read_text(encoding="utf-8")
    names = [*recorded("pubmed"), *(path.name for path in FIXTURES.iterdir())]
    assert [name for name in names if f'"{name}"' not in source] == []


def test_a_recorded_summary_is_one_hit_with_its_bibliography() -> None:
    """The summary of PMID 17375194: title, journal, day, authors and three identifiers; empty strings say nothing."""
    result = ask(listing("17375194"), payload("pubmed", "esummary_json.json"))
    hit = result.hits[0]
    assert (result.returned_count, result.dropped_count, result.note, result.degraded) == (1, 0, None, None)
    assert hit.title == "Sharing detailed research data is associated with increased citation rate."
    assert hit.url == "https://pubmed.ncbi.nlm.nih.gov/17375194/"
    assert hit.source == "PloS one"
    assert hit.authors == ("Piwowar HA", "Day RS", "Fridsma DB")
    assert hit.published_at == PublishedAt(value="2007-03-21", precision=DatePrecision.DAY)
    assert hit.language == "en"
    assert hit.identifiers == {"pmid": "17375194", "doi": "10.1371/journal.pone.0000308", "pmcid": "PMC1817752"}
    assert hit.extras == {
        "volume": "2",
        "issue": "3",
        "pages": "e308",
        "publication_types": ("Journal Article", "Research Support, N.I.H., Extramural"),
    }
    assert hit.snippet is None
    assert hit.content == ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="17375194")


def test_summaries_of_pubmed_central_are_read_by_their_pubmed_id() -> None:
    """In db=pmc the uid is a PMCID; a record with PMID 0 has no page in PubMed and is dropped."""
    result = ask(listing(*(str(7_000_000 + n) for n in range(15))), payload("pubmed", "esummary_json_pmc.json"))
    first = result.hits[0]
    assert (result.returned_count, result.dropped_count) == (8, 7)
    assert first.title == (
        "Nasal Tissue Extraction Is Essential for Characterization of the Murine Upper Respiratory Tract Microbiota"
    )
    assert first.url == "https://pubmed.ncbi.nlm.nih.gov/33328347/"
    assert first.identifiers == {"pmid": "33328347", "doi": "10.1128/msphere.00562-20", "pmcid": "PMC7771231"}
    assert first.authors[3] == "Stämpfli MR"
    assert first.published_at == PublishedAt(value="2020-12-16", precision=DatePrecision.DAY)
    assert [hit.identifiers["pmid"] for hit in result.hits[1:3]] == ["33238123", "33322269"]


def test_a_recorded_list_of_a_hundred_ids_is_described_in_one_call_and_its_unknown_phrase_told() -> None:
    """All ids go into one esummary; the phrase that PubMed did not find is named, being the caller's own."""
    found = payload("pubmed", "esearch_json_100_ids.json")
    transport = ScriptedTransport(answer(found), answer(payload("pubmed", "esummary_json.json")))
    query = request("APC p.E1317Q", SearchModality.ACADEMIC, max_results=100)
    result = instance(PROTOCOL, transport).search(query, scope())
    ids = transport.sent[1].request.params["id"].split(",")
    assert (len(ids), ids[0], ids[-1]) == (100, "42555032", "42506116")
    assert result.note == "PubMed does not know: p.E1317Q"
    assert (result.returned_count, result.dropped_count) == (1, 99)


def test_a_recorded_list_without_translations_is_described_in_its_order() -> None:
    """Three ids, asked in the order in which PubMed ranked them."""
    found = payload("pubmed", "esearch_json_empty_translationset.json")
    transport = ScriptedTransport(answer(found), answer(fixture("esummary.json")))
    result = instance(PROTOCOL, transport).search(request("PTEN D326N", SearchModality.ACADEMIC), scope())
    assert transport.sent[1].request.params["id"] == "32150788,29373119,17427195"
    assert result.note is None


def test_a_search_error_in_a_200_is_a_rejected_query_and_not_an_empty_answer() -> None:
    """`ERROR` where the ids would be: the query is at fault, and its text is not repeated."""
    with pytest.raises(QueryRejected) as raised:
        ask(payload("pubmed", "esearch_error_in_200.json"))
    assert "Empty term" not in raised.value.message


@pytest.mark.parametrize("status", [429, 200])
def test_the_recorded_rate_limit_names_neither_key_nor_address(status: int) -> None:
    """Without a key NCBI puts the caller's address where the key would be; it goes no further."""
    body = payload("pubmed", "error_429_rate_limit_json.json")
    with pytest.raises(RateLimited) as raised:
        instance(PROTOCOL, ScriptedTransport(answer(body, status=status))).search(
            request("bells", SearchModality.ACADEMIC), scope()
        )
    assert "203.0.113.7" not in repr(raised.value) + raised.value.message


def test_a_list_that_is_too_long_for_a_get_is_a_rejected_query() -> None:
    """The recorded 414 page is a failure of this query and not of the provider."""
    page = answer(payload("pubmed", "esummary_414_html.html"), status=414)
    with pytest.raises(QueryRejected):
        instance(PROTOCOL, ScriptedTransport(answer(fixture("esearch.json")), page)).search(
            request("bells", SearchModality.ACADEMIC), scope()
        )


@pytest.mark.parametrize(
    "name",
    [
        "esearch_history_xml.xml",
        "esearch_phrase_not_found.xml",
        "esearch_translation_xml.xml",
        "esearch_xml.xml",
        "esearch_xml_pmc_email.xml",
        "esummary_xml_v1.xml",
        "efetch_html_200.html",
    ],
)
def test_an_answer_of_another_kind_is_malformed_wherever_it_comes(name: str) -> None:
    """XML or a page for JSON, and another utility's XML for records, are never read as empty answers."""
    body = payload("pubmed", name)
    for script in ([body], [fixture("esearch.json"), body]):
        with pytest.raises(MalformedAnswer):
            ask(*script)
    with pytest.raises(MalformedAnswer):
        ask(fixture("esearch.json"), fixture("esummary.json"), body, settings=WITH_ABSTRACTS)
    with pytest.raises(MalformedAnswer):
        load(body)


def test_a_malformed_record_set_is_a_malformed_answer() -> None:
    """Tags that do not match."""
    with pytest.raises(MalformedAnswer):
        load(payload("pubmed", "malformed_entry.xml"))


def test_an_empty_article_is_no_record() -> None:
    """Well-formed, but without a PMID there is nothing to load."""
    assert records("minimal_entry.xml") == {}
    with pytest.raises(QueryRejected):
        load(payload("pubmed", "minimal_entry.xml"))


@pytest.mark.parametrize(
    ("name", "pmid", "title", "authors", "abstract"),
    [
        (
            "efetch_abstract_dspace.xml",
            "15117179",
            "Multistep microreactions with proteins using electrocapture technology.",
            ("Astorga-Wells J", "Bergman T", "Jörnvall H"),
            "A method to perform multistep reactions by means of electroimmobilization of a target molecule",
        ),
        (
            "efetch_no_abstract.xml",
            "9997",
            "Magnetic studies of Chromatium flavocytochrome C552. A mechanism for heme-flavin interaction.",
            ("Strekas TC",),
            "Electron paramagnetic resonance and magnetic susceptibility studies of Chromatium flavocytochrome C552",
        ),
        (
            "efetch_pubmed_book.xml",
            "21413195",
            "Rheumatoid Arthritis: National Clinical Guideline for Management and Treatment in Adults",
            ("National Collaborating Centre for Chronic Conditions (UK)", "Williams DA"),
            "just a dummy.",
        ),
        (
            "efetch_single_2023.xml",
            "21975942",
            "Searching NCBI Databases Using Entrez.",
            ("Gibney G", "Baxevanis AD"),
            "One of the most widely used interfaces for the retrieval of information from biological databases",
        ),
    ],
)
def test_a_recorded_record_is_read_and_loaded(
    name: str, pmid: str, title: str, authors: tuple[str, ...], abstract: str
) -> None:
    """Title, authors and abstract as recorded, and the same three as the text that is loaded."""
    record = records(name)[pmid]
    assert (record.title, record.authors, record.is_retracted) == (title, authors, False)
    assert record.abstract is not None
    assert record.abstract.startswith(abstract)
    loaded = load(payload("pubmed", name), pmid)
    assert loaded.body.decode() == f"{title}\n\n{', '.join(authors)}\n\n{record.abstract}"
    assert (loaded.media_type, loaded.source_url) == ("text/plain", f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/")


@pytest.mark.parametrize(
    ("name", "pmid", "title", "authors"),
    [
        (
            "efetch_book_article_set.xml",
            "21413195",
            "Title for some article",
            ("National Collaborating Centre for Chronic Conditions (UK)",),
        ),
        (
            "efetch_no_abstract.xml",
            "12091962",
            "The treatment of AIDS behind the walls of correctional facilities.",
            ("Olivero JM",),
        ),
        (
            "efetch_no_issn.xml",
            "26886152",
            "Need for cognition moderates paranormal beliefs and magical ideation in inconsistent-handers.",
            ("Prichard EC", "Christman SD"),
        ),
    ],
)
def test_a_recorded_record_without_abstract_has_none(
    name: str, pmid: str, title: str, authors: tuple[str, ...]
) -> None:
    """No abstract is None and not an empty text; title and authors are still there to be loaded."""
    record = records(name)[pmid]
    assert (record.title, record.authors, record.abstract) == (title, authors, None)
    assert load(payload("pubmed", name), pmid).body.decode() == f"{title}\n\n{', '.join(authors)}"


def test_a_book_that_comes_twice_is_read_where_it_is_complete() -> None:
    """The second, bare entry of the recorded set does not take the place of the first."""
    assert [record.title for record in records("efetch_book_article_set.xml").values()] == ["Title for some article"]


@pytest.mark.parametrize(
    ("name", "pmid", "labels"),
    [
        ("efetch_citation_2012.xml", "22663011", ["BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS"]),
        ("efetch_comment_in.xml", "27797938", ["OBJECTIVE", "DESIGN", "RESULTS", "CONCLUSIONS"]),
        ("efetch_markup_in_abstract.xml", "28775130", ["OBJECTIVES", "METHODS", "RESULTS", "CONCLUSIONS"]),
    ],
)
def test_the_sections_of_a_recorded_abstract_keep_their_labels(name: str, pmid: str, labels: list[str]) -> None:
    """One line a section, the label before it."""
    abstract = records(name)[pmid].abstract
    assert abstract is not None
    assert [line.partition(": ")[0] for line in abstract.split("\n")] == labels


def test_a_section_without_a_name_has_no_label() -> None:
    """`UNLABELLED` is NCBI's word for none; a section may also have no attributes at all."""
    record = records("efetch_multi.xml")["36708638"]
    assert record.title == (
        "Teaching strategies of clinical reasoning in advanced nursing clinical practice: A scoping review."
    )
    assert record.abstract is not None
    lines = record.abstract.split("\n")
    assert len(lines) == 8
    assert lines[0].startswith("AIM/OBJECTIVE: To report and synthesize the main strategies")
    assert lines[4].startswith("RESULTS: 1433 articles were examined")
    assert lines[6:] == [
        "An unlabeled section of an abstract.",
        "An abstract section with no attributes at all, concerning.",
    ]


def test_markup_inside_a_recorded_abstract_leaves_its_text() -> None:
    """Subscripts and superscripts are read where they stand, without their tags."""
    exposure = records("efetch_markup_in_abstract.xml")["28775130"].abstract
    assert exposure is not None
    assert "TSH (0.4-<4.5 mIU/L)" in exposure
    assert "(ORQ3=4.15, 95% CI 1.56 to 11.01, ORQ4=4.76, 95% CI 1.53 to 14.82, ptrend <0.01)" in exposure
    title = records("efetch_markup_title.xml")["30108519"].title
    assert title == (
        'A "Blood Relationship" Between the Overlooked Minimum Lactate Equivalent and Maximal Lactate Steady State '
        "in Trained Runners. Back to the Old Days?"
    )
    lactate = records("efetch_markup_title.xml")["30108519"].abstract
    assert lactate is not None
    assert lactate.endswith("controlling LEmin to be shared, at least partly, with those controlling MLSS.")


def test_formulas_inside_a_recorded_abstract_leave_their_symbols() -> None:
    """MathML is read as the text of its symbols."""
    math = records("efetch_mathml.xml")["32759406"]
    assert math.title == "CellML 2.0."
    assert math.abstract is not None
    assert math.abstract.startswith("Following are examples of MathML elements: η p 2 0 1 0 0 0 1 1 0 0 1729")
    lung = records("efetch_mathml_collective.xml")["29963580"]
    assert (
        lung.title == "Development of a pulmonary imaging biomarker pipeline for phenotyping of chronic lung disease."
    )
    assert lung.authors[-1] == "Canadian Respiratory Research Network"
    assert lung.abstract is not None
    assert "mml" not in lung.abstract


def test_a_group_is_an_author_of_a_recorded_record() -> None:
    """`CollectiveName` stands among the persons, where the record has it."""
    trial = records("efetch_citation_2012.xml")["22663011"]
    assert (len(trial.authors), trial.authors[0], trial.authors[-1]) == (26, "Flaherty KT", "METRIC Study Group")
    dummy = records("efetch_article_ids.xml")["26711635"]
    assert (dummy.authors[-1], dummy.abstract) == ("ASTRO-CM Team", "This abstract is a dummy.")


def test_recorded_abstracts_are_attached_to_the_hits_of_their_pmid() -> None:
    """Five records of one efetch: each abstract hangs on its own hit, whatever their order."""
    body = payload("pubmed", "efetch_recent_five.xml")
    ids = ["42286177", "42286322", "42286391", "42286178", "42286351"]
    summary = orjson.dumps(
        {"result": {"uids": ids} | {pmid: {"uid": pmid, "title": f"Title {pmid}", "authors": []} for pmid in ids}}
    )
    result = ask(listing(*ids), summary, body, settings=WITH_ABSTRACTS)
    beginnings = {hit.identifiers["pmid"]: text_of(hit)[:60] for hit in result.hits}
    assert beginnings == {
        "42286177": "OBJECTIVE: Though subgroup performance reporting helps ensur",
        "42286322": "Specialized clinical artificial intelligence (AI) tools are ",
        "42286391": "BACKGROUND: Cardiac transthyretin amyloidosis (ATTR-CM) is a",
        "42286178": "Large language models (LLMs) like GPT have been proposed to ",
        "42286351": "PURPOSE: This study aimed to investigate whether the progres",
    }
    assert "includes 99mTc-DPD scintigraphy" in text_of(result.hits[2])
    assert text_of(result.hits[0]).count("\n") == 4
    assert all(hit.snippet is not None and len(hit.snippet) <= 300 for hit in result.hits)


def test_titles_lose_their_markup_and_keep_their_comparison_signs() -> None:
    """NCBI writes markup plain or escaped; `p < 0.05` is neither."""
    hit = ask(fixture("esearch.json"), fixture("esummary.json")).hits[0]
    assert hit.title == "Tinnitus in bell ringers: in vivo levels of CO2 where p < 0.05 & n > 11."


def test_an_article_is_marked_as_retracted_and_its_editors_are_no_authors() -> None:
    """A retraction is a publication type; a group is an author and an editor is not."""
    hit = ask(fixture("esearch.json"), fixture("esummary.json")).hits[0]
    assert hit.extras["is_retracted"] is True
    assert hit.authors == ("Ringer A", "Bell Health Group")
    assert hit.language == "de"
    assert hit.published_at == PublishedAt(value="2007", precision=DatePrecision.YEAR)


def test_a_book_without_abstract_is_named_by_its_book_title_and_promises_no_content() -> None:
    """Empty strings are absent values; a record that says that it has no abstract offers none."""
    hit = ask(fixture("esearch.json"), fixture("esummary.json")).hits[1]
    assert (hit.title, hit.source, hit.language, hit.content) == ("Handbook of Bells", None, None, None)
    assert hit.identifiers == {"pmid": "30000002"}
    assert hit.published_at == PublishedAt(value="2019-11", precision=DatePrecision.MONTH)
    assert hit.extras == {}


def test_a_record_that_cannot_be_described_is_dropped_and_counted() -> None:
    """One summary holds an error, one is missing: two of four ids are dropped and the others stand."""
    result = ask(fixture("esearch.json"), fixture("esummary.json"))
    assert (result.returned_count, result.dropped_count, result.degraded) == (2, 2, None)


def test_records_listed_and_not_described_are_a_degraded_answer() -> None:
    """Errors in place of all summaries do not mean that there is nothing."""
    result = ask(listing("30000001"), fixture("esummary_all_errors.json"))
    assert (result.hits, result.dropped_count) == ((), 1)
    assert result.degraded is not None


def test_records_counted_and_not_listed_are_a_degraded_answer() -> None:
    """A count without ids is an outage and no empty answer."""
    result = ask(fixture("esearch_counted_and_not_listed.json"))
    assert result.hits == ()
    assert result.degraded is not None


def test_nothing_found_costs_one_call_and_names_the_unknown_phrases() -> None:
    """Without ids nothing is described; the caller's own unknown phrases are told."""
    result = ask(fixture("esearch_nothing.json"), query='campanonosis "hum note"')
    assert (result.hits, result.degraded) == ((), None)
    assert result.note == 'PubMed does not know: campanonosis, "hum note"'


def test_a_phrase_that_the_caller_did_not_write_is_only_counted() -> None:
    """Text of an answer is not passed on as a note."""
    result = ask(fixture("esearch_nothing.json"), query="bells")
    assert result.note == "PubMed does not know 2 of the query's phrases"


def test_a_search_backend_that_is_down_is_an_outage() -> None:
    """NCBI says so in a 200, in the place where it also says that a query is wrong."""
    with pytest.raises(ProviderUnavailable):
        ask(fixture("esearch_backend_down.json"))


def test_an_error_in_a_200_that_is_no_rate_limit_is_an_outage() -> None:
    """NCBI's front end answers with an error object when it reaches nobody behind it."""
    with pytest.raises(ProviderUnavailable):
        ask(orjson.dumps({"error": "error forwarding request", "type": "ip", "status": "ok"}))


def test_an_unknown_key_is_told_from_a_bad_query() -> None:
    """Both are a 400; the key is not repeated."""
    body = fixture("key_unknown.json")
    refusals = [answer(body, status=400), answer(body, status=400)]
    with pytest.raises(CredentialsRejected) as raised:
        instance(PROTOCOL, ScriptedTransport(*refusals), key="not-a-real-key").search(
            request("bells", SearchModality.ACADEMIC), scope()
        )
    assert "not-a-real-key" not in raised.value.message
    with pytest.raises(QueryRejected):
        instance(PROTOCOL, ScriptedTransport(answer("Empty id list", status=400))).search(
            request("bells", SearchModality.ACADEMIC), scope()
        )
    with pytest.raises(QueryRejected):
        instance(PROTOCOL, ScriptedTransport(answer(body, status=400))).search(
            request("api key invalid", SearchModality.ACADEMIC), scope()
        )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<html><body>Service down</body></html>", id="html"),
        pytest.param("[]", id="a list"),
        pytest.param("null", id="null"),
        pytest.param('"esearchresult"', id="text"),
        pytest.param("{}", id="no result"),
        pytest.param('{"esearchresult": {"count": "3"}}', id="no ids"),
        pytest.param('{"esearchresult": {"count": "1", "idlist": [null]}}', id="no id"),
        pytest.param('{"esearchresult": {"count": "1", "idlist": ["abc"]}}', id="no number"),
        pytest.param('{"esearchresult": {"count": "1", "idlist": ["1"', id="truncated"),
    ],
)
def test_a_search_answer_of_another_shape_is_malformed(body: str) -> None:
    """What is not the documented answer is never read as an empty one."""
    with pytest.raises(MalformedAnswer):
        ask(body)


@given(position=st.integers(min_value=0, max_value=2100), junk=st.binary(max_size=12))
def test_damaged_summaries_come_to_hits_or_to_a_typed_failure(position: int, junk: bytes) -> None:
    """Whatever a provider sends, nothing but a ProviderError leaves the adapter."""
    body = fixture("esummary.json")
    try:
        result = ask(fixture("esearch.json"), body[:position] + junk + body[position + len(junk) :])
    except ProviderError:
        return
    assert all(hit.url.startswith("https://pubmed.ncbi.nlm.nih.gov/") for hit in result.hits)


@given(position=st.integers(min_value=0, max_value=2900), junk=st.binary(max_size=12))
def test_damaged_records_come_to_text_or_to_a_typed_failure(position: int, junk: bytes) -> None:
    """The same for XML."""
    body = fixture("efetch.xml")
    try:
        loaded = load(body[:position] + junk + body[position + len(junk) :])
    except ProviderError:
        return
    assert loaded.body


def test_an_entity_bomb_in_records_is_refused() -> None:
    """PubMed's own DOCTYPE is read, one that declares entities is not."""
    bomb = '<!DOCTYPE PubmedArticleSet [<!ENTITY a "ding dong"><!ENTITY b "&a;&a;&a;">]><PubmedArticleSet>&b;'
    with pytest.raises(MalformedAnswer):
        load(bomb + "</PubmedArticleSet>")


def test_two_calls_answer_a_search() -> None:
    """esearch by relevance, then esummary in the order of its ids; both say who asks."""
    transport = ScriptedTransport(answer(fixture("esearch.json")), answer(fixture("esummary.json")))
    pubmed = instance(PROTOCOL, transport, extras={"contactEmail": "ops@example.org"})
    pubmed.search(request("bell ringers", SearchModality.ACADEMIC, max_results=7), scope())
    first, second = (sent.request for sent in transport.sent)
    identity = {"db": "pubmed", "retmode": "json", "tool": "zarniwoop", "email": "ops@example.org"}
    assert (first.method, first.url) == ("GET", f"{BASE}/esearch.fcgi")
    assert first.params == identity | {"term": "bell ringers", "retmax": "7", "sort": "relevance"}
    assert (second.method, second.url) == ("GET", f"{BASE}/esummary.fcgi")
    assert second.params == identity | {"id": "30000001,30000002,30000003,30000004"}


def test_no_address_is_sent_when_none_is_set() -> None:
    """`email` is left out and not sent empty."""
    assert "email" not in listed_for("bells")


def test_a_key_travels_beside_the_request_and_never_in_it() -> None:
    """The transport appends the key; request, parameters and URL know nothing of it."""
    transport = ScriptedTransport(answer(fixture("esearch.json")), answer(fixture("esummary.json")))
    instance(PROTOCOL, transport, key="k-123").search(request("bells", SearchModality.ACADEMIC), scope())
    for sent in transport.sent:
        assert sent.authentication == QueryKey(name="api_key")
        assert sent.secret == Secret("k-123")
        assert "k-123" not in repr(sent.request)
        assert "api_key" not in repr(sent.request)


def test_a_search_works_without_a_key() -> None:
    """The key only raises the rate."""
    transport = ScriptedTransport(answer(fixture("esearch.json")), answer(fixture("esummary.json")))
    instance(PROTOCOL, transport).search(request("bells", SearchModality.ACADEMIC), scope())
    assert [sent.secret for sent in transport.sent] == [None, None]


@pytest.mark.parametrize(("count", "method"), [(200, "GET"), (201, "POST")])
def test_a_long_list_of_ids_is_posted(count: int, method: str) -> None:
    """A GET with many ids is answered with 414, so they go into a form."""
    ids = [str(30_000_000 + n) for n in range(count)]
    transport = ScriptedTransport(answer(listing(*ids)), answer(fixture("esummary.json")))
    instance(PROTOCOL, transport).search(request("bells", SearchModality.ACADEMIC, max_results=count), scope())
    sent = transport.sent[1].request
    fields = sent.form if method == "POST" else sent.params
    assert sent.method == method
    assert fields is not None
    assert fields["id"] == ",".join(ids)
    assert (bool(sent.params), sent.form is None) == (method == "GET", method == "GET")


def test_more_results_than_a_json_summary_describes_are_clamped_and_told() -> None:
    """esummary describes at most 500 records in JSON."""
    transport = ScriptedTransport(answer(fixture("esearch_nothing.json")))
    result = instance(PROTOCOL, transport).search(request("b", SearchModality.ACADEMIC, max_results=800), scope())
    assert transport.sent[0].request.params["retmax"] == "500"
    assert result.note is not None
    assert "at most 500" in result.note


def test_wanted_abstracts_cost_a_third_call_and_hang_on_their_hits() -> None:
    """With `abstracts` the records are fetched for all hits at once; a retraction notice marks its article."""
    bodies = [fixture("esearch.json"), fixture("esummary.json"), fixture("efetch.xml")]
    transport = ScriptedTransport(*(answer(body) for body in bodies))
    result = instance(PROTOCOL, transport, extras={"abstracts": "True"}).search(
        request("bells", SearchModality.ACADEMIC), scope()
    )
    article, book = result.hits
    sent = transport.sent[2].request
    assert sent.url == f"{BASE}/efetch.fcgi"
    assert sent.params == {"db": "pubmed", "retmode": "xml", "id": "30000001,30000002", "tool": "zarniwoop"}
    assert text_of(article) == (
        "BACKGROUND: Bells of 120 dB* are rung with p < 0.05 and n > 11.\n"
        "A part without a name.\n"
        "RESULTS: Ears x2 ring."
    )
    assert article.snippet == text_of(article).replace("\n", " ")
    assert (book.content, book.snippet) == (None, None)
    assert article.extras["is_retracted"] is True


def test_a_hit_whose_record_did_not_come_keeps_its_reference() -> None:
    """A record that efetch leaves out is still there to be asked for."""
    bodies = [fixture("esearch.json"), fixture("esummary.json"), fixture("efetch_nothing.xml")]
    hit = ask(*bodies, settings=WITH_ABSTRACTS).hits[0]
    assert hit.content == ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="30000001")


def test_a_retraction_notice_alone_marks_an_article() -> None:
    """The full record knows of a retraction by its notice, even where the publication type was not changed."""
    found = read_records(answer(fixture("efetch.xml")))
    assert (found["30000001"].is_retracted, found["30000002"].is_retracted) == (True, False)
    assert found["30000001"].authors == ("Ringer A", "Bell Health Group", "Clapper")
    assert found["30000002"].authors == ("Founder C",)


def test_content_is_loaded_with_one_call_for_one_record() -> None:
    """`load_content` asks efetch for the PMID of the reference."""
    transport = ScriptedTransport(answer(fixture("efetch.xml")))
    reference = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference="30000001")
    loaded = instance(PROTOCOL, transport).load_content(reference, scope())
    assert [sent.request.params["id"] for sent in transport.sent] == ["30000001"]
    assert loaded.body.decode().startswith(
        "Tinnitus in bell ringers: in vivo levels of CO2.\n\nRinger A, Bell Health Group, Clapper\n\nBACKGROUND: Bells"
    )


@pytest.mark.parametrize("reference", [None, "", "30000001,30000002", "x", "１２"])
def test_a_reference_that_is_no_pmid_is_refused_before_anybody_is_asked(reference: str | None) -> None:
    """A reference comes from outside and names one record or nothing."""
    transport = ScriptedTransport()
    content = ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference)
    with pytest.raises(QueryRejected):
        instance(PROTOCOL, transport).load_content(content, scope())
    assert transport.sent == []


def test_a_record_that_is_gone_cannot_be_loaded() -> None:
    """An empty set for a PMID means that PubMed has no such record."""
    with pytest.raises(QueryRejected):
        load(fixture("efetch_nothing.xml"))


@pytest.mark.parametrize(
    ("key", "settings", "requests", "calls", "interval"),
    [
        (None, {}, 3, 2, 0.5),
        (None, WITH_ABSTRACTS, 3, 3, 0.5),
        ("k", {}, 10, 2, 0.15),
        ("k", WITH_ABSTRACTS, 10, 3, 0.15),
    ],
)
def test_ncbi_is_paced_by_whether_there_is_a_key(
    key: str | None, settings: dict[str, str], requests: int, calls: int, interval: float
) -> None:
    """Three requests a second without a key, ten with one, and half a second of headroom for the way of each."""
    subject = "pubmed@eutils.ncbi.nlm.nih.gov" + (":apiKey" if key else "")
    paced = instance(PROTOCOL, ScriptedTransport(), key=key, extras=settings).pacing(request())
    assert paced == Pacing(subject=subject, requests=requests, seconds=1.0, calls=calls, separate=True)
    assert paced.interval == pytest.approx(interval)


@pytest.mark.parametrize(
    ("query", "term"),
    [
        ("bell ringers", "bell ringers"),
        ('"heart attack"[mh] AND (bells OR chimes)', '"heart attack"[mh] AND (bells OR chimes)'),
        ("bells) OR (cancer", "bells  OR  cancer"),
        ("bells ([mh)]", "bells   mh  "),
        ('the "hum note', "the  hum note"),
        ('a "smile :)" here', 'a "smile :)" here'),
    ],
)
def test_a_query_is_passed_on_unless_its_brackets_or_quotes_lack_a_partner(query: str, term: str) -> None:
    """PubMed's own language is left alone; a broken bracket is taken out, so that it cannot swallow a filter."""
    assert listed_for(query)["term"] == term
    assert listed_for(query, locale=Locale(language="en"))["term"] == f"({term}) AND eng[la]"


@pytest.mark.parametrize("query", ["()", '""', " [ ] ", '"'])
def test_a_query_without_a_word_is_rejected_before_anybody_is_asked(query: str) -> None:
    """Nothing is sent that could only fail."""
    transport = ScriptedTransport()
    with pytest.raises(QueryRejected):
        instance(PROTOCOL, transport).search(request(query, SearchModality.ACADEMIC), scope())
    assert transport.sent == []


def unpaired(term: str) -> str:
    """What is left of a term's structure when quoted text and pairs of brackets are taken away."""
    rest = re.sub(r'[^()\[\]"]', "", re.sub(r'"[^"]*"', "", term))
    while (less := rest.replace("()", "").replace("[]", "")) != rest:
        rest = less
    return rest


@given(query=st.text(max_size=120) | st.text(alphabet='ab()[]" AND', max_size=60))
def test_no_text_of_a_user_can_break_out_of_the_term(query: str) -> None:
    """Any text comes to a term whose quotes and brackets are in pairs, inside the adapter's own bracket."""
    try:
        term = search_fields(request(query, locale=Locale(language="de")))["term"]
    except QueryRejected:
        return
    assert term.startswith("(")
    assert term.endswith(") AND ger[la]")
    assert unpaired(term[1 : -len(") AND ger[la]")]) == ""


@pytest.mark.parametrize(
    ("date_from", "date_to", "window"),
    [
        (date(2024, 1, 2), date(2024, 6, 30), ("2024/01/02", "2024/06/30")),
        (date(2024, 1, 2), None, ("2024/01/02", "3000/12/31")),
        (None, date(2024, 6, 30), ("1800/01/01", "2024/06/30")),
    ],
)
def test_a_date_window_is_asked_of_pubmed(
    date_from: date | None, date_to: date | None, window: tuple[str, str]
) -> None:
    """Publication days, both ends given, since NCBI ignores one without the other."""
    options: dict[str, Any] = {"date_from": date_from, "date_to": date_to}
    sent = listed_for("bells", **options)
    assert (sent["datetype"], sent["mindate"], sent["maxdate"]) == ("pdat", *window)
    result = ask(fixture("esearch.json"), fixture("esummary.json"), **options)
    assert set(handling(result).values()) == {FilterHandling.PROVIDER}
    assert result.returned_count == 2


def test_freshness_is_asked_as_the_window_it_comes_to() -> None:
    """`freshness_days` was resolved before; PubMed sees days, also when it finds nothing."""
    options: dict[str, Any] = {"freshness_days": 30, "published": (date(2026, 7, 1), None)}
    assert listed_for("bells", **options)["mindate"] == "2026/07/01"
    assert handling(ask(fixture("esearch_nothing.json"), **options)) == {"freshness_days": FilterHandling.PROVIDER}


def test_no_dates_are_sent_when_none_are_asked() -> None:
    """Without a window there is no `datetype`."""
    assert listed_for("bells").keys() == {"db", "retmode", "term", "retmax", "sort", "tool"}


def test_a_language_that_ncbi_has_a_code_for_is_asked_and_another_is_ignored_with_a_reason() -> None:
    """NCBI's codes are of three letters; for a language out of the table nothing is sent."""
    german = ask(fixture("esearch.json"), fixture("esummary.json"), locale=Locale(language="de", region="AT"))
    assert handling(german) == {"locale": FilterHandling.PROVIDER}
    assert listed_for("bells", locale=Locale(language="yo"))["term"] == "bells"
    yoruba = ask(fixture("esearch.json"), fixture("esummary.json"), locale=Locale(language="yo"))
    assert handling(yoruba) == {"locale": FilterHandling.IGNORED}
    assert yoruba.applied[0].reason


def test_site_and_domain_are_applied_here_and_a_filetype_is_ignored_with_a_reason() -> None:
    """Every hit is a page of PubMed."""
    bodies = [fixture("esearch.json"), fixture("esummary.json")]
    result = ask(*bodies, site="pubmed.ncbi.nlm.nih.gov", domain="nih.gov", filetype="pdf")
    assert result.returned_count == 2
    assert handling(result) == {
        "site": FilterHandling.HERE,
        "domain": FilterHandling.HERE,
        "filetype": FilterHandling.IGNORED,
    }
    assert ask(*bodies, domain="nature.com").hits == ()


def test_pubmed_declares_itself() -> None:
    """What a planner and the settings form read of the protocol."""
    declared = PROTOCOL.format
    assert PROTOCOL.id() == "pubmed"
    assert PROTOCOL.modalities_supported() == {SearchModality.ACADEMIC}
    assert declared.domains == {SearchDomain.ACADEMIC}
    assert declared.index_family == "pubmed"
    assert (declared.key_required, declared.key_variable) == (False, "NCBI_API_KEY")
    assert [field.name for field in declared.setting_fields] == ["contactEmail", "abstracts"]
    assert "PubMed" in declared.prompt_hint
