"""What every `ContentStore` promises, put to the one in memory and to the one on S3 and DynamoDB alike."""

import hashlib
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest

from tests.contract.test_run_store import OTHERS, PROJECT, run_id
from tests.fakes.aws import REGION, STATE_TABLE, aws_in_process, count_calls, create_table
from tests.fakes.clock import FakeClock
from tests.fakes.content_store import InMemoryContentStore
from zarniwoop.contract.hit import LoadedContent
from zarniwoop.stores.clients import dynamodb_client, s3_client
from zarniwoop.stores.content import ContentStore, S3ContentStore
from zarniwoop.stores.dynamodb_state import DynamoDbStateStore
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.run_files import INPUT, S3RunFiles

NOW = 1_800_000_000.0
WEEK = 7 * 86_400
BUCKET = "content"
PAGE = LoadedContent(body=b"<p>bells</p>", media_type="text/html; charset=UTF-8", source_url="https://example.com/b")
HASH = hashlib.sha256(PAGE.body).hexdigest()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def on_s3(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> Iterator[S3ContentStore]:
    with aws_in_process(monkeypatch):
        create_table(STATE_TABLE, "pk", "sk")
        boto3.client("s3", region_name=REGION).create_bucket(Bucket=BUCKET)
        yield S3ContentStore(
            s3_client(), BUCKET, items=dynamodb_client(), table_name=STATE_TABLE, clock=clock, kept_seconds=WEEK
        )


@pytest.fixture(params=["memory", "s3"])
def store(request: pytest.FixtureRequest, clock: FakeClock) -> ContentStore:
    if request.param == "memory":
        return InMemoryContentStore(clock)
    on_s3: S3ContentStore = request.getfixturevalue("on_s3")
    return on_s3


def whole(store: ContentStore, sha256: str) -> bytes | None:
    return store.read(PROJECT, sha256, start=0, length=10_000)


def test_threads_may_put_one_body_at_once(store: ContentStore) -> None:
    """Mirrors fetched together: each is told the same, and nothing is torn (moto alone closes what another writes)."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            hashes = set(pool.map(lambda _n: store.put(PROJECT, PAGE, instance_id="mirror").sha256, range(64)))
    finally:
        sys.setswitchinterval(interval)
    assert (hashes, whole(store, HASH)) == ({HASH}, PAGE.body)


def test_a_body_is_kept_under_its_hash_with_where_it_is_from(store: ContentStore) -> None:
    """What is found is what was told when it was put."""
    stored = store.put(PROJECT, PAGE, instance_id="wikipedia-en")
    assert (stored.sha256, stored.size, stored.is_text) == (HASH, len(PAGE.body), True)
    assert (stored.media_type, stored.source_url, stored.instance_id) == (
        "text/html; charset=utf-8",
        "https://example.com/b",
        "wikipedia-en",
    )
    assert (stored.stored_at, stored.expires_at) == (NOW, NOW + WEEK)
    assert store.find(PROJECT, HASH) == stored
    assert whole(store, HASH) == PAGE.body


def test_the_same_body_is_stored_once(store: ContentStore) -> None:
    """Whoever brings it again, from wherever: the first account of it stands."""
    first = store.put(PROJECT, PAGE, instance_id="wikipedia-en")
    again = LoadedContent(body=PAGE.body, media_type="text/html", source_url="https://mirror.example/b")
    assert store.put(PROJECT, again, instance_id="serper-main") == first


def test_a_body_met_late_in_its_life_gets_a_new_one(store: ContentStore, clock: FakeClock) -> None:
    """The bucket counts from the upload, so a run must not be given a body that goes tomorrow."""
    store.put(PROJECT, PAGE, instance_id="wikipedia-en")
    clock.advance(WEEK * 0.6)
    assert store.put(PROJECT, PAGE, instance_id="wikipedia-en").expires_at == float(int(NOW + WEEK * 1.6))
    clock.advance(WEEK * 0.6)
    assert store.find(PROJECT, HASH) is not None


def test_a_body_past_its_time_is_unknown(store: ContentStore, clock: FakeClock) -> None:
    """Deleted or not."""
    store.put(PROJECT, PAGE, instance_id="wikipedia-en")
    clock.advance(WEEK)
    assert store.find(PROJECT, HASH) is None


def test_a_body_belongs_to_its_project(store: ContentStore) -> None:
    """That another tenant has loaded the same page is nobody's business."""
    store.put(PROJECT, PAGE, instance_id="wikipedia-en")
    for other in OTHERS:
        assert store.find(other, HASH) is None
        assert store.read(other, HASH, start=0, length=10) is None
    assert store.find(PROJECT, "0" * 64) is None


def test_a_stretch_of_a_body_can_be_read(store: ContentStore) -> None:
    """From a byte on, as many as asked for or as there are."""
    store.put(PROJECT, PAGE, instance_id="wikipedia-en")
    assert store.read(PROJECT, HASH, start=3, length=5) == b"bells"
    assert store.read(PROJECT, HASH, start=8, length=500) == b"</p>"


@pytest.mark.parametrize(
    ("media_type", "body", "text"),
    [
        ("text/plain; charset=iso-8859-1", "Köln".encode("latin-1"), "Köln"),
        ("text/plain; charset=iso-8859-1", "Köln".encode(), "Köln"),
        ("text/plain", "Köln".encode("cp1252"), "Köln"),
        ("text/html;charset=Shift_JIS", "鐘".encode("shift_jis"), "鐘"),
        ('text/html; charset="utf-16"', "Köln".encode("utf-16"), "Köln"),
        ("text/plain; charset=utf-16le", "bells".encode("utf-16le"), "bells"),
        ("text/plain; charset=punycode", "Köln".encode("cp1252"), "Köln"),
        ("text/plain; charset=no-such-thing", "Köln".encode("cp1252"), "Köln"),
        ("text/plain; charset=shift_jis", b"\xff\x80", "ÿ€"),
        ("application/ld+json", b'\xef\xbb\xbf{"a": 1}', '{"a": 1}'),
    ],
)
def test_text_is_kept_as_utf8_whatever_it_came_as(store: ContentStore, media_type: str, body: bytes, text: str) -> None:
    """So that an offset and a quote mean the same to everybody; no codec is used only because a stranger names it."""
    content = LoadedContent(body=body, media_type=media_type, source_url="https://example.com/")
    stored = store.put(PROJECT, content, instance_id="web")
    assert whole(store, stored.sha256) == text.encode()
    assert stored.media_type.endswith("; charset=utf-8")
    assert stored.is_text


@pytest.mark.parametrize("media_type", ["application/pdf", "image/png", "", "no type at all", "text/\r\nx-evil: 1"])
def test_what_is_no_text_is_kept_as_it_is(store: ContentStore, media_type: str) -> None:
    """Byte for byte; what is no media type is not handed on as one."""
    content = LoadedContent(body=b"\x00\xff\xfe", media_type=media_type, source_url="https://example.com/")
    stored = store.put(PROJECT, content, instance_id="web")
    assert whole(store, stored.sha256) == b"\x00\xff\xfe"
    assert not stored.is_text
    assert stored.media_type in ("application/pdf", "image/png", "application/octet-stream")


def test_an_endless_address_is_cut(store: ContentStore) -> None:
    """What is known of a body is an item of 400 KB at most, and so is what a provider can make of an address."""
    content = LoadedContent(body=b"bells", media_type="text/plain", source_url="https://example.com/" + "x" * 500_000)
    stored = store.put(PROJECT, content, instance_id="web")
    assert len(stored.source_url) == 2_048
    assert store.find(PROJECT, stored.sha256) == stored


def test_a_link_leads_to_the_body_for_a_while(store: ContentStore) -> None:
    """To this body of this project."""
    link = urlsplit(store.presigned(PROJECT, HASH, 60))
    assert link.path.endswith(f"acme/demo/content/{HASH}")
    assert parse_qs(link.query)["X-Amz-Expires"] == ["60"]


@pytest.mark.parametrize("sha256", ["", "../x", HASH.upper(), HASH[:-1], HASH + "0", HASH[:-1] + "/"])
def test_no_hash_leads_elsewhere(store: ContentStore, sha256: str) -> None:
    """Refused before anything is asked."""
    for act in (
        lambda: store.find(PROJECT, sha256),
        lambda: store.read(PROJECT, sha256, start=0, length=1),
        lambda: store.presigned(PROJECT, sha256, 60),
    ):
        with pytest.raises(ValueError, match="64 characters"):
            act()


def test_a_project_that_stops_leaves_no_body(store: ContentStore) -> None:
    """Its own go, others' stay."""
    store.put(PROJECT, PAGE, instance_id="web")
    store.put(OTHERS[0], PAGE, instance_id="web")
    assert store.delete_project(PROJECT) == 1
    assert store.delete_project(PROJECT) == 0
    assert whole(store, HASH) is None
    assert store.read(OTHERS[0], HASH, start=0, length=99) == PAGE.body


def test_a_project_that_stops_leaves_neither_body_nor_item(on_s3: S3ContentStore, clock: FakeClock) -> None:
    """Bodies by the bucket, what is known of them with the project's state; what its runs found stays."""
    on_s3.put(PROJECT, PAGE, instance_id="web")
    on_s3.put(OTHERS[0], PAGE, instance_id="web")
    S3RunFiles(s3_client(), BUCKET).put(PROJECT, run_id(), INPUT, {})
    assert on_s3.delete_project(PROJECT) == 1
    assert DynamoDbStateStore(dynamodb_client(), STATE_TABLE, clock).clear_project(PROJECT) == 1
    assert on_s3.find(PROJECT, HASH) is None
    assert on_s3.find(OTHERS[0], HASH) is not None
    objects = boto3.client("s3", region_name=REGION).list_objects_v2(Bucket=BUCKET)["Contents"]
    assert [found["Key"] for found in objects] == [
        f"acme/demo/runs/{run_id()}/input.json",
        f"acme/lab/content/{HASH}",
    ]


def test_a_known_body_is_not_uploaded_again(on_s3: S3ContentStore) -> None:
    """One read of the table, and that is all."""
    on_s3.put(PROJECT, PAGE, instance_id="web")
    uploads, looks = count_calls(on_s3._client), count_calls(on_s3._items)
    on_s3.put(PROJECT, PAGE, instance_id="web")
    assert (uploads, looks) == ([], ["GetItem"])


def test_an_item_that_cannot_be_read_counts_as_none(on_s3: S3ContentStore) -> None:
    """Edited by hand, or written by another version."""
    on_s3._items.put_item(TableName=STATE_TABLE, Item={"pk": {"S": "T#acme#P#demo"}, "sk": {"S": f"CT#{HASH}"}})
    assert on_s3.find(PROJECT, HASH) is None


def test_a_bucket_that_refuses_leaves_no_item(on_s3: S3ContentStore) -> None:
    """What an item speaks of is there: the object goes first."""
    on_s3._bucket = "denied"
    with pytest.raises(StoreUnavailable):
        on_s3.put(PROJECT, PAGE, instance_id="web")
    assert on_s3.find(PROJECT, HASH) is None
    with pytest.raises(StoreUnavailable):
        on_s3.delete_project(PROJECT)


def test_objects_that_stay_are_told(on_s3: S3ContentStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project whose content could not all be deleted has not stopped."""
    on_s3.put(PROJECT, PAGE, instance_id="web")

    def refuse(**_asked: Any) -> dict[str, Any]:
        return {"Errors": [{"Key": "k", "Code": "AccessDenied"}]}

    monkeypatch.setattr(on_s3._client, "delete_objects", refuse)
    with pytest.raises(StoreUnavailable, match="not every body"):
        on_s3.delete_project(PROJECT)
