"""The fetching function, asked over Lambda: one attempt, within the deadline, and every fault by its name."""

import io
from dataclasses import replace
from typing import Any

import orjson
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError

from tests.fakes.clock import FakeClock
from tests.fakes.mcp import FakeLambdaClient
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ZarniwoopError
from zarniwoop.contract.page import (
    ExtractedPage,
    FetcherFault,
    FetcherUnavailable,
    PageAnswer,
    PageOutcome,
    PageQuestion,
)
from zarniwoop.pages.page_form import answer_form, question_of
from zarniwoop.pages.remote import RemoteFetcher
from zarniwoop.stores.clients import lambda_client

QUESTION = PageQuestion(url="https://bells.example/tower?secret=1", seconds=9.0)
ANSWER = PageAnswer(outcome=PageOutcome.NOT_FOUND, reason="gone", url=QUESTION.url, final_url=QUESTION.url)


def _lambda(answer: Any) -> FakeLambdaClient:
    """A client whose every function answers so."""
    return FakeLambdaClient(lambda _name, _message: answer)


def _sending(payload: bytes, function_error: str | None = None) -> FakeLambdaClient:
    told = {"FunctionError": function_error} if function_error else {}
    return _lambda({"Payload": io.BytesIO(payload), **told})


def _fetch(client: FakeLambdaClient, seconds: float = 20.0, question: PageQuestion = QUESTION) -> PageAnswer:
    deadline = Deadline.after(seconds, FakeClock())
    return RemoteFetcher(client, "stack-page-fetcher").fetch(question, deadline=deadline)


def test_a_question_is_put_to_the_function_and_its_answer_is_read() -> None:
    client = _sending(orjson.dumps(answer_form(ANSWER)))
    assert _fetch(client) == ANSWER
    (asked,) = client.asked
    assert (asked["FunctionName"], asked["InvocationType"]) == ("stack-page-fetcher", "RequestResponse")
    assert question_of(orjson.loads(asked["Payload"])) == QUESTION


def test_no_more_is_waited_than_the_deadline_has_and_the_function_is_given_less() -> None:
    """Connecting and carrying the answer take time as well."""
    client = _sending(orjson.dumps(answer_form(ANSWER)))
    _fetch(client, seconds=6.5)
    assert client.waited == [5.0]
    assert question_of(orjson.loads(client.asked[0]["Payload"])).seconds == 4.0


def test_nobody_is_asked_when_there_is_no_time_left() -> None:
    client = _lambda({})
    with pytest.raises(FetcherUnavailable) as caught:
        _fetch(client, seconds=2.5)
    assert caught.value.fault is FetcherFault.OUT_OF_TIME
    assert not client.asked


def _refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": f"no {QUESTION.url}"}}, "Invoke")


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (_refusal("TooManyRequestsException"), FetcherFault.THROTTLED),
        (_refusal("ResourceNotFoundException"), FetcherFault.NOT_CONFIGURED),
        (_refusal("AccessDeniedException"), FetcherFault.NOT_CONFIGURED),
        (_refusal("ServiceException"), FetcherFault.FAILED),
        (ReadTimeoutError(endpoint_url=QUESTION.url), FetcherFault.OUT_OF_TIME),
        (ConnectTimeoutError(endpoint_url=QUESTION.url), FetcherFault.OUT_OF_TIME),
        (EndpointConnectionError(endpoint_url=QUESTION.url), FetcherFault.FAILED),
    ],
)
def test_every_way_of_not_being_answered_has_its_name(error: Exception, fault: FetcherFault) -> None:
    """And nothing of the library's words, which may quote the question, is kept in it."""
    with pytest.raises(FetcherUnavailable) as caught:
        _fetch(_lambda(error))
    assert caught.value.fault is fault
    assert isinstance(caught.value, ZarniwoopError)
    assert caught.value.__context__ is None
    assert "bells" not in str(caught.value)


