"""The shared state as the dispatcher sees it: with DynamoDB down, this environment goes on with what it knows."""

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.research import PROJECT
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.dispatch.fleet import FleetState
from zarniwoop.observe.metrics import Metric, MetricsBuffer
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import Cooldown, KeptQuota, Subject

SUBJECT: Subject = ("serper-main", SearchModality.WEB)


class Fleet:
    """A FleetState over a store that can be switched off."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = InMemoryStateStore(self.clock)
        self.metrics = MetricsBuffer()
        self.state = FleetState(store=self.store, clock=self.clock, metrics=self.metrics)

    def down(self) -> None:
        self.store.fail_with = StoreUnavailable("down")

    def up(self) -> None:
        self.store.fail_with = None

    def cooldown(self, seconds: float = 60.0) -> Cooldown:
        return Cooldown(
            instance_id=SUBJECT[0],
            modality=SUBJECT[1],
            reason="rate_limited",
            until=self.clock.now() + seconds,
            failures=1,
            failed_at=self.clock.now(),
            fingerprint="f",
        )

    def seen(self) -> Cooldown | None:
        return self.state.snapshot(PROJECT, [SUBJECT]).cooldowns.get(SUBJECT)

    def lost(self) -> list[str]:
        return [
            dict(point.tags)["operation"] for point in self.metrics.drain() if point.metric is Metric.STATE_UNAVAILABLE
        ]


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


def test_a_cooldown_that_was_seen_holds_while_the_table_is_down(fleet: Fleet) -> None:
    """The last known state is better than none; a table that says otherwise later wins."""
    fleet.state.extend_cooldown(PROJECT, fleet.cooldown())
    assert fleet.seen() is not None
    fleet.down()
    assert fleet.seen() is not None
    fleet.up()
    fleet.store.clear_project(PROJECT)
    assert fleet.seen() is None
    fleet.down()
    assert fleet.seen() is None
    assert fleet.lost() == ["snapshot", "snapshot"]


def test_a_cooldown_that_could_not_be_written_holds_here_until_it_is_closed(fleet: Fleet) -> None:
    """Also when the table answers again and knows nothing of it."""
    fleet.down()
    assert fleet.state.extend_cooldown(PROJECT, fleet.cooldown()).until == fleet.cooldown().until
    fleet.up()
    held = fleet.seen()
    assert held is not None
    fleet.state.close_cooldown(PROJECT, held)
    assert fleet.seen() is None
    assert fleet.lost() == ["cooldown"]


def test_with_the_table_down_everybody_may_probe_and_nothing_raises(fleet: Fleet) -> None:
    """An answer beats a rule; every loss is counted."""
    cooldown = fleet.cooldown()
    fleet.down()
    assert fleet.state.claim_probe(PROJECT, cooldown) is True
    fleet.state.close_cooldown(PROJECT, cooldown)
    quota = KeptQuota(status=QuotaStatus(source=QuotaSource.LOCAL), expires_at=fleet.clock.now() + 5)
    fleet.state.save_quota(PROJECT, SUBJECT, quota)
    assert fleet.lost() == ["probe", "close", "quota"]


def test_a_published_rate_is_kept_by_this_environment_alone_while_the_table_is_down(fleet: Fleet) -> None:
    """One request per three seconds, in the order of asking; too late is no turn and takes none."""
    fleet.down()
    pacing = Pacing(subject="arxiv@export.arxiv.org", requests=1, seconds=3.0)
    now = fleet.clock.now()
    assert [fleet.state.take_turn(pacing, 1, latest=now + 7) for _ in range(4)] == [now, now + 3, now + 6, None]
    fleet.clock.advance(30)
    assert fleet.state.take_turn(pacing, 1, latest=fleet.clock.now()) == fleet.clock.now()
    burst = Pacing(subject="pubmed@ncbi", requests=3, seconds=1.0, burst=3)
    starts = [fleet.state.take_turn(burst, 1, latest=fleet.clock.now() + 5) for _ in range(4)]
    assert starts[:3] == [fleet.clock.now()] * 3
    assert starts[3] == pytest.approx(fleet.clock.now() + 1 / 3)


def test_a_stopped_project_is_forgotten(fleet: Fleet) -> None:
    """What this environment remembered of it goes; another project's memory stays."""
    fleet.down()
    fleet.state.extend_cooldown(PROJECT, fleet.cooldown())
    fleet.state.forget(PROJECT)
    fleet.up()
    assert fleet.seen() is None
