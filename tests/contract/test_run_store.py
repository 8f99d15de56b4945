"""What every `RunStore` promises, put to the one in memory and to the one on DynamoDB alike."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any, TypeVar

import pytest

from tests.fakes.aws import RUNS_TABLE, aws_in_process, count_calls, create_runs_table
from tests.fakes.clock import FakeClock
from tests.fakes.run_store import InMemoryRunStore
from zarniwoop.contract.chat import ModelUsage
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_runs import DynamoDbRunStore
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.page_tokens import InvalidPageToken
from zarniwoop.stores.run_items import DONE, run_item_key
from zarniwoop.stores.runs import (
    Claim,
    Ending,
    NodeProgress,
    Run,
    RunState,
    RunStore,
    Step,
    is_run_id,
    new_run_id,
)
from zarniwoop.stores.state import ProjectKey

PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
OTHERS = (ProjectKey(tenant_id="acme", project_id="lab"), ProjectKey(tenant_id="other", project_id="demo"))
NOW = 1_800_000_000.0
THREADS = 50
SUCCESS = Ending(state=RunState.SUCCEEDED, outcome="success")
Returned = TypeVar("Returned")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> Iterator[RunStore]:
    if request.param == "memory":
        yield InMemoryRunStore(clock)
        return
    with aws_in_process(monkeypatch):
        create_runs_table()
        yield DynamoDbRunStore(dynamodb_client(), RUNS_TABLE, clock, page_key=lambda: b"k" * 32)


def run_id(second: float = 0.0) -> str:
    """An id of its own for each second, always the same."""
    return new_run_id(NOW + second, lambda count: bytes(count))


def run(**changes: Any) -> Run:
    usual = Run(
        run_id=run_id(),
        project=PROJECT,
        tool="research_investigate",
        created_at=NOW + 0.25,
        updated_at=NOW + 0.25,
        deadline_at=NOW + 360.5,
        expires_at=NOW + 30 * 86_400,
        execution_arn="arn:aws:states:us-east-1:123456789012:execution:investigate:r-1",
        request_id="request-1",
        webhook=True,
    )
    return replace(usual, **changes)


def created(store: RunStore, **changes: Any) -> Run:
    return store.create(run(**changes))


def standing(store: RunStore, which: str | None = None) -> Run:
    found = store.get(PROJECT, which or run_id())
    assert found is not None
    return found


def all_at_once(act: Callable[[int], Returned]) -> list[Returned]:
    """The results of 50 threads that start together."""
    barrier = Barrier(THREADS)

    def wait_and_act(number: int) -> Returned:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(wait_and_act, range(THREADS)))


def test_run_ids_sort_by_time_and_do_not_repeat() -> None:
    """26 characters after `r-`; the first moment and the last that fit are ids as well."""
    ids = [new_run_id(NOW + number / 1000) for number in range(200)]
    assert ids == sorted(ids)
    assert len({new_run_id(NOW) for _ in range(1000)}) == 1000
    assert all(map(is_run_id, [*ids, new_run_id(0.0), new_run_id((2**48 - 1) / 1000)]))
    assert new_run_id(1.469918176385, lambda _: bytes(range(10))) == "r-00000001dx000g40r40m30e209"


@pytest.mark.parametrize("text", ["", "r-", run_id().upper(), run_id()[:-1], run_id() + "0", "r-" + "u" * 26, "#"])
def test_nothing_else_is_a_run_id(text: str) -> None:
    """No letter that is taken for another one, no other length, no mark of ours."""
    assert not is_run_id(text)


def test_a_created_run_is_read_back_to_the_last_digit(store: RunStore) -> None:
    """Queued, open, with nothing done."""
    assert created(store) == run()
    assert standing(store) == run()
    assert standing(store).state is RunState.QUEUED
    assert not standing(store).state.is_terminal


def test_creating_a_run_again_leaves_what_stands(store: RunStore) -> None:
    """A call that is repeated does not set a run back."""
    created(store)
    store.update_progress(PROJECT, run_id(), Step(node="plan", item="0"))
    again = created(store, request_id="request-2", created_at=NOW + 9)
    assert (again.request_id, again.state, again.created_at) == ("request-1", RunState.RUNNING, NOW + 0.25)
    assert standing(store) == again


def test_a_run_is_unknown_to_every_other_project(store: RunStore) -> None:
    """Not readable, stoppable, endable or countable from anywhere else, nor with any other id."""
    created(store)
    for project, which in [(other, run_id()) for other in OTHERS] + [(PROJECT, run_id(1))]:
        assert store.get(project, which) is None
        assert store.request_stop(project, which) is None
        assert not store.finish(project, which, SUCCESS)
        assert not store.update_progress(project, which, Step(node="plan", total=1))
        store.record_webhook(project, which, "delivered")
        assert store.get(project, which) is None
        assert store.list(project, limit=5).runs == ((run(),) if project == PROJECT else ())
    assert standing(store) == run()


def test_a_run_past_its_time_is_forgotten(store: RunStore, clock: FakeClock) -> None:
    """Deleted or not."""
    created(store, expires_at=NOW + 100)
    clock.advance(100)
    assert store.get(PROJECT, run_id()) is None
    assert store.list(PROJECT, limit=10).runs == ()
    assert store.request_stop(PROJECT, run_id()) is None


def test_a_step_marks_the_run_as_started_and_is_counted(store: RunStore, clock: FakeClock) -> None:
    """Progress by node, sums by name, tokens, and a cost that holds models and providers."""
    created(store)
    clock.advance(1.5)
    assert store.update_progress(PROJECT, run_id(), Step(node="search", total=3))
    clock.advance(1.5)
    used = ModelUsage(input_tokens=100, output_tokens=20, reasoning_tokens=5, cost=0.25, calls=1)
    step = Step(node="search", item="0", counts={"hits": 7, "failed": 0}, usage=used, cost=0.5)
    assert store.update_progress(PROJECT, run_id(), step)
    assert store.update_progress(PROJECT, run_id(), replace(step, item="1", counts={"hits": 2}))
    found = standing(store)
    assert (found.state, found.started_at, found.updated_at) == (RunState.RUNNING, NOW + 1.5, NOW + 3)
    assert found.progress == {"search": NodeProgress(done=2, total=3)}
    assert dict(found.counts) == {"hits": 9, "failed": 0}
    assert found.usage == used.plus(used)
    assert found.cost == 1.5


def test_a_step_that_is_told_twice_counts_once(store: RunStore) -> None:
    """A Lambda that is retried after its success brings neither hits nor cost again."""
    created(store)
    step = Step(node="search", item="0", total=2, counts={"hits": 7}, cost=0.5)
    assert store.update_progress(PROJECT, run_id(), step)
    assert not store.update_progress(PROJECT, run_id(), step)
    assert store.update_progress(PROJECT, run_id(), replace(step, node="evaluate"))
    found = standing(store)
    assert found.progress == {
        "evaluate": NodeProgress(done=1, total=2),
        "search": NodeProgress(done=1, total=2),
    }
    assert (dict(found.counts), found.cost) == ({"hits": 14}, 1.0)


def test_done_never_exceeds_total(store: RunStore) -> None:
    """Neither before a total is known nor when it turns out too small; a second wave raises it."""
    created(store)
    seen = []
    for step in (
        Step(node="search", item="0"),
        Step(node="search", item="1", total=1),
        Step(node="search", total=6),
        Step(node="search", item="2"),
    ):
        store.update_progress(PROJECT, run_id(), step)
        seen.append(standing(store).progress["search"])
    assert [(each.done, each.total) for each in seen] == [(1, 1), (2, 2), (2, 6), (3, 6)]


def test_fifty_steps_at_once_are_all_counted_and_each_once(store: RunStore) -> None:
    """Twenty-five items, each told of twice at the same time."""
    created(store)
    step = Step(node="search", counts={"hits": 2}, cost=0.125, item="-")
    told = all_at_once(lambda number: store.update_progress(PROJECT, run_id(), replace(step, item=str(number // 2))))
    found = standing(store)
    assert told.count(True) == THREADS // 2
    assert (found.progress["search"].done, found.counts["hits"], found.cost) == (25, 50, 25 * 0.125)


@pytest.mark.parametrize(
    "wrong",
    [
        {"node": "Search"},
        {"node": "open#"},
        {"counts": {"hits!": 1}, "item": "0"},
        {"item": ""},
        {"item": "a b"},
        {"item": "x" * 81},
        {"cost": 1.0},
        {"counts": {"hits": 1}},
        {"usage": ModelUsage(calls=1)},
    ],
)
def test_a_step_that_could_not_be_counted_once_cannot_be_made(wrong: dict[str, Any]) -> None:
    """Names that are no words, and sums without an item to count them by."""
    with pytest.raises(ValueError, match=r"named by|needs an item"):
        Step(**{"node": "search", **wrong})


def test_a_stop_is_asked_for_once_and_for_all(store: RunStore, clock: FakeClock) -> None:
    """The second time changes nothing, and no step sets it back; work under way is still counted."""
    created(store)
    store.update_progress(PROJECT, run_id(), Step(node="plan", item="0"))
    clock.advance(1)
    stopping = store.request_stop(PROJECT, run_id())
    assert stopping is not None
    assert (stopping.state, stopping.stop_requested) == (RunState.STOPPING, True)
    assert store.request_stop(PROJECT, run_id()) == stopping
    assert store.update_progress(PROJECT, run_id(), Step(node="search", item="0"))
    assert standing(store).state is RunState.STOPPING


def test_a_run_that_has_not_started_can_be_stopped(store: RunStore) -> None:
    """Its first step will see it."""
    created(store)
    stopping = store.request_stop(PROJECT, run_id())
    assert stopping is not None
    assert (stopping.state, stopping.started_at) == (RunState.STOPPING, None)


@pytest.mark.parametrize(
    "ending",
    [
        SUCCESS,
        Ending(state=RunState.STOPPED, outcome="partial"),
        Ending(state=RunState.FAILED, error="execution_gone"),
        Ending(state=RunState.TIMED_OUT),
    ],
)
def test_an_ended_run_stays_as_it_ended(store: RunStore, clock: FakeClock, ending: Ending) -> None:
    """Later endings, stops and steps are ignored, and the caller of a stop sees how it ended."""
    created(store)
    clock.advance(9)
    assert store.finish(PROJECT, run_id(), ending)
    ended = standing(store)
    assert (ended.state, ended.outcome, ended.error, ended.ended_at) == (
        ending.state,
        ending.outcome,
        ending.error,
        NOW + 9,
    )
    clock.advance(1)
    assert not store.finish(PROJECT, run_id(), Ending(state=RunState.FAILED, error="late"))
    assert not store.update_progress(PROJECT, run_id(), Step(node="search", item="9", cost=1.0))
    assert not store.update_progress(PROJECT, run_id(), Step(node="search", total=9))
    assert store.request_stop(PROJECT, run_id()) == ended
    assert standing(store) == ended
    assert ended.state.is_terminal


def test_a_run_does_not_end_in_a_state_that_is_none() -> None:
    """`stopping` is no end."""
    with pytest.raises(ValueError, match="terminal"):
        Ending(state=RunState.STOPPING)


def test_of_fifty_endings_at_once_one_counts(store: RunStore) -> None:
    """And it is the one whose writer was told so."""
    created(store)
    endings = [Ending(state=RunState.FAILED, error=f"writer_{number}") for number in range(THREADS)]
    told = all_at_once(lambda number: store.finish(PROJECT, run_id(), endings[number]))
    assert told.count(True) == 1
    assert standing(store).error == f"writer_{told.index(True)}"


def test_a_stop_and_an_ending_at_once_leave_one_ended_run(store: RunStore) -> None:
    """Whoever comes first: the run has ended, and every stop saw it open and stopping, or ended."""
    created(store)

    def act(number: int) -> RunState:
        if number == THREADS // 2:
            assert store.finish(PROJECT, run_id(), SUCCESS)
            return RunState.SUCCEEDED
        seen = store.request_stop(PROJECT, run_id())
        assert seen is not None
        return seen.state

    assert set(all_at_once(act)) <= {RunState.STOPPING, RunState.SUCCEEDED}
    assert standing(store).state is RunState.SUCCEEDED
    assert store.overdue(NOW + 1_000_000) == ()


def test_what_became_of_the_webhook_is_written_down_after_the_end(store: RunStore) -> None:
    """The run's state is not touched by it."""
    created(store)
    store.finish(PROJECT, run_id(), SUCCESS, tell_at=NOW)
    store.record_webhook(PROJECT, run_id(), "timeout", tell_at=NOW + 60)
    assert standing(store).webhook_outcome == "timeout"
    store.record_webhook(PROJECT, run_id(), "delivered")
    assert (standing(store).webhook_outcome, standing(store).state) == ("delivered", RunState.SUCCEEDED)


