"""Solr: documents or passages in a core or collection of the house's own.

Wire format: JSON, one GET of /<core>/select. https://solr.apache.org/guide/solr/latest/query-guide/common-query-parameters.html
Quirks: the header may be left out; a refusal is a 400 that may carry a whole answer beside its `error`; a core that is
not there is a page of the web server's; a field has one value or several, and titles hold markup; passages lie apart
from the documents, by their unique key.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from zarniwoop.adapters.solr_query import CORE, FILTER, HANDLER, ID, MOST_RESULTS, id_field, question
from zarniwoop.contract.failure import Cause, EndpointMisconfigured, ProviderError, ProviderUnavailable
from zarniwoop.contract.modality import SearchDomain, SearchModality
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import Authentication, HeaderKey, HttpAnswer, HttpRequest
from zarniwoop.text.operators import Kind
from zarniwoop.wire.driver import WireProtocol
from zarniwoop.wire.field_mapping import MAPPING_FIELDS, SEARCHED, Document, FieldMapping
from zarniwoop.wire.format import Exchange, Found, SettingField, WireFormat
from zarniwoop.wire.reading import read_hits, read_json

_AUTHENTICATION = SettingField(
    name="authentication",
    title="Authentication",
    description="How the key is sent: `basic` (`user:password`) or `bearer` (a token).",
    default="basic",
    pattern="basic|bearer",
)
_WAYS = {
    "basic": HeaderKey(name="Authorization", prefix="Basic ", encoded=True),
    "bearer": HeaderKey(name="Authorization", prefix="Bearer "),
}


def exchange(request: SearchRequest, config: ProviderInstanceConfig) -> Exchange:
    mapping = FieldMapping(config)
    params, translated = question(request, config, mapping)
    url = f"{config.base_url}/{config.extras[CORE.name]}/{config.extras.get(HANDLER.name) or 'select'}"
    body = read_json((yield HttpRequest(url=url, params=params)))
    header = body.get("responseHeader") or {}
    if "error" in body or header.get("status"):
        raise ProviderUnavailable("Solr reports a failure inside its answer", cause=Cause.SHAPE)
    response, passages = body["response"], body.get("highlighting") or {}
    documents = response["docs"]
    hits, dropped = read_hits(
        documents, lambda item: mapping.to_hit(_document(item, passages, config, mapping), request.modality)
    )
    partial = "Solr ran out of time" if header.get("partialResults") is True else None
    counted = "Solr counted documents and sent none" if response.get("numFound") else None
    unnamed = None if hits or not documents else "no document has the fields that the settings name"
    return Found(
        hits=hits,
        dropped_count=dropped,
        translated=translated,
        note=f"{partial}: there may be more" if partial and hits else None,
        degraded=unnamed if documents else partial or counted,
    )


def _document(
    item: Mapping[str, Any], passages: Mapping[str, Any], config: ProviderInstanceConfig, mapping: FieldMapping
) -> Document:
    key, score = item.get(id_field(config)), item.get("score")
    identifier = str(key) if isinstance(key, (str, int)) and str(key).strip() else None
    found = passages.get(identifier) if identifier and isinstance(passages, dict) else None
    core = config.extras[CORE.name]
    return Document(
        fields=item,
        id=identifier,
        address=f"{config.base_url}/{core}/get?ids={quote(identifier, safe='')}" if identifier else None,
        passages=(found.get(mapping.text) or ()) if isinstance(found, dict) else (),
        score=score if isinstance(score, (int, float)) else None,
        source=core,
    )


def _classify(answer: HttpAnswer) -> ProviderError | None:
    """What the settings name and Solr lacks; an answer beside an error is none."""
    if answer.status == 404 and b"/solr" in answer.body[:4096]:
        return EndpointMisconfigured(CORE.name, "Solr has no such core or handler", status=404)
    if answer.status != 400:
        return None
    message = str(read_json(answer)["error"]["msg"])
    if message.lower().startswith("undefined field"):
        return EndpointMisconfigured(SEARCHED.name, "the schema lacks a field that is searched", status=400)
    return None


def _authentication(config: ProviderInstanceConfig) -> Authentication:
    return _WAYS[config.extras.get(_AUTHENTICATION.name) or "basic"]


PROTOCOL = WireProtocol(
    WireFormat(
        protocol_id="solr",
        display_name="Solr",
        modalities=frozenset((SearchModality.INTERNAL_DOC, SearchModality.RAG)),
        domains=frozenset((SearchDomain.INTERNAL,)),
        exchange=exchange,
        filters=frozenset(("date_from", "date_to", "freshness_days", "locale")),
        prompt_hint="""**Solr** holds what the house itself has written or collected: documents (INTERNAL_DOC), or
passages of them with their text (RAG). Choose it for what only the house knows: its archive, catalogue, rules and
products. Ask with the words that such a document would use.""",
        operators=frozenset((Kind.OR, Kind.PHRASE)),
        index_family="solr",
        documentation="https://solr.apache.org/guide/solr/latest/query-guide/common-query-parameters.html",
        authentication=_WAYS["basic"],
        authentication_for=_authentication,
        max_query_chars=1000,
        max_results=MOST_RESULTS,
        ignores={"locale": "the setting languageField names no field with the language"},
        setting_fields=(CORE, HANDLER, ID, FILTER, _AUTHENTICATION, *MAPPING_FIELDS),
        classify=_classify,
    )
)
