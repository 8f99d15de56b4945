"""What every `StateStore` promises, put to the one in memory and to the one on DynamoDB alike."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle, pairwise
from threading import Barrier
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.aws import STATE_TABLE, aws_in_process, create_table
from tests.fakes.clock import FakeClock
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import ARRIVAL_SPREAD_SECONDS, Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_state import DynamoDbStateStore
from zarniwoop.stores.ledger import Account, Hold, Limits, Spent
from zarniwoop.stores.state import (
    Cooldown,
    KeptQuota,
    ProjectKey,
    StateSnapshot,
    StateStore,
    Subject,
    Turn,
    Wanted,
    key_fingerprint,
)

PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
OTHER = ProjectKey(tenant_id="acme", project_id="other")
WEB: Subject = ("serper-main", SearchModality.WEB)
IMAGE: Subject = ("serper-main", SearchModality.IMAGE)
NOW = 1_800_000_000.0
THREADS = 50
Returned = TypeVar("Returned")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> Iterator[StateStore]:
    if request.param == "memory":
        yield InMemoryStateStore(clock)
        return
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        yield DynamoDbStateStore(dynamodb_client(), STATE_TABLE, clock)


def cooldown(**changes: Any) -> Cooldown:
    usual = Cooldown(
        instance_id="serper-main",
        modality=SearchModality.WEB,
        reason="rate_limited",
        until=NOW + 60.25,
        failures=2,
        failed_at=NOW - 0.125,
        fingerprint="settings-1",
    )
    return replace(usual, **changes)


def wanted(subject: Subject, fingerprint: str = "settings-1", credit_period: str | None = None) -> Wanted:
    return Wanted(subject=subject, fingerprint=fingerprint, credit_period=credit_period)


def seen(
    store: StateStore, *subjects: Subject, project: ProjectKey = PROJECT, fingerprint: str = "settings-1"
) -> StateSnapshot:
    """What one read brings of these subjects, under the settings that `cooldown` is about."""
    return store.snapshot(project, [wanted(subject, fingerprint) for subject in subjects])


def quota(expires_at: float = NOW + 300) -> KeptQuota:
    status = QuotaStatus(
        source=QuotaSource.HEADERS, unit="credits", used=1.5, limit=100, remaining=98.5, observed_at=NOW
    )
    return KeptQuota(status=status, expires_at=expires_at)


def all_at_once(act: Callable[[int], Returned]) -> list[Returned]:
    """The results of 50 threads that start together."""
    barrier = Barrier(THREADS)

    def wait_and_act(number: int) -> Returned:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(wait_and_act, range(THREADS)))


def test_an_empty_store_knows_nothing(store: StateStore) -> None:
    """A project that nobody searched in has no cooldown, no quota, and generation 0."""
    snapshot = seen(store, WEB, IMAGE)
    assert (dict(snapshot.cooldowns), dict(snapshot.quotas), dict(snapshot.spent)) == ({}, {}, {})
    assert snapshot.generation == 0


def test_a_snapshot_brings_back_exactly_what_was_written(store: StateStore) -> None:
    """Cooldowns and quotas survive the round trip to the last digit, for the subjects that were asked for."""
    store.extend_cooldown(PROJECT, cooldown())
    store.extend_cooldown(PROJECT, cooldown(instance_id="brave"))
    store.save_quota(PROJECT, IMAGE, quota())
    snapshot = seen(store, WEB, IMAGE, WEB)
    assert snapshot.cooldowns == {WEB: cooldown()}
    assert snapshot.quotas == {IMAGE: quota()}


def test_a_cooldown_is_isolated_by_instance_modality_and_project(store: StateStore) -> None:
    """An image search that is throttled does not stop web searches, other instances or other projects."""
    store.extend_cooldown(PROJECT, cooldown(modality=SearchModality.IMAGE))
    eu: Subject = ("serper-eu", SearchModality.IMAGE)
    assert set(seen(store, WEB, IMAGE, eu).cooldowns) == {IMAGE}
    assert seen(store, WEB, IMAGE, eu, project=OTHER).cooldowns == {}


def test_a_past_cooldown_is_still_shown_until_it_is_forgotten(store: StateStore, clock: FakeClock) -> None:
    """The count of failures outlives the cooldown by a day; then the item is as good as gone, deleted or not."""
    store.extend_cooldown(PROJECT, cooldown())
    clock.advance(3600)
    assert seen(store, WEB).cooldowns[WEB].failures == 2
    clock.advance(86_400)
    assert seen(store, WEB).cooldowns == {}


def test_an_expired_quota_is_not_shown(store: StateStore, clock: FakeClock) -> None:
    """A quota is usable before its expiry and not at it, whether or not the item is deleted yet."""
    store.save_quota(PROJECT, WEB, quota(NOW + 300))
    clock.advance(299)
    assert WEB in seen(store, WEB).quotas
    clock.advance(1)
    assert seen(store, WEB).quotas == {}


def used_up(observed_at: float, resets_at: float | None = None) -> KeptQuota:
    status = replace(quota().status, remaining=0, observed_at=observed_at, resets_at=resets_at)
    return KeptQuota(status=status, expires_at=NOW + 7200)


def test_a_slower_answer_does_not_bring_back_what_is_used_up(store: StateStore, clock: FakeClock) -> None:
    """It tells of what was left before; what was seen later does, and so does whoever looked it up."""
    exhausted = used_up(NOW + 10, NOW + 7200)
    assert store.save_quota(PROJECT, WEB, exhausted) == exhausted
    for observed_at in (NOW - 1, NOW + 10):
        late = replace(quota(), status=replace(quota().status, observed_at=observed_at))
        assert store.save_quota(PROJECT, WEB, late) == exhausted
    assert seen(store, WEB).quotas == {WEB: exhausted}
    later = replace(quota(), status=replace(quota().status, observed_at=NOW + 11))
    assert store.save_quota(PROJECT, WEB, later) == later
    store.save_quota(PROJECT, WEB, exhausted)
    assert store.save_quota(PROJECT, WEB, quota(), looked_up=True) == quota()
    assert seen(store, WEB).quotas == {WEB: quota()}


def test_what_was_used_up_and_is_over_gives_way_to_anything(store: StateStore, clock: FakeClock) -> None:
    """When it was reset, or is no longer believed."""
    old = replace(quota(NOW + 9_000), status=replace(quota().status, observed_at=NOW - 60))
    store.save_quota(PROJECT, WEB, used_up(NOW, NOW + 60))
    assert store.save_quota(PROJECT, WEB, old) != old
    clock.advance(60)
    assert store.save_quota(PROJECT, WEB, old) == old
    store.save_quota(PROJECT, IMAGE, used_up(NOW))
    clock.advance(7200)
    assert store.save_quota(PROJECT, IMAGE, old) == old


def test_a_shorter_cooldown_does_not_replace_a_longer_one(store: StateStore) -> None:
    """A wait that was stated is never shortened, and the caller learns which one stands."""
    long = cooldown(until=NOW + 3600)
    assert store.extend_cooldown(PROJECT, long) == long
    assert store.extend_cooldown(PROJECT, cooldown(until=NOW + 30, failures=9)) == long
    assert seen(store, WEB).cooldowns[WEB] == long


def test_other_settings_have_cooldowns_of_their_own(store: StateStore, clock: FakeClock) -> None:
    """A process with a key of its own neither lifts the wait that was stated to its project nor overwrites it."""
    long = cooldown(until=NOW + 3600)
    short = cooldown(until=NOW + 1, fingerprint="settings-2")
    store.extend_cooldown(PROJECT, long)
    assert seen(store, WEB, fingerprint="settings-2").cooldowns == {}
    assert store.extend_cooldown(PROJECT, short) == short
    clock.advance(1)
    assert store.claim_probe(PROJECT, short, now=clock.now(), lease_seconds=15)
    store.close_cooldown(PROJECT, short)
    assert seen(store, WEB).cooldowns == {WEB: long}
    assert seen(store, WEB, fingerprint="settings-2").cooldowns == {WEB: replace(short, closed=True)}


def test_a_cooldown_until_the_settings_change_outlasts_any_time(store: StateStore) -> None:
    """It replaces a longer timed one, and no timed one replaces it."""
    store.extend_cooldown(PROJECT, cooldown(until=NOW + 3600))
    held = cooldown(until=NOW + 1, until_settings_change=True)
    assert store.extend_cooldown(PROJECT, held) == held
    assert store.extend_cooldown(PROJECT, cooldown(until=NOW + 7200)) == held


def test_an_endless_cooldown_can_be_written(store: StateStore) -> None:
    """Infinity is no number to DynamoDB; it is written as a moment far away."""
    store.extend_cooldown(PROJECT, cooldown(until=float("inf"), until_settings_change=True))
    assert seen(store, WEB).cooldowns[WEB].until > NOW + 100 * 365 * 86_400


def test_of_many_writers_at_once_the_longest_wait_stands(store: StateStore) -> None:
    """Fifty environments that fail together leave the longest cooldown, and none of them is told of a shorter one."""
    waits = [NOW + (number * 37) % THREADS + 1 for number in range(THREADS)]
    standing = all_at_once(lambda number: store.extend_cooldown(PROJECT, cooldown(until=waits[number])))
    assert seen(store, WEB).cooldowns[WEB].until == max(waits)
    assert all(found.until >= wanted for found, wanted in zip(standing, waits, strict=True))


def test_exactly_one_of_fifty_may_probe(store: StateStore, clock: FakeClock) -> None:
    """When a cooldown ends, one environment of the fleet tries the provider, and the others wait for what it finds."""
    store.extend_cooldown(PROJECT, cooldown())
    clock.advance(61)
    claims = all_at_once(lambda _: store.claim_probe(PROJECT, cooldown(), now=clock.now(), lease_seconds=15))
    assert claims.count(True) == 1


def test_a_probe_that_never_reports_back_frees_its_lease(store: StateStore, clock: FakeClock) -> None:
    """An environment that died while probing blocks the others for the lease only."""
    store.extend_cooldown(PROJECT, cooldown())
    assert store.claim_probe(PROJECT, cooldown(), now=NOW + 61, lease_seconds=15)
    assert not store.claim_probe(PROJECT, cooldown(), now=NOW + 75.9, lease_seconds=15)
    assert store.claim_probe(PROJECT, cooldown(), now=NOW + 76, lease_seconds=15)


def test_a_probe_whose_answer_was_lost_on_its_way_has_its_prober(
    monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    """The SDK repeats the call; a subject that nobody probes would stay closed until the lease ends."""
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        client = dynamodb_client()
        store = DynamoDbStateStore(client, STATE_TABLE, clock)
        store.extend_cooldown(PROJECT, cooldown(until=NOW))
        (standing,) = seen(store, WEB).cooldowns.values()
        update = client.update_item

        def repeated(**asked: Any) -> Any:
            update(**asked)
            return update(**asked)

        monkeypatch.setattr(client, "update_item", repeated)
        assert store.claim_probe(PROJECT, standing, now=NOW, lease_seconds=10)
        monkeypatch.setattr(client, "update_item", update)
        assert not store.claim_probe(PROJECT, standing, now=NOW, lease_seconds=10)


def test_nobody_probes_a_cooldown_that_was_extended_meanwhile(store: StateStore) -> None:
    """Another probe failed since the caller looked: his claim is void, and a new one starts without the old lease."""
    store.extend_cooldown(PROJECT, cooldown())
    store.claim_probe(PROJECT, cooldown(), now=NOW + 61, lease_seconds=600)
    longer = cooldown(until=NOW + 120)
    store.extend_cooldown(PROJECT, longer)
    assert not store.claim_probe(PROJECT, cooldown(), now=NOW + 62, lease_seconds=15)
    assert store.claim_probe(PROJECT, longer, now=NOW + 121, lease_seconds=15)


def test_a_closed_cooldown_needs_no_probe_and_keeps_its_count(store: StateStore) -> None:
    """After a success everybody may ask again, and the next failure knows how many went before."""
    store.extend_cooldown(PROJECT, cooldown())
    store.claim_probe(PROJECT, cooldown(), now=NOW + 61, lease_seconds=15)
    store.close_cooldown(PROJECT, cooldown())
    assert seen(store, WEB).cooldowns[WEB] == cooldown(closed=True)
    assert store.claim_probe(PROJECT, cooldown(), now=NOW + 62, lease_seconds=15)
    assert store.claim_probe(PROJECT, cooldown(), now=NOW + 62, lease_seconds=15)


def test_a_cleared_cooldown_needs_no_probe(store: StateStore) -> None:
    """The project was stopped since the caller looked: nothing cools down there."""
    assert store.claim_probe(PROJECT, cooldown(), now=NOW, lease_seconds=15)
    store.close_cooldown(PROJECT, cooldown())
    assert seen(store, WEB).cooldowns == {}


def test_a_success_does_not_close_a_cooldown_that_is_newer(store: StateStore) -> None:
    """A slow success that started before the provider said "wait an hour" does not undo the hour."""
    store.extend_cooldown(PROJECT, cooldown())
    hour = cooldown(until=NOW + 3600)
    store.extend_cooldown(PROJECT, hour)
    store.close_cooldown(PROJECT, cooldown())
    assert seen(store, WEB).cooldowns[WEB] == hour


def test_a_closed_cooldown_is_replaced_by_any_new_one(store: StateStore) -> None:
    """It holds nobody back any more, however long it was."""
    store.extend_cooldown(PROJECT, cooldown(until=NOW + 3600))
    store.close_cooldown(PROJECT, cooldown(until=NOW + 3600))
    short = cooldown(until=NOW + 30, failures=3)
    assert store.extend_cooldown(PROJECT, short) == short


def test_clearing_a_project_leaves_its_generation_and_other_projects_alone(store: StateStore) -> None:
    """A project stop deletes cooldowns and quotas of that project, and says how many."""
    store.bump_generation(PROJECT)
    for number in range(30):
        store.extend_cooldown(PROJECT, cooldown(instance_id=f"instance-{number}"))
    store.save_quota(PROJECT, WEB, quota())
    store.extend_cooldown(OTHER, cooldown())
    assert store.clear_project(PROJECT) == 31
    assert store.clear_project(PROJECT) == 0
    snapshot = seen(store, ("instance-7", SearchModality.WEB), WEB)
    assert (dict(snapshot.cooldowns), dict(snapshot.quotas), snapshot.generation) == ({}, {}, 1)
    assert seen(store, WEB, project=OTHER).cooldowns == {WEB: cooldown()}


def test_a_generation_only_grows_and_belongs_to_one_project(store: StateStore) -> None:
    """Each bump is counted, also when many happen at once."""
    numbers = all_at_once(lambda _: store.bump_generation(PROJECT))
    assert sorted(numbers) == list(range(1, THREADS + 1))
    assert store.snapshot(PROJECT, []).generation == THREADS
    assert store.snapshot(OTHER, []).generation == 0


def test_a_tenants_generation_raises_that_of_all_its_projects(store: StateStore) -> None:
    """A change of the tenant's settings concerns each of them, and no other tenant's."""
    store.bump_generation(PROJECT)
    store.bump_tenant_generation(PROJECT.tenant_id)
    assert store.snapshot(PROJECT, []).generation == 2
    assert store.snapshot(OTHER, []).generation == int(OTHER.tenant_id == PROJECT.tenant_id)
    assert store.snapshot(ProjectKey(tenant_id="somebody-else", project_id="demo"), []).generation == 0


def spend(store: StateStore, account: Account, amount: float) -> None:
    """Held and settled, as a call does it."""
    hold = Hold(id="h", spent=Spent(amount=amount, calls=1), until=NOW + 60)
    assert store.reserve(account, Limits(), hold, now=NOW).granted
    assert store.settle(account, hold, Spent(amount=amount, calls=1))


def serper(period: str, expires_at: float | None = NOW + 86_400, *, instance_id: str = "serper-main") -> Account:
    return Account.of_endpoint(PROJECT, instance_id, period, expires_at)


def test_a_snapshot_has_the_credit_of_the_period_that_was_asked_for(store: StateStore) -> None:
    """What is held counts; another month, another instance and another project start from nothing."""
    spend(store, serper("2027-01"), 0.3)
    store.reserve(serper("2027-01"), Limits(), Hold(id="i", spent=Spent(amount=0.6), until=NOW + 60), now=NOW)
    spend(store, serper("2027-02", None), 1)
    spend(store, serper("2027-01", instance_id="serper-eu"), 7)
    this_month = [wanted(WEB, credit_period="2027-01"), wanted(IMAGE, credit_period="2027-01")]
    assert store.snapshot(PROJECT, this_month).spent == {"serper-main": 0.9}
    assert store.snapshot(OTHER, this_month).spent == {}
    assert store.snapshot(PROJECT, [wanted(WEB)]).spent == {}


def test_a_snapshot_has_the_credit_that_a_tenants_projects_spend_together(store: StateStore) -> None:
    """It is another account than the project's own of the same endpoint."""
    spend(store, serper("2027-01"), 0.3)
    spend(store, Account.of_endpoint(PROJECT, "serper-main", "2027-01", NOW + 86_400, shared=True), 2)
    neighbour = ProjectKey(tenant_id=PROJECT.tenant_id, project_id="neighbour")
    own = [wanted(WEB, credit_period="2027-01")]
    shared = [replace(each, credit_shared=True) for each in own]
    assert store.snapshot(PROJECT, own).spent == {"serper-main": 0.3}
    for project in (PROJECT, neighbour):
        assert store.snapshot(project, shared).spent == {"serper-main": 2}


