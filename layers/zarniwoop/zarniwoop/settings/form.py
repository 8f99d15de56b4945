"""The settings form as data: a JSON Schema per protocol, and hints for whoever draws it (seed 2, its form's fields).

Every protocol brings its part: its own fields, its key, its defaults and a hint. An add-on that describes none of its
settings has the fields of all endpoints and takes others unseen. Schemas are of JSON Schema 2020-12.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import TypedDict

from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import SearchProtocol
from zarniwoop.settings.budgets import BudgetPeriod
from zarniwoop.settings.endpoints import CreditKind
from zarniwoop.settings.fetch_names import FETCH, LONGEST_INTERVAL, PREFIX_FETCH
from zarniwoop.settings.model_names import MODEL_SETTINGS
from zarniwoop.settings.names import (
    API_KEY,
    BASE_URL,
    BUDGETS,
    ENABLED,
    ENDPOINT_SUFFIXES,
    KNOBS,
    LONGEST_CACHE_SECONDS,
    LONGEST_VALUE,
    PREFIX_ENDPOINT,
    PREFIX_MODEL,
    PROTOCOL,
    RERANK_RECIPE,
    RERANK_RECIPES,
    Suffix,
    cache_seconds_for,
    default_for,
    fallback_for,
    is_budget_period,
)
from zarniwoop.stores.keys import ID_PATTERN
from zarniwoop.wire.extras import COMMON_FIELDS
from zarniwoop.wire.format import DescribesSettings, SettingField, SettingsPart

Schema = dict[str, Any]

_TYPES = {"bool": "boolean", "int": "integer", "number": "number"}
_KEY = {"type": "string", "format": "password", "writeOnly": True, "maxLength": 512}
_LABELS = {
    PROTOCOL: "WebSearch Provider",
    BASE_URL: "API Base URL",
    API_KEY: "API Key",
    "maxResults": "Max Results",
    "timeoutSeconds": "Timeout Seconds",
    ENABLED: "Enable WebSearch",
}
"""In the order of the seed's first version; all other fields are advanced and may be collapsed."""
_HELP = {API_KEY: "Leave it empty to keep the saved key; typing a new one replaces it."}
_ACTIONS = (
    {"name": "test", "label": "Test Connection", "method": "POST", "path": "/v1/settings/endpoints/{endpoint_id}/test"},
    {"name": "save", "label": "Save", "method": "PUT", "path": "/v1/settings"},
    {"name": "delete", "label": "Delete", "method": "DELETE", "path": "/v1/settings/{endpoint_id}"},
)
_TRUE_OR_FALSE = ("(?i:true|false)", "true|false")
_WORDS = re.compile(r"[A-Za-z0-9_-]+(?:\|[A-Za-z0-9_-]+)+")
"""Patterns that a form has better than patterns for: a switch, and a choice."""


class SettingsForm(TypedDict):
    """The parts of the form; `schema` is always of JSON Schema."""

    endpoint: Schema
    routing: Schema
    service: Schema
    budgets: Schema
    fetching: Schema
    cache: Schema
    models: list[Schema]
    actions: list[dict[str, str]]
    badges: list[str]


def settings_form(protocols: Mapping[str, SearchProtocol], *, reveals: bool) -> SettingsForm:
    """`reveals` tells whether the operator lets saved keys be shown whole."""
    show = (
        ({"name": "reveal", "label": "Show key", "method": "POST", "path": "/v1/settings/reveal"},) if reveals else ()
    )
    return {
        "endpoint": {
            "prefix": f"{PREFIX_ENDPOINT}<id>.",
            "id_pattern": f"^{ID_PATTERN}$",
            "protocols": [_protocol_part(protocols[name]) for name in sorted(protocols)],
        },
        "routing": _schema({key: _routing_field(key) for key in _routing_keys()}),
        "service": _schema({**{knob.key: _knob_field(knob) for knob in KNOBS}, RERANK_RECIPE: _rerank_field()}),
        "budgets": _schema({each.name: _budget_field(each) for each in BUDGETS}),
        "fetching": _schema({each.name: _fetch_field(each) for each in FETCH}),
        "cache": _schema({cache_seconds_for(modality): _cache_field(modality) for modality in SearchModality}),
        "models": [
            {
                "prefix": f"{PREFIX_MODEL}{role}.",
                "schema": _schema({each.name: _field(each) for each in MODEL_SETTINGS}),
            }
            for role in ("primary", "harvest")
        ],
        "actions": [*_ACTIONS, *show],
        "badges": ["configured", "not_configured"],
    }


