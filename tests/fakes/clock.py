"""A clock that stands still until a test moves it, and one that goes on a little whenever it is looked at."""


class FakeClock:
    """`contract.deadline.Clock` under the test's hand; `slept` remembers what was waited for."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now
        self._monotonic = 1_000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self._now += seconds
        self._monotonic += seconds


class TickingClock(FakeClock):
    """As real ones do: between two looks at it some time is gone."""

    def monotonic(self) -> float:
        self.advance(0.001)
        return super().monotonic()
