"""Whether a URL leads to the public internet: parsed and looked up as for dialling, and not dialled.

For a page that somebody else is to fetch. What the operator opened for search servers is closed here, and a name that
is not found is refused: whoever fetches may know it by a resolver inside of a house.
"""

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.address import AllowedNetworks, is_public, number_of
from zarniwoop.net.exchange import Exchange, Limits
from zarniwoop.net.lookup import Lookup, Resolve, system_addresses
from zarniwoop.net.url import parse

_NOTHING_ALLOWED = AllowedNetworks()


class AddressGuard:
    """`contract.transport.PublicAddresses` with the machine's resolver."""

    def __init__(self, resolve: Resolve = system_addresses) -> None:
        self._lookup = Lookup(resolve, Limits().lookup)

    def check(self, url: str, *, deadline: Deadline) -> None:
        target = parse(url, allowed=_NOTHING_ALLOWED, plain_http=True)
        if number_of(target.host):
            return  # `parse` has looked at it
        if not all(map(is_public, self._lookup.addresses(target.host, target.port, Exchange(deadline, 0)))):
            raise ProviderUnavailable("this host leads to an address that is not public", cause=Cause.ADDRESS)
