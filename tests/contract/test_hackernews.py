"""Hacker News: every recorded answer, the questions that are put to it, and how its items become hits."""

import re
from datetime import date

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.hackernews import PROTOCOL
from zarniwoop.contract.failure import MalformedAnswer
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HttpAnswer


def _fixture(name: str) -> HttpAnswer:
    return answer(fixture("hackernews", name))


def _read(found: HttpAnswer, modality: SearchModality = SearchModality.NEWS) -> SearchResult:
    return instance(PROTOCOL, ScriptedTransport(found)).search(request(modality=modality), scope())


def _asked(asked: SearchRequest, extras: dict[str, str] | None = None) -> tuple[dict[str, str], SearchResult]:
    transport = ScriptedTransport(_fixture("news.json"))
    result = instance(PROTOCOL, transport, extras=extras).search(asked, scope())
    return dict(transport.sent[0].request.params), result


def _instant(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.SECOND)


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("hackernews", __file__) == []


def test_a_story_leads_to_its_page_and_names_its_discussion() -> None:
    result = _read(answer(payload("hackernews", "search_story_url.json")))
    (hit,) = result.hits
    assert hit.title == "Bye Bye Mongo, Hello Postgres"
    assert hit.url == "https://www.theguardian.com/info/2018/nov/30/bye-bye-mongo-hello-postgres"
    assert (hit.authors, hit.source) == (("philliphaydon",), "Hacker News")
    assert hit.published_at == _instant("2018-12-19T17:08:53Z")
    assert hit.identifiers == {"hackernews_id": "18717168"}
    assert hit.extras == {
        "points": 1562,
        "num_comments": 417,
        "hn_url": "https://news.ycombinator.com/item?id=18717168",
    }
    assert (hit.snippet, hit.content, result.dropped_count) == (None, None, 0)


def test_a_question_leads_to_its_discussion_and_carries_its_text() -> None:
    """An Ask HN story has no page of its own; its text is HTML with entities."""
    (hit,) = _read(answer(payload("hackernews", "search_ask_hn_story_text.json"))).hits
    assert hit.title == "Ask HN: How would I visualize URL propagation in the blogosphere?"
    assert hit.url == hit.extras["hn_url"] == "https://news.ycombinator.com/item?id=13133437"
    assert hit.published_at == _instant("2016-12-08T19:39:07Z")
    assert hit.content is not None
    assert hit.content.inline is ContentInline.EMBED_TEXT
    assert hit.content.text is not None
    assert "I don't know how to harvest" in hit.content.text
    assert "the HN discussion and/or the original article" in hit.content.text
    assert "<" not in hit.content.text
    assert hit.snippet is not None
    assert len(hit.snippet) <= 400
    assert hit.snippet.endswith("…")
    assert (hit.extras["points"], hit.extras["num_comments"]) == (1, 0)


def test_a_comment_carries_its_text_and_the_story_it_belongs_to() -> None:
    (hit,) = _read(answer(payload("hackernews", "search_comment_hit.json")), SearchModality.WEB).hits
    assert (hit.title, hit.modality) == ("Lorem Gibson", SearchModality.WEB)
    assert hit.url == "https://news.ycombinator.com/item?id=44582430"
    assert hit.snippet == 'Whoa, the "japanese" checkbox animation is awesome, so satisfying!'
    assert hit.extras == {"story_url": "http://loremgibson.com/", "hn_url": hit.url}
    assert hit.authors == ("graeber_28927",)
    assert hit.published_at == _instant("2025-07-16T13:54:55Z")


def test_an_item_with_its_comments_is_no_answer_to_a_search() -> None:
    with pytest.raises(MalformedAnswer):
        _read(answer(payload("hackernews", "item_with_children.json")))


def test_an_item_without_a_title_or_a_number_is_dropped_and_counted() -> None:
    result = _read(_fixture("news.json"))
    assert [hit.title for hit in result.hits] == [
        "Show HN: Bells & whistles",
        "Ask HN: Who hears the bells?",
        "A story with a poisoned link",
    ]
    assert result.dropped_count == 2


