"""The function behind the inbox as it is deployed: what a file of questions is answered with, what a death costs."""

import hashlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import orjson
import pytest

from tests.fakes.cloud import LambdaContext
from tests.fakes.functions import sample
from tests.fakes.template import resources
from tests.functional.deployed import Deployed, deployed, with_canary
from tests.simulator import Simulator
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.entry.answer_questions import AT_A_TIME, LEFT_FOR_PUTTING_MS
from zarniwoop.entry.question_lines import MAX_FILE_BYTES, MAX_LINES
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.keys import question_file_key
from zarniwoop.stores.question_files import AnswersMoved, PutAnswers, QuestionFile, QuestionsChanged, question_file
from zarniwoop.tools.tool import Tool

WHOLE = 180_000
"""What a round has at its beginning, in milliseconds."""


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture(scope="module")
def shared(simulator: Simulator) -> Iterator[Deployed]:
    wanted = with_canary(simulator, "openalex-main")
    with pytest.MonkeyPatch.context() as patched, deployed(simulator, patched, wanted) as made:
        yield made


class Inbox:
    """One test's project: what is put there, what S3 tells of it, and what lies beside it afterwards."""

    def __init__(self, stack: Deployed, project: str) -> None:
        self.stack = stack
        self._objects = stack.cloud.client("s3")
        self.key = f"acme/{project}/folder/monday.questions.jsonl"
        self.answers_key = f"acme/{project}/folder/monday.answers.jsonl"

    def put(self, *lines: Any) -> dict[str, Any]:
        """The lines, as JSON or as they are; the message that EventBridge makes of it."""
        return self.put_raw(b"\n".join(each if isinstance(each, bytes) else orjson.dumps(each) for each in lines))

    def put_raw(self, body: bytes) -> dict[str, Any]:
        etag = self._objects.put_object(Bucket="inbox", Key=self.key, Body=body)["ETag"].strip('"')
        return self.message(self.key, etag)

    def message(self, key: str, etag: str) -> dict[str, Any]:
        (record,) = sample("answer_questions")["Records"]
        event = orjson.loads(record["body"])
        event["detail"]["object"] |= {"key": key, "etag": etag}
        return {**record, "body": orjson.dumps(event).decode()}

    def follow(self, message: dict[str, Any], remaining_ms: int = WHOLE) -> bool:
        """Hand the message to the function; whether it is done with."""
        context = LambdaContext(remaining_ms=remaining_ms)
        return not self.stack.call("answer_questions", {"Records": [message]}, context)["batchItemFailures"]

    def answers(self) -> list[Any]:
        listed = self._objects.list_objects_v2(Bucket="inbox", Prefix=self.answers_key).get("Contents", [])
        if not listed:
            return []
        body = self._objects.get_object(Bucket="inbox", Key=self.answers_key)["Body"].read()
        assert body.endswith(b"\n")
        return [orjson.loads(line) for line in body.splitlines()]

    def delete(self, key: str) -> None:
        self._objects.delete_object(Bucket="inbox", Key=key)

    def asked(self) -> int:
        return len(self.stack.simulator.requests())


@pytest.fixture
def inbox(shared: Deployed, request: pytest.FixtureRequest) -> Inbox:
    shared.forget_calls()
    return Inbox(shared, f"p-{hashlib.sha256(request.node.name.encode()).hexdigest()[:12]}")


def question(query: str = "graphene", **more: Any) -> dict[str, Any]:
    return {"arguments": {"query": query, "modality": "ACADEMIC", "max_results": 2}, **more}


def test_the_sample_names_a_file_of_questions(inbox: Inbox) -> None:
    """One that is gone by now is nobody's failure."""
    (record,) = sample("answer_questions")["Records"]
    put = orjson.loads(record["body"])["detail"]["object"]
    assert question_file(put["key"], put["etag"]) is not None
    assert inbox.follow(record)


