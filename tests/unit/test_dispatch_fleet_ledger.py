"""The ledger as the dispatcher sees it, when DynamoDB is down, slow to say so, or somebody else settled first."""

from typing import Any

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.research import PROJECT
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.dispatch.fleet.ledger import LONGEST_WAITS_SECONDS
from zarniwoop.dispatch.fleet.state import REST_SECONDS, FleetState
from zarniwoop.observe.metrics import Metric, MetricsBuffer
from zarniwoop.stores.failure import StoreThrottled, StoreUnavailable
from zarniwoop.stores.ledger import MOST_SETTLED_AT_ONCE, Account, Balance, Hold, Limits, Reserved, Spent
from zarniwoop.stores.state import StateSnapshot, Wanted

SERPER = Account.of_endpoint(PROJECT, "serper-main", "2027-01")
DEMO = Account.of_budget("project", PROJECT, "2027-01")
WANTED = Wanted(subject=("serper-main", SearchModality.WEB), fingerprint="f", credit_period="2027-01")
ONE = Spent(amount=1.0, calls=1)


class LosingStore(InMemoryStateStore):
    """Carries out the methods named in `loses`, and does not say so."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.loses: set[str] = set()
        self._throttled = 0

    def throttle(self, times: int) -> None:
        """The next so many holds."""
        self._throttled = times

    def reserve(self, *args: Any, **more: Any) -> Any:
        if self._throttled > 0:
            self._throttled -= 1
            self.calls["reserve"] += 1
            raise StoreThrottled("slow down")
        return self._lost("reserve", super().reserve(*args, **more))

    def settle(self, *args: Any) -> Any:
        return self._lost("settle", super().settle(*args))

    def _lost(self, method: str, answer: Any) -> Any:
        if method in self.loses:
            raise StoreUnavailable("the answer was lost")
        return answer


class Fleet:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = LosingStore(self.clock)
        self.metrics = MetricsBuffer()
        self.state = FleetState(store=self.store, clock=self.clock, metrics=self.metrics)

    def hold(self, name: str, spent: Spent = ONE) -> Hold:
        return Hold(id=name, spent=spent, until=self.clock.now() + 60)

    def reserve(self, name: str, *, limit: int = 3, account: Account = SERPER) -> bool:
        return self.state.ledger.reserve(account, Limits(calls=limit), self.hold(name)).granted

    def settle(self, name: str, spent: Spent = ONE, *, account: Account = SERPER) -> None:
        self.state.ledger.settle(account, self.hold(name), spent)

    def down(self) -> None:
        self.store.fail_with = StoreUnavailable("down")

    def up(self) -> None:
        self.store.fail_with = None
        self.store.loses.clear()
        self.clock.advance(REST_SECONDS)

    def snapshot(self) -> StateSnapshot:
        return self.state.snapshot(PROJECT, [WANTED], budget_periods={"project": "2027-01"})


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


def test_what_was_spent_while_the_table_was_down_is_written_once_when_it_is_back(fleet: Fleet) -> None:
    """Until then it counts here, in the snapshot too."""
    fleet.reserve("a")
    fleet.settle("a")
    fleet.down()
    assert [fleet.reserve(name) for name in "bcd"] == [True, True, False]
    fleet.settle("b")
    fleet.settle("c", Spent())
    assert fleet.snapshot().spent == {"serper-main": 2.0}
    fleet.up()
    assert fleet.snapshot().spent == {"serper-main": 2.0}
    assert fleet.store.standing(SERPER).used == ONE
    assert fleet.reserve("e")
    fleet.settle("e")
    assert fleet.store.standing(SERPER).used == Spent(amount=3.0, calls=3)
    assert fleet.snapshot().spent == {"serper-main": 3.0}
    lost = [dict(point.tags)["operation"] for point in fleet.metrics.drain()]
    assert lost == ["reserve", "reserve", "reserve", "settle", "settle", "snapshot"]


def test_a_hold_whose_answer_was_lost_is_settled_and_not_paid_twice(fleet: Fleet) -> None:
    fleet.store.loses = {"reserve"}
    assert fleet.reserve("a")
    fleet.up()
    fleet.settle("a")
    assert fleet.store.standing(SERPER) == Balance(committed=ONE, used=ONE)


def test_a_settlement_whose_answer_was_lost_is_not_paid_twice(fleet: Fleet) -> None:
    """It is repeated with the next reservation, and finds nothing to settle."""
    fleet.reserve("a")
    fleet.store.loses = {"settle"}
    fleet.settle("a")
    fleet.up()
    assert fleet.reserve("b")
    assert fleet.store.standing(SERPER).used == ONE


def test_a_settlement_that_could_not_be_written_leaves_the_hold_in_place(fleet: Fleet) -> None:
    """Others see the most it may have come to; this environment knows better."""
    fleet.reserve("a")
    fleet.down()
    fleet.settle("a", Spent())
    fleet.up()
    assert fleet.store.standing(SERPER).committed == ONE
    assert fleet.snapshot().spent == {"serper-main": 0.0}
    fleet.reserve("b")
    assert fleet.store.standing(SERPER).committed == ONE


def test_who_was_taken_for_dead_pays_what_exceeds_the_hold(fleet: Fleet) -> None:
    """The hold was counted as spent by somebody else meanwhile."""
    fleet.reserve("late")
    fleet.clock.advance(120)
    fleet.reserve("other")
    assert fleet.store.standing(SERPER).assumed == ONE
    fleet.settle("late", Spent(amount=1.5, calls=2))
    assert fleet.store.standing(SERPER).used == Spent(amount=1.5, calls=2)
    fleet.settle("late", Spent())
    assert fleet.store.standing(SERPER).used == Spent(amount=1.5, calls=2)


def test_budgets_are_remembered_while_the_table_is_down(fleet: Fleet) -> None:
    fleet.reserve("a", account=DEMO)
    fleet.settle("a", account=DEMO)
    assert fleet.snapshot().budgets["project"].used == ONE
    fleet.down()
    assert fleet.snapshot().budgets["project"].committed == ONE
    fleet.reserve("b", account=DEMO)
    fleet.settle("b", account=DEMO)
    assert fleet.snapshot().budgets["project"].committed.calls == 2
    fleet.up()
    assert fleet.snapshot().budgets["project"].committed.calls == 2


def test_losses_are_counted_as_of_the_shared_state(fleet: Fleet) -> None:
    fleet.down()
    fleet.reserve("a")
    assert {point.metric for point in fleet.metrics.drain()} == {Metric.STATE_UNAVAILABLE}


ONE_TURN = Pacing(subject="arxiv@host", requests=1, seconds=3)


def test_a_throttled_hold_is_tried_again_and_nothing_is_lost(fleet: Fleet) -> None:
    """After waits of random length, which grow."""
    fleet.store.throttle(len(LONGEST_WAITS_SECONDS))
    assert fleet.reserve("a")
    assert fleet.store.standing(SERPER).committed == ONE
    waits = list(zip(fleet.clock.slept, LONGEST_WAITS_SECONDS, strict=True))
    assert all(0 < waited <= longest for waited, longest in waits)
    assert fleet.metrics.drain() == []


def test_nothing_is_granted_on_faith_where_the_account_is_throttled(fleet: Fleet) -> None:
    """The table is there, and others are just spending: who is not let in asks nobody."""
    fleet.reserve("a")
    fleet.store.throttle(len(LONGEST_WAITS_SECONDS) + 1)
    refused = fleet.state.ledger.reserve(SERPER, Limits(calls=3), fleet.hold("b"))
    assert refused == Reserved(granted=False, throttled=True, balance=Balance(committed=ONE))
    assert fleet.store.standing(SERPER).committed == ONE
    assert [dict(point.tags)["operation"] for point in fleet.metrics.drain()] == ["reserve"]


def test_no_time_is_waited_away_that_the_call_needs(fleet: Fleet) -> None:
    fleet.store.throttle(9)
    deadline = Deadline.after(1.5, fleet.clock)
    assert fleet.state.ledger.reserve(SERPER, Limits(calls=3), fleet.hold("a"), deadline).throttled
    assert (fleet.clock.slept, fleet.store.calls["reserve"]) == ([], 1)


def test_a_throttled_account_does_not_keep_the_fleet_from_the_rest_of_the_table(fleet: Fleet) -> None:
    """Turns at a provider's rate are still the fleet's, not each environment's own."""
    assert fleet.store.take_turn(ONE_TURN, now=fleet.clock.now(), latest=fleet.clock.now() + 20).granted
    fleet.store.throttle(len(LONGEST_WAITS_SECONDS) + 1)
    assert not fleet.reserve("a")
    turn = fleet.state.take_turn(ONE_TURN, latest=fleet.clock.now() + 20)
    assert turn.granted
    assert turn.at > fleet.clock.now()
    assert fleet.snapshot().generation == 0