def test_spent_credit_is_forgotten_after_its_period_and_never_without_one(store: StateStore, clock: FakeClock) -> None:
    """One-time credit does not come back, however long ago it was spent, nor when the project is stopped."""
    spend(store, serper("2027-01"), 5)
    spend(store, serper("all", None, instance_id="serper-eu"), 5)
    both = [wanted(WEB, credit_period="2027-01"), wanted(("serper-eu", SearchModality.WEB), credit_period="all")]
    assert store.clear_project(PROJECT) == 0
    assert store.snapshot(PROJECT, both).spent == {"serper-main": 5, "serper-eu": 5}
    clock.advance(3650 * 86_400)
    assert store.snapshot(PROJECT, both).spent == {"serper-eu": 5}


def test_a_snapshot_has_the_budgets_of_the_project_and_of_its_tenant(store: StateStore) -> None:
    """The tenant's is one for all of its projects; each in its own period, and without one nobody asks for it."""
    for project in (PROJECT, OTHER):
        spend(store, Account.of_budget("project", project, "2027-01", NOW + 86_400), 1)
        spend(store, Account.of_budget("tenant", project, "2027-01", NOW + 86_400), 1)
    january = {"project": "2027-01", "tenant": "2027-01"}
    found = store.snapshot(PROJECT, [], january).budgets
    tenant = {"project": 1, "tenant": 2 if OTHER.tenant_id == PROJECT.tenant_id else 1}
    assert {name: balance.committed.calls for name, balance in found.items()} == tenant
    assert set(store.snapshot(PROJECT, [], january | {"project": "2027-02"}).budgets) == {"tenant"}
    assert store.snapshot(PROJECT, []).budgets == {}


