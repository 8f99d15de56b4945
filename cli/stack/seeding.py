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
STANDING = "local-index"
"""The endpoint that every stack has without a setting."""
SIMULATED_KEY = "simulated-key-0123456789"
"""What the simulator takes for a key."""

SIMULATED_CONTACT = "demo@zarniwoop.test"
"""What the simulator takes for the e-mail address of who answers for the calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint to save. `path` follows the simulator's URL.

    One with a `key_variable` needs the operator's key, one with a `contact_variable` the operator's e-mail address, and
    one with an `address_variable`, of a provider that everybody runs for themselves, its address.
    """

    id: str
    protocol: str
    path: str
    key_variable: str | None = None
    contact_variable: str | None = None
    address_variable: str | None = None
    extras: Mapping[str, str] = field(default_factory=dict)


_DOCUMENTS = {
    "dateField": "date",
    "authorField": "authors",
    "languageField": "language",
    "extraFields": "department",
    "urlTemplate": "https://intranet.example/documents/{id}",
}
"""The fields of the simulator's documents."""

ENDPOINTS = (
    Endpoint(id="serper-main", protocol="serper", path="/serper", key_variable="SERPER_API_KEY"),
    Endpoint(id="wikipedia-en", protocol="wikipedia", path="/wikipedia/en", extras={"language": "en"}),
    Endpoint(id="wikipedia-de", protocol="wikipedia", path="/wikipedia/de", extras={"language": "de"}),
    Endpoint(id="openalex-main", protocol="openalex", path="/openalex", key_variable="OPENALEX_API_KEY"),
    Endpoint(id="pubmed-main", protocol="pubmed", path="/pubmed"),
    Endpoint(id="arxiv-main", protocol="arxiv", path="/arxiv"),
    Endpoint(id="openlibrary-main", protocol="openlibrary", path="/openlibrary"),
    Endpoint(id="hackernews-main", protocol="hackernews", path="/hackernews"),
    Endpoint(id="tavily-main", protocol="tavily", path="/tavily", key_variable="TAVILY_API_KEY"),
    Endpoint(id="brave-main", protocol="brave", path="/brave", key_variable="BRAVE_SEARCH_API_KEY"),
    Endpoint(id="serpapi-main", protocol="serpapi", path="/serpapi", key_variable="SERPAPI_API_KEY"),
    Endpoint(id="exa-main", protocol="exa", path="/exa", key_variable="EXA_API_KEY"),
    Endpoint(id="firecrawl-main", protocol="firecrawl", path="/firecrawl", key_variable="FIRECRAWL_API_KEY"),
    Endpoint(id="searxng-main", protocol="searxng", path="/searxng", address_variable="SEARXNG_BASE_URL"),
    Endpoint(id="semanticscholar-main", protocol="semanticscholar", path="/semanticscholar"),
    Endpoint(id="crossref-main", protocol="crossref", path="/crossref"),
    Endpoint(id="europepmc-main", protocol="europepmc", path="/europepmc"),
    Endpoint(id="doaj-main", protocol="doaj", path="/doaj"),
    Endpoint(id="dblp-main", protocol="dblp", path="/dblp"),
    Endpoint(id="orcid-main", protocol="orcid", path="/orcid"),
    Endpoint(id="unpaywall-main", protocol="unpaywall", path="/unpaywall", contact_variable="UNPAYWALL_EMAIL"),
    Endpoint(id="github-code", protocol="github", path="/github", key_variable="GITHUB_TOKEN"),
    Endpoint(id="github-main", protocol="github", path="/github", extras={"kind": "repositories"}),
    Endpoint(id="gitlab-main", protocol="gitlab", path="/gitlab", key_variable="GITLAB_TOKEN"),
    Endpoint(
        id="elasticsearch-main",
        protocol="elasticsearch",
        path="/elasticsearch",
        address_variable="ELASTICSEARCH_URL",
        extras={"index": "documents", **_DOCUMENTS},
    ),
    Endpoint(
        id="solr-main",
        protocol="solr",
        path="/solr",
        address_variable="SOLR_URL",
        extras={"core": "documents", **_DOCUMENTS},
    ),
    Endpoint(id="nominatim-main", protocol="nominatim", path="/nominatim", extras={"requestsPerSecond": "1"}),
    Endpoint(id="photon-main", protocol="photon", path="/photon"),
)

