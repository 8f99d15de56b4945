"""The contract of the spend ledger, on the fake and on DynamoDB (moto)."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest

from tests.fakes.aws import STATE_TABLE, aws_in_process, create_table
from tests.fakes.ledger import InMemoryLedger
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_ledger import DynamoDbLedger
from zarniwoop.stores.ledger import TENANT_BUDGET, Account, Balance, Hold, Ledger, Limits, Spent
from zarniwoop.stores.project import ProjectKey

PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
OTHER = ProjectKey(tenant_id="acme", project_id="other")
NOW = 1_800_000_000.0
THREADS = 50
SERPER = Account.of_endpoint(PROJECT, "serper-main", "2027-01", NOW + 86_400)
ONE_CALL = Spent(amount=0.1, calls=1)
Returned = TypeVar("Returned")


@pytest.fixture(params=["memory", "dynamodb"])
def ledger(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    if request.param == "memory":
        yield InMemoryLedger()
        return
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        yield DynamoDbLedger(dynamodb_client(), STATE_TABLE)


def hold(name: str, spent: Spent = ONE_CALL, until: float = NOW + 60) -> Hold:
    return Hold(id=name, spent=spent, until=until)


def reserve(ledger: Ledger, limits: Limits, held: Hold, *, now: float = NOW, account: Account = SERPER) -> bool:
    return ledger.reserve(account, limits, held, now=now).granted


def all_at_once(act: Callable[[int], Returned]) -> list[Returned]:
    """The results of 50 threads that start together."""
    barrier = Barrier(THREADS)

    def wait_and_act(number: int) -> Returned:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(wait_and_act, range(THREADS)))


def test_an_account_that_nobody_used_stands_at_nothing(ledger: Ledger) -> None:
    assert ledger.balance(SERPER) == Balance()


def test_a_runs_account_is_its_own(ledger: Ledger) -> None:
    """Neither another run's nor the project's, whose budget it counts towards besides; nor another project's."""
    mine = Account.of_run(PROJECT, "r-01mcc5rm00s8zmn4701k1k4h1z", NOW + 86_400)
    assert reserve(ledger, Limits(amount=0.1), hold("a"), account=mine)
    assert not reserve(ledger, Limits(amount=0.1), hold("b"), account=mine)
    for other in (
        Account.of_run(PROJECT, "r-01mcc5rm00s8zmn4701k1k4h10"),
        Account.of_run(OTHER, mine.period),
        Account.of_budget("project", PROJECT, mine.period),
    ):
        assert ledger.balance(other) == Balance()
    assert ledger.settle(mine, hold("a"), ONE_CALL)
    assert ledger.balance(mine).used == ONE_CALL


def test_three_times_a_tenth_fits_into_three_tenths_and_no_more(ledger: Ledger) -> None:
    """Amounts are decimals: binary fractions would let two through, or four."""
    limits = Limits(amount=0.3)
    assert [reserve(ledger, limits, hold(str(number))) for number in range(4)] == [True, True, True, False]
    assert ledger.balance(SERPER).committed == Spent(amount=0.3, calls=3)


def test_a_limit_of_calls_and_one_of_the_amount_both_hold(ledger: Ledger) -> None:
    assert reserve(ledger, Limits(amount=10, calls=1), hold("a"))
    assert not reserve(ledger, Limits(amount=10, calls=1), hold("b"))
    assert not reserve(ledger, Limits(amount=0.1, calls=10), hold("c"))
    assert reserve(ledger, Limits(amount=0.2, calls=2), hold("d"))
    assert not reserve(ledger, Limits(amount=0.25), hold("e", Spent(amount=0.3, calls=1)))


def test_what_alone_exceeds_the_limit_is_refused_also_at_first(ledger: Ledger) -> None:
    """Where nothing is counted yet there is no number to compare with."""
    assert not reserve(ledger, Limits(calls=0), hold("a"))
    assert not reserve(ledger, Limits(amount=0.05), hold("a"))
    assert ledger.balance(SERPER) == Balance()


def test_a_refusal_tells_where_the_account_stands(ledger: Ledger) -> None:
    reserve(ledger, Limits(calls=1), hold("a"))
    refused = ledger.reserve(SERPER, Limits(calls=1), hold("b"), now=NOW)
    assert refused.balance.committed == ONE_CALL
    assert set(refused.balance.holds) == {"a"}


def test_settling_puts_what_was_spent_in_the_place_of_the_hold_once(ledger: Ledger) -> None:
    """What was not needed is free again; a second settlement changes nothing, nor does one of a stranger."""
    held = hold("a", Spent(amount=0.5, calls=5))
    reserve(ledger, Limits(calls=5), held)
    assert ledger.settle(SERPER, held, Spent(amount=0.2, calls=2))
    assert not ledger.settle(SERPER, held, Spent(amount=0.2, calls=2))
    assert not ledger.settle(SERPER, hold("b"), ONE_CALL)
    spent = Spent(amount=0.2, calls=2)
    assert ledger.balance(SERPER) == Balance(committed=spent, used=spent)
    assert reserve(ledger, Limits(calls=5), hold("c", Spent(amount=0.3, calls=3)))