ARXIV = Pacing(subject="export.arxiv.org", requests=1, seconds=3.0, spread=0.0)


def start(store: StateStore, pacing: Pacing, *, now: float, latest: float) -> float | None:
    """When a turn begins, or None where there is none by then."""
    turn = store.take_turn(pacing, now=now, latest=latest)
    return turn.at if turn.granted else None


def test_turns_at_a_rate_follow_each_other_at_its_interval(store: StateStore) -> None:
    """The second caller starts one interval after the first; after idling one starts at once."""
    assert start(store, ARXIV, now=NOW, latest=NOW) == NOW
    assert start(store, ARXIV, now=NOW + 1, latest=NOW + 10) == NOW + 3
    assert start(store, ARXIV, now=NOW + 1, latest=NOW + 10) == NOW + 6
    assert start(store, ARXIV, now=NOW + 100.5, latest=NOW + 101) == NOW + 100.5


def test_how_often_one_was_overtaken_is_counted_under_a_closed_cooldown(store: StateStore) -> None:
    """Each count takes the place of the last one, but not that of a cooldown that holds."""
    once = replace(cooldown(), closed=True, until=NOW, slow=1)
    store.extend_cooldown(PROJECT, once)
    assert seen(store, WEB).cooldowns == {WEB: once}
    for slow in (2, 0):
        store.extend_cooldown(PROJECT, replace(once, slow=slow))
        assert seen(store, WEB).cooldowns[WEB].slow == slow
    holds = cooldown()
    store.extend_cooldown(PROJECT, holds)
    assert store.extend_cooldown(PROJECT, once) == holds


