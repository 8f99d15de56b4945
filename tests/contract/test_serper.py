"""Serper: every recorded answer, the questions that are put to it, and what its failures mean."""

import re
from datetime import date

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.keys import FakeKeyRing
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.serper import PROTOCOL
from zarniwoop.contract.failure import CredentialsRejected, MalformedAnswer, QueryRejected, QuotaExhausted
from zarniwoop.contract.hit import DatePrecision, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.quota import QuotaSource
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, Secret

_KEY = "a-key-of-serper"


def _search(asked: SearchRequest, *answers: HttpAnswer) -> tuple[SearchResult, ScriptedTransport]:
    transport = ScriptedTransport(*answers)
    return instance(PROTOCOL, transport, key=_KEY).search(asked, scope()), transport


def _read(body: bytes, modality: SearchModality, *, status: int = 200) -> SearchResult:
    return _search(request(modality=modality), answer(body, status=status))[0]


def _fixture(name: str) -> HttpAnswer:
    return answer(fixture("serper", name))


def _page(count: int, *, first: int = 1) -> HttpAnswer:
    numbers = range(first, first + count)
    items = [{"title": f"Page {number}", "link": f"https://pages.example/{number}"} for number in numbers]
    return answer({"searchParameters": {"q": "bells", "type": "search"}, "organic": items})


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def _day(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.DAY)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("serper", __file__) == []


def test_web_results_of_apple_are_read_with_the_knowledge_panel_on_the_first() -> None:
    """The panel's text is an extra of the first hit, never a hit of its own."""
    result = _read(payload("serper", "search_apple.json"), SearchModality.WEB)
    assert [hit.url for hit in result.hits] == [
        "https://www.apple.com/",
        "https://en.wikipedia.org/wiki/Apple_Inc.",
        "https://www.britannica.com/topic/Apple-Inc",
        "https://www.bloomberg.com/quote/AAPL:US",
        "https://finance.yahoo.com/quote/AAPL/profile/",
        "https://finance.yahoo.com/quote/AAPL",
    ]
    assert [hit.rank for hit in result.hits] == [1, 2, 3, 4, 5, 6]
    first, second, *_ = result.hits
    assert (first.title, first.source, first.published_at) == ("Apple", "www.apple.com", None)
    assert first.snippet is not None
    assert first.snippet.startswith("Discover the innovative world of Apple")
    assert first.extras["knowledge_graph"].startswith("Apple Inc. is an American multinational technology company")
    assert "knowledge_graph" not in second.extras
    assert second.extras["image_url"].startswith("https://encrypted-tbn0.gstatic.com/images?q=tbn:ANd9GcRvmB5")
    assert result.dropped_count == 0
    assert result.note == "Google gave 6 of the 10 results asked for"


def test_the_documented_web_example_is_read() -> None:
    result = _read(payload("serper", "doc_search_google.json"), SearchModality.WEB)
    assert [(hit.title, hit.url) for hit in result.hits] == [
        ("Google", "https://www.google.com/?gws_rd=ssl"),
        ("Google Search - Stay in the Know with Your Google App", "https://www.google.com/search/about/"),
    ]
    assert "92% share" in result.hits[0].extras["knowledge_graph"]


def test_images_of_lions_are_read_with_page_picture_and_size() -> None:
    """The hit's URL is the page that shows the picture; the picture itself is an extra."""
    result = _read(payload("serper", "images_lion.json"), SearchModality.IMAGE)
    assert (result.returned_count, result.dropped_count, result.note) == (10, 0, None)
    third = result.hits[2]
    assert third.title == "African lion, facts and photos"
    assert third.url == "https://www.nationalgeographic.com/animals/mammals/facts/african-lion"
    assert third.source == "National Geographic"
    picture = "https://i.natgeofe.com/n/487a0d69-8202-406f-a6a0-939ed3704693/african-lion.JPG"
    assert (third.extras["image_url"], third.extras["width"], third.extras["height"]) == (picture, 3072, 2043)


