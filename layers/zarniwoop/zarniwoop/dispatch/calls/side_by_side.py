"""Calls that run at once, each in a thread of its own, and whose ends come in one after the other.

Threads are kept for a while when their call has ended: to start one costs a tenth of a search, to wake one hardly
anything. A thread cannot be ended from outside; one that nobody waits for any longer ends its call by its own deadline,
and keeps no other from getting a thread.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from zarniwoop.observe.trace import Tracing

Answer = TypeVar("Answer")

_IDLE_SECONDS = 5.0
_MOST_IDLE = 16
_Work = Callable[[], None]


class Crew:
    """The threads of an execution environment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[_Work]] = []

    def run(self, work: _Work) -> None:
        """Do it in a thread that has nothing else to do. It must not raise."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = SimpleQueue()
            threading.Thread(target=self._serve, args=(inbox,), name="side-by-side", daemon=True).start()
        inbox.put(work)

    def _serve(self, inbox: SimpleQueue[_Work]) -> None:
        while (work := self._next(inbox)) is not None:
            work()
            del work
            with self._lock:
                if len(self._idle) >= _MOST_IDLE:
                    return
                self._idle.append(inbox)

    def _next(self, inbox: SimpleQueue[_Work]) -> _Work | None:
        """None when nobody had any for a while; who has just been chosen for some waits until it is there."""
        try:
            return inbox.get(timeout=_IDLE_SECONDS)
        except Empty:
            with self._lock:
                if inbox in self._idle:
                    self._idle.remove(inbox)
                    return None
        return inbox.get()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Generic[Answer]):
    """The call of that number has ended; `answer` raises what it raised."""

    number: int
    answer: Callable[[], Answer]


class SideBySide(Generic[Answer]):
    """For one owner: only its thread starts calls and takes their ends."""

    def __init__(self, crew: Crew, tracing: Tracing) -> None:
        self._crew = crew
        self._tracing = tracing
        self._parent = tracing.parent()
        self._ends: SimpleQueue[Ended[Answer]] = SimpleQueue()
        self.running: set[int] = set()

    def start(self, number: int, call: Callable[[], Answer]) -> None:
        self.running.add(number)
        self._crew.run(lambda: self._run(number, call))

    def next_end(self, seconds: float) -> Ended[Answer] | None:
        """The next call that ends, or None when none did within so many seconds."""
        try:
            ended = self._ends.get(timeout=max(0.0, seconds))
        except Empty:
            return None
        self.running.discard(ended.number)
        return ended

    def _run(self, number: int, call: Callable[[], Answer]) -> None:
        self._tracing.adopt(self._parent)
        try:
            answer = call()
        except BaseException as error:  # noqa: BLE001 - raised again where the end is taken
            failure = error

            def fail() -> Answer:
                raise failure

            self._ends.put(Ended(number=number, answer=fail))
        else:
            self._ends.put(Ended(number=number, answer=lambda: answer))
