"""arXiv's adapter against recorded feeds, fixtures in the same format, and whatever a user may type."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.payloads import payload, recorded
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.arxiv import PROTOCOL
from zarniwoop.adapters.arxiv_query import search_query
from zarniwoop.contract.failure import (
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import DateRange, Locale
from zarniwoop.contract.result import FilterHandling, SearchResult

FIXTURES = Path(__file__).parents[1] / "fixtures" / "arxiv"


def fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def ask(body: bytes | str, query: str = "cathedral bells", *, status: int = 200, **options: Any) -> SearchResult:
    """Put a query to arXiv, which answers with the body."""
    transport = ScriptedTransport(answer(body, status=status))
    return instance(PROTOCOL, transport).search(request(query, SearchModality.ACADEMIC, **options), scope())


def sent_for(query: str, **options: Any) -> dict[str, str]:
    """The parameters of the one request that a query leads to."""
    transport = ScriptedTransport(answer(fixture("academic.xml")))
    instance(PROTOCOL, transport).search(request(query, SearchModality.ACADEMIC, **options), scope())
    assert len(transport.sent) == 1
    return dict(transport.sent[0].request.params)


def handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def test_every_recorded_feed_and_every_fixture_has_a_test() -> None:
    """A recorded answer or a fixture that no test here opens is a hole in the contract."""
    source = Path(__file__).read_text(encoding="utf-8")
    names = [*recorded("arxiv"), *(path.name for path in FIXTURES.iterdir())]
    assert [name for name in names if f'"{name}"' not in source] == []


def test_the_first_page_of_a_search_comes_back_whole_and_in_order() -> None:
    """Ten papers are ten hits, ranked as arXiv ranked them, with the first paper's bibliography as recorded."""
    result = ask(payload("arxiv", "search_page1.xml"), "testing")
    first = result.hits[0]
    assert (result.returned_count, result.dropped_count, result.degraded) == (10, 0, None)
    assert [hit.identifiers["arxiv_id"] for hit in result.hits] == [
        "2202.12139", "2405.13786", "2005.14124", "2204.08348", "2302.03287",
        "1202.4527", "2503.05378", "1205.1866", "2502.07719", "1812.11470",
    ]  # fmt: skip
    assert [hit.rank for hit in result.hits] == list(range(1, 11))
    assert first.title == ("Testing Deep Learning Models: A First Comparative Study of Multiple Testing Techniques")
    assert first.url == "https://arxiv.org/abs/2202.12139"
    assert first.authors == ("Mohit Kumar Ahuja", "Arnaud Gotlieb", "Helge Spieker")
    assert first.identifiers == {"arxiv_id": "2202.12139", "doi": "10.1109/icstw55395.2022.00035"}
    assert first.published_at == PublishedAt(value="2022-02-24T15:05:19Z", precision=DatePrecision.SECOND)
    assert first.extras == {
        "version": 1,
        "updated": "2022-02-24T15:05:19Z",
        "primary_category": "cs.SE",
        "categories": ("cs.SE", "cs.LG"),
        "comment": "Artificial Intelligence in Software Testing 2022 workshop @ ICST 2022",
        "journal_ref": "Artificial Intelligence in Software Testing @ 2022 IEEE International Conference on "
        "Software Testing, Verification and Validation Workshops (ICSTW)",
        "pdf_url": "https://arxiv.org/pdf/2202.12139v1",
    }


def test_a_revised_paper_keeps_its_first_date_and_names_its_version() -> None:
    """The third version of a paper was published when the first was; the revision is told beside it."""
    revised = ask(payload("arxiv", "search_page1.xml"), "testing").hits[3]
    assert revised.url == "https://arxiv.org/abs/2204.08348"
    assert revised.published_at is not None
    assert revised.published_at.value == "2022-04-18T14:46:24Z"
    assert (revised.extras["version"], revised.extras["updated"]) == (3, "2022-07-06T05:12:56Z")


