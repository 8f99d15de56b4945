"""When a request is sent again, and how long before that: only what time heals, never past the caller's time.

What spends is not sent again once it may have been carried out, unless its key makes one call of both: the caller's
ceilings hold for the call and not for each request.

A wait that the server states (`wait_seconds`, `Retry-After`) is never shortened; where it leads past the deadline the
problem is raised at once, since sleeping would only delay it.
"""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from zarniwoop_client.answer import Answer, Read, own_answer, understood
from zarniwoop_client.exchange import Loss, Lost, Outcome, Received, Request, Send, Sleep, Step
from zarniwoop_client.problems import OWN_TYPE, OutOfTime, error_of, own_problem
from zarniwoop_client.results.problem import Problem

T = TypeVar("T")
LONGEST_REQUEST = 32.0
"""Seconds. The API answers within 29, or something before it does."""
_LEAST_SECONDS = 0.05
_CONFLICT, _TOO_MANY, _UNREADY = 409, 429, 503
_REFUSED = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """At most `retries` after the first request; pauses double from `first_pause` up to `longest_pause` seconds.

    `random` is from 0 to 1: clients that were refused together must not come back together.
    """

    retries: int = 3
    first_pause: float = 0.5
    longest_pause: float = 8.0
    clock: Callable[[], float] = time.monotonic
    random: Callable[[], float]

    def pause(self, tried: int, stated: float | None) -> float:
        """Seconds until the next request; `tried` counts those before it."""
        if stated is not None:
            return stated + self.random() * min(1.0, 0.1 * stated)
        pause = min(self.longest_pause, self.first_pause * 2 ** (tried - 1))
        return float(pause * (0.5 + 0.5 * self.random()))

    def exchange(self, request: Request, read: Read[T], seconds: float) -> Generator[Step, Any, Answer[T]]:
        """The answer of a request within so many seconds, pauses and all. Raises ZarniwoopError."""
        ends_at, tried, last = self.clock() + seconds, 0, None
        while True:
            left = ends_at - self.clock()
            if left < _LEAST_SECONDS:
                raise last or _out_of_time(seconds)
            outcome: Outcome = yield Send(request=request, seconds=min(left, LONGEST_REQUEST))
            tried += 1
            answer = understood(outcome, read, bare=request.bare)
            answer = replace(answer, project_id=request.project_id)
            if answer.ok:
                return answer
            last = error_of(_problem(answer), answer)
            if tried > self.retries or not may_repeat(request, outcome, last.problem):
                raise last
            pause = self.pause(tried, stated_wait(last.problem, outcome))
            if self.clock() + pause >= ends_at:
                raise last
            yield Sleep(seconds=pause)


def may_repeat(request: Request, outcome: Outcome, problem: Problem) -> bool:
    """What may have been carried out is sent again only if that does no harm."""
    if not problem.retryable:
        return False
    if not request.repeatable:
        return _never_arrived(outcome)
    if request.spends:
        return _was_not_carried_out(outcome) or (request.keyed and _key_decides(outcome, problem))
    return not request.keyed or isinstance(outcome, Lost) or outcome.status >= _REFUSED


def _never_arrived(outcome: Outcome) -> bool:
    if isinstance(outcome, Lost):
        return outcome.loss is Loss.UNCONNECTED
    return outcome.status == _TOO_MANY


def _was_not_carried_out(outcome: Outcome) -> bool:
    """Of a tool: whoever answers 503 answers instead of it, and a 409 says that another request has its key."""
    if isinstance(outcome, Lost):
        return outcome.loss is Loss.UNCONNECTED
    return outcome.status in (_CONFLICT, _TOO_MANY, _UNREADY)


def _key_decides(outcome: Outcome, problem: Problem) -> bool:
    """No answer of the tool's own has come back: the same key brings the one that there was. A refusal frees its key,
    so that what comes after it would be spent anew.
    """
    return isinstance(outcome, Lost) or problem.type.startswith(OWN_TYPE)


def stated_wait(problem: Problem, outcome: Outcome) -> float | None:
    """The longest wait that the answer states, in its problem or its header."""
    stated = [problem.wait_seconds, _retry_after(outcome) if isinstance(outcome, Received) else None]
    known = [max(0.0, each) for each in stated if each is not None]
    return max(known, default=None)


def _retry_after(outcome: Received) -> float | None:
    """Seconds, or a date that is compared with the server's own clock."""
    given = outcome.headers.get("retry-after", "").strip()
    if given.isascii() and given.isdigit():
        return float(given)
    try:
        until = parsedate_to_datetime(given).timestamp()
        now = parsedate_to_datetime(outcome.headers["date"]).timestamp()
    except (LookupError, ValueError):
        return None
    return until - now


def _problem(answer: Answer[Any]) -> Problem:
    if answer.error is None:
        raise TypeError("an answer that is not ok has a problem")
    return answer.error


def _out_of_time(seconds: float) -> OutOfTime:
    problem = own_problem(
        "client-out-of-time",
        "There was no time for an answer",
        f"the {seconds:g} seconds that the caller gave were over",
        retryable=True,
        suggested_action="give the call a longer timeout",
    )
    return OutOfTime(problem, own_answer(problem))
