"""The SPI (seed 1, sections 4.5 and 4.6): what an add-on implements, with the seed's members in snake_case."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.failure import QueryRejected
from zarniwoop.contract.hit import ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.quota import ProviderAvailability, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.contract.transport import AwsCaller, KeyRing, PublicAddresses, Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """A published rate: `requests` per `seconds` for all of `subject`, which is `<protocol>@<host>[:<key's name>]`.

    A search makes up to `calls` of these requests and takes one turn for them all.
    """

    subject: str
    requests: int
    seconds: float
    calls: int = 1

    @property
    def interval(self) -> float:
        """Seconds between the starts of two searches: at that distance no window of `seconds` holds more `requests`.

        Such a window meets at most ceil(seconds / interval) searches, and `calls` times that is at most `requests`.
        """
        return self.seconds * self.calls / max(1, self.requests - (self.calls - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderInstanceConfig:
    """One endpoint, resolved from `research.endpoint.<id>.*`.

    `credential_key` names the setting that holds the key (its value stays in the key ring until the call); `extras` are
    all suffixes beyond the four basic ones, spelt as in the settings. `transport`, `keys`, `clock`, `aws` (None:
    there is no way to AWS) and `addresses` (None: nobody can tell a page that is public) are what an instance may use
    of the world.
    """

    instance_id: str
    protocol_id: str
    base_url: str | None
    credential_key: str | None = None
    enabled: bool = True
    extras: Mapping[str, str] = field(default_factory=dict)
    transport: Transport = field(repr=False)
    keys: KeyRing = field(repr=False)
    clock: Clock = field(repr=False)
    aws: AwsCaller | None = field(default=None, repr=False)
    addresses: PublicAddresses | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an instance can do beyond its modalities and tiers, out of its declaration.

    `filters` are those that the provider itself applies, for at least one modality. `max_results` and `max_query_chars`
    bound one search; None: not known. `index_family` names the index behind it, one vote in a fusion. `language` is the
    only one that the instance searches; None: any.
    """

    filters: frozenset[str] = frozenset()
    max_results: int | None = None
    max_query_chars: int | None = None
    index_family: str | None = None
    loads_content: bool = False
    tells_quota: bool = False
    language: str | None = None


class SearchProviderInstance(Protocol):
    """A concrete endpoint: URL, credentials and settings of one provider in one project.

    An add-on inherits from this class to get the defaults of the members that have a body.
    """

    def id(self) -> str: ...
    def display_name(self) -> str: ...
    def modalities(self) -> frozenset[SearchModality]: ...
    def domains(self) -> frozenset[SearchDomain]: ...
    def tiers(self) -> frozenset[SearchTier]: ...

    def availability(self, scope: SearchScope) -> ProviderAvailability:
        """READY or DISABLED, out of configuration alone: it asks nobody and spends nothing."""
        ...

    def current_quota(self, scope: SearchScope) -> QuotaStatus | None:
        """Asked of the provider where it has a free endpoint, else None (then we count). Raises ProviderError."""
        ...

    def status_text(self, scope: SearchScope) -> str | None:
        """A sentence for an operator, or None."""
        return None

    def prompt_hint(self) -> str:
        """Markdown for a planner: what this index holds and when to choose it."""
        return ""

    def search(self, request: SearchRequest, scope: SearchScope) -> SearchResult:
        """Ask. A result with `error_message` is a soft failure; a raised ProviderError is a hard one."""
        ...

    def load_content(self, reference: ContentReference, scope: SearchScope) -> LoadedContent:
        """The body behind a STASH_ON_DEMAND reference. Raises ProviderError."""
        raise QueryRejected(f"{self.id()} holds no bodies")

    def pacing(self, request: SearchRequest) -> Pacing | None:
        """The provider's published rate and how many calls of it this request makes, or None where there is none."""
        return None

    def capabilities(self) -> Capabilities:
        """For planners, forms and `research_providers`; it asks nobody."""
        return Capabilities()

    def dispose(self) -> None:
        """Let go of what the instance holds; called once, on a project stop or when its settings changed."""
        return


class WrongSettingsError(ValueError):
    """Settings that an instance cannot be made of: each by its name, with a reason that never holds its value."""

    def __init__(self, *faults: tuple[str, str]) -> None:
        super().__init__("; ".join(f"{setting} {reason}" for setting, reason in faults))
        self.faults = faults


class SearchProtocol(Protocol):
    """One wire format; it makes any number of instances."""

    def id(self) -> str: ...
    def display_name(self) -> str: ...
    def modalities_supported(self) -> frozenset[SearchModality]: ...
    def tiers_supported(self) -> frozenset[SearchTier]: ...

    def instantiate(self, config: ProviderInstanceConfig) -> SearchProviderInstance:
        """Make an instance without asking anybody. Raises WrongSettingsError, or another ValueError that says why."""
        ...