def test_every_line_is_answered_by_its_number_and_bad_ones_with_the_way_out(inbox: Inbox) -> None:
    """Blank ones are counted and not answered; nothing of a bad line is repeated but its id."""
    message = inbox.put(
        b"\xef\xbb\xbf" + orjson.dumps(question(id="first")) + b"\r",
        b"",
        b"{canary",
        {**question(), "arguments": {"query": "canary", "modality": "SMELL"}, "id": "bad"},
        question(tool="canary"),
        [question()],
        question(scope={"tenant_id": "other", "project_id": "demo"}),
        {"arguments": {**question()["arguments"], "project_id": "another"}},
        question(tool="research_search_expert", id="last", arguments={"query": "graphene", "modality": "ACADEMIC"}),
        {"id": "x" * 200, **question()},
        b"",
    )
    assert inbox.follow(message)
    answers = inbox.answers()
    assert [(each["line"], each["id"], each["ok"]) for each in answers] == [
        (1, "first", True),
        (3, None, False),
        (4, "bad", False),
        (5, None, False),
        (6, None, False),
        (7, None, False),
        (8, None, False),
        (9, "last", True),
        (10, None, False),
    ]
    refused = {each["line"]: each["error"] for each in answers if not each["ok"]}
    fields = {number: error["field"] for number, error in refused.items()}
    assert fields == {3: "line", 4: "modality", 5: "tool", 6: "line", 7: "scope", 8: "project_id", 10: "id"}
    assert refused[3]["detail"] == "the line is not valid JSON (column 2)"
    assert all(error["suggested_action"] for error in refused.values())
    assert b"canary" not in orjson.dumps(list(refused.values()))
    assert answers[0]["data"]["hits"]
    assert answers[0]["data"]["attempts"][0]["instance_id"] == "openalex-main"


def test_the_same_file_dropped_twice_is_answered_once(inbox: Inbox) -> None:
    """Delivered again, put again as it was, or after its lease is long gone; another version is asked."""
    message = inbox.put(question())
    assert inbox.follow(message)
    asked = inbox.asked()
    assert inbox.follow(message)
    assert inbox.follow(inbox.put(question()))
    assert inbox.asked() == asked == 1
    assert inbox.follow(inbox.put(question(), question("graphite")))
    assert [each["line"] for each in inbox.answers()] == [1, 2]


def test_whoever_takes_the_answers_away_has_them_put_again_and_nobody_asked(inbox: Inbox) -> None:
    """What was answered is kept for as long as temporary content is."""
    message = inbox.put(question())
    inbox.follow(message)
    answers, asked = inbox.answers(), inbox.asked()
    inbox.delete(inbox.answers_key)
    assert inbox.follow(message)
    assert (inbox.answers(), inbox.asked()) == (answers, asked)


def test_of_two_deliveries_at_once_one_asks_and_the_other_comes_again(inbox: Inbox) -> None:
    """By then all is answered, or its turn has come."""
    message = inbox.put(question())
    file = _file(inbox, message)
    memory = inbox.stack.environment.leased_memory
    held = memory.take(file.project, question_file_key(file.sha256), lease_seconds=60, keep_seconds=60)
    assert held is not None
    assert not inbox.follow(message)
    assert inbox.asked() == 0
    memory.let_go(held)
    assert inbox.follow(message)
    assert inbox.asked() == 1


def _file(inbox: Inbox, message: dict[str, Any]) -> QuestionFile:
    put = orjson.loads(message["body"])["detail"]["object"]
    file = question_file(put["key"], put["etag"])
    assert file is not None
    return file


