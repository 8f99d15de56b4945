"""What every fault scenario is made of: a row, and the stage on which it happens.

The stage watches: whatever a row makes visible (results, log lines, audit records, metrics, error texts) is collected,
every search is timed on its own clock, and every provider call is counted against the audit trail. `test_faults.py`
looks all of it over after each row. A row needs no fixture and patches nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

import orjson

from tests.fakes.audit_store import InMemoryAuditStore
from tests.fakes.clock import FakeClock
from tests.fakes.parameter_store import InMemoryParameterStore
from tests.fakes.providers import Step
from tests.fakes.research import Research
from tests.fakes.state_store import InMemoryStateStore
from tests.fakes.transport import ScriptedTransport
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import SearchProtocol
from zarniwoop.contract.request import SearchRequest, SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.contract.transport import Transport
from zarniwoop.dispatch.calls.audit import AuditTrail
from zarniwoop.dispatch.candidates.protocols import Protocols, collect_protocols
from zarniwoop.dispatch.dispatcher import Dispatcher
from zarniwoop.observe.metrics import Metric, MetricsBuffer, Point
from zarniwoop.settings.levels import Place
from zarniwoop.settings.parameter_store import ParameterStore
from zarniwoop.stores.audit import AuditStore, CallRecord, RecordPage
from zarniwoop.stores.state import ProjectKey, StateStore
from zarniwoop.wiring import Environment

CANARY = 'canary/Key+7="quoted"&0123456789'
"""A key whose raw, URL-encoded, base64 and JSON spellings all differ; no output may hold any of them."""
QUERY = "cathedral bells"
"""What is asked for in every row: an answer may repeat it, nothing else may."""
SETTINGS_ROOT = "/zarniwoop/test"
TENANT = Place(tenant_id="acme")

Entered = TypeVar("Entered")


class Kind(StrEnum):
    """Through which opening something became visible."""

    RESULT = "result"
    LOG = "log"
    AUDIT = "audit"
    METRIC = "metric"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How long a search took on its own clock, and how long it was given."""

    allowed: float
    taken: float


class WitnessedAudit:
    """`AuditStore` in front of another: remembers what it was handed, and how much of it the other lost."""

    def __init__(self, behind: AuditStore) -> None:
        self.behind = behind
        self.handed: list[CallRecord] = []
        self.lost = 0

    def write(self, records: Sequence[CallRecord], *, time_limit: float) -> int:
        self.handed += records
        lost = self.behind.write(records, time_limit=time_limit)
        self.lost += lost
        return lost

    def count_since(self, project: ProjectKey, instance_id: str, since: float, *, at_most: int) -> int:
        return self.behind.count_since(project, instance_id, since, at_most=at_most)

    def instances(self, project: ProjectKey, *, at_most: int) -> tuple[str, ...]:
        return self.behind.instances(project, at_most=at_most)

    def between(self, project: ProjectKey, instance_id: str, since: float, until: float, *, at_most: int) -> RecordPage:
        return self.behind.between(project, instance_id, since, until, at_most=at_most)


class RememberedMetrics(MetricsBuffer):
    """Keeps what was drained."""

    def __init__(self) -> None:
        super().__init__()
        self.drained: list[Point] = []

    def drain(self) -> list[Point]:
        points = super().drain()
        self.drained += points
        return points


@dataclass
class StagedResearch(Research):
    """`Research` under the stage's eyes: scripted instances on stores in memory."""

    stage: "Stage" = field(kw_only=True)
    environments: list[tuple[MetricsBuffer, AuditTrail]] = field(default_factory=list, init=False)
    drained: list[Point] = field(default_factory=list, init=False)

    def environment(self) -> tuple[MetricsBuffer, AuditTrail, Dispatcher]:
        metrics, audit, dispatcher = super().environment()
        self.environments.append((metrics, audit))
        return metrics, audit, dispatcher

    def search(
        self, modality: SearchModality = SearchModality.WEB, *, seconds: float = 20.0, **more: object
    ) -> SearchResult:
        with self.stage.watch(self.clock, seconds) as show:
            return show(super().search(modality, seconds=seconds, **more))

    def points(self) -> list[Point]:
        """The points of every environment so far."""
        for metrics, _audit in self.environments:
            self.drained += metrics.drain()
        return self.drained

    def close(self) -> None:
        for _metrics, audit in self.environments:
            audit.flush()
        self.stage.show(Kind.AUDIT, self.calls.records)
        self.stage.show(Kind.METRIC, self.points())
        lost = sum(point.value for point in self.drained if point.metric is Metric.AUDIT_LOST)
        assert len(self.calls.records) + lost == len(self.protocol.asked), "a provider call left no trace"


