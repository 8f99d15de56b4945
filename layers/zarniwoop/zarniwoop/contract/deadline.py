"""Time: one deadline per request, made once out of the Lambda context and passed down, never re-derived."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """The moment, in monotonic seconds of `clock`, at which the answer must be on its way."""

    clock: Clock = field(repr=False)
    expires_at: float

    @classmethod
    def after(cls, seconds: float, clock: Clock) -> "Deadline":
        return cls(clock=clock, expires_at=clock.monotonic() + seconds)

    def remaining(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self.expires_at - self.clock.monotonic())

    @property
    def expired(self) -> bool:
        return self.clock.monotonic() >= self.expires_at

    def within(self, seconds: float) -> "Deadline":
        """The same deadline, or one `seconds` from now, whichever comes first."""
        return Deadline(clock=self.clock, expires_at=min(self.expires_at, self.clock.monotonic() + seconds))
