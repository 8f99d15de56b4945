"""Documents through the functions as they are deployed: put, replaced, deleted, refused, listed and searched."""

import threading
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import orjson
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from tests.fakes.aws import aws_in_process
from tests.fakes.clock import FakeClock
from tests.fakes.cloud import Cloud, LambdaContext, cloud
from tests.fakes.document_files import docx, pdf
from tests.fakes.document_reader import ReaderInProcess
from tests.fakes.functions import body_of, posted, sample
from tests.functional.deployed import Deployed, deployed
from tests.simulator import Simulator
from zarniwoop.entry.index_documents import index_documents
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.wiring import Environment

PREFIX = "acme/demo/documents/"
WHOLE = 180_000
"""What a round has at its beginning, in milliseconds."""
_DEMO = ProjectKey(tenant_id="acme", project_id="demo")
SWITCHES = {"PutObject manifest.json"}


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
def stack(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """Without a single setting."""
    with deployed(simulator, monkeypatch, {}) as made:
        yield made


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Environment, "reader", lambda _self: ReaderInProcess())


def put(cloud: Cloud, name: str, body: bytes | str) -> dict[str, Any]:
    """Put a document, and what EventBridge makes of it."""
    raw = body.encode() if isinstance(body, str) else body
    cloud.client("s3").put_object(Bucket=cloud.variables["DOCUMENTS_BUCKET"], Key=PREFIX + name, Body=raw)
    return changed(name)


def delete(cloud: Cloud, name: str) -> dict[str, Any]:
    cloud.client("s3").delete_object(Bucket=cloud.variables["DOCUMENTS_BUCKET"], Key=PREFIX + name)
    return changed(name, "Object Deleted")


def changed(name: str, what: str = "Object Created") -> dict[str, Any]:
    (created, *_) = sample("index_documents")["Records"]
    event = orjson.loads(created["body"])
    event["detail-type"], event["detail"]["object"]["key"] = what, PREFIX + name
    return {**created, "messageId": f"{what} {name}", "body": orjson.dumps(event).decode()}


def follow(stack: Deployed, *records: dict[str, Any], context: LambdaContext | None = None) -> list[str]:
    """Hand the messages to the function; returns those that are to come again."""
    answer = stack.call("index_documents", {"Records": list(records)}, context or LambdaContext(remaining_ms=WHOLE))
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def search(stack: Deployed, query: str, modality: str = "RAG", **arguments: Any) -> Any:
    asked = {"query": query, "modality": modality, **arguments}
    return stack.envelope("research_search", posted(asked))["data"]


def names(data: Any) -> list[str]:
    return [hit["extras"]["document"] for hit in data["hits"]]


def queued(cloud: Cloud) -> list[Any]:
    received = cloud.client("sqs").receive_message(
        QueueUrl=cloud.variables["DOCUMENTS_QUEUE_URL"], MaxNumberOfMessages=10
    )
    return [orjson.loads(message["Body"]) for message in received.get("Messages", ())]


def test_documents_of_every_kind_are_searched_without_a_setting(stack: Deployed) -> None:
    """Through the reader's own process, as they are in the cloud."""
    follow(
        stack,
        put(stack.cloud, "notes.txt", "The founder keeps the alloy of his bells."),
        put(stack.cloud, "guide.md", "# Guide\n\nHow bells are tuned."),
        put(stack.cloud, "page.html", "<html><body><p>Bells of Kyoto, 京都の鐘</p></body></html>"),
        put(stack.cloud, "lease.pdf", pdf(["The lease", "Three months of notice"], title="Lease")),
        put(stack.cloud, "letter.docx", docx("Dear Sir", "the bells arrived", title="Letter")),
    )
    bells = search(stack, "bells", "INTERNAL_DOC")
    assert sorted(names(bells)) == ["guide.md", "letter.docx", "notes.txt", "page.html"]
    assert bells["attempts"][0]["instance_id"] == "local-index"
    (notice,) = search(stack, "notice")["hits"]
    assert (notice["title"], notice["extras"]["page"]) == ("Lease", 2)
    assert notice["content"]["text"] == "Three months of notice"
    assert names(search(stack, "京都")) == ["page.html"]


