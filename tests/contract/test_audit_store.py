"""What every `AuditStore` promises, put to the one in memory and to the one on DynamoDB alike."""

from collections.abc import Iterator
from dataclasses import replace
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
    return replace(usual, **changes)


def test_written_calls_are_counted_from_a_moment_on(store: AuditStore) -> None:
    """The moment itself counts; what was before it does not."""
    assert store.write([record(started_at=NOW + second) for second in range(5)], time_limit=1) == 0
    assert store.count_since(PROJECT, "serper-main", NOW, at_most=100) == 5
    assert store.count_since(PROJECT, "serper-main", NOW + 3, at_most=100) == 2
    assert store.count_since(PROJECT, "serper-main", NOW + 4.001, at_most=100) == 0


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