def test_the_second_page_reads_like_the_first() -> None:
    """A later page has the same shape; papers without DOI or journal say nothing of either."""
    result = ask(payload("arxiv", "search_page2.xml"), "testing")
    first, rao, trajectories = result.hits[0], result.hits[3], result.hits[8]
    assert (result.returned_count, result.dropped_count) == (10, 0)
    assert first.title == "The Sample Complexity of Simple Binary Hypothesis Testing"
    assert first.identifiers == {"arxiv_id": "2403.16981"}
    assert first.extras["categories"] == ("math.ST", "cs.IT", "stat.ML")
    assert "journal_ref" not in first.extras
    assert rao.title == "Three Scores and 15 Years (1948-2023) of Rao's Score Test: A Brief History"
    assert rao.authors == ("Anil K. Bera", "Yannis Bilias")
    assert trajectories.identifiers["doi"] == "10.1145/3679006.3685071"


def test_a_single_paper_carries_its_whole_abstract_and_a_clipped_snippet() -> None:
    """The abstract hangs inline on the hit; the snippet is its beginning."""
    hit = ask(payload("arxiv", "id_single.xml"), "1605.08386").hits[0]
    assert hit.title == "Heat-bath random walks with Markov bases"
    assert hit.authors == ("Caprice Stanley", "Tobias Windisch")
    assert hit.extras["comment"] == "20 pages, 3 figures"
    assert hit.content is not None
    assert hit.content.inline is ContentInline.EMBED_TEXT
    assert hit.content.text is not None
    assert hit.content.text.startswith("Graphs on lattice points are studied whose edges come from a finite set")
    assert hit.snippet is not None
    assert hit.snippet.startswith("Graphs on lattice points")
    assert len(hit.snippet) <= 300 < len(hit.content.text)


def test_a_missing_id_of_two_leaves_the_other() -> None:
    """arXiv passes over an id that does not exist; the paper that does exist is the answer."""
    result = ask(payload("arxiv", "id_list_two.xml"), "0808.05394, 1707.08567")
    hit = result.hits[0]
    assert (result.returned_count, result.dropped_count) == (1, 0)
    assert hit.title == "Proceedings of Workshop AEW10: Concepts in Information Theory and Communications"
    assert (len(hit.authors), hit.authors[0], hit.authors[-1]) == (34, "Kees A. Schouhamer Immink", "Hirosuke Yamamoto")
    assert hit.extras["primary_category"] == "cs.IT"
    assert hit.snippet is not None
    assert hit.snippet.startswith('The 10th Asia-Europe workshop in "Concepts in Information Theory')


def test_an_old_id_keeps_its_archive_and_comparison_signs_stay_in_the_abstract() -> None:
    """`astro-ph/0601001` is a whole id, and `V_max<17.5` is no tag."""
    hit = ask(payload("arxiv", "id_old_style_astroph.xml"), "astro-ph/0601001").hits[0]
    assert hit.url == "https://arxiv.org/abs/astro-ph/0601001"
    assert hit.identifiers == {"arxiv_id": "astro-ph/0601001"}
    assert hit.authors == ("Andrew Gould", "Susan Dorsher", "B. Scott Gaudi", "Andrzej Udalski")
    assert hit.extras["journal_ref"] == "ActaAstron.56:1-50,2006"
    assert hit.published_at is not None
    assert hit.published_at.value == "2006-01-02T14:57:58Z"
    assert hit.content is not None
    assert hit.content.text is not None
    assert hit.content.text.startswith("We derive the frequencies of hot Jupiters (HJs) with 3--5 day periods")
    assert "V_max<17.5. Hence, the frequencies" in hit.content.text
    assert "(1/310)(1^{+1.39}_{-0.59})" in hit.content.text


def test_an_old_id_with_a_version_is_read_without_it() -> None:
    """The identifier is bare; the version is told beside it."""
    hit = ask(payload("arxiv", "id_old_style_quantph.xml"), "quant-ph/0201082v1").hits[0]
    assert hit.title == (
        "Quantum Computers and Quantum Computer Languages: Quantum Assembly Language and Quantum C Language"
    )
    assert hit.identifiers == {"arxiv_id": "quant-ph/0201082"}
    assert hit.url == "https://arxiv.org/abs/quant-ph/0201082"
    assert hit.authors == ("Stephen Blaha",)
    assert (hit.extras["version"], hit.extras["categories"]) == (1, ("quant-ph", "cs.PL"))
    assert hit.extras["pdf_url"] == "https://arxiv.org/pdf/quant-ph/0201082v1"


