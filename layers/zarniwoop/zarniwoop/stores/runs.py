"""Runs that can be watched and stopped: what is known of each, and the store that decides how each one ends.

A run's state is derived from three facts that are written once and never taken back: it has started, its stop was asked
for, it has ended. So no two writers can leave it in a state that neither meant. What was asked, and all that was found,
lies in the run's files (`stores.run_files`); nothing in here repeats a question.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, Self

from zarniwoop.contract.chat import ModelUsage
from zarniwoop.stores.state import ProjectKey

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's: no i, l, o, u. https://github.com/ulid/spec"""
_RUN_ID = re.compile(r"r-[0-7][0-9a-hjkmnp-tv-z]{25}")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,40}")
_ITEM = re.compile(r"[A-Za-z0-9._:-]{1,80}")


class RunState(StrEnum):
    """Where a run is. STOPPING runs still finish the work that is under way."""

    QUEUED = "queued"
    RUNNING = "running"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    STOPPED = "stopped"
    FAILED = "failed"
    TIMED_OUT = "timed_out"

    @property
    def is_terminal(self) -> bool:
        return self not in (RunState.QUEUED, RunState.RUNNING, RunState.STOPPING)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProgress:
    """How far a node of the pipeline is; `done` never exceeds `total`."""

    done: int
    total: int

    @classmethod
    def of(cls, done: int, expected: int) -> Self:
        """More done than expected shows that the expectation was wrong."""
        return cls(done=done, total=max(done, expected))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it stands. Times are epoch seconds; `error` is a word of ours, never the text of a failure.

    `request_id` is that of the request that started it; the execution and every audit record bear `run_id`. `usage` is
    what models took; `cost` is everything, models and providers. `webhook` tells whether somebody wants to hear of the
    end, `webhook_outcome` whether they did; while they have not and still may, `tell_at` is when it is tried next.
    """

    run_id: str
    project: ProjectKey
    tool: str
    created_at: float
    updated_at: float
    deadline_at: float
    expires_at: float
    execution_arn: str
    request_id: str = ""
    webhook: bool = False
    webhook_outcome: str | None = None
    tell_at: float | None = None
    started_at: float | None = None
    stop_requested: bool = False
    ended_at: float | None = None
    ended_as: RunState | None = None
    outcome: str | None = None
    error: str | None = None
    progress: Mapping[str, NodeProgress] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    usage: ModelUsage = field(default_factory=ModelUsage)
    cost: float = 0.0

    @property
    def state(self) -> RunState:
        if self.ended_as is not None:
            return self.ended_as
        if self.stop_requested:
            return RunState.STOPPING
        return RunState.QUEUED if self.started_at is None else RunState.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a step of a run reports: which of the node's items is done, and what doing it brought and took.

    A report with an `item` counts once, however often a retried Lambda sends it; one without an item tells only what
    is expected (`total`). `cost` is what providers took; that of models is in `usage`.
    """

    node: str
    item: str | None = None
    total: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    usage: ModelUsage = field(default_factory=ModelUsage)
    cost: float = 0.0

    def __post_init__(self) -> None:
        if not all(map(_WORD.fullmatch, (self.node, *self.counts))):
            raise ValueError("nodes and counts are named by words of a-z, 0-9 and '_'")
        if self.item is not None and not _ITEM.fullmatch(self.item):
            raise ValueError("an item is named by at most 80 letters, digits, '.', '_', ':' and '-'")
        if self.item is None and (self.counts or self.usage != ModelUsage() or self.cost):
            raise ValueError("what counts once needs an item to be counted by")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ended. `outcome` is the pipeline's word (success, empty, …), `error` ours for why it did not work.

    `concluded` says that the pipeline came to its end, be it a failure that it foresees: it is counted by its outcome.
    """

    state: RunState
    outcome: str | None = None
    error: str | None = None
    concluded: bool = False

    def __post_init__(self) -> None:
        if not self.state.is_terminal:
            raise ValueError("a run ends in a terminal state")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An idempotency key taken by a run; `fingerprint` tells whether two requests under it are the same."""

    run_id: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """Runs, the newest first, and the token of the page after them."""

    runs: tuple[Run, ...]
    next_page_token: str | None = None


class RunStore(Protocol):
    """Every method raises StoreUnavailable when its table does not answer, and ValueError for an id that is none."""

    def claim(self, project: ProjectKey, key: str, claim: Claim, *, expires_at: float) -> Claim:
        """Take an idempotency key for a run, unless another one has it; return whose it is."""
        ...

    def create(self, run: Run) -> Run:
        """Write a run that has not started; when there is one of this id already, it stands and is returned."""
        ...

    def get(self, project: ProjectKey, run_id: str) -> Run | None:
        """The run, read consistently; None for an unknown one, be it another project's."""
        ...

    def list(self, project: ProjectKey, *, limit: int, page_token: str | None = None) -> RunPage:
        """The project's runs, the newest first. Raises InvalidPageToken for a token that was not given out for it."""
        ...

    def update_progress(self, project: ProjectKey, run_id: str, step: Step) -> bool:
        """Count a step, and so mark the run as started.

        False, and nothing is changed, when the step was counted before or the run has ended or is gone.
        """
        ...

    def request_stop(self, project: ProjectKey, run_id: str) -> Run | None:
        """Ask for the stop; never taken back. Returns the run as it stands then: ended ones stay as they ended."""
        ...

    def finish(self, project: ProjectKey, run_id: str, ending: Ending, *, tell_at: float | None = None) -> bool:
        """End the run. True for the one caller in the fleet who ended it; everybody else's ending is ignored.

        With `tell_at` the same write makes it a run whose end has yet to be told, from then on.
        """
        ...

    def record_webhook(self, project: ProjectKey, run_id: str, outcome: str, *, tell_at: float | None = None) -> None:
        """Write down what became of a webhook that is still untold; without `tell_at` it is not tried again.

        The first word that is final stands: whoever comes after it, with whatever, changes nothing.
        """
        ...

    def untold(self, now: float, *, at_most: int = 100) -> tuple[Run, ...]:
        """Ended runs of all tenants whose end is to be told by now, those that have waited longest first."""
        ...

    def open_since(self, project: ProjectKey, since: float) -> tuple[Run, ...]:
        """The project's runs that were created since then and have not ended, read consistently, all of them."""
        ...

    def created_between(self, project: ProjectKey, since: float, until: float, *, at_most: int) -> tuple[Run, ...]:
        """The project's runs that were created from `since` on and before `until`, the newest first."""
        ...

    def overdue(self, now: float, *, at_most: int = 100) -> tuple[Run, ...]:
        """Runs of all tenants that are open although their deadline has passed, the longest overdue first."""
        ...


def new_run_id(now: float, random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """`r-` and a ULID in lower case: milliseconds first, so that ids sort by time, then 80 random bits."""
    number = int(now * 1000) << 80 | int.from_bytes(random_bytes(10))
    return "r-" + "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def earliest_run_id(since: float) -> str:
    """The first id in their order that a run can have which was created since then."""
    return new_run_id(since, lambda count: bytes(count))


def is_run_id(text: str) -> bool:
    return _RUN_ID.fullmatch(text) is not None
