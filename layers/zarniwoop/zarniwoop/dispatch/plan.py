"""A dry run: what a search would do, out of settings and one snapshot of the shared state, without asking anybody.

Worst case means: every instance that may be asked fails after as many calls as a search of its kind can take, and
whichever ends last states a wait short enough to be asked once more: with hedging, or where a turn is not to be had,
that need not be the last in line. How long the turns of a published rate are is not known before one is taken, so
instances behind one count as if they were asked. A dry run reads no keys: until a search did, an endpoint with a key
counts as if it had as many as there may be, and the note says so.
Quirk: a key that was replaced a moment ago is tried in both versions; that one call more is not counted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import repeat
from typing import NamedTuple

from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.request import CacheUse, SearchRequest, SearchScope, Strategy
from zarniwoop.contract.transport import MOST_IN_A_POOL
from zarniwoop.dispatch.calls.asking import verdict_of
from zarniwoop.dispatch.calls.promises import foretold, most_calls
from zarniwoop.dispatch.candidates.credit import credits_of_a_call, dollars_of_a_call, quota_in_force
from zarniwoop.dispatch.candidates.factory import Assembly
from zarniwoop.dispatch.candidates.gate import Verdict
from zarniwoop.dispatch.candidates.selection import Candidate, Lineup
from zarniwoop.dispatch.spending.purse import Purse
from zarniwoop.settings.endpoints import EndpointSettings
from zarniwoop.stores.state import StateSnapshot


class LeftOut(StrEnum):
    """Why an instance does not stand in line at all; those that do are skipped for the reasons of the gate."""

    MISCONFIGURED = "misconfigured"
    NOT_PINNED = "not_pinned"
    OTHER_MODALITY = "other_modality"
    OTHER_TIER = "other_tier"
    METERED = "metered"
    NOT_ROUTED = "not_routed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCase:
    """At most so many requests to providers, so many credits of theirs, and so many dollars.

    `_mixed` are the calls by what each takes, where they do not all take the same; it is not told.
    """

    calls: int = 0
    credits: float = 0.0
    usd: float = 0.0
    _mixed: "tuple[_Calls, ...]" = field(default=(), repr=False, compare=False)

    @property
    def by_price(self) -> "tuple[_Calls, ...]":
        if self._mixed or not self.calls:
            return self._mixed
        return (_Calls(self.calls, self.credits / self.calls, self.usd / self.calls),)

    def plus(self, other: "WorstCase") -> "WorstCase":
        return WorstCase(
            calls=self.calls + other.calls,
            credits=round(self.credits + other.credits, 9),
            usd=round(self.usd + other.usd, 9),
            _mixed=self.by_price + other.by_price,
        )

    def within(self, max_calls: int | None, max_cost: float | None) -> "WorstCase":
        """No more than a request allows, whose ceilings hold before every call: of so many calls, the dearest."""
        few = self if max_calls is None or max_calls >= self.calls else self._dearest(max_calls)
        return few if max_cost is None else replace(few, usd=min(few.usd, max_cost))

    def times(self, count: int) -> "WorstCase":
        return WorstCase(
            calls=self.calls * count,
            credits=round(self.credits * count, 9),
            usd=round(self.usd * count, 9),
            _mixed=tuple(each._replace(calls=each.calls * count) for each in self.by_price),
        )

    def _dearest(self, count: int) -> "WorstCase":
        """Those that take the most credits, and those that take the most dollars: each is a bound."""
        taken = sum(sorted((each.credits for each in self._each(count)), reverse=True)[:count])
        dollars = sum(sorted((each.usd for each in self._each(count)), reverse=True)[:count])
        return replace(
            self, calls=count, credits=min(self.credits, round(taken, 9)), usd=min(self.usd, round(dollars, 9))
        )

    def _each(self, most: int) -> "Iterator[_Calls]":
        """Of those that take the same no more than may be made."""
        for each in self.by_price:
            yield from repeat(each, min(each.calls, most))


class _Calls(NamedTuple):
    """So many, each of which takes that."""

    calls: int
    credits: float
    usd: float


NOTHING = WorstCase()


def worst_of(cases: Iterable[WorstCase]) -> WorstCase:
    """The most calls, credits and dollars of any of these, whichever has them."""
    known = (NOTHING, *cases)
    return WorstCase(
        calls=max(case.calls for case in known),
        credits=max(case.credits for case in known),
        usd=max(case.usd for case in known),
        _mixed=tuple(each for case in known for each in case.by_price),
    )


def sum_of(cases: Iterable[WorstCase]) -> WorstCase:
    """All of these together."""
    total = NOTHING
    for case in cases:
        total = total.plus(case)
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligible:
    """An instance that would be asked, unless one before it answers with hits; `position` counts from 1.

    `times` is how often at most: once with each of its keys. `calls` and costs are those of one time. `probe`: a
    cooldown is over, and one caller of the fleet alone may try. `remaining` is what is known to be left of its quota,
    in `unit`. `turn_every` is how many seconds lie between two searches at its published rate.
    """

    position: int
    instance_id: str
    protocol: str
    calls: int
    credits: float
    usd: float
    times: int = 1
    probe: bool = False
    remaining: float | None = None
    unit: str | None = None
    turn_every: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An instance that would not be asked: a reason of the gate, or of `LeftOut`. `retry_at` in epoch seconds."""

    instance_id: str
    reason: str
    detail: str | None = None
    retry_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchPlan:
    """What a search of this kind would do right now. It names no query.

    `again` is what the one that ends last may take once more, after a short stated wait; it is part of `worst_case`.
    """

    modality: SearchModality
    tier: SearchTier
    eligible: tuple[Eligible, ...]
    skipped: tuple[Skipped, ...]
    again: WorstCase
    worst_case: WorstCase
    note: str | None = None


