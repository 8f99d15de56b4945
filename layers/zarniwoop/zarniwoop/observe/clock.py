"""The clock that runs."""

import time


class SystemClock:
    """`contract.deadline.Clock` on the machine's own time."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
