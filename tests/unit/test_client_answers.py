"""What the client makes of an answer, be it this API's, a newer one's, or none of its at all."""

import pickle
import re
from datetime import date

import httpx
import pytest

from tests.fakes.client_api import Driven, FakeApi, found, ok, refused, run
from tests.fakes.clock import FakeClock
from zarniwoop_client import Answer, InvalidRequest, NotFound, ServerFault, Temporary, Unreachable
from zarniwoop_client.transport import MOST_BYTES


@pytest.fixture(params=["blocking", "asynchronous"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _driven(kind: str, *script: httpx.Response) -> tuple[Driven, FakeApi]:
    api = FakeApi(*script)
    return Driven(kind, api, FakeClock(), retries=0), api


def test_an_answer_is_typed_and_kept_whole(kind: str) -> None:
    """With evidence, request id, the server's clock, and the JSON as it came."""
    link = {"id": "ev-1", "href": "/v1/evidence/ev-1", "source_type": "search_hit", "url": "u", "title": "t"}
    envelope = {"ok": True, "data": found("bell"), "error": None, "evidence": [link]}
    headers = {"x-request-id": "q-7", "date": "Mon, 30 Nov 2026 12:00:00 GMT"}
    driven, _ = _driven(kind, httpx.Response(200, json=envelope, headers=headers))
    answer = driven("search", "bells", project_id="demo")
    assert (answer.ok, answer.status, answer.request_id, answer.project_id) == (True, 200, "q-7", "demo")
    assert (answer.data.hits[0].url, answer.evidence[0].id) == ("https://example.org/bell", "ev-1")
    assert (answer.raw, answer.sent_at) == (envelope, 1796040000.0)


@pytest.mark.parametrize("method", ["call", "plan"])
@pytest.mark.parametrize(("name", "meant"), [("nope", ""), ("web_serch", "; did you mean web_search?")])
def test_a_tool_that_there_is_not_is_no_route_to_its_caller(kind: str, method: str, name: str, meant: str) -> None:
    """Who called a tool knows of no routes."""
    driven, _ = _driven(kind, refused("unknown-route", 404))
    with pytest.raises(NotFound, match=f"there is no tool of this name{re.escape(meant)}$") as raised:
        driven(method, name)
    assert raised.value.problem.type == "urn:zarniwoop:problem:unknown-tool"
    assert raised.value.answer.error == raised.value.problem


def test_what_else_is_not_there_is_told_as_it_came(kind: str) -> None:
    """A run, say."""
    driven, _ = _driven(kind, refused("unknown-run", 404))
    with pytest.raises(NotFound) as raised:
        driven("call", "run_status")
    assert raised.value.problem.slug == "unknown-run"


def test_a_newer_servers_fields_and_words_are_kept(kind: str) -> None:
    """An older client reads them, at any depth; nothing is lost on the way."""
    hit = {"title": "t", "url": "u", "modality": "PODCAST", "transcript": {"seconds": 7}}
    driven, _ = _driven(kind, ok(found(hits=[hit], mood="calm", failure="new_word")))
    data = driven("search", "bells").data
    assert (data.model_extra, data.failure) == ({"mood": "calm"}, "new_word")
    assert (data.hits[0].modality, data.hits[0].transcript) == ("PODCAST", {"seconds": 7})
    assert data.model_dump()["hits"][0]["transcript"] == {"seconds": 7}


@pytest.mark.parametrize("status", [200, 403, 404, 500])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>Sign in</html>",
        b'{"message": "Forbidden"}',
        b"[]",
        b"null",
        b'{"ok": ',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=["nothing", "html", "foreign json", "list", "null", "cut", "no text", "deep"],
)
def test_what_is_no_answer_of_the_api_is_told_as_such(kind: str, status: int, content: bytes) -> None:
    """A proxy's page, a wrong stage, half a body: what it was, and nothing of its text."""
    foreign = httpx.Response(status, content=content, headers={"content-type": "text/html; charset=x"})
    driven, api = _driven(kind, foreign)
    with pytest.raises(ServerFault) as raised:
        driven("search", "bells")
    assert raised.value.problem.status == status
    assert f"status {status} with {len(content)} bytes of text/html" in str(raised.value)
    assert (raised.value.answer.raw["error"]["type"], len(api.requests)) == ("urn:zarniwoop:client:unintelligible", 1)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_gateway_that_is_out_of_breath_is_retryable(kind: str, status: int) -> None:
    """Whatever it says, and however long it wants to be left alone."""
    clock = FakeClock()
    api = FakeApi(httpx.Response(status, text="<html>", headers={"retry-after": "3"}), ok(found("bell")))
    assert Driven(kind, api, clock)("search", "bells", max_calls=2).ok
    assert clock.slept == [3.0]
    driven, _ = _driven(kind, httpx.Response(status, content=b""))
    with pytest.raises(Unreachable, match="no content type"):
        driven("search", "bells")


@pytest.mark.parametrize(
    "envelope",
    [
        {"ok": True, "data": {"query": "bells"}},
        {"ok": True, "data": None},
        {"ok": True, "data": "text"},
        {"ok": False, "data": None, "error": None},
        {"ok": False, "data": None, "error": {"title": "no type"}},
        {"ok": True, "data": found(), "evidence": [7]},
        {"ok": True, "data": found(), "evidence": 7},
    ],
)
def test_an_envelope_that_cannot_be_understood_is_a_fault_with_the_envelope_beside_it(
    kind: str, envelope: dict[str, object]
) -> None:
    """It names neither the query nor what stood in it."""
    driven, _ = _driven(kind, httpx.Response(200, json=envelope))
    with pytest.raises(ServerFault, match="does not understand") as raised:
        driven("search", "bells")
    assert raised.value.answer.raw == envelope


def test_what_comes_along_with_a_problem_is_typed_where_it_can_be(kind: str) -> None:
    """The attempts of a search that nobody answered; else it stays JSON."""
    attempts = [{"instance_id": "a", "outcome": "failure", "reason": "rate_limited"}]
    told = refused("all-failed", 200, data=found(attempts=attempts), retryable=True)
    driven, _ = _driven(kind, told)
    with pytest.raises(Temporary) as raised:
        driven("search", "bells")
    assert raised.value.answer.data.attempts[0].reason == "rate_limited"
    driven, _ = _driven(kind, refused("unprocessable", 422, data={"refused": [0]}))
    with pytest.raises(Exception, match="not so") as other:
        driven("search", "bells")
    assert other.value.answer.data == {"refused": [0]}  # type: ignore[attr-defined] # a ZarniwoopError


def test_an_answer_larger_than_any_of_the_api_is_not_read_to_its_end(kind: str) -> None:
    """And not asked for again."""
    clock = FakeClock()
    api = FakeApi(httpx.Response(200, content=b" " * (MOST_BYTES + 1)))
    with pytest.raises(ServerFault, match="larger than any"):
        Driven(kind, api, clock)("search", "bells")
    assert len(api.requests) == 1


class Dripping(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body of which a byte arrives every ten seconds: no single wait is too long."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.given = 0

    def _next(self) -> bytes:
        self._clock.advance(10.0)
        self.given += 1
        return b" "

    def __iter__(self):  # type: ignore[no-untyped-def] # noqa: ANN204
        while True:
            yield self._next()

    async def __aiter__(self):  # type: ignore[no-untyped-def] # noqa: ANN204
        while True:
            yield self._next()


def test_an_answer_that_drips_is_left_at_the_callers_deadline(kind: str) -> None:
    """All waits together are bounded, not each of them."""
    clock = FakeClock()
    body = Dripping(clock)
    driven = Driven(kind, lambda _request: httpx.Response(200, stream=body), clock, retries=0)
    with pytest.raises(Unreachable, match="No answer came in time"):
        driven("search", "bells", timeout=30)
    assert body.given == 4


def test_a_redirect_is_not_followed_since_the_token_would_go_along(kind: str) -> None:
    """It is no answer of this API."""
    driven, api = _driven(kind, httpx.Response(302, headers={"location": "https://elsewhere.example/"}))
    with pytest.raises(ServerFault, match="status 302"):
        driven("search", "bells")
    assert len(api.requests) == 1


def test_what_is_left_out_is_left_to_the_server(kind: str) -> None:
    """None is not sent; the client's project is, unless the call names another or wants none."""
    api = FakeApi(ok(found()))
    driven = Driven(kind, api, FakeClock(), project_id="demo")
    driven("search", "bells", "NEWS", max_results=None, locale="de")
    driven("search_expert", "bells", date_from=date(2026, 11, 1), project_id="other")
    bodies = [httpx.Response(200, content=each.content).json() for each in api.requests]
    assert bodies == [
        {"project_id": "demo", "query": "bells", "modality": "NEWS", "locale": "de"},
        {"project_id": "other", "query": "bells", "modality": "WEB", "date_from": "2026-11-01"},
    ]


def test_a_text_that_is_no_text_is_sent_for_the_server_to_refuse(kind: str) -> None:
    """Half a character, as command lines can hold it: it breaks no request."""
    driven, api = _driven(kind, refused("invalid-argument", 400, field="body"))
    with pytest.raises(InvalidRequest):
        driven("search", "bells \udce4")
    assert b"\\udce4" in api.requests[0].content
    assert api.requests[0].headers["content-type"] == "application/json"


def test_an_error_comes_whole_out_of_another_process(kind: str) -> None:
    """With its problem and the answer."""
    driven, _ = _driven(kind, refused("invalid-argument", 400, field="query"))
    with pytest.raises(InvalidRequest) as raised:
        driven("search", "bells")
    again = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 - our own
    assert (type(again), again.problem, str(again)) == (InvalidRequest, raised.value.problem, "not so")
    assert (again.answer.raw, again.request_id) == (raised.value.answer.raw, None)


def test_ids_and_names_stay_within_their_segment(kind: str) -> None:
    """Whatever stands in them; what is no name at all is refused before anybody is asked."""
    api = FakeApi(ok(run("succeeded")))
    driven = Driven(kind, api, FakeClock())
    driven("runs.get", "../../v1/settings?x=#")
    assert api.requests[0].url.raw_path == b"/local/v1/runs/..%2F..%2Fv1%2Fsettings%3Fx%3D%23"
    for none in ("", ".", ".."):
        with pytest.raises(ValueError, match="no name"):
            driven("runs.get", none)
    assert len(api.requests) == 1


def test_the_catalogue_comes_without_an_envelope_and_a_refusal_of_it_with_one(kind: str) -> None:
    """As the API documents both."""
    driven, api = _driven(kind, httpx.Response(200, json={"tools": [{"name": "x"}]}))
    assert driven("tools", "openai").data == {"tools": [{"name": "x"}]}
    assert api.requests[0].url.params["format"] == "openai"
    driven, _ = _driven(kind, refused("invalid-argument", 400, field="format"))
    with pytest.raises(Exception, match="not so"):
        driven("tools", "cobol")


def test_a_dry_run_is_told_by_its_own_method(kind: str) -> None:
    """Any tool's; that of pages has another shape."""
    worst = {"calls": 1, "credits": 0, "usd": 0}
    driven, api = _driven(kind, ok({"tool": "research_search", "plans": {}, "worst_case": worst, "dry_run": True}))
    assert driven("plan", "research_search", query="bells", modality="WEB").data.worst_case.calls == 1
    assert b'"dry_run": true' in api.requests[0].content
    page = {"url": "u", "steps": [{"name": "fetch"}]}
    driven, _ = _driven(kind, ok({"tool": "web_fetch", "pages": [page], "worst_case": worst, "dry_run": True}))
    assert driven("plan", "web_fetch", urls=["u"]).data.pages[0].steps[0].name == "fetch"


def test_an_answer_of_a_clock_that_says_nothing_has_no_time() -> None:
    """Nor has one that says nonsense."""
    for headers in ({}, {"date": "yesterday"}):
        assert Answer(ok=True, data=None, headers=headers).sent_at is None
