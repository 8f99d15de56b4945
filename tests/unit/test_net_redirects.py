"""Redirects: followed only where asked for, checked at every hop, never with the key to another origin."""

import pytest

from tests.fakes.asking import BEARER, CANARY, ask, check_no_canary, one_transport, transports
from tests.fakes.origin import Origin, raw, reply
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.transport import HttpRequest, QueryKey, Secret
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock

make = pytest.fixture(transports)
transport = pytest.fixture(one_transport)


def test_an_api_is_not_followed_where_it_redirects(transport: PooledTransport) -> None:
    with Origin(reply(status=302, headers={"Location": "/elsewhere"}), reply()) as origin:
        answer = ask(transport, origin.url, authentication=BEARER, secret=CANARY)
        assert (answer.status, answer.headers["location"]) == (302, "/elsewhere")
        assert len(origin.requests) == 1


def test_a_redirect_within_one_origin_keeps_the_key(transport: PooledTransport) -> None:
    with Origin(reply(status=301, headers={"Location": "next?page=2"}), reply()) as origin:
        answer = ask(transport, f"{origin.url}/a/b", authentication=BEARER, secret=CANARY, max_redirects=1)
    assert answer.url == f"{origin.url}/a/next?page=2"
    assert origin.requests[1].headers["authorization"] == f"Bearer {CANARY}"


def test_a_key_is_never_sent_to_another_origin_nor_back_again(transport: PooledTransport) -> None:
    with Origin(reply()) as home, Origin(reply(status=302, headers={"Location": f"{home.url}/back"})) as away:
        home._acts.insert(0, reply(status=302, headers={"Location": f"{away.url}/away"}))
        transport.send(
            HttpRequest(url=home.url, headers={"X-Api-Token": CANARY}, max_redirects=5),
            deadline=Deadline.after(5, SystemClock()),
            authentication=BEARER,
            secret=Secret(CANARY),
        )
    assert CANARY in str(home.requests[0].headers)
    assert CANARY not in str(away.requests[0].headers)
    assert CANARY not in str(home.requests[1].headers)


def test_a_query_key_that_a_server_writes_into_its_location_goes_no_further(transport: PooledTransport) -> None:
    """Same origin: the key is put in its place once. Another origin: not asked at all."""
    echoed = "canary-7f3a%2B9b%2Fkey%3D%3D"
    key = QueryKey(name="api_key")
    with Origin(reply(status=301, headers={"Location": f"/search/?q=1&api_key={echoed}"}), reply()) as origin:
        answer = ask(transport, f"{origin.url}/search?q=1", authentication=key, secret=CANARY, max_redirects=2)
        assert origin.requests[1].target == f"/search/?q=1&api_key={echoed}"
        assert answer.url == f"{origin.url}/search/?q=1"
    with Origin(reply()) as thief:
        act = reply(status=301, headers={"Location": f"{thief.url}/?api_key={echoed}"})
        with Origin(act) as origin, pytest.raises(ProviderUnavailable) as caught:
            ask(transport, origin.url, authentication=key, secret=CANARY, max_redirects=2)
        assert caught.value.cause is Cause.REDIRECT
        check_no_canary(caught.value)
        assert not thief.requests


def test_a_location_with_the_key_in_its_path_is_not_followed(transport: PooledTransport) -> None:
    """It could not be taken out again, and would stand in the answer's URL."""
    with Origin(reply(status=301, headers={"Location": f"/{CANARY}"})) as origin:
        for place in (BEARER, QueryKey(name="key")):
            with pytest.raises(ProviderUnavailable) as caught:
                ask(transport, origin.url, authentication=place, secret=CANARY, max_redirects=1)
            assert caught.value.cause is Cause.REDIRECT


def test_a_redirect_loop_ends(transport: PooledTransport) -> None:
    with Origin(reply(status=302, headers={"Location": "/again"})) as origin:
        with pytest.raises(ProviderUnavailable) as caught:
            ask(transport, origin.url, max_redirects=3)
        assert caught.value.cause is Cause.ENDLESS_REDIRECTS
        assert len(origin.requests) == 4


@pytest.mark.parametrize(
    ("location", "cause"),
    [
        ("http://169.254.169.254/latest/meta-data/", Cause.ADDRESS),
        ("http://user:pw@127.0.0.1/", Cause.ADDRESS),
        ("//10.0.0.7/", Cause.ADDRESS),
        ("file:///etc/passwd", Cause.ADDRESS),
        ("http://127.0.0.1\\@example.com/", Cause.ADDRESS),
        ("http://[::1", Cause.REDIRECT),
        ("http://１２７.0.0.1/", Cause.ADDRESS),
    ],
)
def test_every_hop_is_checked_like_the_first(transport: PooledTransport, location: str, cause: Cause) -> None:
    act = raw(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location.encode() + b"\r\n\r\n")
    with Origin(act) as origin, pytest.raises(ProviderUnavailable) as caught:
        ask(transport, origin.url, max_redirects=5)
    assert caught.value.cause is cause
    assert len(origin.requests) == 1


def test_a_redirect_without_a_location_is_an_answer(transport: PooledTransport) -> None:
    with Origin(reply(status=302)) as origin:
        assert ask(transport, origin.url, max_redirects=5).status == 302


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
def test_a_redirected_post_becomes_what_its_status_says(transport: PooledTransport, status: int, method: str) -> None:
    with Origin(reply(status=status, headers={"Location": "/next"}), reply()) as origin:
        ask(transport, origin.url, method="POST", max_redirects=1)
    assert origin.requests[1].method == method
    assert origin.requests[1].body == (b'{"query":"bells"}' if method == "POST" else b"")
    assert ("content-type" in origin.requests[1].headers) == (method == "POST")
