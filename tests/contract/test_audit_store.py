"""What every `AuditStore` promises, put to the one in memory and to the one on DynamoDB alike."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.audit_store import InMemoryAuditStore
from tests.fakes.aws import AUDIT_TABLE, aws_in_process, create_table
from tests.fakes.clock import FakeClock
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.stores.audit import AuditStore, CallRecord
from zarniwoop.stores.clients import side_write_client
from zarniwoop.stores.dynamodb_audit import DynamoDbAuditStore
from zarniwoop.stores.state import ProjectKey

PROJECT = ProjectKey(tenant_id="acme", project_id="demo")
NOW = 1_800_000_000.0


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[AuditStore]:
    if request.param == "memory":
        yield InMemoryAuditStore()
        return
    with aws_in_process(monkeypatch):
        create_table(AUDIT_TABLE, "pk", "sk")
        yield DynamoDbAuditStore(side_write_client(), AUDIT_TABLE, FakeClock(NOW))


def record(**changes: Any) -> CallRecord:
    usual = CallRecord(
        tenant_id="acme",
        project_id="demo",
        instance_id="serper-main",
        protocol="serper",
        modality=SearchModality.WEB,
        tier=SearchTier.NORMAL,
        query_hash="0" * 64,
        hit_count=10,
        ok=True,
        error_message=None,
        started_at=NOW,
        duration_ms=120,
        expires_at=NOW + 30 * 86_400.5,
    )
    return usual._replace(**changes)


def test_written_calls_are_counted_from_a_moment_on(store: AuditStore) -> None:
    """The moment itself counts; what was before it does not."""
    assert store.write([record(started_at=NOW + second) for second in range(5)], time_limit=1) == 0
    assert store.count_since(PROJECT, "serper-main", NOW, at_most=100) == 5
    assert store.count_since(PROJECT, "serper-main", NOW + 3, at_most=100) == 2
    assert store.count_since(PROJECT, "serper-main", NOW + 4.001, at_most=100) == 0


def test_a_call_of_several_requests_counts_as_so_many_and_one_that_reached_nobody_not_at_all(store: AuditStore) -> None:
    """Providers count requests; up to the limit here too."""
    store.write([record(calls=3), record(started_at=NOW + 1), record(started_at=NOW + 2, calls=0)], time_limit=1)
    assert store.count_since(PROJECT, "serper-main", NOW, at_most=100) == 4
    assert store.count_since(PROJECT, "serper-main", NOW, at_most=2) == 2


def test_calls_of_the_same_millisecond_are_all_kept(store: AuditStore) -> None:
    """Four modalities asked at once are four calls."""
    assert store.write([record()] * 4, time_limit=1) == 0
    assert store.count_since(PROJECT, "serper-main", NOW, at_most=100) == 4


def test_a_count_belongs_to_one_instance_of_one_project(store: AuditStore) -> None:
    """An id that starts like another one, and another project's instance of the same id, are not counted."""
    store.write(
        [record(), record(instance_id="serper"), record(instance_id="serper-main2"), record(project_id="other")],
        time_limit=1,
    )
    assert store.count_since(PROJECT, "serper-main", 0, at_most=100) == 1


def test_a_large_batch_is_written_whole_and_counted_up_to_the_limit(store: AuditStore) -> None:
    """More than the 25 items of one BatchWriteItem go in, and counting stops where the caller has seen enough."""
    assert store.write([record(started_at=NOW + number) for number in range(60)], time_limit=1) == 0
    assert store.count_since(PROJECT, "serper-main", NOW, at_most=1000) == 60
    assert store.count_since(PROJECT, "serper-main", NOW, at_most=40) == 40
    assert store.count_since(PROJECT, "serper-main", NOW, at_most=0) == 0


def test_without_time_everything_is_lost_and_nothing_raised(store: AuditStore) -> None:
    """A search that has no time left reports the loss of its audit records."""
    assert store.write([record(), record()], time_limit=0) == 2
    assert store.write([], time_limit=1) == 0


def test_the_instances_with_records_are_found_whatever_the_settings_say_by_now(store: AuditStore) -> None:
    """In their order, each once, those of this project alone; ids that begin alike are kept apart."""
    names = ("serper", "serper-main", "serper2", "arxiv")
    store.write([record(instance_id=name) for name in names * 2], time_limit=1)
    store.write([record(instance_id="foreign", project_id="other")], time_limit=1)
    assert store.instances(PROJECT, at_most=10) == tuple(sorted(names))
    assert store.instances(PROJECT, at_most=2) == tuple(sorted(names)[:2])


def test_records_are_read_back_as_they_were_written_newest_first(store: AuditStore) -> None:
    """From the first moment on and before the last; older ones than were wanted are told of."""
    written = [record(started_at=NOW + second, calls=3, usd=0.015, request_id="r-1") for second in range(5)]
    written.append(record(started_at=NOW + 9, ok=False, error_message="rate_limited", diagnostics=True, credits=2.0))
    store.write(written, time_limit=1)
    page = store.between(PROJECT, "serper-main", NOW, NOW + 10, at_most=100)
    assert ([each.started_at for each in page.records], page.more) == (
        [NOW + 9, *(NOW + n for n in (4, 3, 2, 1, 0))],
        False,
    )
    expiry = int(written[0].expires_at)
    assert [each._replace(expires_at=expiry) for each in page.records] == [
        each._replace(expires_at=expiry) for each in reversed(written)
    ]
    part = store.between(PROJECT, "serper-main", NOW + 1, NOW + 4, at_most=2)
    assert ([each.started_at for each in part.records], part.more) == ([NOW + 3, NOW + 2], True)
    assert store.between(PROJECT, "serper", NOW, NOW + 10, at_most=5).records == ()


def test_a_record_that_cannot_be_read_takes_no_other_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another version, or edited by hand; and one of before calls were counted counts as one that cost nothing."""
    with aws_in_process(monkeypatch):
        create_table(AUDIT_TABLE, "pk", "sk")
        client = side_write_client()
        store = DynamoDbAuditStore(client, AUDIT_TABLE, FakeClock(NOW))
        store.write([record(started_at=NOW + second) for second in range(3)], time_limit=1)
        items = sorted(client.scan(TableName=AUDIT_TABLE)["Items"], key=lambda item: item["sk"]["S"])
        client.put_item(TableName=AUDIT_TABLE, Item={**items[0], "modality": {"S": "SMELL"}})
        client.put_item(
            TableName=AUDIT_TABLE, Item={name: value for name, value in items[1].items() if name != "calls"}
        )
        page = store.between(PROJECT, "serper-main", NOW, NOW + 10, at_most=100)
    assert [(each.started_at, each.calls) for each in page.records] == [(NOW + 2, 1), (NOW + 1, 1)]
