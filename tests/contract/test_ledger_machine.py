"""Any sequence of holding, settling, dying and charging: the ledger keeps its promises, on the fake and on DynamoDB.

The model knows of every hold what became of it, and adds up by itself, in whole hundredths.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.fakes.aws import STATE_TABLE, aws_in_process, create_table
from tests.fakes.ledger import InMemoryLedger
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_ledger import DynamoDbLedger
from zarniwoop.stores.ledger import MOST_SETTLED_AT_ONCE, Account, Hold, Ledger, Limits, Spent
from zarniwoop.stores.project import ProjectKey

NOW = 1_800_000_000.0
LIFETIME = 60.0
PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
PERIODS = ("2027-01", "2027-02")
HUNDREDTHS = st.integers(min_value=0, max_value=40)
CALLS = st.integers(min_value=0, max_value=4)


@dataclass
class _Model:
    """What an account must come to: `open` holds by id, as (hundredths, calls, until)."""

    used: tuple[int, int] = (0, 0)
    assumed: tuple[int, int] = (0, 0)
    open: dict[str, tuple[int, int, float]] = field(default_factory=dict)

    @property
    def committed(self) -> tuple[int, int]:
        held = self.open.values()
        return self.used[0] + sum(each[0] for each in held), self.used[1] + sum(each[1] for each in held)

    def let_die(self, now: float) -> None:
        """The next reservation meets the holds whose minute is over: five kinds of them at most, the oldest first."""
        kinds = sorted({kind for each in self.open.values() if (kind := _kind(each))[0] * 60 <= now})
        for name, each in list(self.open.items()):
            if _kind(each) in kinds[:MOST_SETTLED_AT_ONCE]:
                hundredths, calls, _ = self.open.pop(name)
                self.used = (self.used[0] + hundredths, self.used[1] + calls)
                self.assumed = (self.assumed[0] + hundredths, self.assumed[1] + calls)


def _kind(each: tuple[int, int, float]) -> tuple[int, int, int]:
    """The minute that it is over with, and what it comes to."""
    return -int(-each[2] // 60), each[0], each[1]


def spent(hundredths: int, calls: int) -> Spent:
    return Spent(amount=hundredths / 100, calls=calls)


class LedgerMachine(RuleBasedStateMachine):
    """Two periods of one endpoint's account under a limit of one and of twelve calls."""

    ledger: Ledger
    made = 0
    holds = Bundle("holds")

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.now = NOW
        self.number = 0
        self.models = {period: _Model() for period in PERIODS}
        self.charged = dict.fromkeys(PERIODS, (0, 0))
        self.instance_id = f"serper-{self.made}"

    def account(self, period: str) -> Account:
        return Account.of_endpoint(PROJECT, self.instance_id, period)

    @rule(target=holds, period=st.sampled_from(PERIODS), hundredths=HUNDREDTHS, calls=CALLS)
    def reserve(self, period: str, hundredths: int, calls: int) -> tuple[str, Hold]:
        model = self.models[period]
        self.number += 1
        hold = Hold(id=f"h{self.number}", spent=spent(hundredths, calls), until=self.now + LIFETIME + self.number / 8)
        before = model.committed
        fits = before[0] + hundredths <= 100 and before[1] + calls <= 12
        reserved = self.ledger.reserve(self.account(period), Limits(amount=1.0, calls=12), hold, now=self.now)
        assert reserved.granted is fits
        if fits:
            model.open[hold.id] = (hundredths, calls, hold.until)
        if hundredths <= 100 and calls <= 12:
            model.let_die(self.now)
        return period, hold

    @rule(held=holds, share=st.sampled_from([0.0, 0.5, 1.0]))
    def settle(self, held: tuple[str, Hold], share: float) -> None:
        """At no more than was held; late, twice or never granted changes nothing."""
        period, hold = held
        model = self.models[period]
        known = model.open.pop(hold.id, None)
        hundredths, calls = (int(known[0] * share), int(known[1] * share)) if known else (0, 0)
        assert self.ledger.settle(self.account(period), hold, spent(hundredths, calls)) is (known is not None)
        model.used = (model.used[0] + hundredths, model.used[1] + calls)

    @rule(held=holds)
    def repeat(self, held: tuple[str, Hold]) -> None:
        """A call whose answer was lost: the same hold once more is one hold, however full the account is."""
        period, hold = held
        model = self.models[period]
        if hold.id in model.open:
            assert self.ledger.reserve(self.account(period), Limits(amount=1.0, calls=12), hold, now=NOW).granted

    @rule(period=st.sampled_from(PERIODS), hundredths=HUNDREDTHS, calls=CALLS)
    def charge(self, period: str, hundredths: int, calls: int) -> None:
        model = self.models[period]
        self.ledger.charge(self.account(period), spent(hundredths, calls))
        model.used = (model.used[0] + hundredths, model.used[1] + calls)
        self.charged[period] = (self.charged[period][0] + hundredths, self.charged[period][1] + calls)

    @rule(seconds=st.sampled_from([1.0, LIFETIME / 2, LIFETIME * 2]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def it_adds_up(self) -> None:
        """Never over, never lost: what is committed is what was used and what is held, to the hundredth."""
        for period, model in self.models.items():
            balance = self.ledger.balance(self.account(period))
            assert balance.committed == spent(*model.committed)
            assert balance.used == spent(*model.used)
            assert balance.assumed == spent(*model.assumed)
            assert set(balance.holds) == set(model.open)
            assert model.committed[0] - self.charged[period][0] <= 100
            assert model.committed[1] - self.charged[period][1] <= 12


def _run(ledger: Ledger, examples: int) -> None:
    machine = type("Machine", (LedgerMachine,), {"ledger": ledger})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.no_cover
def test_in_memory() -> None:
    _run(InMemoryLedger(), 120)


@pytest.mark.no_cover
def test_on_dynamodb(monkeypatch: pytest.MonkeyPatch) -> None:
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        _run(DynamoDbLedger(dynamodb_client(), STATE_TABLE), 10)
