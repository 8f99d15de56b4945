"""What `LeasedMemory` promises, on DynamoDB: one holder at a time, and nothing lost by whoever dies."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.fakes.aws import STATE_TABLE, aws_in_process, create_table, refuse
from tests.fakes.clock import FakeClock
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_leased import DynamoDbLeasedMemory
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import standing_key
from zarniwoop.stores.leased import Held
from zarniwoop.stores.project import ProjectKey

DEMO = ProjectKey(tenant_id="acme", project_id="demo")
LAB = ProjectKey(tenant_id="acme", project_id="lab")
DAY = 86_400.0
KEY = standing_key("news")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        yield dynamodb_client()


@pytest.fixture
def store(client: Any, clock: FakeClock) -> DynamoDbLeasedMemory:
    return DynamoDbLeasedMemory(client, STATE_TABLE, clock)


def take(store: DynamoDbLeasedMemory, project: ProjectKey = DEMO) -> Held | None:
    return store.take(project, KEY, lease_seconds=30, keep_seconds=DAY)


def taken(store: DynamoDbLeasedMemory, project: ProjectKey = DEMO) -> Held:
    held = take(store, project)
    assert held is not None
    return held


def test_what_was_put_back_is_what_the_next_one_reads(store: DynamoDbLeasedMemory) -> None:
    """In its own project alone."""
    first = taken(store)
    assert first.memory is None
    assert store.put_back(first, b"seen", keep_seconds=DAY)
    assert (taken(store).memory, taken(store, LAB).memory) == (b"seen", None)


def test_a_turn_lasts_until_something_is_put_back(store: DynamoDbLeasedMemory, clock: FakeClock) -> None:
    """Whoever died or let go is followed under the same turn, and no two that ended are called the same."""
    dead = taken(store)
    clock.advance(30)
    second = taken(store)
    store.let_go(second)
    third = taken(store)
    assert dead.turn == second.turn == third.turn
    assert store.put_back(third, b"seen", keep_seconds=DAY)
    assert taken(store).turn not in (dead.turn, taken(store, LAB).turn)


def test_of_many_at_once_one_takes_it(store: DynamoDbLeasedMemory) -> None:
    """The others are told that it is held."""
    with ThreadPoolExecutor(8) as pool:
        held = [each for each in pool.map(lambda _: take(store), range(8)) if each is not None]
    assert len(held) == 1


def test_whoever_died_holds_nothing_up_for_longer_than_the_lease(store: DynamoDbLeasedMemory, clock: FakeClock) -> None:
    """And comes too late, should it live after all: what the second put back stands."""
    dead = taken(store)
    assert take(store) is None
    clock.advance(30)
    second = taken(store)
    assert not store.put_back(dead, b"late", keep_seconds=DAY)
    store.let_go(dead)
    assert take(store) is None
    assert store.put_back(second, b"second", keep_seconds=DAY)
    assert not store.put_back(dead, b"late", keep_seconds=DAY)
    assert taken(store).memory == b"second"


def test_given_back_as_it_was_it_is_free_and_remembers(store: DynamoDbLeasedMemory) -> None:
    """A round that failed forgets nothing."""
    store.put_back(taken(store), b"seen", keep_seconds=DAY)
    store.let_go(taken(store))
    assert taken(store).memory == b"seen"


def test_what_nobody_takes_is_forgotten_and_taking_it_keeps_it(store: DynamoDbLeasedMemory, clock: FakeClock) -> None:
    """Also where TTL has yet to delete it, and where those rounds failed."""
    store.put_back(taken(store), b"seen", keep_seconds=DAY)
    for _ in range(3):
        clock.advance(DAY * 0.9)
        store.let_go(taken(store))
    clock.advance(DAY + 1)
    lapsed = taken(store)
    assert lapsed.memory is None
    store.let_go(lapsed)
    assert taken(store).memory is None


def test_every_item_expires(store: DynamoDbLeasedMemory, client: Any, clock: FakeClock) -> None:
    """Whole seconds, as TTL reads them; from the first moment on, should its holder die."""
    taken(store)
    (item,) = client.scan(TableName=STATE_TABLE)["Items"]
    assert item["expires_at"] == {"N": str(int(clock.now() + DAY))}


@pytest.mark.parametrize("how", ["take", "put_back"])
def test_an_answer_that_was_lost_on_its_way_is_no_refusal(
    store: DynamoDbLeasedMemory, client: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """boto3 repeats the call, whose condition then meets what it has written itself."""
    held = taken(store) if how == "put_back" else None
    real = client.update_item

    def twice(**asked: Any) -> Any:
        real(**asked)
        return real(**asked)

    monkeypatch.setattr(client, "update_item", twice)
    if held:
        assert store.put_back(held, b"seen", keep_seconds=DAY)
    else:
        assert take(store) is not None


def test_what_another_version_left_is_no_memory(store: DynamoDbLeasedMemory, client: Any) -> None:
    """Instead of a fault in every round."""
    client.put_item(
        TableName=STATE_TABLE, Item={"pk": {"S": "T#acme#P#demo"}, "sk": {"S": KEY}, "memory": {"S": "text"}}
    )
    assert taken(store).memory is None


def test_a_table_that_does_not_answer_is_a_failure(store: DynamoDbLeasedMemory, client: Any) -> None:
    """Nobody may take that for a free lease."""
    held = taken(store)
    refuse(client, "InternalServerError", status=500)
    for attempt in (lambda: take(store), lambda: store.put_back(held, b"", keep_seconds=1), lambda: store.let_go(held)):
        with pytest.raises(StoreUnavailable):
            attempt()


@pytest.mark.parametrize("name", ["", "a#b", "A", "x" * 64])
def test_no_name_can_forge_a_key(name: str) -> None:
    """As for every other id."""
    with pytest.raises(ValueError, match="id"):
        standing_key(name)
