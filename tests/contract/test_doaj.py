"""DOAJ: what is asked, and what every recorded answer comes to."""

import json
from datetime import date
from typing import Any
from urllib.parse import unquote

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.doaj import PROTOCOL
from zarniwoop.contract.failure import MalformedAnswer, QueryRejected
from zarniwoop.contract.hit import ContentInline, DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer, HttpRequest

ACADEMIC = SearchModality.ACADEMIC
ARTICLES = "https://doaj.org/api/v4/search/articles/"


def search(*script: HttpAnswer, query: str = "cathedral bells", **asked: Any) -> SearchResult:
    return instance(PROTOCOL, ScriptedTransport(*script)).search(request(query, ACADEMIC, **asked), scope())


def sent(query: str, **asked: Any) -> HttpRequest:
    """The one request that a search sends."""
    transport = ScriptedTransport(answer(fixture("doaj", "academic.json")))
    instance(PROTOCOL, transport).search(request(query, ACADEMIC, **asked), scope())
    (only,) = transport.sent
    return only.request


def query_of(query: str, **asked: Any) -> str:
    """The query that DOAJ gets, out of the path that it stands in."""
    return unquote(sent(query, **asked).url.removeprefix(ARTICLES))


def found(**asked: Any) -> SearchResult:
    return search(answer(fixture("doaj", "academic.json")), **asked)


def recorded(name: str) -> SearchResult:
    return search(answer(payload("doaj", name)))


def year(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.YEAR)


def month(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.MONTH)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("doaj", __file__) == []


def test_a_search_is_one_request_with_the_query_in_its_path() -> None:
    """Nothing of it may end the path or climb out of it."""
    asked = sent("cathedral bells", max_results=7)
    assert (asked.method, asked.url) == ("GET", f"{ARTICLES}cathedral%20bells")
    assert asked.params == {"page": "1", "pageSize": "7"}
    assert sent("a/../../b#c?d").url == f"{ARTICLES}a%20..%20..%20b%23c%20d"
    assert sent("10.5555/../x").url.count("/") == ARTICLES.count("/")


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("what is a bell?", "what is a bell"),
        ("bell* ~2 a\\b x^2 !y a && b", "bell 2 a b x 2 y a b"),
        ("bells - a study", "bells a study"),
        ("e-learning -music", "e-learning -music"),
        ("FGDB: a database", "FGDB a database"),
        ("title:bells AND bibjson.author.name:ringer", "title:bells AND bibjson.author.name:ringer"),
        ('"church bells" OR (chimes)', '"church bells" OR (chimes)'),
        ('church "bells (loud', "church bells loud"),
        ("[Retracted] bells", "Retracted bells"),
        ("bibjson.year:[2010 TO 2012] bells", "bibjson.year:[2010 TO 2012] bells"),
    ],
)
def test_what_doaj_would_refuse_or_misread_is_not_asked(query: str, asked: str) -> None:
    """Wildcards are a 400 there, and a colon after a word makes a field of it, in which nothing is found."""
    assert query_of(query) == asked


def test_a_query_without_words_is_rejected_unasked() -> None:
    with pytest.raises(QueryRejected):
        search(query='?! "" ()')


def test_a_doi_is_looked_for_as_a_phrase_and_compared_here() -> None:
    """DOAJ keeps it in the letters of its publisher, and a phrase also fits longer ones."""
    doi = "https://doi.org/10.5555/BELLS.2021.17"
    assert query_of(doi, locale=Locale(language="de")) == 'bibjson.identifier.id:"10.5555/bells.2021.17"'
    (hit,) = found(query=doi).hits
    assert hit.title == "Partial tones of cathedral bells"
    assert found(query="10.5555/bells.2021").hits == ()