@pytest.mark.parametrize("late", [None, NOW + 60])
def test_what_was_said_last_of_a_webhook_stands(store: RunStore, late: float | None) -> None:
    """An attempt that comes home after another one was delivered makes nothing undelivered again."""
    created(store)
    store.record_webhook(PROJECT, run_id(), "delivered")
    assert standing(store).webhook_outcome is None
    store.finish(PROJECT, run_id(), SUCCESS, tell_at=NOW)
    store.record_webhook(PROJECT, run_id(), "delivered")
    store.record_webhook(PROJECT, run_id(), "undelivered:timeout", tell_at=late)
    assert (standing(store).webhook_outcome, standing(store).tell_at) == ("delivered", None)
    assert store.untold(NOW + 1_000) == ()


def test_an_end_that_is_to_be_told_is_listed_from_then_on_until_it_has_been(store: RunStore) -> None:
    """By the same write that ends the run; runs of all tenants, those that have waited longest first."""
    created(store, run_id=run_id(1), webhook=True)
    created(store, run_id=run_id(2), webhook=True, project=OTHERS[1])
    created(store, run_id=run_id(3))
    assert store.finish(PROJECT, run_id(1), SUCCESS, tell_at=NOW + 20)
    assert not store.finish(PROJECT, run_id(1), SUCCESS, tell_at=NOW + 1)
    assert store.finish(OTHERS[1], run_id(2), SUCCESS, tell_at=NOW + 10)
    assert store.finish(PROJECT, run_id(3), SUCCESS)
    assert store.untold(NOW + 9.9) == ()
    assert [each.run_id for each in store.untold(NOW + 20)] == [run_id(2), run_id(1)]
    assert [each.run_id for each in store.untold(NOW + 20, at_most=1)] == [run_id(2)]
    assert store.untold(NOW + 20)[0].project == OTHERS[1]
    store.record_webhook(PROJECT, run_id(1), "undelivered:timeout", tell_at=NOW + 80)
    assert [each.run_id for each in store.untold(NOW + 79)] == [run_id(2)]
    later = store.get(PROJECT, run_id(1))
    assert later is not None
    assert (later.webhook_outcome, later.tell_at) == ("undelivered:timeout", NOW + 80)
    store.record_webhook(PROJECT, run_id(1), "delivered")
    store.record_webhook(OTHERS[1], run_id(2), "undelivered:status_410")
    assert store.untold(NOW + 1_000) == ()
    assert [each.tell_at for each in store.list(PROJECT, limit=9).runs] == [None, None]


