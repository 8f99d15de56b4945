"""The dry run of a search: golden plans, and a worst case that no real search exceeds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.providers import Step, found
from tests.fakes.research import Research
from zarniwoop.contract.failure import CredentialsRejected, ProviderUnavailable, RateLimited
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.problem import UnknownThing
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import CacheUse, SearchRequest, Strategy
from zarniwoop.contract.transport import MOST_IN_A_POOL
from zarniwoop.dispatch.plan import DispatchPlan, WorstCase, plan_search, sum_of, worst_of
from zarniwoop.stores.ledger import Balance, Spent
from zarniwoop.stores.state import Cooldown, KeptQuota, StateSnapshot

PLANS = Path(__file__).with_name("plans")
NOW = 1_800_000_000.0
TWO = frozenset({SearchModality.WEB, SearchModality.NEWS})


@dataclass(frozen=True)
class Case:
    """Settings beside the protocols of `free`, `credits` and `dollars`, and what is known of them."""

    settings: Mapping[str, str] = field(default_factory=dict)
    snapshot: Callable[[Research], StateSnapshot] = lambda _research: StateSnapshot()
    request: Mapping[str, Any] = field(default_factory=dict)


PRICES = {
    "research.endpoint.credits.costPerCall": "1",
    "research.endpoint.credits.creditKind": "one_time",
    "research.endpoint.credits.creditLimit": "2500",
    "research.endpoint.credits.autoAllow": "true",
    "research.endpoint.dollars.costPerCall": "0.005",
    "research.endpoint.dollars.creditKind": "daily_usd",
    "research.endpoint.dollars.autoAllow": "true",
}


def _cooling(research: Research, **changes: Any) -> StateSnapshot:
    fingerprint = research.dispatcher.factory.assemble(research.scope()).candidates["free"].endpoint.fingerprint
    values: dict[str, Any] = {
        "instance_id": "free",
        "modality": SearchModality.WEB,
        "reason": "rate_limited",
        "until": NOW + 60,
        "failures": 1,
        "failed_at": NOW - 1,
        "fingerprint": fingerprint,
    }
    cooldown = Cooldown(**{**values, **changes})
    return StateSnapshot(cooldowns={cooldown.subject: cooldown})


def _used_up(_research: Research) -> StateSnapshot:
    told = QuotaStatus(source=QuotaSource.HEADERS, unit="searches", remaining=0, resets_at=NOW + 3600, observed_at=NOW)
    kept = KeptQuota(status=told, expires_at=NOW + 300)
    return StateSnapshot(quotas={("dollars", SearchModality.WEB): kept}, spent={"credits": 2500.0})


CASES = {
    "all_by_priority": Case(settings=PRICES),
    "only_what_is_named_or_allowed": Case(
        settings={key: value for key, value in PRICES.items() if not key.endswith("autoAllow")}
    ),
    "routed": Case(settings={**PRICES, "research.default.web": "dollars", "research.fallback.web": "free, gone"}),
    "pinned": Case(settings=PRICES, request={"pinned_provider_id": "credits", "tier": SearchTier.EXPERT}),
    "cooling": Case(settings=PRICES, snapshot=_cooling),
    "probed": Case(settings=PRICES, snapshot=lambda research: _cooling(research, until=NOW - 1)),
    "refused_key": Case(
        settings=PRICES,
        snapshot=lambda research: _cooling(research, reason="credentials_rejected", until_settings_change=True),
    ),
    "used_up": Case(settings=PRICES, snapshot=_used_up),
    "kept_answers_only": Case(settings=PRICES, request={"cache": CacheUse.ONLY}),
    "free_only": Case(settings=PRICES, request={"free_only": True}),
    "bounded_request": Case(settings=PRICES, request={"max_calls": 3, "max_cost": 0.005}),
    "budget_spent": Case(
        settings={**PRICES, "research.budget.project.usd": "1", "research.budget.tenant.calls": "100"},
        snapshot=lambda _research: StateSnapshot(
            budgets={
                "project": Balance(committed=Spent(amount=0.995, calls=7)),
                "tenant": Balance(committed=Spent(calls=7)),
            }
        ),
    ),
    "nobody": Case(settings=PRICES, request={"modality": SearchModality.MAP}),
    "switched_off_and_wrong": Case(
        settings={
            **PRICES,
            "research.endpoint.free.enabled": "false",
            "research.endpoint.wrong.protocol": "nonsense",
            "research.endpoint.dollars.maxResults": "many",
        }
    ),
}


def _research(settings: Mapping[str, str]) -> Research:
    scripts: dict[str, list[Step]] = {"free": [found(1)], "credits": [found(1)], "dollars": [found(1)]}
    research = Research(scripts, settings=dict(settings), modalities=TWO)
    research.protocol.pacing["dollars"] = Pacing(subject="dollars@host", requests=3, seconds=1.0, calls=2)
    return research


def _planned(case: Case) -> DispatchPlan:
    research = _research(case.settings)
    assembly = research.dispatcher.factory.assemble(research.scope())
    request = SearchRequest(**{"query": "cathedral bells", "modality": SearchModality.WEB, **case.request})
    plan = plan_search(request, research.scope(), assembly, case.snapshot(research), NOW)
    assert plan == plan_search(request, research.scope(), assembly, case.snapshot(research), NOW)
    assert not research.state.calls
    assert research.protocol.asked == []
    return plan


@pytest.mark.parametrize("name", CASES)
def test_a_plan_is_what_it_was(name: str) -> None:
    """Golden; `plan_search` asks no store and no provider, and says the same of the same. Write a new one by hand."""
    told = orjson.loads(orjson.dumps(_planned(CASES[name])))
    assert told == orjson.loads((PLANS / f"{name}.json").read_bytes())


def test_every_golden_plan_belongs_to_a_case() -> None:
    """One that nothing opens is litter."""
    assert sorted(path.stem for path in PLANS.iterdir()) == sorted(CASES)


def test_a_pinned_instance_that_does_not_exist_is_refused_as_a_search_would() -> None:
    """There is nothing to plan."""
    with pytest.raises(UnknownThing):
        _planned(Case(request={"pinned_provider_id": "nobody"}))


FAILURES = st.sampled_from(
    [ProviderUnavailable("503"), RateLimited("429", retry_after=1.0), CredentialsRejected("401"), found(0), found(2)]
)


@settings(deadline=None)
@given(st.lists(FAILURES, min_size=3, max_size=3), st.booleans())
def test_no_search_asks_more_often_nor_costs_more_than_its_plan_said(ends: list[Step], metered: bool) -> None:
    """Whoever fails in whatever way; and nobody is asked whom the plan left out."""
    scripts = dict(zip(("free", "credits", "dollars"), ([end] for end in ends), strict=True))
    research = Research(scripts, settings=dict(PRICES) if metered else {}, modalities=TWO)
    (plan,) = research.dispatcher.plan([research.request()], research.scope())
    assert research.state.calls == {"snapshot": 2}
    result = research.search()
    asked = [attempt.instance_id for attempt in result.attempts]
    assert list(dict.fromkeys(asked)) == [each.instance_id for each in plan.eligible][: len(set(asked))]
    assert len(research.protocol.asked) <= plan.worst_case.calls
    assert result.cost <= plan.worst_case.credits + plan.worst_case.usd


@settings(deadline=None)
@given(st.lists(FAILURES, min_size=3, max_size=3))
def test_a_fan_out_stays_within_its_plan_too(ends: list[Step]) -> None:
    """Though it asks several at once."""
    scripts = dict(zip(("free", "credits", "dollars"), ([end] for end in ends), strict=True))
    research = Research(scripts, settings=dict(PRICES), modalities=TWO)
    request = replace(research.request(), strategy=Strategy.FANOUT)
    (plan,) = research.dispatcher.plan([request], research.scope())
    result = research.dispatcher.search(request, research.scope())
    assert set(research.protocol.asked_ids) <= {each.instance_id for each in plan.eligible}
    assert len(research.protocol.asked) <= plan.worst_case.calls
    assert result.cost <= plan.worst_case.credits + plan.worst_case.usd


def test_worst_cases_add_up_and_the_dearest_is_taken_by_member() -> None:
    """A search that takes the most calls need not be the one that costs most."""
    many, dear = WorstCase(calls=9, usd=0.1), WorstCase(calls=1, credits=5, usd=0.2)
    assert sum_of((many, dear)) == WorstCase(calls=10, credits=5, usd=0.3)
    assert worst_of((many, dear)) == WorstCase(calls=9, credits=5, usd=0.2)
    assert worst_of(()) == sum_of(()) == WorstCase()
    assert dear.times(3) == WorstCase(calls=3, credits=15, usd=0.6)


def test_of_few_calls_the_dearest_are_counted() -> None:
    """Credits and dollars each for themselves; and nothing of it is told but the sums."""
    free, dear, credits_too = WorstCase(calls=20), WorstCase(calls=2, usd=0.04), WorstCase(calls=4, credits=8, usd=0.02)
    worst = sum_of((free, dear, credits_too))
    assert worst.within(3, None) == WorstCase(calls=3, credits=6, usd=0.045)
    assert worst.within(3, 0.01) == WorstCase(calls=3, credits=6, usd=0.01)
    assert worst.within(30, None) == worst
    assert worst.times(4).within(3, None) == WorstCase(calls=3, credits=6, usd=0.06)
    assert worst_of((free, dear)).within(1, None) == WorstCase(calls=1, usd=0.02)
    assert orjson.loads(orjson.dumps(worst)) == {"calls": 26, "credits": 8, "usd": 0.06}


@settings(deadline=None)
@given(st.lists(FAILURES, min_size=3, max_size=3), st.integers(1, 4), st.sampled_from(Strategy))
def test_no_search_with_max_calls_costs_more_than_its_plan_said(
    ends: list[Step], most: int, strategy: Strategy
) -> None:
    """Whoever fails."""
    scripts = dict(zip(("free", "credits", "dollars"), ([end] for end in ends), strict=True))
    research = Research(scripts, settings=dict(PRICES), modalities=TWO)
    request = replace(research.request(), max_calls=most, strategy=strategy)
    (plan,) = research.dispatcher.plan([request], research.scope())
    result = research.dispatcher.search(request, research.scope())
    assert len(research.protocol.asked) <= plan.worst_case.calls <= most
    assert (result.cost <= plan.worst_case.usd, result.credits <= plan.worst_case.credits) == (True, True)


def test_an_instance_whose_rate_cannot_be_had_is_planned_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug of an add-on: the search will tell of it."""

    def broken(*_given: object) -> None:
        raise RuntimeError("a bug of an add-on")

    monkeypatch.setattr("tests.fakes.providers.FakeInstance.pacing", broken)
    research = Research({"a": [found(1)]})
    (plan,) = research.dispatcher.plan([research.request()], research.scope())
    assert [(each.calls, each.turn_every) for each in plan.eligible] == [(1, None)]


