"""Settings to models: two roles, one cascade, and no key where its owner did not want it."""

from collections.abc import Mapping

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.parameter_store import InMemoryParameterStore
from zarniwoop.contract.chat import ModelRole
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.request import SearchScope
from zarniwoop.llm.protocols import CHAT_FORMATS, MODEL_PROTOCOLS
from zarniwoop.settings.cascade import SettingsReader
from zarniwoop.settings.levels import Place
from zarniwoop.settings.misconfigured import Misconfigured
from zarniwoop.settings.model_names import MODEL_SETTINGS
from zarniwoop.settings.models import (
    ModelSettings,
    ModelSettingsReader,
    ModelsInForce,
    Structured,
    model_settings,
)
from zarniwoop.settings.names import MODEL_KEY_VARIABLES, model_setting

TENANT = Place(tenant_id="acme")
PROJECT = Place(tenant_id="acme", project_id="demo")
KEY = "key-0123456789"
OPERATOR = {"OPENAI_API_KEY": "mark0001"}


class Saved:
    """Settings in memory, saved one by one and validated together."""

    def __init__(self) -> None:
        self.store = InMemoryParameterStore()
        self.clock = FakeClock()
        self.reader = SettingsReader(self.store, self.clock, lambda _values: 0.0)

    def role(self, role: str, place: Place = PROJECT, /, **suffixes: str) -> "Saved":
        for suffix, value in suffixes.items():
            self.store.put(place, f"llm.{role}.{suffix}", value)
        return self

    def read(self, environment: Mapping[str, str] | None = None) -> ModelsInForce:
        return model_settings(self.reader.read("acme", "demo"), MODEL_PROTOCOLS, environment or {})

    def sound(self, role: ModelRole = ModelRole.PRIMARY, environment: Mapping[str, str] | None = None) -> ModelSettings:
        models = self.read(environment)
        assert models.misconfigured == ()
        return models.by_role[role]

    def fault(self, environment: Mapping[str, str] | None = None) -> Misconfigured:
        (fault,) = self.read(environment).misconfigured
        return fault


@pytest.fixture
def saved() -> Saved:
    return Saved()


def test_without_settings_both_roles_are_built_in(saved: Saved) -> None:
    """No model is needed to work at all; other settings are none of a model's."""
    saved.store.put(PROJECT, "research.endpoint.wiki.protocol", "wikipedia")
    assert saved.read() == ModelsInForce(by_role={role: ModelSettings(role=role) for role in ModelRole})
    assert saved.sound().protocol == "builtin"


def test_everything_that_is_set_arrives(saved: Saved) -> None:
    """In its type; the key as the name of where it lies."""
    saved.role("primary", TENANT, protocol="openai", baseUrl="http://127.0.0.1:8080/v1/", apiKey=KEY, model=" qwen3 ")
    saved.role("primary", TENANT, maxTokens="8000", contextTokens="32000", temperature="0.3", structured="json_object")
    saved.role("primary", TENANT, costPerMillionInput="0.25", costPerMillionOutput="2", timeoutSeconds="90.5")
    saved.role("primary", TENANT, region="eu-central-1", maxParallel="7")
    assert saved.sound() == ModelSettings(
        role=ModelRole.PRIMARY,
        protocol="openai",
        base_url="http://127.0.0.1:8080/v1",
        credential_key="/zarniwoop/test/acme/_tenant/llm/primary/apiKey",
        model="qwen3",
        max_tokens=8000,
        context_tokens=32_000,
        temperature=0.3,
        structured=Structured.JSON_OBJECT,
        cost_per_million_input=0.25,
        cost_per_million_output=2.0,
        timeout_seconds=90.5,
        region="eu-central-1",
        max_parallel=7,
    )


def test_the_table_of_names_is_what_is_read(saved: Saved) -> None:
    """A suffix that the table does not have is a fault; each one that it has is none by its name."""
    for suffix in MODEL_SETTINGS:
        saved.role("primary", **{suffix.name: "x"})
    told = {fault.setting for fault in saved.read().misconfigured}
    assert told < {model_setting(ModelRole.PRIMARY, suffix.name) for suffix in MODEL_SETTINGS}
    saved.role("primary", maxToken="5")
    assert "llm.primary.maxToken" in {fault.setting for fault in saved.read().misconfigured}


