"""What every `DocumentStore` promises, put to the one in memory and to the one on S3 alike."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import orjson
import pytest

from tests.contract.test_run_store import OTHERS, PROJECT
from tests.fakes.aws import REGION, aws_in_process, refuse
from tests.fakes.clock import FakeClock
from tests.fakes.document_store import InMemoryDocumentStore
from zarniwoop.contract.deadline import Deadline
from zarniwoop.stores.clients import s3_client, sqs_client
from zarniwoop.stores.documents import (
    DocumentChanged,
    DocumentStore,
    Manifest,
    ManifestMoved,
    S3DocumentStore,
    project_of_key,
)
from zarniwoop.stores.failure import OutOfTime, StoreUnavailable
from zarniwoop.stores.queue import SqsProjectQueue
from zarniwoop.stores.s3_calls import ObjectMissing
from zarniwoop.stores.state import ProjectKey

BUCKET = "documents"
FIRST = Manifest(revision=1, version="v1", size=5, documents=1, passages=2, refused=0, built_at=1.0)
Put = Callable[[str, bytes], None]


@pytest.fixture
def on_s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3DocumentStore]:
    with aws_in_process(monkeypatch):
        boto3.client("s3", region_name=REGION).create_bucket(Bucket=BUCKET)
        yield S3DocumentStore(s3_client(), BUCKET)


@pytest.fixture(params=["memory", "s3"])
def store(request: pytest.FixtureRequest) -> DocumentStore:
    if request.param == "memory":
        return InMemoryDocumentStore(FakeClock())
    on_s3: S3DocumentStore = request.getfixturevalue("on_s3")
    return on_s3


@pytest.fixture
def put(store: DocumentStore) -> Put:
    """What an owner does, in project and in another one."""

    def into(name: str, body: bytes) -> None:
        if isinstance(store, InMemoryDocumentStore):
            store.put(PROJECT, name, body)
            return
        key = f"{PROJECT.tenant_id}/{PROJECT.project_id}/documents/{name}"
        boto3.client("s3", region_name=REGION).put_object(Bucket=BUCKET, Key=key, Body=body)

    return into


def test_documents_are_listed_by_name_with_what_tells_that_they_changed(store: DocumentStore, put: Put) -> None:
    """Folders' placeholders are none; other projects have theirs."""
    for name, body in (("b.txt", b"one"), ("a/deep ö.md", b"two!"), ("empty/", b"")):
        put(name, body)
    listed = store.documents(PROJECT)
    assert [(each.name, each.size) for each in listed] == [("a/deep ö.md", 4), ("b.txt", 3)]
    assert [each.name for each in store.documents(PROJECT, after="a/deep ö.md")] == ["b.txt"]
    assert [each.name for each in store.documents(PROJECT, most=1)] == ["a/deep ö.md"]
    assert store.documents(OTHERS[0]) == ()
    put("b.txt", b"other")
    assert store.documents(PROJECT)[1].state != listed[1].state
    assert listed[1].modified_at.endswith("Z")


