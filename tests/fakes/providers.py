"""Provider instances that answer from a script, for tests of what stands above the adapters."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from tests.fakes.clock import FakeClock
from zarniwoop.contract.failure import Cause, ProviderError, ProviderUnavailable
from zarniwoop.contract.hit import ContentReference, LoadedContent, SearchHit
from zarniwoop.contract.modality import SearchDomain, SearchModality, SearchTier
from zarniwoop.contract.provider import Capabilities, Pacing, ProviderInstanceConfig, SearchProviderInstance
from zarniwoop.contract.quota import ProviderAvailability, QuotaStatus
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult


class Hang:
    """A step that answers nothing until it is broken off or, where it is deaf to that, until `let_go` is set.

    It ends with `then`, else as a connection does that was shut.
    """

    def __init__(self, *, deaf: bool = False, then: Exception | None = None) -> None:
        self._then = then or ProviderUnavailable("hung up on", cause=Cause.RESET)
        self.began = threading.Event()
        self.let_go = threading.Event()
        self._deaf = deaf

    def until_broken_off(self, scope: SearchScope) -> NoReturn:
        """Ten seconds pass only where a test fails."""
        break_off = None if self._deaf else scope.deadline.break_off
        if break_off is not None:
            break_off.lend(self.let_go.set)
        self.began.set()
        self.let_go.wait(10.0)
        if break_off is not None:
            break_off.take_back(self.let_go.set)
        raise self._then


@dataclass(frozen=True, slots=True)
class After:
    """A step that answers once these have begun to hang, or if they never do: a busy machine takes a while to."""

    hanging: tuple[Hang, ...]
    answer: Callable[[SearchRequest], SearchResult]

    def wait(self) -> None:
        for hang in self.hanging:
            hang.began.wait(1.0)

    def __call__(self, request: SearchRequest) -> SearchResult:
        return self.answer(request)


Step = SearchResult | Exception | Callable[[SearchRequest], SearchResult] | Hang


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

    def capabilities(self) -> Capabilities:
        return Capabilities(index_family=self.protocol.families.get(self.id()))

    def most_load_calls(self, reference: ContentReference) -> int:
        return self.protocol.requests_each.get(self.id(), 1)

    def search(self, request: SearchRequest, scope: SearchScope) -> SearchResult:
        self.protocol.asked.append((self.id(), request))
        self._send(scope)
        self.protocol.keys_used.append(scope.key_index)
        if scope.key_index in self.protocol.fails_with:
            raise self.protocol.fails_with[scope.key_index]
        self.protocol.given_seconds.append(scope.deadline.remaining())
        script = self.protocol.scripts[self.id()]
        step = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(step, After):
            step.wait()
        seconds = self.protocol.takes.get(self.id(), 0.0)
        if seconds:
            self.protocol.clock.advance(min(seconds, scope.deadline.remaining()))
        if isinstance(step, Exception):
            raise step
        if isinstance(step, Hang):
            step.until_broken_off(scope)
        return step if isinstance(step, SearchResult) else step(request)

    def load_content(self, reference: ContentReference, scope: SearchScope) -> LoadedContent:
        self.protocol.loaded.append((self.id(), reference.reference or ""))
        self._send(scope)
        script = self.protocol.bodies.get(self.id())
        if script is None:
            return super().load_content(reference, scope)
        step = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(step, Exception):
            raise step
        return step

    def _send(self, scope: SearchScope) -> None:
        """Each request of one call, the further ones in turns of their own."""
        for number in range(self.protocol.requests_each.get(self.id(), 1)):
            try:
                if number:
                    scope.take_turn()
            except ProviderError as error:
                error.calls = number
                raise
            self.protocol.sent_at.append(self.protocol.clock.now())

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
        self.families: dict[str, str] = {}
        self.requests_each: dict[str, int] = {}
        self.sent_at: list[float] = []
        self.quota: QuotaStatus | Exception | None = None
        self.takes: dict[str, float] = {}
        self.asked: list[tuple[str, SearchRequest]] = []
        self.bodies: dict[str, list[LoadedContent | Exception]] = {}
        self.loaded: list[tuple[str, str]] = []
        self.given_seconds: list[float] = []
        self.keys_used: list[int | None] = []
        self.fails_with: dict[int | None, Exception] = {}
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