def test_a_round_that_dies_is_taken_up_where_it_was(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last eight lines are asked again, and no others; the answers are put once, whole and in order."""
    message = inbox.put(*(question(f"graphene {number}", id=str(number)) for number in range(3 * AT_A_TIME)))
    files = inbox.stack.environment.question_files
    put_part = files.put_part

    def dying(file: Any, number: int, body: bytes) -> None:
        if number == 1:
            raise MemoryError
        put_part(file, number, body)

    with monkeypatch.context() as broken:
        broken.setattr(files, "put_part", dying)
        assert not inbox.follow(message)
    assert (inbox.asked(), inbox.answers()) == (2 * AT_A_TIME, [])
    assert inbox.follow(message)
    assert inbox.asked() == 4 * AT_A_TIME
    assert [each["id"] for each in inbox.answers()] == [str(number) for number in range(3 * AT_A_TIME)]


def test_what_there_is_no_time_for_is_a_message_of_its_own(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The very same; and the lease is free by the time that it is there."""
    message = inbox.put(*(question(f"graphene {number}") for number in range(AT_A_TIME + 1)))
    context = LambdaContext(remaining_ms=WHOLE)
    files = inbox.stack.environment.question_files
    put_part = files.put_part

    def slow(file: Any, number: int, body: bytes) -> None:
        put_part(file, number, body)
        context.remaining_ms = LEFT_FOR_PUTTING_MS - 1

    with monkeypatch.context() as slowed:
        slowed.setattr(files, "put_part", slow)
        answer = inbox.stack.call("answer_questions", {"Records": [message]}, context)
    assert (answer, inbox.answers()) == ({"batchItemFailures": []}, [])
    sqs, url = inbox.stack.cloud.client("sqs"), inbox.stack.cloud.variables["QUESTIONS_QUEUE_URL"]
    (sent,) = sqs.receive_message(QueueUrl=url)["Messages"]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=sent["ReceiptHandle"])
    assert sent["Body"] == message["body"]
    assert inbox.follow({**message, "body": sent["Body"]})
    assert (len(inbox.answers()), inbox.asked()) == (AT_A_TIME + 1, AT_A_TIME + 1)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "the file has no questions"),
        (b"\n \r\n", "the file has no questions"),
        (b'{"arguments": {}}\n' * (MAX_LINES + 1), f"the file has more than {MAX_LINES} questions"),
        (b" " * (MAX_FILE_BYTES + 1), f"the file has more than {MAX_FILE_BYTES:,} bytes"),
    ],
)
def test_a_file_that_is_too_much_or_nothing_is_answered_with_one_line(inbox: Inbox, body: bytes, detail: str) -> None:
    """What is wrong with it, and the way out; nobody is asked."""
    assert inbox.follow(inbox.put_raw(body))
    (answer,) = inbox.answers()
    assert (answer["line"], answer["error"]["field"], answer["error"]["detail"]) == (None, "file", detail)
    assert answer["error"]["suggested_action"]
    assert inbox.asked() == 0


@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_a_version_that_is_gone_is_not_answered(inbox: Inbox, how: str) -> None:
    """Whoever put another one has caused an event of its own."""
    message = inbox.put(question())
    if how == "replaced":
        inbox.put(question("graphite"))
    else:
        inbox.delete(inbox.key)
    assert inbox.follow(message)
    assert (inbox.answers(), inbox.asked()) == ([], 0)


def test_a_late_round_does_not_put_its_answers_over_newer_ones(inbox: Inbox) -> None:
    """Neither when the file was put anew, nor when answers came between its look and its put; the newest one does."""
    old = _file(inbox, inbox.put(question()))
    files = inbox.stack.environment.question_files
    nothing = files.answers(old)
    new = _file(inbox, inbox.put(question("graphite")))
    with pytest.raises(QuestionsChanged):
        files.put_answers(old, b"{}\n", nothing)
    files.put_answers(new, b'{"line":1}\n', nothing)
    with pytest.raises(AnswersMoved):
        files.put_answers(new, b"{}\n", nothing)
    assert inbox.answers() == [{"line": 1}]
    assert (files.answers(new).to_this, files.answers(old).to_this) == (True, False)


