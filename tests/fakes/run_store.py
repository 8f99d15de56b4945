"""Runs in memory, with DynamoDB's semantics: every method is atomic, and a run is changed only while it is open."""

from dataclasses import dataclass, field, replace

from tests.fakes.clock import FakeClock
from tests.fakes.outage import Outage
from zarniwoop.contract.deadline import Clock
from zarniwoop.stores.keys import checked_run_id, partition
from zarniwoop.stores.page_tokens import PageTokens
from zarniwoop.stores.runs import Claim, Ending, NodeProgress, Run, RunPage, Step, earliest_run_id
from zarniwoop.stores.state import ProjectKey

Key = tuple[str, str]


@dataclass
class _Node:
    done: set[str] = field(default_factory=set)
    expected: int = 0


class InMemoryRunStore(Outage):
    """`stores.runs.RunStore`."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self._clock = clock or FakeClock()
        self._tokens = PageTokens("runs", lambda: b"k" * 32)
        self._runs: dict[Key, Run] = {}
        self._nodes: dict[Key, dict[str, _Node]] = {}
        self._claims: dict[tuple[ProjectKey, str], tuple[Claim, float]] = {}

    def claim(self, project: ProjectKey, key: str, claim: Claim, *, expires_at: float) -> Claim:
        with self._lock:
            self._called("claim")
            standing, until = self._claims.get((project, key), (claim, 0.0))
            if until > self._clock.now():
                return standing
            self._claims[project, key] = claim, float(int(expires_at))
            return claim

    def create(self, run: Run) -> Run:
        with self._lock:
            self._called("create")
            kept = replace(run, expires_at=float(int(run.expires_at)))
            return self._runs.setdefault(_key(run.project, run.run_id), kept)

    def get(self, project: ProjectKey, run_id: str) -> Run | None:
        with self._lock:
            self._called("get")
            return self._standing(_key(project, run_id))

    def list(self, project: ProjectKey, *, limit: int, page_token: str | None = None) -> RunPage:
        with self._lock:
            self._called("list")
            before = self._tokens.open(project, page_token) if page_token is not None else "~"
            ids = sorted((run_id for owner, run_id in self._runs if owner == partition(project)), reverse=True)
            ids = [run_id for run_id in ids if f"RUN#{run_id}" < before]
            found = (self._standing((partition(project), run_id)) for run_id in ids[:limit])
            more = self._tokens.seal(project, f"RUN#{ids[limit - 1]}") if len(ids) > limit else None
            return RunPage(runs=tuple(run for run in found if run), next_page_token=more)

    def update_progress(self, project: ProjectKey, run_id: str, step: Step) -> bool:
        with self._lock:
            self._called("update_progress")
            key = _key(project, run_id)
            run = self._runs.get(key)
            node = self._nodes.get(key, {}).get(step.node, _Node())
            if run is None or run.ended_at is not None or step.item in node.done:
                return False
            self._count(key, run, step)
            return True

    def _count(self, key: Key, run: Run, step: Step) -> None:
        nodes = self._nodes.setdefault(key, {})
        node = nodes.setdefault(step.node, _Node())
        node.done |= {step.item} if step.item is not None else set()
        node.expected = node.expected if step.total is None else step.total
        now = self._clock.now()
        self._runs[key] = replace(
            run,
            started_at=now if run.started_at is None else run.started_at,
            updated_at=now,
            progress={name: NodeProgress.of(len(each.done), each.expected) for name, each in sorted(nodes.items())},
            counts={**run.counts, **{name: run.counts.get(name, 0) + more for name, more in step.counts.items()}},
            usage=run.usage.plus(step.usage),
            cost=run.cost + step.cost + step.usage.cost,
        )

    def request_stop(self, project: ProjectKey, run_id: str) -> Run | None:
        with self._lock:
            self._called("request_stop")
            key = _key(project, run_id)
            run = self._standing(key)
            if run is not None and run.ended_at is None:
                self._runs[key] = replace(run, stop_requested=True, updated_at=self._clock.now())
            return self._standing(key)

    def finish(self, project: ProjectKey, run_id: str, ending: Ending, *, tell_at: float | None = None) -> bool:
        with self._lock:
            self._called("finish")
            key, now = _key(project, run_id), self._clock.now()
            run = self._runs.get(key)
            if run is None or run.ended_at is not None:
                return False
            self._runs[key] = replace(
                run,
                ended_at=now,
                updated_at=now,
                ended_as=ending.state,
                outcome=ending.outcome,
                error=ending.error,
                tell_at=tell_at,
            )
            return True

    def record_webhook(self, project: ProjectKey, run_id: str, outcome: str, *, tell_at: float | None = None) -> None:
        with self._lock:
            self._called("record_webhook")
            key = _key(project, run_id)
            run = self._runs.get(key)
            if run is not None and run.tell_at is not None:
                self._runs[key] = replace(self._runs[key], webhook_outcome=outcome, tell_at=tell_at)

    def untold(self, now: float, *, at_most: int = 100) -> tuple[Run, ...]:
        with self._lock:
            self._called("untold")
            due = [(run.tell_at, run) for run in self._runs.values() if run.tell_at is not None and run.tell_at <= now]
            standing = [run for _, run in sorted(due, key=lambda each: each[0])][:at_most]
            return tuple(run for run in standing if run.expires_at > self._clock.now())

    def open_since(self, project: ProjectKey, since: float) -> tuple[Run, ...]:
        with self._lock:
            self._called("open_since")
            own = sorted(key for key in self._runs if key[0] == partition(project) and key[1] >= earliest_run_id(since))
            found = (self._standing(key) for key in own)
            return tuple(run for run in found if run is not None and run.ended_at is None)

    def created_between(self, project: ProjectKey, since: float, until: float, *, at_most: int) -> tuple[Run, ...]:
        with self._lock:
            self._called("created_between")
            first, last = earliest_run_id(since), earliest_run_id(until)
            own = [key for key in self._runs if key[0] == partition(project) and first <= key[1] < last]
            found = (self._standing(key) for key in sorted(own, reverse=True)[:at_most])
            return tuple(run for run in found if run is not None)

    def overdue(self, now: float, *, at_most: int = 100) -> tuple[Run, ...]:
        with self._lock:
            self._called("overdue")
            late = [run for run in self._runs.values() if run.ended_at is None and run.deadline_at <= now]
            standing = sorted(late, key=lambda run: run.deadline_at)[:at_most]
            return tuple(run for run in standing if run.expires_at > self._clock.now())

    def _standing(self, key: Key) -> Run | None:
        run = self._runs.get(key)
        return run if run is not None and run.expires_at > self._clock.now() else None


def _key(project: ProjectKey, run_id: str) -> Key:
    return partition(project), checked_run_id(run_id)
