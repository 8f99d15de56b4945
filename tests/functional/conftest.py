"""The provider simulator over a real socket, and what asks it."""

from collections.abc import Iterator

import httpx
import pytest

from tests.fakes.httpx_transport import HttpxTransport
from tests.simulator import Simulator


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def simulator(running: Simulator) -> Simulator:
    """A running simulator without rules or memories."""
    running.reset()
    return running


@pytest.fixture
def transport() -> Iterator[HttpxTransport]:
    with HttpxTransport() as transport:
        yield transport


@pytest.fixture
def client(simulator: Simulator) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{simulator.port}", trust_env=False) as client:
        yield client