def test_a_turn_that_would_come_too_late_is_not_reserved(store: StateStore) -> None:
    """Who cannot wait goes without, learns when there would be one, and leaves the place to the next."""
    start(store, ARXIV, now=NOW, latest=NOW)
    assert store.take_turn(ARXIV, now=NOW, latest=NOW + 2.9) == Turn(at=NOW + 3, granted=False)
    assert start(store, ARXIV, now=NOW, latest=NOW - 1) is None
    assert start(store, ARXIV, now=NOW, latest=NOW + 3) == NOW + 3


def test_a_search_of_several_calls_takes_one_turn_that_is_long_enough_for_them(store: StateStore) -> None:
    """Two calls of four a second: the third search is the first that may not start within the same second."""
    pubmed = Pacing(subject="eutils.ncbi.nlm.nih.gov", requests=4, seconds=1.0, calls=2, spread=0.0)
    starts = [start(store, pubmed, now=NOW, latest=NOW + 9) for _ in range(3)]
    assert starts == pytest.approx([NOW, NOW + 2 / 3, NOW + 4 / 3])


def test_subjects_have_turns_of_their_own(store: StateStore) -> None:
    """Two hosts do not wait for each other, however strange their names."""
    strange = replace(ARXIV, subject="host # with a key\n" * 200)
    assert start(store, ARXIV, now=NOW, latest=NOW) == NOW
    assert start(store, strange, now=NOW, latest=NOW) == NOW
    assert start(store, strange, now=NOW, latest=NOW) is None