def test_a_projects_open_runs_since_a_moment_are_all_listed(store: RunStore) -> None:
    """Neither ended ones, nor older ones, nor another project's."""
    for second in (0, 100, 101, 102, 103):
        created(store, run_id=run_id(second))
    created(store, run_id=run_id(104), project=OTHERS[0])
    store.finish(PROJECT, run_id(102), SUCCESS)
    store.request_stop(PROJECT, run_id(103))
    open_runs = store.open_since(PROJECT, NOW + 100)
    assert [each.run_id for each in open_runs] == [run_id(100), run_id(101), run_id(103)]
    assert store.open_since(OTHERS[1], NOW) == ()


def test_the_runs_of_a_span_are_told_newest_first(store: RunStore) -> None:
    """From its first moment on and before its last, ended ones too, and no more than are wanted."""
    for second in (0, 100, 101, 102, 200):
        created(store, run_id=run_id(second))
    created(store, run_id=run_id(103), project=OTHERS[0])
    store.finish(PROJECT, run_id(101), SUCCESS)
    within = store.created_between(PROJECT, NOW + 100, NOW + 200, at_most=10)
    assert [each.run_id for each in within] == [run_id(102), run_id(101), run_id(100)]
    assert [each.run_id for each in store.created_between(PROJECT, NOW, NOW + 200, at_most=2)] == [
        run_id(102),
        run_id(101),
    ]


