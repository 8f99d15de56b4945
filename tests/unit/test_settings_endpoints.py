"""Settings to endpoints: each on its own, and no key where its owner did not want it."""

from collections.abc import Mapping

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.parameter_store import InMemoryParameterStore
from zarniwoop.contract.modality import SearchModality
from zarniwoop.settings.cascade import SettingsReader
from zarniwoop.settings.credentials import KnownProtocol, marks_of
from zarniwoop.settings.endpoints import (
    CreditKind,
    EndpointSettings,
    Misconfigured,
    ResearchSettings,
    research_settings,
)
from zarniwoop.settings.levels import Place
from zarniwoop.settings.names import KNOBS, endpoint_setting

TENANT = Place(tenant_id="acme")
PROJECT = Place(tenant_id="acme", project_id="demo")
PROCESS = Place(tenant_id="acme", project_id="demo", process_id="night-run")
PROTOCOLS = {
    "serper": KnownProtocol(
        default_base_url="https://google.serper.dev/",
        key_required=True,
        key_variable="SERPER_API_KEY",
        takes_generic_key=True,
    ),
    "pubmed": KnownProtocol(default_base_url="https://eutils.ncbi.nlm.nih.gov", key_variable="NCBI_API_KEY"),
    "searxng": KnownProtocol(),
    "solr": KnownProtocol(key_required=True, steering=("core", "filterQuery")),
    "bedrock-kb": KnownProtocol(by_role=True, steering=("knowledgeBaseId", "filter")),
}
KEY = "key-0123456789"


class Saved:
    """Settings in memory, saved one by one and validated together."""

    def __init__(self) -> None:
        self.store = InMemoryParameterStore()
        self._reader = SettingsReader(self.store, FakeClock(), lambda _values: 0.0)

    def endpoint(self, instance_id: str, place: Place = PROJECT, **suffixes: str) -> "Saved":
        for suffix, value in suffixes.items():
            self.store.put(place, endpoint_setting(instance_id, suffix), value)
        return self

    def setting(self, key: str, value: str, *, secure: bool = False) -> "Saved":
        self.store.put(PROJECT, key, value, secure=secure)
        return self

    def read(self, environment: Mapping[str, str] | None = None) -> ResearchSettings:
        return research_settings(self._reader.read("acme", "demo", "night-run"), PROTOCOLS, environment or {})

    def only(self, environment: Mapping[str, str] | None = None) -> EndpointSettings:
        settings = self.read(environment)
        assert settings.misconfigured == ()
        (endpoint,) = settings.endpoints
        return endpoint

    def fault(self, environment: Mapping[str, str] | None = None) -> Misconfigured:
        settings = self.read(environment)
        assert settings.endpoints == ()
        (fault,) = settings.misconfigured
        return fault


@pytest.fixture
def saved() -> Saved:
    return Saved()


def test_an_endpoint_needs_nothing_but_its_protocol(saved: Saved) -> None:
    """Everything else has a default."""
    endpoint = saved.endpoint("pubmed", protocol="pubmed").only()
    assert (endpoint.id, endpoint.protocol, endpoint.base_url, endpoint.credential_key) == (
        "pubmed",
        "pubmed",
        None,
        None,
    )
    assert (endpoint.enabled, endpoint.priority, endpoint.cost_per_call) == (True, 100, 0.0)
    assert (endpoint.auto_allow, endpoint.may_be_asked_unnamed, len(endpoint.fingerprint)) == (False, True, 16)
    assert (endpoint.credit_kind, endpoint.credit_limit, dict(endpoint.extras)) == (CreditKind.NONE, None, {})


def test_everything_that_is_set_arrives(saved: Saved) -> None:
    """The known suffixes in their types, the others as they are spelt."""
    saved.endpoint("serper-main", TENANT, protocol=" serper ", apiKey=KEY, enabled="false", priority="7")
    saved.endpoint("serper-main", costPerCall="0.3", creditKind="monthly", creditLimit="2500", userAgent="us/1")
    saved.endpoint("serper-main", autoAllow="true")
    endpoint = saved.only()
    assert (endpoint.enabled, endpoint.priority, endpoint.cost_per_call) == (False, 7, 0.3)
    assert (endpoint.credit_kind, endpoint.credit_limit) == (CreditKind.MONTHLY, 2500.0)
    assert endpoint.auto_allow is True
    assert endpoint.extras == {"userAgent": "us/1"}
    assert endpoint.credential_key == "/zarniwoop/test/acme/_tenant/research/endpoint/serper-main/apiKey"


def test_without_a_protocol_an_endpoint_is_ignored(saved: Saved) -> None:
    """As in the seed: neither an endpoint nor a fault."""
    assert saved.endpoint("serper-main", apiKey=KEY, enabled="maybe").read() == ResearchSettings()


