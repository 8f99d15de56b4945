"""Kept answers and single flight: what is the same search, who may have which answer, and who asks."""

import unicodedata
import zlib
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import date
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.clock import FakeClock
from tests.fakes.providers import Step, found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.hit import ContentInline, ContentReference, DatePrecision, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.provider import SearchProviderInstance
from zarniwoop.contract.request import CacheUse, DateRange, ExpertParams, Locale, SearchRequest, Strategy
from zarniwoop.contract.result import (
    AppliedFilter,
    Attempt,
    DispatchFailure,
    FilterHandling,
    Outcome,
    SearchResult,
)
from zarniwoop.dispatch.dispatcher import Dispatcher
from zarniwoop.dispatch.kept.form import kept_seconds, normalised, packed, unpacked
from zarniwoop.dispatch.kept.result_cache import LEASE_SECONDS, PATIENCE_SHARE
from zarniwoop.observe.metrics import Metric, Point
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.kept_results import Flight, KeptAnswer, Standing
from zarniwoop.stores.state import StateSnapshot

TEN_MINUTES = {"research.cache.ttlSeconds.web": "600"}
QUERY = "cloches de cathédrale"


def kept(*steps: Step, clock: FakeClock | None = None, **settings: str) -> Research:
    """One provider, and answers that are kept for ten minutes."""
    wanted = {**TEN_MINUTES, **{name.replace("__", "."): value for name, value in settings.items()}}
    return Research({"a": list(steps) or [found(3, instance_id="a")]}, settings=wanted, clock=clock or FakeClock())


def cached(points: list[Point]) -> list[str]:
    return [dict(point.tags)["outcome"] for point in points if point.metric is Metric.CACHE]


def outcomes(research: Research) -> list[str]:
    return cached(list(research.points()))


def asked(research: Research) -> int:
    return len(research.protocol.asked)


def test_nothing_is_kept_unless_a_setting_says_so() -> None:
    """Each search asks, and the store of answers hears nothing of it."""
    research = Research({"a": [found(3)]})
    first, second = research.search(), research.search()
    assert (asked(research), first.cached, second.cached) == (2, False, False)
    assert not research.state.results.calls
    assert outcomes(research) == []


def test_a_second_search_has_the_answer_of_the_first() -> None:
    """It says that it is kept and how old it is, costs nothing, and is the same otherwise."""
    research = kept(research__endpoint__a__costPerCall="0.5", research__endpoint__a__autoAllow="true")
    first = research.search()
    research.clock.advance(12.5)
    second = research.search()
    assert (first.cached, first.cost, first.age_seconds) == (False, 0.5, None)
    assert (second.cached, second.cost, second.calls, second.age_seconds) == (True, 0.0, 0, 12.5)
    assert (second.hits, second.provider_instance_id, second.attempts) == (first.hits, "a", ())
    assert asked(research) == 1
    assert outcomes(research) == ["miss", "hit"]


def test_a_hit_is_one_read_and_no_write() -> None:
    """The answer comes with the snapshot that every search reads; a miss is two writes more."""
    research = kept()
    research.search()
    assert research.state.results.calls["claim"] == research.state.results.calls["keep"] == 1
    research.state.calls.clear()
    research.state.results.calls.clear()
    research.search()
    assert dict(research.state.calls) == {"snapshot": 1}
    assert set(research.state.results.calls) == {"look"}, "by the snapshot itself"


def test_another_environment_of_the_fleet_has_it_too() -> None:
    research = kept()
    research.search()
    _, _, other = research.environment()
    assert other.search(research.request(), research.scope()).cached
    assert asked(research) == 1


def test_an_answer_goes_when_its_time_is_over() -> None:
    research = kept()
    research.search()
    research.clock.advance(599)
    assert research.search().cached
    research.clock.advance(1)
    assert not research.search().cached
    assert research.search().cached
    assert asked(research) == 2


def test_a_shorter_time_in_the_settings_holds_for_what_is_kept_already() -> None:
    """What is admitted is decided by the settings in force; so does switching it off."""
    research = kept(research__factory__cache__ttlMinutes="0")
    research.search()
    research.clock.advance(100)
    research.settings["research.cache.ttlSeconds.web"] = "60"
    assert not research.search().cached
    research.settings["research.cache.ttlSeconds.web"] = "0"
    assert not research.search().cached