def test_the_documented_image_example_is_read() -> None:
    (hit,) = _read(payload("serper", "doc_images.json"), SearchModality.IMAGE).hits
    assert (hit.title, hit.url) == ("Lion - Wikipedia", "https://en.wikipedia.org/wiki/Lion")
    thumbnail = "https://encrypted-tbn0.gstatic.com/images?q=tbn:ANd9GcSnAzLj56y8example"
    assert (hit.extras["thumbnail_url"], hit.extras["width"]) == (thumbnail, 1200)


def test_news_of_tesla_keep_their_relative_dates_as_text() -> None:
    """ "5 mins ago" is no date without a clock, and an adapter has none."""
    result = _read(payload("serper", "news_tesla.json"), SearchModality.NEWS)
    assert result.returned_count == 9
    first = result.hits[0]
    assert first.title == "ISS recommends Tesla investors vote against re-election of Robyn Denholm"
    assert (first.source, first.published_at, first.extras["date_text"]) == ("Reuters", None, "5 mins ago")
    assert [hit.extras["date_text"] for hit in result.hits][1:4] == ["1 day ago", "6 hours ago", "4 hours ago"]


def test_news_of_the_last_hour_are_read() -> None:
    result = _read(payload("serper", "news_tesla_last_hour.json"), SearchModality.NEWS)
    assert [hit.source for hit in result.hits] == [
        "Reuters",
        "Revista Transportes y Turismo",
        "THE BHARAT EXPRESS NEWS",
    ]
    assert result.hits[1].url == (
        "https://www.tyt.com.mx/nota/ryder-lanza-solucion-llave-en-mano-para-vehiculos-electricos-en-eu"
    )


def test_the_documented_news_example_is_read() -> None:
    (hit,) = _read(payload("serper", "doc_news.json"), SearchModality.NEWS).hits
    assert hit.url == "https://scr.zacks.com/news/news-details/2024/ALAR-example"
    assert (hit.source, hit.extras["date_text"]) == ("Zacks Small Cap Research", "2 weeks ago")


def test_scholar_results_are_works_with_authors_venue_year_and_citations() -> None:
    first, second = _read(payload("serper", "doc_scholar.json"), SearchModality.ACADEMIC).hits
    assert first.url == "https://proceedings.neurips.cc/paper/7181-attention-is-all"
    assert first.authors == ("A Vaswani", "N Shazeer", "N Parmar")
    assert first.published_at == PublishedAt(value="2017", precision=DatePrecision.YEAR)
    assert first.extras == {"cited_by": 119097, "venue": "Advances in neural …"}
    assert second.authors == ("C Subakan", "M Ravanelli", "S Cornell")
    assert second.extras == {"cited_by": 429, "venue": "ICASSP 2021"}


@pytest.mark.parametrize("name", ["doc_shopping.json", "doc_autocomplete.json"])
def test_an_answer_of_another_kind_of_search_is_malformed(name: str) -> None:
    """Neither a shopping page nor suggestions may pass for an empty page of web results."""
    with pytest.raises(MalformedAnswer):
        _read(payload("serper", name), SearchModality.WEB)


@pytest.mark.parametrize("name", ["error_403_unauthorized.json", "error_403_unauthorized_2026.json"])
def test_a_403_that_says_unauthorized_is_a_matter_of_the_key(name: str) -> None:
    with pytest.raises(CredentialsRejected):
        _read(payload("serper", name), SearchModality.WEB, status=403)


def test_a_400_that_says_not_enough_credits_is_an_exhausted_plan() -> None:
    with pytest.raises(QuotaExhausted):
        _read(payload("serper", "error_400_not_enough_credits.json"), SearchModality.WEB, status=400)


def test_not_enough_credits_in_a_200_is_an_exhausted_plan_too() -> None:
    """The same body under status 200, as one client reports it."""
    with pytest.raises(QuotaExhausted):
        _search(request(), _fixture("error_400_credits.json"))


def test_a_search_for_the_words_of_an_exhausted_plan_is_an_ordinary_search() -> None:
    """What a page says about credits says nothing about ours."""
    body = {"searchParameters": {"q": "not enough credits", "type": "search"}, "message": "Not enough credits"}
    result, _ = _search(request("not enough credits"), answer(body))
    assert (result.hits, result.error_message) == ((), None)


