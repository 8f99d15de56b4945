"""Elasticsearch and Solr against the simulator: the house's documents, over real sockets."""

import json
from datetime import date
from typing import Any

import httpx
import pytest

from tests.contract.payloads import payload
from tests.fakes import simulated
from tests.fakes.httpx_transport import HttpxTransport
from tests.fakes.instances import request, scope
from tests.simulator import Simulator
from zarniwoop.contract.failure import CredentialsRejected, EndpointMisconfigured, RateLimited
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale, SearchRequest
from zarniwoop.wire.driver import WireInstance

PLACE = {"elasticsearch": "index", "solr": "core"}
MAPPED = {
    "dateField": "date",
    "authorField": "authors",
    "languageField": "language",
    "extraFields": "department",
    "urlTemplate": "https://intranet.example/documents/{id}",
}
both = pytest.mark.parametrize("protocol_id", list(PLACE))


def endpoint(
    protocol_id: str, base_url: str, transport: HttpxTransport, *, key: str = "user:good-password", **extras: str
) -> WireInstance:
    settings = {PLACE[protocol_id]: "documents", "authentication": "basic", **MAPPED, **extras}
    return simulated.endpoint(protocol_id, base_url, transport, key=key, **settings)


def asked(query: str, *, rag: bool = False, **more: Any) -> SearchRequest:
    return request(query, SearchModality.RAG if rag else SearchModality.INTERNAL_DOC, **more)


@both
def test_documents_are_found_with_passages_dates_and_addresses(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    """One without an address gets one from the template."""
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    hits = {hit.extras["id"]: hit for hit in instance.search(asked("cathedral bells"), scope()).hits}
    assert len(hits) >= 3
    inspection, tuning = hits["doc-001"], hits["doc-003"]
    assert inspection.title == "Inspection of the cathedral bells, spring round"
    assert inspection.snippet is not None
    assert "cathedral bells were inspected" in inspection.snippet
    assert inspection.published_at is not None
    assert inspection.published_at.value == "2024-04-18"
    assert (inspection.authors, inspection.language) == (("Ada Winter", "Jonas Feld"), "en")
    assert inspection.extras["department"] == "Maintenance"
    assert inspection.content is None
    assert tuning.url == "https://intranet.example/documents/doc-003"


@both
def test_passages_bring_their_text(simulator: Simulator, transport: HttpxTransport, protocol_id: str) -> None:
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    first = instance.search(asked("strike note", rag=True), scope()).hits[0]
    assert first.content is not None
    assert first.content.text is not None
    assert "it is half of the nominal" in first.content.text


@both
def test_days_and_languages_are_applied_by_the_index(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    window = asked("bells", date_from=date(2021, 1, 1), date_to=date(2022, 12, 31))
    days = [hit.published_at.value for hit in instance.search(window, scope()).hits if hit.published_at]
    assert days
    assert all("2021" <= day <= "2022-12-31" for day in days)
    german = instance.search(asked("Glocken", locale=Locale(language="de")), scope())
    assert {hit.language for hit in german.hits} == {"de"}
    assert german.dropped_count == 0


@both
def test_a_bad_key_and_a_place_that_is_not_there_are_told_apart(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    """Both stay until somebody mends them, and the second names its setting."""
    url = simulator.url(protocol_id)
    with pytest.raises(CredentialsRejected):
        endpoint(protocol_id, url, transport, key="bad:password").search(asked("bells"), scope())
    nowhere = endpoint(protocol_id, url, transport, **{PLACE[protocol_id]: "nowhere"})
    with pytest.raises(EndpointMisconfigured) as caught:
        nowhere.search(asked("bells"), scope())
    assert caught.value.setting == PLACE[protocol_id]


@both
def test_a_search_that_ran_out_of_time_says_so(
    simulator: Simulator, transport: HttpxTransport, protocol_id: str
) -> None:
    instance = endpoint(protocol_id, simulator.url(protocol_id), transport)
    result = instance.search(asked("asyncio timeout"), scope())
    assert result.note is not None
    assert result.note.endswith("ran out of time: there may be more")


def test_elasticsearch_takes_a_query_and_a_pattern_out_of_the_settings(
    simulator: Simulator, transport: HttpxTransport
) -> None:
    query = '{"bool": {"must": {"match": {"content": "{query}"}}, "filter": {"term": {"department": "Safety"}}}}'
    instance = endpoint("elasticsearch", simulator.url("elasticsearch"), transport, index="doc*", query=query)
    result = instance.search(asked("bells"), scope())
    assert {hit.extras["department"] for hit in result.hits} == {"Safety"}


def test_elasticsearch_sends_its_key_encoded_as_it_was_given_out(
    simulator: Simulator, transport: HttpxTransport
) -> None:
    url = simulator.url("elasticsearch")
    with pytest.raises(CredentialsRejected):
        endpoint("elasticsearch", url, transport, key="bad-key-of-ours", authentication="apiKey").search(
            asked("bells"), scope()
        )
    good = endpoint("elasticsearch", url, transport, key="good-key-of-ours", authentication="bearer")
    assert good.search(asked("bells"), scope()).hits


def test_a_cluster_that_is_too_busy_slows_us_down(simulator: Simulator, transport: HttpxTransport) -> None:
    busy = endpoint("elasticsearch", simulator.url("elasticsearch", fault="429", retry_after=9), transport)
    with pytest.raises(RateLimited) as caught:
        busy.search(asked("bells"), scope())
    assert caught.value.retry_after == 9


def test_a_field_that_solr_lacks_is_named_by_its_setting(simulator: Simulator, transport: HttpxTransport) -> None:
    """Although the 400 carries an answer."""
    wrong = endpoint("solr", simulator.url("solr"), transport, searchFields="title,nowhere")
    with pytest.raises(EndpointMisconfigured) as caught:
        wrong.search(asked("bells"), scope())
    assert caught.value.setting == "searchFields"


def test_both_have_no_keys_that_recorded_answers_lack(client: httpx.Client) -> None:
    """Of envelope, hits and errors."""
    real = json.loads(payload("elasticsearch", "doc_search_total_object.json"))
    ours = client.post("/elasticsearch/documents/_search", json={"query": {"match_all": {}}}).json()
    assert set(ours) == set(real)
    assert set(ours["hits"]) == set(real["hits"])
    assert set(ours["hits"]["hits"][0]) == set(real["hits"]["hits"][0])
    missing = client.post("/elasticsearch/pots/_search", json={}).json()
    assert missing == json.loads(payload("elasticsearch", "error_404_index_not_found_es7.json"))
    bare = client.get("/solr/documents/select", params={"q": "bells", "omitHeader": "true"}).json()
    assert set(bare) == set(json.loads(payload("solr", "plos_select_fields.json")))
    refused = client.get("/solr/documents/select", params={"q": "bells", "qf": "adsfad"})
    assert (refused.status_code, set(refused.json())) == (400, {"response", "error"})


def test_an_unknown_query_is_a_400_of_elasticsearch(client: httpx.Client) -> None:
    answer = client.post("/elasticsearch/documents/_search", json={"query": {"matsch": {"title": "x"}}})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "parsing_exception")