def base(**changes: Any) -> SearchRequest:
    usual = SearchRequest(query=QUERY, modality=SearchModality.WEB, tier=SearchTier.EXPERT)
    return replace(usual, **changes)


SAME = {
    "blanks": base(query="  cloches \t de cathédrale "),
    "composition": base(query=unicodedata.normalize("NFD", QUERY)),
    "pin of the only one": base(pinned_provider_id="a"),
}
OTHERS = {
    "words": base(query="cloche de cathédrale"),
    "letter case": base(query="Cloches de cathédrale"),
    "modality": base(modality=SearchModality.NEWS),
    "tier": base(tier=SearchTier.NORMAL),
    "count": base(max_results=11),
    "locale": base(locale=Locale(language="de")),
    "region": base(locale=Locale(language="de", region="AT")),
    "site": base(expert_params=ExpertParams(site="example.com")),
    "day": base(published=DateRange(earliest=date(2026, 1, 1))),
    "strategy": base(strategy=Strategy.FANOUT),
    "enough": base(min_results=3),
}


@pytest.mark.parametrize("request_", SAME.values(), ids=SAME)
def test_what_means_the_same_has_the_same_answer(request_: SearchRequest) -> None:
    """And each caller reads its own query in it."""
    research = kept()
    research.dispatcher.search(base(), research.scope())
    result = research.dispatcher.search(request_, research.scope())
    assert (result.cached, result.query, asked(research)) == (True, request_.query, 1)


@pytest.mark.parametrize("request_", OTHERS.values(), ids=OTHERS)
def test_what_means_something_else_is_asked_for(request_: SearchRequest) -> None:
    research = kept(research__cache__ttlSeconds__news="600")
    research.dispatcher.search(base(), research.scope())
    assert not research.dispatcher.search(request_, research.scope()).cached
    assert asked(research) == 2


def test_every_member_of_a_request_is_told_apart_or_known_not_to_matter() -> None:
    """A member that is added later is part of the meaning by itself; here is who is not, and why."""
    told_apart = {
        name
        for request in OTHERS.values()
        for name in (field.name for field in fields(request))
        if getattr(request, name) != getattr(base(), name)
    }
    by_line = {"pinned_provider_id", "free_only"}
    ceilings, out_of_the_query = {"max_calls", "max_cost"}, {"sites", "unwanted_sites"}
    left = {field.name for field in fields(SearchRequest)} - told_apart - by_line - ceilings - out_of_the_query
    assert left == {"cache"}


@given(st.text())
def test_normalising_twice_changes_nothing(query: str) -> None:
    assert normalised(normalised(query)) == normalised(query)


def test_tenants_and_projects_have_answers_of_their_own() -> None:
    research = kept()
    research.search()
    assert not research.dispatcher.search(research.request(), research.scope(project_id="other")).cached
    foreign = replace(research.scope(), tenant_id="globex")
    assert not research.dispatcher.search(research.request(), foreign).cached
    assert asked(research) == 3


def test_the_identity_gives_no_query_away() -> None:
    """Under another key of the stack the same search has another one."""
    research = kept()
    research.search()
    research.hash_key = b"j" * 32
    assert not research.search().cached
    first, second = {identity for _, identity in research.state.results.standing}
    assert len(first) == len(second) == 64


def test_without_the_stacks_key_nothing_is_kept() -> None:
    """A key made up here would be no other environment's."""
    research = kept()
    research.hash_key = None
    research.search()
    assert not research.search().cached
    assert not research.state.results.calls


CHANGES = {
    "an endpoint's settings": {"research.endpoint.a.language": "de"},
    "who stands in line": {"research.endpoint.b.protocol": "fake", "research.endpoint.b.priority": "0"},
    "who is enabled": {"research.endpoint.b.protocol": "fake", "research.endpoint.b.priority": "9"},
}


@pytest.mark.parametrize("settings", CHANGES.values(), ids=CHANGES)
def test_other_settings_have_answers_of_their_own(settings: dict[str, str]) -> None:
    """A process that overrides some does not get the project's answers, nor the project its."""
    research = kept(research__factory__cache__ttlMinutes="0")
    research.search()
    research.protocol.scripts["b"] = [found(1)]
    research.settings.update(settings)
    assert not research.search().cached


