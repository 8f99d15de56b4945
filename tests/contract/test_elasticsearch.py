"""Elasticsearch: every recorded answer under a mapping of its own, what is sent, answers that are not whole."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from tests.contract.fixtures import fixture, recordings_without_a_test
from tests.contract.payloads import payload
from tests.fakes.instances import instance, request, scope
from tests.fakes.transport import ScriptedTransport, answer
from zarniwoop.adapters.elasticsearch import PROTOCOL
from zarniwoop.contract.failure import (
    AccessRefused,
    CredentialsRejected,
    EndpointMisconfigured,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import WrongSettingsError
from zarniwoop.contract.quota import ProviderAvailability
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.contract.result import FilterHandling, SearchResult
from zarniwoop.contract.transport import HeaderKey, HttpAnswer, HttpRequest, Secret

_BASE = "https://search.house.example:9200"
_KEY = "VnVhQ2ZHY0JDZGJrUW0="
_MAPPED = {
    "dateField": "published",
    "authorField": "meta.authors",
    "extraFields": "meta.department",
    "languageField": "language",
}


def _asked(query: str = "bells", *, rag: bool = False, max_results: int = 10, **expert: Any) -> SearchRequest:
    modality = SearchModality.RAG if rag else SearchModality.INTERNAL_DOC
    return request(query, modality, max_results=max_results, **expert)


def _search(asked: SearchRequest, told: HttpAnswer, **extras: str) -> tuple[SearchResult, HttpRequest]:
    """The result, and the request that was sent for it."""
    transport = ScriptedTransport(told)
    settings = {"index": "house-docs"} | extras
    made = instance(PROTOCOL, transport, key=_KEY, base_url=_BASE, extras=settings)
    result = made.search(asked, scope())
    return result, transport.sent[0].request


def _recorded(name: str, **extras: str) -> SearchResult:
    return _search(_asked(), answer(payload("elasticsearch", name)), **extras)[0]


def _fixture(name: str, *, status: int = 200) -> HttpAnswer:
    return answer(fixture("elasticsearch", name), status=status)


def _failure(told: HttpAnswer, **extras: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        _search(_asked(), told, **extras)
    return caught.value


def _handling(result: SearchResult) -> dict[str, FilterHandling]:
    return {entry.name: entry.handling for entry in result.applied}


def test_every_recorded_answer_has_a_test() -> None:
    """A recording that appears beside the project without a test here fails the run."""
    assert recordings_without_a_test("elasticsearch", __file__) == []


def test_a_recorded_answer_of_version_6_is_read_by_the_fields_that_are_named() -> None:
    """Its total is a number; documents without an address get one from the template."""
    result = _recorded(
        "fatcat_search_hits.json",
        titleField="container_name",
        urlTemplate="https://doi.org/{doi}",
        extraFields="doi,publisher,container_issnl",
    )
    assert (result.returned_count, result.dropped_count, result.note) == (2, 0, None)
    first, second = result.hits
    assert (first.title, first.url) == ("PeerJ", "https://doi.org/10.7717%2Fpeerj.228")
    assert (first.source, first.snippet, first.content) == ("fatcat_release_v03b", None, None)
    assert first.extras == {
        "id": "rulhhff3kngyfc3rys53vlfuuu",
        "score": 16.977396,
        "doi": "10.7717/peerj.228",
        "publisher": "PeerJ",
        "container_issnl": "2167-8359",
    }
    assert second.url == "https://doi.org/10.7717%2Fpeerj.234"


def test_a_recorded_empty_answer_is_honestly_empty() -> None:
    result = _recorded("fatcat_search_empty.json")
    assert (result.hits, result.degraded, result.note) == ((), None, None)


def test_a_documented_answer_with_a_total_that_is_an_object_is_read() -> None:
    """A field inside an object goes by its path; a document without a title is shown by its id."""
    result = _recorded(
        "doc_search_total_object.json",
        titleField="message",
        dateField="@timestamp",
        authorField="user.id",
        extraFields="http.response.bytes,http.request.method",
    )
    (hit,) = result.hits
    assert hit.title == "GET /search HTTP/1.1 200 1070000"
    assert hit.url == f"{_BASE}/my-index-000001/_doc/0"
    assert hit.published_at == PublishedAt(value="2099-11-15T14:12:12Z", precision=DatePrecision.SECOND)
    assert hit.authors == ("kimchy",)
    assert hit.extras == {
        "id": "0",
        "score": 1.3862942,
        "http.response.bytes": "1070000",
        "http.request.method": "get",
    }
    assert _recorded("doc_search_total_object.json").hits[0].title == "0"


@pytest.mark.parametrize("name", ["error_404_index_not_found.json", "error_404_index_not_found_es7.json"])
def test_a_recorded_index_that_is_not_there_is_a_matter_of_the_settings(name: str) -> None:
    failure = _failure(answer(payload("elasticsearch", name), status=404), index="pots")
    assert isinstance(failure, EndpointMisconfigured)
    assert (failure.setting, failure.status) == ("index", 404)
    assert str(failure) == "Elasticsearch has no such index: see the setting index"


@pytest.mark.parametrize(
    ("told", "failure"),
    [
        (_fixture("error_400_query.json", status=400), QueryRejected),
        (_fixture("error_403.json", status=403), CredentialsRejected),
        (answer({"error": "not found", "status": 404}, status=404), QueryRejected),
        (
            answer({"error": {"type": "security_exception", "reason": "missing credentials"}}, status=401),
            CredentialsRejected,
        ),
        (answer({"error": {"type": "es_rejected_execution_exception"}}, status=429), RateLimited),
        (
            answer({"error": {"type": "search_phase_execution_exception"}, "status": 503}, status=503),
            ProviderUnavailable,
        ),
        (answer(b"<html>Bad gateway</html>", status=502), ProviderUnavailable),
        (answer({"hits": {"hits": None}}), MalformedAnswer),
        (answer({"hits": {"hits": "text"}}), MalformedAnswer),
    ],
)
def test_other_failures_are_typed(told: HttpAnswer, failure: type[ProviderError]) -> None:
    assert isinstance(_failure(told), failure)


def test_documents_are_read_with_markup_paths_lists_and_two_kinds_of_dates() -> None:
    """Midnight is a day, a number counts milliseconds; of a document without an id nothing is known."""
    result, _ = _search(_asked(), _fixture("internal_doc.json"), **_MAPPED)
    assert (result.returned_count, result.dropped_count) == (3, 1)
    first, second, third = result.hits
    assert (first.title, first.url) == ("How bells are tuned", "https://intranet.example/documents/1")
    assert first.snippet == "Metal is taken off inside the bell … until hum & prime agree"
    assert first.published_at == PublishedAt(value="2021-03-15", precision=DatePrecision.DAY)
    assert (first.authors, first.language) == (("Mira Sturm", "Jonas Feld"), "en")
    assert first.extras == {"id": "a/1", "score": 7.5, "meta.department": "Foundry"}
    assert first.content is None
    assert (second.title, second.url) == ("Travel policy", f"{_BASE}/house-docs/_doc/a%2F2")
    assert second.published_at == PublishedAt(value="2024-01-01T00:00:00Z", precision=DatePrecision.SECOND)
    assert second.extras["meta.department"] == "Administration"
    assert (third.title, third.url) == ("a/3", f"{_BASE}/house-docs/_doc/a%2F3")


def test_a_passage_brings_its_text() -> None:
    first, second = _search(_asked(rag=True), _fixture("rag.json"))[0].hits
    assert first.snippet == "The strike note is half of the nominal."
    assert first.content == ContentReference(
        inline=ContentInline.EMBED_TEXT,
        text="Metal is taken off inside the bell.\nThe strike note is half of the nominal.",
    )
    assert second.snippet == "Bells are lifted by the crown only."


@pytest.mark.parametrize(
    ("template", "url"),
    [
        ("https://wiki.example/pages/{id}", "https://wiki.example/pages/a%2F2"),
        ("https://wiki.example/{meta.department}/{id}?v=1", "https://wiki.example/Administration/a%2F2?v=1"),
        ("https://wiki.example/{nothing}/{id}", f"{_BASE}/house-docs/_doc/a%2F2"),
    ],
)
def test_a_template_is_filled_with_fields_and_without_one_of_them_left_alone(template: str, url: str) -> None:
    """Whatever stands in a field stays inside its place."""
    result, sent = _search(_asked(), _fixture("internal_doc.json"), urlTemplate=template)
    assert result.hits[1].url == url
    assert set(re.findall(r"\{([^}]+)\}", template)) <= set(sent.json["_source"])


def test_a_search_is_a_match_over_title_and_text_with_passages_to_show() -> None:
    _, sent = _search(_asked(max_results=7), _fixture("internal_doc.json"))
    assert (sent.method, sent.url) == ("POST", f"{_BASE}/house-docs/_search")
    assert sent.json == {
        "query": {
            "multi_match": {"query": "bells", "fields": ["title^2", "content"], "minimum_should_match": "2<75%"},
        },
        "size": 7,
        "_source": ["title", "url"],
        "highlight": {
            "fields": {"content": {"number_of_fragments": 2, "fragment_size": 200, "no_match_size": 200}},
        },
    }


def test_fields_of_the_settings_are_searched_shown_and_asked_for() -> None:
    """The text only of passages: that of a document may be long."""
    mapped = {"titleField": "name", "urlField": "meta.link", "textField": "body", "searchFields": "name^3.5,body,tags"}
    _, sent = _search(_asked(), _fixture("internal_doc.json"), **mapped, **_MAPPED)
    assert sent.json["query"]["multi_match"]["fields"] == ["name^3.5", "body", "tags"]
    assert sent.json["_source"] == ["name", "meta.link", "published", "meta.authors", "language", "meta.department"]
    assert list(sent.json["highlight"]["fields"]) == ["body"]
    _, sent = _search(_asked(rag=True), _fixture("rag.json"), **mapped)
    assert sent.json["_source"] == ["name", "meta.link", "body"]


def test_days_and_languages_are_filters_where_their_fields_are_named() -> None:
    asked = _asked(date_from=date(2024, 1, 1), date_to=date(2024, 12, 31), locale=Locale(language="de", region="AT"))
    result, sent = _search(asked, _fixture("internal_doc.json"), **_MAPPED)
    assert sent.json["query"]["bool"]["filter"] == [
        {"range": {"published": {"gte": "2024-01-01", "lt": "2025-01-01"}}},
        {"terms": {"language": ["de", "de-AT"]}},
    ]
    assert list(sent.json["query"]["bool"]["must"][0]) == ["multi_match"]
    assert set(_handling(result).values()) == {FilterHandling.PROVIDER}


def test_without_those_fields_days_are_told_by_no_hit_and_languages_are_ignored() -> None:
    asked = _asked(date_from=date(2024, 1, 1), locale=Locale(language="de"), domain="intranet.example")
    result, sent = _search(asked, _fixture("internal_doc.json"))
    assert "bool" not in sent.json["query"]
    assert sent.json["size"] == 100
    assert _handling(result) == {
        "date_from": FilterHandling.IGNORED,
        "locale": FilterHandling.IGNORED,
        "domain": FilterHandling.HERE,
    }
    assert [hit.url for hit in result.hits] == ["https://intranet.example/documents/1"]


def test_a_query_out_of_the_settings_is_filled_and_no_query_breaks_out_of_its_place() -> None:
    template = (
        '{"bool": {"must": [{"match": {"body": "{query}"}}], "filter": [{"term": {"state": "final"}}], "boost": 2}}'
    )
    query = '"}}]} {query} {"match_all": {}}'
    _, sent = _search(_asked(query), _fixture("internal_doc.json"), query=template)
    assert sent.json["query"] == {
        "bool": {"must": [{"match": {"body": query}}], "filter": [{"term": {"state": "final"}}], "boost": 2}
    }


@pytest.mark.parametrize("written", ['{"match": {"body": "{query}"}', "{query}", '{"match": {"body": "{query}"}, }'])
def test_a_query_that_is_no_json_makes_no_endpoint(written: str) -> None:
    """So that it is told where it is saved, not by the first search."""
    with pytest.raises(WrongSettingsError) as caught:
        _search(_asked(), _fixture("internal_doc.json"), query=written)
    assert caught.value.faults == (("query", "must be a JSON object"),)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("index", "_all/_search?q=x"),
        ("index", "../_cluster"),
        ("index", "Docs"),
        ("index", "-docs"),
        ("query", '{"match_all": {}}'),
        ("titleField", "title field"),
        ("searchFields", "title^x"),
        ("urlTemplate", "javascript:{id}"),
        ("urlTemplate", "https://{host}/x"),
        ("urlTemplate", "https://wiki.example/pages"),
        ("authentication", "digest"),
    ],
)
def test_settings_that_cannot_be_right_make_no_endpoint(setting: str, value: str) -> None:
    """They are part of addresses and bodies."""
    with pytest.raises(WrongSettingsError, match=setting):
        _search(_asked(), _fixture("internal_doc.json"), **{setting: value})


@pytest.mark.parametrize("index", ["house-docs", "docs-2024.*,-docs-2024.old", "logs", "other:docs"])
def test_an_index_may_be_a_list_a_pattern_or_of_another_cluster(index: str) -> None:
    _, sent = _search(_asked(), _fixture("internal_doc.json"), index=index)
    assert sent.url == f"{_BASE}/{index}/_search"


def test_an_index_is_needed_and_so_is_an_address() -> None:
    """The one to be made at all, the other to be asked."""
    with pytest.raises(WrongSettingsError, match="index is required"):
        instance(PROTOCOL, ScriptedTransport(), base_url=_BASE)
    homeless = instance(PROTOCOL, ScriptedTransport(), extras={"index": "docs"})
    assert homeless.availability(scope()) is ProviderAvailability.DISABLED


@pytest.mark.parametrize(
    ("way", "header"),
    [
        (None, HeaderKey(name="Authorization", prefix="ApiKey ")),
        ("apiKey", HeaderKey(name="Authorization", prefix="ApiKey ")),
        ("basic", HeaderKey(name="Authorization", prefix="Basic ", encoded=True)),
        ("bearer", HeaderKey(name="Authorization", prefix="Bearer ")),
    ],
)
def test_the_key_is_sent_as_the_settings_say(way: str | None, header: HeaderKey) -> None:
    transport = ScriptedTransport(_fixture("internal_doc.json"))
    extras = {"index": "docs"} | ({"authentication": way} if way else {})
    instance(PROTOCOL, transport, key=_KEY, base_url=_BASE, extras=extras).search(_asked(), scope())
    assert (transport.sent[0].authentication, transport.sent[0].secret) == (header, Secret(_KEY))


def test_an_open_cluster_is_asked_without_a_key() -> None:
    """A refusal is then no matter of one."""
    transport = ScriptedTransport(_fixture("internal_doc.json"), answer(b"", status=401))
    made = instance(PROTOCOL, transport, base_url=_BASE, extras={"index": "docs"})
    assert made.search(_asked(), scope()).returned_count == 3
    assert transport.sent[0].secret is None
    with pytest.raises(AccessRefused):
        made.search(_asked(), scope())


_HIT: Mapping[str, Any] = {"_index": "docs", "_id": "1", "_source": {"title": "Bells"}}


@pytest.mark.parametrize(
    ("state", "hits", "total", "note", "degraded"),
    [
        ({"timed_out": True}, [_HIT], 1, "Elasticsearch ran out of time: there may be more", None),
        ({"timed_out": True}, [], 0, None, "Elasticsearch ran out of time"),
        (
            {"_shards": {"failed": 1}},
            [_HIT],
            {"value": 1},
            "some of the index's shards failed: there may be more",
            None,
        ),
        ({"_shards": {"failed": 2}}, [], {"value": 0}, None, "some of the index's shards failed"),
        ({}, [], {"value": 9, "relation": "gte"}, None, "Elasticsearch counted documents and sent none"),
        ({}, [], 9, None, "Elasticsearch counted documents and sent none"),
        ({"_shards": {"failed": 0}}, [], {"value": 0, "relation": "eq"}, None, None),
    ],
)
def test_an_answer_that_is_not_whole_says_so(
    state: dict[str, Any], hits: list[Any], total: Any, note: str | None, degraded: str | None
) -> None:
    """Beside what it found, or as the reason why nothing was."""
    result, _ = _search(_asked(), answer({**state, "hits": {"total": total, "hits": hits}}))
    assert (result.note, result.degraded) == (note, degraded)


def test_the_hint_for_planners_is_two_to_four_sentences() -> None:
    assert 2 <= len(re.findall(r"\.(?:\s|$)", PROTOCOL.format.prompt_hint)) <= 4
