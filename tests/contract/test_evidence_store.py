"""What every `EvidenceStore` promises, put to the one in memory and to the one on DynamoDB and S3 alike."""

import hashlib
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import boto3
import pytest

from tests.contract.test_run_store import OTHERS, PROJECT
from tests.fakes.aws import REGION, aws_in_process, count_calls
from tests.fakes.clock import FakeClock
from tests.fakes.evidence_store import InMemoryEvidenceStore
from tests.fakes.template import resources
from zarniwoop.contract.evidence import Evidence, Quote, Signal, SourceType
from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.page import PageAnchor
from zarniwoop.stores.clients import dynamodb_client, s3_client
from zarniwoop.stores.content import S3ContentStore
from zarniwoop.stores.dynamodb_calls import ConditionFailed
from zarniwoop.stores.dynamodb_evidence import DynamoDbEvidenceStore
from zarniwoop.stores.evidence import (
    FOLDER,
    MOST_QUOTES,
    EvidenceStore,
    ProjectStopped,
    TooManyQuotes,
    evidence_id,
)
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import is_evidence_id
from zarniwoop.stores.page_tokens import InvalidPageToken
from zarniwoop.stores.state import ProjectKey

NOW = 1_800_000_000.0
KEPT = 90 * 86_400.0
TABLE = "zarniwoop-test-evidence"
BUCKET = "evidence"
BODY = "# Bells\n\nA bell of four tonnes is cast in a pit of loam."
URL = "https://example.com/bells"


def evidence(body: str = BODY, url: str = URL, task_id: str | None = None, **more: Any) -> Evidence:
    content_hash = hashlib.sha256(body.encode()).hexdigest()
    known: dict[str, Any] = {
        "id": evidence_id(url, content_hash, task_id),
        "source_type": SourceType.PAGE,
        "title": "Bells",
        "url": url,
        "final_url": url,
        "snippet": "A bell",
        "content_hash": content_hash,
        "retrieved_at": NOW,
        "credibility_score": 0.5,
        "extractor": "trafilatura",
        "status": "ok",
        "task_id": task_id,
        "body_chars": len(body),
    }
    return Evidence(**(known | more))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


def on_aws(clock: FakeClock, bucket: str = BUCKET, begun_at: float = math.inf) -> DynamoDbEvidenceStore:
    client = dynamodb_client()
    bodies = S3ContentStore(
        s3_client(), bucket, items=client, table_name=TABLE, clock=clock, kept_seconds=KEPT, folder=FOLDER
    )
    return DynamoDbEvidenceStore(
        client,
        TABLE,
        clock,
        bodies=bodies,
        kept_seconds=KEPT,
        page_key=lambda: b"k" * 32,
        begun_at=lambda: begun_at,
    )


def create_evidence_table() -> None:
    """As the template has it."""
    properties = resources("AWS::DynamoDB::Table")["EvidenceTable"]
    boto3.client("dynamodb", region_name=REGION).create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        **{name: properties[name] for name in ("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes")},
    )


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> Iterator[DynamoDbEvidenceStore]:
    with aws_in_process(monkeypatch):
        create_evidence_table()
        boto3.client("s3", region_name=REGION).create_bucket(Bucket=BUCKET)
        yield on_aws(clock)


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest, clock: FakeClock) -> EvidenceStore:
    if request.param == "memory":
        return InMemoryEvidenceStore(clock, kept_seconds=KEPT)
    made: DynamoDbEvidenceStore = request.getfixturevalue("dynamodb")
    return made


def quote(start: int, end: int, body: str = BODY) -> Quote:
    return Quote(text=body[start:end], start=start, end=end)


def listed(store: EvidenceStore, **asked: Any) -> list[str]:
    return [each.id for each in store.list(PROJECT, **({"limit": 20} | asked)).evidence]