def test_endpoints_come_by_priority_and_then_by_id(saved: Saved) -> None:
    for name, priority in (("c", "100"), ("b", "200"), ("a", "100")):
        saved.endpoint(name, protocol="pubmed", priority=priority)
    assert [endpoint.id for endpoint in saved.read().endpoints] == ["a", "c", "b"]


WRONG = [
    ("enabled", "maybe"),
    ("priority", "x"),
    ("priority", "1.5"),
    ("costPerCall", "-1"),
    ("costPerCall", "nan"),
    ("creditKind", "weekly"),
    ("creditLimit", "inf"),
    ("autoAllow", "sometimes"),
    ("protocol", "altavista"),
    ("contactEmail", "é" * 2049),
    ("baseUrl", "ftp://example.org"),
    ("baseUrl", "example.org"),
    ("baseUrl", "https://"),
    ("baseUrl", "https://user:secret@example.org"),
    ("baseUrl", "https://example.org/?api_key=secret"),
    ("baseUrl", "https://example.org/#top"),
    ("baseUrl", "https://example.org\\@evil.test"),
    ("baseUrl", "https://exa mple.org"),
]


@pytest.mark.parametrize(("suffix", "value"), WRONG)
def test_a_malformed_setting_disables_its_endpoint_and_no_other(saved: Saved, suffix: str, value: str) -> None:
    """It is named with a reason in our words, which does not repeat the value."""
    saved.endpoint("wrong", protocol="pubmed").endpoint("right", protocol="pubmed")
    saved.store.put_unchecked(PROJECT, endpoint_setting("wrong", suffix), value)
    settings = saved.read()
    assert [endpoint.id for endpoint in settings.endpoints] == ["right"]
    (fault,) = settings.misconfigured
    assert (fault.instance_id, fault.setting) == ("wrong", suffix)
    assert fault.reason.startswith("must ")
    assert value not in fault.reason


def test_all_faults_of_an_endpoint_are_told_at_once(saved: Saved) -> None:
    saved.endpoint("wrong", protocol="serper", enabled="maybe", priority="x", baseUrl="?")
    assert {fault.setting for fault in saved.read().misconfigured} == {"enabled", "priority", "baseUrl"}


@pytest.mark.parametrize("instance_id", ["Serper", "_serper", "-", "a" * 64])
def test_an_impossible_id_is_told_of(saved: Saved, instance_id: str) -> None:
    fault = saved.endpoint(instance_id, protocol="pubmed").fault()
    assert (fault.instance_id, fault.setting) == (instance_id, "id")


@pytest.mark.parametrize("suffix", ["baseUrl", "contactEmail"])
def test_only_the_key_may_be_a_secure_string(saved: Saved, suffix: str) -> None:
    """What is not decrypted cannot be used, and silence would be confusing."""
    saved.endpoint("pubmed", protocol="pubmed").setting(endpoint_setting("pubmed", suffix), "value", secure=True)
    assert saved.fault().setting == suffix


def test_a_key_is_looked_for_in_three_places(saved: Saved) -> None:
    """Saved, then the protocol's variable, then the generic one where the protocol takes it."""
    saved.endpoint("serper-main", protocol="serper")
    everything = {"SERPER_API_KEY": "m1", "WEB_SEARCH_API_KEY": "m2", "NCBI_API_KEY": "m3"}
    assert saved.only({"WEB_SEARCH_API_KEY": "m2"}).credential_key == "env:WEB_SEARCH_API_KEY"
    assert saved.only(everything).credential_key == "env:SERPER_API_KEY"
    saved.endpoint("serper-main", apiKey=KEY)
    assert str(saved.only(everything).credential_key).endswith("/serper-main/apiKey")


def test_a_generic_key_goes_only_to_protocols_that_take_it(saved: Saved) -> None:
    assert saved.endpoint("pubmed", protocol="pubmed").only({"WEB_SEARCH_API_KEY": "m"}).credential_key is None


def test_a_required_key_that_is_nowhere_is_told_of(saved: Saved) -> None:
    """With the way out; a disabled endpoint needs none."""
    fault = saved.endpoint("serper-main", protocol="serper").fault()
    assert (fault.setting, fault.reason) == ("apiKey", "the protocol needs a key: save one, or set SERPER_API_KEY")
    assert saved.endpoint("serper-main", enabled="false").only().credential_key is None