@pytest.mark.parametrize(
    "payload", [b'{"errorMessage": "Task timed out", "errorType": "Sandbox.Timedout"}', b"", b"null", b"[1]"]
)
@pytest.mark.parametrize("function_error", ["Unhandled", None])
def test_a_function_that_failed_is_not_believed(payload: bytes, function_error: str | None) -> None:
    """It answers 200, and what it sends then is its traceback."""
    with pytest.raises(FetcherUnavailable) as caught:
        _fetch(_sending(payload, function_error=function_error))
    assert caught.value.fault is FetcherFault.FAILED


FOUND = PageAnswer(
    outcome=PageOutcome.OK,
    url=QUESTION.url,
    final_url="https://bells.example/new",
    hops=(QUESTION.url, "https://bells.example/new"),
    page=ExtractedPage(markdown="Bells", extractor="text"),
)
MOVED = replace(FOUND, outcome=PageOutcome.UNAVAILABLE, reason="moved", page=None, moved_to="https://clocks.example/x")


@pytest.mark.parametrize("answer", [FOUND, MOVED])
def test_an_answer_to_the_question_is_believed(answer: PageAnswer) -> None:
    """Also where the question's URL is not in its one spelling, as the answer's is."""
    client = _sending(orjson.dumps(answer_form(answer)))
    question = replace(QUESTION, url="HTTPS://Bells.example:443/tower?secret=1#top")
    assert _fetch(client, question=question) == answer


@pytest.mark.parametrize(
    "answer",
    [
        replace(FOUND, url="https://bells.example/other"),
        replace(FOUND, url="https://clocks.example/", hops=("https://clocks.example/", FOUND.final_url)),
        replace(FOUND, final_url="https://bells.example/third"),
        replace(FOUND, final_url="https://clocks.example/", hops=(QUESTION.url, "https://clocks.example/")),
        replace(FOUND, hops=(QUESTION.url, "https://clocks.example/", FOUND.final_url)),
        replace(FOUND, final_url="file:///etc/passwd", hops=(QUESTION.url, "file:///etc/passwd")),
        replace(FOUND, final_url=QUESTION.url, hops=()),
        replace(FOUND, moved_to="https://clocks.example/"),
        replace(FOUND, outcome=PageOutcome.NOT_MODIFIED, page=None),
        replace(MOVED, moved_to="javascript:alert(1)"),
        replace(MOVED, moved_to="https://bells.example/again"),
        replace(MOVED, moved_to=None),
        replace(MOVED, reason="gone"),
        replace(MOVED, page=FOUND.page),
        replace(ANSWER, url="https://clocks.example/", final_url="https://clocks.example/"),
        replace(ANSWER, final_url="https://clocks.example/"),
        replace(ANSWER, moved_to="https://clocks.example/"),
    ],
)
def test_an_answer_to_another_question_is_not_believed(answer: PageAnswer) -> None:
    """Whoever parses what strangers wrote may not speak for another site, nor send its asker elsewhere."""
    with pytest.raises(FetcherUnavailable) as caught:
        _fetch(_sending(orjson.dumps(answer_form(answer))))
    assert caught.value.fault is FetcherFault.FAILED


def test_what_is_unchanged_is_believed_only_of_the_url_that_was_asked_about() -> None:
    unchanged = replace(FOUND, outcome=PageOutcome.NOT_MODIFIED, page=None)
    client = _sending(orjson.dumps(answer_form(unchanged)))
    asked = replace(QUESTION, etag='"a"', known_url=FOUND.final_url)
    assert _fetch(client, question=asked) == unchanged
    for other in (replace(asked, known_url=QUESTION.url), replace(asked, etag=None)):
        with pytest.raises(FetcherUnavailable):
            _fetch(_sending(orjson.dumps(answer_form(unchanged))), question=other)


def test_an_answer_that_comes_with_an_error_is_not_read() -> None:
    with pytest.raises(FetcherUnavailable):
        _fetch(_sending(orjson.dumps(answer_form(ANSWER)), function_error="Handled"))


def test_a_client_makes_one_attempt_and_waits_as_long_as_it_was_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    config: Any = lambda_client(7.0).meta.config
    assert (config.read_timeout, config.connect_timeout) == (7.0, 1.0)
    assert config.retries == {"total_max_attempts": 1, "mode": "standard"}
