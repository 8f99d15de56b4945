"""The settings that a local stack starts with: one endpoint per built-in provider, and who is asked first.

Simulated, every endpoint points at the provider simulator and has a key where its provider wants one. Otherwise the
keyless providers are asked for real, and those with a key when the operator's variable holds it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stack.target import Target
from zarniwoop.contract.modality import SearchModality
from zarniwoop.settings.levels import Place
from zarniwoop.settings.names import API_KEY, BASE_URL, PROTOCOL, default_for, endpoint_setting, fallback_for
from zarniwoop.settings.writer import SsmSettingsWriter

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

TENANT = "local"
PROJECT = "demo"
SIMULATED_KEY = "simulated-key-0123456789"
"""What the simulator takes for a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint to save. `path` follows the simulator's URL; one with a `key_variable` needs the operator's key."""

    id: str
    protocol: str
    path: str
    key_variable: str | None = None
    extras: Mapping[str, str] = field(default_factory=dict)


ENDPOINTS = (
    Endpoint(id="serper-main", protocol="serper", path="/serper", key_variable="SERPER_API_KEY"),
    Endpoint(id="wikipedia-en", protocol="wikipedia", path="/wikipedia/en", extras={"language": "en"}),
    Endpoint(id="wikipedia-de", protocol="wikipedia", path="/wikipedia/de", extras={"language": "de"}),
    Endpoint(id="openalex-main", protocol="openalex", path="/openalex", key_variable="OPENALEX_API_KEY"),
    Endpoint(id="pubmed-main", protocol="pubmed", path="/pubmed"),
    Endpoint(id="arxiv-main", protocol="arxiv", path="/arxiv"),
    Endpoint(id="openlibrary-main", protocol="openlibrary", path="/openlibrary"),
    Endpoint(id="hackernews-main", protocol="hackernews", path="/hackernews"),
)

ROUTING: Mapping[SearchModality, tuple[str, ...]] = {
    SearchModality.WEB: ("serper-main", "wikipedia-en", "hackernews-main"),
    SearchModality.IMAGE: ("serper-main",),
    SearchModality.VIDEO: ("serper-main",),
    SearchModality.PDF: ("serper-main",),
    SearchModality.NEWS: ("serper-main", "hackernews-main"),
    SearchModality.ACADEMIC: ("openalex-main", "pubmed-main", "arxiv-main", "serper-main"),
    SearchModality.ENCYCLOPEDIA: ("wikipedia-en", "wikipedia-de"),
    SearchModality.BOOK: ("openlibrary-main",),
}


def seed(target: Target, settings_root: str, simulator_url: str | None, keys: Mapping[str, str]) -> None:
    """Save endpoints and routing for the tenant. `keys` are the operator's, by variable."""
    client: SSMClient = target.session().client("ssm", endpoint_url=target.endpoint_url)
    writer = SsmSettingsWriter(client, settings_root)
    for key, value in settings(simulator_url, keys).items():
        writer.put(Place(tenant_id=TENANT), key, value)


def settings(simulator_url: str | None, keys: Mapping[str, str]) -> dict[str, str]:
    """Every setting to save, by its key."""
    if simulator_url is not None:
        keys = {endpoint.key_variable: SIMULATED_KEY for endpoint in ENDPOINTS if endpoint.key_variable}
    usable = [endpoint for endpoint in ENDPOINTS if endpoint.key_variable is None or endpoint.key_variable in keys]
    wanted: dict[str, str] = {}
    for endpoint in usable:
        wanted[endpoint_setting(endpoint.id, PROTOCOL)] = endpoint.protocol
        if simulator_url is not None:
            wanted[endpoint_setting(endpoint.id, BASE_URL)] = simulator_url + endpoint.path
        if endpoint.key_variable is not None:
            wanted[endpoint_setting(endpoint.id, API_KEY)] = keys[endpoint.key_variable]
        for name, value in endpoint.extras.items():
            wanted[endpoint_setting(endpoint.id, name)] = value
    return wanted | _routing({endpoint.id for endpoint in usable})


def _routing(usable: set[str]) -> dict[str, str]:
    wanted: dict[str, str] = {}
    for modality, order in ROUTING.items():
        first, *others = [instance_id for instance_id in order if instance_id in usable] or [""]
        if first:
            wanted[default_for(modality)] = first
        if others:
            wanted[fallback_for(modality)] = ",".join(others)
    return wanted
