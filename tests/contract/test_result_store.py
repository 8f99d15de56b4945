"""What every `ResultStore` promises, put to the one in memory and to the one on DynamoDB and S3 alike."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import boto3
import pytest

from tests.contract.test_run_store import OTHERS, PROJECT
from tests.contract.test_state_store import all_at_once
from tests.fakes.aws import REGION, STATE_TABLE, aws_in_process, count_calls, create_table
from tests.fakes.clock import FakeClock
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.stores.clients import dynamodb_client, s3_client
from zarniwoop.stores.content import S3ContentStore
from zarniwoop.stores.dynamodb_results import LARGEST_IN_ITEM, DynamoDbResultStore
from zarniwoop.stores.dynamodb_state import DynamoDbStateStore
from zarniwoop.stores.kept_results import Flight, KeptAnswer, Standing
from zarniwoop.stores.results import ResultStore
from zarniwoop.stores.state import StateStore

NOW = 1_800_000_000.0
BUCKET = "content"
IDENTITY = "a" * 64
ANSWER = KeptAnswer(generation=1, stored_at=NOW + 0.25, kept_seconds=600, body=b"\x00packed")
FLIGHT = Flight(generation=1, holder="one", held_until=NOW + 10)
LATER = Flight(generation=1, holder="two", held_until=NOW + 20)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def on_aws(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> Iterator[tuple[DynamoDbResultStore, StateStore]]:
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        boto3.client("s3", region_name=REGION).create_bucket(Bucket=BUCKET)
        client = dynamodb_client()
        store = DynamoDbResultStore(client, STATE_TABLE, clock, objects=s3_client, bucket=BUCKET)
        yield store, DynamoDbStateStore(client, STATE_TABLE, clock)


@pytest.fixture(params=["memory", "dynamodb"])
def stores(request: pytest.FixtureRequest, clock: FakeClock) -> tuple[ResultStore, StateStore]:
    """Kept answers, and the state that shows them too."""
    if request.param == "memory":
        state = InMemoryStateStore(clock)
        return state.results, state
    on_aws: tuple[ResultStore, StateStore] = request.getfixturevalue("on_aws")
    return on_aws


@pytest.fixture
def store(stores: tuple[ResultStore, StateStore]) -> ResultStore:
    return stores[0]


def test_an_answer_reads_back_as_it_was_kept(stores: tuple[ResultStore, StateStore]) -> None:
    """Alone and beside the rest of the state, and for its own project only."""
    store, state = stores
    store.keep(PROJECT, IDENTITY, ANSWER)
    assert store.look(PROJECT, IDENTITY) == ANSWER
    assert store.body(PROJECT, ANSWER) == ANSWER.body
    assert state.snapshot(PROJECT, [], results=[IDENTITY, "b" * 64]).results == {IDENTITY: ANSWER}
    for other in OTHERS:
        assert store.look(other, IDENTITY) is None
        assert state.snapshot(other, [], results=[IDENTITY]).results == {}


def test_an_answer_is_gone_when_its_time_is_over(store: ResultStore, clock: FakeClock) -> None:
    """Not a second too early: whether it is still good to the moment is for the reader to say."""
    store.keep(PROJECT, IDENTITY, ANSWER)
    clock.advance(600.25)
    assert store.look(PROJECT, IDENTITY) == ANSWER
    clock.advance(1)
    assert store.look(PROJECT, IDENTITY) is None


def test_one_takes_off_and_the_others_learn_who(store: ResultStore) -> None:
    """Fifty at once: one flight."""
    flights = [replace(FLIGHT, holder=str(number)) for number in range(50)]
    standing = all_at_once(lambda number: store.claim(PROJECT, IDENTITY, flights[number]))
    (winner,) = [flight for flight, stood in zip(flights, standing, strict=True) if stood is None]
    assert {stood for stood in standing if stood is not None} == {winner}
    assert store.look(PROJECT, IDENTITY) == winner


def test_who_asks_twice_since_the_answer_was_lost_has_taken_off(store: ResultStore) -> None:
    """The SDK repeats a call whose answer did not arrive; nobody waits for himself."""
    assert store.claim(PROJECT, IDENTITY, FLIGHT) is None
    assert store.claim(PROJECT, IDENTITY, FLIGHT) is None


def test_a_lease_that_is_over_is_taken_by_one(store: ResultStore, clock: FakeClock) -> None:
    """Its holder died: at its end, and not before, one of those who wait takes over."""
    store.claim(PROJECT, IDENTITY, FLIGHT)
    clock.advance(9.9)
    assert store.claim(PROJECT, IDENTITY, LATER, over=FLIGHT) == FLIGHT
    clock.advance(0.1)
    flights = [replace(LATER, holder=str(number)) for number in range(50)]
    standing = all_at_once(lambda number: store.claim(PROJECT, IDENTITY, flights[number], over=FLIGHT))
    assert standing.count(None) == 1


def test_nobody_takes_off_after_the_answer_has_come(store: ResultStore) -> None:
    """Who looked before it came gets it out of the refusal."""
    store.keep(PROJECT, IDENTITY, ANSWER)
    assert store.claim(PROJECT, IDENTITY, FLIGHT) == ANSWER
    assert store.claim(PROJECT, IDENTITY, FLIGHT, over=replace(ANSWER, stored_at=NOW - 5)) == ANSWER


def test_an_answer_that_the_caller_cannot_use_makes_room(store: ResultStore, clock: FakeClock) -> None:
    """That very answer: it is of an older generation, or too old for the settings in force."""
    store.keep(PROJECT, IDENTITY, ANSWER)
    assert store.claim(PROJECT, IDENTITY, replace(FLIGHT, generation=2), over=ANSWER) is None
    store.keep(PROJECT, IDENTITY, replace(ANSWER, generation=2))
    clock.advance(601.25)
    assert store.claim(PROJECT, IDENTITY, replace(LATER, generation=2)) is None


@pytest.mark.parametrize("standing", [ANSWER, FLIGHT])
def test_what_belongs_to_a_later_generation_stays(store: ResultStore, standing: Standing) -> None:
    """An environment that has not heard of a stop neither claims nor overwrites what came after it."""
    newer = replace(standing, generation=2)
    if isinstance(newer, KeptAnswer):
        store.keep(PROJECT, IDENTITY, newer)
    else:
        store.claim(PROJECT, IDENTITY, newer)
    assert store.claim(PROJECT, IDENTITY, LATER, over=newer) == newer
    store.keep(PROJECT, IDENTITY, ANSWER)
    assert store.look(PROJECT, IDENTITY) == newer


def test_a_flight_of_an_earlier_generation_holds_nobody_up(store: ResultStore) -> None:
    """Its answer will be from before the stop."""
    store.claim(PROJECT, IDENTITY, FLIGHT)
    assert store.claim(PROJECT, IDENTITY, replace(LATER, generation=2)) is None


def test_a_flight_lands_with_its_answer_or_without(store: ResultStore) -> None:
    """Without one it says so, and the next may take off at once."""
    store.claim(PROJECT, IDENTITY, FLIGHT)
    store.land(PROJECT, IDENTITY, "one")
    landed = store.look(PROJECT, IDENTITY)
    assert isinstance(landed, Flight)
    assert landed.landed
    assert store.claim(PROJECT, IDENTITY, LATER) is None
    store.land(PROJECT, IDENTITY, "one")
    assert store.look(PROJECT, IDENTITY) == LATER
    store.keep(PROJECT, IDENTITY, ANSWER)
    store.land(PROJECT, IDENTITY, "two")
    assert store.look(PROJECT, IDENTITY) == ANSWER


def test_a_stop_of_the_project_takes_its_answers_along(stores: tuple[ResultStore, StateStore]) -> None:
    store, state = stores
    store.keep(PROJECT, IDENTITY, ANSWER)
    store.keep(OTHERS[0], IDENTITY, ANSWER)
    assert state.clear_project(PROJECT) == 1
    assert store.look(PROJECT, IDENTITY) is None
    assert store.look(OTHERS[0], IDENTITY) == ANSWER


@pytest.mark.parametrize("identity", ["", "A" * 64, "../" + "a" * 61, "a#b"])
def test_what_is_no_hash_is_no_identity(on_aws: tuple[ResultStore, StateStore], identity: str) -> None:
    store, state = on_aws
    calls: list[Callable[[], object]] = [
        lambda: store.look(PROJECT, identity),
        lambda: store.claim(PROJECT, identity, FLIGHT),
        lambda: store.keep(PROJECT, identity, ANSWER),
        lambda: state.snapshot(PROJECT, [], results=[identity]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="a hash has 64 characters"):
            call()


def test_a_large_answer_lies_in_s3_among_the_projects_content(
    on_aws: tuple[DynamoDbResultStore, StateStore], clock: FakeClock
) -> None:
    """Its item names it, the project's stop deletes it, and an answer whose object is gone is no answer."""
    store, _ = on_aws
    large = replace(ANSWER, body=bytes(LARGEST_IN_ITEM + 1))
    store.keep(PROJECT, IDENTITY, large)
    found = store.look(PROJECT, IDENTITY)
    assert isinstance(found, KeptAnswer)
    assert (found.body, found.stored_at) == (None, large.stored_at)
    assert store.body(PROJECT, found) == large.body
    content = S3ContentStore(
        s3_client(), BUCKET, items=dynamodb_client(), table_name=STATE_TABLE, clock=clock, kept_seconds=60
    )
    assert content.delete_project(PROJECT) == 1
    assert store.body(PROJECT, found) is None


def test_every_decision_is_one_call(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
    """The answer comes with the state; taking off, keeping and landing are one write each."""
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        client = dynamodb_client()
        calls = count_calls(client)
        store = DynamoDbResultStore(client, STATE_TABLE, clock, objects=s3_client, bucket=BUCKET)
        DynamoDbStateStore(client, STATE_TABLE, clock).snapshot(PROJECT, [], results=[IDENTITY])
        store.claim(PROJECT, IDENTITY, FLIGHT)
        store.keep(PROJECT, IDENTITY, ANSWER)
        store.claim(PROJECT, IDENTITY, LATER)
        store.land(PROJECT, IDENTITY, "one")
        store.look(PROJECT, IDENTITY)
        assert calls == ["BatchGetItem", *["PutItem"] * 3, "UpdateItem", "BatchGetItem"]
