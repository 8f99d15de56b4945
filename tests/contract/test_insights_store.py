"""What every `InsightsStore` promises, put to the one in memory and to the one on S3 alike."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tests.contract.test_run_store import OTHERS, PROJECT
from tests.fakes.aws import REGION, aws_in_process, count_calls
from tests.fakes.insights_store import InMemoryInsightsStore
from zarniwoop.stores.clients import s3_client
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.insights import InsightsStore, S3InsightsStore
from zarniwoop.stores.state import ProjectKey

BUCKET = "content"
KEY = "acme/demo/insights/graph.json"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with aws_in_process(monkeypatch):
        boto3.client("s3", region_name=REGION).create_bucket(Bucket=BUCKET)
        yield BUCKET


@pytest.fixture(params=["memory", "s3"])
def store(request: pytest.FixtureRequest) -> InsightsStore:
    if request.param == "memory":
        return InMemoryInsightsStore()
    return S3InsightsStore(s3_client(), request.getfixturevalue("bucket"))


@contextmanager
def refused(client: Any, code: str, status: int, *operations: str) -> Iterator[None]:
    """The client's next calls, in this order, meet an error."""
    with Stubber(client) as stubber:
        for operation in operations:
            stubber.add_client_error(operation, code, http_status_code=status)
        yield


def test_what_was_written_is_read_with_its_version(store: InsightsStore) -> None:
    """And there is nothing before."""
    assert store.read(PROJECT) is None
    assert store.write(PROJECT, b"{}", over=None)
    first = store.read(PROJECT)
    assert first is not None
    assert first.body == b"{}"
    assert store.write(PROJECT, b'{"a": 1}', over=first.version)
    second = store.read(PROJECT)
    assert second is not None
    assert (second.body, second.version == first.version) == (b'{"a": 1}', False)


def test_a_write_over_another_version_changes_nothing(store: InsightsStore) -> None:
    """Neither over none where there is one, nor over an old one, nor over one that is gone."""
    assert not store.write(PROJECT, b"lost", over="0" * 32)
    assert store.read(PROJECT) is None
    assert store.write(PROJECT, b"1", over=None)
    first = store.read(PROJECT)
    assert first is not None
    assert not store.write(PROJECT, b"lost", over=None)
    assert store.write(PROJECT, b"2", over=first.version)
    assert not store.write(PROJECT, b"lost", over=first.version)
    standing = store.read(PROJECT)
    assert standing is not None
    assert standing.body == b"2"


def test_of_writers_at_the_same_time_one_wins_each_round(store: InsightsStore) -> None:
    """Eight that read, add and write until it is taken: nobody's addition is lost."""

    def add(mark: bytes) -> None:
        while True:
            standing = store.read(PROJECT)
            body = (standing.body if standing else b"") + mark
            if store.write(PROJECT, body, over=standing.version if standing else None):
                return

    threads = [threading.Thread(target=add, args=(bytes([ord("a") + number]),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    standing = store.read(PROJECT)
    assert standing is not None
    assert sorted(standing.body) == list(b"abcdefgh")


@pytest.mark.parametrize("other", OTHERS)
def test_a_graph_is_its_projects_alone(store: InsightsStore, other: ProjectKey) -> None:
    """Another project, also of the same name with another tenant, has one of its own."""
    store.write(PROJECT, b"1", over=None)
    assert store.read(other) is None
    assert store.write(other, b"2", over=None)
    standing = store.read(PROJECT)
    assert standing is not None
    assert standing.body == b"1"


@pytest.mark.parametrize("bad", ["", "..", "a/b", "A", "x#y"])
def test_an_id_that_could_lead_elsewhere_is_refused(store: InsightsStore, bad: str) -> None:
    """Before anything is asked."""
    for project in (ProjectKey(tenant_id=bad, project_id="demo"), ProjectKey(tenant_id="acme", project_id=bad)):
        with pytest.raises(ValueError, match="id"):
            store.read(project)
        with pytest.raises(ValueError, match="id"):
            store.write(project, b"", over=None)
        with pytest.raises(ValueError, match="id"):
            store.delete(project)


def test_it_lies_under_tenant_and_project_and_takes_one_call_each(bucket: str) -> None:
    """As JSON; its version is its ETag."""
    client = s3_client()
    store, calls = S3InsightsStore(client, bucket), count_calls(client)
    store.write(PROJECT, b"{}", over=None)
    read = store.read(PROJECT)
    assert calls == ["PutObject", "GetObject"]
    found = client.get_object(Bucket=bucket, Key=KEY)
    assert (found["ContentType"], found["ETag"]) == ("application/json", f'"{read.version}"' if read else None)


@pytest.mark.parametrize(("code", "status"), [("ConditionalRequestConflict", 409), ("PreconditionFailed", 412)])
def test_a_conflict_is_another_version_whatever_s3_calls_it(bucket: str, code: str, status: int) -> None:
    """Writes at the very same moment get a 409."""
    client = s3_client()
    with refused(client, code, status, "put_object"):
        assert S3InsightsStore(client, bucket).write(PROJECT, b"{}", over=None) is False


@pytest.mark.parametrize(("code", "status"), [("AccessDenied", 403), ("SlowDown", 503)])
def test_a_bucket_that_does_not_answer_is_unavailable(bucket: str, code: str, status: int) -> None:
    """Denied or throttled."""
    client = s3_client()
    store = S3InsightsStore(client, bucket)
    with refused(client, code, status, "get_object", "put_object"):
        with pytest.raises(StoreUnavailable):
            store.read(PROJECT)
        with pytest.raises(StoreUnavailable):
            store.write(PROJECT, b"{}", over=None)


def test_a_graph_that_is_deleted_is_gone(store: InsightsStore) -> None:
    """Twice is no error; another project keeps its own, and whoever read the old one does not bring it back."""
    for project in (PROJECT, OTHERS[0]):
        store.write(project, b"{}", over=None)
    before = store.read(PROJECT)
    assert before is not None
    store.delete(PROJECT)
    store.delete(PROJECT)
    assert store.read(PROJECT) is None
    assert store.write(PROJECT, b"1", over=before.version) is False
    assert store.read(OTHERS[0]) is not None
