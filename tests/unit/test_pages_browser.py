"""The step `browser`: which pages it is for, what they may ask, and an outcome for whatever a browser does."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from tests.fakes.aws_calls import AwsOverTransport
from tests.fakes.browser_process import request
from tests.fakes.fetching import environment_on, with_browser
from tests.fakes.page_reader import FakePageReader
from tests.fakes.template import resources, template
from tests.fakes.transport import ScriptedTransport, answer
from tests.fakes.web import PUBLIC, Web, moved, page
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import AccessRefused, ProviderError, ProviderUnavailable
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion
from zarniwoop.extract.worker import Worker
from zarniwoop.net.aws_signing import websocket_headers
from zarniwoop.observe.clock import SystemClock
from zarniwoop.pages import browser, browser_requests
from zarniwoop.pages.answering import is_answer_to
from zarniwoop.pages.browser import BrowserStep
from zarniwoop.pages.browser_requests import BrowserRequests
from zarniwoop.pages.browsers import AgentCoreBrowsers, LayerFiles, LocalChromium
from zarniwoop.pages.reasons import BrowserReason
from zarniwoop.wiring import Environment

CLOCK = SystemClock()
SITE = "http://www.bells.com"
STREAM = "wss://bedrock-agentcore.eu-central-1.amazonaws.com/browser-streams/aws.browser.v1/sessions/01K/automation"
REFUSED = ({"refused": True}, b"")
SCRIPT = {"Content-Type": "text/javascript"}


class ShellReader(FakePageReader):
    """Says of a page that it needs scripts, until it has been rendered."""

    def read(self, body: bytes, **claimed: Any) -> Any:
        rendered = b"rendered" in body
        self.outcome = PageOutcome.OK if rendered else PageOutcome.NEEDS_JAVASCRIPT
        self.reason = None if rendered else "script_shell"
        return super().read(body, **claimed)


def _web(pages: Mapping[str, Any] | None = None) -> Web:
    names: Any = {host: [(PUBLIC,)] for host in ("www.bells.com", "bells.com", "cdn.com", "notbells.com")}
    return Web(names={**names, "inside.bells.com": [("10.0.0.8",)]}, pages=dict(pages or {}))


@contextmanager
def _browsing(
    web: Web, monkeypatch: pytest.MonkeyPatch, reader: FakePageReader | None = None
) -> Iterator[tuple[Environment, FakePageReader]]:
    """A stack with a browser whose process is the test's."""
    monkeypatch.setattr(browser, "_MODULE", "tests.fakes.browser_process")
    used = reader or ShellReader()
    with web, environment_on(web, used, {"BROWSER": "chromium"}) as environment:
        yield environment, used


def _ask(environment: Environment, path: str, *, host: str = SITE, seconds: float = 20.0, **asked: Any) -> PageAnswer:
    question = PageQuestion(url=f"{host}/{path}", seconds=seconds, **{"browser_domains": ("bells.com",), **asked})
    return with_browser(environment, question)


def _steps(found: PageAnswer) -> list[tuple[str, str, str | None]]:
    return [(step.name, step.outcome.value, step.reason) for step in found.steps]


def test_a_rendered_page_is_read_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its markup as UTF-8, with the step before what the reader did; all that came counts."""
    shell = page(b"shell ", headers={"ETag": '"33a6"', "Last-Modified": "Wed, 21 Oct 2026 07:28:00 GMT"})
    web = _web({"/renders": shell})
    with _browsing(web, monkeypatch) as (environment, reader):
        bare = _ask(environment, "renders", browser_domains=())
        found = _ask(environment, "renders")
    assert (found.outcome, found.reason) == (PageOutcome.OK, None)
    assert found.page is not None
    assert found.page.markdown == "shell rendered"
    assert [name for name, _, _ in _steps(found)] == ["fetch", "fake", "browser", "fake"]
    assert reader.claimed[-1] == ("text/html", "utf-8", 200)
    assert [each.target for each in web.requests] == ["/renders"] * 3
    assert found.bytes_received == 2 * bare.bytes_received
    assert (found.etag, found.last_modified) == (None, None), "they speak of the shell alone"


def test_only_pages_of_named_domains_are_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The domain and what is below it; not one that ends in the same letters."""
    with _browsing(_web(), monkeypatch) as (environment, _):
        for host, named, rendered in (
            ("http://bells.com", ("bells.com",), True),
            ("http://www.bells.com", ("x.com", "bells.com"), True),
            ("http://notbells.com", ("bells.com",), False),
            ("http://bells.com", ("www.bells.com",), False),
            ("http://bells.com", (), False),
            ("http://bells.com", ("",), False),
        ):
            found = _ask(environment, "renders", host=host, browser_domains=named)
            assert any(step.name == "browser" for step in found.steps) is rendered, (host, named)


