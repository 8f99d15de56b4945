"""What every `StateStore` promises, put to the one in memory and to the one on DynamoDB alike."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from threading import Barrier
from typing import Any, TypeVar

import pytest

from tests.fakes.aws import STATE_TABLE, aws_in_process, create_table
from tests.fakes.clock import FakeClock
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_state import DynamoDbStateStore
from zarniwoop.stores.state import Cooldown, KeptQuota, ProjectKey, StateStore, Subject

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
    snapshot = store.snapshot(PROJECT, [WEB, IMAGE])
    assert (dict(snapshot.cooldowns), dict(snapshot.quotas), snapshot.generation) == ({}, {}, 0)


def test_a_snapshot_brings_back_exactly_what_was_written(store: StateStore) -> None:
    """Cooldowns and quotas survive the round trip to the last digit, for the subjects that were asked for."""
    store.extend_cooldown(PROJECT, cooldown())
    store.extend_cooldown(PROJECT, cooldown(instance_id="brave"))
    store.save_quota(PROJECT, IMAGE, quota())
    snapshot = store.snapshot(PROJECT, [WEB, IMAGE, WEB])
    assert snapshot.cooldowns == {WEB: cooldown()}
    assert snapshot.quotas == {IMAGE: quota()}


def test_a_cooldown_is_isolated_by_instance_modality_and_project(store: StateStore) -> None:
    """An image search that is throttled does not stop web searches, other instances or other projects."""
    store.extend_cooldown(PROJECT, cooldown(modality=SearchModality.IMAGE))
    eu: Subject = ("serper-eu", SearchModality.IMAGE)
    assert set(store.snapshot(PROJECT, [WEB, IMAGE, eu]).cooldowns) == {IMAGE}
    assert store.snapshot(OTHER, [WEB, IMAGE, eu]).cooldowns == {}


def test_a_past_cooldown_is_still_shown_until_it_is_forgotten(store: StateStore, clock: FakeClock) -> None:
    """The count of failures outlives the cooldown by a day; then the item is as good as gone, deleted or not."""
    store.extend_cooldown(PROJECT, cooldown())
    clock.advance(3600)
    assert store.snapshot(PROJECT, [WEB]).cooldowns[WEB].failures == 2
    assert len(store.cooldowns(PROJECT)) == 1
    clock.advance(86_400)
    assert store.snapshot(PROJECT, [WEB]).cooldowns == {}
    assert store.cooldowns(PROJECT) == []


def test_an_expired_quota_is_not_shown(store: StateStore, clock: FakeClock) -> None:
    """A quota is usable before its expiry and not at it, whether or not the item is deleted yet."""
    store.save_quota(PROJECT, WEB, quota(NOW + 300))
    clock.advance(299)
    assert WEB in store.snapshot(PROJECT, [WEB]).quotas
    clock.advance(1)
    assert store.snapshot(PROJECT, [WEB]).quotas == {}


def test_a_shorter_cooldown_does_not_replace_a_longer_one(store: StateStore) -> None:
    """A wait that was stated is never shortened, and the caller learns which one stands."""
    long = cooldown(until=NOW + 3600)
    assert store.extend_cooldown(PROJECT, long) == long
    assert store.extend_cooldown(PROJECT, cooldown(until=NOW + 30, failures=9)) == long
    assert store.snapshot(PROJECT, [WEB]).cooldowns[WEB] == long


def test_new_settings_void_a_cooldown(store: StateStore) -> None:
    """Under another fingerprint even a shorter cooldown replaces the old one."""
    store.extend_cooldown(PROJECT, cooldown(until_settings_change=True))
    short = cooldown(until=NOW + 1, fingerprint="settings-2")
    assert store.extend_cooldown(PROJECT, short) == short


def test_a_cooldown_until_the_settings_change_outlasts_any_time(store: StateStore) -> None:
    """It replaces a longer timed one, and no timed one replaces it."""
    store.extend_cooldown(PROJECT, cooldown(until=NOW + 3600))
    held = cooldown(until=NOW + 1, until_settings_change=True)
    assert store.extend_cooldown(PROJECT, held) == held
    assert store.extend_cooldown(PROJECT, cooldown(until=NOW + 7200)) == held


def test_an_endless_cooldown_can_be_written(store: StateStore) -> None:
    """Infinity is no number to DynamoDB; it is written as a moment far away."""
    store.extend_cooldown(PROJECT, cooldown(until=float("inf"), until_settings_change=True))
    assert store.snapshot(PROJECT, [WEB]).cooldowns[WEB].until > NOW + 100 * 365 * 86_400


def test_of_many_writers_at_once_the_longest_wait_stands(store: StateStore) -> None:
    """Fifty environments that fail together leave the longest cooldown, and none of them is told of a shorter one."""
    waits = [NOW + (number * 37) % THREADS + 1 for number in range(THREADS)]
    standing = all_at_once(lambda number: store.extend_cooldown(PROJECT, cooldown(until=waits[number])))
    assert store.snapshot(PROJECT, [WEB]).cooldowns[WEB].until == max(waits)
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
    assert store.snapshot(PROJECT, [WEB]).cooldowns[WEB] == cooldown(closed=True)
    assert store.claim_probe(PROJECT, cooldown(), now=NOW + 62, lease_seconds=15)
    assert store.claim_probe(PROJECT, cooldown(), now=NOW + 62, lease_seconds=15)


def test_a_cleared_cooldown_needs_no_probe(store: StateStore) -> None:
    """The project was stopped since the caller looked: nothing cools down there."""
    assert store.claim_probe(PROJECT, cooldown(), now=NOW, lease_seconds=15)
    store.close_cooldown(PROJECT, cooldown())
    assert store.snapshot(PROJECT, [WEB]).cooldowns == {}


def test_a_success_does_not_close_a_cooldown_that_is_newer(store: StateStore) -> None:
    """A slow success that started before the provider said "wait an hour" does not undo the hour."""
    store.extend_cooldown(PROJECT, cooldown())
    hour = cooldown(until=NOW + 3600)
    store.extend_cooldown(PROJECT, hour)
    store.close_cooldown(PROJECT, cooldown())
    assert store.snapshot(PROJECT, [WEB]).cooldowns[WEB] == hour


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
    snapshot = store.snapshot(PROJECT, [("instance-7", SearchModality.WEB), WEB])
    assert (dict(snapshot.cooldowns), dict(snapshot.quotas), snapshot.generation) == ({}, {}, 1)
    assert store.cooldowns(OTHER) == [cooldown()]


def test_a_generation_only_grows_and_belongs_to_one_project(store: StateStore) -> None:
    """Each bump is counted, also when many happen at once."""
    numbers = all_at_once(lambda _: store.bump_generation(PROJECT))
    assert sorted(numbers) == list(range(1, THREADS + 1))
    assert store.snapshot(PROJECT, []).generation == THREADS
    assert store.snapshot(OTHER, []).generation == 0


ARXIV = Pacing(subject="export.arxiv.org", requests=1, seconds=3.0)


def test_turns_at_a_rate_follow_each_other_at_its_interval(store: StateStore) -> None:
    """Without a burst the second caller starts one interval after the first; after idling one starts at once."""
    assert store.take_turn(ARXIV, 1, now=NOW, latest=NOW) == NOW
    assert store.take_turn(ARXIV, 1, now=NOW + 1, latest=NOW + 10) == NOW + 3
    assert store.take_turn(ARXIV, 1, now=NOW + 1, latest=NOW + 10) == NOW + 6
    assert store.take_turn(ARXIV, 1, now=NOW + 100.5, latest=NOW + 101) == NOW + 100.5


def test_a_turn_that_would_come_too_late_is_not_reserved(store: StateStore) -> None:
    """Who cannot wait goes without, and leaves the place to the next."""
    store.take_turn(ARXIV, 1, now=NOW, latest=NOW)
    assert store.take_turn(ARXIV, 1, now=NOW, latest=NOW + 2.9) is None
    assert store.take_turn(ARXIV, 1, now=NOW, latest=NOW - 1) is None
    assert store.take_turn(ARXIV, 1, now=NOW, latest=NOW + 3) == NOW + 3


def test_several_calls_take_as_many_turns(store: StateStore) -> None:
    """A search of two requests keeps the next one away for two intervals."""
    pubmed = Pacing(subject="eutils.ncbi.nlm.nih.gov", requests=4, seconds=1.0)
    assert store.take_turn(pubmed, 2, now=NOW, latest=NOW) == NOW
    assert store.take_turn(pubmed, 1, now=NOW, latest=NOW + 1) == NOW + 0.5


def test_a_burst_starts_at_once_after_idling_and_then_falls_into_the_interval(store: StateStore) -> None:
    """Three may start together; the fourth and fifth wait one and two intervals."""
    bursting = Pacing(subject="api.example.org", requests=1, seconds=1.0, burst=3)
    starts = [store.take_turn(bursting, 1, now=NOW, latest=NOW + 9) for _ in range(5)]
    assert starts == [NOW, NOW, NOW, NOW + 1, NOW + 2]
    assert store.take_turn(bursting, 1, now=NOW + 1.5, latest=NOW + 2) is None


def test_subjects_have_turns_of_their_own(store: StateStore) -> None:
    """Two hosts do not wait for each other, however strange their names."""
    strange = replace(ARXIV, subject="host # with a key\n" * 200)
    assert store.take_turn(ARXIV, 1, now=NOW, latest=NOW) == NOW
    assert store.take_turn(strange, 1, now=NOW, latest=NOW) == NOW
    assert store.take_turn(strange, 1, now=NOW, latest=NOW) is None


def test_fifty_callers_at_once_keep_the_interval(store: StateStore) -> None:
    """However many environments ask together, no two starts are closer than the published interval."""
    third = Pacing(subject="eutils.ncbi.nlm.nih.gov", requests=3, seconds=1.0)
    starts = all_at_once(lambda number: store.take_turn(third, 1, now=NOW + number / 1000, latest=NOW + 60))
    given = sorted(start for start in starts if start is not None)
    assert len(given) == THREADS
    assert min(later - earlier for earlier, later in pairwise(given)) >= third.interval - 1e-6
    assert given[-1] <= NOW + 0.05 + (THREADS - 1) * third.interval + 1e-6


def test_fifty_callers_at_once_get_no_more_turns_than_there_is_time_for(store: StateStore) -> None:
    """Of fifty callers who wait ten seconds at most, four get a turn at one per three seconds."""
    starts = all_at_once(lambda _: store.take_turn(ARXIV, 1, now=NOW, latest=NOW + 10))
    assert sorted(start for start in starts if start is not None) == [NOW, NOW + 3, NOW + 6, NOW + 9]
