"""Endpoints of the built-in protocols that are asked over a real socket, as the simulator is."""

from tests.fakes.addresses import FakeAddresses
from tests.fakes.clock import FakeClock
from tests.fakes.httpx_transport import HttpxTransport
from tests.fakes.keys import FakeKeyRing
from zarniwoop.adapters import BUILTIN
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.wire.driver import WireInstance

PROTOCOLS = {protocol.id(): protocol for protocol in BUILTIN}


def endpoint(
    protocol_id: str, base_url: str, transport: HttpxTransport, *, key: str | None = "good-key", **extras: str
) -> WireInstance:
    """`<protocol>-main`, with a saved key unless it is None; `extras` are its further settings."""
    return PROTOCOLS[protocol_id].instantiate(
        ProviderInstanceConfig(
            instance_id=f"{protocol_id}-main",
            protocol_id=protocol_id,
            base_url=base_url,
            credential_key="apiKey" if key else None,
            extras=extras,
            transport=transport,
            keys=FakeKeyRing(apiKey=key) if key else FakeKeyRing(),
            clock=FakeClock(),
            addresses=FakeAddresses(),
        )
    )
