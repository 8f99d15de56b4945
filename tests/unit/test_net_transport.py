"""The transport over real sockets: what is sent, what comes back, and every way in which it does not."""

import datetime
import gzip
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.fakes.origin import (
    Act,
    Conversation,
    Origin,
    drip,
    flood,
    hang,
    hang_up,
    raw,
    reply,
    reply_and_hang_up,
    reset,
    reset_after,
)
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    Cause,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
)
from zarniwoop.contract.transport import Authentication, HeaderKey, HttpAnswer, HttpRequest, QueryKey, Secret
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.backend import GuardedBackend
from zarniwoop.net.exchange import Limits
from zarniwoop.net.lookup import Resolve, system_addresses
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock

_CANARY = "canary-7f3a+9b/key=="
_CANARY_FORMS = ("canary-7f3a", "Y2FuYXJ5LTdmM2E", "canary%2D7f3a")
_BEARER = HeaderKey(name="Authorization", prefix="Bearer ")
_LOOPBACK = AllowedNetworks.parse("127.0.0.1/32")


Make = Callable[..., PooledTransport]


@pytest.fixture
def make() -> Iterator[Make]:
    """A maker of transports, loopback allowed and no lookup expected unless said otherwise; all are closed again."""
    made: list[PooledTransport] = []

    def make_one(
        *,
        allowed: AllowedNetworks = _LOOPBACK,
        limits: Limits | None = None,
        extra_ca_file: Path | None = None,
        max_connections: int = 16,
        resolve: Resolve | None = None,
    ) -> PooledTransport:
        transport = PooledTransport(
            contact="https://zarniwoop.example/contact",
            allowed=allowed,
            limits=limits or Limits(),
            extra_ca_file=extra_ca_file,
            max_connections=max_connections,
            resolve=resolve or _no_lookup,
        )
        made.append(transport)
        return transport

    yield make_one
    for transport in made:
        transport.close()


@pytest.fixture
def transport(make: Make) -> PooledTransport:
    return make()


def _always(*addresses: str) -> Resolve:
    """A resolver with one answer for every name."""

    def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


def _no_lookup(host: str, port: int) -> Sequence[str]:
    raise AssertionError(f"{host} was looked up")


def _ask(
    transport: PooledTransport,
    url: str,
    *,
    method: str = "GET",
    seconds: float = 5.0,
    authentication: Authentication | None = None,
    secret: str | None = None,
    max_redirects: int = 0,
    max_bytes: int | None = None,
) -> HttpAnswer:
    return transport.send(
        HttpRequest(
            url=url,
            method=method,
            json={"query": "bells"} if method == "POST" else None,
            max_redirects=max_redirects,
            max_bytes=max_bytes,
        ),
        deadline=Deadline.after(seconds, SystemClock()),
        authentication=authentication,
        secret=Secret(secret) if secret else None,
    )


def _failure(transport: PooledTransport, url: str, *, method: str = "GET", seconds: float = 5.0) -> ProviderError:
    """What is raised for a request with a key; nowhere in it may the key be seen."""
    with pytest.raises(ProviderError) as caught:
        _ask(transport, url, method=method, seconds=seconds, authentication=_BEARER, secret=_CANARY)
    _check_no_canary(caught.value)
    return caught.value


def _check_no_canary(error: BaseException) -> None:
    shown = "".join(traceback.format_exception(error)) + repr(error) + str(error)
    link: BaseException | None = error
    while link is not None:
        shown += repr(link) + repr(link.args)
        link = link.__cause__ or link.__context__
    assert not any(form in shown for form in _CANARY_FORMS)


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
            authentication=_BEARER,
            secret=Secret(_CANARY),
        )
    _check_no_canary(caught.value)
    assert not origin.requests