def test_open_runs_are_listed_over_as_many_pages_as_there_are(
    monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    """DynamoDB hands out a megabyte at a time, and what its filter leaves out of it may be all of it."""
    with aws_in_process(monkeypatch):
        create_runs_table()
        client = dynamodb_client()
        store = DynamoDbRunStore(client, RUNS_TABLE, clock, page_key=lambda: b"k" * 32)
        for second in range(7):
            created(store, run_id=run_id(second))
        for second in (0, 1, 2, 5):
            store.finish(PROJECT, run_id(second), SUCCESS)
        ask = client.query
        monkeypatch.setattr(client, "query", lambda **asked: ask(**asked, Limit=2))
        calls = count_calls(client)
        assert [each.run_id for each in store.open_since(PROJECT, NOW)] == [run_id(3), run_id(4), run_id(6)]
        assert calls.count("Query") == 4


def test_runs_are_listed_newest_first_page_by_page(store: RunStore) -> None:
    """Every run once, on pages as large as asked for, and a last page without a token."""
    for second in (3, 1, 4, 2, 0):
        created(store, run_id=run_id(second))
    created(store, run_id=run_id(9), project=OTHERS[0])
    pages = [store.list(PROJECT, limit=2)]
    while pages[-1].next_page_token is not None:
        pages.append(store.list(PROJECT, limit=2, page_token=pages[-1].next_page_token))
    assert [len(page.runs) for page in pages] == [2, 2, 1]
    assert [each.run_id for page in pages for each in page.runs] == [run_id(second) for second in (4, 3, 2, 1, 0)]
    assert store.list(PROJECT, limit=5).next_page_token is None
    assert store.list(OTHERS[1], limit=5).runs == ()


def test_a_page_of_forgotten_runs_still_leads_on(store: RunStore, clock: FakeClock) -> None:
    """TTL deletes late; what has lapsed is left out, and the list does not end there."""
    for second in range(4):
        created(store, run_id=run_id(second), expires_at=NOW + (50 if second > 1 else 500))
    clock.advance(100)
    first = store.list(PROJECT, limit=2)
    assert first.runs == ()
    assert first.next_page_token is not None
    second_page = store.list(PROJECT, limit=2, page_token=first.next_page_token)
    assert [each.run_id for each in second_page.runs] == [run_id(1), run_id(0)]


def test_a_page_token_is_good_for_its_own_project_only(store: RunStore) -> None:
    """Another project's, a forged, a cut and a garbled one are refused."""
    for second in range(3):
        created(store, run_id=run_id(second))
    token = store.list(PROJECT, limit=1).next_page_token
    assert token is not None
    wrong = ["", "x", "ä" * 30, "%%%", token[:-2], token[::-1], "A" * len(token), "A" * 600, token + "="]
    for project, each in [(OTHERS[0], token), (OTHERS[1], token), *((PROJECT, each) for each in wrong)]:
        with pytest.raises(InvalidPageToken):
            store.list(project, limit=1, page_token=each)


def test_open_runs_past_their_deadline_are_overdue(store: RunStore) -> None:
    """Of all tenants, the longest overdue first, ended ones not."""
    created(store, run_id=run_id(1), deadline_at=NOW + 30)
    created(store, run_id=run_id(2), deadline_at=NOW + 10, project=OTHERS[1])
    created(store, run_id=run_id(3), deadline_at=NOW + 20)
    created(store, run_id=run_id(4), deadline_at=NOW + 31)
    store.request_stop(PROJECT, run_id(1))
    store.finish(PROJECT, run_id(3), SUCCESS)
    assert [each.run_id for each in store.overdue(NOW + 30)] == [run_id(2), run_id(1)]
    assert [each.run_id for each in store.overdue(NOW + 30, at_most=1)] == [run_id(2)]
    assert store.overdue(NOW + 9.9) == ()
    assert store.overdue(NOW + 10)[0].project == OTHERS[1]


def test_a_key_is_claimed_by_the_first(store: RunStore, clock: FakeClock) -> None:
    """Until its time is over; another project may use the same key."""
    first, second = Claim(run_id=run_id(1), fingerprint="a"), Claim(run_id=run_id(2), fingerprint="b")
    assert store.claim(PROJECT, "key", first, expires_at=NOW + 100) == first
    assert store.claim(PROJECT, "key", second, expires_at=NOW + 100) == first
    assert store.claim(OTHERS[0], "key", second, expires_at=NOW + 100) == second
    assert store.claim(PROJECT, "another key", second, expires_at=NOW + 100) == second
    clock.advance(100)
    assert store.claim(PROJECT, "key", second, expires_at=NOW + 200) == second
    assert store.list(PROJECT, limit=10).runs == ()


def test_of_fifty_claims_at_once_all_hear_of_the_same_one(store: RunStore) -> None:
    """Fifty requests under one key are one run."""
    claims = [Claim(run_id=run_id(number), fingerprint="same") for number in range(THREADS)]
    heard = all_at_once(lambda number: store.claim(PROJECT, "key", claims[number], expires_at=NOW + 100))
    assert len({claim.run_id for claim in heard}) == 1


def test_an_item_that_cannot_be_read_counts_as_none(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
    """Edited by hand, or written by another version: it does not take the list along."""
    with aws_in_process(monkeypatch):
        create_runs_table()
        client = dynamodb_client()
        store = DynamoDbRunStore(client, RUNS_TABLE, clock, page_key=lambda: b"k" * 32)
        created(store, run_id=run_id(1))
        client.put_item(TableName=RUNS_TABLE, Item={"pk": {"S": "T#acme#P#demo"}, "sk": {"S": f"RUN#{run_id()}"}})
        assert store.get(PROJECT, run_id()) is None
        assert [each.run_id for each in store.list(PROJECT, limit=9).runs] == [run_id(1)]


def test_the_item_of_the_largest_run_is_far_from_the_limit(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
    """400 KB: two waves of twenty searches and 500 hits, each judged on its own, and a failed call for each."""
    with aws_in_process(monkeypatch):
        create_runs_table()
        client = dynamodb_client()
        store = DynamoDbRunStore(client, RUNS_TABLE, clock, page_key=lambda: b"k" * 32)
        made = created(store)
        for node in ("plan", "search", "merge", "deepen", "evaluate", "judge", "refine", "rerank", "rank"):
            counts = {"searches": 40, "failed_searches": 40, "hits": 1_000, "works": 1_000, "survivors": 1_000}
            store.update_progress(PROJECT, made.run_id, Step(node=node, item="1", total=1_000, counts=counts))
        items = {
            "search": [str(index) for index in range(40)],
            "evaluate": [f"{wave}-{index}" for wave in (1, 2) for index in range(500)],
            "failed_model_calls": [f"1-{index}-{NOW * 1000:.0f}" for index in range(1_000)],
        }
        for node, done in items.items():
            client.update_item(
                TableName=RUNS_TABLE,
                Key=run_item_key(PROJECT, made.run_id),
                UpdateExpression="ADD #done :done",
                ExpressionAttributeNames={"#done": DONE + node},
                ExpressionAttributeValues={":done": {"SS": done}},
            )
        assert standing(store).progress["evaluate"].done == 1_001
        (item,) = client.scan(TableName=RUNS_TABLE)["Items"]
        assert len(str(item).encode()) < 60_000


def test_a_run_is_read_as_it_is_and_not_as_it_was(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
    """A step that does not see the stop would begin new work; a list may be asked for right after a start."""
    with aws_in_process(monkeypatch):
        create_runs_table()
        client = dynamodb_client()
        read: list[bool] = []
        for operation in ("GetItem", "Query"):
            client.meta.events.register(
                f"provide-client-params.dynamodb.{operation}",
                lambda params, **_rest: read.append(params.get("ConsistentRead", False)),
            )
        store = DynamoDbRunStore(client, RUNS_TABLE, clock, page_key=lambda: b"k" * 32)
        store.get(PROJECT, run_id())
        store.list(PROJECT, limit=1)
        assert read == [True, True]


def test_a_table_that_refuses_is_unavailable(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
    """Every method says so in our own words."""
    with aws_in_process(monkeypatch):
        store = DynamoDbRunStore(dynamodb_client(), "no-such-table", clock, page_key=lambda: b"k" * 32)
        for act in (
            lambda: store.get(PROJECT, run_id()),
            lambda: store.create(run()),
            lambda: store.list(PROJECT, limit=1),
            lambda: store.finish(PROJECT, run_id(), SUCCESS),
            lambda: store.overdue(NOW),
            lambda: store.untold(NOW),
            lambda: store.open_since(PROJECT, NOW),
            lambda: store.created_between(PROJECT, NOW, NOW + 1, at_most=1),
        ):
            with pytest.raises(StoreUnavailable, match="DynamoDB refused a call: ResourceNotFoundException"):
                act()


@pytest.mark.parametrize("which", ["", "r-1", "RUN#" + run_id(), run_id() + "#x"])
def test_no_id_forges_a_key(store: RunStore, which: str) -> None:
    """An id that is none is refused before anything is asked."""
    with pytest.raises(ValueError, match="run's id"):
        store.get(PROJECT, which)
    with pytest.raises(ValueError, match="run's id"):
        store.finish(PROJECT, which, SUCCESS)