def test_fifty_callers_at_once_keep_the_interval(store: StateStore) -> None:
    """However many environments ask together, no two starts are closer than the published interval."""
    third = Pacing(subject="eutils.ncbi.nlm.nih.gov", requests=3, seconds=1.0)
    starts = all_at_once(lambda number: start(store, third, now=NOW + number / 1000, latest=NOW + 60))
    given = sorted(moment for moment in starts if moment is not None)
    assert len(given) == THREADS
    assert min(later - earlier for earlier, later in pairwise(given)) >= third.interval - 1e-6
    assert given[-1] <= NOW + 0.05 + (THREADS - 1) * third.interval + 1e-6


def test_fifty_callers_at_once_get_no_more_turns_than_there_is_time_for(store: StateStore) -> None:
    """Of fifty callers who wait ten seconds at most, four get a turn at one per three seconds."""
    starts = all_at_once(lambda _: start(store, ARXIV, now=NOW, latest=NOW + 10))
    assert sorted(moment for moment in starts if moment is not None) == [NOW, NOW + 3, NOW + 6, NOW + 9]


def test_an_exclusive_turn_keeps_everybody_out_until_one_interval_after_its_end(store: StateStore) -> None:
    """While it lasts nobody knows when that is; afterwards everybody is told."""
    assert store.hold_turn(ARXIV, "a", now=NOW, lease_seconds=10).granted
    assert store.hold_turn(ARXIV, "b", now=NOW + 4, lease_seconds=10) == Turn(
        at=NOW + 10, granted=False, being_served=True
    )
    store.release_turn(ARXIV, "a", now=NOW + 5)
    assert store.hold_turn(ARXIV, "b", now=NOW + 7.5, lease_seconds=10) == Turn(at=NOW + 8, granted=False)
    assert store.hold_turn(ARXIV, "b", now=NOW + 8, lease_seconds=10).granted


