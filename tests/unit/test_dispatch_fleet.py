"""The shared state as the dispatcher sees it: with DynamoDB down, this environment goes on with what it knows."""

from dataclasses import replace

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.research import PROJECT
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.dispatch.fleet.state import REST_SECONDS, FleetState
from zarniwoop.observe.metrics import Metric, MetricsBuffer
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import Cooldown, KeptQuota, StateSnapshot, Subject, Turn, Wanted

SUBJECT: Subject = ("serper-main", SearchModality.WEB)
WANTED = Wanted(subject=SUBJECT, fingerprint="f", credit_period="2027-01")


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
        """The table answers again, and has been left alone for long enough to be asked."""
        self.store.fail_with = None
        self.clock.advance(REST_SECONDS)

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

    def snapshot(self) -> StateSnapshot:
        return self.state.snapshot(PROJECT, [WANTED])

    def seen(self) -> Cooldown | None:
        return self.snapshot().cooldowns.get(SUBJECT)

    def start(self, pacing: Pacing, seconds: float) -> float | None:
        """When a turn begins, in seconds from now; None where there is none within so many."""
        now = self.clock.now()
        turn = self.state.take_turn(pacing, latest=now + seconds)
        return turn.at - now if turn.granted else None

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


def test_a_cooldown_that_could_not_be_written_ends_when_it_is_over(fleet: Fleet) -> None:
    """The table knows nothing of it, so there is nothing to probe either: the provider is simply asked again."""
    fleet.down()
    fleet.state.extend_cooldown(PROJECT, fleet.cooldown(60))
    fleet.up()
    fleet.clock.advance(57)
    assert fleet.seen() is not None
    fleet.clock.advance(1)
    assert fleet.seen() is None


def test_an_unwritten_cooldown_gives_way_to_a_longer_one_of_the_table(fleet: Fleet) -> None:
    """Somebody else was told to wait longer; what the table has is then the fleet's to probe and to close."""
    fleet.down()
    fleet.state.extend_cooldown(PROJECT, fleet.cooldown(30))
    fleet.up()
    longer = fleet.cooldown(600)
    fleet.store.extend_cooldown(PROJECT, longer)
    assert fleet.seen() == longer
    fleet.clock.advance(600)
    assert fleet.state.claim_probe(PROJECT, longer) is True
    assert fleet.state.claim_probe(PROJECT, longer) is False


def test_an_unwritten_cooldown_that_ends_during_a_search_is_probed_by_what_the_table_has(fleet: Fleet) -> None:
    """An item that the table does not have needs no claim; one that it has is claimed by one caller only."""
    fleet.down()
    held = fleet.state.extend_cooldown(PROJECT, fleet.cooldown(30))
    fleet.up()
    assert fleet.seen() == held
    assert [fleet.state.claim_probe(PROJECT, held) for _ in range(2)] == [True, True]
    assert fleet.store.calls["claim_probe"] == 0
    fleet.store.extend_cooldown(PROJECT, fleet.cooldown(10))
    assert fleet.seen() == held
    assert [fleet.state.claim_probe(PROJECT, held) for _ in range(2)] == [True, False]


def test_a_table_that_failed_is_left_alone_for_two_seconds(fleet: Fleet) -> None:
    """What is not even asked is counted as lost too."""
    fleet.down()
    fleet.seen()
    fleet.store.fail_with = None
    quota = KeptQuota(status=QuotaStatus(source=QuotaSource.LOCAL), expires_at=fleet.clock.now() + 500)
    fleet.state.save_quota(PROJECT, SUBJECT, quota)
    fleet.clock.advance(REST_SECONDS - 0.01)
    fleet.state.save_quota(PROJECT, SUBJECT, quota)
    assert (fleet.store.calls["save_quota"], fleet.lost()) == (0, ["snapshot", "quota", "quota"])
    fleet.clock.advance(0.01)
    fleet.state.save_quota(PROJECT, SUBJECT, quota)
    assert (fleet.store.calls["save_quota"], fleet.lost()) == (1, [])


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
    pacing = Pacing(subject="arxiv@export.arxiv.org", requests=1, seconds=3.0, spread=0.0)
    assert [fleet.start(pacing, 7) for _ in range(4)] == [0, 3, 6, None]
    assert fleet.state.take_turn(pacing, latest=0.0) == Turn(at=fleet.clock.now() + 9, granted=False)
    fleet.clock.advance(30)
    assert fleet.start(pacing, 0) == 0


def test_an_environment_remembers_of_the_shared_state_only_so_much(fleet: Fleet) -> None:
    """The last 256 cooldowns; one that goes is known again with the next read."""
    for number in range(257):
        fleet.state.extend_cooldown(PROJECT, replace(fleet.cooldown(), instance_id=f"instance-{number}"))
    fleet.down()
    wanted = [Wanted(subject=(f"instance-{number}", SearchModality.WEB), fingerprint="f") for number in range(257)]
    assert set(fleet.state.snapshot(PROJECT, wanted).cooldowns) == {each.subject for each in wanted[1:]}


def test_a_stopped_project_is_forgotten(fleet: Fleet) -> None:
    """What this environment remembered of it goes; another project's memory stays."""
    fleet.down()
    fleet.state.extend_cooldown(PROJECT, fleet.cooldown())
    fleet.state.forget(PROJECT)
    fleet.up()
    assert fleet.seen() is None
