"""The client's token goes to its API and nowhere else: into no repr, no error, no traceback, no other host."""

import asyncio
import pickle
import traceback
from typing import Any

import httpx
import pytest

from tests.fakes.client_api import TOKEN, URL, Driven, FakeApi, found, ok, refused, run
from tests.fakes.clock import FakeClock
from zarniwoop_client import AsyncZarniwoop, Zarniwoop
from zarniwoop_client.api import Token

QUERY = "canary question that nobody may see"
TROUBLES: list[httpx.Response | Exception] = [
    httpx.ConnectError(f"cannot reach {URL}?q={QUERY}"),
    httpx.ReadTimeout(f"Bearer {TOKEN}"),
    httpx.LocalProtocolError(f"Illegal header value b'Bearer {TOKEN}'"),
    httpx.Response(502, text=f"<html>{QUERY} {TOKEN}</html>", headers={"content-type": "text/html"}),
    httpx.Response(200, json={"ok": True, "data": {"query": QUERY}, "error": None, "evidence": []}),
    refused("invalid-argument", 400),
]


@pytest.fixture(params=["blocking", "asynchronous"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("trouble", TROUBLES, ids=range(len(TROUBLES)))
def test_neither_token_nor_query_is_in_an_error_or_in_its_traceback(
    kind: str, trouble: httpx.Response | Exception
) -> None:
    """Not even in the frames of the client, whose variables some tracebacks show; the caller's own are theirs."""
    driven = Driven(kind, FakeApi(trouble), FakeClock())
    with pytest.raises(Exception) as raised:
        driven("search", QUERY)
    shown = "".join(traceback.format_exception(raised.value)) + repr(raised.value) + str(raised.value.args)
    assert TOKEN not in shown
    assert QUERY not in shown
    frames = traceback.StackSummary.extract(traceback.walk_tb(raised.value.__traceback__), capture_locals=True)
    ours = [str(frame.locals) for frame in frames if "zarniwoop_client" in frame.filename]
    assert len(ours) > 1
    assert TOKEN not in "".join(ours)


def test_the_token_is_in_no_repr_and_cannot_be_pickled(kind: str) -> None:
    """Of the client, of what it holds, of its transport."""
    driven = Driven(kind, FakeApi(ok(found())), FakeClock())
    client = driven.client
    held: list[Any] = [
        client,
        client._api,
        client._driver,
        client._driver._http,
        client._driver._http.auth,
        client.runs,
    ]
    assert TOKEN not in "".join(map(repr, held)) + repr([vars(each) for each in held if hasattr(each, "__dict__")])
    with pytest.raises(TypeError):
        pickle.dumps(Token(TOKEN))


def test_the_token_goes_into_the_header_alone(kind: str) -> None:
    """Never into a URL, where logs would have it."""
    api = FakeApi(ok(run("succeeded")))
    Driven(kind, api, FakeClock())("runs.get", "r-0123", wait=3)
    (request,) = api.requests
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in str(request.url)


@pytest.mark.parametrize(
    "token", ["", "short", "zw_with blank in the middle", "zw_line\nbreak-in-the-middle", "é" * 20]
)
def test_what_is_no_token_is_refused_without_being_repeated(token: str) -> None:
    """A token with a line break would end up in the transport's own error."""
    with pytest.raises(ValueError, match="this is no token") as raised:
        Zarniwoop(URL, token)
    assert not token or token not in str(raised.value)


def test_blanks_around_a_token_are_forgiven() -> None:
    """As they come out of files."""
    api = FakeApi(ok(found()))
    with Zarniwoop(URL, f" {TOKEN}\n", transport=httpx.MockTransport(api)) as client:
        client.search("bells")
    assert api.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.org", "ftp://example.org", "https://", "https://user@example.org", "https://example.org?x=1"),
        *("https://example.org#x", "http://example.org/live", "http://127.0.0.1.example.org", "http://10.0.0.1"),
    ],
)
def test_a_url_that_a_token_must_not_be_sent_to_is_refused(url: str) -> None:
    """Plain http leaves this machine only where somebody says so."""
    for kind in (Zarniwoop, AsyncZarniwoop):
        with pytest.raises(ValueError, match=r"URL|plain http"):
            kind(url, TOKEN)


@pytest.mark.parametrize(
    "url", ["https://x.execute-api.eu-central-1.amazonaws.com/live/", "http://localhost:1/x", "http://[::1]:1"]
)
def test_tls_and_this_machine_are_fine(url: str) -> None:
    """With or without the last slash."""
    client = Zarniwoop(url, TOKEN)
    assert repr(client) == f"Zarniwoop({url.rstrip('/')!r})"
    client.close()


def test_plain_http_is_spoken_where_it_is_allowed() -> None:
    """Within a network of one's own."""
    with Zarniwoop("http://stack.internal/local", TOKEN, allow_plain_http=True) as client:
        assert "stack.internal" in repr(client)


def test_no_proxy_of_the_environment_gets_what_is_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would get the token along."""
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    with Zarniwoop(URL, TOKEN) as client:
        assert client._driver._http._mounts == {}


def test_both_clients_are_closed_by_their_with() -> None:
    """And so are their connections."""

    async def opened_and_closed() -> bool:
        async with AsyncZarniwoop(URL, TOKEN) as client:
            http = client._driver._http
            assert repr(client) == f"AsyncZarniwoop('{URL}')"
        return http.is_closed

    with Zarniwoop(URL, TOKEN) as client:
        http = client._driver._http
    assert http.is_closed
    assert asyncio.run(opened_and_closed())