def test_a_key_goes_into_its_header_behind_its_prefix(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        answer = _ask(transport, origin.url, authentication=_BEARER, secret=_CANARY)
    assert origin.requests[0].headers["authorization"] == f"Bearer {_CANARY}"
    assert _CANARY not in answer.url


def test_a_key_for_the_query_is_appended_last_and_left_out_of_the_answers_url(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        answer = _ask(transport, f"{origin.url}/search?q=1", authentication=QueryKey(name="api_key"), secret=_CANARY)
    assert origin.requests[0].target == "/search?q=1&api_key=canary-7f3a%2B9b%2Fkey%3D%3D"
    assert answer.url == f"{origin.url}/search?q=1"


@pytest.mark.parametrize("text", ["short", "has a space in it", "newline\r\nX-Injected: 1", "ümlaut-ümlaut", "x" * 513])
def test_a_key_that_no_header_may_carry_is_never_sent_nor_shown(transport: PooledTransport, text: str) -> None:
    with Origin(reply()) as origin, pytest.raises(CredentialsRejected) as caught:
        _ask(transport, origin.url, authentication=_BEARER, secret=text)
    assert text not in "".join(traceback.format_exception(caught.value))
    assert not origin.requests


def test_a_keyless_endpoint_is_asked_without_a_key(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        _ask(transport, origin.url, authentication=_BEARER)
        _ask(transport, origin.url, secret=_CANARY)
    assert all(_CANARY not in str(received.headers) + received.target for received in origin.requests)


def test_one_connection_serves_many_requests(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        for _ in range(5):
            _ask(transport, origin.url, method="POST")
        assert origin.connections == 1
    assert transport.connections_opened == 1


def test_an_error_status_is_an_answer(transport: PooledTransport) -> None:
    """What a status means is decided above the transport."""
    with Origin(reply(b'{"error": 1}', status=503, headers={"Retry-After": "7"})) as origin:
        answer = _ask(transport, origin.url)
    assert (answer.status, answer.headers["retry-after"]) == (503, "7")


def test_repeated_headers_are_joined(transport: PooledTransport) -> None:
    with Origin(raw(b"HTTP/1.1 200 OK\r\nX-Limit: 1\r\nx-limit: 1999\r\nContent-Length: 0\r\n\r\n")) as origin:
        assert _ask(transport, origin.url).headers["x-limit"] == "1, 1999"


def test_a_chunked_answer_with_an_interim_one_before_it_is_read(transport: PooledTransport) -> None:
    opening = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    act = raw(opening, b"2\r\n{}\r\n0\r\n\r\n", kept_open=True)
    with Origin(act) as origin:
        assert _ask(transport, origin.url).body == b"{}"
        assert _ask(transport, origin.url).body == b"{}"
        assert origin.connections == 1


def test_an_answer_without_a_body_keeps_its_connection(transport: PooledTransport) -> None:
    with Origin(raw(b"HTTP/1.1 204 No Content\r\n\r\n", kept_open=True)) as origin:
        assert _ask(transport, origin.url).body == b""
        assert _ask(transport, origin.url).status == 204
        assert origin.connections == 1


def test_a_refused_connection_is_told_as_such(transport: PooledTransport) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    failure = _failure(transport, f"http://127.0.0.1:{port}/")
    assert isinstance(failure, ProviderUnavailable)
    assert failure.cause is Cause.CONNECT
    assert "127.0.0.1" not in str(failure)


def _nowhere(host: str, port: int) -> Sequence[str]:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("resolve", [_nowhere, _always(), _always(*("93.184.216.34",) * 65)])
def test_a_name_without_usable_addresses_is_a_dns_failure(make: Make, resolve: Resolve) -> None:
    assert _failure(make(resolve=resolve), "https://nx.example/").cause is Cause.DNS


def test_a_resolver_that_hangs_is_left_behind(make: Make) -> None:
    release = threading.Event()

    def resolve(host: str, port: int) -> Sequence[str]:
        release.wait(5)
        return ()

    started = time.monotonic()
    assert _failure(make(resolve=resolve), "https://slow.example/", seconds=0.1).cause is Cause.DEADLINE
    capped = make(resolve=resolve, limits=Limits(lookup=0.05))
    assert _failure(capped, "https://slow.example/").cause is Cause.DNS
    assert time.monotonic() - started < 0.5
    release.set()


def test_no_more_than_eight_lookups_are_left_behind(make: Make) -> None:
    release, asked = threading.Event(), []

    def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        release.wait(5)
        return ()

    transport = make(resolve=resolve, limits=Limits(lookup=0.01))
    for _ in range(10):
        assert _failure(transport, "https://slow.example/").cause is Cause.DNS
    assert len(asked) == 8
    release.set()


@pytest.mark.parametrize(
    "addresses", [("127.0.0.1",), ("93.184.216.34", "10.0.0.1"), ("169.254.169.254", "93.184.216.34"), ("fe80::1%2",)]
)
def test_one_bad_address_refuses_the_name(make: Make, addresses: tuple[str, ...]) -> None:
    transport = make(allowed=AllowedNetworks(), resolve=_always(*addresses))
    failure = _failure(transport, "https://rebound.example/")
    assert failure.cause is Cause.ADDRESS
    assert not any(address in str(failure) for address in addresses)
    assert transport.connections_opened == 0


def test_a_private_url_is_refused_without_a_lookup(make: Make) -> None:
    assert _failure(make(allowed=AllowedNetworks()), "https://192.168.0.10/").cause is Cause.ADDRESS


def test_the_address_dialled_is_one_of_those_checked(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver that changes its answer between two looks gets one look per connection."""
    looks: list[str] = []
    dialled: list[str] = []

    def resolve(host: str, port: int) -> Sequence[str]:
        looks.append(host)
        return ("93.184.216.34",) if len(looks) == 1 else ("127.0.0.1",)

    def connect(self: socket.socket, address: tuple[str, int]) -> None:
        dialled.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr("zarniwoop.net.backend.socket.socket.connect", connect, raising=False)
    transport = make(allowed=AllowedNetworks(), resolve=resolve)
    assert _failure(transport, "https://rebind.example/").cause is Cause.CONNECT
    assert _failure(transport, "https://rebind.example/").cause is Cause.ADDRESS
    assert dialled == ["93.184.216.34"]


def test_the_next_address_is_dialled_when_the_first_is_dead(make: Make) -> None:
    """Nothing listens on the first; the name in the Host header stays."""
    with Origin(reply()) as origin:
        transport = make(
            allowed=AllowedNetworks.parse("searxng,127.0.0.0/8"), resolve=_always("127.0.0.2", "127.0.0.1")
        )
        _ask(transport, f"http://searxng:{origin.port}/")
        assert origin.requests[0].headers["host"] == f"searxng:{origin.port}"


@pytest.mark.parametrize(("limits", "cause"), [(Limits(), Cause.DEADLINE), (Limits(connect=0.5), Cause.TIMEOUT)])
def test_an_address_that_swallows_the_connection_is_waited_for_in_bounds(
    make: Make, monkeypatch: pytest.MonkeyPatch, limits: Limits, cause: Cause
) -> None:
    def connect(self: socket.socket, address: tuple[str, int]) -> None:
        raise TimeoutError

    monkeypatch.setattr("zarniwoop.net.backend.socket.socket.connect", connect, raising=False)
    assert _failure(make(limits=limits), "http://127.0.0.1:9/", seconds=1.0).cause is cause


def test_the_machines_own_resolver_is_the_default() -> None:
    assert system_addresses("127.0.0.1", 443) == ["127.0.0.1"]


def test_no_socket_is_used_outside_an_exchange() -> None:
    """Its time would not be bounded by anything."""
    with pytest.raises(RuntimeError):
        GuardedBackend(_LOOPBACK, Limits()).connect_tcp("127.0.0.1", 443)


def _certificate(folder: Path, *, name: str, expired: bool = False) -> tuple[Path, ssl.SSLContext]:
    """A self-signed certificate for 127.0.0.1 or another name, and a server context that shows it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fake origin")])
    now = datetime.datetime.now(datetime.UTC)
    named = x509.IPAddress(ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=9))
        .not_valid_after(now + datetime.timedelta(days=-1 if expired else 1))
        .add_extension(x509.SubjectAlternativeName([named]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{name}.pem"
    file.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return file, context


def test_a_certificate_that_nobody_vouches_for_is_refused(make: Make, tmp_path: Path) -> None:
    _, server = _certificate(tmp_path, name="127.0.0.1")
    with Origin(reply(), tls=server) as origin:
        assert _failure(make(), origin.url).cause is Cause.TLS
        assert not origin.requests


@pytest.mark.parametrize(("name", "expired"), [("other.example", False), ("127.0.0.1", True)])
def test_a_certificate_for_another_name_or_time_is_refused(
    make: Make, tmp_path: Path, name: str, expired: bool
) -> None:
    file, server = _certificate(tmp_path, name=name, expired=expired)
    with Origin(reply(), tls=server) as origin:
        assert _failure(make(extra_ca_file=file), origin.url).cause is Cause.TLS


def test_an_operators_own_certificate_authority_is_trusted(make: Make, tmp_path: Path) -> None:
    file, server = _certificate(tmp_path, name="127.0.0.1")
    with Origin(reply(), reply(), tls=server) as origin:
        transport = make(extra_ca_file=file)
        assert _ask(transport, origin.url, method="POST").status == 200
        assert _ask(transport, origin.url, method="POST").status == 200
        assert origin.connections == 1
        transport.close()


def test_a_handshake_with_a_server_that_speaks_no_tls_fails_in_time(make: Make) -> None:
    with Origin(hang) as origin:
        url = origin.url.replace("http:", "https:")
        assert _failure(make(), url, seconds=0.1).cause is Cause.DEADLINE
        assert _failure(make(limits=Limits(handshake=0.05)), url).cause is Cause.TIMEOUT


def test_a_handshake_that_is_broken_off_is_a_tls_failure(make: Make) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def break_off() -> None:
        connection, _ = listener.accept()
        connection.recv(10)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    server = threading.Thread(target=break_off)
    server.start()
    with listener:
        assert _failure(make(), f"https://127.0.0.1:{listener.getsockname()[1]}/").cause is Cause.TLS
        server.join(2)


def test_certificates_named_in_the_environment_have_no_say(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, server = _certificate(tmp_path, name="127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with Origin(reply(), tls=server) as origin:
        assert _failure(make(), origin.url).cause is Cause.TLS


def test_a_proxy_named_in_the_environment_has_no_say(
    transport: PooledTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Origin(reply()) as proxy, Origin(reply()) as origin:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        _ask(transport, origin.url)
        assert not proxy.requests


def test_cookies_are_not_kept(transport: PooledTransport) -> None:
    with Origin(reply(headers={"Set-Cookie": "session=1"})) as origin:
        _ask(transport, origin.url)
        _ask(transport, origin.url)
    assert "cookie" not in origin.requests[1].headers


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_MANY = b"".join(b"X-%d: y\r\n" % number for number in range(201))

_BROKEN: dict[str, tuple[Act, type[ProviderError], Cause]] = {
    "reset before an answer": (reset, ProviderUnavailable, Cause.RESET),
    "hung up before an answer": (hang_up, ProviderUnavailable, Cause.RESET),
    "reset in the body": (reset_after(_HEAD + b"Content-Length: 9\r\n\r\n{"), ProviderUnavailable, Cause.RESET),
    "short body": (raw(_HEAD + b"Content-Length: 9\r\n\r\n{}"), MalformedAnswer, Cause.TRUNCATED),
    "short chunk": (raw(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\n{}"), MalformedAnswer, Cause.TRUNCATED),
    "short head": (raw(_HEAD), MalformedAnswer, Cause.TRUNCATED),
    "two codings": (reply(headers={"Content-Encoding": "gzip, gzip"}), MalformedAnswer, Cause.ENCODING),
    "coding not asked for": (reply(headers={"Content-Encoding": "br"}), MalformedAnswer, Cause.ENCODING),
    "not gzip": (reply(headers={"Content-Encoding": "gzip"}), MalformedAnswer, Cause.ENCODING),
    "short gzip": (
        reply(gzip.compress(b"bells")[:-4], headers={"Content-Encoding": "gzip"}), MalformedAnswer, Cause.TRUNCATED
    ),
    "huge length": (raw(_HEAD + b"Content-Length: 10737418240\r\n\r\n"), MalformedAnswer, Cause.TOO_LARGE),
    "too many headers": (raw(_HEAD + _MANY + b"Content-Length: 0\r\n\r\n"), MalformedAnswer, Cause.HEADERS),
    "one long header": (
        raw(_HEAD + b"X: " + b"a" * 33_000 + b"\r\nContent-Length: 0\r\n\r\n"), MalformedAnswer, Cause.HEADERS
    ),
    "endless header": (flood(_HEAD + b"X: ", b"a" * 9000), MalformedAnswer, Cause.HEADERS),
    "endless interim answers": (
        flood(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100), MalformedAnswer, Cause.HEADERS
    ),
    "interim answers one by one": (
        drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", every=0.0002), MalformedAnswer, Cause.HEADERS
    ),
    "length and chunks": (
        raw(_HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        MalformedAnswer,
        Cause.PROTOCOL,
    ),
    "two lengths": (raw(_HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), MalformedAnswer, Cause.PROTOCOL),
    "folded header": (raw(_HEAD + b"X: a\r\n b\r\nContent-Length: 0\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "status 999": (raw(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "status 101": (raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "status of letters": (raw(b"HTTP/1.1 abc Odd\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "no head at all": (raw(b"<html>hello</html>\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "zero byte in a header": (raw(_HEAD + b"X: a\x00b\r\nContent-Length: 0\r\n\r\n"), MalformedAnswer, Cause.PROTOCOL),
    "bad chunk size": (raw(_HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n"), MalformedAnswer, Cause.PROTOCOL),
}  # fmt: skip


@pytest.mark.parametrize("fault", _BROKEN)
def test_a_broken_answer_is_told_by_its_cause(transport: PooledTransport, fault: str) -> None:
    """And the key that was sent is nowhere in what is raised."""
    act, kind, cause = _BROKEN[fault]
    with Origin(act) as origin:
        failure = _failure(transport, origin.url, method="POST", seconds=2.0)
        assert (type(failure), failure.cause) == (kind, cause)
        assert len(origin.requests) == 1


_SLOW: dict[str, Act] = {
    "silence": hang,
    "dripped head": drip(b"HTTP/1.1 200 OK\r\nX: ", b"a"),
    "dripped body": drip(_HEAD + b"Content-Length: 9999\r\n\r\n", b" "),
    "dripped chunks": drip(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "dripped interim answers": drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
}


@pytest.mark.parametrize("fault", _SLOW)
def test_the_deadline_ends_every_kind_of_waiting(transport: PooledTransport, fault: str) -> None:
    """Each drop resets a per-read timeout; the deadline is total."""
    with Origin(_SLOW[fault]) as origin:
        started = time.monotonic()
        failure = _failure(transport, origin.url, seconds=0.25)
        assert failure.cause is Cause.DEADLINE
        assert time.monotonic() - started < 0.35


def test_one_read_has_its_own_cap(make: Make) -> None:
    with Origin(hang) as origin:
        assert _failure(make(limits=Limits(read=0.05)), origin.url).cause is Cause.TIMEOUT


def test_a_peer_that_does_not_take_the_request_is_given_up_on(make: Make) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    request = HttpRequest(url=f"http://127.0.0.1:{listener.getsockname()[1]}/", method="POST", json="x" * 20_000_000)
    with listener, pytest.raises(ProviderUnavailable) as caught:
        make(limits=Limits(write=0.05)).send(request, deadline=Deadline.after(5, SystemClock()))
    assert caught.value.cause is Cause.TIMEOUT


def test_nothing_is_sent_when_there_is_no_time_left(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        assert _failure(transport, origin.url, seconds=0.0).cause is Cause.DEADLINE
        assert origin.connections == 0


def test_a_request_that_gets_no_connection_waits_no_longer_than_its_deadline(make: Make) -> None:
    transport = make(max_connections=1)
    with Origin(hang) as origin, ThreadPoolExecutor(1) as pool:
        first = pool.submit(_failure, transport, origin.url, seconds=0.4)
        while not origin.requests:
            time.sleep(0.005)
        assert _failure(transport, origin.url, seconds=0.1).cause is Cause.DEADLINE
        assert first.result().cause is Cause.DEADLINE


def test_an_endless_body_ends_at_the_cap(transport: PooledTransport) -> None:
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    with Origin(flood(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk)) as origin:
        assert _failure(transport, origin.url).cause is Cause.TOO_LARGE


def test_chunk_extensions_count_against_the_cap(transport: PooledTransport) -> None:
    """One byte of body in a thousand on the wire would otherwise be read for a very long time."""
    chunk = b"1;" + b"e" * 9000 + b"\r\nx\r\n"
    with Origin(flood(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk)) as origin:
        assert _failure(transport, origin.url).cause is Cause.TOO_LARGE


def test_a_request_may_set_its_own_cap(transport: PooledTransport) -> None:
    with Origin(reply(b"x" * 2000)) as origin:
        assert len(_ask(transport, origin.url, max_bytes=2000).body) == 2000
        with pytest.raises(MalformedAnswer) as caught:
            _ask(transport, origin.url, max_bytes=1999)
        assert caught.value.cause is Cause.TOO_LARGE


def test_what_comes_after_the_answer_never_opens_the_next_one(transport: PooledTransport) -> None:
    """A second answer in the same packet, held for the next request, would be given to somebody else."""
    sound = _HEAD + b"Content-Length: 2\r\n\r\n{}"
    smuggled = _HEAD + b"Content-Length: 3\r\n\r\nbad"
    with Origin(raw(sound + smuggled, kept_open=True)) as origin:
        assert _ask(transport, origin.url).body == b"{}"
        assert _ask(transport, origin.url).body == b"{}"
        assert origin.connections == 2


def test_what_comes_after_a_chunked_answer_never_opens_the_next_one(transport: PooledTransport) -> None:
    sound = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    with Origin(raw(sound + b"HTTP/1.1 200 OK\r\n", kept_open=True)) as origin:
        assert _ask(transport, origin.url).body == b"{}"
        assert _ask(transport, origin.url).body == b"{}"


def test_a_head_with_bare_line_feeds_costs_its_connection(transport: PooledTransport) -> None:
    """Where such a head ends cannot be told for sure."""
    with Origin(raw(b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", kept_open=True)) as origin:
        assert _ask(transport, origin.url).body == b"{}"
        assert _ask(transport, origin.url).body == b"{}"
        assert origin.connections == 2


def test_an_answer_that_was_there_before_its_request_is_refused(transport: PooledTransport) -> None:
    """The one way past the check above: a chunked answer and a second one that ends just like it."""
    chunked = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    with Origin(raw(chunked + chunked, kept_open=True)) as origin:
        assert _ask(transport, origin.url).body == b"{}"
        assert _failure(transport, origin.url).cause is Cause.PROTOCOL
        assert _ask(transport, origin.url).body == b"{}"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_connection_closed_while_idle_is_replaced_without_a_word(transport: PooledTransport, method: str) -> None:
    with Origin(reply_and_hang_up()) as origin:
        for _ in range(3):
            assert _ask(transport, origin.url, method=method).status == 200
        assert len(origin.requests) == 3


def test_a_kept_connection_that_dies_under_a_request_is_replaced_once(transport: PooledTransport) -> None:
    """The request was sent into a dead connection and no byte came back: it is sent once more, and that is all."""
    with Origin(reply(), hang_up, reply(b"[]")) as origin:
        _ask(transport, origin.url, method="POST")
        assert _ask(transport, origin.url, method="POST").body == b"[]"
        assert (len(origin.requests), origin.connections) == (3, 2)


def test_a_second_hang_up_is_a_failure(transport: PooledTransport) -> None:
    with Origin(reply(), reset, hang_up, reply()) as origin:
        _ask(transport, origin.url)
        assert _failure(transport, origin.url, method="POST").cause is Cause.RESET
        assert len(origin.requests) == 3


def test_a_new_connection_that_is_hung_up_on_is_not_tried_again(transport: PooledTransport) -> None:
    """The provider saw this request, and it may have cost a credit."""
    with Origin(hang_up, reply()) as origin:
        assert _failure(transport, origin.url, method="POST").cause is Cause.RESET
        assert len(origin.requests) == 1


def test_a_kept_connection_that_answers_half_is_not_replaced(transport: PooledTransport) -> None:
    with Origin(reply(), raw(b"HTTP/1.1 2"), reply()) as origin:
        _ask(transport, origin.url)
        assert _failure(transport, origin.url).cause is Cause.TRUNCATED
        assert len(origin.requests) == 2


def test_the_replacement_is_new_even_when_other_kept_connections_are_dead_too(transport: PooledTransport) -> None:
    """After a long freeze all connections are dead at once."""
    together = threading.Barrier(2, timeout=5)

    def reply_together(conversation: Conversation) -> None:
        together.wait()
        reply()(conversation)

    with Origin(reply_together, reply_together, hang_up, reply()) as origin:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: _ask(transport, origin.url), range(2)))
        assert _ask(transport, origin.url).status == 200
        assert origin.connections == 3


def test_an_early_answer_to_a_request_that_was_not_read_is_heard(transport: PooledTransport) -> None:
    """A server may refuse a large body before it has read it, and close."""
    listener = socket.create_server(("127.0.0.1", 0))

    def refuse() -> None:
        connection, _ = listener.accept()
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        connection.shutdown(socket.SHUT_RDWR)
        time.sleep(0.05)
        connection.close()

    server = threading.Thread(target=refuse)
    server.start()
    request = HttpRequest(url=f"http://127.0.0.1:{listener.getsockname()[1]}/", method="POST", json="x" * 20_000_000)
    with listener:
        try:
            assert transport.send(request, deadline=Deadline.after(5, SystemClock())).status == 413
        except ProviderUnavailable as failure:  # the reset may overtake the answer; never a hang, never a second try
            assert failure.cause is Cause.RESET
        server.join(2)


def test_an_api_is_not_followed_where_it_redirects(transport: PooledTransport) -> None:
    with Origin(reply(status=302, headers={"Location": "/elsewhere"}), reply()) as origin:
        answer = _ask(transport, origin.url, authentication=_BEARER, secret=_CANARY)
        assert (answer.status, answer.headers["location"]) == (302, "/elsewhere")
        assert len(origin.requests) == 1


def test_a_redirect_within_one_origin_keeps_the_key(transport: PooledTransport) -> None:
    with Origin(reply(status=301, headers={"Location": "next?page=2"}), reply()) as origin:
        answer = _ask(transport, f"{origin.url}/a/b", authentication=_BEARER, secret=_CANARY, max_redirects=1)
    assert answer.url == f"{origin.url}/a/next?page=2"
    assert origin.requests[1].headers["authorization"] == f"Bearer {_CANARY}"


def test_a_key_is_never_sent_to_another_origin_nor_back_again(transport: PooledTransport) -> None:
    with Origin(reply()) as home, Origin(reply(status=302, headers={"Location": f"{home.url}/back"})) as away:
        home._acts.insert(0, reply(status=302, headers={"Location": f"{away.url}/away"}))
        transport.send(
            HttpRequest(url=home.url, headers={"X-Api-Token": _CANARY}, max_redirects=5),
            deadline=Deadline.after(5, SystemClock()),
            authentication=_BEARER,
            secret=Secret(_CANARY),
        )
    assert _CANARY in str(home.requests[0].headers)
    assert _CANARY not in str(away.requests[0].headers)
    assert _CANARY not in str(home.requests[1].headers)


def test_a_query_key_that_a_server_writes_into_its_location_goes_no_further(transport: PooledTransport) -> None:
    """Same origin: the key is put in its place once. Another origin: not asked at all."""
    echoed = "canary-7f3a%2B9b%2Fkey%3D%3D"
    key = QueryKey(name="api_key")
    with Origin(reply(status=301, headers={"Location": f"/search/?q=1&api_key={echoed}"}), reply()) as origin:
        answer = _ask(transport, f"{origin.url}/search?q=1", authentication=key, secret=_CANARY, max_redirects=2)
        assert origin.requests[1].target == f"/search/?q=1&api_key={echoed}"
        assert answer.url == f"{origin.url}/search/?q=1"
    with Origin(reply()) as thief:
        act = reply(status=301, headers={"Location": f"{thief.url}/?api_key={echoed}"})
        with Origin(act) as origin, pytest.raises(ProviderUnavailable) as caught:
            _ask(transport, origin.url, authentication=key, secret=_CANARY, max_redirects=2)
        assert caught.value.cause is Cause.REDIRECT
        _check_no_canary(caught.value)
        assert not thief.requests


def test_a_location_with_the_key_in_its_path_is_not_followed(transport: PooledTransport) -> None:
    """It could not be taken out again, and would stand in the answer's URL."""
    with Origin(reply(status=301, headers={"Location": f"/{_CANARY}"})) as origin:
        for place in (_BEARER, QueryKey(name="key")):
            with pytest.raises(ProviderUnavailable) as caught:
                _ask(transport, origin.url, authentication=place, secret=_CANARY, max_redirects=1)
            assert caught.value.cause is Cause.REDIRECT


def test_a_redirect_loop_ends(transport: PooledTransport) -> None:
    with Origin(reply(status=302, headers={"Location": "/again"})) as origin:
        with pytest.raises(ProviderUnavailable) as caught:
            _ask(transport, origin.url, max_redirects=3)
        assert caught.value.cause is Cause.REDIRECT
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
        ("http://１２７.0.0.1/", Cause.REDIRECT),
    ],
)
def test_every_hop_is_checked_like_the_first(transport: PooledTransport, location: str, cause: Cause) -> None:
    act = raw(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location.encode() + b"\r\n\r\n")
    with Origin(act) as origin, pytest.raises(ProviderUnavailable) as caught:
        _ask(transport, origin.url, max_redirects=5)
    assert caught.value.cause is cause
    assert len(origin.requests) == 1


def test_https_never_becomes_http(make: Make, tmp_path: Path) -> None:
    file, server = _certificate(tmp_path, name="127.0.0.1")
    with Origin(reply()) as plain:
        act = reply(status=302, headers={"Location": plain.url})
        with Origin(act, tls=server) as origin, pytest.raises(ProviderUnavailable) as caught:
            _ask(make(extra_ca_file=file), origin.url, max_redirects=5)
        assert caught.value.cause is Cause.REDIRECT
        assert not plain.requests


def test_a_redirect_without_a_location_is_an_answer(transport: PooledTransport) -> None:
    with Origin(reply(status=302)) as origin:
        assert _ask(transport, origin.url, max_redirects=5).status == 302


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
def test_a_redirected_post_becomes_what_its_status_says(transport: PooledTransport, status: int, method: str) -> None:
    with Origin(reply(status=status, headers={"Location": "/next"}), reply()) as origin:
        _ask(transport, origin.url, method="POST", max_redirects=1)
    assert origin.requests[1].method == method
    assert origin.requests[1].body == (b'{"query":"bells"}' if method == "POST" else b"")
    assert ("content-type" in origin.requests[1].headers) == (method == "POST")


def test_threads_share_the_transport_without_mixing_answers_or_deadlines(transport: PooledTransport) -> None:
    """One thread's short deadline must not end another's exchange on a connection that both have used."""

    with Origin(reply(b"ok")) as origin, Origin(drip(_HEAD + b"Content-Length: 999\r\n\r\n", b" ")) as slow:

        def many(number: int) -> int:
            if number == 0:
                assert _failure(transport, slow.url, seconds=0.1).cause is Cause.DEADLINE
            return sum(_ask(transport, f"{origin.url}/{number}").body == b"ok" for _ in range(20))

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(many, range(8))) == 160
        assert len(origin.requests) == 160
        assert origin.connections <= 8


def test_a_closed_transport_holds_no_connection(transport: PooledTransport) -> None:
    with Origin(reply()) as origin:
        _ask(transport, origin.url)
        transport.close()
        assert _ask(transport, origin.url).status == 200
        assert transport.connections_opened == 2


def test_importing_the_transport_loads_no_second_client() -> None:
    """httpcore tries anyio and trio on its own; the layer ships neither, and works without them."""
    script = (
        "import sys\n"
        "for name in ('anyio', 'trio', 'httpx', 'requests', 'urllib3'): sys.modules[name] = None\n"
        "import zarniwoop.net.transport\n"
        "loaded = {name.partition('.')[0] for name, module in sys.modules.items() if module}\n"
        "print(sorted(loaded & {'anyio', 'trio', 'httpx', 'requests', 'urllib3', 'asyncio', 'h2'}))\n"
    )
    layer = str(Path(__file__).resolve().parents[2] / "layers" / "zarniwoop")
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONPATH": layer}
    )
    assert done.stdout.strip() == "[]"