def test_evidence_is_kept_with_all_that_is_known_of_it(store: EvidenceStore) -> None:
    """What is found is what was told when it was put, to the last field; its body is the text."""
    whole = evidence(
        task_id="task-1",
        language="en",
        canonical_url=URL,
        byline="Ada Bell",
        authors=("Ada Bell", "Bo Clapper"),
        site_name="Bells",
        published_at=PublishedAt(value="2024-05-01", precision=DatePrecision.DAY),
        identifiers={"doi": "10.1000/bells"},
        signals=(Signal(name="kind", value="web", points=-0.05),),
        quotes=(quote(2, 7), quote(9, 15)),
        media_type="text/html",
        etag='"1"',
        last_modified="Mon, 30 Nov 2026 12:00:00 GMT",
        instance_id="firecrawl-main",
        truncated=True,
        modified_at=PublishedAt(value="2024-06", precision=DatePrecision.MONTH),
        anchors=(PageAnchor(name="page=1", start=0), PageAnchor(name="page=2", start=9)),
        hidden={"comment": 2},
        suspicious=("orders",),
        modality=SearchModality.WEB,
        retracted=True,
    )
    kept = store.put(PROJECT, whole, BODY)
    assert kept == replace(whole, expires_at=NOW + KEPT)
    assert store.get(PROJECT, whole.id) == kept
    assert store.body(PROJECT, whole.content_hash) == BODY
    assert store.list(PROJECT, limit=5).evidence == (kept,)


def test_the_same_again_is_the_same_evidence_read_later(store: EvidenceStore, clock: FakeClock) -> None:
    """One id, one item, the newer moment and facts; quotes join those that stand."""
    first = store.put(PROJECT, evidence(quotes=(quote(2, 7),)), BODY)
    clock.advance(60)
    again = evidence(retrieved_at=NOW + 60, etag='"2"', quotes=(quote(2, 7), quote(9, 15)))
    kept = store.put(PROJECT, again, BODY)
    assert (kept.id, kept.retrieved_at, kept.etag) == (first.id, NOW + 60, '"2"')
    assert kept.quotes == (quote(2, 7), quote(9, 15))
    assert kept.expires_at == NOW + KEPT
    assert store.get(PROJECT, first.id) == kept
    assert listed(store) == [first.id]


def test_the_same_again_costs_one_conditional_write(dynamodb: DynamoDbEvidenceStore) -> None:
    """And nothing is read or uploaded."""
    dynamodb.put(PROJECT, evidence(quotes=(quote(2, 7),)), BODY)
    uploads, calls = count_calls(dynamodb._bodies._client), count_calls(dynamodb._client)  # type: ignore[attr-defined]
    dynamodb.put(PROJECT, evidence(retrieved_at=NOW + 1, quotes=(quote(9, 15),)), BODY)
    assert (uploads, calls) == ([], ["UpdateItem"])


def test_one_body_is_stored_once_whatever_points_at_it(dynamodb: DynamoDbEvidenceStore) -> None:
    """Under its hash, below tenant, project and the folder of evidence."""
    for url in (URL, "https://mirror.example/bells"):
        dynamodb.put(PROJECT, evidence(url=url), BODY)
    uploads = boto3.client("s3", region_name=REGION).list_objects_v2(Bucket=BUCKET)["Contents"]
    assert [each["Key"] for each in uploads] == [f"acme/demo/evidence/{evidence().content_hash}"]
    assert len(listed(dynamodb)) == 2


def lose_the_body() -> None:
    """Taken by somebody's hand, say."""
    key = f"acme/demo/evidence/{evidence().content_hash}"
    boto3.client("s3", region_name=REGION).delete_object(Bucket=BUCKET, Key=key)


@pytest.mark.parametrize("task_id", [None, "task-2"])
def test_a_body_that_nobody_saw_to_be_gone_is_back_a_day_later(
    dynamodb: DynamoDbEvidenceStore, clock: FakeClock, task_id: str | None
) -> None:
    """Whoever keeps its text again brings it back, under the same evidence or another; and once a day at most."""
    dynamodb.put(PROJECT, evidence(), BODY)
    lose_the_body()
    clock.advance(86_401)
    dynamodb.put(PROJECT, evidence(task_id=task_id), BODY)
    assert dynamodb.body(PROJECT, evidence().content_hash) == BODY
    uploads = count_calls(dynamodb._bodies._client)  # type: ignore[attr-defined]
    clock.advance(86_000)
    assert dynamodb.put(PROJECT, evidence(task_id=task_id), BODY).expires_at == NOW + 86_401 + KEPT
    assert uploads == []