def test_a_stack_without_a_browser_renders_nothing() -> None:
    """Which is the default."""
    web = _web()
    for variables in ({}, {"BROWSER": "none"}, {"BROWSER": "netscape"}):
        assert Environment(variables)._render is None
    with web, environment_on(web, ShellReader()) as environment:
        found = _ask(environment, "renders")
    assert found.outcome is PageOutcome.NEEDS_JAVASCRIPT
    assert [name for name, _, _ in _steps(found)] == ["fetch", "fake"]


def test_no_page_is_rendered_that_nobody_asked_to_have_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is to be, its asker says: whoever fetches cannot know how many browsers run elsewhere."""
    with _browsing(_web(), monkeypatch) as (environment, _):
        question = PageQuestion(url=f"{SITE}/renders", seconds=20.0, browser_domains=("bells.com",))
        found = environment.local_fetcher.fetch(question, deadline=Deadline.after(20.0, CLOCK))
    assert [name for name, _, _ in _steps(found)] == ["fetch", "fake"]


@pytest.mark.parametrize(
    ("asked", "outcome", "reason"),
    [
        ({}, "ok", None),
        ({"browser_domains": ("x.com",)}, "unavailable", "browser_unavailable"),
        ({"seconds": 7.0}, "out_of_time", "too_little_time"),
        ({"url": f"{SITE}/secret/renders"}, "robots_disallowed", "robots"),
        ({"url": "http://inside.bells.com/renders"}, "address_refused", "address_refused"),
        ({"url": "http://127.0.0.1/renders"}, "address_refused", "address_refused"),
    ],
)
def test_whoever_fetches_keeps_to_the_rules_whatever_it_is_asked_to_render(
    asked: Mapping[str, Any], outcome: str, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named domains, robots.txt, the guard; the page is opened by the browser alone."""
    web = _web()
    web.robots = page(b"User-agent: *\nDisallow: /secret\n", headers={"Content-Type": "text/plain"})
    told = {"url": f"{SITE}/renders", "seconds": 20.0, "browser_domains": ("bells.com",), "render": True, **asked}
    with _browsing(web, monkeypatch) as (environment, _):
        question = PageQuestion(**told)
        found = environment.local_fetcher.fetch(question, deadline=Deadline.after(question.seconds, CLOCK))
    assert (found.outcome.value, found.reason) == (outcome, reason)
    assert _steps(found)[-1][1:] == (outcome, reason)
    assert web.forbidden == []
    assert len(web.requests) == (1 if outcome == "ok" else 0)
    assert is_answer_to(found, question)


def test_a_page_that_a_browser_gets_an_error_for_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The status is that of the page as the browser was given it."""
    with _browsing(_web({"/renders": page(b"rendered", status=403)}), monkeypatch) as (environment, _):
        question = PageQuestion(url=f"{SITE}/renders", seconds=20.0, browser_domains=("bells.com",), render=True)
        found = environment.local_fetcher.fetch(question, deadline=Deadline.after(20.0, CLOCK))
    assert found.status == 403


def test_a_stack_without_a_browser_says_so_to_whoever_asks_for_one() -> None:
    """Nothing of the page is asked."""
    web = _web()
    with web, environment_on(web, ShellReader()) as environment:
        question = PageQuestion(url=f"{SITE}/renders", seconds=20.0, browser_domains=("bells.com",), render=True)
        found = environment.local_fetcher.fetch(question, deadline=Deadline.after(20.0, CLOCK))
    assert (_steps(found), web.requests) == ([("browser", "unavailable", "browser_unavailable")], [])


@pytest.mark.parametrize(
    ("act", "outcome", "reason"),
    [
        ("dies", "unavailable", BrowserReason.DIED),
        ("babbles", "unavailable", BrowserReason.DIED),
        ("says-half-a-character", "unavailable", BrowserReason.DIED),
        ("says-nothing", "unavailable", BrowserReason.FAILED),
        ("says-numbers", "unavailable", BrowserReason.FAILED),
        ("fails", "unavailable", BrowserReason.FAILED),
        ("fails-in-its-own-words", "unavailable", BrowserReason.FAILED),
        ("fails-with-a-list", "unavailable", BrowserReason.FAILED),
        ("has-none", "unavailable", BrowserReason.UNAVAILABLE),
        ("is-large", "too_large", BrowserReason.TOO_LARGE),
    ],
)
def test_a_browser_that_fails_leaves_the_page_as_it_was(
    act: str, outcome: str, reason: BrowserReason, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked goes on with the next step of the chain, and is told in our words."""
    with _browsing(_web(), monkeypatch) as (environment, _):
        found = _ask(environment, act, max_bytes=1_000_000)
    assert (found.outcome, found.reason) == (PageOutcome.NEEDS_JAVASCRIPT, "script_shell")
    assert _steps(found)[-1] == ("browser", outcome, reason.value)


