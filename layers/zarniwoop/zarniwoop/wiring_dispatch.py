"""The part of the composition root that asks providers: the dispatcher, and who makes the instances that it asks."""

from functools import cached_property
from typing import TYPE_CHECKING

from zarniwoop.contract.request import SearchScope

if TYPE_CHECKING:
    from zarniwoop.contract.deadline import Clock
    from zarniwoop.contract.transport import AwsCaller, PublicAddresses, Transport
    from zarniwoop.dispatch.calls.audit import AuditTrail
    from zarniwoop.dispatch.candidates.factory import SearchProviderFactory
    from zarniwoop.dispatch.candidates.protocols import Protocols
    from zarniwoop.dispatch.dispatcher import Dispatcher
    from zarniwoop.dispatch.kept.result_cache import ResultCache
    from zarniwoop.observe.metrics import MetricsBuffer
    from zarniwoop.observe.trace import Tracing
    from zarniwoop.settings.endpoints import ResearchSettings
    from zarniwoop.settings.key_ring import SettingsKeyRing
    from zarniwoop.stores.audit import AuditStore
    from zarniwoop.stores.state import StateStore


class DispatchWiring:
    """What `wiring.Environment` is made of to search; everything is made when it is first needed."""

    clock: "Clock"
    metrics: "MetricsBuffer"
    tracing: "Tracing"

    if TYPE_CHECKING:  # declared for the type checker; the root makes them

        def research_settings(self, scope: SearchScope) -> tuple[ResearchSettings, bool]: ...

        def _forget_settings(self, tenant_id: str, project_id: str) -> None: ...

        def _log_internal_error(self, instance_id: str, error: Exception) -> None: ...

        @cached_property
        def state(self) -> StateStore: ...

        @cached_property
        def audit(self) -> AuditTrail: ...

        @cached_property
        def _calls(self) -> AuditStore: ...

        @cached_property
        def _keys(self) -> SettingsKeyRing: ...

        @cached_property
        def _protocols(self) -> Protocols: ...

        @cached_property
        def _results(self) -> ResultCache: ...

        @cached_property
        def _aws(self) -> AwsCaller: ...

        @cached_property
        def _addresses(self) -> PublicAddresses: ...

        @cached_property
        def _transport(self) -> Transport: ...

    @cached_property
    def _dispatcher(self) -> "Dispatcher":
        from zarniwoop.dispatch.dispatcher import Dispatcher
        from zarniwoop.dispatch.fleet.state import FleetState
        from zarniwoop.dispatch.spending.quota import QuotaBook

        fleet = FleetState(store=self.state, clock=self.clock, metrics=self.metrics)
        return Dispatcher(
            factory=self._factory,
            fleet=fleet,
            quotas=QuotaBook(fleet=fleet, calls=self._calls, clock=self.clock, metrics=self.metrics),
            results=self._results,
            audit=self.audit,
            clock=self.clock,
            metrics=self.metrics,
            tracing=self.tracing,
            on_internal_error=self._log_internal_error,
        )

    @cached_property
    def _factory(self) -> "SearchProviderFactory":
        from zarniwoop.dispatch.candidates.factory import SearchProviderFactory

        return SearchProviderFactory(
            settings=self.research_settings,
            forget_settings=self._forget_settings,
            protocols=self._protocols,
            transport=self._transport,
            keys=self._keys,
            clock=self.clock,
            metrics=self.metrics,
            aws=self._aws,
            addresses=self._addresses,
        )
