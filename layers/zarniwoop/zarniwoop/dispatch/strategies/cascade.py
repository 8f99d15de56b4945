"""The cascade: one candidate after the other, until one answers with hits or the time is spent.

One that keeps the search waiting is joined by the next (`dispatch.hedging`); the first with hits wins. This is the only
retry there is. The next provider is a better retry than the same one; the same one is asked again only when it is the
last, and stated a wait of at most two seconds.
"""

from dataclasses import dataclass

from zarniwoop.contract.failure import RateLimited
from zarniwoop.contract.result import Attempt, Outcome, SearchResult
from zarniwoop.dispatch.calls.account import failed, with_account
from zarniwoop.dispatch.calls.asked import Asked
from zarniwoop.dispatch.calls.asking import SHORTEST_ATTEMPT_SECONDS, Asking
from zarniwoop.dispatch.candidates.selection import Candidate, Lineup
from zarniwoop.dispatch.strategies.hedging import Hedging

WORTH_WAITING_SECONDS = 2.0


@dataclass(slots=True, kw_only=True)
class Cascade:
    """One request's way through its candidates."""

    asking: Asking
    lineup: Lineup

    def run(self) -> SearchResult:
        attempts: list[Attempt] = []
        empty: SearchResult | None = None
        last: tuple[Candidate, Asked] | None = None
        calls = Hedging(asking=self.asking, candidates=self.lineup.candidates)
        for candidate, asked in calls.ends():
            attempts.extend(asked.attempts)
            if asked.attempt.outcome is Outcome.SUCCESS and asked.result:
                for other in calls.break_off():
                    attempts.extend(other.attempts)
                return with_account(asked.result, self.lineup, attempts)
            empty = empty or asked.result
            last = (candidate, asked) if asked.attempt.outcome is not Outcome.SKIPPED else last
        if empty is None and last is not None and (again := self._ask_again(*last)) is not None:
            attempts.extend(again.attempts)
            if again.result is not None:
                return with_account(again.result, self.lineup, attempts)
        if empty is not None:
            return with_account(empty, self.lineup, attempts)
        return failed(self.asking.request, self.lineup, attempts)

    def _ask_again(self, candidate: Candidate, asked: Asked) -> Asked | None:
        """Wait out a short stated wait of the last provider that was asked, once, if the time allows.

        Others of the fleet may have been told a longer one meanwhile; and a stated wait of nothing is our own guess.
        """
        wait = asked.error.retry_after if isinstance(asked.error, RateLimited) else None
        room = self.asking.scope.deadline.remaining() - SHORTEST_ATTEMPT_SECONDS
        if wait is None or wait > min(WORTH_WAITING_SECONDS, room):
            return None
        self.asking.clock.sleep(wait)
        return self.asking.look_again(candidate)
