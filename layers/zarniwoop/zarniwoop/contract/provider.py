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

ARRIVAL_SPREAD_SECONDS = 0.5
"""By how much the ways of two requests may differ: sent so far apart, they may arrive at the same moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """A published rate: `requests` per `seconds` for all of `subject`, which is `<protocol>@<host>[:<key's name>]`.

    A search makes up to `calls` of these requests. `separate`: each of them takes a turn of its own, the further ones
    by `SearchScope.take_turn`; otherwise the search takes one turn for them all, and sends them at once. `exclusive`:
    the provider serves one connection at a time, so the next turn begins `interval` after the end of the last one, and
    not after its start. `spread` is by how many seconds the ways to the provider differ.
    """

    subject: str
    requests: int
    seconds: float
    calls: int = 1
    separate: bool = False
    exclusive: bool = False
    spread: float = ARRIVAL_SPREAD_SECONDS

    @property
    def interval(self) -> float:
        """Seconds between the starts of two turns: no `seconds` at the provider hold more arrivals than `requests`.

        What arrives within `seconds` was sent within these and `spread`. So long a time meets ceil(time / interval)
        turns at most, and the calls of a turn times that are at most `requests`. Where a turn begins after the answer
        to the last one, that one has arrived, and there is no spread.
        """
        calls = 1 if self.separate else self.calls
        seconds = self.seconds + (0.0 if self.exclusive else self.spread)
        return seconds * calls / max(1, self.requests - (calls - 1))


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

    `filters` are those that the provider itself applies, for at least one modality, and `operators` those of a query
    (`site`, `-site`, `filetype`, `intitle`, `before`, `after`, `phrase`, `or`) that it heeds. `max_results` and
    `max_query_chars` bound one search; None: not known. `index_family` names the index behind it, one vote in a fusion.
    `language` is the only one that the instance searches; None: any. `tells_quota`: it says what is left of its quota,
    be it with its answers only; `looks_up_quota`: `current_quota` asks the provider for that.
    """

    filters: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    max_results: int | None = None
    max_query_chars: int | None = None
    index_family: str | None = None
    loads_content: bool = False
    tells_quota: bool = False
    looks_up_quota: bool = False
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

    def most_load_calls(self, reference: ContentReference) -> int:
        """How many of the provider's requests loading this body may take at most. It asks nobody."""
        return 1

    def pacing(self, request: SearchRequest) -> Pacing | None:
        """The provider's published rate and how many calls of it this request makes, or None where there is none."""
        return None

    def most_calls(self, request: SearchRequest) -> int:
        """How many of the provider's requests this search may take at most: for plans and budgets. It asks nobody."""
        pacing = self.pacing(request)
        return pacing.calls if pacing else 1

    def answer_version(self) -> str:
        """Another text whenever the same search would be asked or read differently: answers kept under the old go."""
        return "1"

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