def test_evidence_from_before_the_time_was_cut_short_gets_the_shorter_one(
    dynamodb: DynamoDbEvidenceStore, clock: FakeClock
) -> None:
    """The bucket has deleted its body by then, whatever the item says."""
    dynamodb.put(PROJECT, evidence(), BODY)
    lose_the_body()
    clock.advance(40 * 86_400)
    dynamodb._kept_seconds = dynamodb._bodies._kept_seconds = KEPT / 3  # type: ignore[attr-defined]
    assert dynamodb.put(PROJECT, evidence(), BODY).expires_at == clock.now() + KEPT / 3
    assert dynamodb.body(PROJECT, evidence().content_hash) == BODY


def test_evidence_met_late_in_its_life_gets_a_new_one(store: EvidenceStore, clock: FakeClock) -> None:
    """With its body, which the bucket would else take from under it; quotes stay."""
    store.put(PROJECT, evidence(quotes=(quote(2, 7),)), BODY)
    clock.advance(KEPT * 0.6)
    kept = store.put(PROJECT, evidence(retrieved_at=clock.now()), BODY)
    assert kept.expires_at == NOW + KEPT * 1.6
    assert kept.quotes == (quote(2, 7),)
    clock.advance(KEPT * 0.6)
    assert store.get(PROJECT, kept.id) == kept


def test_evidence_past_its_time_is_unknown_and_can_be_stored_anew(store: EvidenceStore, clock: FakeClock) -> None:
    """Deleted or not; nothing of the old one is left in the new."""
    store.put(PROJECT, evidence(quotes=(quote(2, 7),)), BODY)
    clock.advance(KEPT)
    assert store.get(PROJECT, evidence().id) is None
    assert listed(store) == []
    kept = store.put(PROJECT, evidence(retrieved_at=clock.now()), BODY)
    assert (kept.quotes, kept.expires_at) == ((), NOW + 2 * KEPT)


def test_evidence_belongs_to_its_project(store: EvidenceStore) -> None:
    """Its id, its body and its place in a list are nothing to anybody else."""
    kept = store.put(PROJECT, evidence(), BODY)
    for other in OTHERS:
        assert store.get(other, kept.id) is None
        assert store.body(other, kept.content_hash) is None
        assert store.list(other, limit=5).evidence == ()
        assert store.list(other, limit=5, url=URL).evidence == ()


@pytest.mark.parametrize("forged", ["", "ev-", "ev-" + "0" * 31, "ev-" + "0" * 33, "ev-" + "G" * 32, "EV#ev-1", "../x"])
def test_a_forged_id_is_refused(store: EvidenceStore, forged: str) -> None:
    """Before anything is asked."""
    with pytest.raises(ValueError, match="evidence"):
        store.get(PROJECT, forged)
    with pytest.raises(ValueError, match="evidence"):
        store.put(PROJECT, replace(evidence(), id=forged), BODY)


def test_a_forged_hash_task_or_project_is_refused(store: EvidenceStore) -> None:
    """None of them can name what is another's."""
    with pytest.raises(ValueError, match="hash"):
        store.body(PROJECT, "../../other/demo/evidence/x")
    with pytest.raises(ValueError, match="an id"):
        store.put(PROJECT, replace(evidence(), task_id="a#b"), BODY)
    with pytest.raises(ValueError, match="an id"):
        store.list(PROJECT, limit=5, task_id="a#b")
    with pytest.raises(ValueError, match="an id"):
        store.put(ProjectKey(tenant_id="acme", project_id="demo#P#x"), evidence(), BODY)


def test_evidence_of_another_body_is_not_stored(store: EvidenceStore) -> None:
    """An item never speaks of a text that is not there."""
    with pytest.raises(ValueError, match="another body"):
        store.put(PROJECT, evidence(), BODY + "!")
    assert store.get(PROJECT, evidence().id) is None