@pytest.mark.parametrize(
    ("key_place", "url_place", "trusted"),
    [
        (TENANT, TENANT, True),
        (TENANT, PROJECT, False),
        (TENANT, PROCESS, False),
        (PROJECT, TENANT, True),
        (PROJECT, PROJECT, True),
        (PROJECT, PROCESS, False),
        (PROCESS, TENANT, True),
        (PROCESS, PROCESS, True),
    ],
)
def test_a_key_is_never_used_with_a_less_trusted_base_url(
    saved: Saved, key_place: Place, url_place: Place, trusted: bool
) -> None:
    """Who may set a project's base URL cannot have the tenant's key sent there."""
    saved.endpoint("serper-main", TENANT, protocol="serper").endpoint("serper-main", key_place, apiKey=KEY)
    saved.endpoint("serper-main", url_place, baseUrl="https://mirror.example.org")
    if trusted:
        endpoint = saved.only()
        assert endpoint.base_url == "https://mirror.example.org"
        assert endpoint.credential_key == key_place.path("/zarniwoop/test") + "/research/endpoint/serper-main/apiKey"
    else:
        fault = saved.fault()
        assert fault.setting == "apiKey"
        assert f"save a key at the {url_place.level} level" in fault.reason


def test_a_base_url_that_is_the_protocols_own_is_trusted(saved: Saved) -> None:
    """Spelling it out changes nothing, at whatever level."""
    saved.endpoint("serper-main", TENANT, protocol="serper", apiKey=KEY)
    saved.endpoint("serper-main", PROCESS, baseUrl="https://google.serper.dev")
    assert saved.only().credential_key is not None


def test_a_key_is_never_handed_to_another_protocol_at_a_less_trusted_level(saved: Saved) -> None:
    """A project that turns the tenant's endpoint into another provider's does not take the tenant's key along."""
    saved.endpoint("serper-main", TENANT, protocol="serper", apiKey=KEY)
    saved.endpoint("serper-main", PROJECT, protocol="pubmed")
    assert "where a protocol set at the project level says" in saved.fault().reason


def test_the_operators_key_goes_to_the_protocols_own_base_url_only(saved: Saved) -> None:
    """A required key is then missing; an optional one is left out."""
    saved.endpoint("serper-main", TENANT, protocol="serper", baseUrl="https://mirror.example.org")
    fault = saved.fault({"SERPER_API_KEY": "m"})
    assert (fault.setting, "save a key at the tenant level" in fault.reason) == ("apiKey", True)
    saved.endpoint("serper-main", TENANT, protocol="pubmed")
    assert saved.only({"NCBI_API_KEY": "m"}).credential_key is None


def test_a_fingerprint_changes_with_every_setting_and_with_the_key(saved: Saved) -> None:
    """So a cooldown of old settings is void; and reading twice changes nothing."""
    saved.endpoint("serper-main", protocol="serper", apiKey=KEY)
    seen = [saved.only().fingerprint, saved.only().fingerprint]
    assert seen[0] == seen[1]
    for suffix, value in {
        "apiKey": "key-9876543210",
        "baseUrl": "https://mirror.example.org",
        "priority": "1",
        "enabled": "false",
        "userAgent": "us/1",
    }.items():
        seen.append(saved.endpoint("serper-main", PROJECT, **{suffix: value}).only().fingerprint)
    assert len(set(seen)) == 6


def test_a_corrected_variable_changes_the_fingerprint_without_being_in_it(saved: Saved) -> None:
    """The operator replaces a rejected key: the endpoint is asked again."""
    saved.endpoint("serper-main", protocol="serper")
    marks = [marks_of({"SERPER_API_KEY": value, "NCBI_API_KEY": ""}, "/zarniwoop/test") for value in (KEY, KEY + "0")]
    assert [set(mark) for mark in marks] == [{"SERPER_API_KEY"}] * 2
    assert saved.only(marks[0]).fingerprint != saved.only(marks[1]).fingerprint


def test_no_secret_is_anywhere_in_the_settings(saved: Saved) -> None:
    """Not in an endpoint, not in its representation."""
    saved.endpoint("serper-main", protocol="serper", apiKey=KEY)
    assert KEY not in repr(saved.read())


def test_routing_names_a_default_and_fallbacks(saved: Saved) -> None:
    """Modalities in lower case, lists with or without spaces, each name once, unknown endpoints included."""
    saved.setting("research.default.academic", " openalex ")
    saved.setting("research.fallback.internal_doc", "pubmed, arxiv,,pubmed")
    settings = saved.read()
    assert settings.defaults == {SearchModality.ACADEMIC: "openalex"}
    assert settings.fallbacks == {SearchModality.INTERNAL_DOC: ("pubmed", "arxiv")}
    assert settings.misconfigured == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("research.default.smell", "serper"),
        ("research.default.WEB", "serper"),
        ("research.default.web", "a,b"),
        ("research.default.web", "Not An Id"),
        ("research.fallback.web", "one,Not An Id"),
        ("research.fallback.web", ","),
    ],
)
def test_wrong_routing_is_told_of(saved: Saved, key: str, value: str) -> None:
    settings = saved.setting(key, value).read()
    (fault,) = settings.misconfigured
    assert (fault.instance_id, fault.setting) == ("", key)
    assert settings.defaults == {}
    assert settings.fallbacks.get(SearchModality.WEB, ()) in ((), ("one",))