def test_whoever_died_in_an_exclusive_turn_holds_it_until_its_lease_ends(store: StateStore) -> None:
    """And should he still let go of it afterwards, it is another's."""
    store.hold_turn(ARXIV, "a", now=NOW, lease_seconds=10)
    assert store.hold_turn(ARXIV, "b", now=NOW + 10, lease_seconds=10).granted
    store.release_turn(ARXIV, "a", now=NOW + 11)
    assert not store.hold_turn(ARXIV, "c", now=NOW + 19, lease_seconds=10).granted


def test_who_asks_twice_for_an_exclusive_turn_since_the_answer_was_lost_holds_it(store: StateStore) -> None:
    """The SDK repeats a call whose answer did not arrive; nobody waits for himself."""
    assert store.hold_turn(ARXIV, "a", now=NOW, lease_seconds=10).granted
    assert store.hold_turn(ARXIV, "a", now=NOW, lease_seconds=10).granted


def test_exactly_one_of_fifty_holds_an_exclusive_turn(store: StateStore) -> None:
    """However many come at once; places in the queue are another matter."""
    held = all_at_once(lambda number: store.hold_turn(ARXIV, f"h{number}", now=NOW, lease_seconds=10).granted)
    assert held.count(True) == 1
    assert start(store, ARXIV, now=NOW, latest=NOW) == NOW