@pytest.mark.parametrize(
    ("window", "years", "handling"),
    [
        ((date(2020, 1, 1), date(2021, 12, 31)), "[2020 TO 2021]", FilterHandling.PROVIDER),
        ((date(2020, 1, 1), None), "[2020 TO 2999]", FilterHandling.PROVIDER),
        ((None, date(2021, 12, 31)), "[1000 TO 2021]", FilterHandling.PROVIDER),
        ((date(2020, 3, 1), None), "[2020 TO 2999]", FilterHandling.HERE),
        ((None, date(2021, 6, 30)), "[1000 TO 2021]", FilterHandling.HERE),
    ],
)
def test_dates_become_years_and_what_is_finer_is_done_here(
    window: tuple[date | None, date | None], years: str, handling: FilterHandling
) -> None:
    """Of whatever fits into one answer, as some of it will go."""
    asked = {"date_from": window[0], "date_to": window[1]}
    assert query_of("church bells", **asked) == f"(church bells) AND (bibjson.year:{years})"
    assert sent("bells", **asked).params["pageSize"] == ("10" if handling is FilterHandling.PROVIDER else "100")
    assert {entry.handling for entry in found(**asked).applied} == {handling}


def test_a_window_inside_a_year_drops_what_lies_outside_of_it() -> None:
    """The month of an article is known; of 2019 any day may be meant."""
    hits = found(date_from=date(2019, 3, 1), date_to=date(2021, 8, 31)).hits
    assert [hit.title for hit in hits] == ["Sinos de catedral = Cathedral bells"]


def test_a_locale_asks_for_the_languages_of_journals() -> None:
    """Two letters each; a language of three is reported as ignored."""
    german = Locale(language="de")
    assert query_of("bells", locale=german) == "(bells) AND (bibjson.journal.language:DE)"
    assert [entry.handling for entry in found(locale=german).applied] == [FilterHandling.PROVIDER]
    (entry,) = found(locale=Locale(language="ast")).applied
    assert (entry.handling, bool(entry.reason)) == (FilterHandling.IGNORED, True)


def test_more_than_is_asked_for_at_once_is_clamped_and_said() -> None:
    assert sent("bells", max_results=500).params["pageSize"] == "100"
    assert found(max_results=500).note == "doaj gives at most 100 results"


def test_the_pace_is_two_requests_a_second() -> None:
    pace = instance(PROTOCOL, ScriptedTransport()).pacing(request(modality=ACADEMIC))
    assert pace == Pacing(subject="doaj@doaj.org", requests=2, seconds=1.0)


def test_an_article_becomes_a_hit_with_its_abstract_and_extras() -> None:
    """Its page is its address, its PDF an extra; a month may be written out."""
    hit = found().hits[0]
    assert (hit.title, hit.url) == ("Partial tones of cathedral bells", "https://journal.example.org/bells/17")
    assert hit.source == "Journal of Bells & Chimes"
    assert hit.authors == ("Ada Ringer", "Clapper, Theo")
    assert (hit.published_at, hit.language) == (month("2021-09"), "en")
    assert hit.identifiers == {"doaj_id": "0123456789abcdef0123456789abcdef", "doi": "10.5555/bells.2021.17"}
    assert hit.content is not None
    assert hit.content.inline is ContentInline.EMBED_TEXT
    assert hit.content.text == hit.snippet == "Bells ring in partials; p < 0.05."
    assert hit.extras == {
        "venue": "Journal of Bells & Chimes",
        "publisher": "Campana Press",
        "country": "DE",
        "volume": "12",
        "issue": "3",
        "pages": "17-31",
        "license": "CC BY",
        "keywords": ("bells", "acoustics"),
        "subjects": ("Literature on music",),
        "is_open_access": True,
        "pdf_url": "https://journal.example.org/bells/17.pdf",
        "doaj_url": "https://doaj.org/article/0123456789abcdef0123456789abcdef",
    }


def test_an_article_without_a_page_has_its_address_at_doaj() -> None:
    """Or at doi.org; a PDF is no page. An impossible month leaves the year, two languages leave none."""
    sinos, ringing = found().hits[1:]
    assert sinos.url == "https://doaj.org/article/fedcba9876543210fedcba9876543210"
    assert sinos.extras["pdf_url"] == "http://sinos.example.org/revista/7/4.PDF"
    assert (sinos.published_at, sinos.language, sinos.content) == (year("2019"), None, None)
    assert sinos.extras["pages"] == "4"
    assert (ringing.url, ringing.source) == ("https://doi.org/10.5555/ring.2018.1", "The Ringers")
    assert (ringing.published_at, ringing.authors) == (None, ())