def test_secure_routing_is_told_of(saved: Saved) -> None:
    settings = saved.setting("research.default.web", "serper", secure=True).read()
    assert [fault.setting for fault in settings.misconfigured] == ["research.default.web"]


def test_answers_are_kept_where_a_setting_says_for_how_long(saved: Saved) -> None:
    """By modality; 0, the default, keeps none."""
    assert saved.read().cache_seconds == {}
    saved.setting("research.cache.ttlSeconds.web", " 900 ").setting("research.cache.ttlSeconds.rag", "0")
    settings = saved.setting("research.cache.ttlSeconds.internal_doc", "86400").read()
    assert settings.cache_seconds == {SearchModality.WEB: 900, SearchModality.INTERNAL_DOC: 86_400}
    assert settings.misconfigured == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("web", "soon"),
        ("web", "-1"),
        ("web", "1.5"),
        ("web", "86401"),
        ("WEB", "60"),
        ("x", "1"),
    ],
)
def test_a_malformed_time_to_keep_answers_keeps_none_and_is_told_of(saved: Saved, key: str, value: str) -> None:
    settings = saved.setting(f"research.cache.ttlSeconds.{key}", value).read()
    assert settings.cache_seconds == {}
    assert [fault.setting for fault in settings.misconfigured] == [f"research.cache.ttlSeconds.{key}"]


def test_knobs_have_defaults_and_can_be_set(saved: Saved) -> None:
    assert saved.read().knobs.quota_cache_ttl_minutes == 5
    saved.setting("research.quota.cache.ttlMinutes", "0").setting("research.log.retentionDays", " 90 ")
    knobs = saved.read().knobs
    assert (knobs.quota_cache_ttl_minutes, knobs.factory_cache_ttl_minutes, knobs.log_retention_days) == (0, 5, 90)


@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.key)
@pytest.mark.parametrize("value", ["x", "-1", "1.5", "٣", "99999", "9999999999"])
def test_a_malformed_knob_keeps_its_default_and_is_told_of(saved: Saved, knob: object, value: str) -> None:
    assert knob in KNOBS
    key = str(getattr(knob, "key", ""))
    settings = saved.setting(key, value).read()
    assert settings.knobs == ResearchSettings().knobs
    (fault,) = settings.misconfigured
    assert (fault.instance_id, fault.setting) == ("", key)


@pytest.mark.parametrize(("place", "level"), [(PROJECT, "project"), (PROCESS, "process")])
@pytest.mark.parametrize(
    ("protocol", "suffix", "wrong"), [("solr", "filterQuery", "apiKey"), ("bedrock-kb", "filter", "apiKey")]
)
def test_what_a_key_opens_is_not_said_at_a_less_trusted_level(
    saved: Saved, protocol: str, suffix: str, wrong: str, place: Place, level: str
) -> None:
    """A project could otherwise lift the filter that the tenant set on what its key, or the role, may read."""
    saved.endpoint("docs", TENANT, protocol=protocol, **{suffix: "team:bells"})
    if protocol == "solr":
        saved.store.put(TENANT, endpoint_setting("docs", "apiKey"), KEY, secure=True)
    assert saved.only().extras[suffix] == "team:bells"
    saved.endpoint("docs", place, **{suffix: "*:*"})
    fault = saved.fault()
    assert (fault.instance_id, fault.setting) == ("docs", wrong)
    assert f"a {suffix} set at the {level} level" in fault.reason
    assert "*:*" not in fault.reason


def test_other_settings_are_still_overridden_under_the_tenants_key(saved: Saved) -> None:
    """Priority, price and the like open nothing; and with a key of its own a project says what it opens."""
    saved.endpoint("docs", TENANT, protocol="solr", core="all", baseUrl="https://solr.example.org")
    saved.store.put(TENANT, endpoint_setting("docs", "apiKey"), KEY, secure=True)
    assert saved.endpoint("docs", PROJECT, priority="3").only().priority == 3
    saved.endpoint("docs", PROJECT, core="mine")
    assert saved.fault().setting == "apiKey"
    saved.store.put(PROJECT, endpoint_setting("docs", "apiKey"), KEY, secure=True)
    assert saved.only().extras["core"] == "mine"