@pytest.mark.parametrize("name", ["empty_unknown_id.xml", "id_nonexistent_well_formed.xml"])
def test_a_feed_without_entries_is_an_empty_answer(name: str) -> None:
    """Nothing found is no failure and nothing is wrong with the provider."""
    result = ask(payload("arxiv", name), "0000.0000")
    assert (result.hits, result.dropped_count, result.degraded) == ((), 0, None)


@pytest.mark.parametrize("status", [400, 200])
def test_the_recorded_error_feed_is_a_failure_and_never_a_paper(status: int) -> None:
    """arXiv's error is a feed with one entry; its status was 200 for years and is 400 since."""
    with pytest.raises(QueryRejected) as raised:
        ask(payload("arxiv", "error_bad_id_400.xml"), status=status)
    assert raised.value.status == status
    assert "abc" not in raised.value.message


@pytest.mark.parametrize("status", [400, 200])
def test_words_of_the_query_in_an_error_feed_are_not_read_as_a_used_up_plan(status: int) -> None:
    """The error repeats what was asked; a query about quotas is still a rejected query."""
    with pytest.raises(QueryRejected):
        ask(fixture("error.xml"), "quota exceeded", status=status)


def test_rate_exceeded_is_a_rate_limit() -> None:
    """The recorded 429 is plain text; what the provider says of the wait is kept."""
    body = answer(payload("arxiv", "rate_exceeded_429.txt"), status=429, headers={"retry-after": "7"})
    with pytest.raises(RateLimited) as raised:
        instance(PROTOCOL, ScriptedTransport(body)).search(request("bells", SearchModality.ACADEMIC), scope())
    assert raised.value.retry_after == 7.0


def test_a_server_error_is_an_outage() -> None:
    """A 503 without words about the rate says that arXiv is down."""
    with pytest.raises(ProviderUnavailable):
        ask("<html>backend down</html>", status=503)


def test_white_space_markup_characters_and_plain_http_are_tidied() -> None:
    """A title broken over two lines is one line, `<` stays what it is, and links are https."""
    hit = ask(fixture("academic.xml")).hits[0]
    assert hit.title == "On the partials of cathedral bells with $r < 1$ and q > 2"
    assert hit.snippet == (
        "We measure the partials of twelve bells. The hum note lies below the prime in all with p < 0.05 and n > 11."
    )
    assert hit.authors == ("Ada Ringer", "Bo Clapper")
    assert hit.identifiers == {"arxiv_id": "2401.04242", "doi": "10.5555/jcamp.2024.3"}
    assert hit.extras["pdf_url"] == "https://arxiv.org/pdf/2401.04242v2"
    assert hit.source == "arXiv"


def test_a_malformed_entry_is_dropped_and_counted_and_costs_no_other() -> None:
    """An entry without title and one without arXiv id are no hits; a bare entry still is one."""
    result = ask(fixture("academic.xml"))
    bare = result.hits[1]
    assert (result.returned_count, result.dropped_count) == (2, 2)
    assert bare.url == "https://arxiv.org/abs/hep-th/9901001"
    assert (bare.content, bare.snippet, bare.authors) == (None, None, ())
    assert bare.extras == {"updated": "1999-01-01T00:00:00Z"}


def test_papers_counted_and_not_sent_are_a_degraded_answer() -> None:
    """arXiv now and then counts hits and sends an empty page; that does not mean that there is nothing."""
    result = ask(fixture("counted_and_not_sent.xml"))
    assert result.hits == ()
    assert result.degraded is not None


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<!doctype html><html><body>Search is <b>down</body></html>", id="html"),
        pytest.param("<html xmlns='http://www.w3.org/1999/xhtml'><body/></html>", id="xhtml"),
        pytest.param("<rss version='2.0'><channel/></rss>", id="another feed"),
        pytest.param("<feed><entry/></feed>", id="no namespace"),
        pytest.param("", id="nothing"),
        pytest.param('{"feed": {"entry": []}}', id="json"),
    ],
)
def test_what_is_no_atom_feed_is_a_malformed_answer(body: str) -> None:
    """A page, another format or nothing at all is never read as an empty answer."""
    with pytest.raises(MalformedAnswer):
        ask(body)