def _protocol_part(protocol: SearchProtocol) -> dict[str, Any]:
    described = protocol.settings_part() if isinstance(protocol, DescribesSettings) else None
    part = described or SettingsPart(fields=COMMON_FIELDS, key_in="header")
    left_out = {*(() if part.key_in else (API_KEY,)), *(() if part.takes_base_url else (BASE_URL,))}
    properties = {each.name: _field(each) for each in ENDPOINT_SUFFIXES if each.name not in left_out}
    properties |= {each.name: _own_field(each) for each in part.fields}
    properties[PROTOCOL] = {"const": protocol.id(), "title": _LABELS[PROTOCOL]}
    required = [PROTOCOL, *(each.name for each in part.fields if each.required)]
    if part.default_base_url:
        properties[BASE_URL]["default"] = part.default_base_url
    elif part.takes_base_url and described:
        required.append(BASE_URL)
    return {
        "id": protocol.id(),
        "title": protocol.display_name(),
        "modalities": sorted(protocol.modalities_supported()),
        "hint": part.hint,
        "documentation": part.documentation,
        "key": {
            "taken": part.key_in is not None,
            "required": part.key_required,
            "sent_in": part.key_in if described else None,
            "variables": list(part.key_variables),
        },
        "schema": _schema(properties, required, open_ended=described is None),
        "ui": _ui(properties),
    }


def _field(suffix: Suffix) -> Schema:
    if suffix.kind == "password":
        return {**_KEY, "title": _title(suffix.name), "description": suffix.documentation}
    schema: Schema = {
        "type": _TYPES.get(suffix.kind, "string"),
        "title": _title(suffix.name),
        "description": f"{suffix.documentation} Must be {suffix.expects}.",
    }
    if suffix.name == BASE_URL:
        schema |= {"format": "uri", "pattern": "^https?://", "maxLength": LONGEST_VALUE}
    if suffix.name == "creditKind":
        schema["enum"] = list(CreditKind)
    default = _typed(suffix)
    return schema if default is None else {**schema, "default": default}


def _typed(suffix: Suffix) -> bool | float | str | None:
    """The default as JSON has it; None where the table describes it in words."""
    if suffix.kind == "bool":
        return suffix.default == "true"
    try:
        number = float(suffix.default)
    except ValueError:
        return suffix.default if _is_choice(suffix.name) else None
    return int(number) if suffix.kind == "int" else number


def _is_choice(name: str) -> bool:
    return name in ("creditKind", "structured") or is_budget_period(name)


def _own_field(field: SettingField) -> Schema:
    schema: Schema = {"title": field.title, "description": field.description}
    if field.pattern in _TRUE_OR_FALSE:
        return {**schema, "type": "boolean", "default": field.default == "true"}
    if _WORDS.fullmatch(field.pattern):
        schema["enum"] = field.pattern.split("|")
    schema |= {"type": "string", "pattern": f"^(?:{field.pattern})$", "maxLength": LONGEST_VALUE}
    return schema if field.default is None else {**schema, "default": field.default}


def _ui(properties: Mapping[str, Schema]) -> dict[str, Any]:
    shown = [name for name in _LABELS if name in properties]
    return {
        "order": [*shown, *(name for name in properties if name not in shown)],
        "advanced": [name for name in properties if name not in shown],
        "widgets": {name: _WIDGETS[name] for name in shown if name in _WIDGETS},
        "help": {name: text for name, text in _HELP.items() if name in properties},
    }


_WIDGETS = {PROTOCOL: "select", API_KEY: "password", ENABLED: "switch"}


def _schema(properties: Schema, required: Iterable[str] = (), *, open_ended: bool = False) -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": open_ended,
    }


def _routing_keys() -> list[str]:
    return [key for modality in SearchModality for key in (default_for(modality), fallback_for(modality))]


def _routing_field(key: str) -> Schema:
    one = key.startswith("research.default.")
    description = "Endpoint that is asked first." if one else "Endpoints that are asked next, separated by commas."
    pattern = ID_PATTERN if one else rf"{ID_PATTERN}(?:\s*,\s*{ID_PATTERN})*"
    return {"type": "string", "title": key.rpartition(".")[2], "description": description, "pattern": f"^{pattern}$"}


def _knob_field(knob: Any) -> Schema:
    return {
        "type": "integer",
        "title": knob.key.removeprefix("research."),
        "description": knob.documentation,
        "minimum": knob.least,
        "maximum": knob.most,
        "default": knob.default,
    }


def _cache_field(modality: SearchModality) -> Schema:
    return {
        "type": "integer",
        "title": modality.lower(),
        "description": "How many seconds an answer is kept; 0 keeps none.",
        "minimum": 0,
        "maximum": LONGEST_CACHE_SECONDS,
        "default": 0,
    }


def _budget_field(budget: Suffix) -> Schema:
    schema = {**_field(budget), "title": budget.name.removeprefix("research.")}
    return {**schema, "enum": list(BudgetPeriod)} if is_budget_period(budget.name) else {**schema, "minimum": 0}


def _fetch_field(setting: Suffix) -> Schema:
    schema = {**_field(setting), "title": setting.name.removeprefix(PREFIX_FETCH)}
    return {**schema, "minimum": 0, "maximum": LONGEST_INTERVAL} if setting.kind == "int" else schema


def _rerank_field() -> Schema:
    return {"type": "string", "title": "Re-rank recipe", "enum": list(RERANK_RECIPES)}


def _title(name: str) -> str:
    """`costPerCall` reads "Cost per call", unless the seed has its own word."""
    words = re.sub(r"(?<=[a-z])([A-Z])", lambda found: f" {found.group(1).lower()}", name)
    return _LABELS.get(name, words[:1].upper() + words[1:])