def test_another_version_of_an_adapter_asks_anew() -> None:
    """A bug that was repaired does not come back out of what was kept."""
    research = kept()
    research.search()
    (instance,) = research.protocol.made
    instance.answer_version = lambda: "2"  # type: ignore[method-assign]
    assert not research.search().cached
    assert SearchProviderInstance.answer_version(instance) == "1"


def test_a_stop_of_the_project_voids_what_was_kept() -> None:
    """Also where its items are still there."""
    research = kept()
    research.search()
    research.state.bump_generation(PROJECT)
    assert not research.search().cached
    assert research.search().cached
    assert asked(research) == 2


def test_an_answer_of_older_settings_is_not_kept_for_newer_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """They change between the building of the instances and the read of the state: its generation is not theirs."""
    research = kept()
    read = research.state.snapshot

    def changed_before(*given: Any, **more: Any) -> StateSnapshot:
        monkeypatch.setattr(research.state, "snapshot", changed_again)
        research.state.bump_generation(PROJECT)
        return read(*given, **more)

    def changed_again(*given: Any, **more: Any) -> StateSnapshot:
        monkeypatch.setattr(research.state, "snapshot", read)
        research.state.bump_generation(PROJECT)
        return read(*given, **more)

    assert research.dispatcher.survey(research.scope()).assembly.generation == 0
    monkeypatch.setattr(research.state, "snapshot", changed_before)
    assert not research.search().cached
    assert not research.state.results.standing, "instances of generation 1, a state of generation 2"
    assert not research.search().cached
    assert research.search().cached
    assert asked(research) == 2


def test_an_answer_to_a_search_under_other_settings_is_not_kept_as_one_to_this() -> None:
    """Who waited in vain asks under the settings of by then: another line, and so another search."""
    clock = Meanwhile()
    research, identity, flight = under_way(clock)

    def change() -> None:
        research.settings["research.endpoint.a.maxResults"] = "2"
        research.state.bump_generation(PROJECT)
        research.state.results.land(PROJECT, identity, flight.holder)

    clock.events.append(change)
    assert not research.search().cached
    assert asked(research) == 1
    assert not isinstance(research.state.results.standing[PROJECT, identity], KeptAnswer)


@pytest.mark.parametrize("use", [CacheUse.NO_STORE, "off"])
def test_a_search_that_wants_no_cache_neither_reads_nor_writes(use: str) -> None:
    research = kept()
    research.search()
    research.state.results.calls.clear()
    if use == "off":
        research = Research({"a": [found(3)]})
    assert not research.search(cache=CacheUse.NO_STORE).cached
    assert not research.state.results.calls


def test_cache_only_never_asks() -> None:
    """Without a kept answer it fails with a reason of its own; with one it has it."""
    research = kept()
    absent = research.search(cache=CacheUse.ONLY)
    assert (absent.failure, absent.calls, absent.cost) == (DispatchFailure.NOT_CACHED, 0, 0.0)
    assert asked(research) == 0
    research.search()
    assert research.search(cache=CacheUse.ONLY).cached
    assert outcomes(research) == ["absent", "miss", "hit"]


def test_cache_only_fails_where_nothing_is_kept_at_all() -> None:
    research = Research({"a": [found(3)]})
    assert research.search(cache=CacheUse.ONLY).failure is DispatchFailure.NOT_CACHED
    none = Research({})
    assert none.search(cache=CacheUse.ONLY).failure is DispatchFailure.NO_ENDPOINT


DOWN = ProviderUnavailable("down", cause=Cause.STATUS)


def test_a_failed_search_is_not_kept_and_frees_the_way() -> None:
    """The next one asks at once: nobody waits for the rest of the lease."""
    research = kept(DOWN, found(2), research__endpoint__a__enabled="true")
    assert research.search().failure is DispatchFailure.ALL_FAILED
    research.clock.advance(3600)
    slept = len(research.clock.slept)
    assert research.search().hits
    assert research.search().cached
    assert len(research.clock.slept) == slept


