"""The settings that a local stack starts with."""

from stack.seeding import ENDPOINTS, ROUTING, SIMULATED_KEY, STANDING, settings
from zarniwoop.adapters import BUILTIN


def test_simulated_every_builtin_provider_has_an_endpoint_at_the_simulator() -> None:
    """Each one that has an address is reached under the simulator's URL, and no real provider is."""
    wanted = settings("http://127.0.0.1:1", {})

    bases = {key: value for key, value in wanted.items() if key.endswith(".baseUrl")}
    simulated = {protocol.id() for protocol in BUILTIN if not protocol.format.by_role}
    assert {endpoint.protocol for endpoint in ENDPOINTS} == simulated
    assert len(bases) == len(ENDPOINTS)
    assert all(value.startswith("http://127.0.0.1:1/") for value in bases.values())


def test_simulated_no_key_of_the_operator_is_used() -> None:
    """The simulator gets a key of its own, even where the operator has a real one."""
    wanted = settings("http://127.0.0.1:1", {"SERPER_API_KEY": "a-real-key"})

    assert {value for key, value in wanted.items() if key.endswith(".apiKey")} == {SIMULATED_KEY}


def test_for_real_only_endpoints_that_can_be_asked_are_seeded() -> None:
    """Without a key in the environment, Serper and OpenAlex are left out of endpoints and routing."""
    wanted = settings(None, {})

    assert not [key for key in wanted if key.endswith((".baseUrl", ".apiKey"))]
    assert wanted["research.default.web"] == "wikipedia-en"
    assert wanted["research.default.academic"] == "pubmed-main"
    assert "research.default.image" not in wanted
    assert "serper-main" not in "".join(wanted.values())


def test_for_real_a_key_in_the_environment_brings_its_endpoint() -> None:
    """SERPER_API_KEY is saved for serper-main, which is then asked first."""
    wanted = settings(None, {"SERPER_API_KEY": "a-real-key"})

    assert wanted["research.endpoint.serper-main.apiKey"] == "a-real-key"
    assert wanted["research.default.web"] == "serper-main"


def test_for_real_an_address_in_the_environment_brings_its_endpoint() -> None:
    """Unpaywall is asked in nobody's name but the operator's."""
    assert "unpaywall" not in "".join(settings(None, {}))

    wanted = settings(None, {"UNPAYWALL_EMAIL": "ops@library.test"})

    assert wanted["research.endpoint.unpaywall-main.contactEmail"] == "ops@library.test"


def test_for_real_the_address_of_one_s_own_instance_brings_its_endpoint() -> None:
    """SearXNG is nobody's service: whoever runs one says where."""
    assert "searxng" not in "".join(settings(None, {}))

    wanted = settings(None, {"SEARXNG_BASE_URL": "https://searx.house.test"})

    assert wanted["research.endpoint.searxng-main.baseUrl"] == "https://searx.house.test"


def test_routing_names_only_endpoints_that_exist() -> None:
    """A typo in the routing would show up as a misconfigured endpoint."""
    known = {STANDING, *(endpoint.id for endpoint in ENDPOINTS)}

    assert {name for order in ROUTING.values() for name in order} <= known
