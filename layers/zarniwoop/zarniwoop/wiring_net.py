"""The part of the composition root that reaches the outside, and what the stack's parameters say about it.

Quirk: the template refuses most of what cannot be used, but a function's variables can be changed without it. A wrong
contact costs no search; networks that cannot be read stop them all, because nobody knows what they were to open.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from zarniwoop.contract.failure import StackMisconfigured

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from zarniwoop.contract.transport import PublicAddresses, Transport
    from zarniwoop.net.address import AllowedNetworks

_LONGEST_READ = 900.0
"""A model thinks before it says its first byte; what bounds that is the call's deadline."""


class NetWiring:
    """What `wiring.Environment` is made of for calls to the outside; everything is made when it is first needed."""

    _variables: Mapping[str, str]
    _given_transport: "Transport | None"

    if TYPE_CHECKING:  # declared for the type checker; the root makes them

        @cached_property
        def log(self) -> Logger: ...

    @cached_property
    def _transport(self) -> "Transport":
        """To providers. Raises StackMisconfigured."""
        if self._given_transport is not None:
            return self._given_transport
        from zarniwoop.net.transport import PooledTransport

        return PooledTransport(contact=self._contact, allowed=self._allowed_networks)

    @cached_property
    def _model_transport(self) -> "Transport":
        """To models. Raises StackMisconfigured."""
        if self._given_transport is not None:
            return self._given_transport
        from zarniwoop.net.exchange import Limits
        from zarniwoop.net.transport import PooledTransport

        return PooledTransport(contact=self._contact, allowed=self._allowed_networks, limits=Limits(read=_LONGEST_READ))

    @cached_property
    def _strict_transport(self) -> "Transport":
        """To addresses that callers name: what the operator opened for search servers is closed to them."""
        if self._given_transport is not None:
            return self._given_transport
        from zarniwoop.net.transport import PooledTransport

        return PooledTransport(contact=self._contact)

    @cached_property
    def _addresses(self) -> "PublicAddresses":
        """Which pages may be named to whoever reads pages for us."""
        from zarniwoop.net.guard import AddressGuard

        return AddressGuard()

    @cached_property
    def _contact(self) -> str:
        from zarniwoop.net.transport import is_contact

        contact = self._variables.get("CONTACT", "").strip()
        if is_contact(contact):
            return contact
        self.log.error("a stack parameter cannot be used and is left out", extra={"parameter": "Contact"})
        return ""

    @property
    def _allowed_networks(self) -> "AllowedNetworks":
        from zarniwoop.net.address import AllowedNetworks

        with suppress(ValueError):  # its text repeats the value
            return AllowedNetworks.parse(self._variables.get("ALLOWED_PRIVATE_NETWORKS", ""))
        self.log.error("a stack parameter cannot be read", extra={"parameter": "AllowedPrivateNetworks"})
        raise StackMisconfigured("AllowedPrivateNetworks")

    @property
    def authorization_servers(self) -> tuple[str, ...]:
        """Who issues tokens for this stack, by their issuer URLs (stack parameter AuthorizationServers)."""
        named = self._variables.get("AUTHORIZATION_SERVERS", "").split(",")
        return tuple(each.strip() for each in named if each.strip())

    @property
    def public_url(self) -> str:
        """Where callers reach the API (stack parameter PublicUrl); empty where only a request tells."""
        return self._variables.get("PUBLIC_URL", "").rstrip("/")