@pytest.mark.parametrize("act", ["hangs", "asks-for-ever"])
def test_a_browser_is_ended_at_its_deadline_with_all_that_it_started(act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that never stops talking; a page may still be read afterwards."""
    monkeypatch.setattr(browser, "LEAST_SECONDS", 0.1)
    monkeypatch.setattr(browser, "MOST_SECONDS", 2.0)
    with _browsing(_web(), monkeypatch) as (environment, _):
        found = _ask(environment, act)
        assert _steps(found)[-1] == ("browser", "out_of_time", "browser_too_slow")
        monkeypatch.setattr(browser, "MOST_SECONDS", 20.0)
        assert _ask(environment, "renders").outcome is PageOutcome.OK


def test_no_browser_is_started_when_too_little_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it takes to start one and to read the page is known."""
    with _browsing(_web(), monkeypatch) as (environment, _):
        found = _ask(environment, "renders", seconds=7.0)
    assert _steps(found)[-1] == ("browser", "out_of_time", "too_little_time")


def test_a_process_that_does_not_start_is_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack that was deployed without its layer."""
    with _browsing(_web(), monkeypatch) as (environment, _):
        monkeypatch.setattr(browser, "_MODULE", "zarniwoop_of_nowhere")
        found = _ask(environment, "renders")
    assert _steps(found)[-1] == ("browser", "unavailable", "browser_unavailable")


def test_one_page_at_a_time_is_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second one is not kept waiting; and what was rendered makes room again."""
    with _browsing(_web(), monkeypatch) as (environment, _):
        step = environment._render
        assert isinstance(step, BrowserStep)
        with step._free:
            assert _steps(_ask(environment, "renders"))[-1] == ("browser", "unavailable", "browser_busy")
        for act, outcome in (("dies", PageOutcome.NEEDS_JAVASCRIPT), ("renders", PageOutcome.OK)):
            assert _ask(environment, act).outcome is outcome


def test_the_process_gets_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No credentials, and a folder that is gone afterwards."""
    given: list[Mapping[str, str]] = []

    class Recorded(Worker):
        def __init__(self, module: str, *, variables: Mapping[str, str], with_family: bool) -> None:
            given.append(variables)
            super().__init__(module, variables=variables, with_family=with_family)

    monkeypatch.setattr("zarniwoop.pages.browser.Worker", Recorded)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with _browsing(_web(), monkeypatch) as (environment, _):
        assert _ask(environment, "renders").outcome is PageOutcome.OK
    assert [set(variables) for variables in given] == [{"HOME", "TMPDIR"}]


@contextmanager
def _requests(
    web: Web, *, site: str = SITE, path: str = "/app", seconds: float = 5.0, opened: str = ""
) -> Iterator[BrowserRequests]:
    with web, environment_on(web, None, {"FETCH_ALLOWED_NETWORKS": opened}) as environment:
        yield BrowserRequests(
            web=environment._web,
            internet=environment._internet,
            page=environment._web.target(site + path),
            deadline=Deadline.after(seconds, CLOCK),
        )


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:8080/",
        "http://localhost/",
        "http://[::1]/",
        "http://inside.bells.com/",
        "http://www.bells.com:22/",
        "http://user@www.bells.com/",
        "ws://www.bells.com/socket",
        "file:///etc/passwd",
        "data:text/html,x",
        "chrome://version",
        "",
        f"{SITE}/to-loopback",
        f"{SITE}/to-inside",
        f"{SITE}/not-modified",
        f"{SITE}/is-a-redirect-without-a-place",
    ],
)
def test_the_guard_answers_for_every_request_of_a_page(url: str) -> None:
    """Each hop of a redirect as well; nothing is connected to."""
    head = b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n"
    from tests.fakes.origin import raw

    web = _web(
        {
            "/to-loopback": moved("http://127.0.0.1/"),
            "/to-inside": moved("http://inside.bells.com/"),
            "/not-modified": raw(head % b"304 Not Modified"),
            "/is-a-redirect-without-a-place": raw(head % b"302 Found"),
        }
    )
    with _requests(web) as requests:
        for kind in ("script", "fetch", "xhr", "stylesheet"):
            assert requests.answer(request(url, kind)["asks"]) == REFUSED
    assert (web.canary_connections, web.forbidden) == (0, [])


@pytest.mark.parametrize("kind", ["image", "media", "font", "websocket", "manifest", "ping", "other", "", None, [], 1])
def test_only_what_text_is_made_of_is_asked(kind: Any) -> None:
    """Whatever the process says that it is."""
    web = _web()
    with _requests(web) as requests:
        asked: dict[str, Any] = {"url": f"{SITE}/x", "kind": kind, "headers": {}}
        assert requests.answer(asked) == REFUSED
    assert not web.requests


@pytest.mark.parametrize("asked", [{}, {"url": 1, "kind": "fetch", "headers": {}}, {"url": SITE, "kind": "fetch"}])
def test_what_is_no_request_is_refused(asked: dict[str, Any]) -> None:
    """The process runs a stranger's scripts."""
    with _requests(_web()) as requests:
        assert requests.answer(asked) == REFUSED


def test_requests_carry_and_answers_show_only_what_is_listed() -> None:
    """No cookie in either direction, no key of a page's, no policy that would loosen ours."""
    shown = {"Content-Type": "application/json", "Access-Control-Allow-Origin": "*"}
    web = _web({"/api": page(b"{}", headers={**shown, "Set-Cookie": "a=b", "Refresh": "0;url=/x", "Link": "</y>"})})
    headers = {"accept": "application/json", "origin": SITE, "cookie": "a=b", "authorization": "Bearer x", "host": "y"}
    with _requests(web) as requests:
        head, body = requests.answer({"url": "http://cdn.com/api", "kind": "fetch", "headers": headers})
    assert (head["status"], body) == (200, b"{}")
    assert head["headers"] == {name.lower(): value for name, value in shown.items()}
    (sent,) = web.requests
    assert sent.headers["accept"] == "application/json"
    assert set(sent.headers) == {"host", "accept", "accept-encoding", "user-agent", "origin"}
    assert sent.headers["host"] == "cdn.com"


def test_a_redirect_of_a_script_is_followed_by_us() -> None:
    """The browser never sees one."""
    web = _web({"/a.js": moved("http://cdn.com/b.js"), "/b.js": page(b"1", headers=SCRIPT)})
    with _requests(web) as requests:
        head, body = requests.answer(request(f"{SITE}/a.js", "script")["asks"])
    assert (head["status"], body) == (200, b"1")


def test_the_page_is_opened_once_and_as_it_was_asked() -> None:
    """Whatever address the process names; and nothing but markup is a page."""
    web = _web({"/app": page(b"shell"), "/file": page(b"PK", headers={"Content-Type": "application/zip"})})
    with _requests(web) as requests:
        assert requests.answer(request("http://cdn.com/elsewhere", "document")["asks"])[1] == b"shell"
        assert requests.answer(request(f"{SITE}/app", "document")["asks"]) == REFUSED
    assert [each.target for each in web.requests] == ["/app"]
    with _requests(_web(web.pages), path="/file") as requests:
        assert requests.answer(request(f"{SITE}/file", "document")["asks"]) == REFUSED
    with _requests(_web({"/app": moved("/login")})) as requests:
        assert requests.answer(request(f"{SITE}/app", "document")["asks"]) == REFUSED


def test_a_page_of_the_internet_asks_nothing_that_the_operator_opened() -> None:
    """Its scripts would carry it out; neither at once nor by a redirect, nor before the page was opened."""
    web = _web({"/to-inside": moved("http://inside.bells.com/")})
    with _requests(web, opened="inside.bells.com") as requests:
        for url in ("http://inside.bells.com/", f"{SITE}/to-inside"):
            assert requests.answer(request(url)["asks"]) == REFUSED
        assert requests.answer(request(f"{SITE}/app", "document")["asks"]) != REFUSED
        for url in ("http://inside.bells.com/", f"{SITE}/to-inside"):
            assert requests.answer(request(url)["asks"]) == REFUSED
    assert web.forbidden == []


def test_a_page_that_the_operator_opened_asks_its_own_origin_alone() -> None:
    """What it reads there stays there."""
    inside = "http://inside.bells.com"
    web = _web()
    with _requests(web, site=inside, opened="inside.bells.com") as requests:
        assert requests.answer(request(f"{inside}/app", "document")["asks"]) != REFUSED
        assert requests.answer(request(f"{inside}/app.js", "script")["asks"]) != REFUSED
        for url in (f"{SITE}/app?text=secret", "http://inside.bells.com:8080/", "https://inside.bells.com/"):
            assert requests.answer(request(url)["asks"]) == REFUSED
    assert web.requests == []
    assert set(web.forbidden) == {"10.0.0.8"}, "which is what was opened"


def test_a_page_may_ask_so_often_and_for_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the number of its requests, by the bytes of one and of all, and until its deadline."""
    monkeypatch.setattr(browser_requests, "MOST_REQUESTS", 3)
    script = request(f"{SITE}/a.js", "script")["asks"]
    web = _web({"/a.js": page(b"x" * 1000, headers=SCRIPT)})
    with _requests(web) as requests:
        assert [requests.answer(script) == REFUSED for _ in range(5)] == [False, False, False, True, True]
        assert (requests.count, requests.refused) == (3, 2)
    assert len(web.requests) == 3
    monkeypatch.setattr(browser_requests, "MOST_BYTES", 1500)
    with _requests(_web(web.pages)) as requests:
        assert [requests.answer(script) == REFUSED for _ in range(3)] == [False, True, True]
    monkeypatch.setattr(browser_requests, "MOST_BYTES_OF_ONE", 999)
    with _requests(_web(web.pages)) as requests:
        assert requests.answer(script) == REFUSED
    with _requests(_web(web.pages), seconds=0.0) as requests:
        assert requests.answer(script) == REFUSED


STARTED = {
    "browserIdentifier": "aws.browser.v1",
    "sessionId": "01K",
    "createdAt": "2026-11-30T18:00:00Z",
    "streams": {"automationStream": {"streamEndpoint": STREAM, "streamStatus": "ENABLED"}},
}
STOPPED = {"browserIdentifier": "aws.browser.v1", "sessionId": "01K", "lastUpdatedAt": "2026-11-30T18:00:09Z"}


def _agentcore(*script: Any) -> tuple[AgentCoreBrowsers, AwsOverTransport]:
    told = [each if isinstance(each, ProviderError) else answer(each) for each in script]
    aws = AwsOverTransport(ScriptedTransport(*told), CLOCK)
    browsers = AgentCoreBrowsers(
        aws=aws, sign=lambda url: {"signed": url}, clock=CLOCK, files=LayerFiles(packed=None, room="/room")
    )
    return browsers, aws


def _operations(aws: AwsOverTransport) -> list[str]:
    return [call.operation for call in aws.calls]


@pytest.mark.parametrize("failure", [None, RuntimeError("the page"), ProviderUnavailable("gone")])
def test_a_session_is_stopped_however_its_page_ended(failure: Exception | None) -> None:
    """One session for one page, which would end by itself after a minute."""
    browsers, aws = _agentcore(STARTED, STOPPED)
    raised = nullcontext() if failure is None else pytest.raises(type(failure))
    with raised, browsers.session(Deadline.after(10.0, CLOCK)) as where:
        assert where == {"endpoint": STREAM, "headers": {"signed": STREAM}}
        if failure is not None:
            raise failure
    assert _operations(aws) == ["StartBrowserSession", "StopBrowserSession"]
    assert aws.calls[0].parameters["sessionTimeoutSeconds"] == 60
    assert aws.calls[1].parameters == {"browserIdentifier": "aws.browser.v1", "sessionId": "01K"}


def test_a_session_that_cannot_be_stopped_is_no_fault_of_the_page() -> None:
    """It ends by itself."""
    browsers, aws = _agentcore(STARTED, ProviderUnavailable("down"))
    with browsers.session(Deadline.after(10.0, CLOCK)):
        pass
    assert _operations(aws) == ["StartBrowserSession", "StopBrowserSession"]


@pytest.mark.parametrize(
    "endpoint",
    [
        "ws://bedrock-agentcore.eu-central-1.amazonaws.com/x",
        "wss://evil.com/x",
        "wss://bedrock-agentcore.eu-central-1.amazonaws.com.evil.com/x",
        "wss://bedrock-agentcore.eu-central-1.amazonaws.com@evil.com/x",
        "wss://evil.com/bedrock-agentcore.eu-central-1.amazonaws.com/x",
        "",
    ],
)
def test_what_we_sign_goes_to_aws_alone(endpoint: str) -> None:
    """Whatever the answer names; the session is stopped all the same."""
    stream = {"streamEndpoint": endpoint, "streamStatus": "ENABLED"}
    browsers, aws = _agentcore({**STARTED, "streams": {"automationStream": stream}}, STOPPED)
    with pytest.raises(ProviderError), browsers.session(Deadline.after(10.0, CLOCK)):
        raise AssertionError("the session was given out")
    assert _operations(aws) == ["StartBrowserSession", "StopBrowserSession"]


def test_agentcore_that_does_not_answer_leaves_the_page_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """As any browser that is not to be had."""
    browsers, _ = _agentcore(ProviderUnavailable("down"))
    web = _web()
    with web, environment_on(web, ShellReader(), {"BROWSER": "agentcore"}) as environment:
        environment.__dict__["_browsers"] = browsers
        found = _ask(environment, "renders")
    assert _steps(found)[-1] == ("browser", "unavailable", "browser_unavailable")


def test_a_session_of_agentcore_renders_with_the_stream_that_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only signed headers reach the process, never a credential."""
    asked: list[Mapping[str, Any]] = []

    class Recorded(Worker):
        def talk(self, question: Mapping[str, Any], answers: Any, seconds: float) -> Mapping[str, Any]:
            asked.append(question)
            return super().talk(question, answers, seconds)

    browsers, aws = _agentcore(STARTED, STOPPED)
    monkeypatch.setattr("zarniwoop.pages.browser.Worker", Recorded)
    with _browsing(_web(), monkeypatch) as (environment, _):
        environment.__dict__["_browsers"] = browsers
        assert _ask(environment, "renders").outcome is PageOutcome.OK
    (question,) = asked
    assert (question["endpoint"], question["headers"]) == (STREAM, {"signed": STREAM})
    assert set(question) == {"endpoint", "headers", "url", "user_agent", "open_seconds", "settle_seconds"}
    assert _operations(aws) == ["StartBrowserSession", "StopBrowserSession"]


def test_the_signature_is_for_one_address_and_shows_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signature version 4 with the role's temporary credentials."""
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "very-secret"),
        ("AWS_SESSION_TOKEN", "token"),
        ("AWS_DEFAULT_REGION", "eu-central-1"),
    ):
        monkeypatch.setenv(name, value)
    headers = websocket_headers(STREAM, "bedrock-agentcore")
    assert set(headers) == {"X-Amz-Date", "X-Amz-Security-Token", "Authorization"}
    scope = r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/eu-central-1/bedrock-agentcore/aws4_request, "
    assert re.match(scope + "SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=", headers["Authorization"])
    assert "very-secret" not in str(headers)
    assert headers["Authorization"] != websocket_headers(STREAM + "x", "bedrock-agentcore")["Authorization"]