def test_the_404_of_the_other_host_rejects_the_query() -> None:
    with pytest.raises(QueryRejected):
        _read(payload("serper", "error_404_api_host.json"), SearchModality.WEB, status=404)


@pytest.mark.parametrize(
    ("modality", "count"),
    [("WEB", 2), ("PDF", 2), ("IMAGE", 2), ("VIDEO", 2), ("NEWS", 2), ("ACADEMIC", 3)],
)
def test_every_modality_has_an_answer_of_its_own(modality: str, count: int) -> None:
    result, _ = _search(request(modality=SearchModality(modality)), _fixture(f"{modality.lower()}.json"))
    assert len(result.hits) == count
    assert {hit.modality for hit in result.hits} == {SearchModality(modality)}


def test_a_malformed_item_or_a_script_link_is_dropped_and_counted() -> None:
    result, _ = _search(request(), _fixture("web.json"))
    assert result.dropped_count == 2
    first, second = result.hits
    assert (first.title, first.snippet) == ("Cathedral bells & their makers", "How a bell is cast.")
    assert first.published_at == _day("2023-01-29")
    assert first.extras == {
        "knowledge_graph": "A bell hung in a church & rung by rope.",
        "answer_box": "24 tonnes",
    }
    assert (second.snippet, second.extras) == (None, {"date_text": "3 days ago"})


def test_a_video_carries_channel_length_and_day() -> None:
    first = _search(request(modality=SearchModality.VIDEO), _fixture("video.json"))[0].hits[0]
    assert (first.source, first.published_at) == ("YouTube", _day("2022-06-04"))
    assert first.extras == {
        "duration": "3:53",
        "channel": "Tower Captains",
        "image_url": "https://thumbs.example/b311",
    }


def test_a_picture_inlined_as_data_is_no_link() -> None:
    second = _search(request(modality=SearchModality.IMAGE), _fixture("image.json"))[0].hits[1]
    assert second.extras == {}


def test_news_with_a_written_day_carry_it() -> None:
    second = _search(request(modality=SearchModality.NEWS), _fixture("news.json"))[0].hits[1]
    assert second.published_at == _day("2017-05-12")


def _works() -> tuple[SearchHit, ...]:
    return _search(request(modality=SearchModality.ACADEMIC), _fixture("academic.json"))[0].hits


def test_a_scholar_work_on_arxiv_carries_its_identifier_and_pdf() -> None:
    first = _works()[0]
    assert first.identifiers == {"arxiv_id": "1905.01234"}
    assert first.authors == ("A Tailor", "B Ringer", "C Founder")
    assert first.extras["venue"] == "Journal of Bells - Series B"
    assert first.extras["pdf_url"] == "https://arxiv.org/pdf/1905.01234"


def test_a_scholar_work_without_a_venue_or_a_year_has_none() -> None:
    _, book, note = _works()
    assert (book.authors, book.published_at) == (
        ("JC Robinson", "VG Saúco"),
        PublishedAt(value="2010", precision=DatePrecision.YEAR),
    )
    assert (note.authors, note.published_at) == (("P Anon",), None)
    assert book.extras == note.extras == {}


@pytest.mark.parametrize(
    ("modality", "path", "body"),
    [
        ("WEB", "search", {"q": "bells", "num": 10, "page": 1}),
        ("PDF", "search", {"q": "filetype:pdf bells", "num": 10, "page": 1}),
        ("IMAGE", "images", {"q": "bells", "num": 10, "page": 1}),
        ("VIDEO", "videos", {"q": "bells", "num": 10, "page": 1}),
        ("NEWS", "news", {"q": "bells", "num": 10, "page": 1}),
        ("ACADEMIC", "scholar", {"q": "bells", "page": 1}),
    ],
)
def test_each_modality_is_asked_at_its_own_path(modality: str, path: str, body: dict[str, object]) -> None:
    asked = request("bells", SearchModality(modality))
    _, transport = _search(asked, _fixture(f"{modality.lower()}.json"))
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("POST", f"https://google.serper.dev/{path}")
    assert (sent.request.json, sent.request.params) == (body, {})