def test_the_same_hold_twice_is_one(ledger: Ledger) -> None:
    """A call whose answer was lost is repeated, also when the limit is reached by then."""
    assert reserve(ledger, Limits(calls=1), hold("a"))
    assert reserve(ledger, Limits(calls=1), hold("a"))
    assert ledger.balance(SERPER).committed == ONE_CALL


def test_holds_of_the_dead_are_settled_as_spent_by_the_next_to_reserve(ledger: Ledger) -> None:
    """Granted or refused; nothing becomes free by it, and nothing is lost."""
    reserve(ledger, Limits(calls=3), hold("dead", until=NOW + 60))
    reserve(ledger, Limits(calls=3), hold("dead too", until=NOW + 61))
    assert ledger.balance(SERPER).used == Spent()
    assert reserve(ledger, Limits(calls=3), hold("alive", until=NOW + 600), now=NOW + 60)
    assert set(ledger.balance(SERPER).holds) == {"dead too", "alive"}
    assert not reserve(ledger, Limits(calls=3), hold("refused", until=NOW + 600), now=NOW + 120)
    balance = ledger.balance(SERPER)
    assert set(balance.holds) == {"alive"}
    assert balance.committed == Spent(amount=0.3, calls=3)
    assert balance.used == balance.assumed == Spent(amount=0.2, calls=2)
    assert not ledger.settle(SERPER, hold("dead"), Spent())


def test_what_exceeds_the_whole_limit_is_refused_with_the_account_as_it_stands(ledger: Ledger) -> None:
    reserve(ledger, Limits(calls=3), hold("a"))
    refused = ledger.reserve(SERPER, Limits(calls=3), hold("b", Spent(amount=0.4, calls=4)), now=NOW)
    assert (refused.granted, refused.balance.committed) == (False, ONE_CALL)


def test_whoever_settles_at_the_last_moment_settles_its_own_hold_alone(ledger: Ledger) -> None:
    """Those beside it that came to the same are the dead's still, and each is counted once."""
    for name in ("late", "dead", "dead too"):
        reserve(ledger, Limits(calls=9), hold(name))
    assert ledger.settle(SERPER, hold("late"), Spent())
    reserve(ledger, Limits(calls=9), hold("next", until=NOW + 600), now=NOW + 60)
    balance = ledger.balance(SERPER)
    assert balance.used == balance.assumed == Spent(amount=0.2, calls=2)
    assert balance.committed == Spent(amount=0.3, calls=3)


def test_what_was_spent_without_a_hold_is_counted_whatever_the_limit(ledger: Ledger) -> None:
    reserve(ledger, Limits(calls=1), hold("a"))
    ledger.charge(SERPER, Spent(amount=2.5, calls=3))
    balance = ledger.balance(SERPER)
    assert (balance.committed, balance.used) == (Spent(amount=2.6, calls=4), Spent(amount=2.5, calls=3))


def test_accounts_do_not_mix(ledger: Ledger) -> None:
    """Another period, endpoint or project starts from nothing; a tenant's projects share one."""
    others = [
        Account.of_endpoint(PROJECT, "serper-main", "2027-02"),
        Account.of_endpoint(PROJECT, "serper-eu", "2027-01"),
        Account.of_endpoint(OTHER, "serper-main", "2027-01"),
        Account.of_budget("project", PROJECT, "2027-01"),
        Account.of_budget("project", OTHER, "2027-01"),
        Account.of_budget(TENANT_BUDGET, PROJECT, "2027-01"),
    ]
    reserve(ledger, Limits(calls=1), hold("a"))
    assert all(reserve(ledger, Limits(calls=1), hold("a"), account=account) for account in others)
    shared = Account.of_budget(TENANT_BUDGET, OTHER, "2027-01")
    assert not reserve(ledger, Limits(calls=1), hold("b"), account=shared)


def test_of_many_that_reserve_at_once_exactly_as_many_are_granted_as_fit(ledger: Ledger) -> None:
    """Fifty environments and a limit of ten."""
    granted = all_at_once(lambda number: reserve(ledger, Limits(calls=10), hold(f"h{number}")))
    assert granted.count(True) == 10
    assert ledger.balance(SERPER).committed.calls == 10


def test_of_many_that_settle_the_same_hold_one_does(ledger: Ledger) -> None:
    held = hold("a")
    reserve(ledger, Limits(calls=1), held)
    assert all_at_once(lambda _: ledger.settle(SERPER, held, ONE_CALL)).count(True) == 1
    assert ledger.balance(SERPER) == Balance(committed=ONE_CALL, used=ONE_CALL)