def test_without_credentials_nothing_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In our words."""
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.delenv("AWS_REGION", raising=False)
    with pytest.raises(AccessRefused):
        websocket_headers(STREAM, "bedrock-agentcore")


def test_the_wiring_makes_the_browser_that_the_stack_wants() -> None:
    """By the parameter, with the layer's files."""
    files = {"BROWSER_FILES": "/opt/browser"}
    chromium = Environment({"BROWSER": "chromium", **files})._browsers
    assert isinstance(chromium, LocalChromium)
    assert chromium.files.told()["packed"] == "/opt/browser"
    assert isinstance(Environment({"BROWSER": "agentcore", **files})._browsers, AgentCoreBrowsers)


def test_the_role_may_ask_for_one_browser_and_only_where_the_operator_wants_it() -> None:
    """AWS's own browser, its three calls, under a condition; without it the role can do nothing at all."""
    policy = template()["Resources"]["AgentCoreBrowserPolicy"]
    assert policy["Condition"] == "AsksAgentCoreBrowser"
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert {action.partition(":")[2] for action in statement["Action"]} == {
        "StartBrowserSession",
        "ConnectBrowserAutomationStream",
        "StopBrowserSession",
    }
    assert statement["Resource"]["Sub"].endswith(":aws:browser/aws.browser.v1")
    assert policy["Properties"]["Roles"] == [{"Ref": "PageFetcherRole"}]
    layered = [name for name, each in resources("AWS::Serverless::Function").items() if "BrowserLayer" in str(each)]
    assert layered == ["PageFetcherFunction"]
    assert template()["Parameters"]["Browser"]["Default"] == "none"
