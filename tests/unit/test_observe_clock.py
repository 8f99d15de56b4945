"""The clock that runs."""

import time

from zarniwoop.observe.clock import SystemClock


def test_it_tells_the_machines_own_time() -> None:
    """Wall time for what is written down, monotonic time for what is waited for."""
    clock = SystemClock()
    assert abs(clock.now() - time.time()) < 1.0
    began = clock.monotonic()
    clock.sleep(0.01)
    assert 0.01 <= clock.monotonic() - began < 1.0
