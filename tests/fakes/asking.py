"""A transport on loopback, questions to put to it, and a key that must not be seen anywhere afterwards.

A test module that asks makes its fixtures from here: `make = pytest.fixture(transports)`.
"""

import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from zarniwoop.contract.deadline import BreakOff, Deadline
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.transport import Authentication, HeaderKey, HttpAnswer, HttpRequest, Secret
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.exchange import Limits
from zarniwoop.net.lookup import Resolve
from zarniwoop.net.transport import PooledTransport
from zarniwoop.observe.clock import SystemClock

CANARY = "canary-7f3a+9b/key=="
CANARY_FORMS = ("canary-7f3a", "Y2FuYXJ5LTdmM2E", "canary%2D7f3a")
BEARER = HeaderKey(name="Authorization", prefix="Bearer ")
LOOPBACK = AllowedNetworks.parse("127.0.0.1/32")

Make = Callable[..., PooledTransport]


def transports() -> Iterator[Make]:
    """A maker of transports, loopback allowed and no lookup expected unless said otherwise; all are closed again."""
    made: list[PooledTransport] = []

    def make_one(
        *,
        allowed: AllowedNetworks = LOOPBACK,
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


def one_transport(make: Make) -> PooledTransport:
    """A transport with everything as usual."""
    return make()


def always(*addresses: str) -> Resolve:
    """A resolver with one answer for every name."""

    def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


def _no_lookup(host: str, port: int) -> Sequence[str]:
    raise AssertionError(f"{host} was looked up")


def ask(
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


def failure_of(transport: PooledTransport, url: str, *, method: str = "GET", seconds: float = 5.0) -> ProviderError:
    """What is raised for a request with a key; nowhere in it may the key be seen."""
    with pytest.raises(ProviderError) as caught:
        ask(transport, url, method=method, seconds=seconds, authentication=BEARER, secret=CANARY)
    check_no_canary(caught.value)
    return caught.value


def broken_off(transport: PooledTransport, url: str, *, when: Callable[[], bool]) -> ProviderError:
    """What is raised for a request that another thread breaks off as soon as `when` says so."""
    break_off, asking = BreakOff(), threading.Event()

    def watch() -> None:
        while not when() and not asking.wait(0.005):
            pass
        break_off.break_off()

    watcher = threading.Thread(target=watch)
    watcher.start()
    deadline = Deadline.after(30.0, SystemClock()).breakable(break_off)
    try:
        with pytest.raises(ProviderError) as caught:
            transport.send(HttpRequest(url=url), deadline=deadline)
    finally:
        asking.set()
        watcher.join()
    return caught.value


def check_no_canary(error: BaseException) -> None:
    shown = "".join(traceback.format_exception(error)) + repr(error) + str(error)
    link: BaseException | None = error
    while link is not None:
        shown += repr(link) + repr(link.args)
        link = link.__cause__ or link.__context__
    assert not any(form in shown for form in CANARY_FORMS)
