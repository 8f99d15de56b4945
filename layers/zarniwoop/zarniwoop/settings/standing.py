"""Endpoints that are there without a setting: what needs no key and no address, and costs nothing or was opted in to.

They come last, so whatever somebody configured for a modality is asked before them, and routing that names others
leaves them out. An endpoint of the same protocol or id in the settings takes their place, also one that is
`enabled = false`: so they are changed, or switched off. What the operator pays for keeps its price and its bound
whoever configures it.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from zarniwoop.settings.endpoints import CreditKind, EndpointSettings, ResearchSettings
from zarniwoop.settings.misconfigured import Misconfigured
from zarniwoop.settings.names import PROTOCOL

PRIORITY = 1_000
FINGERPRINT = "standing"


def standing_endpoint(protocol: str) -> EndpointSettings:
    """An endpoint of a protocol that needs nothing but its name, which is its id, too."""
    return EndpointSettings(
        id=protocol,
        protocol=protocol,
        base_url=None,
        credential_key=None,
        enabled=True,
        priority=PRIORITY,
        cost_per_call=0.0,
        credit_kind=CreditKind.NONE,
        credit_limit=None,
        extras={},
        auto_allow=False,
        fingerprint=FINGERPRINT,
        standing=True,
    )


def metered_endpoint(protocol: str, *, price: float, calls_a_month: int, extras: Mapping[str, str]) -> EndpointSettings:
    """One that costs money and that the operator chose for everybody: as asked for as any, up to so many calls."""
    return replace(
        standing_endpoint(protocol),
        cost_per_call=price,
        credit_kind=CreditKind.MONTHLY,
        credit_limit=round(price * calls_a_month, 6),
        auto_allow=True,
        extras=extras,
        in_dollars=True,
    )


def with_standing(
    settings: ResearchSettings, standing: Iterable[EndpointSettings], protocols: Container[str]
) -> ResearchSettings:
    """The settings with those standing endpoints whose protocol is known and whose place nobody has taken."""
    taken = {endpoint.protocol for endpoint in settings.endpoints} | {each.id for each in settings.endpoints}
    taken |= {each.instance_id for each in settings.misconfigured}
    added = tuple(each for each in standing if each.protocol in protocols and each.id not in taken)
    if not added:
        return settings
    ordered = sorted((*settings.endpoints, *added), key=lambda endpoint: endpoint.rank)
    return replace(settings, endpoints=tuple(ordered))


def bounded(settings: ResearchSettings, metered: Iterable[EndpointSettings]) -> ResearchSettings:
    """The settings with every endpoint that the operator pays for at his price, and within his limit or a lower one.

    There is one of each such protocol, with the id by which its spending is counted: another would be another count.
    """
    own = {each.protocol: each for each in metered}
    wrong = [each for each in settings.endpoints if each.protocol in own and each.id != own[each.protocol].id]
    faults = [
        Misconfigured(
            instance_id=each.id,
            setting=PROTOCOL,
            reason=f"is paid by the operator: its one endpoint has the id '{own[each.protocol].id}'",
        )
        for each in wrong
    ]
    endpoints = tuple(
        _bounded(each, own[each.protocol]) if each.protocol in own else each
        for each in settings.endpoints
        if each not in wrong
    )
    return replace(settings, endpoints=endpoints, misconfigured=(*settings.misconfigured, *faults))


def _bounded(endpoint: EndpointSettings, own: EndpointSettings) -> EndpointSettings:
    limits = [each for each in (endpoint.credit_limit, own.credit_limit) if each is not None]
    return replace(
        endpoint,
        cost_per_call=own.cost_per_call,
        credit_kind=own.credit_kind,
        credit_limit=min(limits, default=None),
        reset_day=own.reset_day,
        auto_allow=own.auto_allow,
        hedge_metered=own.hedge_metered,
        in_dollars=own.in_dollars,
        credit_shared=own.credit_shared,
    )
