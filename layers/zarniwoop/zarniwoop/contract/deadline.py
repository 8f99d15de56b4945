"""Time: one deadline per request, made once out of the Lambda context and passed down, never re-derived."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


class Clock(Protocol):
    """The only source of time. Tests move it by hand."""

    def now(self) -> float:
        """Wall time in seconds since 1970-01-01 UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...

    def sleep(self, seconds: float) -> None: ...


class BreakOff:
    """Ends work from outside, before its time: whoever is blocked for it lends what lets go of it.

    What is lent is called by whoever breaks off, in that one's thread; once it was taken back, it never is.
    """

    __slots__ = ("_lent", "_lock", "broken")

    def __init__(self) -> None:
        self.broken = False
        self._lock = threading.Lock()
        self._lent: list[Callable[[], None]] = []

    def lend(self, let_go: Callable[[], None]) -> None:
        with self._lock:
            self._lent.append(let_go)
            if self.broken:
                let_go()

    def take_back(self, let_go: Callable[[], None]) -> None:
        with self._lock:
            self._lent.remove(let_go)

    def break_off(self) -> None:
        with self._lock:
            self.broken = True
            for let_go in self._lent:
                let_go()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """The moment, in monotonic seconds of `clock`, at which the answer must be on its way.

    Work that may be broken off before has a `break_off`; once that happened, no time is left.
    """

    clock: Clock = field(repr=False)
    expires_at: float
    break_off: BreakOff | None = field(default=None, repr=False, compare=False)

    @classmethod
    def after(cls, seconds: float, clock: Clock) -> "Deadline":
        return cls(clock=clock, expires_at=clock.monotonic() + seconds)

    def remaining(self) -> float:
        """Seconds left; never negative."""
        if self.is_broken_off:
            return 0.0
        return max(0.0, self.expires_at - self.clock.monotonic())

    @property
    def expired(self) -> bool:
        return self.is_broken_off or self.clock.monotonic() >= self.expires_at

    @property
    def is_broken_off(self) -> bool:
        return self.break_off is not None and self.break_off.broken

    def within(self, seconds: float) -> "Deadline":
        """The same deadline, or one `seconds` from now, whichever comes first."""
        expires_at = min(self.expires_at, self.clock.monotonic() + seconds)
        return Deadline(clock=self.clock, expires_at=expires_at, break_off=self.break_off)

    def breakable(self, break_off: BreakOff) -> "Deadline":
        """The same deadline for work that may be broken off."""
        return Deadline(clock=self.clock, expires_at=self.expires_at, break_off=break_off)
