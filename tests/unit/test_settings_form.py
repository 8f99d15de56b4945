"""The settings form as data: every protocol brings its part, and what the form lets through is what is saved."""

from typing import Any

import jsonschema
import pytest

from tests.addon.zarniwoop_sample_addon import PROTOCOL as SHELF
from tests.fakes.clock import FakeClock
from tests.fakes.providers import FakeProtocol
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import SearchProtocol
from zarniwoop.documents.protocol import LocalIndexProtocol
from zarniwoop.settings.form import settings_form
from zarniwoop.settings.model_names import MODEL_SETTINGS
from zarniwoop.settings.names import ENDPOINT_SUFFIXES, KNOBS
from zarniwoop.wire.driver import WireProtocol

FAKE = FakeProtocol(FakeClock(), {})
ALL: dict[str, SearchProtocol] = {each.id(): each for each in (*BUILTIN, SHELF)} | {"fake": FAKE}
FORM = settings_form(ALL, reveals=False)
PARTS: dict[str, Any] = {part["id"]: part for part in FORM["endpoint"]["protocols"]}

every_builtin = pytest.mark.parametrize("protocol", BUILTIN, ids=lambda protocol: protocol.id())


def valid(schema: Any, value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def test_every_protocol_has_its_part_add_ons_too() -> None:
    """Whoever implements the SPI is offered in the list."""
    assert list(PARTS) == sorted(ALL)
    for part in PARTS.values():
        jsonschema.Draft202012Validator.check_schema(part["schema"])
        assert set(part["ui"]["order"]) == set(part["schema"]["properties"])
        assert part["modalities"]


@every_builtin
def test_a_part_has_the_fields_of_all_endpoints_and_its_own(protocol: WireProtocol) -> None:
    """A key and an address only where they are taken; its own base URL as the default."""
    part = PARTS[protocol.id()]
    properties = part["schema"]["properties"]
    declared = protocol.format
    common = {suffix.name for suffix in ENDPOINT_SUFFIXES} - ({"apiKey"} if declared.authentication is None else set())
    common -= {"baseUrl"} if declared.by_role else set()
    assert common | {field.name for field in declared.setting_fields} <= set(properties)
    assert ("apiKey" in properties) is part["key"]["taken"]
    assert ("baseUrl" in properties) is not declared.by_role
    assert properties.get("baseUrl", {}).get("default") == declared.default_base_url
    needs_address = declared.default_base_url is None and not declared.by_role
    assert ("baseUrl" in part["schema"]["required"]) is needs_address
    assert part["key"]["required"] is declared.key_required
    assert part["hint"]
    assert part["documentation"].startswith("https://")


@every_builtin
def test_no_pattern_is_written_as_only_python_reads_it(protocol: WireProtocol) -> None:
    """A form is drawn by a browser."""
    for schema in PARTS[protocol.id()]["schema"]["properties"].values():
        assert not any(mark in schema.get("pattern", "") for mark in ("(?i", "(?P", "(?x", "\\Z", "\\A")), schema


def test_a_field_of_a_few_words_is_a_choice_and_one_of_yes_and_no_a_switch() -> None:
    """As the adapters write them: patterns."""
    engine = PARTS["serpapi"]["schema"]["properties"]["engine"]
    assert (engine["enum"], engine["default"]) == (["google", "bing", "duckduckgo"], "google")
    assert PARTS["pubmed"]["schema"]["properties"]["abstracts"]["type"] == "boolean"


def test_what_stands_in_front_is_what_the_seed_shows() -> None:
    """Provider, address, key, results, time and the switch; all else may be collapsed."""
    part = PARTS["serper"]
    labels = [part["schema"]["properties"][name]["title"] for name in part["ui"]["order"][:6]]
    assert labels == [
        "WebSearch Provider",
        "API Base URL",
        "API Key",
        "Max Results",
        "Timeout Seconds",
        "Enable WebSearch",
    ]
    assert not set(part["ui"]["order"][:6]) & set(part["ui"]["advanced"])
    assert [action["label"] for action in FORM["actions"][:2]] == ["Test Connection", "Save"]


@pytest.mark.parametrize(
    ("protocol_id", "draft", "fits"),
    [
        ("serper", {"protocol": "serper", "apiKey": "k" * 20, "enabled": True, "maxResults": 5}, True),
        ("serper", {"protocol": "serper", "baseUrl": "ftp://example.org"}, False),
        ("serper", {"protocol": "serper", "creditKind": "weekly"}, False),
        ("serper", {"protocol": "brave"}, False),
        ("serper", {"apiKey": "k" * 20}, False),
        ("serper", {"protocol": "serper", "langauge": "de"}, False),
        ("pubmed", {"protocol": "pubmed", "abstracts": True}, True),
        ("pubmed", {"protocol": "pubmed", "contactEmail": "nobody"}, False),
        ("shelf", {"protocol": "shelf", "baseUrl": "https://shelf.example", "room": "4"}, True),
        ("shelf", {"protocol": "shelf", "baseUrl": "https://shelf.example"}, False),
        ("shelf", {"protocol": "shelf", "room": "4"}, False),
        ("fake", {"protocol": "fake", "anything": "goes", "apiKey": "k" * 20}, True),
    ],
)
def test_a_schema_lets_through_what_an_endpoint_can_be_made_of(
    protocol_id: str, draft: dict[str, Any], fits: bool
) -> None:
    """An add-on that is no wire format may have fields that nobody knows."""
    assert valid(PARTS[protocol_id]["schema"], draft) is fits


def test_a_protocol_that_is_no_wire_format_may_describe_itself_too() -> None:
    """The project's own documents have neither key nor address."""
    local = LocalIndexProtocol(store=_nothing, library=_nothing, ask_for_index=_nothing)
    (part,) = settings_form({"local-index": local}, reveals=False)["endpoint"]["protocols"]
    assert {"apiKey", "baseUrl"}.isdisjoint(part["schema"]["properties"])
    assert (part["schema"]["required"], part["key"]["taken"]) == (["protocol"], False)
    assert part["hint"]
    assert not valid(part["schema"], {"protocol": "local-index", "anything": "goes"})


def _nothing(*_arguments: Any) -> Any:
    raise AssertionError("a form asks nobody")


def test_how_long_answers_are_kept_has_a_field_per_modality() -> None:
    cache = FORM["cache"]
    assert len(cache["properties"]) == len(SearchModality)
    assert valid(cache, {"research.cache.ttlSeconds.internal_doc": 900})
    assert not valid(cache, {"research.cache.ttlSeconds.web": 86_401})
    assert not valid(cache, {"research.cache.ttlSeconds.everything": 1})


def test_routing_knobs_and_models_have_schemas_too() -> None:
    """Every modality, every knob, both roles."""
    routing = FORM["routing"]
    assert len(routing["properties"]) == 2 * len(SearchModality)
    assert valid(routing, {"research.default.web": "serper-main", "research.fallback.web": "a, b,c"})
    assert not valid(routing, {"research.default.web": "a,b"})
    service = FORM["service"]
    assert {knob.key for knob in KNOBS} < set(service["properties"])
    assert not valid(service, {"research.log.retentionDays": 0})
    assert [each["prefix"] for each in FORM["models"]] == ["llm.primary.", "llm.harvest."]
    assert set(FORM["models"][0]["schema"]["properties"]) == {each.name for each in MODEL_SETTINGS}


@pytest.mark.parametrize("reveals", [True, False])
def test_showing_a_key_is_offered_only_where_the_operator_lets_it(reveals: bool) -> None:
    """A button that always fails is none."""
    actions = {action["name"] for action in settings_form(ALL, reveals=reveals)["actions"]}
    assert ("reveal" in actions) is reveals


@pytest.mark.parametrize(
    ("protocol_id", "hint"),
    [
        ("tavily", "Good default for agent and RAG style search."),
        ("brave", "Uses Brave's independent search index."),
        ("serpapi", "Supports search-engine-specific parameters such as `engine`."),
        ("exa", "Good for semantic search and optional result text."),
        ("firecrawl", "Can search, and scrape pages into Markdown."),
    ],
)
def test_the_seeds_providers_have_the_seeds_hints(protocol_id: str, hint: str) -> None:
    """Seed 2, "Provider-specific UI hints"; each adapter brings its own."""
    if protocol_id in PARTS:
        assert PARTS[protocol_id]["hint"] == hint