def test_a_document_is_fetched_as_it_was_listed_or_not_at_all(store: DocumentStore, put: Put, tmp_path: Path) -> None:
    """One that was put again or deleted meanwhile is another."""
    put("b.txt", b"one")
    (listed,) = store.documents(PROJECT)
    store.fetch(PROJECT, listed, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"one"
    put("b.txt", b"two")
    with pytest.raises(DocumentChanged):
        store.fetch(PROJECT, listed, tmp_path / "file")
    with pytest.raises(DocumentChanged):
        store.fetch(PROJECT, replace(listed, name="gone.txt"), tmp_path / "file")


def test_of_two_that_switch_from_the_same_manifest_one_wins(store: DocumentStore) -> None:
    """Also when there was none before."""
    assert store.manifest(PROJECT) is None
    store.switch(PROJECT, FIRST, None)
    with pytest.raises(ManifestMoved):
        store.switch(PROJECT, FIRST, None)
    standing = store.manifest(PROJECT)
    assert standing is not None
    assert standing.manifest == FIRST
    store.switch(PROJECT, replace(FIRST, revision=2), standing)
    with pytest.raises(ManifestMoved):
        store.switch(PROJECT, replace(FIRST, revision=2), standing)
    assert store.manifest(OTHERS[0]) is None


def test_a_switch_over_a_deleted_index_fails(store: DocumentStore) -> None:
    """A project stop is not undone by who began before it."""
    store.switch(PROJECT, FIRST, None)
    standing = store.manifest(PROJECT)
    store.delete_index(PROJECT)
    with pytest.raises(ManifestMoved):
        store.switch(PROJECT, replace(FIRST, revision=2), standing)


def test_indexes_are_kept_by_version_and_deleted_with_the_manifest(
    store: DocumentStore, put: Put, tmp_path: Path
) -> None:
    """Documents are their owner's and stay."""
    put("b.txt", b"one")
    (tmp_path / "made").write_bytes(b"index")
    for version in ("v1", "v2", "v3"):
        store.put_index(PROJECT, version, tmp_path / "made")
    store.switch(PROJECT, FIRST, None)
    store.fetch_index(PROJECT, "v1", tmp_path / "fetched")
    assert (tmp_path / "fetched").read_bytes() == b"index"
    assert [each.version for each in store.versions(PROJECT)] == ["v1", "v2", "v3"]
    store.delete_versions(PROJECT, ["v2"])
    with pytest.raises(ObjectMissing):
        store.fetch_index(PROJECT, "v2", tmp_path / "fetched")
    assert store.delete_index(PROJECT) == 3
    assert (store.manifest(PROJECT), store.versions(PROJECT), store.delete_index(PROJECT)) == (None, (), 0)
    assert len(store.documents(PROJECT)) == 1


def test_no_id_leads_elsewhere(store: DocumentStore) -> None:
    """Nor does the name of a version."""
    with pytest.raises(ValueError, match="an id has"):
        store.documents(ProjectKey(tenant_id="acme", project_id="../other"))
    with pytest.raises(ValueError, match="an id has"):
        store.url(ProjectKey(tenant_id="a/b", project_id="demo"), "x")


def test_a_document_has_a_url_and_a_project_a_place(store: DocumentStore) -> None:
    """Whatever its name is made of."""
    assert store.url(PROJECT, "a b/ö?.md").endswith("/documents/a%20b/%C3%B6%3F.md")
    assert store.place(PROJECT) == f"s3://documents/{PROJECT.tenant_id}/{PROJECT.project_id}/documents/"


@pytest.mark.parametrize(
    ("key", "project"),
    [
        ("acme/demo/documents/a.txt", ProjectKey(tenant_id="acme", project_id="demo")),
        ("acme/demo/documents/deep/documents/a.txt", ProjectKey(tenant_id="acme", project_id="demo")),
        ("acme/demo/documents/", None),
        ("acme/demo/index/documents/a.txt", None),
        ("_index/acme/demo/manifest.json", None),
        ("_index/acme/documents/manifest.json", None),
        ("_index/documents/demo/manifest.json", None),
        ("Acme/demo/documents/a.txt", None),
        ("documents/a.txt", None),
        ("", None),
    ],
)
def test_a_key_tells_whose_document_it_is(key: str, project: ProjectKey | None) -> None:
    """And what is none."""
    assert project_of_key(key) == project


def test_a_version_is_a_plain_word(on_s3: S3DocumentStore, tmp_path: Path) -> None:
    """It becomes part of a key."""
    with pytest.raises(ValueError, match="a version"):
        on_s3.fetch_index(PROJECT, "../x", tmp_path / "x")


def test_a_manifest_that_cannot_be_read_names_no_version(on_s3: S3DocumentStore) -> None:
    """And is switched over."""
    client = boto3.client("s3", region_name=REGION)
    key = f"_index/{PROJECT.tenant_id}/{PROJECT.project_id}/manifest.json"
    for body in (b"{", b'{"another": 1}'):
        client.put_object(Bucket=BUCKET, Key=key, Body=body)
        standing = on_s3.manifest(PROJECT)
        assert standing is not None
        assert (standing.manifest.version, standing.manifest.revision) == (None, 0)
        on_s3.switch(PROJECT, FIRST, standing)


def test_many_pages_are_listed_and_deleted(on_s3: S3DocumentStore, tmp_path: Path) -> None:
    """S3 lists and deletes a thousand at a time."""
    (tmp_path / "made").write_bytes(b"")
    for number in range(1_005):
        on_s3.put_index(PROJECT, f"v{number:04}", tmp_path / "made")
    assert on_s3.delete_index(PROJECT) == 1_005


def test_an_index_that_does_not_come_in_time_is_broken_off(store: DocumentStore, tmp_path: Path) -> None:
    """Between two pieces of it."""
    (tmp_path / "made").write_bytes(b"index")
    store.put_index(PROJECT, "v1", tmp_path / "made")
    clock = FakeClock()
    deadline = Deadline.after(1.0, clock)
    store.fetch_index(PROJECT, "v1", tmp_path / "fetched", deadline=deadline)
    clock.advance(1.0)
    with pytest.raises(OutOfTime):
        store.fetch_index(PROJECT, "v1", tmp_path / "fetched", deadline=deadline)


def test_a_disk_that_takes_no_more_is_told_of_like_a_store_that_is_away(on_s3: S3DocumentStore, tmp_path: Path) -> None:
    """The caller goes on without; here the file cannot even be opened."""
    (tmp_path / "made").write_bytes(b"index")
    on_s3.put_index(PROJECT, "v1", tmp_path / "made")
    with pytest.raises(StoreUnavailable, match="disk"):
        on_s3.fetch_index(PROJECT, "v1", tmp_path / "no such folder" / "fetched")


def test_what_s3_refuses_is_unavailable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In our own words."""
    with aws_in_process(monkeypatch):
        client = s3_client()
        store = S3DocumentStore(client, BUCKET)
        refuse(client, "AccessDenied", status=403)
        calls: list[Callable[[], Any]] = [
            lambda: store.documents(PROJECT),
            lambda: store.manifest(PROJECT),
            lambda: store.fetch_index(PROJECT, "v1", tmp_path / "x"),
            lambda: store.switch(PROJECT, FIRST, None),
            lambda: store.delete_versions(PROJECT, ["v1"]),
        ]
        for call in calls:
            with pytest.raises(StoreUnavailable):
                call()


def test_an_object_that_stays_is_told_of(on_s3: S3DocumentStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 answers 200 to a deletion that it did not carry out."""
    monkeypatch.setattr(on_s3._client, "delete_objects", lambda **_given: {"Errors": [{"Key": "x"}]})
    with pytest.raises(StoreUnavailable, match="not every object"):
        on_s3.delete_versions(PROJECT, ["v1"])


def test_a_project_is_put_on_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the indexing function reads it; a queue that is away is told of."""
    with aws_in_process(monkeypatch):
        client = sqs_client()
        url = client.create_queue(QueueName="documents")["QueueUrl"]
        SqsProjectQueue(client, url).send(PROJECT)
        (message,) = client.receive_message(QueueUrl=url)["Messages"]
        named = {"tenant_id": PROJECT.tenant_id, "project_id": PROJECT.project_id}
        assert orjson.loads(message["Body"]) == {"project": named}
        with pytest.raises(StoreUnavailable):
            SqsProjectQueue(client, url + "-gone").send(PROJECT)
