"""Turns of a site: one page of it at a time in the whole fleet, and a pause behind each.

A site is a registrable domain, so that `www` and `shop` of one owner share a turn. A delay that robots.txt asks for
lengthens the pause, up to a bound: a file must not stop a site for a day. The pause lies behind the turn in which the
delay was read, too, and keeps the whole fleet out: who has not read it waits, and reads it in his own turn.
How long a site asks to be let alone (`Retry-After`) holds for the whole fleet, up to an hour: no turn begins before.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.provider import Pacing
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.dispatch.fleet.turns import turn_at
from zarniwoop.stores.recent import Recent
from zarniwoop.text.urls import host_of, registrable_domain

LEAST_SECONDS = 3.0
"""What a fetch needs: with less nobody is asked, and whose turn comes later than that before the end takes none."""
_LONGEST_DELAY = 30.0
_LONGEST_PAUSE = 3_600.0
_LEAST_PAUSE = 0.001
"""A turn of no length at all would leave nothing to queue up behind."""


def site_of(url: str) -> str | None:
    """None for what has no host, which nobody fetches."""
    return registrable_domain(url) if host_of(url) else None


class SiteTurns:
    """Safe to use from several threads."""

    def __init__(self, fleet: FleetState) -> None:
        self._fleet = fleet
        self._delays: Recent[str, float] = Recent()
        self._pauses: Recent[str, float] = Recent()

    @contextmanager
    def at(self, site: str, interval: float, deadline: Deadline) -> Iterator[float | None]:
        """Wait for the turn and hold it for the block; when none comes in time, the moment at which one would."""
        remaining = deadline.remaining()
        longest = max(0.0, remaining - LEAST_SECONDS)
        pacing = self.pacing(site, interval)

        def behind() -> Pacing:
            asked = (self._delays.get(site) or 0.0, self._pauses.pop(site) or 0.0)
            return replace(pacing, seconds=max(pacing.seconds, *asked))

        with turn_at(pacing, longest, self._fleet, deadline, lease_seconds=remaining, behind=behind) as too_late:
            yield too_late

    def pacing(self, site: str, interval: float) -> Pacing:
        """The pause as a rate of one request."""
        seconds = max(interval, self._delays.get(site) or 0.0, _LEAST_PAUSE)
        return Pacing(subject=f"page@{site}", requests=1, seconds=seconds, exclusive=True)

    def ask_for_delay(self, site: str, seconds: float | None) -> None:
        """What robots.txt of the site says."""
        if seconds is not None:
            self._delays.put(site, min(seconds, _LONGEST_DELAY))

    def ask_for_pause(self, site: str, seconds: float | None) -> None:
        """What an answer of the site says, within its turn: the pause behind this turn, for everybody."""
        if seconds is not None:
            self._pauses.put(site, min(seconds, _LONGEST_PAUSE))