def test_the_newest_come_first_and_a_list_is_read_to_its_end(store: EvidenceStore, clock: FakeClock) -> None:
    """Page by page, each once, those of one moment too; what is read again moves to the front."""
    put = [
        store.put(
            PROJECT, evidence(f"body {number}", f"{URL}/{number}", retrieved_at=NOW + number // 3), f"body {number}"
        )
        for number in range(11)
    ]
    store.put(PROJECT, replace(put[0], retrieved_at=NOW + 99), "body 0")
    found: list[Evidence] = []
    token: str | None = None
    while True:
        page = store.list(PROJECT, limit=4, page_token=token)
        found += page.evidence
        token = page.next_page_token
        if token is None:
            break
        assert len(page.evidence) == 4
    assert len(found) == 11
    assert len({each.id for each in found}) == 11
    assert found[0].id == put[0].id
    moments = [each.retrieved_at for each in found]
    assert moments == sorted(moments, reverse=True)


def test_a_list_is_narrowed_by_task_and_by_url(store: EvidenceStore) -> None:
    """The same text for two tasks is two evidences with one body; a fragment is no part of a URL here."""
    one = store.put(PROJECT, evidence(task_id="one"), BODY)
    two = store.put(PROJECT, evidence(task_id="two"), BODY)
    other = store.put(PROJECT, evidence("else", "https://example.com/else", "one"), "else")
    assert set(listed(store, task_id="one")) == {one.id, other.id}
    assert set(listed(store, url=f"{URL}#part")) == {one.id, two.id}
    assert listed(store, url=URL, task_id="two") == [two.id]
    assert listed(store, url="https://example.com/") == []
    assert listed(store, task_id="three") == []


def test_a_page_token_is_good_for_its_own_list_alone(store: EvidenceStore) -> None:
    """Not for another project's, nor under another filter, nor with a letter changed."""
    for number in range(3):
        store.put(PROJECT, evidence(f"body {number}", f"{URL}/{number}", "one"), f"body {number}")
    token = store.list(PROJECT, limit=1).next_page_token
    assert token is not None
    refused: list[tuple[ProjectKey, dict[str, Any]]] = [
        (OTHERS[0], {"page_token": token}),
        (PROJECT, {"page_token": token, "task_id": "one"}),
        (PROJECT, {"page_token": token, "url": URL}),
        (PROJECT, {"page_token": ("A" if token[0] != "A" else "B") + token[1:]}),
        (PROJECT, {"page_token": "RVYjZXYtMQ"}),
        (PROJECT, {"page_token": "é"}),
    ]
    for project, asked in refused:
        with pytest.raises(InvalidPageToken):
            store.list(project, limit=1, **asked)


def test_evidence_holds_so_many_quotes_and_no_more(store: EvidenceStore) -> None:
    """At once, or one after the other; those that stand already take no room."""
    body = "x" * 200
    full = tuple(quote(place, place + 5, body) for place in range(MOST_QUOTES))
    with pytest.raises(TooManyQuotes):
        store.put(PROJECT, evidence(body, quotes=(*full, quote(100, 110, body))), body)
    assert store.get(PROJECT, evidence(body).id) is None
    store.put(PROJECT, evidence(body, quotes=full), body)
    assert store.put(PROJECT, evidence(body, quotes=full), body).quotes == full
    with pytest.raises(TooManyQuotes):
        store.put(PROJECT, evidence(body, quotes=(quote(100, 110, body),)), body)
    assert len(store.put(PROJECT, evidence(body), body).quotes) == MOST_QUOTES


def test_many_who_store_the_same_at_once_lose_no_quote(store: EvidenceStore) -> None:
    """Whoever comes first makes it, the others join."""
    body, threads = "x" * 100, 12
    barrier = Barrier(threads)

    def put(number: int) -> None:
        barrier.wait()
        store.put(PROJECT, evidence(body, quotes=(quote(number, number + 5, body),)), body)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(put, range(threads)))
    kept = store.get(PROJECT, evidence(body).id)
    assert kept is not None
    assert len(kept.quotes) == threads
    assert len(listed(store)) == 1


def test_a_project_that_stops_leaves_no_evidence(store: EvidenceStore) -> None:
    """Its own items and bodies go, others' stay."""
    for number in range(30):
        store.put(PROJECT, evidence(f"body {number % 20}", f"{URL}/{number}"), f"body {number % 20}")
    theirs = store.put(OTHERS[0], evidence(), BODY)
    deleted = store.delete_project(PROJECT)
    assert (deleted.items, deleted.objects) == (30, 20)
    assert listed(store) == []
    assert store.body(PROJECT, evidence("body 0").content_hash) is None
    assert store.get(OTHERS[0], theirs.id) == theirs
    assert store.body(OTHERS[0], theirs.content_hash) == BODY
    deleted = store.delete_project(PROJECT)
    assert (deleted.items, deleted.objects) == (0, 0)
    assert store.put(PROJECT, evidence(), BODY).content_hash == evidence().content_hash
    assert store.body(PROJECT, evidence().content_hash) == BODY