def test_a_search_that_breaks_frees_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is raised on the way."""
    research = kept()

    def broken(*_given: Any) -> SearchResult:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Dispatcher, "_ask", broken)
    with pytest.raises(RuntimeError):
        research.search()
    (flight,) = research.state.results.standing.values()
    assert isinstance(flight, Flight)
    assert flight.landed


def test_a_degraded_answer_is_not_kept() -> None:
    research = kept(found(0, degraded="engines blocked"), found(2, degraded="engines blocked"), found(1))
    assert not research.search().cached
    assert not any(isinstance(each, KeptAnswer) for each in research.state.results.standing.values())


def test_an_empty_answer_is_kept_for_a_minute() -> None:
    research = kept(found(0))
    research.search()
    research.clock.advance(59)
    assert research.search().cached
    research.clock.advance(1)
    assert not research.search().cached


def test_the_answer_of_a_stand_in_is_kept_for_a_minute() -> None:
    """Whom routing prefers may be back any moment."""
    research = Research({"a": [DOWN], "b": [found(2, instance_id="b")]}, settings=dict(TEN_MINUTES))
    assert research.search().provider_instance_id == "b"
    research.clock.advance(59)
    assert research.search().cached
    research.clock.advance(1)
    assert not research.search().cached


def test_nothing_found_is_not_kept_when_somebody_could_not_be_asked() -> None:
    """He might have found something."""
    research = Research({"a": [DOWN], "b": [found(0)]}, settings=dict(TEN_MINUTES))
    assert not research.search().failure
    assert not research.search().cached


def attempt(outcome: Outcome, reason: str | None = None) -> Attempt:
    return Attempt(instance_id="x", outcome=outcome, reason=reason)


WHOLE = (attempt(Outcome.SUCCESS), attempt(Outcome.EMPTY), attempt(Outcome.SKIPPED, "disabled"))
PART = (attempt(Outcome.SUCCESS), attempt(Outcome.SKIPPED, "cooldown"))


@pytest.mark.parametrize(
    ("changes", "strategy", "seconds"),
    [
        ({"attempts": WHOLE}, Strategy.CASCADE, 600),
        ({"attempts": WHOLE}, Strategy.FANOUT, 600),
        ({"attempts": (*WHOLE, attempt(Outcome.SKIPPED, "exhausted"))}, Strategy.CASCADE, 600),
        ({"attempts": (*WHOLE, attempt(Outcome.FAILURE, "superseded"))}, Strategy.CASCADE, 600),
        ({"attempts": PART}, Strategy.CASCADE, 60),
        ({"attempts": PART}, Strategy.FANOUT, 0),
        ({"attempts": PART, "hits": ()}, Strategy.CASCADE, 0),
        ({"attempts": (*WHOLE, attempt(Outcome.FAILURE, "rate_limited"))}, Strategy.FANOUT, 0),
        ({"attempts": (*WHOLE, attempt(Outcome.SKIPPED, "budget"))}, Strategy.FANOUT, 0),
        ({"truncated": True}, Strategy.CASCADE, 0),
        ({"degraded": "blocked"}, Strategy.CASCADE, 0),
        ({"failure": DispatchFailure.ALL_FAILED}, Strategy.CASCADE, 0),
        ({"error_message": "no"}, Strategy.CASCADE, 0),
        ({"hits": ()}, Strategy.CASCADE, 60),
    ],
)
def test_how_long_an_answer_is_kept(changes: dict[str, Any], strategy: Strategy, seconds: float) -> None:
    """Whole answers for their time, stand-ins and empty ones for a minute, parts of a fan-out and failures not."""
    result = replace(found(2)(base()), **changes)
    assert kept_seconds(result, strategy, 600) == seconds
    assert kept_seconds(result, strategy, 30) == min(seconds, 30)


class Meanwhile(FakeClock):
    """A clock under which something happens whenever somebody sleeps."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Callable[[], None]] = []

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.events:
            self.events.pop(0)()