def test_a_script_link_is_dropped_for_the_discussion() -> None:
    hit = _read(_fixture("news.json")).hits[2]
    assert hit.url == "https://news.ycombinator.com/item?id=104"
    assert (hit.authors, hit.published_at) == ((), None)
    assert hit.extras == {"hn_url": hit.url}


def test_the_markup_of_a_comment_is_made_plain() -> None:
    hit = _read(_fixture("web.json"), SearchModality.WEB).hits[0]
    text = 'We cast "them" in bronze.'
    assert (hit.title, hit.snippet) == ("Show HN: Bells & whistles", text)
    assert hit.content == ContentReference(inline=ContentInline.EMBED_TEXT, text=text)


def test_a_search_is_one_get_for_stories_by_relevance() -> None:
    transport = ScriptedTransport(_fixture("news.json"))
    instance(PROTOCOL, transport).search(request("bells", SearchModality.NEWS), scope())
    (sent,) = transport.sent
    assert (sent.request.method, sent.request.url) == ("GET", "https://hn.algolia.com/api/v1/search")
    assert sent.request.params == {"query": "bells", "tags": "story", "hitsPerPage": "10"}
    assert (sent.authentication, sent.secret) == (None, None)


def test_what_is_searched_can_be_set() -> None:
    params, _ = _asked(request("bells", SearchModality.NEWS), {"tags": "(story,comment)"})
    assert params["tags"] == "(story,comment)"


@pytest.mark.parametrize(
    ("value", "allowed"), [("story", True), ("(story,comment)", True), ("story&page=9", False), ("(story", False)]
)
def test_the_settings_form_knows_what_tags_look_like(value: str, allowed: bool) -> None:
    (field,) = PROTOCOL.format.setting_fields
    assert (re.fullmatch(field.pattern, value) is not None) is allowed


def test_more_results_than_one_answer_holds_are_clamped_and_never_paged() -> None:
    params, result = _asked(request("bells", SearchModality.NEWS, max_results=500))
    assert params["hitsPerPage"] == "100"
    assert result.note == "hackernews gives at most 100 results"


def test_dates_are_asked_in_seconds_from_midnight_to_midnight() -> None:
    """Both days are included, so the upper bound is the midnight after the last."""
    asked = request("bells", SearchModality.NEWS, date_from=date(2021, 5, 1), date_to=date(2021, 5, 31))
    params, result = _asked(asked)
    assert params["numericFilters"] == "created_at_i>=1619827200,created_at_i<1622505600"
    assert [(entry.name, entry.handling) for entry in result.applied] == [
        ("date_from", FilterHandling.PROVIDER),
        ("date_to", FilterHandling.PROVIDER),
    ]
    assert params["hitsPerPage"] == "10"


@pytest.mark.parametrize(
    ("published", "asked"),
    [((date(2021, 5, 1), None), "created_at_i>=1619827200"), ((None, date(2021, 5, 31)), "created_at_i<1622505600")],
)
def test_an_open_end_of_the_dates_stays_open(published: tuple[date | None, date | None], asked: str) -> None:
    params, _ = _asked(request("bells", SearchModality.NEWS, freshness_days=30, published=published))
    assert params["numericFilters"] == asked


def test_a_site_is_applied_here_to_as_many_hits_as_one_answer_holds() -> None:
    params, result = _asked(request("bells", SearchModality.NEWS, domain="bells.example"))
    assert params["hitsPerPage"] == "100"
    assert [hit.url for hit in result.hits] == ["https://bells.example/whistles"]
    assert [entry.handling for entry in result.applied] == [FilterHandling.HERE]
    assert result.dropped_count == 4


def test_the_locale_is_ignored_and_said_to_be() -> None:
    _, result = _asked(request("bells", SearchModality.NEWS, locale=Locale(language="de")))
    (entry,) = result.applied
    assert (entry.name, entry.handling) == ("locale", FilterHandling.IGNORED)


def test_no_matching_item_is_an_empty_result() -> None:
    result = _read(answer({"hits": [], "nbHits": 0, "nbPages": 0, "page": 0}))
    assert (result.hits, result.error_message, result.note) == ((), None, None)


@pytest.mark.parametrize("body", ["<html>Blocked</html>", {"hits": None}, {"message": "x"}, [], '{"hits": ['])
def test_what_has_not_the_documented_shape_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswer):
        _read(answer(body))


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