def test_a_stopped_project_leaves_nothing_at_all(dynamodb: DynamoDbEvidenceStore) -> None:
    """What is known of its bodies goes with them."""
    dynamodb.put(PROJECT, evidence(), BODY)
    dynamodb.stop(PROJECT, NOW)
    dynamodb.delete_project(PROJECT)
    left = boto3.client("dynamodb", region_name=REGION).scan(TableName=TABLE)["Items"]
    assert [(item["sk"]["S"], item["expires_at"]["N"]) for item in left] == [("STOPPED", str(int(NOW) + 86_400))]


def test_what_was_begun_before_the_stop_keeps_nothing_after_it(
    dynamodb: DynamoDbEvidenceStore, clock: FakeClock
) -> None:
    """A fetch that was in flight, say: neither item nor body. Whoever begins afterwards may."""
    uploads = count_calls(dynamodb._bodies._client)  # type: ignore[attr-defined]
    dynamodb.stop(PROJECT, NOW)
    with pytest.raises(ProjectStopped):
        on_aws(clock, begun_at=NOW).put(PROJECT, evidence(), BODY)
    assert uploads == []
    assert on_aws(clock, begun_at=NOW).put(OTHERS[0], evidence(), BODY).id == evidence().id
    kept = on_aws(clock, begun_at=NOW + 1).put(PROJECT, evidence(), BODY)
    assert dynamodb.get(PROJECT, kept.id) == kept


@pytest.mark.parametrize("swept", [True, False])
def test_a_stop_in_the_midst_of_keeping_leaves_no_evidence(
    dynamodb: DynamoDbEvidenceStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, swept: bool
) -> None:
    """The text was uploaded, then the project is swept, then the item is written: it is taken back.

    And what is known of that text by then is not believed by those who come afterwards.
    """
    late = on_aws(clock, begun_at=NOW - 1)
    put_item = late._client.put_item
    halted: list[bool] = []

    def stop_before_the_item(**asked: Any) -> Any:
        if asked["Item"]["sk"]["S"].startswith("EV#" if swept else "CT#") and not halted:
            halted.append(True)
            dynamodb.stop(PROJECT, NOW)
            dynamodb.delete_project(PROJECT)
        return put_item(**asked)

    monkeypatch.setattr(late._client, "put_item", stop_before_the_item)
    with pytest.raises(ProjectStopped):
        late.put(PROJECT, evidence(quotes=(quote(2, 7),)), BODY)
    assert halted
    assert dynamodb.get(PROJECT, evidence().id) is None
    assert (listed(dynamodb), "Bells" in str(boto3.client("dynamodb", region_name=REGION).scan(TableName=TABLE))) == (
        [],
        False,
    )
    clock.advance(1)
    kept = on_aws(clock, begun_at=NOW + 1).put(PROJECT, evidence(), BODY)
    assert dynamodb.body(PROJECT, kept.content_hash) == BODY


def test_a_stop_that_is_broken_off_leaves_no_evidence_without_its_text(dynamodb: DynamoDbEvidenceStore) -> None:
    """Items go first, and the next one finds the bodies that are left."""
    dynamodb.put(PROJECT, evidence(), BODY)
    dynamodb._bodies._bucket = "denied"  # type: ignore[attr-defined]
    with pytest.raises(StoreUnavailable):
        dynamodb.delete_project(PROJECT)
    dynamodb._bodies._bucket = BUCKET  # type: ignore[attr-defined]
    assert dynamodb.get(PROJECT, evidence().id) is None
    assert dynamodb.delete_project(PROJECT).objects == 1


