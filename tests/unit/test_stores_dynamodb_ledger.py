"""What the spend ledger costs on DynamoDB, and what throttling and lost answers do to it."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.aws import STATE_TABLE, aws_in_process, count_calls, create_table, refuse
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_ledger import DynamoDbLedger
from zarniwoop.stores.failure import StoreThrottled
from zarniwoop.stores.ledger import MOST_SETTLED_AT_ONCE, Account, Hold, Limits, Spent
from zarniwoop.stores.ledger_items import account_key
from zarniwoop.stores.project import ProjectKey

NOW = 1_800_000_000.0
PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
ACCOUNT = Account.of_budget("tenant", PROJECT, "2027-01", NOW + 86_400)
ONE_CALL = Spent(amount=0.007, calls=1)
UNDER_WAY = 100
BYTES_OF_A_UNIT = 1024


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        yield dynamodb_client()


@pytest.fixture
def ledger(client: Any) -> DynamoDbLedger:
    return DynamoDbLedger(client, STATE_TABLE)


def hold(name: str, until: float = NOW + 38) -> Hold:
    return Hold(id=name, spent=ONE_CALL, until=until)


def size_of(value: dict[str, Any]) -> int:
    """Of an attribute, as DynamoDB bills it; a set's members are counted as a list's are, which is the most."""
    ((kind, content),) = value.items()
    if kind == "N":
        digits = content.replace(".", "").lstrip("-0").rstrip("0")
        return (len(digits) + 1) // 2 + 1
    if kind == "SS":
        return 3 + sum(len(each.encode()) + 1 for each in content)
    return len(content.encode())


def test_the_item_stays_small_with_a_hundred_calls_under_way(client: Any, ledger: DynamoDbLedger) -> None:
    """Every write is billed by its size, and an item bears a thousand units a second: two each are enough."""
    for number in range(UNDER_WAY):
        held = hold(secrets.token_urlsafe(6), NOW + 38 + number / 7)
        assert ledger.reserve(ACCOUNT, Limits(calls=10**6), held, now=NOW).granted
    item = client.get_item(TableName=STATE_TABLE, Key=account_key(ACCOUNT))["Item"]
    assert sum(len(name) + size_of(value) for name, value in item.items()) < 1.25 * BYTES_OF_A_UNIT
    assert len(ledger.balance(ACCOUNT).holds) == UNDER_WAY


def test_nothing_of_a_settled_hold_stays_in_the_item(client: Any, ledger: DynamoDbLedger) -> None:
    ledger.reserve(ACCOUNT, Limits(calls=9), hold("a"), now=NOW)
    ledger.settle(ACCOUNT, hold("a"), ONE_CALL)
    item = client.get_item(TableName=STATE_TABLE, Key=account_key(ACCOUNT))["Item"]
    assert set(item) == {"pk", "sk", "expires_at", "committed", "committed_calls", "used", "calls"}


def test_holding_and_settling_are_one_write_each(client: Any, ledger: DynamoDbLedger) -> None:
    """However many of the dead's came to the same: one more for all of them, and five in all."""
    for number in range(30):
        ledger.reserve(ACCOUNT, Limits(), hold(f"alike-{number}"), now=NOW)
    for number in range(MOST_SETTLED_AT_ONCE):
        ledger.reserve(ACCOUNT, Limits(), hold(f"later-{number}", NOW + 100 + 60 * number), now=NOW)
    calls = count_calls(client)
    ledger.reserve(ACCOUNT, Limits(), hold("a", NOW + 9_000), now=NOW)
    ledger.settle(ACCOUNT, hold("a", NOW + 9_000), ONE_CALL)
    assert calls == ["UpdateItem"] * 2
    ledger.reserve(ACCOUNT, Limits(), hold("b", NOW + 9_000), now=NOW + 4_000)
    assert calls == ["UpdateItem"] * (2 + 1 + MOST_SETTLED_AT_ONCE)
    assert ledger.balance(ACCOUNT).assumed.calls == 30 + MOST_SETTLED_AT_ONCE - 1


@pytest.mark.parametrize("calls", [2, 3])
def test_a_verdict_stands_when_tidying_up_after_it_fails(client: Any, ledger: DynamoDbLedger, calls: int) -> None:
    """Granted or refused: the dead's holds are settled by the next one, and count until then."""
    ledger.reserve(ACCOUNT, Limits(calls=9), hold("settled", NOW + 600), now=NOW)
    ledger.reserve(ACCOUNT, Limits(calls=9), hold("dead"), now=NOW)
    refused = refuse(client, "ThrottlingException", after=1)
    reserved = ledger.reserve(ACCOUNT, Limits(calls=calls), hold("new", NOW + 600), now=NOW + 60)
    assert refused
    assert reserved.granted is (calls == 3)
    assert reserved.balance.committed.calls == calls


@pytest.mark.parametrize(
    "code", ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"]
)
def test_a_throttled_write_is_told_from_a_table_that_is_away(client: Any, ledger: DynamoDbLedger, code: str) -> None:
    refuse(client, code)
    with pytest.raises(StoreThrottled):
        ledger.reserve(ACCOUNT, Limits(calls=9), hold("a"), now=NOW)


def test_an_illegible_hold_takes_nothing_along(client: Any, ledger: DynamoDbLedger) -> None:
    """It is in the sum of what is committed."""
    ledger.reserve(ACCOUNT, Limits(calls=9), hold("a"), now=NOW)
    names = {"#odd": "held:soon:much:1", "#form": "held:1"}
    client.update_item(
        TableName=STATE_TABLE,
        Key=account_key(ACCOUNT),
        UpdateExpression="SET #odd = :ids, #form = :ids",
        ExpressionAttributeNames=names,
        ExpressionAttributeValues={":ids": {"SS": ["x"]}},
    )
    assert set(ledger.balance(ACCOUNT).holds) == {"a"}
    assert ledger.settle(ACCOUNT, hold("a"), ONE_CALL)
