"""The clock that runs."""

import time


class SystemClock:
    """`contract.deadline.Clock` on the machine's own time."""

    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)