def test_an_entity_bomb_is_refused() -> None:
    """A document that declares entities is not expanded."""
    with pytest.raises(MalformedAnswer):
        ask(fixture("entity_bomb.xml"))


@given(end=st.integers(min_value=0, max_value=2600))
def test_a_truncated_feed_is_a_malformed_answer(end: int) -> None:
    """However much of the feed is missing, what came is no answer."""
    body = fixture("academic.xml").rstrip()
    with pytest.raises(MalformedAnswer):
        ask(body[: min(end, len(body) - 1)])


@given(position=st.integers(min_value=0, max_value=2600), junk=st.binary(max_size=12))
def test_a_damaged_feed_comes_to_hits_or_to_a_typed_failure(position: int, junk: bytes) -> None:
    """Whatever a provider sends, nothing but a ProviderError leaves the adapter."""
    body = fixture("academic.xml")
    try:
        result = ask(body[:position] + junk + body[position + len(junk) :])
    except ProviderError:
        return
    assert all(hit.url.startswith("https://arxiv.org/abs/") for hit in result.hits)


def test_one_get_asks_for_every_word_in_its_field_by_relevance() -> None:
    """The request as arXiv's manual documents it, without quotes, which would cost recall."""
    transport = ScriptedTransport(answer(fixture("academic.xml")))
    instance(PROTOCOL, transport).search(request("cathedral bells", SearchModality.ACADEMIC, max_results=7), scope())
    sent = transport.sent[0]
    assert len(transport.sent) == 1
    assert (sent.request.method, sent.request.url) == ("GET", "https://export.arxiv.org/api/query")
    assert sent.request.params == {
        "search_query": "all:cathedral AND all:bells",
        "start": "0",
        "max_results": "7",
        "sortBy": "relevance",
        "sortOrder": "descending",
    }
    assert (sent.authentication, sent.secret) == (None, None)


def test_another_base_url_is_asked_and_paced_as_its_own_host() -> None:
    """A mirror has its own rate."""
    transport = ScriptedTransport(answer(fixture("academic.xml")))
    mirror = instance(PROTOCOL, transport, base_url="https://mirror.test/api/")
    mirror.search(request("bells", SearchModality.ACADEMIC), scope())
    assert transport.sent[0].request.url == "https://mirror.test/api/query"
    assert mirror.pacing(request()) == Pacing(subject="arxiv@mirror.test", requests=1, seconds=3.0, exclusive=True)


def test_arxiv_is_asked_once_in_three_seconds() -> None:
    """The API's terms: one request every three seconds, for everybody who asks that host."""
    paced = instance(PROTOCOL, ScriptedTransport()).pacing(request())
    assert paced == Pacing(subject="arxiv@export.arxiv.org", requests=1, seconds=3.0, exclusive=True)
    assert paced.interval == 3.0


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("non-invasive imaging", "all:non AND all:invasive AND all:imaging"),
        ('"quantum error" correction)', 'all:"quantum error" AND all:correction'),
        ('au:"Del Maestro" AND ti:"checkerboard"', 'au:"del maestro" AND ti:checkerboard'),
        ('au: “Del Maestro”', 'au:"del maestro"'),
        ('ti:"error-correcting (codes): a*b"', 'ti:"error correcting codes a b"'),
        ('abs:"This AND that OR not" bells', 'abs:"this and that or not" AND all:bells'),
        ('bells NOT au:"Del Maestro" NOT "tower clock"', "all:bells"),
        ('bells "tower clock', "all:bells AND all:tower AND all:clock"),
        ('bells au:"Del Maestro', "all:bells AND au:del AND all:maestro"),
        ('"tower clock" bells"', 'all:"tower clock" AND all:bells'),
        ('"" bells "-"', "all:bells"),
        ('cat:"cs.LG" bells', "cat:cs.LG AND all:bells"),
        ("what is the role of bells", "all:role AND all:bells"),
        ("what is it", "all:what AND all:is AND all:it"),
        ("bells and Bells", "all:bells"),
        ("bells AND towers", "all:bells AND all:towers"),
        ("bells OR chimes", "all:bells AND all:chimes"),
        ("bells NOT whistles ANDNOT horns", "all:bells"),
        ("au:Hinton ti:dropout cat:cs.LG", "au:hinton AND ti:dropout AND cat:cs.LG"),
        ("cat:astro-ph.CO id:1234", "cat:astro-ph.CO AND all:id AND all:1234"),
        ("submittedDate:[1 TO 2]", "all:submitteddate AND all:1 AND all:2"),
        ("Poincaré 猜想", "all:poincaré AND all:猜想"),
    ],
)  # fmt: skip
def test_a_query_is_put_into_arxivs_language(query: str, asked: str) -> None:
    """Hyphens, brackets and operators mean something else to arXiv, so only words and phrases pass."""
    assert sent_for(query)["search_query"] == asked