def test_a_count_without_articles_is_degraded_and_no_empty_answer() -> None:
    degraded = search(answer({"total": 3, "results": []}))
    assert (degraded.hits, degraded.degraded) == ((), "DOAJ counted articles and sent none")
    assert search(answer({"total": 0, "results": []})).degraded is None


def test_a_refused_query_is_at_fault_itself() -> None:
    with pytest.raises(QueryRejected) as caught:
        search(answer(fixture("doaj", "refused_400.json"), status=400))
    assert "Lucene" not in caught.value.message


def test_the_recorded_page_of_ten_articles_is_read() -> None:
    """Months as numbers, names and not at all; PDFs that say so and one that does not; Portuguese, Turkish, Chinese."""
    result = recorded("search_articles.json")
    assert (result.returned_count, result.dropped_count, result.degraded) == (10, 0, None)
    assert [hit.published_at for hit in result.hits] == [
        month("2020-04"),
        month("2013-01"),
        month("2017-03"),
        month("2015-10"),
        month("2019-07"),
        month("2019-11"),
        month("2020-06"),
        month("2013-10"),
        year("2013"),
        month("2005-01"),
    ]
    assert [hit.language for hit in result.hits] == ["en", None, "pt", "en", "en", None, None, "tr", "en", "pt"]
    assert [hit.identifiers.get("doi") for hit in result.hits] == [
        "10.1038/s41467-020-15686-y",
        None,
        "10.22481/odeere.v0i2.1555",
        "10.3980/j.issn.1672-5123.2015.10.16",
        None,
        "10.4119/hlz-2470",
        "10.29315/gm.v7i2.328",
        None,
        None,
        None,
    ]
    brain, martinez, _memory, eyes, *_, turkish, mouse, _solidarity = result.hits
    assert brain.url == "http://link.springer.com/article/10.1038/s41467-020-15686-y"
    assert (brain.source, len(brain.authors), brain.extras["pages"]) == ("Nature Communications", 9, "1-6")
    assert (brain.snippet or "").startswith("Brain insulin action regulates eating behavior and whole-body energy")
    assert martinez.url == "https://doaj.org/article/00000d914fd04a18adf84e756444ec98"
    assert martinez.extras["pdf_url"].endswith("/view/15435/10129")
    assert martinez.authors[0] == "Mitidieri, André Luis"
    assert "\x93" not in ((martinez.content and martinez.content.text) or "")
    assert eyes.url == "https://doi.org/10.3980/j.issn.1672-5123.2015.10.16"
    assert eyes.extras["pdf_url"] == "http://ies.ijo.cn/cn_publish/2015/10/201510016.pdf"
    assert turkish.authors == ("Sultan GÜÇLÜ", "Meral UYSAL")
    assert turkish.extras["keywords"][:2] == ("Adult education", "health education")
    assert (mouse.source, mouse.extras["license"]) == ("Cell Journal", "CC BY-NC")


def test_the_recorded_page_of_two_articles_is_read() -> None:
    result = recorded("search_articles_page2size.json")
    assert [hit.title[:25] for hit in result.hits] == ["Brain insulin sensitivity", "Tomás Eloy Martínez e as "]
    assert result.hits[0].extras["subjects"] == ("Science",)


def test_the_recorded_article_looked_up_by_its_id_is_no_search() -> None:
    """The same record without an envelope; put into one, it is read."""
    body = payload("doaj", "article_single.json")
    with pytest.raises(MalformedAnswer):
        search(answer(body))
    (hit,) = search(answer({"total": 1, "results": [json.loads(body)]})).hits
    assert hit.title == "Where in the brain are the genes expressed"
    assert (hit.published_at, hit.language) == (month("2008-04"), "en")
    assert hit.identifiers["doi"] == "10.3389/neuro.11.009.2007"
    assert hit.url == "http://journal.frontiersin.org/Journal/10.3389/neuro.11.009.2007/full"
    assert hit.authors == ("Trygve B Leergaard", "Ilya Zaslavsky")
    assert (hit.source, hit.content) == ("Frontiers in Neuroinformatics", None)


def test_recorded_journals_are_no_articles() -> None:
    """They have titles too, and no journal that they stand in."""
    result = recorded("search_journals.json")
    assert (result.hits, result.dropped_count) == ((), 2)
