"""The dispatcher (the seed's ZarniwoopService): the single way in to a search."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import DispatchFailure, SearchResult
from zarniwoop.dispatch.audit import AuditTrail
from zarniwoop.dispatch.bodies import Body, BodyLoader
from zarniwoop.dispatch.call import Asked, InternalErrorLog, ProviderCaller
from zarniwoop.dispatch.candidates import Lineup, line_up
from zarniwoop.dispatch.cascade import Cascade
from zarniwoop.dispatch.factory import Assembly, SearchProviderFactory
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.dispatch.quota import QuotaBook
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.observe.trace import Tracing
from zarniwoop.stores.state import ProjectKey, StateSnapshot, Wanted

_OUTCOMES = {
    DispatchFailure.ALL_COOLING: "cooldown",
    DispatchFailure.DISABLED: "disabled",
    DispatchFailure.NO_ENDPOINT: "disabled",
    DispatchFailure.ONLY_METERED: "disabled",
}


GRACE_SECONDS = 0.05
"""How long a search that ended exactly at the deadline has to hand in its account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A project's instances and one snapshot of what is known of them."""

    assembly: Assembly
    snapshot: StateSnapshot


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
        self._bodies = BodyLoader(caller=self._caller, fleet=fleet, clock=clock)

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

    def survey(self, scope: SearchScope) -> Survey:
        """Every instance of the project and what is known of it, prepared as for a search. Raises as `search` does."""
        return self._in_force(scope, _everything)

    def loading(self, survey: Survey, scope: SearchScope) -> Callable[[Body], Asked]:
        """How the project's bodies are loaded by one look at it, in threads of whoever calls this; never raises."""
        parent = self._tracing.parent()

        def load(body: Body) -> Asked:
            self._tracing.adopt(parent)
            return self._bodies.load(body, scope, survey.snapshot, survey.assembly.settings.knobs)

        return load

    def _prepare(self, requests: Sequence[SearchRequest], scope: SearchScope) -> _Prepared:
        lineups: tuple[Lineup, ...] = ()

        def asked_for(assembly: Assembly, now: float) -> list[Wanted]:
            nonlocal lineups
            lineups = tuple([line_up(request, assembly.candidates, assembly.settings) for request in requests])
            return [
                candidate.wanted(request.modality, now)
                for request, lineup in zip(requests, lineups, strict=True)
                for candidate in lineup.candidates
            ]

        survey = self._in_force(scope, asked_for)
        return _Prepared(assembly=survey.assembly, lineups=lineups, snapshot=survey.snapshot)

    def _in_force(self, scope: SearchScope, choose: Callable[[Assembly, float], Iterable[Wanted]]) -> Survey:
        """The project's instances and the state of those that are chosen, both newer than its last stop."""
        project = ProjectKey.of(scope)
        assembly, snapshot = self._look(scope, choose)
        if self._is_stopped_since(assembly, snapshot):
            self.factory.evict(scope.tenant_id, scope.project_id)
            self.fleet.forget(project)
            assembly, snapshot = self._look(scope, choose, generation=snapshot.generation)
        return Survey(assembly=assembly, snapshot=snapshot)

    def _look(
        self,
        scope: SearchScope,
        choose: Callable[[Assembly, float], Iterable[Wanted]],
        generation: int | None = None,
    ) -> tuple[Assembly, StateSnapshot]:
        """Where nothing was built yet the generation is read before the settings: one that is read after them may be
        that of a change which they do not have."""
        if generation is None and scope.project_id and not self.factory.holds(scope):
            first = self.fleet.snapshot(ProjectKey.of(scope), ()).generation
            generation = first if first >= 0 else None
            self.factory.forget_settings(scope)
        assembly = self.factory.assemble(scope, generation)
        wanted = list(dict.fromkeys(choose(assembly, self._clock.now())))
        return assembly, self.fleet.snapshot(ProjectKey.of(scope), wanted)

    @staticmethod
    def _is_stopped_since(assembly: Assembly, snapshot: StateSnapshot) -> bool:
        """Whether the project was stopped or changed after its instances were built here, or that cannot be told."""
        return snapshot.generation >= 0 and assembly.generation != snapshot.generation

    def _run(self, request: SearchRequest, scope: SearchScope, prepared: _Prepared, lineup: Lineup) -> SearchResult:
        result = Cascade(
            request=request,
            scope=scope,
            lineup=lineup,
            snapshot=prepared.snapshot,
            knobs=prepared.assembly.settings.knobs,
            caller=self._caller,
            fleet=self.fleet,
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
            calls=0,
            failure=DispatchFailure.OUT_OF_TIME,
        )


def _everything(assembly: Assembly, now: float) -> Iterator[Wanted]:
    for candidate in assembly.candidates.values():
        for modality in sorted(candidate.instance.modalities()):
            yield candidate.wanted(modality, now)


def _outcome(result: SearchResult) -> str:
    if result.hits:
        return "success"
    return "empty" if result.failure is None else _OUTCOMES.get(result.failure, "error")