def test_an_or_is_told_of_as_one_that_arxiv_does_not_get() -> None:
    """All words are asked for."""
    (told,) = ask(fixture("academic.xml"), "bells OR chimes").applied
    assert (told.name, told.handling) == ("or", "ignored")


@pytest.mark.parametrize("query", ["bells NOT whistles", "bells ANDNOT whistles", "OR bells"])
def test_an_operator_that_was_not_asked_is_told(query: str) -> None:
    """The caller learns that OR and NOT did not mean what they wrote."""
    note = ask(fixture("academic.xml"), query).note
    assert note is not None
    assert "OR was read as AND" in note


@pytest.mark.parametrize("query", ['"bells OR chimes"', 'au:"Del Maestro" ti:bells', '"NOT bells"'])
def test_a_phrase_is_asked_as_it_stands_and_comes_without_a_note(query: str) -> None:
    """Inside quotes an operator is a word."""
    assert ask(fixture("academic.xml"), query).note is None


def test_a_lonely_quotation_mark_is_told() -> None:
    """What it was to hold together was asked word by word."""
    note = ask(fixture("academic.xml"), 'bells "tower clock').note
    assert note is not None
    assert "quotation mark without its partner" in note


def test_a_plain_query_comes_without_a_note() -> None:
    """Lower-case words are words."""
    assert ask(fixture("academic.xml"), "this and that or not").note is None


@pytest.mark.parametrize("query", ['")(', "—", "NOT bells"])
def test_a_query_without_a_word_is_rejected_before_anybody_is_asked(query: str) -> None:
    """Nothing is sent that could only fail."""
    transport = ScriptedTransport()
    with pytest.raises(QueryRejected):
        instance(PROTOCOL, transport).search(request(query, SearchModality.ACADEMIC), scope())
    assert transport.sent == []


@given(query=st.text(max_size=120) | st.text(alphabet='ab AND OR NOT():"[]-*?\\\n&', max_size=80))
def test_no_text_of_a_user_can_break_the_query(query: str) -> None:
    """Any text comes to clauses of a word or phrase joined by AND and one date window, or to a rejected query."""
    window = DateRange(earliest=date(2024, 1, 2), latest=None)
    try:
        asked = search_query(query, window)
    except QueryRejected:
        return
    *clauses, submitted = re.split(r" AND (?=[a-zA-Z]+:)", asked)
    assert submitted == "submittedDate:[202401020000 TO 299912312359]"
    assert clauses
    for clause in clauses:
        assert re.fullmatch(r'(?:all|ti|au|abs|co|jr|rn):(?:\w+|"\w+(?: \w+)+")|cat:\w+(?:[.-]\w+)*', clause)
        assert clause.partition(":")[2] not in ("AND", "OR", "ANDNOT", "NOT", "TO")


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("2301.00001", "2301.00001"),
        (" arXiv:2301.00001v2 ", "2301.00001v2"),
        ("https://arxiv.org/abs/hep-th/9901001", "hep-th/9901001"),
        ("http://arxiv.org/pdf/2301.00001v1.pdf", "2301.00001v1"),
        ("https://doi.org/10.48550/arXiv.2301.00001", "2301.00001"),
        ("2301.00001, math.GT/0309136", "2301.00001,math.GT/0309136"),
    ],
)
def test_a_query_of_ids_is_asked_as_ids(query: str, ids: str) -> None:
    """An id, its URL or its DOI finds that paper and no paper that mentions the number."""
    params = sent_for(query)
    assert params["id_list"] == ids
    assert "search_query" not in params