METERED_FIRST = {
    "research.endpoint.dear.costPerCall": "0.01",
    "research.endpoint.dear.creditKind": "daily_usd",
    "research.endpoint.dear.autoAllow": "true",
}
SOON = RateLimited("429", retry_after=1.0)


def test_whoever_ends_last_is_asked_again_and_not_only_the_last_in_line() -> None:
    """Here the last in line has no turn left: it is the dear one before it that is asked twice."""
    research = Research({"dear": [SOON], "free": [found(1)]}, settings=dict(METERED_FIRST))
    research.protocol.pacing["free"] = Pacing(subject="free@host", requests=1, seconds=60.0)
    research.search(pinned_provider_id="free")
    research.protocol.asked.clear()
    (plan,) = research.dispatcher.plan([research.request()], research.scope())
    result = research.search()
    assert research.protocol.asked_ids == ["dear", "dear"]
    assert (plan.again.usd, plan.worst_case.usd, result.cost) == (0.01, 0.02, 0.02)


def test_a_fan_out_asks_nobody_again() -> None:
    """Its worst case is everybody once."""
    research = Research({"dear": [SOON], "free": [SOON]}, settings=dict(METERED_FIRST))
    request = replace(research.request(), strategy=Strategy.FANOUT)
    (plan,) = research.dispatcher.plan([request], research.scope())
    assert (plan.again, plan.worst_case) == (WorstCase(), WorstCase(calls=2, usd=0.01))
    research.dispatcher.search(request, research.scope())
    assert sorted(research.protocol.asked_ids) == ["dear", "free"]


