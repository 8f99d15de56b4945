"""Provider instances that answer from a script, for tests of what stands above the adapters."""

from collections.abc import Callable

from tests.fakes.clock import FakeClock
from zarniwoop.contract.hit import ContentReference, LoadedContent, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.provider import Pacing, ProviderInstanceConfig, SearchProviderInstance
from zarniwoop.contract.quota import ProviderAvailability, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult

Step = SearchResult | Exception | Callable[[SearchRequest], SearchResult]


def found(count: int = 1, *, instance_id: str = "", **changes: object) -> Callable[[SearchRequest], SearchResult]:
    """A step that answers any request with so many hits."""

    def answer(request: SearchRequest) -> SearchResult:
        hits = tuple(
            SearchHit(
                title=f"Hit {number}", url=f"https://example.com/{number}", modality=request.modality, rank=number
            )
            for number in range(1, count + 1)
        )
        values: dict[str, object] = {"hits": hits, "returned_count": count, **changes}
        return SearchResult(
            query=request.query,
            modality=request.modality,
            provider_instance_id=instance_id,
            tier=request.tier,
            **values,  # type: ignore[arg-type]
        )

    return answer


class FakeInstance(SearchProviderInstance):
    """Plays its script in order, the last step for ever; `asked` remembers requests, `spent` the seconds each took."""

    def __init__(self, config: ProviderInstanceConfig, protocol: "FakeProtocol") -> None:
        self.config = config
        self.protocol = protocol
        self.disposed = 0

    def id(self) -> str:
        return self.config.instance_id

    def display_name(self) -> str:
        return self.config.instance_id

    def modalities(self) -> frozenset[SearchModality]:
        return self.protocol.modalities

    def domains(self) -> frozenset[SearchDomain]:
        return frozenset({SearchDomain.WEB})

    def tiers(self) -> frozenset[SearchTier]:
        return frozenset(SearchTier)

    def availability(self, scope: SearchScope) -> ProviderAvailability:
        return ProviderAvailability.READY if self.config.enabled else ProviderAvailability.DISABLED

    def current_quota(self, scope: SearchScope) -> QuotaStatus | None:
        quota = self.protocol.quota
        if isinstance(quota, Exception):
            raise quota
        return quota

    def pacing(self, request: SearchRequest) -> Pacing | None:
        return self.protocol.pacing.get(self.id())

    def search(self, request: SearchRequest, scope: SearchScope) -> SearchResult:
        self.protocol.asked.append((self.id(), request))
        self.protocol.given_seconds.append(scope.deadline.remaining())
        seconds = self.protocol.takes.get(self.id(), 0.0)
        if seconds:
            self.protocol.clock.advance(min(seconds, scope.deadline.remaining()))
        script = self.protocol.scripts[self.id()]
        step = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, SearchResult) else step(request)

    def load_content(self, reference: ContentReference, scope: SearchScope) -> LoadedContent:
        self.protocol.loaded.append((self.id(), reference.reference or ""))
        script = self.protocol.bodies.get(self.id())
        if script is None:
            return super().load_content(reference, scope)
        step = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(step, Exception):
            raise step
        return step

    def dispose(self) -> None:
        self.disposed += 1


class FakeProtocol:
    """`contract.provider.SearchProtocol` whose instances play `scripts[<instance id>]`, and `bodies` when they load."""

    def __init__(
        self,
        clock: FakeClock,
        scripts: dict[str, list[Step]],
        *,
        modalities: frozenset[SearchModality] = frozenset(SearchModality),
        protocol_id: str = "fake",
    ) -> None:
        self.clock = clock
        self.scripts = scripts
        self.modalities = modalities
        self.protocol_id = protocol_id
        self.pacing: dict[str, Pacing] = {}
        self.quota: QuotaStatus | Exception | None = None
        self.takes: dict[str, float] = {}
        self.asked: list[tuple[str, SearchRequest]] = []
        self.bodies: dict[str, list[LoadedContent | Exception]] = {}
        self.loaded: list[tuple[str, str]] = []
        self.given_seconds: list[float] = []
        self.made: list[FakeInstance] = []

    def id(self) -> str:
        return self.protocol_id

    def display_name(self) -> str:
        return "Fake"

    def modalities_supported(self) -> frozenset[SearchModality]:
        return self.modalities

    def tiers_supported(self) -> frozenset[SearchTier]:
        return frozenset(SearchTier)

    def instantiate(self, config: ProviderInstanceConfig) -> FakeInstance:
        made = FakeInstance(config, self)
        self.made.append(made)
        return made

    @property
    def asked_ids(self) -> list[str]:
        return [instance_id for instance_id, _ in self.asked]