def plan_search(
    request: SearchRequest,
    scope: SearchScope,
    assembly: Assembly,
    snapshot: StateSnapshot,
    now: float,
    *,
    within: float = 0.0,
    kept_age: float | None = None,
) -> DispatchPlan:
    """Raises UnknownThing or InvalidArgument for a pinned instance, as the search would.

    The search may be made `within` so many seconds: whoever may be asked again by then counts in the worst case.
    `kept_age` is how old the kept answer is that it would be given now.
    """
    lineup = assembly.line_up(request)
    purse = Purse.of([request], assembly.settings.budgets)

    def at(moment: float) -> list[tuple[Candidate, Verdict]]:
        return [(each, verdict_of(each, request, scope, snapshot, purse, moment)) for each in lineup.candidates]

    verdicts = at(now)
    going = [(candidate, verdict) for candidate, verdict in verdicts if verdict.skip is None]
    eligible = [_eligible(place, *each, request, snapshot, now) for place, each in enumerate(going, 1)]
    skipped = [_skipped(candidate, verdict) for candidate, verdict in verdicts if verdict.skip is not None]
    in_time = [candidate for candidate, verdict in at(now + within) if verdict.skip is None] if within else []
    visits = [_visit(candidate, request) for candidate in _either([each for each, _ in going], in_time)]
    only_kept, once = request.cache is CacheUse.ONLY, request.strategy is Strategy.FANOUT
    again = NOTHING if only_kept or once else worst_of(visits)
    worst = NOTHING if only_kept else sum_of((*visits, again))
    return DispatchPlan(
        modality=request.modality,
        tier=request.tier,
        eligible=tuple(eligible),
        skipped=(*skipped, *_left_out(request, lineup, assembly)),
        again=again,
        worst_case=worst.within(request.max_calls, request.max_cost),
        note="; ".join(_notes(request, lineup, [each for each, _ in going], kept_age)) or None,
    )


def _either(now: Sequence[Candidate], in_time: Sequence[Candidate]) -> list[Candidate]:
    return [*now, *(candidate for candidate in in_time if candidate not in now)]


