"""Rows 1 to 13: what can happen on the way to a provider, on real sockets against an origin that misbehaves.

Serper is asked first (a POST that costs credits), then Hacker News; both are the shipped adapters on the shipped
transport, and the clock is the machine's. Budgets are small, but never under the 3.75 s in which two attempts fit.
"""

import datetime
import gzip
import ssl
import tracemalloc
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from socket import create_server
from tempfile import TemporaryDirectory
from threading import Event

import orjson
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
)
from tests.functional.faults.scenario import CANARY, Scenario, Stage, StagedEnvironment
from zarniwoop.contract.result import Attempt, Outcome, SearchResult
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.lookup import Resolve, system_addresses
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock

TWO_ATTEMPTS = 4.0
ONE_ATTEMPT = 1.6
ATTEMPT_SHARE = 0.6
MEGABYTE = 1_000_000

PAGE = orjson.dumps(
    {
        "searchParameters": {"type": "search"},
        "organic": [{"title": "From the first", "link": "https://example.com/first"}],
    }
)
STORIES = orjson.dumps(
    {"hits": [{"objectID": "1", "title": "From the second", "url": "https://example.com/second", "author": "a"}]}
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an endpoint is reached; without a URL, where its provider really is."""

    protocol: str
    url: str | None


def endpoints(stage: Stage, *places: Place, resolve: Resolve = system_addresses) -> StagedEnvironment:
    """An environment on sockets with these endpoints, asked in this order: `serper-1`, `hackernews-2`, …"""
    settings: dict[str, str] = {}
    for number, place in enumerate(places, 1):
        prefix = f"research.endpoint.{place.protocol}-{number}"
        settings |= {f"{prefix}.protocol": place.protocol, f"{prefix}.priority": str(number)}
        if place.url:
            settings[f"{prefix}.baseUrl"] = place.url
        if place.protocol == "serper":
            settings[f"{prefix}.apiKey"] = CANARY
    transport = PooledTransport(
        contact="tests@example.com", allowed=AllowedNetworks.parse("127.0.0.1/32"), resolve=resolve
    )
    return stage.environment(settings, transport=stage.within(closing(transport)), clock=SystemClock())


def serper(url: str | None) -> Place:
    return Place(protocol="serper", url=url)


def hackernews(url: str) -> Place:
    return Place(protocol="hackernews", url=url)


def origin(stage: Stage, *acts: Act, tls: ssl.SSLContext | None = None) -> Origin:
    return stage.within(Origin(*acts, tls=tls))


def told(result: SearchResult) -> list[tuple[Outcome, str | None, str | None]]:
    return [(attempt.outcome, attempt.reason, attempt.detail) for attempt in result.attempts]


def titles(result: SearchResult) -> list[str]:
    return [hit.title for hit in result.hits]


def replaced(stage: Stage, first: Place, reason: str, cause: str | None) -> tuple[SearchResult, StagedEnvironment]:
    """A search whose first candidate fails for this reason: the second answers, and each attempt has its record."""
    good = origin(stage, reply(STORIES))
    environment = endpoints(stage, first, hackernews(good.url))
    result = environment.search(seconds=TWO_ATTEMPTS)
    assert told(result) == [(Outcome.FAILURE, reason, cause), (Outcome.SUCCESS, None, None)]
    assert titles(result) == ["From the second"]
    assert [(record.ok, record.error_message) for record in environment.witness.handed] == [
        (False, reason),
        (True, None),
    ]
    assert len(good.requests) == 1
    return result, environment


def refused_connection(stage: Stage) -> None:
    """Nobody listens on the port."""
    with create_server(("127.0.0.1", 0)) as listener:
        closed = f"http://127.0.0.1:{listener.getsockname()[1]}"
    replaced(stage, serper(closed), "provider_unavailable", "connect")


def unknown_host(stage: Stage) -> None:
    """The provider's own name does not resolve; the next search does not even ask."""
    looked_up: list[str] = []

    def nobody_knows(host: str, port: int) -> Sequence[str]:
        looked_up.append(host)
        raise OSError(host)

    good = origin(stage, reply(STORIES))
    environment = endpoints(stage, serper(None), hackernews(good.url), resolve=nobody_knows)
    first, second = environment.search(), environment.search()
    assert told(first)[0] == (Outcome.FAILURE, "provider_unavailable", "dns")
    assert told(second)[0] == (Outcome.SKIPPED, "cooldown", "provider_unavailable")
    assert titles(first) == titles(second) == ["From the second"]
    assert looked_up == ["google.serper.dev"]


def unvouched_certificate(stage: Stage) -> None:
    """A self-signed certificate ends the attempt: no request is sent, over TLS or without it."""
    impostor = origin(stage, reply(PAGE), tls=_self_signed())
    replaced(stage, serper(impostor.url), "provider_unavailable", "tls")
    assert (impostor.requests, impostor.connections) == ([], 1)


def reset_after_the_request(stage: Stage) -> None:
    """The POST may have been billed: it is not sent a second time."""
    broken = origin(stage, reset)
    replaced(stage, serper(broken.url), "provider_unavailable", "reset")
    assert [received.method for received in broken.requests] == ["POST"]


def silence(stage: Stage) -> None:
    """The silent one gets 60 % of the time, so that the fallback finds the rest."""
    silent = origin(stage, hang)
    result, _ = replaced(stage, serper(silent.url), "provider_unavailable", "deadline")
    assert _within(result.attempts[0], TWO_ATTEMPTS * ATTEMPT_SHARE)
    assert len(silent.requests) == 1


def dripped_body(stage: Stage) -> None:
    """A byte now and then keeps a read alive and the deadline does not care; the socket is closed behind it."""
    hung_up = Event()
    opening = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    slow = origin(stage, _noticing(drip(opening, b" "), hung_up))
    result = endpoints(stage, serper(slow.url)).search(seconds=ONE_ATTEMPT)
    assert told(result) == [(Outcome.FAILURE, "provider_unavailable", "deadline")]
    assert _within(result.attempts[0], ONE_ATTEMPT * ATTEMPT_SHARE)
    assert hung_up.wait(1.0)


def dripped_headers(stage: Stage) -> None:
    """Headers byte by byte end with the deadline; interim answers without end end sooner."""
    hung_up = Event()
    slow = origin(stage, _noticing(drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"), hung_up))
    dripped = endpoints(stage, serper(slow.url)).search(seconds=ONE_ATTEMPT)
    assert told(dripped) == [(Outcome.FAILURE, "provider_unavailable", "deadline")]
    assert hung_up.wait(1.0)
    endless = origin(stage, flood(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"))
    replaced(stage, serper(endless.url), "malformed_answer", "headers_too_large")


def stale_connection(stage: Stage) -> None:
    """A connection that died while the environment was frozen is replaced once, unseen: one call, one record."""
    dying = origin(stage, reply_and_hang_up(STORIES), reply(STORIES), hang_up, reply(STORIES))
    environment = endpoints(stage, hackernews(dying.url))
    for _ in range(3):
        result = environment.search(seconds=TWO_ATTEMPTS)
        assert told(result) == [(Outcome.SUCCESS, None, None)]
    assert (len(dying.requests), dying.connections) == (4, 3)
    assert [record.ok for record in environment.witness.handed] == [True, True, True]


def truncated_answers(stage: Stage) -> None:
    """Cut in the body, in the JSON or in the gzip stream: malformed each time, and nothing of it becomes a hit."""
    zipped = gzip.compress(PAGE)
    cut = {
        "length": raw(_head(len(PAGE)) + PAGE[:-20]),
        "json": reply(PAGE[:-20]),
        "gzip": reply(zipped[:-12], headers={"Content-Encoding": "gzip"}),
    }
    broken = [origin(stage, act) for act in cut.values()]
    good = origin(stage, reply(STORIES))
    environment = endpoints(stage, *(serper(each.url) for each in broken), hackernews(good.url))
    result = environment.search()
    assert [(outcome, reason) for outcome, reason, _ in told(result)] == [
        *[(Outcome.FAILURE, "malformed_answer")] * 3,
        (Outcome.SUCCESS, None),
    ]
    assert titles(result) == ["From the second"]
    assert result.dropped_count == 0


def login_page(stage: Stage) -> None:
    """HTML with status 200 is no answer, whatever it is called."""
    page = b"<!doctype html><title>Sign in</title><form action=/login>captcha</form>"
    for content_type in ("text/html; charset=utf-8", "application/json"):
        portal = origin(stage, reply(page, headers={"Content-Type": content_type}))
        replaced(stage, serper(portal.url), "malformed_answer", "content_type")


def error_in_a_good_answer(stage: Stage) -> None:
    """A 200 that speaks of an error is a failure, not an answer without hits."""
    broke = origin(stage, reply(b'{"message": "Not enough credits", "statusCode": 400}'))
    replaced(stage, serper(broke.url), "quota_exhausted", "shape")
    vague = origin(stage, reply(b'{"error": "internal"}'))
    replaced(stage, serper(vague.url), "malformed_answer", "shape")


def oversized_answers(stage: Stage) -> None:
    """A body without end and a gzip bomb end at the byte cap, and never lie in memory as a whole."""
    endless = origin(stage, flood(_head(10**12), b" " * 65536))
    bomb = origin(stage, reply(_bomb(100 * MEGABYTE), headers={"Content-Encoding": "gzip"}))
    for oversized in (endless, bomb):
        tracemalloc.start()
        try:
            replaced(stage, serper(oversized.url), "malformed_answer", "body_too_large")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 10 * MEGABYTE


def redirecting_api(stage: Stage) -> None:
    """A 3xx from an API is a failure: the key goes nowhere else."""
    elsewhere = origin(stage, reply(PAGE))
    moved = origin(stage, reply(b"", status=307, headers={"Location": f"{elsewhere.url}/search"}))
    replaced(stage, serper(moved.url), "provider_unavailable", "redirect")
    assert [received.headers["x-api-key"] for received in moved.requests] == [CANARY]
    assert elsewhere.connections == 0


def _within(attempt: Attempt, seconds: float) -> bool:
    """Whether the attempt took its share of the time, and no more."""
    return seconds * 1000 - 50 <= attempt.duration_ms <= seconds * 1000 + 100


def _noticing(act: Act, hung_up: Event) -> Act:
    """The act, and the news that the peer has hung up on it."""

    def noticing(conversation: Conversation) -> None:
        try:
            act(conversation)
        except OSError:
            hung_up.set()
            raise

    return noticing


def _head(length: int) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % length


def _bomb(size: int) -> bytes:
    """Nothing but spaces, a thousandth of its size, and never in memory as a whole."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = [packer.compress(b" " * MEGABYTE) for _ in range(size // MEGABYTE)]
    return b"".join((*packed, packer.flush()))


def _self_signed() -> ssl.SSLContext:
    """A server context with a certificate for 127.0.0.1 that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "impostor")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "impostor.pem"
        file.write_bytes(pem)
        context.load_cert_chain(file)
    return context


_ROWS: tuple[tuple[int, str, Callable[[Stage], None]], ...] = (
    (1, "the first candidate refuses the connection", refused_connection),
    (2, "the provider's name does not resolve", unknown_host),
    (3, "the certificate is self-signed", unvouched_certificate),
    (4, "the connection is reset after the request", reset_after_the_request),
    (5, "the server accepts and never answers", silence),
    (6, "the body drips", dripped_body),
    (7, "the headers drip, or interim answers never end", dripped_headers),
    (8, "a kept connection went stale", stale_connection),
    (9, "the answer is cut short", truncated_answers),
    (10, "a login page comes with status 200", login_page),
    (11, "an error comes with status 200", error_in_a_good_answer),
    (12, "the answer is far too large, or a gzip bomb", oversized_answers),
    (13, "the API redirects elsewhere", redirecting_api),
)
SCENARIOS = tuple(Scenario(number=number, fault=fault, run=run) for number, fault, run in _ROWS)
