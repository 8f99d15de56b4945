"""The dispatcher (the seed's ZarniwoopService): the single way in to a search."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import DispatchFailure, SearchResult
from zarniwoop.dispatch.audit import AuditTrail
from zarniwoop.dispatch.call import InternalErrorLog, ProviderCaller
from zarniwoop.dispatch.candidates import Lineup, line_up
from zarniwoop.dispatch.cascade import Cascade
from zarniwoop.dispatch.factory import Assembly, SearchProviderFactory
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.dispatch.quota import QuotaBook
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.observe.trace import Tracing
from zarniwoop.stores.state import ProjectKey, StateSnapshot

_OUTCOMES = {
    DispatchFailure.ALL_COOLING: "cooldown",
    DispatchFailure.DISABLED: "disabled",
    DispatchFailure.NO_ENDPOINT: "disabled",
}


GRACE_SECONDS = 0.05
"""How long a search that ended exactly at the deadline has to hand in its account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """Requests with their line-ups and the one snapshot of shared state that serves them all."""

    assembly: Assembly
    lineups: tuple[Lineup, ...]
    snapshot: StateSnapshot


class Dispatcher:
    """Searches. Built once per execution environment; safe to use from several threads."""

    def __init__(
        self,
        *,
        factory: SearchProviderFactory,
        fleet: FleetState,
        quotas: QuotaBook,
        audit: AuditTrail,
        clock: Clock,
        metrics: Metrics,
        tracing: Tracing,
        on_internal_error: InternalErrorLog,
    ) -> None:
        self.factory = factory
        self.fleet = fleet
        self.quotas = quotas
        self._clock = clock
        self._metrics = metrics
        self._tracing = tracing
        self._caller = ProviderCaller(
            fleet=fleet,
            audit=audit,
            clock=clock,
            metrics=metrics,
            tracing=tracing,
            on_internal_error=on_internal_error,
        )

    def search(self, request: SearchRequest, scope: SearchScope) -> SearchResult:
        """One search. What a provider does never raises: a search that nobody could answer has `failure` set.

        Raises ProjectScopeMissing, UnknownThing or InvalidArgument (pinned instance), ConfigurationUnavailable.
        """
        prepared = self._prepare([request], scope)
        with self._tracing.span("dispatch", modality=request.modality, tier=request.tier):
            return self._run(request, scope, prepared, prepared.lineups[0])

    def search_each(self, requests: Sequence[SearchRequest], scope: SearchScope) -> list[SearchResult]:
        """Several searches side by side on one read of the shared state, in the order of the requests.

        What is not ready at the deadline comes back as `out_of_time`; its thread ends at its own socket deadline.
        """
        prepared = self._prepare(requests, scope)
        parent = self._tracing.parent()

        def work(request: SearchRequest, lineup: Lineup) -> SearchResult:
            self._tracing.adopt(parent)
            with self._tracing.span("dispatch", modality=request.modality, tier=request.tier):
                return self._run(request, scope, prepared, lineup)

        pool = ThreadPoolExecutor(max_workers=len(requests), thread_name_prefix="search")
        try:
            futures = [pool.submit(work, *pair) for pair in zip(requests, prepared.lineups, strict=True)]
            wait(futures, timeout=scope.deadline.remaining() + GRACE_SECONDS)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return [self._ready(future, request) for future, request in zip(futures, requests, strict=True)]

    def _prepare(self, requests: Sequence[SearchRequest], scope: SearchScope) -> _Prepared:
        assembly = self.factory.assemble(scope)
        lineups = _line_ups(requests, assembly)
        project = ProjectKey(tenant_id=scope.tenant_id, project_id=scope.project_id)
        subjects = [
            (candidate.endpoint.id, request.modality)
            for request, lineup in zip(requests, lineups, strict=True)
            for candidate in lineup.candidates
        ]
        snapshot = self.fleet.snapshot(project, list(dict.fromkeys(subjects)))
        if self._is_stopped_since(assembly, snapshot):
            self.factory.evict(scope.tenant_id, scope.project_id)
            self.fleet.forget(project)
            assembly = self.factory.assemble(scope)
            lineups = _line_ups(requests, assembly)
            assembly.generation = snapshot.generation
        return _Prepared(assembly=assembly, lineups=lineups, snapshot=snapshot)

    @staticmethod
    def _is_stopped_since(assembly: Assembly, snapshot: StateSnapshot) -> bool:
        """Whether the project was stopped after its instances were built here: its generation moved on."""
        if snapshot.generation < 0:
            return False
        if assembly.generation is None:
            assembly.generation = snapshot.generation
        return assembly.generation != snapshot.generation

    def _run(self, request: SearchRequest, scope: SearchScope, prepared: _Prepared, lineup: Lineup) -> SearchResult:
        result = Cascade(
            request=request,
            scope=scope,
            lineup=lineup,
            snapshot=prepared.snapshot,
            knobs=prepared.assembly.settings.knobs,
            caller=self._caller,
            fleet=self.fleet,
            quotas=self.quotas,
            clock=self._clock,
        ).run()
        self._metrics.count(Metric.DISPATCH, modality=request.modality, tier=request.tier, outcome=_outcome(result))
        return result

    @staticmethod
    def _ready(future: "Future[SearchResult]", request: SearchRequest) -> SearchResult:
        if future.done() and not future.cancelled():
            return future.result()
        return SearchResult(
            query=request.query,
            modality=request.modality,
            provider_instance_id="",
            tier=request.tier,
            error_message="the search was not ready at the deadline",
            failure=DispatchFailure.OUT_OF_TIME,
        )


def _line_ups(requests: Sequence[SearchRequest], assembly: Assembly) -> tuple[Lineup, ...]:
    return tuple(line_up(request, assembly.candidates, assembly.settings) for request in requests)


def _outcome(result: SearchResult) -> str:
    if result.hits:
        return "success"
    return "empty" if result.failure is None else _OUTCOMES.get(result.failure, "error")