def under_way(clock: Meanwhile, *steps: Step) -> tuple[Research, str, Flight]:
    """Another environment took off a moment ago and has not landed."""
    research = kept(*steps, clock=clock)
    research.search()
    ((_, identity),) = research.state.results.standing
    research.protocol.asked.clear()
    research.points()
    flight = Flight(generation=0, holder="another", held_until=clock.now() + LEASE_SECONDS)
    research.state.results.standing[PROJECT, identity] = flight
    return research, identity, flight


def test_whoever_comes_meanwhile_waits_and_shares_the_answer() -> None:
    """Nobody else is asked; it comes as a kept answer, at no cost."""
    clock = Meanwhile()
    research, identity, _ = under_way(clock)
    body = packed(found(3, instance_id="a")(research.request()))
    assert body is not None

    def land() -> None:
        answer = KeptAnswer(generation=0, stored_at=clock.now(), kept_seconds=600, body=body)
        research.state.results.keep(PROJECT, identity, answer)

    clock.events = [lambda: None, lambda: None, land]
    result = research.search()
    assert (result.cached, len(result.hits), asked(research)) == (True, 3, 0)
    assert clock.slept == [0.05, 0.1, 0.2]
    assert outcomes(research) == ["shared"]


def test_when_the_holder_dies_one_takes_over_at_the_end_of_its_lease() -> None:
    """Not before; and its answer is kept for the others."""
    clock = Meanwhile()
    research, _, flight = under_way(clock)
    result = research.search()
    assert (result.cached, asked(research)) == (False, 1)
    assert flight.held_until <= clock.now() < flight.held_until + 1
    assert outcomes(research) == ["miss"]
    assert research.search().cached


def test_whoever_takes_over_looks_at_the_shared_state_anew() -> None:
    """While it waited the provider may have said "wait an hour"; that must be known to who asks now."""
    clock = Meanwhile()
    research, _, _ = under_way(clock, found(3), DOWN)
    _, _, other = research.environment()

    def fail_elsewhere() -> None:
        other.search(replace(research.request(), query="else"), research.scope())

    clock.events = [fail_elsewhere]
    result = research.search()
    assert [(each.outcome, each.reason) for each in result.attempts] == [(Outcome.SKIPPED, "cooldown")]


def test_after_a_flight_that_lands_without_an_answer_one_of_those_who_waited_takes_off() -> None:
    """The others wait for that one in turn: whoever is healthy is not asked by all of them in one moment."""
    clock = Meanwhile()
    research, identity, flight = under_way(clock)
    standing: list[Standing] = []

    def ask(request: SearchRequest) -> SearchResult:
        standing.append(research.state.results.standing[PROJECT, identity])
        return found(1)(request)

    research.protocol.scripts["a"] = [ask]
    clock.events = [lambda: research.state.results.land(PROJECT, identity, flight.holder)]
    assert research.search().hits
    (own,) = standing
    assert isinstance(own, Flight)
    assert own.holder != flight.holder
    assert own.held_until > clock.now()
    assert outcomes(research) == ["miss"]
    assert research.search().cached


def test_nobody_waits_longer_than_leaves_time_to_ask() -> None:
    """A search with five seconds waits three, and then asks whoever else is asking."""
    clock = Meanwhile()
    research, _, _ = under_way(clock)
    assert research.search(seconds=5.0).hits
    assert sum(clock.slept) == pytest.approx(PATIENCE_SHARE * 5, rel=0.14)
    assert outcomes(research) == ["alone"]


def test_a_lease_ends_with_the_deadline_of_its_holder() -> None:
    """Afterwards it has nothing to say any more."""
    research = kept()
    seen: list[float] = []

    def look(request: SearchRequest) -> SearchResult:
        (flight,) = [each for each in research.state.results.standing.values() if isinstance(each, Flight)]
        seen.append(flight.held_until - research.clock.now())
        return found(1)(request)

    research.protocol.scripts["a"] = [look]
    research.search(seconds=4.0)
    research.search(seconds=25.0, max_results=9)
    assert seen == [4.0, LEASE_SECONDS]


def test_an_old_answer_that_is_kept_meanwhile_is_not_taken() -> None:
    """An answer from before the project's stop lands while one from after it is wanted: it is asked for."""
    clock = Meanwhile()
    research, identity, _ = under_way(clock)
    research.state.bump_generation(PROJECT)
    assert not research.search().cached
    assert asked(research) == 1
    standing = research.state.results.standing[PROJECT, identity]
    assert isinstance(standing, KeptAnswer)
    assert standing.generation == 1


