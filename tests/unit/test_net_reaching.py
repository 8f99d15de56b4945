"""From a host name to a connection: looked up in time, checked, dialled."""

import socket
import threading
import time
from collections.abc import Sequence

import pytest

from tests.fakes.asking import Make, always, ask, failure_of, one_transport, transports
from tests.fakes.origin import Origin, reply
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.address import AllowedNetworks
from zarniwoop.net.exchange import Limits
from zarniwoop.net.lookup import Resolve, system_addresses
from zarniwoop.net.transport import PooledTransport

make = pytest.fixture(transports)
transport = pytest.fixture(one_transport)


def test_a_refused_connection_is_told_as_such(transport: PooledTransport) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    failure = failure_of(transport, f"http://127.0.0.1:{port}/")
    assert isinstance(failure, ProviderUnavailable)
    assert failure.cause is Cause.CONNECT
    assert "127.0.0.1" not in str(failure)


def _nowhere(host: str, port: int) -> Sequence[str]:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("resolve", [_nowhere, always(), always(*("93.184.216.34",) * 65)])
def test_a_name_without_usable_addresses_is_a_dns_failure(make: Make, resolve: Resolve) -> None:
    assert failure_of(make(resolve=resolve), "https://nx.example/").cause is Cause.DNS


def test_a_resolver_that_hangs_is_left_behind(make: Make) -> None:
    release = threading.Event()

    def resolve(host: str, port: int) -> Sequence[str]:
        release.wait(5)
        return ()

    started = time.monotonic()
    assert failure_of(make(resolve=resolve), "https://slow.example/", seconds=0.1).cause is Cause.DEADLINE
    capped = make(resolve=resolve, limits=Limits(lookup=0.05))
    assert failure_of(capped, "https://slow.example/").cause is Cause.DNS
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
        assert failure_of(transport, "https://slow.example/").cause is Cause.DNS
    assert len(asked) == 8
    release.set()


@pytest.mark.parametrize(
    "addresses", [("127.0.0.1",), ("93.184.216.34", "10.0.0.1"), ("169.254.169.254", "93.184.216.34"), ("fe80::1%2",)]
)
def test_one_bad_address_refuses_the_name(make: Make, addresses: tuple[str, ...]) -> None:
    transport = make(allowed=AllowedNetworks(), resolve=always(*addresses))
    failure = failure_of(transport, "https://rebound.example/")
    assert failure.cause is Cause.ADDRESS
    assert not any(address in str(failure) for address in addresses)
    assert transport.connections_opened == 0


def test_a_private_url_is_refused_without_a_lookup(make: Make) -> None:
    assert failure_of(make(allowed=AllowedNetworks()), "https://192.168.0.10/").cause is Cause.ADDRESS


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

    monkeypatch.setattr("zarniwoop.net.dialler.socket.socket.connect", connect, raising=False)
    transport = make(allowed=AllowedNetworks(), resolve=resolve)
    assert failure_of(transport, "https://rebind.example/").cause is Cause.CONNECT
    assert failure_of(transport, "https://rebind.example/").cause is Cause.ADDRESS
    assert dialled == ["93.184.216.34"]


def test_the_next_address_is_dialled_when_the_first_is_dead(make: Make) -> None:
    """Nothing listens on the first; the name in the Host header stays."""
    with Origin(reply()) as origin:
        transport = make(allowed=AllowedNetworks.parse("searxng,127.0.0.0/8"), resolve=always("127.0.0.2", "127.0.0.1"))
        ask(transport, f"http://searxng:{origin.port}/")
        assert origin.requests[0].headers["host"] == f"searxng:{origin.port}"


@pytest.mark.parametrize(("limits", "cause"), [(Limits(), Cause.DEADLINE), (Limits(connect=0.5), Cause.TIMEOUT)])
def test_an_address_that_swallows_the_connection_is_waited_for_in_bounds(
    make: Make, monkeypatch: pytest.MonkeyPatch, limits: Limits, cause: Cause
) -> None:
    def connect(self: socket.socket, address: tuple[str, int]) -> None:
        raise TimeoutError

    monkeypatch.setattr("zarniwoop.net.dialler.socket.socket.connect", connect, raising=False)
    assert failure_of(make(limits=limits), "http://127.0.0.1:9/", seconds=1.0).cause is cause


def test_the_machines_own_resolver_is_the_default() -> None:
    assert system_addresses("127.0.0.1", 443) == ["127.0.0.1"]