def test_the_sample_batch_is_handled_whole(stack: Deployed) -> None:
    """Events of two kinds and a message of our own, of two projects; each has its manifest then."""
    assert stack.call("index_documents", sample("index_documents")) == {"batchItemFailures": []}
    listed = stack.cloud.client("s3").list_objects_v2(Bucket=stack.cloud.variables["DOCUMENTS_BUCKET"])["Contents"]
    switched = [each["Key"] for each in listed if each["Key"].endswith("manifest.json")]
    assert switched == ["_index/acme/demo/manifest.json", "_index/acme/lab/manifest.json"]


def test_filters_reach_the_index(stack: Deployed, quick: None) -> None:
    """Over the expert tool."""
    follow(stack, put(stack.cloud, "a.txt", "bells"), put(stack.cloud, "b.pdf", pdf(["bells"])))
    asked = {"query": "bells", "modality": "RAG", "filetype": "pdf", "date_to": "2024-12-31"}
    data = stack.envelope("research_search_expert", posted(asked, tool="research_search_expert"))["data"]
    assert names(data) == ["b.pdf"]
    assert {each["handling"] for each in data["applied"]} == {"provider"}


def test_a_replaced_document_is_found_by_its_new_words_and_a_deleted_one_not_at_all(
    stack: Deployed, quick: None
) -> None:
    """The next search sees it."""
    follow(stack, put(stack.cloud, "a.txt", "bronze"), put(stack.cloud, "b.txt", "iron"))
    assert (names(search(stack, "bronze")), names(search(stack, "iron"))) == (["a.txt"], ["b.txt"])
    follow(stack, put(stack.cloud, "a.txt", "silver"), delete(stack.cloud, "b.txt"))
    assert [names(search(stack, word)) for word in ("bronze", "silver", "iron")] == [[], ["a.txt"], []]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 0, 1, 1, 2, 2)])
def test_events_may_come_twice_late_and_in_any_order(stack: Deployed, quick: None, order: Sequence[int]) -> None:
    """None of them says what to do, only where to look."""
    events = [
        put(stack.cloud, "a.txt", "bronze"),
        delete(stack.cloud, "a.txt"),
        put(stack.cloud, "a.txt", "silver"),
    ]
    for number in order:
        assert follow(stack, events[number]) == []
    assert (names(search(stack, "silver")), names(search(stack, "bronze"))) == (["a.txt"], [])


def test_an_event_that_never_came_is_made_up_for_by_the_next_one(stack: Deployed, quick: None) -> None:
    """Of any document of the project."""
    put(stack.cloud, "lost.txt", "bronze")
    follow(stack, put(stack.cloud, "other.txt", "iron"))
    assert names(search(stack, "bronze")) == ["lost.txt"]


def test_a_refused_document_is_listed_with_its_reason(stack: Deployed, quick: None) -> None:
    """And the others are searched; the providers' report counts it."""
    follow(
        stack,
        put(stack.cloud, "good.txt", "bronze"),
        put(stack.cloud, "empty.txt", b""),
        put(stack.cloud, "locked.pdf", pdf(["x"], password="x")),
        put(stack.cloud, "latin.txt", "Größe".encode("latin-1")),
        put(stack.cloud, "really.pdf", b"plain text"),
        put(stack.cloud, "bomb.docx", docx("x", extra={"word/media/zeros": bytes(20_000_000)})),
    )
    put(stack.cloud, "waiting.txt", "iron")
    data = stack.envelope("documents", sample("documents"))["data"]
    assert {each["name"]: each["reason"] for each in data["documents"]} == {
        "bomb.docx": "expands_too_much",
        "empty.txt": "empty",
        "latin.txt": "unknown_encoding",
        "locked.pdf": "encrypted",
        "really.pdf": "wrong_extension",
    }
    assert all(each["explanation"] for each in data["documents"])
    assert (data["index"]["documents"], data["index"]["refused"]) == (1, 5)
    everything = stack.call("documents", sample("documents.invoke"))["data"]
    assert [(each["name"], each["status"]) for each in everything["documents"]] == [
        ("bomb.docx", "refused"),
        ("empty.txt", "refused"),
        ("good.txt", "indexed"),
        ("latin.txt", "refused"),
        ("locked.pdf", "refused"),
        ("really.pdf", "refused"),
        ("waiting.txt", "pending"),
    ]
    asked = posted({"provider_id": "local-index"}, tool="research_providers")
    providers = stack.envelope("research_providers", asked)["data"]
    (row,) = providers["providers"]
    assert "1 documents in 1 passages" in row["status_text"]
    assert "5 refused" in row["status_text"]
    assert providers["routing"]["RAG"] == ["local-index"]


