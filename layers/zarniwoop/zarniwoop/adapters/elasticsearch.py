"""Elasticsearch: documents or passages in an index of the house's own; OpenSearch speaks the same.

Wire format: JSON, one POST of /<index>/_search. https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search
Quirks: the total is a number in version 6 and an object since; a search that ran out of time, or of which some shards
failed, is a 200 with what there was; an index that is not there is a 404; an error is an object, behind proxies a text.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from zarniwoop.adapters.elasticsearch_query import INDEX, MOST_RESULTS, QUERY, question
from zarniwoop.contract.failure import EndpointMisconfigured, ProviderError
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import Authentication, HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.operators import Kind
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.field_mapping import MAPPING_FIELDS, Document, FieldMapping
from zarniwoop.wire.format import Exchange, Found, SettingField, WireFormat
from zarniwoop.wire.reading import read_hits, read_json

_AUTHENTICATION = SettingField(
    name="authentication",
    title="Authentication",
    description="How the key is sent: `apiKey` (encoded, as Elasticsearch gives it out), `basic` (`user:password`) or "
    "`bearer`.",
    default="apiKey",
    pattern="apiKey|basic|bearer",
)
_WAYS = {
    "apiKey": HeaderKey(name="Authorization", prefix="ApiKey "),
    "basic": HeaderKey(name="Authorization", prefix="Basic ", encoded=True),
    "bearer": HeaderKey(name="Authorization", prefix="Bearer "),
}


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    mapping = FieldMapping(config)
    asked, translated = question(request, config, mapping)
    url = f"{config.base_url}/{config.extras[INDEX.name]}/_search"
    body = read_json((yield HttpRequest(url=url, method="POST", json=asked)))
    found = body["hits"]["hits"]
    hits, dropped = read_hits(found, lambda item: mapping.to_hit(_document(item, config, mapping), request.modality))
    partial = _partial(body)
    counted = "Elasticsearch counted documents and sent none" if _total(body["hits"]) else None
    return Found(
        hits=hits,
        dropped_count=dropped,
        translated=translated,
        note=f"{partial}: there may be more" if partial and found else None,
        degraded=None if found else partial or counted,
    )


def _document(item: Mapping[str, Any], config: ProviderInstanceConfig, mapping: FieldMapping) -> Document:
    index, identifier, score = item["_index"], item["_id"], item.get("_score")
    highlight = item.get("highlight") or {}
    return Document(
        fields=item.get("_source") or {},
        id=identifier,
        address=f"{config.base_url}/{quote(index)}/_doc/{quote(identifier, safe='')}",
        passages=highlight.get(mapping.text) or (),
        score=score if isinstance(score, (int, float)) else None,
        source=index,
    )


def _partial(body: Mapping[str, Any]) -> str | None:
    """Why this may not be all."""
    if body.get("timed_out") is True:
        return "Elasticsearch ran out of time"
    shards = body.get("_shards")
    failed = shards.get("failed") if isinstance(shards, dict) else 0
    return "some of the index's shards failed" if failed else None


def _total(hits: Mapping[str, Any]) -> Any:
    total = hits.get("total")
    return total.get("value") if isinstance(total, dict) else total


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """An index that is not there is named by the settings, not by the query."""
    if answer.status != 404 or read_json(answer)["error"]["type"] != "index_not_found_exception":
        return None
    return EndpointMisconfigured(INDEX.name, "Elasticsearch has no such index", status=404)


def _authentication(config: ProviderInstanceConfig) -> Authentication:
    return _WAYS[config.extras.get(_AUTHENTICATION.name) or "apiKey"]


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="elasticsearch",
        display_name="Elasticsearch",
        modalities=frozenset((SearchModality.INTERNAL_DOC, SearchModality.RAG)),
        domains=frozenset((SearchDomain.INTERNAL,)),
        exchange=exchange,
        filters=frozenset(("date_from", "date_to", "freshness_days", "locale")),
        prompt_hint="""**Elasticsearch** holds what the house itself has written: documents (INTERNAL_DOC), or passages
of them with their text (RAG). Choose it for what only the house knows: its projects, rules, products and decisions. Ask
with the words that such a document would use.""",
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="elasticsearch",
        documentation="https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search",
        authentication=_WAYS["apiKey"],
        authentication_for=_authentication,
        max_query_chars=1000,
        max_results=MOST_RESULTS,
        ignores={"locale": "the setting languageField names no field with the language"},
        setting_fields=(INDEX, QUERY, _AUTHENTICATION, *MAPPING_FIELDS),
        classify=_classify,
    )
)
