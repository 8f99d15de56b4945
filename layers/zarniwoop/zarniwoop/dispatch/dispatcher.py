"""The dispatcher (the seed's ZarniwoopService): the single way in to a search."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.problem import InvalidArgument, UnknownThing
from zarniwoop.contract.request import CacheUse, SearchRequest, SearchScope, Strategy
from zarniwoop.contract.result import SearchResult
from zarniwoop.dispatch.calls.account import outcome_of, unready
from zarniwoop.dispatch.calls.asked import Asked
from zarniwoop.dispatch.calls.asking import Asking
from zarniwoop.dispatch.calls.audit import AuditTrail
from zarniwoop.dispatch.calls.bodies import Body, BodyLoader
from zarniwoop.dispatch.calls.call import InternalErrorLog, ProviderCaller
from zarniwoop.dispatch.calls.side_by_side import Crew
from zarniwoop.dispatch.candidates.credit import budget_periods
from zarniwoop.dispatch.candidates.factory import Assembly, SearchProviderFactory
from zarniwoop.dispatch.candidates.key_pool import KeyPicker
from zarniwoop.dispatch.candidates.selection import Lineup, read_keys
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.dispatch.kept.result_cache import ResultCache, Sought, not_cached
from zarniwoop.dispatch.spending.purse import Purse, RunBudget
from zarniwoop.dispatch.spending.quota import QuotaBook
from zarniwoop.dispatch.strategies.cascade import Cascade
from zarniwoop.dispatch.strategies.shares import Starting, in_turn
from zarniwoop.observe.metrics import Metric, Metrics
from zarniwoop.observe.trace import Tracing
from zarniwoop.stores.state import ProjectKey, StateSnapshot, Wanted

if TYPE_CHECKING:
    from zarniwoop.dispatch.plan import DispatchPlan

ANSWER_GRACE_SECONDS = 0.05
"""How long a search that ended exactly at the deadline has to hand in its account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A project's instances and one snapshot of what is known of them."""

    assembly: Assembly
    snapshot: StateSnapshot


class _Prepared(NamedTuple):
    """Requests with their line-ups, what may be kept of each, and the one snapshot that serves them all."""

    assembly: Assembly
    lineups: tuple[Lineup, ...]
    sought: tuple[Sought | None, ...]
    snapshot: StateSnapshot
    purse: Purse


class _Needed(NamedTuple):
    """What is to be read of the shared state."""

    wanted: Sequence[Wanted]
    results: Sequence[str] = ()


_Choice = Callable[[Assembly, float], _Needed]


