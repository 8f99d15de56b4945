"""Turns at a provider's published rate within one environment: what is left of the rule while the table is down."""

import threading

from zarniwoop.contract.provider import Pacing
from zarniwoop.stores.recent import Recent
from zarniwoop.stores.state import Turn

_NOBODY = ""
"""Holds a turn that was given back, until the next may be had."""


class LocalTurns:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: Recent[str, float] = Recent()
        self._held: Recent[str, tuple[str, float]] = Recent()

    def take(self, pacing: Pacing, now: float, latest: float) -> Turn:
        with self._lock:
            start = max(now, self._next.get(pacing.subject) or 0.0)
            if start > latest:
                return Turn(at=start, granted=False)
            self._next.put(pacing.subject, start + pacing.interval)
            return Turn(at=start, granted=True)

    def hold(self, pacing: Pacing, holder: str, now: float, lease_seconds: float) -> Turn:
        with self._lock:
            held_by, until = self._held.get(pacing.subject) or (_NOBODY, 0.0)
            if until > now and held_by != holder:
                return Turn(at=until, granted=False, being_served=held_by != _NOBODY)
            self._held.put(pacing.subject, (holder, now + lease_seconds))
            return Turn(at=now, granted=True)

    def release(self, pacing: Pacing, holder: str, now: float) -> None:
        with self._lock:
            held_by, _until = self._held.get(pacing.subject) or (_NOBODY, 0.0)
            if held_by == holder:
                self._held.put(pacing.subject, (_NOBODY, now + pacing.interval))