def test_a_throttled_settlement_is_made_with_the_next_hold(fleet: Fleet) -> None:
    fleet.reserve("a")
    fleet.store.fail_with = StoreThrottled("slow down")
    fleet.settle("a", Spent())
    fleet.store.fail_with = None
    assert fleet.snapshot().spent == {"serper-main": 0.0}
    fleet.reserve("b")
    assert fleet.store.standing(SERPER) == Balance(committed=ONE, holds={"b": fleet.hold("b")})


def test_of_many_throttled_environments_exactly_as_many_are_let_in_as_the_limit_allows(fleet: Fleet) -> None:
    """Every second write is refused, in turn and for all of them."""
    environments = [FleetState(store=fleet.store, clock=fleet.clock, metrics=MetricsBuffer()) for _ in range(64)]
    granted = 0
    for number, environment in enumerate(environments):
        fleet.store.throttle(number % 3)
        granted += environment.ledger.reserve(SERPER, Limits(calls=10), fleet.hold(f"h{number}")).granted
    assert (granted, fleet.store.standing(SERPER).committed.calls) == (10, 10)


def test_a_search_catches_up_on_a_few_settlements_and_leaves_the_rest(fleet: Fleet) -> None:
    """It waits for them, one by one."""
    names = [f"h{number}" for number in range(2 * MOST_SETTLED_AT_ONCE + 1)]
    for name in names:
        fleet.reserve(name, limit=99)
    fleet.down()
    for name in names:
        fleet.settle(name)
    fleet.up()
    settled = []
    for name in "xyz":
        before = fleet.store.calls["settle"]
        fleet.reserve(name, limit=99)
        settled.append(fleet.store.calls["settle"] - before)
    assert settled == [MOST_SETTLED_AT_ONCE, MOST_SETTLED_AT_ONCE, 1]
    assert fleet.store.standing(SERPER).used.calls == len(names)