@pytest.mark.parametrize("status", [None, "indexed", "refused", "pending"])
def test_documents_are_listed_page_by_page(stack: Deployed, quick: None, status: str | None) -> None:
    """Every one exactly once, whatever the status."""
    events = [put(stack.cloud, f"{number}.txt", "bronze") for number in range(5)]
    events += [put(stack.cloud, f"{number}.pdf", b"") for number in range(5)]
    follow(stack, *events)
    for number in range(5):
        put(stack.cloud, f"{number}.md", "waiting")
    wanted = {"indexed": "txt", "refused": "pdf", "pending": "md"}
    listed, after = [], ""
    while after is not None:
        arguments = {"limit": 2, "after": after, **({"status": status} if status else {})}
        event = sample("documents.invoke") | {"arguments": arguments}
        page = stack.call("documents", event)["data"]
        assert len(page["documents"]) <= 2
        listed += [each["name"] for each in page["documents"]]
        after = page["next_after"]
    kinds = [wanted[status]] if status else wanted.values()
    assert listed == sorted(f"{number}.{kind}" for number in range(5) for kind in kinds)


def test_a_project_without_documents_lists_none(stack: Deployed) -> None:
    """And says where they go."""
    data = stack.call("documents", sample("documents.invoke"))["data"]
    assert data == {
        "documents": [],
        "next_after": None,
        "place": "s3://documents/acme/demo/documents/",
        "index": None,
    }
    assert stack.envelope("documents", sample("documents"))["data"]["documents"] == []


def test_what_asks_wrongly_for_documents_is_refused(stack: Deployed) -> None:
    """As everywhere else."""
    wrong = sample("documents") | {"queryStringParameters": {"status": "lost"}}
    response = stack.call("documents", wrong)
    assert (response["statusCode"], body_of(response)["error"]["field"]) == (400, "status")
    stack.cloud.variables["DOCUMENTS_BUCKET"] = "gone"
    stack.environment._variables = {**stack.cloud.variables}
    response = stack.call("documents", sample("documents"))
    assert (response["statusCode"], body_of(response)["error"]["wait_seconds"]) == (503, 1.0)


def test_a_message_of_nobody_goes_back_to_the_queue_and_an_object_that_is_no_document_does_not(
    stack: Deployed, quick: None
) -> None:
    """What cannot be read ends among the dead letters, where somebody sees it."""
    good = put(stack.cloud, "a.txt", "bronze")
    broken = {**good, "messageId": "broken", "body": "{"}
    foreign = {**good, "messageId": "foreign", "body": '{"project": {"tenant_id": "../x", "project_id": "demo"}}'}
    other = {**good, "messageId": "other", "body": '{"detail": {"object": {"key": "_index/acme/demo/v1.sqlite"}}}'}
    assert follow(stack, broken, foreign, other, good) == ["broken", "foreign"]
    assert names(search(stack, "bronze")) == ["a.txt"]


def test_a_round_that_runs_out_of_time_leaves_a_message_for_the_rest(stack: Deployed, quick: None) -> None:
    """And hands nothing back: what is left is not a failure."""
    records = [put(stack.cloud, f"{number}.txt", f"word{number}") for number in range(3)]
    assert follow(stack, *records, context=LambdaContext(remaining_ms=1_000)) == []
    assert queued(stack.cloud) == [{"project": {"tenant_id": "acme", "project_id": "demo"}}]
    assert names(search(stack, "word1")) == []
    left = {**records[0], "body": '{"project": {"tenant_id": "acme", "project_id": "demo"}}'}
    assert follow(stack, left, context=LambdaContext(remaining_ms=100_000)) == []
    assert names(search(stack, "word1")) == ["1.txt"]


