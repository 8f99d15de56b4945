"""The fan-out: several candidates at once, and one list out of what they answer.

At first one instance of each index is asked, at most four, in the order of the line; the others stand in when those
found fewer works than the caller wants. One that fails changes nothing but its own entry in the account.
Where the request allows fewer calls than that, those that come first in the line have theirs before anybody starts;
whoever had to stand back is looked at again when they have ended.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.result import AppliedFilter, Attempt, FilterHandling, Outcome, SearchResult
from zarniwoop.dispatch.calls.account import failed, with_account
from zarniwoop.dispatch.calls.asked import Asked
from zarniwoop.dispatch.calls.asking import Asking
from zarniwoop.dispatch.calls.side_by_side import SideBySide
from zarniwoop.dispatch.candidates.gate import Skip, Verdict
from zarniwoop.dispatch.candidates.selection import Candidate, Lineup
from zarniwoop.dispatch.spending.purse import MAX_CALLS, MAX_COST, Refusal
from zarniwoop.dispatch.strategies.fusion import RankedList, fuse, indexes_of

MOST_AT_ONCE = 4
_LEAST_APPLIED_FIRST = (FilterHandling.IGNORED, FilterHandling.HERE, FilterHandling.PROVIDER)

Placed = tuple[int, Candidate]
"""A candidate and its place in the line."""


class _Visit(NamedTuple):
    """Somebody who is asked now, and what it may spend."""

    place: int
    candidate: Candidate
    asking: Asking

    def make(self, company: bool, behind: Sequence[Candidate]) -> Asked:
        with self.asking.purse.giving_back():
            return replace(self.asking, has_company=company).visit(self.candidate, behind)


@dataclass(slots=True, kw_only=True)
class FanOut:
    """One request to many."""

    asking: Asking
    lineup: Lineup
    _asked: dict[int, Asked] = field(default_factory=dict)

    def run(self) -> SearchResult:
        found: SearchResult | None = None
        waiting: list[Placed] = list(enumerate(self.lineup.candidates))
        while waiting:
            wave, waiting = self._next_wave(waiting)
            self._ask(wave, [candidate for _, candidate in waiting])
            found = self._found()
            if found is not None and len(found.hits) >= min(self.asking.request.min_results, self._most):
                break
        attempts = [each for place in sorted(self._asked) for each in self._asked[place].attempts]
        if found is None:
            return failed(self.asking.request, self.lineup, attempts)
        return with_account(found, self.lineup, attempts)

    @property
    def _most(self) -> int:
        return self.asking.request.max_results

    def _next_wave(self, waiting: Sequence[Placed]) -> tuple[list[_Visit], list[Placed]]:
        """Who is asked next, and who still waits; what the gate holds back is in the account by then."""
        wave: list[_Visit] = []
        rest: list[Placed] = []
        indexes: set[str] = set()
        for place, candidate in waiting:
            verdict, index = self.asking.verdict(candidate), index_behind(candidate)
            if verdict.skip is None and (len(wave) == MOST_AT_ONCE or index in indexes):
                rest.append((place, candidate))
                continue
            asking = self.asking.set_aside(candidate) if verdict.skip is None else verdict
            if isinstance(asking, Asking):
                indexes.add(index)
                wave.append(_Visit(place, candidate, asking))
                continue
            self._asked[place] = _stood_back(candidate, asking)
            if wave and self._asked[place].attempt.detail in (MAX_CALLS, MAX_COST):
                rest.append((place, candidate))
        return wave, rest

    def _ask(self, wave: Sequence[_Visit], behind: Sequence[Candidate]) -> None:
        """What is not there at the deadline is left to end by itself."""
        calls: SideBySide[Asked] = SideBySide(self.asking.crew, self.asking.tracing)
        for each in wave:
            calls.start(each.place, partial(each.make, len(wave) > 1, behind))
        while calls.running:
            ended = calls.next_end(self.asking.scope.deadline.remaining())
            if ended is None:
                break
            self._asked[ended.number] = ended.answer()
        self._asked |= {
            place: Asked.left_running(candidate, Skip.OUT_OF_TIME)
            for place, candidate, _ in wave
            if place in calls.running
        }

    def _found(self) -> SearchResult | None:
        """One result out of all that came so far; None where nobody answered."""
        answers = [
            (candidate, asked.result)
            for place, candidate in enumerate(self.lineup.candidates)
            if (asked := self._asked.get(place)) is not None and asked.result is not None
        ]
        if not answers:
            return None
        results = [result for _, result in answers]
        hits = fuse(
            [
                RankedList(instance_id=each.endpoint.id, index_family=index_behind(each), hits=result.hits)
                for each, result in answers
            ]
        )[: self._most]
        request = self.asking.request
        return SearchResult(
            query=request.query,
            modality=request.modality,
            provider_instance_id=answers[0][0].endpoint.id if len(answers) == 1 else "",
            tier=request.tier,
            hits=hits,
            returned_count=len(hits),
            dropped_count=sum(result.dropped_count for result in results),
            note="; ".join(
                dict.fromkeys(filter(None, [*(each.note for each in results), self._too_few(answers, hits)]))
            )
            or None,
            applied=tuple(_applied(answers)),
            degraded=self._degraded(),
            calls=sum(result.calls for result in results),
        )

    def _too_few(self, answers: Sequence[tuple[Candidate, SearchResult]], hits: Sequence[SearchHit]) -> str | None:
        wished = min(self.asking.request.min_results, self._most)
        if len(hits) >= wished or wished == 1:
            return None
        indexes = len({index_behind(candidate) for candidate, _ in answers})
        return f"{indexes} {'index' if indexes == 1 else 'indexes'} gave {len(hits)} of the {wished} works wished for"

    def _degraded(self) -> str | None:
        """Whose votes are missing, though they may be there next time."""
        missing = [asked.attempt.instance_id for _, asked in sorted(self._asked.items()) if _is_missing(asked.attempt)]
        told = [asked.result.degraded for asked in self._asked.values() if asked.result and asked.result.degraded]
        return "; ".join([*([f"without {', '.join(missing)}"] if missing else []), *sorted(set(told))]) or None


def _stood_back(candidate: Candidate, why: Verdict | Refusal) -> Asked:
    if isinstance(why, Verdict):
        return Asked.skipped(candidate, why.skip or Skip.BUDGET, why.detail, why.retry_at, why.limit)
    return Asked.skipped(candidate, why.skip, why.ceiling, why.resets_at, why.limit)


def index_behind(candidate: Candidate) -> str:
    """Whose vote an instance casts; one that declares no index stands for its protocol."""
    family = candidate.instance.capabilities().index_family or candidate.endpoint.protocol
    return "+".join(indexes_of(candidate.endpoint.extras, family))


def _is_missing(attempt: Attempt) -> bool:
    if attempt.outcome is Outcome.SKIPPED:
        return attempt.reason not in (Skip.DISABLED, Skip.EXHAUSTED, Skip.BUDGET)
    return attempt.outcome is Outcome.FAILURE


def _applied(answers: Iterable[tuple[Candidate, SearchResult]]) -> Iterator[AppliedFilter]:
    """Each filter once: what the least of all answers can be relied on for, and whose that is."""
    by_name: dict[str, list[tuple[str, AppliedFilter]]] = {}
    for candidate, result in answers:
        for each in result.applied:
            by_name.setdefault(each.name, []).append((candidate.endpoint.id, each))
    for told in by_name.values():
        least = min((each for _, each in told), key=lambda each: _LEAST_APPLIED_FIRST.index(each.handling))
        if all(each.handling is least.handling for _, each in told):
            yield least
            continue
        whose = ", ".join(instance_id for instance_id, each in told if each.handling is least.handling)
        reason = f"{whose}: {least.reason}" if least.reason else f"so by {whose}"
        yield AppliedFilter(name=least.name, value=least.value, handling=least.handling, reason=reason)