def test_items_that_stay_are_told(dynamodb: DynamoDbEvidenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project whose evidence could not all be deleted has not stopped; what is only throttled is tried again."""
    dynamodb.put(PROJECT, evidence(), BODY)
    write, refusals = dynamodb._client.batch_write_item, [1, 1]

    def throttled(**asked: Any) -> dict[str, Any]:
        if refusals:
            refusals.pop()
            return {"UnprocessedItems": asked["RequestItems"]}
        return dict(write(**asked))

    monkeypatch.setattr(dynamodb._client, "batch_write_item", throttled)
    assert dynamodb.delete_project(PROJECT).items == 1
    dynamodb.put(PROJECT, evidence(), BODY)
    refusals += [1] * 9
    with pytest.raises(StoreUnavailable, match="undeleted"):
        dynamodb.delete_project(PROJECT)


def test_a_project_with_more_than_one_answer_holds_is_deleted_to_its_end(
    dynamodb: DynamoDbEvidenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB answers a megabyte at a time."""
    for number in range(7):
        dynamodb.put(PROJECT, evidence(f"body {number}", f"{URL}/{number}"), f"body {number}")
    query = dynamodb._client.query
    monkeypatch.setattr(dynamodb._client, "query", lambda **asked: query(**asked, Limit=4))
    assert dynamodb.delete_project(PROJECT).items == 7


def test_whoever_is_always_too_late_is_told(dynamodb: DynamoDbEvidenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else makes it and lets it lapse between any two of our writes."""

    def too_late(*_asked: Any, **_named: Any) -> Evidence:
        raise ConditionFailed({})

    monkeypatch.setattr(dynamodb, "_see_again", too_late)
    monkeypatch.setattr(dynamodb, "_create", too_late)
    with pytest.raises(StoreUnavailable, match="too many at once"):
        dynamodb.put(PROJECT, evidence(), BODY)


def test_an_item_that_cannot_be_read_counts_as_none(dynamodb: DynamoDbEvidenceStore) -> None:
    """Edited by hand, or written by another version: it is missing from the list, and the others are not."""
    kept = [dynamodb.put(PROJECT, evidence(f"body {number}"), f"body {number}") for number in range(2)]
    key = {"pk": {"S": "T#acme#P#demo"}, "sk": {"S": f"EV#{kept[0].id}"}}
    dynamodb._client.update_item(
        TableName=TABLE, Key=key, UpdateExpression="SET facts = :f", ExpressionAttributeValues={":f": {"S": "[]"}}
    )
    assert dynamodb.get(PROJECT, kept[0].id) is None
    assert listed(dynamodb) == [kept[1].id]


def test_a_bucket_that_refuses_leaves_no_item(dynamodb: DynamoDbEvidenceStore, clock: FakeClock) -> None:
    """What an item speaks of is there: the object goes first."""
    broken = on_aws(clock, "denied")
    with pytest.raises(StoreUnavailable):
        broken.put(PROJECT, evidence(), BODY)
    assert dynamodb.get(PROJECT, evidence().id) is None


def test_a_body_that_is_gone_is_none(dynamodb: DynamoDbEvidenceStore) -> None:
    """Taken by somebody's hand, say."""
    kept = dynamodb.put(PROJECT, evidence(), BODY)
    lose_the_body()
    assert dynamodb.body(PROJECT, kept.content_hash) is None


def test_a_body_that_was_seen_to_be_gone_is_stored_anew(dynamodb: DynamoDbEvidenceStore) -> None:
    """Although its evidence stands in the first half of its time, and what is known of the body as well."""
    kept = dynamodb.put(PROJECT, evidence(), BODY)
    lose_the_body()
    assert dynamodb.put(PROJECT, evidence(), BODY, body_gone=True).id == kept.id
    assert dynamodb.body(PROJECT, kept.content_hash) == BODY


def test_an_id_is_made_of_task_url_body_and_reader() -> None:
    """Each of them makes another one, always the same; a fragment or another spelling of the host does not."""
    ids = [
        evidence_id(URL, "a" * 64, None),
        evidence_id(URL, "b" * 64, None),
        evidence_id(URL + "/", "a" * 64, None),
        evidence_id(URL, "a" * 64, "task"),
        evidence_id(URL, "a" * 64, None, "search_hit:openalex-main"),
    ]
    assert len(set(ids)) == 5
    assert all(map(is_evidence_id, ids))
    for same in (URL + "#top", "HTTPS://EXAMPLE.com:443/bells"):
        assert evidence_id(same, "a" * 64, None) == ids[0]
    assert evidence_id("s3://documents/a#1", "a" * 64, None) == evidence_id("s3://documents/a", "a" * 64, None)