def test_the_key_goes_to_the_transport_and_never_into_the_request() -> None:
    _, transport = _search(request(), _fixture("web.json"))
    (sent,) = transport.sent
    assert (sent.authentication, sent.secret) == (HeaderKey(name="X-API-KEY"), Secret(_KEY))
    assert _KEY not in repr(sent.request)


def test_a_search_without_a_saved_key_is_refused_before_anybody_is_asked() -> None:
    transport = ScriptedTransport()
    config = ProviderInstanceConfig(
        instance_id="serper-main",
        protocol_id="serper",
        base_url=None,
        credential_key="apiKey",
        transport=transport,
        keys=FakeKeyRing(),
        clock=scope().deadline.clock,
    )
    with pytest.raises(CredentialsRejected):
        PROTOCOL.instantiate(config).search(request(), scope())
    assert transport.sent == []


def test_site_filetype_dates_and_locale_are_translated_on_the_web() -> None:
    asked = request(
        "bells",
        locale=Locale(language="de", region="AT"),
        site="arxiv.org/abs",
        filetype="html",
        date_from=date(2024, 1, 5),
        date_to=date(2024, 12, 31),
    )
    result, transport = _search(asked, _fixture("web.json"))
    assert transport.sent[0].request.json == {
        "q": "filetype:html site:arxiv.org/abs bells",
        "num": 10,
        "page": 1,
        "tbs": "cdr:1,cd_min:1/5/2024,cd_max:12/31/2024",
        "hl": "de",
        "gl": "at",
    }
    assert _handling(result) == dict.fromkeys(
        ("site", "filetype", "date_from", "date_to", "locale"), FilterHandling.PROVIDER
    )
    assert result.hits == ()  # they lie elsewhere


def test_freshness_is_asked_as_the_window_it_was_resolved_to() -> None:
    asked = request("bells", SearchModality.NEWS, freshness_days=7, published=(date(2027, 1, 8), None))
    result, transport = _search(asked, _fixture("news.json"))
    assert transport.sent[0].request.json["tbs"] == "cdr:1,cd_min:1/8/2027"
    assert _handling(result) == {"freshness_days": FilterHandling.PROVIDER}


def test_a_domain_beside_a_site_is_applied_here() -> None:
    """Google would look for pages on both at once, so only the narrower `site` is asked of it."""
    result, transport = _search(request("bells", site="bells.example", domain="example"), _fixture("web.json"))
    assert transport.sent[0].request.json["q"] == "site:bells.example bells"
    assert _handling(result) == {"site": FilterHandling.PROVIDER, "domain": FilterHandling.HERE}


def test_a_domain_alone_is_asked_as_a_site() -> None:
    result, transport = _search(request("bells", domain="nature.com"), _fixture("web.json"))
    assert transport.sent[0].request.json["q"] == "site:nature.com bells"
    assert _handling(result) == {"domain": FilterHandling.PROVIDER}


def test_scholar_dates_and_filetypes_are_applied_here() -> None:
    """Scholar has no documented parameter for either."""
    asked = request("bells", SearchModality.ACADEMIC, date_from=date(2015, 1, 1), locale=Locale(language="fr"))
    result, transport = _search(asked, _fixture("academic.json"))
    assert transport.sent[0].request.json == {"q": "bells", "page": 1, "hl": "fr"}
    assert _handling(result) == {"date_from": FilterHandling.HERE, "locale": FilterHandling.PROVIDER}
    assert [hit.title for hit in result.hits] == ["Acoustics of cathedral bells"]


def test_a_pdf_search_needs_no_second_filetype() -> None:
    result, transport = _search(request("bells", SearchModality.PDF, filetype="pdf"), _fixture("pdf.json"))
    assert transport.sent[0].request.json["q"] == "filetype:pdf bells"
    assert _handling(result) == {"filetype": FilterHandling.PROVIDER}
    assert len(result.hits) == 2


def test_no_pdf_is_a_word_document() -> None:
    result, transport = _search(request("bells", SearchModality.PDF, filetype="docx"), _fixture("pdf.json"))
    assert transport.sent[0].request.json["q"] == "filetype:pdf bells"
    assert (_handling(result), result.hits) == ({"filetype": FilterHandling.HERE}, ())


