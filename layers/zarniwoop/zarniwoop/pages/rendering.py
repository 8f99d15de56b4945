"""When the step `browser` is taken: where the static reading failed, and the domain is one that may be rendered.

Failed is a page without text of its own, or with a part of it only. Not one whose status is an error's, which no script
changes, nor one that asks for a login or says that there is no such page: that is its answer. The fetching function
opens the page, for it alone talks to strangers; the slot that bounds the browsers of the whole stack is taken here, for
the fetching function has no access to the shared state.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import (
    FetcherFault,
    FetcherUnavailable,
    PageAnswer,
    PageFetcher,
    PageOutcome,
    PageQuestion,
    PageStep,
)
from zarniwoop.contract.provider import Pacing
from zarniwoop.dispatch.fleet.state import FleetState
from zarniwoop.pages.answers import is_better, not_fuller
from zarniwoop.pages.reasons import BROWSER, RENDERED_FOR, BrowserReason, of_browser
from zarniwoop.text.urls import host_of, is_below

MOST_AT_ONCE = 3
_MARKUP = frozenset(("text/html", "application/xhtml+xml"))
_MOST_SECONDS = 17.0
_LEAST_SECONDS = 10.0
"""What starting a function and a browser, rendering and reading take at least."""
_LONGEST_WAIT = 6.0
_LOOK_AGAIN_SECONDS = 0.5
_LEASE_SECONDS = 65.0
"""A session that nobody stops any more is billed for a minute."""
_NEVER_BEGAN = frozenset((FetcherFault.NOT_CONFIGURED, FetcherFault.THROTTLED))
_SAYS_MORE = frozenset(
    (
        PageOutcome.EMPTY,
        PageOutcome.SOFT_404,
        PageOutcome.BLOCKED,
        PageOutcome.LOGIN_REQUIRED,
        PageOutcome.CONSENT_REQUIRED,
        PageOutcome.NEEDS_JAVASCRIPT,
    )
)
"""Verdicts on the page as its scripts made it: they stand in the place of the one on its shell."""


class BrowserSlots:
    """So many browsers at once in the whole stack, whoever asks for which site. Safe to use from several threads.

    Each slot is a turn that one alone holds (`dispatch.fleet`): who dies with one loses it with its lease. While the
    shared state is down, each environment has as many for itself.
    """

    def __init__(self, fleet: FleetState, most: int = MOST_AT_ONCE) -> None:
        self._fleet = fleet
        self._slots = tuple(
            Pacing(subject=f"browser@{number}", requests=1, seconds=0.001, exclusive=True) for number in range(most)
        )

    @contextmanager
    def one(self, longest: float, deadline: Deadline) -> Iterator["Slot | None"]:
        """A slot for the block, or None where none is free within `longest` seconds."""
        holder = secrets.token_hex(6)
        slot = self._taken(holder, deadline.clock.now() + longest, deadline)
        try:
            yield slot
        finally:
            if slot is not None and not slot.left_to_its_lease:
                self._fleet.release_turn(slot.pacing, holder)

    def _taken(self, holder: str, latest: float, deadline: Deadline) -> "Slot | None":
        clock, first = deadline.clock, secrets.randbelow(len(self._slots))
        while not deadline.is_broken_off:
            for pacing in (*self._slots[first:], *self._slots[:first]):
                if self._fleet.hold_turn(pacing, holder, lease_seconds=_LEASE_SECONDS).granted:
                    return Slot(pacing=pacing)
            if clock.now() + _LOOK_AGAIN_SECONDS > latest:
                break
            clock.sleep(_LOOK_AGAIN_SECONDS)
        return None


@dataclass(slots=True, kw_only=True)
class Slot:
    """`left_to_its_lease`: nobody knows whether its browser has ended."""

    pacing: Pacing
    left_to_its_lease: bool = False


def may_be_rendered(answer: PageAnswer, domains: Sequence[str]) -> bool:
    return (
        answer.reason in RENDERED_FOR
        and answer.media_type in _MARKUP
        and (answer.status or 0) < 400
        and is_named(answer.final_url, domains)
    )


def is_named(url: str, domains: Sequence[str]) -> bool:
    """Whether the URL is of one of the domains that may be rendered."""
    return any(is_below(host_of(url), domain) for domain in domains)


def rendered(
    answer: PageAnswer, question: PageQuestion, fetcher: PageFetcher, slots: BrowserSlots, deadline: Deadline
) -> PageAnswer:
    """The page as a browser shows it, where that is more than the answer has; the browser's steps in any case."""
    longest = min(_LONGEST_WAIT, deadline.remaining() - _LEAST_SECONDS)
    if longest < 0.0:
        return _without(answer, *of_browser(BrowserReason.TOO_LITTLE_TIME))
    with slots.one(longest, deadline) as slot:
        if slot is None:
            return _without(answer, *of_browser(BrowserReason.NO_SLOT))
        until = deadline.within(_MOST_SECONDS)
        try:
            shown = fetcher.fetch(replace(question, seconds=max(0.1, until.remaining())), deadline=until)
        except FetcherUnavailable as failure:
            slot.left_to_its_lease = failure.fault not in _NEVER_BEGAN
            late = failure.fault is FetcherFault.OUT_OF_TIME
            return _without(answer, PageOutcome.OUT_OF_TIME if late else PageOutcome.UNAVAILABLE, failure.fault)
    return _kept(answer, shown)


def _kept(answer: PageAnswer, shown: PageAnswer) -> PageAnswer:
    received = answer.bytes_received + shown.bytes_received
    read = shown.outcome is PageOutcome.OK
    if is_better(shown.page, answer) if read else _is_better_verdict(shown, answer):
        return replace(
            answer,
            outcome=shown.outcome,
            reason=shown.reason,
            status=shown.status or answer.status,
            page=shown.page,
            degraded=shown.degraded,
            etag=None,
            last_modified=None,
            bytes_received=received,
            steps=(*answer.steps, *shown.steps),
        )
    answer = replace(answer, bytes_received=received)
    return replace(answer, steps=(*answer.steps, *not_fuller(shown.steps))) if read else _left(answer, shown.steps)


def _is_better_verdict(shown: PageAnswer, answer: PageAnswer) -> bool:
    return answer.outcome is not PageOutcome.OK and shown.outcome in _SAYS_MORE and (shown.status or 0) < 400


def _without(answer: PageAnswer, outcome: PageOutcome, reason: str) -> PageAnswer:
    return _left(answer, (PageStep(name=BROWSER, outcome=outcome, reason=reason),))


def _left(answer: PageAnswer, steps: tuple[PageStep, ...]) -> PageAnswer:
    """As it was without a browser; of a text that breaks off there may be more on a better day."""
    degraded = answer.degraded or answer.outcome is PageOutcome.OK
    return replace(answer, degraded=degraded, steps=(*answer.steps, *steps))