class Dispatcher:
    """Searches. Built once per execution environment; safe to use from several threads."""

    def __init__(
        self,
        *,
        factory: SearchProviderFactory,
        fleet: FleetState,
        quotas: QuotaBook,
        results: ResultCache,
        audit: AuditTrail,
        clock: Clock,
        metrics: Metrics,
        tracing: Tracing,
        on_internal_error: InternalErrorLog,
    ) -> None:
        self.factory = factory
        self.fleet = fleet
        self.quotas = quotas
        self._results = results
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
        self._crew = Crew()
        self._pools = KeyPicker(fleet=fleet, clock=clock)
        self._bodies = BodyLoader(caller=self._caller, fleet=fleet, pools=self._pools, clock=clock)

    def search(self, request: SearchRequest, scope: SearchScope, run: RunBudget | None = None) -> SearchResult:
        """One search. What a provider does never raises: a search that nobody could answer has `failure` set.

        One that belongs to a `run` stays within its budget as well.
        Raises ProjectScopeMissing, UnknownThing or InvalidArgument (pinned instance), ConfigurationUnavailable.
        """
        prepared = self._prepare([request], scope, run)
        with self._tracing.span("dispatch", modality=request.modality, tier=request.tier):
            return self._run(request, scope, prepared, 0)

    def search_each(self, requests: Sequence[SearchRequest], scope: SearchScope) -> list[SearchResult]:
        """Several searches side by side on one read of the shared state, in the order of the requests.

        Where the request allows fewer calls than they would make, the first of them get theirs.
        What is not ready at the deadline comes back as `out_of_time`; its thread ends at its own socket deadline.
        """
        prepared = self._prepare(requests, scope)
        kept = [self._results.age_of(each) is not None for each in prepared.sought]
        starting = [Starting(*each) for each in zip(requests, prepared.lineups, kept, strict=True)]
        purses = in_turn(prepared.purse, starting, scope, prepared.snapshot, self._clock.now())
        parent = self._tracing.parent()

        def work(place: int, request: SearchRequest) -> SearchResult:
            self._tracing.adopt(parent)
            own = prepared._replace(purse=purses[place])
            with own.purse.giving_back(), self._tracing.span("dispatch", modality=request.modality, tier=request.tier):
                return self._run(request, scope, own, place)

        pool = ThreadPoolExecutor(max_workers=len(requests), thread_name_prefix="search")
        try:
            futures = [pool.submit(work, *each) for each in enumerate(requests)]
            wait(futures, timeout=scope.deadline.remaining() + ANSWER_GRACE_SECONDS)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return [self._ready(future, request) for future, request in zip(futures, requests, strict=True)]

    def plan(
        self, requests: Sequence[SearchRequest], scope: SearchScope, *, within: float = 0.0
    ) -> "list[DispatchPlan]":
        """What these searches would do, on one read of the shared state and of the keys that were not read here yet;
        nobody is asked, and nothing is written. They may be made `within` so many seconds. Raises as `search` does.
        """
        from zarniwoop.dispatch.plan import plan_search  # a search does without it

        prepared = self._prepare(requests, scope)
        if read_keys(prepared.lineups):  # each of several has a state of its own
            prepared = self._prepare(requests, scope)
        now = self._clock.now()
        return [
            plan_search(request, scope, prepared.assembly, prepared.snapshot, now, within=within, kept_age=age)
            for request, age in zip(requests, map(self._results.age_of, prepared.sought), strict=True)
        ]

    def survey(self, scope: SearchScope) -> Survey:
        """Every instance of the project and what is known of it, prepared as for a search. Raises as `search` does."""
        assembly, snapshot = self._in_force(scope, _everything)
        return Survey(assembly=assembly, snapshot=snapshot)

    def loading(
        self, survey: Survey, scope: SearchScope, *, free_only: bool = False, run: RunBudget | None = None
    ) -> Callable[[Body], Asked]:
        """How the project's bodies are loaded by one look at it, in threads of whoever calls this; never raises."""
        parent, settings = self._tracing.parent(), survey.assembly.settings
        purse = Purse(budgets=settings.budgets, free_only=free_only, run=run)

        def load(body: Body) -> Asked:
            self._tracing.adopt(parent)
            return self._bodies.load(body, scope, survey.snapshot, settings.knobs, purse)

        return load

    def _prepare(
        self, requests: Sequence[SearchRequest], scope: SearchScope, run: RunBudget | None = None
    ) -> _Prepared:
        lineups: tuple[Lineup, ...] = ()
        sought: tuple[Sought | None, ...] = ()

        def asked_for(assembly: Assembly, now: float) -> _Needed:
            nonlocal lineups, sought
            settings = assembly.settings
            lineups = tuple([assembly.line_up(request) for request in requests])
            pairs = list(zip(requests, lineups, strict=True))
            sought = tuple([self._results.sought(request, scope, lineup, settings) for request, lineup in pairs])
            return _Needed(
                wanted=[each.wanted(request.modality, now) for request, lineup in pairs for each in lineup.candidates],
                results=[each.identity for each in sought if each is not None],
            )

        assembly, snapshot = self._in_force(scope, asked_for)
        return _Prepared(
            assembly=assembly,
            lineups=lineups,
            sought=tuple([each and each.seen(snapshot, assembly.generation) for each in sought]),
            snapshot=snapshot,
            purse=Purse.of(requests, assembly.settings.budgets, run),
        )

    def _in_force(self, scope: SearchScope, choose: _Choice) -> tuple[Assembly, StateSnapshot]:
        """The project's instances and the state of those that are chosen, both newer than its last stop.

        A choice that cannot be made of older instances is made again: the one that is pinned may have come since.
        """
        try:
            assembly, snapshot = self._look(scope, choose)
        except (UnknownThing, InvalidArgument):
            assembly, snapshot = self._look(scope, _nothing)
            if not self._is_stopped_since(assembly, snapshot):
                raise
        if self._is_stopped_since(assembly, snapshot):
            self.factory.evict(scope.tenant_id, scope.project_id)
            self.fleet.forget(ProjectKey.of(scope))
            assembly, snapshot = self._look(scope, choose, generation=snapshot.generation)
        return assembly, snapshot

    def _look(
        self, scope: SearchScope, choose: _Choice, generation: int | None = None
    ) -> tuple[Assembly, StateSnapshot]:
        """Where nothing was built yet the generation is read before the settings: one that is read after them may be
        that of a change which they do not have."""
        project = ProjectKey.of(scope)
        if generation is None and scope.project_id and not self.factory.holds(scope):
            first = self.fleet.snapshot(project, ()).generation
            generation = first if first >= 0 else None
            self.factory.forget_settings(scope)
        assembly = self.factory.assemble(scope, generation)
        now = self._clock.now()
        needed = choose(assembly, now)
        wanted, results = list(dict.fromkeys(needed.wanted)), list(dict.fromkeys(needed.results))
        periods = budget_periods(assembly.settings.budgets, now)
        return assembly, self.fleet.snapshot(project, wanted, budget_periods=periods, results=results)

    @staticmethod
    def _is_stopped_since(assembly: Assembly, snapshot: StateSnapshot) -> bool:
        """Whether the project was stopped or changed after its instances were built here, or that cannot be told."""
        return snapshot.generation >= 0 and assembly.generation != snapshot.generation

    def _run(self, request: SearchRequest, scope: SearchScope, prepared: _Prepared, place: int) -> SearchResult:
        """Out of what is kept, or by asking; whoever waited for another's answer in vain looks at the state anew."""
        sought = prepared.sought[place]

        def ask(again: bool) -> tuple[SearchResult, Sought | None]:
            now, at = (self._prepare([request], scope), 0) if again else (prepared, place)
            return self._ask(request, scope, prepared.purse, now, at), now.sought[at]

        if sought is not None:
            result = self._results.answer(sought, request, scope, ask)
        elif request.cache is CacheUse.ONLY and prepared.lineups[place].candidates:
            result = not_cached(request)
        else:
            result, _ = ask(False)
        self._metrics.count(Metric.DISPATCH, modality=request.modality, tier=request.tier, outcome=outcome_of(result))
        return result

    def _ask(
        self, request: SearchRequest, scope: SearchScope, purse: Purse, prepared: _Prepared, place: int
    ) -> SearchResult:
        asking = Asking(
            request=request,
            scope=scope,
            snapshot=prepared.snapshot,
            knobs=prepared.assembly.settings.knobs,
            caller=self._caller,
            fleet=self.fleet,
            clock=self._clock,
            tracing=self._tracing,
            crew=self._crew,
            purse=purse,
            pools=self._pools,
        )
        lineup = prepared.lineups[place]
        if request.strategy is not Strategy.FANOUT:
            return Cascade(asking=asking, lineup=lineup).run()
        from zarniwoop.dispatch.strategies.fan_out import FanOut  # a cascade does without it and all that fusion needs

        return FanOut(asking=asking, lineup=lineup).run()

    @staticmethod
    def _ready(future: "Future[SearchResult]", request: SearchRequest) -> SearchResult:
        if future.done() and not future.cancelled():
            return future.result()
        return unready(request)


def _everything(assembly: Assembly, now: float) -> _Needed:
    return _Needed(
        wanted=[
            candidate.wanted(modality, now)
            for candidate in assembly.candidates.values()
            for modality in sorted(candidate.instance.modalities())
        ]
    )


def _nothing(_assembly: Assembly, _now: float) -> _Needed:
    return _Needed(wanted=())