def test_a_dry_run_reads_how_many_keys_there_are() -> None:
    """The search that follows finds sixteen, and is refused with each."""
    key = "research.endpoint.dear.apiKey"
    research = Research({"dear": [found(1)]}, settings={**METERED_FIRST, key: "hidden"})
    research.keys.pools[f"/{key}"] = MOST_IN_A_POOL
    research.protocol.fails_with = {index: RateLimited("429") for index in range(1, MOST_IN_A_POOL + 1)}
    (plan,) = research.dispatcher.plan([research.request()], research.scope())
    assert (plan.eligible[0].times, plan.note) == (MOST_IN_A_POOL, None)
    result = research.search()
    assert len(research.protocol.asked) == MOST_IN_A_POOL <= plan.worst_case.calls
    assert result.cost == pytest.approx(0.16)
    assert result.cost <= plan.worst_case.usd


def test_keys_that_cannot_be_read_count_as_many_as_there_may_be() -> None:
    """And the plan says so."""
    research = Research({"a": [found(1)]}, settings={"research.endpoint.a.apiKey": "hidden"})
    research.keys.down = True
    (plan,) = research.dispatcher.plan([research.request()], research.scope())
    assert plan.eligible[0].times == MOST_IN_A_POOL
    assert plan.note == "the keys of 'a' were not read here yet: 16 of each are counted"


