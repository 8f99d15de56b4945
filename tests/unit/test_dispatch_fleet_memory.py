"""With the table down: what is known of an endpoint's keys and of its quota holds in this environment."""

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.providers import found
from tests.fakes.research import PROJECT, Research
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.contract.failure import QuotaExhausted
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest
from zarniwoop.contract.result import SearchResult
from zarniwoop.dispatch.fleet.state import REST_SECONDS, TURN_AGAIN_SECONDS, FleetState
from zarniwoop.observe.metrics import MetricsBuffer
from zarniwoop.stores.failure import StoreThrottled, StoreUnavailable
from zarniwoop.stores.project import ProjectKey
from zarniwoop.stores.state import Cooldown, KeptQuota, StateSnapshot, Subject, Turn, Wanted, key_fingerprint

SUBJECT: Subject = ("serper-main", SearchModality.WEB)
WANTED = Wanted(subject=SUBJECT, fingerprint="f", keys=2)
SECOND_KEY = key_fingerprint("f", 2)
ARXIV = Pacing(subject="arxiv@host", requests=1, seconds=3.0, exclusive=True)


class Fleet:
    """One environment over a store that can be switched off."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = InMemoryStateStore(self.clock)
        self.state = FleetState(store=self.store, clock=self.clock, metrics=MetricsBuffer())

    def down(self) -> None:
        self.store.fail_with = StoreUnavailable("down")

    def up(self) -> None:
        self.store.fail_with = None
        self.clock.advance(REST_SECONDS)

    def snapshot(self) -> StateSnapshot:
        return self.state.snapshot(PROJECT, [WANTED])

    def cooldown(self, seconds: float = 7200.0, fingerprint: str = SECOND_KEY) -> Cooldown:
        return Cooldown(
            instance_id=SUBJECT[0],
            modality=SUBJECT[1],
            reason="quota_exhausted",
            until=self.clock.now() + seconds,
            failures=1,
            failed_at=self.clock.now(),
            fingerprint=fingerprint,
        )

    def quota(self, remaining: float = 0.0, *, seconds: float = 7200.0) -> KeptQuota:
        now = self.clock.now()
        status = QuotaStatus(source=QuotaSource.HEADERS, remaining=remaining, observed_at=now)
        return KeptQuota(status=status, expires_at=now + seconds)


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


def test_a_keys_cooldown_that_was_seen_holds_while_the_table_is_down(fleet: Fleet) -> None:
    """Whoever wrote it; and the endpoint has its place among the pools, so that nobody reads again."""
    cooldown = fleet.cooldown()
    fleet.store.extend_cooldown(PROJECT, cooldown)
    assert fleet.snapshot().pools == {SUBJECT: {2: cooldown}}
    fleet.down()
    assert fleet.snapshot().pools == {SUBJECT: {2: cooldown}}
    assert fleet.snapshot().cooldowns == {}
    fleet.up()
    fleet.store.clear_project(PROJECT)
    assert fleet.snapshot().pools == {SUBJECT: {}}


def test_a_keys_cooldown_that_could_not_be_written_holds_here(fleet: Fleet) -> None:
    """Down or back again, until it is over; the endpoint's own stands beside it."""
    fleet.down()
    fleet.state.extend_cooldown(PROJECT, fleet.cooldown())
    fleet.state.extend_cooldown(PROJECT, fleet.cooldown(60.0, "f"))
    for _look in range(2):
        snapshot = fleet.snapshot()
        assert (set(snapshot.pools[SUBJECT]), set(snapshot.cooldowns)) == ({2}, {SUBJECT})
        fleet.up()
    fleet.clock.advance(7200)
    assert fleet.snapshot().pools == {SUBJECT: {}}


def test_a_keys_cooldown_that_was_closed_is_not_remembered(fleet: Fleet) -> None:
    fleet.down()
    cooldown = fleet.state.extend_cooldown(PROJECT, fleet.cooldown())
    fleet.state.close_cooldown(PROJECT, cooldown)
    assert fleet.snapshot().pools == {SUBJECT: {}}


