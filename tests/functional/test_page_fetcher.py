"""The fetching function: what it answers, what it writes down, and that nothing of a page or a key is in that."""

import base64
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from tests.fakes.certificates import certificate
from tests.fakes.cloud import LambdaContext
from tests.fakes.fetching import environment_on, through_page_fetcher
from tests.fakes.functions import handler_of, sample
from tests.fakes.origin import hang_up, raw, reset
from tests.fakes.page_reader import FakePageReader
from tests.fakes.template import resources, template
from tests.fakes.transfers import CONTENTS, REDIRECTED, TRANSFERS
from tests.fakes.web import HANG, PUBLIC, Names, Web, moved, page
from zarniwoop.contract.page import PageOutcome
from zarniwoop.entry.page_fetcher import page_fetcher
from zarniwoop.net.exchange import Limits
from zarniwoop.pages.page_form import NotTheFormError, answer_of
from zarniwoop.pages.reasons import FetchReason
from zarniwoop.wiring import Environment

_CANARY = "canary-7f3a+9b/key=="
_SPELLINGS = (
    _CANARY,
    quote(_CANARY, safe=""),
    base64.b64encode(_CANARY.encode()).decode()[:-4],
    orjson.dumps(_CANARY).decode()[1:-1],
)
_QUERY = f"?token={quote(_CANARY, safe='')}"
_TOLD = "canary-of-the-page"
_NAMES: Names = {
    **{host: [(PUBLIC,)] for host in ("www.example.com", "t.evil.test", "example.com")},
    "inside.evil.test": [("10.0.0.7",)],
    "empty.evil.test": [()],
    "slow.evil.test": [HANG],
}
_FAULTS = {
    **TRANSFERS,
    **CONTENTS,
    **REDIRECTED,
    "reset": reset,
    "hang-up": hang_up,
    "to-inside": moved(f"http://inside.evil.test/{_QUERY}"),
    "to-userinfo": moved(f"http://user:{_CANARY}@example.com/"),
    "to-elsewhere": moved(f"http://example.com/{_QUERY}"),
    "says-it": page(f"<p>{_TOLD} {_CANARY}</p>".encode(), headers={"X-Secret": _CANARY, "ETag": f'"{_CANARY}"'}),
    "says-it-badly": raw(f"HTTP/1.1 {_CANARY}\r\n\r\n".encode()),
    "says-it-in-its-type": page(headers={"Content-Type": f"text/html; charset={_CANARY}"}),
    "says-it-in-its-wait": page(status=429, headers={"Retry-After": _CANARY}),
}
_HOSTS = ("inside.evil.test", "empty.evil.test", "slow.evil.test", "nowhere.evil.test", "127.0.0.1", "[::1]")


def _web(**changes: Any) -> Web:
    limits = Limits(lookup=0.2, read=0.3)
    return Web(names=dict(_NAMES), pages={f"/{name}": act for name, act in _FAULTS.items()}, limits=limits, **changes)


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Web]:
    """A web whose server shows its certificate, which names one host of three."""
    authority, shown = certificate(tmp_path, "www.example.com")
    with _web(tls=shown, extra_ca_file=authority) as web:
        yield web


def test_the_sample_question_is_answered_by_the_deployed_handler() -> None:
    """By `functions/page_fetcher/app.py` itself: its host does not resolve here, and the answer says so."""
    answer = handler_of("page_fetcher")({**sample("page_fetcher"), "url": "http://127.0.0.1/"}, LambdaContext())
    assert answer["outcome"] == PageOutcome.ADDRESS_REFUSED


@pytest.mark.parametrize("event", ["page_fetcher", "page_fetcher.again"])
def test_the_sample_events_are_questions(event: str, secured: Web) -> None:
    with environment_on(secured, FakePageReader()) as environment:
        answer = page_fetcher(lambda: environment)(sample(event), LambdaContext())
        assert answer_of(orjson.dumps(answer)).outcome is PageOutcome.OK
    (request,) = secured.requests
    assert ("if-none-match" in request.headers) == (event == "page_fetcher.again")