ROUTING: Mapping[SearchModality, tuple[str, ...]] = {
    SearchModality.WEB: (
        "serper-main",
        "wikipedia-en",
        "hackernews-main",
        "tavily-main",
        "brave-main",
        "serpapi-main",
        "exa-main",
        "firecrawl-main",
        "searxng-main",
    ),
    SearchModality.IMAGE: ("serper-main", "brave-main", "serpapi-main", "firecrawl-main", "searxng-main"),
    SearchModality.VIDEO: ("serper-main", "brave-main", "serpapi-main", "searxng-main"),
    SearchModality.PDF: ("serper-main", "brave-main", "serpapi-main", "firecrawl-main"),
    SearchModality.NEWS: (
        "serper-main",
        "hackernews-main",
        "tavily-main",
        "brave-main",
        "serpapi-main",
        "exa-main",
        "firecrawl-main",
        "searxng-main",
    ),
    SearchModality.ACADEMIC: (
        "openalex-main",
        "pubmed-main",
        "arxiv-main",
        "serper-main",
        "semanticscholar-main",
        "crossref-main",
        "europepmc-main",
        "serpapi-main",
        "doaj-main",
        "dblp-main",
        "exa-main",
        "searxng-main",
    ),
    SearchModality.ENCYCLOPEDIA: ("wikipedia-en", "wikipedia-de"),
    SearchModality.BOOK: ("openlibrary-main",),
    SearchModality.CODE: ("github-code", "github-main", "gitlab-main", "searxng-main"),
    SearchModality.INTERNAL_DOC: (STANDING, "elasticsearch-main", "solr-main"),
    SearchModality.RAG: (STANDING, "elasticsearch-main", "solr-main"),
    SearchModality.MAP: ("nominatim-main", "photon-main"),
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
        contacts = {endpoint.contact_variable for endpoint in ENDPOINTS if endpoint.contact_variable}
        keys |= dict.fromkeys(contacts, SIMULATED_CONTACT)
        keys |= {endpoint.address_variable: simulator_url for endpoint in ENDPOINTS if endpoint.address_variable}
    usable = [endpoint for endpoint in ENDPOINTS if _can_be_asked(endpoint, keys)]
    wanted: dict[str, str] = {}
    for endpoint in usable:
        wanted[endpoint_setting(endpoint.id, PROTOCOL)] = endpoint.protocol
        if simulator_url is not None:
            wanted[endpoint_setting(endpoint.id, BASE_URL)] = simulator_url + endpoint.path
        elif endpoint.address_variable is not None:
            wanted[endpoint_setting(endpoint.id, BASE_URL)] = keys[endpoint.address_variable]
        if endpoint.key_variable is not None:
            wanted[endpoint_setting(endpoint.id, API_KEY)] = keys[endpoint.key_variable]
        if endpoint.contact_variable is not None:
            wanted[endpoint_setting(endpoint.id, "contactEmail")] = keys[endpoint.contact_variable]
        for name, value in endpoint.extras.items():
            wanted[endpoint_setting(endpoint.id, name)] = value
    return wanted | _routing({STANDING, *(endpoint.id for endpoint in usable)})


def _can_be_asked(endpoint: Endpoint, keys: Mapping[str, str]) -> bool:
    needed = (endpoint.key_variable, endpoint.contact_variable, endpoint.address_variable)
    return all(variable in keys for variable in needed if variable is not None)


def _routing(usable: set[str]) -> dict[str, str]:
    wanted: dict[str, str] = {}
    for modality, order in ROUTING.items():
        first, *others = [instance_id for instance_id in order if instance_id in usable] or [""]
        if first:
            wanted[default_for(modality)] = first
        if others:
            wanted[fallback_for(modality)] = ",".join(others)
    return wanted
