"""A wire format as a declaration: what a provider serves, how it is asked and how its answers are read.

An adapter is one `WireFormat` plus a generator. The generator yields `HttpRequest`s, receives `HttpAnswer`s with a
status below 400, and returns what it `Found`; one for an AWS service yields `AwsCall`s and receives what their model
says. A failed request raises its ProviderError at the `yield`, for an exchange that can do without that answer. It
never touches sockets, time, environment or keys.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.hit import ContentReference, LoadedContent, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig
from zarniwoop.contract.quota import QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.transport import Authentication, AwsCall, HttpAnswer, HttpRequest
from zarniwoop.text.operators import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an exchange came to.

    `translated` names the filters (`site`, `filetype`, `date_from`, `date_to`, `domain`, `freshness_days`, `locale`)
    that the request carried and the provider was really asked to apply. `degraded` says why an empty list does not mean
    "nothing there". `note` is a sentence for the caller about what was clamped or shortened.
    """

    hits: tuple[SearchHit, ...] = ()
    dropped_count: int = 0
    translated: frozenset[str] = frozenset()
    note: str | None = None
    degraded: str | None = None


Exchange = Generator[HttpRequest, HttpAnswer, Found]
AwsExchange = Generator[AwsCall, Mapping[str, Any], Found]
ContentExchange = Generator[HttpRequest, HttpAnswer, LoadedContent]
QuotaExchange = Generator[HttpRequest, HttpAnswer, QuotaStatus]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingField:
    """One field of the provider's settings form, beyond the suffixes of every endpoint.

    `pattern` is what the whole value must match; an instance is not made of one that does not. `steers`: it says what
    the key opens, and is not taken from a level that is less trusted than the key's. `check` tells what else is wrong
    with a value, None if nothing is, as the end of a sentence that does not repeat it.
    """

    name: str
    title: str
    description: str
    pattern: str
    required: bool = False
    default: str | None = None
    steers: bool = False
    check: Callable[[str], str | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsPart:
    """A protocol's part of the settings form. `key_in` is `header` or `query`, None where no key is taken.

    `key_variables` name the operator's variables that stand in for a saved key.
    """

    fields: tuple[SettingField, ...] = ()
    hint: str = ""
    documentation: str | None = None
    takes_base_url: bool = True
    default_base_url: str | None = None
    key_in: str | None = None
    key_required: bool = False
    key_variables: tuple[str, ...] = ()


@runtime_checkable
class DescribesSettings(Protocol):
    """What a `SearchProtocol`, a wire format or not, may have on top, to bring its part of the settings form."""

    def settings_part(self) -> SettingsPart: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WireFormat:
    """The declaration of an adapter.

    `max_query_chars` and `max_results` are the vendor's limits: the driver shortens and clamps before the exchange and
    says so in the result's note. `filters` names those that the exchange translates for some modality; `ignores` gives,
    for one that this provider cannot apply and that must not be applied here either, the reason. `operators` are those
    that stay in the query, since the provider reads them there; `operators_for` those of a modality, where they differ.
    `site_lists`: the exchange sends the request's `sites` and `unwanted_sites`. `classify` reads an answer (of any
    status) with the provider's own eyes and returns the typed failure, or None for the default reading.
    `quota_from_headers` reads what an ordinary answer says of the quota, and gets the time in epoch seconds for what is
    counted from now. `index_family` names the index behind the provider, for fusion. `form_hint` is a sentence for
    whoever fills in the settings form; without one the first of `prompt_hint` stands there. `authentication_for` picks
    another way to send the key where the settings say so. `by_role`: asked through AWS's SDK with the role of the
    function, so that there is neither an address nor a key. `language` tells the only language that an instance
    searches, out of its settings. `most_calls` is how many requests one search may take, where that is not told by its
    `pacing`; without either, one. `load_calls` is the same of the load of a body. `version` is raised when the exchange
    asks or reads otherwise than before, so that answers that were kept are asked for anew.
    """

    protocol_id: str
    display_name: str
    modalities: frozenset[SearchModality]
    domains: frozenset[SearchDomain]
    exchange: Callable[[SearchRequest, ProviderInstanceConfig], Exchange | AwsExchange]
    prompt_hint: str
    index_family: str
    documentation: str
    version: int = 1
    form_hint: str = ""
    default_base_url: str | None = None
    by_role: bool = False
    tiers: frozenset[SearchTier] = frozenset(SearchTier)
    filters: frozenset[str] = frozenset()
    operators: frozenset[Kind] = frozenset()
    site_lists: bool = False
    operators_for: Callable[[SearchModality, ProviderInstanceConfig], frozenset[Kind]] | None = None
    authentication: Authentication | None = None
    authentication_for: Callable[[ProviderInstanceConfig], Authentication] | None = None
    key_required: bool = False
    key_variable: str | None = None
    takes_generic_key: bool = False
    max_query_chars: int = 400
    max_results: int = 100
    ignores: Mapping[str, str] = field(default_factory=dict)
    setting_fields: tuple[SettingField, ...] = ()
    classify: Callable[[HttpAnswer], ProviderError | None] | None = None
    quota_exchange: Callable[[ProviderInstanceConfig], QuotaExchange] | None = None
    quota_from_headers: Callable[[Mapping[str, str], float], QuotaStatus | None] | None = None
    content_exchange: Callable[[ContentReference, ProviderInstanceConfig], ContentExchange] | None = None
    pacing: Callable[[SearchRequest, ProviderInstanceConfig], Pacing | None] | None = None
    most_calls: Callable[[SearchRequest, ProviderInstanceConfig], int] | None = None
    load_calls: int = 1
    language: Callable[[ProviderInstanceConfig], str | None] | None = None

    def understood(self, modality: SearchModality, config: ProviderInstanceConfig) -> frozenset[Kind]:
        """The operators that stay in a query of this modality."""
        return self.operators_for(modality, config) if self.operators_for else self.operators