def test_a_used_up_quota_that_was_seen_holds_while_the_table_is_down(fleet: Fleet) -> None:
    """Written here or elsewhere, and no longer than it is believed."""
    for save in (fleet.state.save_quota, fleet.store.save_quota):
        quota = fleet.quota()
        save(PROJECT, SUBJECT, quota)
        fleet.snapshot()
        fleet.down()
        assert fleet.snapshot().quotas == {SUBJECT: quota}
        fleet.clock.advance(7200)
        assert fleet.snapshot().quotas == {}
        fleet.up()


def test_a_quota_that_could_not_be_written_holds_here_when_it_is_used_up(fleet: Fleet) -> None:
    """Also when the table is back and knows nothing, or what was observed before; until somebody looks it up."""
    fleet.store.save_quota(PROJECT, SUBJECT, fleet.quota(5))
    fleet.clock.advance(1)
    fleet.down()
    exhausted = fleet.quota()
    fleet.state.save_quota(PROJECT, SUBJECT, exhausted)
    fleet.state.save_quota(PROJECT, SUBJECT, fleet.quota(3))
    assert fleet.snapshot().quotas == {SUBJECT: exhausted}
    fleet.up()
    assert fleet.snapshot().quotas == {SUBJECT: exhausted}
    looked_up = fleet.quota(900)
    fleet.state.save_quota(PROJECT, SUBJECT, looked_up, looked_up=True)
    assert fleet.snapshot().quotas == {SUBJECT: looked_up}


def test_an_unwritten_quota_gives_way_to_what_the_table_observed_later(fleet: Fleet) -> None:
    fleet.down()
    fleet.state.save_quota(PROJECT, SUBJECT, fleet.quota())
    fleet.up()
    newer = fleet.quota(40)
    fleet.store.save_quota(PROJECT, SUBJECT, newer)
    assert fleet.snapshot().quotas == {SUBJECT: newer}


def test_a_stopped_projects_keys_and_quotas_are_forgotten(fleet: Fleet) -> None:
    """Another project's are not."""
    other = ProjectKey(tenant_id="acme", project_id="other")
    fleet.down()
    for project in (PROJECT, other):
        fleet.state.extend_cooldown(project, fleet.cooldown())
        fleet.state.save_quota(project, SUBJECT, fleet.quota())
    fleet.state.forget(PROJECT)
    assert (fleet.snapshot().quotas, fleet.snapshot().pools) == ({}, {SUBJECT: {}})
    assert set(fleet.state.snapshot(other, [WANTED]).quotas) == {SUBJECT}


def test_a_throttled_turn_is_no_turn(fleet: Fleet) -> None:
    """Each environment's own would be a stampede on a provider that takes one at a time."""
    fleet.store.fail_with = StoreThrottled("slow down")
    again = fleet.clock.now() + TURN_AGAIN_SECONDS
    assert fleet.state.take_turn(ARXIV, latest=again + 9) == Turn(at=again, granted=False)
    held = fleet.state.hold_turn(ARXIV, "me", lease_seconds=8)
    assert held == Turn(at=again, granted=False, being_served=True)
    fleet.store.fail_with = None
    assert fleet.state.take_turn(ARXIV, latest=again).granted


def test_a_slow_answer_that_was_asked_before_does_not_end_exhaustion() -> None:
    """One search learns that the plan is used up; another that was under way tells of three that were left."""
    used_up = QuotaExhausted("used up", retry_after=7200.0)
    research = Research({"a": [used_up]})

    def slow(request: SearchRequest) -> SearchResult:
        elsewhere = research.environment()[2]
        assert elsewhere.search(request, research.scope()).failure is not None
        research.clock.advance(1)
        left = QuotaStatus(source=QuotaSource.HEADERS, remaining=3, observed_at=research.clock.now())
        return found(1, quota=left)(request)

    research.protocol.scripts["a"].insert(0, slow)
    assert research.search().hits
    skipped = research.search().attempts[0]
    assert (skipped.reason, skipped.retry_at) == ("exhausted", research.clock.now() + 7199)