def test_keys_that_were_read_count_as_what_they_are() -> None:
    """Three are three."""
    research = Research({"a": [found(1)]}, settings={"research.endpoint.a.apiKey": "hidden"})
    research.keys.pools["/research.endpoint.a.apiKey"] = 3
    research.search()
    (plan,) = research.dispatcher.plan([research.request()], research.scope())
    assert ([each.times for each in plan.eligible], plan.worst_case.calls, plan.note) == ([3], 6, None)


def test_a_kept_answer_that_would_be_given_is_told_of() -> None:
    """And as soon as it is too old, it is not; the worst case is that it is gone by then."""
    research = Research({"a": [found(1)]}, settings={"research.cache.ttlSeconds.web": "60"})
    research.search()
    research.clock.advance(12)
    (plan,) = research.dispatcher.plan([research.request()], research.scope())
    assert plan.note == "an answer of 12 seconds ago is kept, and given as long as it is: then nobody is asked"
    assert plan.worst_case.calls == 2
    research.clock.advance(60)
    (plan,) = research.dispatcher.plan([research.request()], research.scope())
    assert plan.note is None
    no_store = replace(research.request(), cache=CacheUse.NO_STORE)
    (plan,) = research.dispatcher.plan([no_store], research.scope())
    assert plan.note is None


def test_what_is_made_later_counts_those_whose_cooldown_is_over_by_then() -> None:
    """They are told as skipped, since they would be now."""
    research = Research({"a": [RateLimited("429", retry_after=100.0)], "b": [found(1)]})
    research.search()
    soon, late = (
        research.dispatcher.plan([research.request()], research.scope(), within=within)[0] for within in (90.0, 110.0)
    )
    assert [each.instance_id for each in late.eligible] == ["b"]
    assert [(each.instance_id, each.reason) for each in late.skipped] == [("a", "cooldown")]
    assert (soon.worst_case.calls, late.worst_case.calls) == (2, 3)
