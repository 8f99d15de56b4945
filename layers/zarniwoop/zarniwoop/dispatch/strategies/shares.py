"""Who of several searches that start side by side gets the calls that the request allows: the first in order.

Each has the calls of its first provider set aside before any of them starts; what is left goes to whichever needs it.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from zarniwoop.contract.request import CacheUse, SearchRequest, SearchScope
from zarniwoop.dispatch.calls.asking import verdict_of
from zarniwoop.dispatch.calls.promises import foretold, most_calls
from zarniwoop.dispatch.candidates.selection import Lineup
from zarniwoop.dispatch.spending.purse import Purse, Refusal
from zarniwoop.stores.state import StateSnapshot


class Starting(NamedTuple):
    """A search that is about to start; `is_kept`: it has an answer already, and nobody will be asked."""

    request: SearchRequest
    lineup: Lineup
    is_kept: bool


def in_turn(
    purse: Purse, searches: Sequence[Starting], scope: SearchScope, snapshot: StateSnapshot, now: float
) -> list[Purse]:
    """A purse for each, in their order; whoever comes too late has nothing set aside, and takes what is given back."""

    def part(each: Starting) -> Purse:
        if each.is_kept or each.request.cache is CacheUse.ONLY or not purse.has_limits:
            return purse
        for candidate in each.lineup.candidates:
            if verdict_of(candidate, each.request, scope, snapshot, purse, now).skip is None:
                calls = foretold(partial(most_calls, candidate, each.request), 1)
                found = purse.part_for(candidate.endpoint, calls)
                return purse if isinstance(found, Refusal) else found
        return purse

    return [part(each) for each in searches]