def test_a_document_that_s3_does_not_answer_for_comes_again_and_the_others_are_indexed(
    stack: Deployed, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may answer the next time."""
    records = [put(stack.cloud, "a.txt", "bronze"), put(stack.cloud, "locked.txt", "iron")]
    fetch = type(stack.environment.documents).fetch

    def refused(self: Any, project: Any, document: Any, into: Any) -> None:
        if document.name == "locked.txt":
            raise StoreUnavailable("S3 refused a call: SlowDown")
        fetch(self, project, document, into)

    monkeypatch.setattr(type(stack.environment.documents), "fetch", refused)
    assert len(follow(stack, *records)) == 2
    assert names(search(stack, "bronze")) == ["a.txt"]
    monkeypatch.setattr(type(stack.environment.documents), "fetch", fetch)
    assert follow(stack, *records) == []
    assert names(search(stack, "iron")) == ["locked.txt"]


@pytest.mark.parametrize("code", ["AccessDenied", "InvalidObjectState", "KMS.DisabledException"])
def test_a_document_that_s3_denies_is_recorded_and_spoils_no_later_event_of_its_project(
    stack: Deployed, quick: None, code: str
) -> None:
    """A foreign key or an archive stays as it is; once that is mended, the next change of the project takes it in."""
    client: Any = stack.environment.documents_to_index._client  # type: ignore[attr-defined]

    def denied(params: Any, **_rest: Any) -> Any:
        if params["url_path"].endswith("locked.txt"):
            answered = {"Error": {"Code": code, "Message": "a fault of the test"}}
            return AWSResponse("https://s3.test", 403, HTTPHeaders(), None), answered
        return None

    client.meta.events.register("before-call.s3.GetObject", denied, unique_id="denied")
    assert follow(stack, put(stack.cloud, "locked.txt", "iron")) == []
    assert follow(stack, put(stack.cloud, "a.txt", "bronze")) == []
    assert names(search(stack, "bronze")) == ["a.txt"]
    (refused,) = stack.envelope("documents", sample("documents"))["data"]["documents"]
    assert (refused["name"], refused["reason"]) == ("locked.txt", "unreadable")
    client.meta.events.unregister("before-call.s3.GetObject", unique_id="denied")
    assert follow(stack, put(stack.cloud, "b.txt", "silver")) == []
    assert names(search(stack, "iron")) == ["locked.txt"]


def test_a_fault_of_ours_in_one_project_does_not_keep_the_others_waiting(
    stack: Deployed, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes again, and is logged without a word of the document."""
    good = put(stack.cloud, "a.txt", "bronze")
    other = {**good, "messageId": "other", "body": '{"project": {"tenant_id": "acme", "project_id": "lab"}}'}
    documents = stack.environment.documents_to_index.documents

    def breaks(project: Any, **given: Any) -> Any:
        if project.project_id == "lab":
            raise KeyError("secret words")
        return documents(project, **given)

    monkeypatch.setattr(stack.environment.documents_to_index, "documents", breaks)
    assert follow(stack, other, good) == ["other"]
    assert names(search(stack, "bronze")) == ["a.txt"]


def test_a_stopped_project_keeps_its_documents_and_gets_its_index_again_when_it_is_searched(
    stack: Deployed, quick: None
) -> None:
    """The search says so, and asks for it."""
    follow(stack, put(stack.cloud, "a.txt", "bronze"))
    stack.call("project_stop", sample("project_stop"))
    data = search(stack, "bronze")
    assert (data["hits"], "are being indexed" in data["note"]) == ([], True)
    (message,) = queued(stack.cloud)
    follow(stack, {**changed("a.txt"), "body": orjson.dumps(message).decode()})
    assert names(search(stack, "bronze")) == ["a.txt"]


def test_the_standing_endpoint_can_be_switched_off(stack: Deployed) -> None:
    """By an endpoint of its protocol."""
    prefix = "research.endpoint.local-index"
    stack.cloud.set_all({f"{prefix}.protocol": "local-index", f"{prefix}.enabled": "false"})
    envelope = stack.envelope("research_search", posted({"query": "x", "modality": "RAG"}))
    assert envelope["error"]["type"] == "urn:zarniwoop:problem:disabled"


class Killed(BaseException):
    """The function is no more."""


def _same(made: Environment) -> Environment:
    return made


def _calls_of_a_round(stack: Deployed, record: dict[str, Any], *, kill_at: int | None = None, after: bool) -> list[str]:
    """The S3 calls of one round; at one of them the function dies, before it has an effect or after."""
    calls: list[str] = []
    client: Any = stack.environment.documents_to_index._client  # type: ignore[attr-defined]

    def begun(model: Any, params: Any, **_rest: Any) -> None:
        calls.append(f"{model.name} {params['url_path'].rpartition('/')[2]}")
        if not after and len(calls) - 1 == kill_at:
            raise Killed

    def done(**_rest: Any) -> None:
        if after and len(calls) - 1 == kill_at:
            raise Killed

    client.meta.events.register("before-call", begun, unique_id="begun")
    client.meta.events.register("after-call", done, unique_id="done")
    try:
        follow(stack, record)
    except Killed:
        calls.append("killed")
    finally:
        client.meta.events.unregister("before-call", unique_id="begun")
        client.meta.events.unregister("after-call", unique_id="done")
    return calls


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_s3_call_leaves_the_previous_index_serving_and_the_next_round_catches_up(
    stack: Deployed, quick: None, after: bool
) -> None:
    """Every boundary of a round that replaces, adds and deletes."""
    follow(stack, put(stack.cloud, "a.txt", "round0"), put(stack.cloud, "gone.txt", "round0"))
    follow(stack, put(stack.cloud, "a.txt", "round1"), delete(stack.cloud, "gone.txt"))
    round_number, boundary = 1, 0
    while True:
        last, this = f"round{round_number}", f"round{round_number + 1}"
        put(stack.cloud, f"{last}.txt", f"doomed {last}")
        follow(stack, put(stack.cloud, "a.txt", last))
        delete(stack.cloud, f"{last}.txt")
        record = put(stack.cloud, "a.txt", this)
        calls = _calls_of_a_round(stack, record, kill_at=boundary, after=after)
        if calls[-1] != "killed":
            break
        begun = calls[:-1]
        switched = any(call in SWITCHES for call in (begun if after else begun[:-1]))
        assert bool(names(search(stack, this))) is switched, begun
        assert bool(names(search(stack, f"doomed {last}", "INTERNAL_DOC"))) is not switched, begun
        follow(stack, record)
        assert (names(search(stack, this)), names(search(stack, last))) == (["a.txt"], []), begun
        round_number, boundary = round_number + 1, boundary + 1
    assert boundary == len(calls) >= 7
    assert any(call in SWITCHES for call in calls)


def test_uploads_and_deletions_by_many_at_once_lose_nothing(monkeypatch: pytest.MonkeyPatch, quick: None) -> None:
    """Eight functions side by side, each with a batch of its own; what conflicts looks again or comes again."""
    with aws_in_process(monkeypatch), cloud() as data_plane:
        environments = [data_plane.environment(clock=FakeClock()) for _ in range(8)]
        for each in environments:
            assert each.documents
            assert each.documents_to_index
            assert each.log
        put(data_plane, "0-doomed.txt", "doomed")
        handlers = [index_documents(environment=partial(_same, each)) for each in environments]
        handlers[0]({"Records": [changed("0-doomed.txt")]}, LambdaContext(remaining_ms=WHOLE))
        waiting = [put(data_plane, f"{number}.txt", f"word{number}") for number in range(24)]
        waiting.append(delete(data_plane, "0-doomed.txt"))
        lock = threading.Lock()

        def work(handler: Any) -> None:
            """As Lambda's poller does it: a message that failed becomes visible again."""
            while True:
                with lock:
                    batch = [waiting.pop() for _ in range(min(3, len(waiting)))]
                if not batch:
                    return
                failed = handler({"Records": batch}, LambdaContext(remaining_ms=WHOLE))["batchItemFailures"]
                again = {each["itemIdentifier"] for each in failed}
                with lock:
                    waiting.extend(record for record in batch if record["messageId"] in again)

        threads = [threading.Thread(target=work, args=(handler,)) for handler in handlers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with environments[0].library.opened(_DEMO) as index:
            assert index is not None
            rows = index.connection.execute("SELECT name FROM documents ORDER BY name").fetchall()
        assert {name for (name,) in rows} == {f"{number}.txt" for number in range(24)}
