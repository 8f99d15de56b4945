"""What the fake stores share: they count their calls, and go down when told to."""

import threading
from collections import Counter


class Outage:
    """`calls` counts by method; while `fail_with` is set, every method raises it."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.fail_with: Exception | None = None
        self._lock = threading.RLock()

    def _called(self, method: str) -> None:
        self.calls[method] += 1
        if self.fail_with is not None:
            raise self.fail_with