def test_a_harvest_model_is_the_primary_one_with_its_own_settings_over_it(saved: Saved) -> None:
    """A smaller model of the same provider needs nothing but its name."""
    saved.role("primary", protocol="openai", baseUrl="https://m.test/v1", apiKey=KEY, model="large", maxTokens="900")
    saved.role("harvest", model="small", maxParallel="9")
    harvest = saved.sound(ModelRole.HARVEST)
    assert (harvest.role, harvest.model, harvest.max_tokens, harvest.max_parallel) == (
        ModelRole.HARVEST,
        "small",
        900,
        9,
    )
    assert harvest.credential_key == saved.sound().credential_key
    assert saved.sound().model == "large"


@pytest.mark.parametrize("own", [{"baseUrl": "https://other.test/v1"}, {"protocol": "openai"}])
def test_a_harvest_model_elsewhere_never_gets_the_primary_ones_key(saved: Saved, own: dict[str, str]) -> None:
    """It stands alone, with the defaults of all that it does not say."""
    saved.role("primary", protocol="openai", baseUrl="https://m.test/v1", apiKey=KEY, model="large")
    saved.role("harvest", **{"protocol": "openai", "baseUrl": "https://other.test/v1", "model": "small", **own})
    assert saved.sound(ModelRole.HARVEST).credential_key is None


def test_the_innermost_level_wins(saved: Saved) -> None:
    """The same cascade as for endpoints."""
    saved.role("primary", TENANT, protocol="openai", baseUrl="https://m.test/v1", model="large", maxTokens="900")
    assert saved.role("primary", PROJECT, model="small").sound().model == "small"


def test_a_key_is_not_sent_where_a_less_trusted_level_says(saved: Saved) -> None:
    """Otherwise a project could have the tenant's key sent to itself."""
    saved.role("primary", TENANT, protocol="openai", model="large", apiKey=KEY)
    assert saved.sound().credential_key is not None
    saved.role("primary", PROJECT, baseUrl="https://mine.test/v1")
    fault = saved.fault()
    assert fault.setting == "llm.primary.apiKey"
    assert "is not sent where a baseUrl set at the project level says" in fault.reason


def test_an_operators_key_goes_to_the_protocols_own_address_only(saved: Saved) -> None:
    """The variable counts where no key is saved; elsewhere it is as if it were not there."""
    saved.role("primary", protocol="openai", model="large")
    assert saved.sound(environment=OPERATOR).credential_key == "env:OPENAI_API_KEY"
    saved.role("primary", baseUrl="https://mine.test/v1")
    assert saved.sound(environment=OPERATOR).credential_key is None


def test_the_protocols_own_address_wants_a_key(saved: Saved) -> None:
    """A server of one's own may want none. Told once, though both roles lack it."""
    saved.role("primary", protocol="anthropic", model="claude")
    assert saved.fault() == Misconfigured(
        instance_id="",
        setting="llm.primary.apiKey",
        reason="the protocol needs a key: save one, or set ANTHROPIC_API_KEY",
    )
    assert saved.read().by_role == {}


def test_bedrock_needs_neither_address_nor_key(saved: Saved) -> None:
    """The function's own role is what it is asked with."""
    saved.role("primary", protocol="bedrock", model="amazon.nova-lite-v1:0", baseUrl="https://mine.test", apiKey=KEY)
    assert saved.sound().credential_key is None