def _visit(candidate: Candidate, request: SearchRequest) -> WorstCase:
    """Once with each of its keys."""
    calls = foretold(lambda: most_calls(candidate, request), 1)
    return price_of(candidate.endpoint, calls).times(candidate.most_keys())


def _notes(request: SearchRequest, lineup: Lineup, going: Sequence[Candidate], kept_age: float | None) -> Iterator[str]:
    if lineup.note:
        yield lineup.note
    if request.cache is CacheUse.ONLY:
        yield "cache is only: nobody is asked, and a kept answer is given where there is one"
    if kept_age is not None:
        yield f"an answer of {kept_age:.0f} seconds ago is kept, and given as long as it is: then nobody is asked"
    unread = [f"'{candidate.endpoint.id}'" for candidate in going if candidate.most_keys() > candidate.key_count()]
    if unread:
        yield f"the keys of {', '.join(unread)} were not read here yet: {MOST_IN_A_POOL} of each are counted"


def price_of(endpoint: EndpointSettings, calls: int) -> WorstCase:
    """What so many calls of an endpoint take: in its provider's credits where those are counted, else in dollars."""
    taken, dollars = calls * credits_of_a_call(endpoint), calls * dollars_of_a_call(endpoint)
    return WorstCase(calls=calls, credits=round(taken, 9), usd=round(dollars, 9))


def _eligible(
    position: int, candidate: Candidate, verdict: Verdict, request: SearchRequest, snapshot: StateSnapshot, now: float
) -> Eligible:
    endpoint = candidate.endpoint
    price = price_of(endpoint, foretold(lambda: most_calls(candidate, request), 1))
    pacing = foretold(lambda: candidate.instance.pacing(request), None)
    quota = quota_in_force(endpoint, (endpoint.id, request.modality), snapshot, now)
    return Eligible(
        position=position,
        times=candidate.most_keys(),
        instance_id=endpoint.id,
        protocol=endpoint.protocol,
        calls=price.calls,
        credits=price.credits,
        usd=price.usd,
        probe=verdict.probe is not None,
        remaining=quota.remaining if quota else None,
        unit=quota.unit if quota else None,
        turn_every=round(pacing.interval, 3) if pacing else None,
    )


def _skipped(candidate: Candidate, verdict: Verdict) -> Skipped:
    return Skipped(
        instance_id=candidate.endpoint.id,
        reason=str(verdict.skip),
        detail=verdict.detail,
        retry_at=verdict.retry_at,
    )


def _left_out(request: SearchRequest, lineup: Lineup, assembly: Assembly) -> Iterator[Skipped]:
    """Whoever does not stand in line, and what is too wrong to stand anywhere."""
    in_line = {candidate.endpoint.id for candidate in lineup.candidates}
    for instance_id, candidate in assembly.candidates.items():
        if instance_id not in in_line:
            yield Skipped(instance_id=instance_id, reason=_why_left_out(candidate, request, lineup))
    wrong: Mapping[str, str] = {each.instance_id: each.setting for each in reversed(assembly.misconfigured)}
    for instance_id in sorted(filter(None, wrong)):
        yield Skipped(instance_id=instance_id, reason=LeftOut.MISCONFIGURED, detail=wrong[instance_id])


def _why_left_out(candidate: Candidate, request: SearchRequest, lineup: Lineup) -> LeftOut:
    if request.modality not in candidate.instance.modalities():
        return LeftOut.OTHER_MODALITY
    if request.tier not in candidate.instance.tiers():
        return LeftOut.OTHER_TIER
    if request.pinned_provider_id and candidate.endpoint.id != request.pinned_provider_id:
        return LeftOut.NOT_PINNED
    metered = candidate.endpoint.id in lineup.metered or candidate in lineup.paid
    return LeftOut.METERED if metered else LeftOut.NOT_ROUTED