def test_each_of_several_keys_has_a_cooldown_of_its_own(store: StateStore) -> None:
    """Beside that of the endpoint, in the same snapshot; who asks for one key only is told of none of them."""
    second = cooldown(fingerprint=key_fingerprint("settings-1", 2))
    store.extend_cooldown(PROJECT, second)
    store.extend_cooldown(PROJECT, cooldown())
    three = replace(wanted(WEB), keys=3)
    snapshot = store.snapshot(PROJECT, [three, wanted(IMAGE)])
    assert (snapshot.cooldowns, snapshot.pools) == ({WEB: cooldown()}, {WEB: {2: second}})
    assert seen(store, WEB).pools == {}
    assert store.snapshot(OTHER, [three]).pools == {WEB: {}}


@pytest.mark.parametrize(
    ("requests", "seconds", "calls"), [(3, 1.0, 2), (3, 1.0, 3), (10, 1.0, 2), (10, 1.0, 3), (1, 3.0, 1), (2, 1.0, 3)]
)
@pytest.mark.parametrize("separate", [False, True])
@given(on_the_way=st.lists(st.floats(0.0, ARRIVAL_SPREAD_SECONDS), min_size=1, max_size=90))
@settings(deadline=None, max_examples=25)
def test_two_hundred_turns_never_exceed_the_published_rate(
    requests: int, seconds: float, calls: int, separate: bool, on_the_way: list[float]
) -> None:
    """In no window of the provider's more calls arrive than it allows, however long each was on its way."""
    store = InMemoryStateStore()
    pacing = Pacing(subject="p", requests=requests, seconds=seconds, calls=calls, separate=separate)
    turns = [start(store, pacing, now=NOW + number / 100, latest=NOW + 10_000) for number in range(200)]
    sent = [moment for moment in turns if moment is not None for _ in range(1 if separate else calls)]
    delays = cycle(on_the_way)
    arrived = sorted(moment + next(delays) for moment in sent)
    busiest = max(bisect_left(arrived, first + seconds - 1e-3) - at for at, first in enumerate(arrived))
    assert busiest <= (requests if separate else max(requests, calls))