@pytest.mark.parametrize("query", ["2301.00001 bells", "3.14159", "10.1109/5.771073"])
def test_an_id_among_words_is_a_word(query: str) -> None:
    """Only a query that is nothing but ids is asked as ids."""
    assert "id_list" not in sent_for(query)


@pytest.mark.parametrize(
    ("date_from", "date_to", "window"),
    [
        (date(2024, 1, 1), date(2024, 6, 30), "[202401010000 TO 202406302359]"),
        (date(2024, 1, 1), None, "[202401010000 TO 299912312359]"),
        (None, date(2024, 6, 30), "[198501010000 TO 202406302359]"),
    ],
)
def test_a_date_window_is_asked_of_arxiv(date_from: date | None, date_to: date | None, window: str) -> None:
    """Both days count whole; an open end is filled, since arXiv takes none."""
    options: dict[str, Any] = {"date_from": date_from, "date_to": date_to}
    assert sent_for("bells", **options)["search_query"] == f"all:bells AND submittedDate:{window}"
    result = ask(fixture("academic.xml"), "bells", **options)
    assert set(handling(result).values()) == {FilterHandling.PROVIDER}


def test_freshness_is_asked_as_the_window_it_comes_to() -> None:
    """`freshness_days` was resolved before; arXiv sees days."""
    options: dict[str, Any] = {"freshness_days": 30, "published": (date(2026, 7, 1), None)}
    assert sent_for("bells", **options)["search_query"].endswith("submittedDate:[202607010000 TO 299912312359]")
    assert handling(ask(fixture("academic.xml"), **options)) == {"freshness_days": FilterHandling.PROVIDER}


def test_a_date_window_on_ids_is_applied_here() -> None:
    """Ids are asked as they are; a paper outside the window is dropped from the answer."""
    options: dict[str, Any] = {"date_from": date(2020, 1, 1)}
    assert "search_query" not in sent_for("2401.04242 hep-th/9901001", **options)
    result = ask(fixture("academic.xml"), "2401.04242 hep-th/9901001", **options)
    assert [hit.identifiers["arxiv_id"] for hit in result.hits] == ["2401.04242"]
    assert handling(result) == {"date_from": FilterHandling.HERE}


def test_site_and_domain_are_applied_here_and_the_rest_is_ignored_with_a_reason() -> None:
    """Every hit is on arxiv.org, so its site filter keeps all and another one none."""
    result = ask(
        fixture("academic.xml"), site="arxiv.org/abs", domain="arxiv.org", filetype="pdf", locale=Locale(language="de")
    )
    assert result.returned_count == 2
    assert handling(result) == {
        "site": FilterHandling.HERE,
        "domain": FilterHandling.HERE,
        "filetype": FilterHandling.IGNORED,
        "locale": FilterHandling.IGNORED,
    }
    assert all(entry.reason for entry in result.applied if entry.handling is FilterHandling.IGNORED)
    assert ask(fixture("academic.xml"), domain="nature.com").hits == ()


def test_arxiv_declares_itself() -> None:
    """What a planner and the settings form read of the protocol."""
    declared = PROTOCOL.format
    assert PROTOCOL.id() == "arxiv"
    assert PROTOCOL.modalities_supported() == {SearchModality.ACADEMIC}
    assert declared.domains == {SearchDomain.ACADEMIC}
    assert declared.index_family == "arxiv"
    assert declared.authentication is None
    assert "arXiv" in declared.prompt_hint