@pytest.mark.parametrize(
    ("suffix", "value", "reason"),
    [
        ("protocol", "cohere", "must be openai, anthropic, bedrock or builtin"),
        ("baseUrl", "ftp://x", "must be an http or https URL without user name, query or fragment"),
        ("baseUrl", "https://u:p@m.test", "must be an http or https URL without user name, query or fragment"),
        ("model", "m" * 257, "must be a model id of at most 256 characters"),
        ("maxTokens", "15", "must be a whole number from 16 to 200000"),
        ("maxTokens", "many", "must be a whole number from 16 to 200000"),
        ("contextTokens", "999", "must be a whole number from 1000 to 2000000"),
        ("temperature", "2.5", "must be a number from 0 to 2"),
        ("temperature", "nan", "must be a number from 0 to 2"),
        ("structured", "xml", "must be auto, json_schema, json_object or prompt"),
        ("costPerMillionInput", "-1", "must be a number of at least 0"),
        ("costPerMillionOutput", "inf", "must be a number of at least 0"),
        ("timeoutSeconds", "0", "must be a number from 1 to 900"),
        ("timeoutSeconds", "nan", "must be a number from 1 to 900"),
        ("region", "Frankfurt", "must be an AWS region"),
        ("maxParallel", "0", "must be a whole number from 1 to 64"),
    ],
)
def test_a_wrong_value_is_told_of_without_showing_it(saved: Saved, suffix: str, value: str, reason: str) -> None:
    """And the role cannot be used until it is mended; nothing else stands in for it."""
    saved.role("primary", protocol="openai", baseUrl="https://m.test/v1", model="large")
    saved.role("primary", **{suffix: value})
    models = saved.read()
    assert models.misconfigured == (Misconfigured(instance_id="", setting=f"llm.primary.{suffix}", reason=reason),)
    assert models.by_role == {}


def test_a_wrong_harvest_setting_leaves_the_primary_model_alone(saved: Saved) -> None:
    """And the other way round it takes the harvest model along, which inherits it."""
    saved.role("primary", protocol="openai", baseUrl="https://m.test/v1", model="large").role("harvest", maxTokens="1")
    assert saved.fault().setting == "llm.harvest.maxTokens"
    assert set(saved.read().by_role) == {ModelRole.PRIMARY}


def test_a_model_must_be_named(saved: Saved) -> None:
    """There is no default that would be right anywhere."""
    saved.role("primary", protocol="openai", baseUrl="https://m.test/v1")
    assert saved.fault().reason == "is required by protocol openai"


def test_what_is_no_setting_of_a_model_is_told_of(saved: Saved) -> None:
    """A misspelt role or suffix would otherwise be silently without effect."""
    saved.role("secondary", model="x")
    assert saved.fault().setting == "llm.secondary.model"


def test_a_value_saved_as_a_secret_is_told_of(saved: Saved) -> None:
    """It could not be read. Nor may a value be longer than a parameter."""
    saved.store.put(PROJECT, "llm.primary.model", "large", secure=True)
    assert saved.fault().reason == "must be saved as a String: only apiKey may be a SecureString"
    saved.store.put_unchecked(PROJECT, "llm.primary.model", "é" * 2049)
    assert saved.fault().reason == "must not be longer than 4096 bytes"


def test_how_many_harvest_calls_run_at_once_has_a_default_of_the_operators(saved: Saved) -> None:
    """`HARVEST_MAX_PARALLEL` of the environment, unless a setting says otherwise."""
    effective = saved.reader.read("acme", "demo")
    models = model_settings(effective, MODEL_PROTOCOLS, {}, max_parallel=2)
    assert models.by_role[ModelRole.HARVEST].max_parallel == 2


def test_models_are_read_for_a_scope(saved: Saved) -> None:
    """A process may have a model of its own."""
    saved.role("primary", protocol="bedrock", model="one")
    saved.role("primary", Place(tenant_id="acme", project_id="demo", process_id="night"), model="two")
    reader = ModelSettingsReader(saved.reader, MODEL_PROTOCOLS, {})

    def model(process_id: str | None) -> str:
        deadline = Deadline.after(20.0, saved.clock)
        scope = SearchScope(tenant_id="acme", project_id="demo", process_id=process_id, deadline=deadline)
        return reader.read(scope).by_role[ModelRole.PRIMARY].model

    assert (model(None), model("night")) == ("one", "two")


def test_the_operators_variables_are_those_of_the_formats() -> None:
    """Named twice so that a search need not import the formats."""
    assert {each.key_variable for each in CHAT_FORMATS} == set(MODEL_KEY_VARIABLES)
