"""Instances of built-in protocols on a scripted transport, and requests to put to them."""

from datetime import date
from typing import Any

from tests.fakes.addresses import FakeAddresses
from tests.fakes.aws_calls import AwsOverTransport
from tests.fakes.clock import FakeClock
from tests.fakes.keys import FakeKeyRing
from tests.fakes.transport import ScriptedTransport
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import DateRange, ExpertParams, Locale, SearchRequest, SearchScope
from zarniwoop.wire.driver import WireInstance, WireProtocol


def scope(clock: FakeClock | None = None, seconds: float = 20.0) -> SearchScope:
    return SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(seconds, clock or FakeClock()))


def instance(
    protocol: WireProtocol,
    transport: ScriptedTransport,
    *,
    key: str | None = None,
    base_url: str | None = None,
    extras: dict[str, str] | None = None,
    clock: FakeClock | None = None,
    addresses: FakeAddresses | None = None,
) -> WireInstance:
    """`<protocol>-main`, with a saved key when one is given."""
    return protocol.instantiate(
        ProviderInstanceConfig(
            instance_id=f"{protocol.id()}-main",
            protocol_id=protocol.id(),
            base_url=base_url,
            credential_key="apiKey" if key else None,
            extras=extras or {},
            transport=transport,
            keys=FakeKeyRing(apiKey=key) if key else FakeKeyRing(),
            clock=clock or FakeClock(),
            aws=AwsOverTransport(transport, clock),
            addresses=addresses or FakeAddresses(),
        )
    )


def request(
    query: str = "cathedral bells",
    modality: SearchModality = SearchModality.WEB,
    *,
    max_results: int = 10,
    locale: Locale | None = None,
    published: tuple[date | None, date | None] | None = None,
    **expert: Any,
) -> SearchRequest:
    """A request; expert filters make it an EXPERT one. `published` is derived from date_from/date_to when not given."""
    window = published or ((expert.get("date_from"), expert.get("date_to")) if expert else None)
    return SearchRequest(
        query=query,
        modality=modality,
        tier=SearchTier.EXPERT if expert else SearchTier.NORMAL,
        max_results=max_results,
        locale=locale,
        expert_params=ExpertParams(**expert),
        published=DateRange(earliest=window[0], latest=window[1]) if window and any(window) else None,
    )
