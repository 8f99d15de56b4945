"""Turns at a provider's published rate, which the whole fleet shares: waited for, and held where one alone is served.

Every request takes one, unless an instance sends several at once and says so. A place in the queue is a moment; whoever
is served longer than the interval delays those behind. They look again at the moment that was named to them, or every
quarter of a second while nobody can know it.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import OutOfTurn
from zarniwoop.contract.provider import Pacing
from zarniwoop.dispatch.fleet.state import FleetState

LOOK_AGAIN_SECONDS = 0.25
LEASE_GRACE_SECONDS = 2.0
"""How much longer than its call a turn is held at most: then whoever held it is taken for dead."""
GOOD_FOR_SECONDS = 0.25
"""Whoever comes later than that to a turn has missed it, and takes another: on the way more time may be lost.

With a shared state that takes so long for every answer nobody would ever get one, hence not for ever.
"""
_MOST_MISSED = 3
_SHORTEST_REQUEST_SECONDS = 0.5


@contextmanager
def turn_at(
    pacing: Pacing | None,
    longest: float,
    fleet: FleetState,
    deadline: Deadline,
    *,
    lease_seconds: float,
    behind: Callable[[], Pacing] | None = None,
) -> Iterator[float | None]:
    """Wait for a turn, and keep an exclusive one for the length of the block.

    When it would come after `longest` seconds, none is taken, and the block is told when there is one: with further
    turns to wait for, each may take its part of that time only. `lease_seconds` is how long the block may take at most.
    `behind` has the pacing whose interval lies behind this turn, where the block may learn of a longer one.
    """
    if pacing is None:
        yield None
        return
    holder, held = secrets.token_hex(6), False
    latest = deadline.clock.now() + longest / (pacing.calls if pacing.separate else 1)
    too_late = _wait_for_turn(pacing, latest, fleet, deadline)
    if too_late is None and pacing.exclusive:
        too_late = _hold(pacing, holder, latest, fleet, deadline, lease_seconds + LEASE_GRACE_SECONDS)
        held = too_late is None and not deadline.is_broken_off
    try:
        yield too_late
    finally:
        if held:
            fleet.release_turn(behind() if behind else pacing, holder)


@dataclass(slots=True, kw_only=True)
class FurtherTurns:
    """Waits for the turn of each further request of a call, as long as there is time to send it.

    `waited` is how many of the call's seconds went that way: the provider had no part in them.
    """

    pacing: Pacing
    fleet: FleetState
    deadline: Deadline
    waited: float = 0.0

    def __call__(self) -> None:
        """Raises OutOfTurn."""
        clock = self.deadline.clock
        began, latest = clock.monotonic(), max(0.0, self.deadline.remaining() - _SHORTEST_REQUEST_SECONDS)
        too_late = _wait_for_turn(self.pacing, clock.now() + latest, self.fleet, self.deadline)
        self.waited += clock.monotonic() - began
        if too_late is not None:
            seconds = max(0.0, too_late - clock.now())
            raise OutOfTurn("there is no further turn at the published rate in time", retry_after=seconds)


def further_turns(pacing: Pacing | None, fleet: FleetState, deadline: Deadline) -> FurtherTurns | None:
    """None where there is no rate, or where one turn was taken for all requests."""
    if pacing is None or (pacing.calls > 1 and not pacing.separate):
        return None
    return FurtherTurns(pacing=pacing, fleet=fleet, deadline=deadline)


def _wait_for_turn(pacing: Pacing, latest: float, fleet: FleetState, deadline: Deadline) -> float | None:
    """None when it is there, or when nobody wants it any more; else when there would be one."""
    clock = deadline.clock
    for _missed in range(_MOST_MISSED):
        if deadline.is_broken_off:
            break
        turn = fleet.take_turn(pacing, latest=latest)
        if not turn.granted:
            return turn.at
        if turn.at > clock.now():
            clock.sleep(turn.at - clock.now())
        if clock.now() - turn.at <= GOOD_FOR_SECONDS:
            break
    return None


def _hold(
    pacing: Pacing, holder: str, latest: float, fleet: FleetState, deadline: Deadline, lease_seconds: float
) -> float | None:
    """None as soon as it is held, or when nobody wants it any more: a search that was broken off asks no one."""
    while not deadline.is_broken_off:
        turn = fleet.hold_turn(pacing, holder, lease_seconds=lease_seconds)
        if turn.granted:
            return None
        now = deadline.clock.now()
        again = min(turn.at, now + LOOK_AGAIN_SECONDS) if turn.being_served else turn.at
        if again > latest:
            return turn.at
        deadline.clock.sleep(max(0.001, again - now))
    return None
