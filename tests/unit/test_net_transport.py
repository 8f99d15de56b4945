"""What the transport sends and what it hands back."""

import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from tests.fakes.asking import BEARER, CANARY, LOOPBACK, ask, check_no_canary, one_transport, transports
from tests.fakes.origin import Origin, raw, reply
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import CredentialsRejected, QueryRejected
from zarniwoop.contract.transport import HeaderKey, HttpRequest, QueryKey, Secret
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock

make = pytest.fixture(transports)
transport = pytest.fixture(one_transport)


def test_a_request_arrives_as_it_was_meant(transport: PooledTransport) -> None:
    with Origin(reply(b'{"hits": []}', headers={"X-RateLimit-Remaining": "9"})) as origin:
        answer = transport.send(
            HttpRequest(
                url=f"{origin.url}/v1/search?lang=de",
                method="POST",
                params={"q": "cathedral bells", "page": "1&2"},
                headers={"X-Client": "agent"},
                json={"query": "bells"},
            ),
            deadline=Deadline.after(5, SystemClock()),
        )
    received = origin.requests[0]
    assert (received.method, received.target) == ("POST", "/v1/search?lang=de&q=cathedral+bells&page=1%262")
    assert received.body == b'{"query":"bells"}'
    assert received.headers["content-type"] == "application/json"
    assert received.headers["host"] == f"127.0.0.1:{origin.port}"
    assert received.headers["accept-encoding"] == "gzip"
    assert received.headers["user-agent"].startswith("Zarniwoop/")
    assert received.headers["user-agent"].endswith("(+https://zarniwoop.example/contact)")
    assert received.headers["x-client"] == "agent"
    assert answer.status == 200
    assert answer.body == b'{"hits": []}'
    assert answer.headers["x-ratelimit-remaining"] == "9"
    assert answer.url == f"{origin.url}/v1/search?lang=de&q=cathedral+bells&page=1%262"


def test_without_a_contact_the_user_agent_is_the_product_alone() -> None:
    """An empty `(+)` looks like a bot that hides."""
    transport = PooledTransport(contact="", allowed=LOOPBACK)
    with Origin(reply()) as origin:
        ask(transport, origin.url)
    transport.close()
    assert re.fullmatch(r"Zarniwoop/[0-9.]+", origin.requests[0].headers["user-agent"])


def test_a_contact_that_cannot_stand_in_a_header_makes_no_transport() -> None:
    """The text is not repeated."""
    with pytest.raises(ValueError, match="cannot stand in a User-Agent") as refused:
        PooledTransport(contact="grüße@example.org")
    assert "example" not in str(refused.value)