@pytest.mark.parametrize("down", ["answers", "state"])
def test_a_store_that_is_down_lets_everybody_ask(down: str) -> None:
    """The search goes on as if nothing were kept, and the loss is counted."""
    research = kept()
    (research.state.results if down == "answers" else research.state).fail_with = StoreUnavailable("down")
    if down == "answers":
        research.state.results.fail_with = None
        research.state.results.standing.clear()
        research.state.results.claim = _down  # type: ignore[method-assign]
    assert research.search().hits
    points = list(research.points())
    assert any(point.metric is Metric.STATE_UNAVAILABLE for point in points)
    assert cached(points) == ["alone" if down == "answers" else "miss"]


def test_an_answer_that_cannot_be_written_is_still_given() -> None:
    research = kept()
    research.state.results.keep = research.state.results.land = _down  # type: ignore[method-assign]
    assert research.search().hits
    assert asked(research) == 1


def _down(*_args: Any, **_more: Any) -> Any:
    raise StoreUnavailable("down")


def test_an_illegible_answer_counts_as_none() -> None:
    research = kept()
    research.search()
    ((key, standing),) = research.state.results.standing.items()
    assert isinstance(standing, KeptAnswer)
    for body in (b"", b"garbage", b"x\x9c\xabV\x02\x00\x00\xb6\x00\x8b"):
        research.state.results.standing[key] = replace(standing, body=body)
        assert not research.search().cached


def test_an_answer_reads_back_whole() -> None:
    """With everything a hit can have; only the account of how it was come by is gone."""
    hit = SearchHit(
        title="Bells",
        url="https://example.com/ä",
        modality=SearchModality.ACADEMIC,
        snippet="…",
        content=ContentReference(inline=ContentInline.EMBED_TEXT, text="Ding", reference="r"),
        rank=1,
        authors=("Ada", "Émile"),
        published_at=PublishedAt(value="2017-06", precision=DatePrecision.MONTH),
        identifiers={"doi": "10.1/x"},
        extras={"cited": 3, "nested": {"list": [1, None, "x"]}},
    )
    result = SearchResult(
        query=QUERY,
        modality=SearchModality.ACADEMIC,
        provider_instance_id="a",
        tier=SearchTier.EXPERT,
        hits=(hit,),
        returned_count=1,
        dropped_count=2,
        note="a note",
        applied=(AppliedFilter(name="site", value="x", handling=FilterHandling.HERE, reason="y"),),
        attempts=WHOLE,
        upstream_headers={"x-request-id": "1"},
        cost=3.0,
    )
    body = packed(result)
    assert body is not None
    assert QUERY.encode() not in zlib.decompress(body)
    read = unpacked(body, base(), 1.25)
    want = replace(
        result, attempts=(), upstream_headers={}, calls=0, cost=0.0, cached=True, age_seconds=1.25, query=base().query
    )
    assert read == want
    assert orjson.dumps(read) == orjson.dumps(want)


def test_what_json_cannot_say_is_not_kept() -> None:
    """An add-on may put anything into `extras`; the search is answered all the same."""
    strange = replace(found(1)(base()).hits[0], extras={"it": object()})
    research = kept(found(1, hits=(strange,)))
    assert research.search().hits
    assert not research.search().cached


def test_searches_side_by_side_each_have_their_own() -> None:
    """Four modalities on one read, of which one is kept."""
    research = kept()
    requests = [research.request(modality) for modality in (SearchModality.WEB, SearchModality.NEWS)]
    research.dispatcher.search_each(requests, research.scope())
    results = research.dispatcher.search_each(requests, research.scope())
    assert [result.cached for result in results] == [True, False]


def test_time_that_is_up_is_no_time_to_wait() -> None:
    """A search without time left says so, as it would without anything kept."""
    clock = Meanwhile()
    research, _, _ = under_way(clock)
    scope = replace(research.scope(), deadline=Deadline.after(0, clock))
    assert research.dispatcher.search(research.request(), scope).failure is DispatchFailure.OUT_OF_TIME
    assert clock.slept == []