class StagedEnvironment(Environment):
    """The product's own composition, on the stores, the transport and the protocols that a row brings along."""

    def __init__(
        self,
        stage: "Stage",
        *,
        transport: Transport,
        clock: Clock,
        state: StateStore,
        calls: AuditStore,
        parameters: ParameterStore,
        protocols: Sequence[SearchProtocol] | None,
        variables: Mapping[str, str],
    ) -> None:
        super().__init__({"SETTINGS_ROOT": SETTINGS_ROOT, **variables}, clock=clock, transport=transport)
        self.stage = stage
        self.witness = WitnessedAudit(calls)
        self.remembered = RememberedMetrics()
        self.metrics = self.remembered
        self._brought_state = state
        self._brought_parameters = parameters
        self._brought_protocols = protocols
        self.begin("request-1")

    @cached_property
    def state(self) -> StateStore:
        return self._brought_state

    @cached_property
    def _calls(self) -> AuditStore:
        return self.witness

    @cached_property
    def _parameters(self) -> ParameterStore:
        return self._brought_parameters

    @cached_property
    def _protocols(self) -> Protocols:
        if self._brought_protocols is None:
            return collect_protocols(BUILTIN, addons=())
        return Protocols(by_id={protocol.id(): protocol for protocol in self._brought_protocols})

    def scope(self, seconds: float = 20.0, *, project_id: str = "demo") -> SearchScope:
        return SearchScope(tenant_id="acme", project_id=project_id, deadline=Deadline.after(seconds, self.clock))

    def search(
        self, modality: SearchModality = SearchModality.WEB, *, seconds: float = 20.0, **more: Any
    ) -> SearchResult:
        """One search, timed and shown; its audit records are written as at the end of an invocation."""
        with self.stage.watch(self.clock, seconds) as show:
            request = SearchRequest(query=QUERY, modality=modality, **more)
            result = show(self.tools.dispatcher.search(request, self.scope(seconds)))
            self.audit.flush()
            return result

    def points(self) -> list[Point]:
        """The points of every invocation so far."""
        self.metrics.drain()
        return self.remembered.drained

    def close(self) -> None:
        self.finish()
        self.stage.show(Kind.AUDIT, self.witness.handed)
        self.stage.show(Kind.METRIC, self.remembered.drained)
        lost = sum(point.value for point in self.remembered.drained if point.metric is Metric.AUDIT_LOST)
        calls = sum(point.metric is Metric.PROVIDER_CALLS for point in self.remembered.drained)
        assert (len(self.witness.handed), lost) == (calls, self.witness.lost), "a provider call left no trace"


@dataclass
class Stage:
    """Where a row happens. What it enters is left, and what it made is looked over, when the row is done.

    `aws` opens moto in this process (`tests.fakes.aws.aws_in_process`); rows use it through `within`.
    """

    aws: Callable[[], AbstractContextManager[None]]
    clock: FakeClock = field(default_factory=FakeClock)
    canary: str = CANARY
    outputs: dict[Kind, list[str]] = field(default_factory=lambda: {kind: [] for kind in Kind})
    timings: list[Timing] = field(default_factory=list)
    _made: list[StagedResearch | StagedEnvironment] = field(default_factory=list)
    _entered: ExitStack = field(default_factory=ExitStack)

    def research(
        self, scripts: Mapping[str, Sequence[Step]], settings: Mapping[str, str] | None = None, **more: Any
    ) -> StagedResearch:
        """Scripted instances by id, in the order of their priority; the canary is saved as the key of each."""
        keys = {f"research.endpoint.{instance_id}.apiKey": self.canary for instance_id in scripts}
        made = StagedResearch(
            {instance_id: list(steps) for instance_id, steps in scripts.items()},
            {**keys, **(settings or {})},
            clock=self.clock,
            stage=self,
            **more,
        )
        self._made.append(made)
        return made

    def environment(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        transport: Transport | None = None,
        clock: Clock | None = None,
        state: StateStore | None = None,
        calls: AuditStore | None = None,
        parameters: ParameterStore | None = None,
        protocols: Sequence[SearchProtocol] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> StagedEnvironment:
        """The product as wired, with the built-in protocols unless others are given; `settings` of tenant `acme`.

        `settings` are saved in memory; a row that brings its own `parameters` saves them itself.
        """
        own_clock = clock or self.clock
        made = StagedEnvironment(
            self,
            transport=transport or ScriptedTransport(),
            clock=own_clock,
            state=state or InMemoryStateStore(own_clock),
            calls=calls or InMemoryAuditStore(),
            parameters=parameters or saved(settings or {}),
            protocols=protocols,
            variables=variables or {},
        )
        self._made.append(made)
        return made

    def within(self, context: AbstractContextManager[Entered]) -> Entered:
        """Enter a context (an origin, moto) until the row has been looked over."""
        return self._entered.enter_context(context)

    def show(self, kind: Kind, seen: object) -> None:
        """Add to what became visible: text as it is, anything else as JSON."""
        self.outputs[kind].append(seen if isinstance(seen, str) else orjson.dumps(seen, default=repr).decode())

    @contextmanager
    def watch(self, clock: Clock, seconds: float) -> Iterator[Callable[[SearchResult], SearchResult]]:
        """Time what happens inside, and collect the result that is handed to the yielded function, or the error."""
        started = clock.monotonic()
        try:
            yield self._answered
        except Exception as error:
            self.show(Kind.ERROR, f"{error!r} {error}")
            raise
        finally:
            self.timings.append(Timing(allowed=seconds, taken=clock.monotonic() - started))

    def close(self) -> None:
        """Close the books of everything that was made, then leave what was entered."""
        with self._entered:
            for made in self._made:
                made.close()

    def _answered(self, result: SearchResult) -> SearchResult:
        self.show(Kind.RESULT, result)
        return result


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One row: the number of the fault, the fault in a sentence, and the function that brings it about and asserts."""

    number: int
    fault: str
    run: Callable[[Stage], None]


def saved(settings: Mapping[str, str]) -> InMemoryParameterStore:
    """Settings of tenant `acme`, and the stack's hash key, in memory."""
    parameters = InMemoryParameterStore(SETTINGS_ROOT)
    for key, value in settings.items():
        parameters.put(TENANT, key, value)
    return parameters