@pytest.mark.parametrize("event", [{}, {"url": _CANARY}, {"url": 7, "seconds": 1.0}, {"Records": [{"body": _CANARY}]}])
def test_an_event_that_is_no_question_is_refused_without_repeating_it(
    event: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    """Lambda writes down what is raised, and what was raised before it."""
    with pytest.raises(NotTheFormError) as caught:
        page_fetcher()(event, LambdaContext())
    assert caught.value.__context__ is None
    assert _CANARY not in str(caught.value) + "".join(capfd.readouterr())


def test_a_function_started_with_no_time_left_says_so() -> None:
    with _web() as web, environment_on(web, FakePageReader()) as environment:
        answer = page_fetcher(lambda: environment)(sample("page_fetcher"), LambdaContext(remaining_ms=900))
    assert (answer["outcome"], answer["reason"]) == (PageOutcome.OUT_OF_TIME, "robots_out_of_time")
    assert not web.dialled


class _Broken(FakePageReader):
    """A reader that raises what no reader may, with the page's words in it."""

    def read(self, body: bytes, **_: Any) -> Any:
        raise RuntimeError(f"cannot read {body!r}")


def test_a_fault_of_ours_is_an_answer_and_no_traceback_of_a_page(capfd: pytest.CaptureFixture[str]) -> None:
    """Its kind and place are logged; its words, which quote the page, are not."""
    with _web() as web, environment_on(web, _Broken()) as environment:
        fetched = through_page_fetcher(environment)(f"http://t.evil.test/says-it{_QUERY}")
    assert (fetched.outcome, fetched.reason) == (PageOutcome.UNAVAILABLE, FetchReason.INTERNAL)
    logged = "".join(capfd.readouterr())
    assert '"error":"RuntimeError"' in logged
    assert _TOLD not in logged
    assert not any(spelling in logged for spelling in _SPELLINGS)


def test_networks_that_cannot_be_read_stop_every_fetch_and_are_named_in_the_log(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Nobody knows what they were to open."""
    environment = Environment({"FETCH_ALLOWED_NETWORKS": "10.99.0.1/8"})
    for _ in range(2):
        answer = page_fetcher(lambda: environment)(sample("page_fetcher"), LambdaContext())
        assert (answer["outcome"], answer["reason"]) == (PageOutcome.UNAVAILABLE, FetchReason.INTERNAL)
    logged = "".join(capfd.readouterr())
    assert '"parameter":"FetchAllowedNetworks"' in logged
    assert "10.99" not in logged


@pytest.mark.parametrize("host", _HOSTS)
def test_no_answer_tells_what_a_name_leads_to(host: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither an address nor a resolver's word, in the answer or the log."""
    with _web() as web, environment_on(web, FakePageReader()) as environment:
        fetched = through_page_fetcher(environment)(f"http://{host}/{_QUERY}")
    told = fetched.told.replace(host, "") + "".join(capfd.readouterr())
    assert not any(word in told for word in ("10.0.0.7", "127.0.0.1", "::1", "gaierror", "Name or service"))
    assert not web.dialled


def test_a_page_over_tls_is_verified_for_its_name_although_an_address_was_dialled(secured: Web) -> None:
    """The certificate of one host is none for another on the same address."""
    with environment_on(secured, FakePageReader()) as environment:
        fetch_page = through_page_fetcher(environment)
        assert fetch_page("https://www.example.com/").outcome is PageOutcome.OK
        other = fetch_page("https://example.com/")
        assert (other.outcome, other.reason) == (PageOutcome.UNAVAILABLE, "tls")


def test_the_step_from_https_to_http_is_not_taken(secured: Web) -> None:
    """Not even on the same host."""
    secured.pages["/down"] = moved("http://www.example.com/")
    with environment_on(secured, FakePageReader()) as environment:
        fetched = through_page_fetcher(environment)("https://www.example.com/down")
        assert (fetched.outcome, fetched.reason) == (PageOutcome.ADDRESS_REFUSED, "redirect")


def test_the_step_from_http_to_https_is_taken(secured: Web) -> None:
    secured.pages["/up"] = moved("https://www.example.com/")
    with environment_on(secured, FakePageReader()) as environment:
        assert through_page_fetcher(environment)("http://www.example.com/up").outcome is PageOutcome.OK


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are credentials of a `.netrc`: no variable has a say in where a page comes from."""
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with _web() as web, environment_on(web, FakePageReader()) as environment:
        assert through_page_fetcher(environment)("http://www.example.com/").outcome is PageOutcome.OK
        assert {address for address, _ in web.dialled} == {PUBLIC}


def test_a_resolver_that_changes_its_answer_is_asked_once_for_a_connection() -> None:
    """What was checked is what is dialled; the second answer is never connected to."""
    web = _web()
    web.names["rebind.evil.test"] = [(PUBLIC,), ("127.0.0.1",)]
    with web, environment_on(web, FakePageReader()) as environment:
        fetch_page = through_page_fetcher(environment, honour_robots=False)
        assert fetch_page("http://rebind.evil.test/").outcome is PageOutcome.OK
        assert fetch_page("http://rebind.evil.test/again").outcome in (PageOutcome.OK, PageOutcome.UNAVAILABLE)
        environment._web.close()  # type: ignore[attr-defined] # the kept connection is gone: a second lookup
        assert fetch_page("http://rebind.evil.test/").outcome is PageOutcome.ADDRESS_REFUSED
    assert not web.forbidden
    assert web.canary_connections == 0


def test_the_fake_web_would_notice_a_guard_that_lets_through() -> None:
    """A connection to an address that is not public ends at the canary, and is counted."""
    with _web() as web:
        with web.dial("169.254.169.254", 80, 1.0) as connection:
            assert isinstance(connection, socket.socket)
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert connection.recv(1)
        assert (web.canary_connections, web.forbidden) == (1, ["169.254.169.254"])


def test_the_fetching_function_may_write_telemetry_and_do_nothing_else() -> None:
    """No table, bucket, secret, queue or function is in its reach, and nothing but functions of the stack ask it."""
    function = resources("AWS::Serverless::Function")["PageFetcherFunction"]
    role = resources("AWS::IAM::Role")["PageFetcherRole"]
    assert function["Role"] == {"GetAtt": "PageFetcherRole.Arn"}
    assert role["ManagedPolicyArns"] == [{"Ref": "WriteTelemetryPolicy"}]
    assert "Policies" not in role
    assert "Events" not in function
    assert (
        function["FunctionName"]
        == template()["Globals"]["Function"]["Environment"]["Variables"]["PAGE_FETCHER_FUNCTION"]
    )
    assert "Policies" not in function


def test_the_template_takes_what_can_be_read_as_networks_and_hosts() -> None:
    """Networks as for search servers; hosts without a port, which is no part of a host."""
    parameters = template()["Parameters"]
    allowed = parameters["AllowedPrivateNetworks"]["AllowedPattern"]
    assert parameters["FetchAllowedNetworks"]["AllowedPattern"] == allowed
    hosts = parameters["FetchRefusedHosts"]["AllowedPattern"]
    for sound in ("", "api.bells.com", "api.bells.com, x.bells.com"):
        assert re.fullmatch(hosts, sound), sound
    for odd in ("https://api.bells.com", "api.bells.com:443", "a;b", ","):
        assert not re.fullmatch(hosts, odd), odd
