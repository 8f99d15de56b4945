"""A dispatcher with the real transport and adapters, and stores in memory."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.audit_store import InMemoryAuditStore
from tests.fakes.keys import FakeKeyRing
from tests.fakes.research import settings_of
from tests.fakes.result_store import InMemoryResultStore
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import SearchRequest, SearchScope, Strategy
from zarniwoop.contract.result import SearchResult
from zarniwoop.dispatch.calls.audit import AuditTrail
from zarniwoop.dispatch.candidates.factory import SearchProviderFactory
from zarniwoop.dispatch.candidates.protocols import collect_protocols
from zarniwoop.dispatch.dispatcher import Dispatcher
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.dispatch.kept.result_cache import ResultCache
from zarniwoop.dispatch.spending.quota import QuotaBook
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock
from zarniwoop.observe.heap import settle_heap
from zarniwoop.observe.metrics import MetricsBuffer
from zarniwoop.observe.trace import Tracing
from zarniwoop.stores.state import Turn
from zarniwoop.tools.research_rich import MODALITIES

NOTHING: Mapping[str, Any] = {}


def _endpoints(port: int, endpoints: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for priority, (name, (protocol, prefix)) in enumerate(endpoints.items()):
        found |= {
            f"research.endpoint.{name}.protocol": protocol,
            f"research.endpoint.{name}.baseUrl": f"http://127.0.0.1:{port}{prefix}",
            f"research.endpoint.{name}.apiKey": "",
            f"research.endpoint.{name}.priority": str(priority),
        }
    return found


class _Unpaced(InMemoryStateStore):
    """A provider's published rate would make a benchmark measure waiting."""

    def take_turn(self, *_args: object, now: float, **_rest: object) -> Turn:
        return Turn(at=now, granted=True)


class Stack:
    """One environment with one endpoint, `main`, of the named protocol at this origin.

    `more` are further ones by their id, each with protocol and prefix; `settings` come besides.
    """

    def __init__(
        self,
        port: int,
        protocol: str,
        *,
        prefix: str = "",
        more: Mapping[str, tuple[str, str]] = NOTHING,
        settings: Mapping[str, str] = NOTHING,
    ) -> None:
        clock, metrics = SystemClock(), MetricsBuffer()
        protocols = collect_protocols(BUILTIN, addons=())
        endpoints = {"main": (protocol, prefix), **more}
        read = settings_of({**_endpoints(port, endpoints), **settings}, protocols.by_id)
        secrets = {str(endpoint.credential_key): "bench-key-0123456789" for endpoint in read.endpoints}
        fleet = FleetState(store=_Unpaced(clock), clock=clock, metrics=metrics)
        calls = InMemoryAuditStore()
        self._clock, self._metrics = clock, metrics
        self._audit = AuditTrail(store=calls, hash_key=lambda: b"k" * 32, clock=clock, metrics=metrics)
        self._dispatcher = Dispatcher(
            factory=SearchProviderFactory(
                settings=lambda _scope: (read, False),
                protocols=protocols,
                transport=PooledTransport(contact="bench@example.com", allowed=AllowedNetworks.parse("127.0.0.1/32")),
                keys=FakeKeyRing(**secrets),
                clock=clock,
                metrics=metrics,
            ),
            fleet=fleet,
            quotas=QuotaBook(fleet=fleet, calls=calls, clock=clock, metrics=metrics),
            results=ResultCache(
                store=lambda: InMemoryResultStore(clock), hash_key=lambda: b"k" * 32, clock=clock, metrics=metrics
            ),
            audit=self._audit,
            clock=clock,
            metrics=metrics,
            tracing=Tracing(lambda: False),
            on_internal_error=lambda _instance_id, error: (_ for _ in ()).throw(error),
        )

    def search(self, modality: SearchModality, *, hits: int) -> None:
        """A whole search with its audit and metrics, and the check that it really brought the hits."""
        result = self.dispatcher_result(modality)
        self._audit.flush()
        self._metrics.drain()
        settle_heap()
        if len(result.hits) != hits:
            raise AssertionError(f"{len(result.hits)} hits, attempts {result.attempts}")

    def search_rich(self) -> None:
        requests = [SearchRequest(query="cathedral bells", modality=modality) for modality in MODALITIES]
        results = self._dispatcher.search_each(requests, self._scope())
        self._audit.flush()
        if not all(result.hits for result in results):
            raise AssertionError([result.attempts for result in results])

    def fan_out(self, *, contributors: int) -> None:
        request = SearchRequest(query="cathedral bells", modality=SearchModality.WEB, strategy=Strategy.FANOUT)
        result = self._dispatcher.search(request, self._scope())
        self._audit.flush()
        if len(result.hits[0].contributors) != contributors:
            raise AssertionError(result.attempts)

    def dispatcher_result(self, modality: SearchModality) -> SearchResult:
        return self._dispatcher.search(SearchRequest(query="cathedral bells", modality=modality), self._scope())

    def _scope(self) -> SearchScope:
        return SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(20, self._clock))
