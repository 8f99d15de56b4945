"""What a standing query has not reported yet: hits that share no identity with one that it has.

An identity is a DOI, an arXiv id, a PMID, a PMCID, the address of a picture or the normalised URL (`text/works.py`), so
that a work stays known when another provider answers. Remembered is no more than 16 bytes of each identity's hash; of
these, the 2,000 that were seen last: 32 kB of an item that may have 400.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.result import SearchResult
from zarniwoop.dispatch.strategies.fusion import marks_shown
from zarniwoop.tools.tool import ToolServices

MOST_REMEMBERED = 2_000
_FORM = b"1"
"""Leads what is remembered, so that another form could be told from this one, and nothing from never."""
_BYTES = 16

Mark = bytes
Handle = Callable[[Any, SearchScope, ToolServices], ToolResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The hits of a round that are new, and what is to be remembered once they are reported."""

    hits: tuple[SearchHit, ...]
    memory: bytes


def changes(hits: Sequence[SearchHit], memory: bytes | None) -> Changes:
    """Each work once. What was seen again is remembered for longer than what was not."""
    remembered = _read(memory)
    known = set(remembered)
    new: list[SearchHit] = []
    seen: list[Mark] = []
    for hit in hits:
        marks = _marks(hit)
        if known.isdisjoint(marks):
            new.append(hit)
        known.update(marks)
        seen += marks
    latest = dict.fromkeys(seen)
    kept = [mark for mark in remembered if mark not in latest] + list(latest)
    return Changes(hits=tuple(new), memory=_FORM + b"".join(kept[-MOST_REMEMBERED:]))


class Watch:
    """One round: a tool's handle that lets through only what is new, and the account of it."""

    def __init__(self, handle: Handle, memory: bytes | None) -> None:
        self._handle = handle
        self._memory = memory
        self._hits: tuple[SearchHit, ...] = ()
        self.found: Changes | None = None

    def handle(self, arguments: Any, scope: SearchScope, services: ToolServices) -> ToolResult:
        result = self._handle(arguments, scope, services)
        if not result.ok or not isinstance(result.data, SearchResult):
            return result
        self._hits = result.data.hits
        self.found = found = changes(self._hits, self._memory)
        return replace(result, data=replace(result.data, hits=found.hits, returned_count=len(found.hits)))

    def without(self, untold: Sequence[SearchHit]) -> Changes:
        """The same round as if these had not been found: the next one reports them.

        Nor whatever shares a mark with them, at first or second hand: remembering that would make them known untold.
        """
        told = [hit for hit in changes(self._hits, self._memory).hits if hit not in untold]
        unsaid = {mark for hit in untold for mark in _marks(hit)}
        left = [hit for hit in self._hits if hit not in untold]
        while related := [hit for hit in left if hit not in told and not unsaid.isdisjoint(_marks(hit))]:
            unsaid.update(mark for hit in related for mark in _marks(hit))
            left = [hit for hit in left if hit not in related]
        return changes(left, self._memory)


def _read(memory: bytes | None) -> tuple[Mark, ...]:
    marks = memory.removeprefix(_FORM) if memory else b""
    return tuple(marks[start : start + _BYTES] for start in range(0, len(marks) - _BYTES + 1, _BYTES))


def _marks(hit: SearchHit) -> tuple[Mark, ...]:
    """A hit without any identity is known by its title."""
    identities = marks_shown(hit).identities or (("title", hit.title),)
    return tuple(hashlib.sha256("\n".join(each).encode("utf-8", "replace")).digest()[:_BYTES] for each in identities)
