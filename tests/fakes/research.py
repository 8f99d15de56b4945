"""A dispatcher on fakes: settings as plain text, providers by script, time by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.fakes.audit_store import InMemoryAuditStore
from tests.fakes.clock import FakeClock
from tests.fakes.evidence_store import InMemoryEvidenceStore
from tests.fakes.keys import FakeKeyRing
from tests.fakes.providers import FakeProtocol, Step
from tests.fakes.state_store import InMemoryStateStore
from tests.fakes.transport import ScriptedTransport
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import SearchProtocol
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.dispatch.calls.audit import AuditTrail
from zarniwoop.dispatch.candidates.factory import SearchProviderFactory
from zarniwoop.dispatch.candidates.protocols import Protocols
from zarniwoop.dispatch.dispatcher import Dispatcher
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.dispatch.kept.result_cache import ResultCache
from zarniwoop.dispatch.spending.quota import QuotaBook
from zarniwoop.observe.metrics import MetricsBuffer, Point
from zarniwoop.observe.trace import Tracing
from zarniwoop.settings.cascade import EffectiveSettings, merge
from zarniwoop.settings.credentials import KnownProtocol
from zarniwoop.settings.endpoints import ResearchSettings, research_settings
from zarniwoop.settings.levels import Level
from zarniwoop.settings.parameter_store import Parameter
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.research_investigate import Investigations
from zarniwoop.tools.tool import ToolServices

PROJECT = ProjectKey(tenant_id="acme", project_id="demo")


def settings_of(
    values: Mapping[str, str], protocols: Mapping[str, SearchProtocol], own: Mapping[str, str] | None = None
) -> ResearchSettings:
    """Research settings out of `research.*` keys that are set at the tenant level, and a project's own laid over."""
    levels = ((Level.TENANT, values), (Level.PROJECT, own or {}))
    effective = EffectiveSettings(values=merge((level, _parameters(keys)) for level, keys in levels))
    return research_settings(effective, {name: KnownProtocol() for name in protocols}, {})


def _parameters(values: Mapping[str, str]) -> dict[str, Parameter]:
    return {key: Parameter(name=f"/{key}", value=value, secure=False, version="1") for key, value in values.items()}


@dataclass
class Research:
    """One execution environment's worth of dispatching; `environment()` makes another one on the same shared state."""

    scripts: dict[str, list[Step]]
    settings: dict[str, str] = field(default_factory=dict)
    clock: FakeClock = field(default_factory=FakeClock)
    modalities: frozenset[SearchModality] = frozenset(SearchModality)
    on_forget: Callable[[str, str], None] = lambda _tenant_id, _project_id: None

    def __post_init__(self) -> None:
        self.state = InMemoryStateStore(self.clock)
        self.evidence = InMemoryEvidenceStore(self.clock)
        self.keys = FakeKeyRing()
        self.hash_key: bytes | None = b"k" * 32
        self.calls = InMemoryAuditStore()
        self.protocol = FakeProtocol(self.clock, self.scripts, modalities=self.modalities)
        self.settings_failure: ConfigurationUnavailable | None = None
        self.settings_reads = 0
        self.stale = False
        self.settings_of_projects: dict[str, dict[str, str]] = {}
        self.internal_errors: list[tuple[str, Exception]] = []
        self.settings.setdefault("research.hedge.afterMs", "0")  # a busy machine must not make a hedge of the next one
        for priority, instance_id in enumerate(self.scripts):
            self.settings.setdefault(f"research.endpoint.{instance_id}.protocol", "fake")
            self.settings.setdefault(f"research.endpoint.{instance_id}.priority", str(priority))
        self.metrics, self.audit, self.dispatcher = self.environment()

    def environment(self) -> tuple[MetricsBuffer, AuditTrail, Dispatcher]:
        """A further Lambda environment of the fleet: its own memory, the same stores."""
        metrics = MetricsBuffer()
        protocols = Protocols(by_id={"fake": self.protocol})
        fleet = FleetState(store=self.state, clock=self.clock, metrics=metrics)
        audit = AuditTrail(store=self.calls, hash_key=lambda: b"k" * 32, clock=self.clock, metrics=metrics)
        factory = SearchProviderFactory(
            settings=self._read_settings,
            forget_settings=self.on_forget,
            protocols=protocols,
            transport=ScriptedTransport(),
            keys=self.keys,
            clock=self.clock,
            metrics=metrics,
        )
        dispatcher = Dispatcher(
            factory=factory,
            fleet=fleet,
            quotas=QuotaBook(fleet=fleet, calls=self.calls, clock=self.clock, metrics=metrics),
            results=ResultCache(
                store=lambda: self.state.results,
                hash_key=lambda: self.hash_key,
                clock=self.clock,
                metrics=metrics,
                chance=lambda: 0.5,
            ),
            audit=audit,
            clock=self.clock,
            metrics=metrics,
            tracing=Tracing(lambda: False),
            on_internal_error=lambda instance_id, error: self.internal_errors.append((instance_id, error)),
        )
        return metrics, audit, dispatcher

    @property
    def services(self) -> ToolServices:
        return ToolServices(
            clock=self.clock,
            searches=lambda: self.dispatcher,
            investigations=_no_investigations,
            forecasts=_no_investigations,  # type: ignore[arg-type]
            pages=_no_investigations,  # type: ignore[arg-type]
            evidence=lambda: self.evidence,
            runs=_no_investigations,  # type: ignore[arg-type]
            rests=_no_investigations,  # type: ignore[arg-type]
        )

    def scope(self, seconds: float = 20.0, *, project_id: str = "demo") -> SearchScope:
        return SearchScope(tenant_id="acme", project_id=project_id, deadline=Deadline.after(seconds, self.clock))

    @staticmethod
    def request(modality: SearchModality = SearchModality.WEB) -> SearchRequest:
        return SearchRequest(query="cathedral bells", modality=modality)

    def search(
        self, modality: SearchModality = SearchModality.WEB, *, seconds: float = 20.0, **more: object
    ) -> SearchResult:
        request = SearchRequest(query="cathedral bells", modality=modality, **more)  # type: ignore[arg-type]
        return self.dispatcher.search(request, self.scope(seconds))

    def points(self) -> Sequence[Point]:
        return self.metrics.drain()

    def _read_settings(self, scope: SearchScope) -> tuple[ResearchSettings, bool]:
        self.settings_reads += 1
        if self.settings_failure is not None:
            raise self.settings_failure
        own = self.settings_of_projects.get(scope.project_id or "")
        return settings_of(self.settings, {"fake": self.protocol}, own), self.stale


def _no_investigations() -> Investigations:
    raise AssertionError("nothing in here starts a run")
