"""The candidates in turn, and the next one beside one that hangs: whoever ends first is heard first.

A search that nobody could take over runs in its own thread alone; so does one whose candidates all cost money. Where
there is a hedge, calls run in threads of their own, and those that are no longer wanted are broken off.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from zarniwoop.contract.deadline import BreakOff
from zarniwoop.dispatch.calls.asked import Asked
from zarniwoop.dispatch.calls.asking import Asking
from zarniwoop.dispatch.calls.side_by_side import SideBySide
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.dispatch.candidates.selection import Candidate

MOST_AT_ONCE = 3
LOSER_GRACE_SECONDS = 0.15
"""How long a call that was broken off has to hand in its own account."""

End = tuple[Candidate, Asked]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Started:
    at: float
    break_off: BreakOff


@dataclass(slots=True, kw_only=True)
class Hedging:
    """One search's calls. Iterate `ends`, and `break_off` what still runs when one of them was good enough."""

    asking: Asking
    candidates: Sequence[Candidate]
    _calls: SideBySide[Asked] | None = None
    _started: dict[int, _Started] = field(default_factory=dict)

    def ends(self) -> Iterator[End]:
        """Every candidate with what came of it, in the order in which they ended."""
        waiting = list(range(len(self.candidates)))
        while waiting or self._running:
            if not self._running:
                begun = self._begin(waiting)
                if begun is not None:
                    yield begun
                continue
            seconds, may_hedge = self._patience(waiting)
            ended = self._calls.next_end(seconds) if self._calls else None
            if ended is not None:
                yield self.candidates[ended.number], ended.answer()
            elif may_hedge:
                yield from self._hedge(waiting)
            else:
                yield from self._ended_by(Skip.OUT_OF_TIME)

    def break_off(self) -> Iterator[Asked]:
        """End what still runs, and tell how: each in its own words, or as superseded where it does not let go."""
        for number in self._running:
            self._started[number].break_off.break_off()
        until = self.asking.clock.monotonic() + LOSER_GRACE_SECONDS
        while self._calls and self._running:
            ended = self._calls.next_end(until - self.asking.clock.monotonic())
            if ended is None:
                yield from (asked for _, asked in self._ended_by(Skip.SUPERSEDED))
                return
            yield ended.answer()

    @property
    def _running(self) -> set[int]:
        return self._calls.running if self._calls else set()

    def _begin(self, waiting: list[int]) -> End | None:
        """The next in line; in this very thread when nobody could take over from it. None: it has only started."""
        number = waiting.pop(0)
        candidate = self.candidates[number]
        if self._hedge_among(waiting) is None:
            return candidate, self.asking.visit(candidate, self._those(waiting))
        self._start(number, waiting)
        return None

    def _hedge(self, waiting: list[int]) -> Iterator[End]:
        """The next in line that may be asked beside others. Those that are passed for a skip of the gate are told."""
        hedge = self._hedge_among(waiting)
        for number in [each for each in waiting if hedge is not None and each < hedge]:
            candidate = self.candidates[number]
            if self.asking.verdict(candidate).skip:
                waiting.remove(number)
                yield candidate, self.asking.visit(candidate, ())
        if hedge is not None:
            waiting.remove(hedge)
            self._start(hedge, waiting)

    def _hedge_among(self, waiting: Sequence[int]) -> int | None:
        if not self.asking.knobs.hedge_after_ms or self.asking.request.pinned_provider_id:
            return None
        return next((number for number in waiting if self._may_be_a_hedge(self.candidates[number])), None)

    def _may_be_a_hedge(self, candidate: Candidate) -> bool:
        return candidate.endpoint.may_be_a_hedge and self.asking.verdict(candidate).skip is None

    def _patience(self, waiting: Sequence[int]) -> tuple[float, bool]:
        """How long to wait for those that run, and whether a hedge is due then."""
        remaining = self.asking.scope.deadline.remaining()
        if len(self._running) >= MOST_AT_ONCE or self._hedge_among(waiting) is None:
            return remaining, False
        newest = max(self._started[number].at for number in self._running)
        due = newest + self.asking.knobs.hedge_after_ms / 1000 - self.asking.clock.monotonic()
        return (due, True) if due < remaining else (remaining, False)

    def _start(self, number: int, waiting: Sequence[int]) -> None:
        if self._calls is None:
            self._calls = SideBySide(self.asking.crew, self.asking.tracing)
        started = _Started(at=self.asking.clock.monotonic(), break_off=BreakOff())
        self._started[number] = started
        visit = self.asking.breakable(started.break_off).visit
        self._calls.start(number, partial(visit, self.candidates[number], self._those(waiting)))

    def _those(self, numbers: Sequence[int]) -> list[Candidate]:
        return [self.candidates[number] for number in numbers]

    def _ended_by(self, reason: Skip) -> Iterator[End]:
        """Those that run and are waited for no longer. Their threads end by themselves, and write their own account."""
        now = self.asking.clock.monotonic()
        for number in sorted(self._running):
            started, candidate = self._started[number], self.candidates[number]
            started.break_off.break_off()
            yield candidate, Asked.left_running(candidate, reason, now - started.at)
        self._running.clear()