def test_answers_that_came_meanwhile_to_an_older_version_are_replaced(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By those to the version that lies there."""
    message = inbox.put(question())
    files = inbox.stack.environment.question_files
    real, puts = files.put_answers, list[PutAnswers]()

    def late(file: QuestionFile, body: bytes, over: PutAnswers) -> None:
        if not puts:
            inbox.stack.cloud.client("s3").put_object(Bucket="inbox", Key=inbox.answers_key, Body=b'{"line":0}\n')
        puts.append(over)
        real(file, body, over)

    monkeypatch.setattr(files, "put_answers", late)
    assert inbox.follow(message)
    assert ([each["line"] for each in inbox.answers()], len(puts)) == ([1], 2)


@pytest.mark.parametrize("fault", [ConfigurationUnavailable("away"), StoreUnavailable("away")])
def test_what_is_wrong_with_us_is_no_answer(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch, fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """The message comes again; when we are well, everything is asked."""
    message = inbox.put(question("canary"), question())

    def failing(*_arguments: Any) -> Any:
        raise fault

    with monkeypatch.context() as broken:
        if isinstance(fault, ConfigurationUnavailable):
            broken.setattr(Tool, "call", failing)
        else:
            broken.setattr(inbox.stack.environment.question_files, "read", failing)
        assert not inbox.follow(message)
    assert inbox.answers() == []
    assert "canary" not in caplog.text
    assert inbox.follow(message)
    assert len(inbox.answers()) == 2


def test_a_line_that_breaks_something_is_answered_as_broken_and_the_others_are_answered(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One poisoned line must not keep a whole file in the queue. Nor does a search that everybody failed."""
    call = Tool.call

    def breaking(tool: Any, arguments: Any, *rest: Any) -> Any:
        if arguments.query == "canary":
            raise RuntimeError("canary")
        return call(tool, arguments, *rest)

    monkeypatch.setattr(Tool, "call", breaking)
    inbox.stack.simulator.fault("/openalex", "503", times=1)
    assert inbox.follow(inbox.put(question("canary")))
    (broken,) = inbox.answers()
    assert (broken["line"], broken["error"]["status"]) == (1, 500)
    assert "canary" not in caplog.text
    assert inbox.follow(inbox.put(question()))
    (failed,) = inbox.answers()
    assert (failed["ok"], failed["data"]["attempts"][0]["reason"]) == (False, "provider_unavailable")


@pytest.mark.parametrize(
    "key",
    [
        "acme/demo/monday.answers.jsonl",
        "acme/demo/.questions.jsonl",
        "acme/demo/folder/.questions.jsonl",
        "acme/monday.questions.jsonl",
        "acme/../monday.questions.jsonl",
        "ACME/demo/monday.questions.jsonl",
        "acme/demo/monday.jsonl",
    ],
)
def test_what_is_no_file_of_questions_of_a_project_is_let_be(inbox: Inbox, key: str) -> None:
    """An answers file among them: nothing is read, asked or written."""
    assert inbox.follow(inbox.message(key, "0" * 32))
    assert inbox.stack.aws_calls == []


@pytest.mark.parametrize("body", ["{", "[]", '{"detail": {}}', '{"detail": {"object": {"key": 1, "etag": "x"}}}'])
def test_a_message_that_is_no_event_goes_to_the_dead_letters(inbox: Inbox, body: str) -> None:
    """Where it is seen."""
    (record,) = sample("answer_questions")["Records"]
    assert not inbox.follow({**record, "body": body})


def test_no_answers_file_can_start_the_function_or_be_taken_for_questions_by_its_role() -> None:
    """By the rule's pattern, and by what the role may write: nothing that ends as questions do."""
    pattern = resources("AWS::Events::Rule")["QuestionsPut"]["EventPattern"]["detail"]["object"]["key"]
    assert pattern == [{"suffix": ".questions.jsonl"}]
    role = resources("AWS::IAM::Role")["AnswerQuestionsRole"]
    (policy,) = role["Policies"]
    written = [
        resource["Sub"]
        for statement in policy["PolicyDocument"]["Statement"]
        if "s3:PutObject" in statement["Action"]
        for resource in [statement["Resource"]]
    ]
    assert "${InboxBucket.Arn}/*.answers.jsonl" in written
    questions = "${InboxBucket.Arn}/acme/demo/answers.jsonl/content/questions/x.questions.jsonl"
    assert not [each for each in written if fnmatchcase(questions, each)]
