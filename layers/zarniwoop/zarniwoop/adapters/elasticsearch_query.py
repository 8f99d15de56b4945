"""What is asked of Elasticsearch: a query of ours or one out of the settings, filters beside it, passages to show.

https://www.elastic.co/docs/reference/query-languages/querydsl
Quirk: OpenSearch takes the same, as long as nothing newer than their parting of ways is used.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import orjson

from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.wire.extras import json_object
from zarniwoop.wire.field_mapping import FieldMapping
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import SettingField

MOST_RESULTS = 100
_PLACEHOLDER = "{query}"
_NAME = r"[a-z0-9*][a-z0-9._*:-]{0,254}"

INDEX = SettingField(
    name="index",
    title="Index",
    description="The index, alias or pattern to search; several with commas between.",
    pattern=rf"{_NAME}(?:,-?{_NAME}){{0,19}}",
    required=True,
    steers=True,
)
QUERY = SettingField(
    name="query",
    title="Query",
    description="A query in the query DSL, as a JSON object in which `{query}` stands for what was asked. Not set: a "
    "match over the searched fields.",
    pattern=r"(?=[\s\S]*\{query\})\s*\{[\s\S]{2,3900}\}\s*",
    steers=True,
    check=json_object,
)


def question(
    request: SearchRequest, config: ProviderInstanceConfig, mapping: FieldMapping
) -> tuple[dict[str, Any], frozenset[str]]:
    """The body of a search, and the filters that it carries."""
    filters, translated = _filters(request, mapping)
    asked = _own(config.extras[QUERY.name], request.query) if QUERY.name in config.extras else _match(request, mapping)
    filtered_here = {name for name, _ in request.expert_params.given()} - translated
    body = {
        "query": {"bool": {"must": [asked], "filter": filters}} if filters else asked,
        "size": MOST_RESULTS if filtered_here else request.max_results,
        "_source": list(mapping.shown(request.modality)),
        "highlight": {
            "fields": {mapping.text: {"number_of_fragments": 2, "fragment_size": 200, "no_match_size": 200}},
        },
    }
    return body, translated


def _match(request: SearchRequest, mapping: FieldMapping) -> dict[str, Any]:
    """Two words must both occur, of more three quarters."""
    fields = list(mapping.searched)
    return {"multi_match": {"query": request.query, "fields": fields, "minimum_should_match": "2<75%"}}


def _own(template: str, query: str) -> dict[str, Any]:
    filled: dict[str, Any] = _filled(orjson.loads(template), query)
    return filled


def _filled(node: Any, query: str) -> Any:
    """After parsing, so that no query can break out of its place."""
    if isinstance(node, str):
        return node.replace(_PLACEHOLDER, query)
    if isinstance(node, list):
        return [_filled(each, query) for each in node]
    return {name: _filled(each, query) for name, each in node.items()} if isinstance(node, Mapping) else node


def _filters(request: SearchRequest, mapping: FieldMapping) -> tuple[list[dict[str, Any]], frozenset[str]]:
    filters: list[dict[str, Any]] = []
    translated: frozenset[str] = frozenset()
    if request.published and mapping.date:
        first, last = request.published.earliest, request.published.latest
        days = {"gte": str(first) if first else None, "lt": str(last + timedelta(days=1)) if last else None}
        filters.append({"range": {mapping.date: {end: day for end, day in days.items() if day}}})
        translated |= DATES
    if request.locale and mapping.language:
        filters.append({"terms": {mapping.language: sorted({request.locale.language, str(request.locale)})}})
        translated |= {"locale"}
    return filters, translated