def test_a_form_is_sent_as_a_form(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        transport.send(
            HttpRequest(url=origin.url, method="POST", form={"id": "1,2", "q": "a b"}),
            deadline=Deadline.after(5, SystemClock()),
        )
    assert origin.requests[0].body == b"id=1%2C2&q=a+b"
    assert origin.requests[0].headers["content-type"] == "application/x-www-form-urlencoded"


def test_own_headers_replace_the_standing_ones(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        transport.send(
            HttpRequest(
                url=origin.url,
                method="POST",
                headers={"accept": "application/vnd.github+json", "Content-Type": "application/x-ndjson"},
                json={},
            ),
            deadline=Deadline.after(5, SystemClock()),
        )
    assert origin.requests[0].headers["accept"] == "application/vnd.github+json"
    assert origin.requests[0].headers["content-type"] == "application/x-ndjson"


def test_a_post_without_a_body_says_so(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        transport.send(HttpRequest(url=origin.url, method="POST"), deadline=Deadline.after(5, SystemClock()))
    assert origin.requests[0].headers["content-length"] == "0"


@pytest.mark.parametrize(("name", "value"), [("X-Note", "a\r\nX-Injected: 1"), ("X-Note", "ü"), ("X Note", "a")])
def test_a_header_that_cannot_be_sent_is_the_querys_fault(transport: PooledTransport, name: str, value: str) -> None:
    with Origin(reply()) as origin, pytest.raises(QueryRejected) as caught:
        transport.send(
            HttpRequest(url=origin.url, headers={name: value}),
            deadline=Deadline.after(5, SystemClock()),
            authentication=BEARER,
            secret=Secret(CANARY),
        )
    check_no_canary(caught.value)
    assert not origin.requests


def test_a_key_goes_into_its_header_behind_its_prefix(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        answer = ask(transport, origin.url, authentication=BEARER, secret=CANARY)
    assert origin.requests[0].headers["authorization"] == f"Bearer {CANARY}"
    assert CANARY not in answer.url


def test_a_key_is_encoded_where_the_header_wants_it_so(transport: PooledTransport) -> None:
    """As HTTP's Basic does: `user:password` in base64."""
    basic = HeaderKey(name="Authorization", prefix="Basic ", encoded=True)
    with Origin(reply()) as origin:
        ask(transport, origin.url, authentication=basic, secret="user:password")
    assert origin.requests[0].headers["authorization"] == "Basic dXNlcjpwYXNzd29yZA=="


def test_a_key_for_the_query_is_appended_last_and_left_out_of_the_answers_url(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        answer = ask(transport, f"{origin.url}/search?q=1", authentication=QueryKey(name="api_key"), secret=CANARY)
    assert origin.requests[0].target == "/search?q=1&api_key=canary-7f3a%2B9b%2Fkey%3D%3D"
    assert answer.url == f"{origin.url}/search?q=1"


@pytest.mark.parametrize("text", ["short", "has a space in it", "newline\r\nX-Injected: 1", "ümlaut-ümlaut", "x" * 513])
def test_a_key_that_no_header_may_carry_is_never_sent_nor_shown(transport: PooledTransport, text: str) -> None:
    with Origin(reply()) as origin, pytest.raises(CredentialsRejected) as caught:
        ask(transport, origin.url, authentication=BEARER, secret=text)
    assert text not in "".join(traceback.format_exception(caught.value))
    assert not origin.requests


def test_a_keyless_endpoint_is_asked_without_a_key(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        ask(transport, origin.url, authentication=BEARER)
        ask(transport, origin.url, secret=CANARY)
    assert all(CANARY not in str(received.headers) + received.target for received in origin.requests)


def test_one_connection_serves_many_requests(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        for _ in range(5):
            ask(transport, origin.url, method="POST")
        assert origin.connections == 1
    assert transport.connections_opened == 1


def test_an_error_status_is_an_answer(transport: PooledTransport) -> None:
    """What a status means is decided above the transport."""
    with Origin(reply(b'{"error": 1}', status=503, headers={"Retry-After": "7"})) as origin:
        answer = ask(transport, origin.url)
    assert (answer.status, answer.headers["retry-after"]) == (503, "7")


def test_repeated_headers_are_joined(transport: PooledTransport) -> None:
    with Origin(raw(b"HTTP/1.1 200 OK\r\nX-Limit: 1\r\nx-limit: 1999\r\nContent-Length: 0\r\n\r\n")) as origin:
        assert ask(transport, origin.url).headers["x-limit"] == "1, 1999"


def test_a_chunked_answer_with_an_interim_one_before_it_is_read(transport: PooledTransport) -> None:
    opening = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    act = raw(opening, b"2\r\n{}\r\n0\r\n\r\n", kept_open=True)
    with Origin(act) as origin:
        assert ask(transport, origin.url).body == b"{}"
        assert ask(transport, origin.url).body == b"{}"
        assert origin.connections == 1


def test_an_answer_without_a_body_keeps_its_connection(transport: PooledTransport) -> None:
    with Origin(raw(b"HTTP/1.1 204 No Content\r\n\r\n", kept_open=True)) as origin:
        assert ask(transport, origin.url).body == b""
        assert ask(transport, origin.url).status == 204
        assert origin.connections == 1


def test_a_proxy_named_in_the_environment_has_no_say(
    transport: PooledTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Origin(reply()) as proxy, Origin(reply()) as origin:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        ask(transport, origin.url)
        assert not proxy.requests


def test_cookies_are_not_kept(transport: PooledTransport) -> None:
    with Origin(reply(headers={"Set-Cookie": "session=1"})) as origin:
        ask(transport, origin.url)
        ask(transport, origin.url)
    assert "cookie" not in origin.requests[1].headers


def test_importing_the_transport_loads_no_second_client() -> None:
    """Each would cost megabytes and tens of milliseconds of a cold start."""
    script = (
        "import sys\n"
        "for name in ('anyio', 'httpcore', 'httpx', 'requests', 'urllib3'): sys.modules[name] = None\n"
        "import zarniwoop.net.transport\n"
        "loaded = {name.partition('.')[0] for name, module in sys.modules.items() if module}\n"
        "print(sorted(loaded & {'anyio', 'httpcore', 'httpx', 'requests', 'urllib3', 'asyncio', 'h2'}))\n"
    )
    layer = str(Path(__file__).resolve().parents[2] / "layers" / "zarniwoop")
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONPATH": layer}
    )
    assert done.stdout.strip() == "[]"
