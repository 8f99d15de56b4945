"""Waiting for a turn at a provider's published rate, which the whole fleet shares."""

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.provider import Pacing
from zarniwoop.dispatch.fleet import FleetState


def wait_for_turn(pacing: Pacing, longest: float, fleet: FleetState, clock: Clock) -> float | None:
    """Take a turn and wait for it; when it would come after `longest` seconds, take none and say when there is one."""
    now = clock.now()
    turn = fleet.take_turn(pacing, latest=now + longest)
    if not turn.granted:
        return turn.at
    if turn.at > now:
        clock.sleep(turn.at - now)
    return None