def test_as_many_pages_are_read_as_the_results_need() -> None:
    """A page of nine is not the last: Google often gives fewer than ten."""
    result, transport = _search(request(max_results=20), _page(9), _page(10, first=10))
    assert [sent.request.json["page"] for sent in transport.sent] == [1, 2]
    assert [hit.url for hit in result.hits] == [f"https://pages.example/{number}" for number in range(1, 20)]
    assert result.note == "Google gave 19 of the 20 results asked for"


def test_ten_results_cost_one_page_even_when_it_holds_nine() -> None:
    result, transport = _search(request(max_results=10), _page(9))
    assert (len(transport.sent), result.returned_count) == (1, 9)


def test_no_more_than_three_pages_are_read_and_the_note_says_what_is_missing() -> None:
    result, transport = _search(request(max_results=50), _page(10), _page(10, first=11), _page(10, first=21))
    assert (len(transport.sent), result.returned_count) == (3, 30)
    assert result.note == "Google gave 30 of the 50 results asked for"


def test_a_short_page_is_the_last() -> None:
    result, transport = _search(request(max_results=30), _page(4))
    assert (len(transport.sent), result.returned_count) == (1, 4)


def test_many_images_come_on_one_page_of_a_hundred() -> None:
    _, transport = _search(request(modality=SearchModality.IMAGE, max_results=40), _fixture("image.json"))
    assert [sent.request.json["num"] for sent in transport.sent] == [100]


@pytest.mark.parametrize("envelope", [{"q": "bells", "type": "search"}, {"q": "bells"}])
def test_an_envelope_without_a_list_is_an_empty_page(envelope: dict[str, str]) -> None:
    result, _ = _search(request(), answer({"searchParameters": envelope, "relatedSearches": []}))
    assert (result.hits, result.note, result.error_message) == ((), None, None)


@pytest.mark.parametrize(
    "body",
    [
        {"organic": {"title": "no list"}, "searchParameters": {"type": "search"}},
        {"organic": "text"},
        {"searchParameters": "text"},
        {"credits": 1},
        [],
        "<html>Bad gateway</html>",
    ],
)
def test_what_has_not_the_documented_shape_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _search(request(), answer(body))


def test_panels_of_another_shape_cost_no_hit() -> None:
    body = {
        "searchParameters": {"type": "search"},
        "knowledgeGraph": ["a list"],
        "answerBox": {"answer": 42},
        "organic": [{"title": "Bells", "link": "https://bells.example/"}],
    }
    (hit,) = _search(request(), answer(body))[0].hits
    assert hit.extras == {}


def test_a_refused_key_is_not_tried_twice() -> None:
    """The 403 makes the driver look at the saved key afresh; it is still the same one."""
    transport = ScriptedTransport(answer(fixture("serper", "error_403.json"), status=403))
    with pytest.raises(CredentialsRejected):
        instance(PROTOCOL, transport, key=_KEY).search(request(), scope())
    assert len(transport.sent) == 1


def test_the_balance_of_the_account_is_the_quota() -> None:
    transport = ScriptedTransport(_fixture("account.json"))
    quota = instance(PROTOCOL, transport, key=_KEY).current_quota(scope())
    assert quota is not None
    assert (quota.source, quota.unit, quota.remaining) == (QuotaSource.PROVIDER, "credits", 2492.0)
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", "https://google.serper.dev/account")


def test_an_account_without_a_balance_is_malformed() -> None:
    with pytest.raises(MalformedAnswer):
        instance(PROTOCOL, ScriptedTransport(answer({"plan": "free"})), key=_KEY).current_quota(scope())


def test_another_base_url_is_used_as_it_is_saved() -> None:
    transport = ScriptedTransport(_fixture("web.json"))
    instance(PROTOCOL, transport, key=_KEY, base_url="http://127.0.0.1:8099/serper/").search(request(), scope())
    assert transport.sent[0].request.url == "http://127.0.0.1:8099/serper/search"


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
