"""What is asked of Solr: an edismax query, filters, fields, passages to show.

https://solr.apache.org/guide/solr/latest/query-guide/edismax-query-parser.html
Quirks: a query that begins with `{!` picks its own parser in older versions, and `_query_` hides another query in any;
neither is let through. A query may name the fields that are searched anyway, and no other: what the settings do not
show could be guessed word by word. A filter that is only a negation finds nothing as part of another.
"""

import re
from datetime import timedelta

from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import SearchRequest
from zarniwoop.wire.field_mapping import FieldMapping
from zarniwoop.wire.filters import DATES
from zarniwoop.wire.format import SettingField

MOST_RESULTS = 100
_LOCAL_PARAMETERS = re.compile(r"\{!")

CORE = SettingField(
    name="core",
    title="Core",
    description="The core or collection to search.",
    pattern=r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}",
    required=True,
    steers=True,
)
HANDLER = SettingField(
    name="handler",
    title="Request handler",
    description="Its handler for searches.",
    default="select",
    pattern=r"[A-Za-z0-9_][A-Za-z0-9_-]{0,49}",
    steers=True,
)
ID = SettingField(
    name="idField",
    title="Id field",
    description="The unique key of the schema, by which passages are found again.",
    default="id",
    pattern=r"[A-Za-z_][\w.-]{0,99}",
    steers=True,
)
FILTER = SettingField(
    name="filterQuery",
    title="Filter query",
    description="A filter for every search, as `doc_type:full`. A negation is written `*:* -state:draft`.",
    pattern=r"(?!\s*(?:-|\{!|NOT\b))[^\x00-\x1f]{1,1000}",
    steers=True,
)


def question(
    request: SearchRequest, config: ProviderInstanceConfig, mapping: FieldMapping
) -> tuple[dict[str, str], frozenset[str]]:
    """The parameters of a search, and the filters that they carry."""
    filters, translated = _filters(request, config, mapping)
    filtered_here = {name for name, _ in request.expert_params.given()} - translated
    params = {
        "q": _LOCAL_PARAMETERS.sub(" ", request.query).strip() or "*:*",
        "defType": "edismax",
        "qf": " ".join(mapping.searched),
        "mm": "2<75%",
        "uf": " ".join((*(name.partition("^")[0] for name in mapping.searched), "-_query_", "-_val_")),
        "fl": ",".join(dict.fromkeys((id_field(config), *mapping.shown(request.modality), "score"))),
        "fq": " AND ".join(filters) if len(filters) < 2 else " AND ".join(f"({each})" for each in filters),
        "rows": str(MOST_RESULTS if filtered_here else request.max_results),
        "wt": "json",
        "hl": "true",
        "hl.fl": mapping.text,
        "hl.method": "unified",
        "hl.snippets": "2",
        "hl.fragsize": "200",
        "hl.defaultSummary": "true",
    }
    return {name: value for name, value in params.items() if value}, translated


def id_field(config: ProviderInstanceConfig) -> str:
    return config.extras.get(ID.name) or "id"


def _filters(
    request: SearchRequest, config: ProviderInstanceConfig, mapping: FieldMapping
) -> tuple[list[str], frozenset[str]]:
    filters = [config.extras[FILTER.name]] if FILTER.name in config.extras else []
    translated: frozenset[str] = frozenset()
    if request.published and mapping.date:
        first, last = request.published.earliest, request.published.latest
        begin = f"{first}T00:00:00Z" if first else "*"
        end = f"{last + timedelta(days=1)}T00:00:00Z" if last else "*"
        filters.append(f"{mapping.date}:[{begin} TO {end}}}")
        translated |= DATES
    if request.locale and mapping.language:
        named = " OR ".join(f'"{name}"' for name in sorted({request.locale.language, str(request.locale)}))
        filters.append(f"{mapping.language}:({named})")
        translated |= {"locale"}
    return filters, translated
