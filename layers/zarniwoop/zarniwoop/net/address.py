"""Which addresses may be dialled: an allow-list of address space, plus what the operator names.

Blocks: the IANA special-purpose registries for IPv4 and IPv6, and Azure's WireServer, which looks public.
Quirk: `ipaddress.is_private` and `is_global` are never asked. Their answers change with the Python patch level and call
NAT64, 6to4 and IPv4-compatible spellings of internal addresses public.
"""

import re
import socket
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Self


@dataclass(frozen=True, slots=True)
class _Space:
    """A set of addresses of one IP version, as sorted ranges of integers that do not overlap."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, *blocks: str) -> Self:
        networks = sorted((ip_network(block) for block in blocks), key=lambda network: int(network.network_address))
        return cls(
            tuple(int(network.network_address) for network in networks),
            tuple(int(network.broadcast_address) for network in networks),
        )

    def __contains__(self, number: int) -> bool:
        index = bisect_right(self.starts, number) - 1
        return index >= 0 and number <= self.ends[index]


_NEVER_4 = _Space.of(
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
    "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)  # fmt: skip
_ONLY_6 = _Space.of("2000::/3")
_NEVER_6 = _Space.of("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

# What a host name that the operator wrote down may stand for. Link-local addresses and the metadata services of clouds
# are left out: a name that suddenly leads there was not meant.
_INTERNAL_4 = _Space.of("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
_INTERNAL_6 = _Space.of("::1/128", "fc00::/7")
_METADATA_4 = _Space.of("100.100.100.200/32")
_METADATA_6 = _Space.of("fd00:ec2::/32", "fd20:ce::/32")

_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::([0-9]{1,5}))?")
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")


def number_of(address: str) -> tuple[int, int] | None:
    """The IP version and the integer of an address in its strict spelling, without a zone; None for all else."""
    version, family = (6, socket.AF_INET6) if ":" in address else (4, socket.AF_INET)
    try:
        return version, int.from_bytes(socket.inet_pton(family, address))
    except (OSError, ValueError):
        return None


def is_public(address: str) -> bool:
    """Whether the address lies in space that is routed on the public internet and means nothing else."""
    known = number_of(address)
    if known is None:
        return False
    version, number = known
    if version == 4:
        return number not in _NEVER_4
    return number in _ONLY_6 and number not in _NEVER_6


def _is_internal(version: int, number: int) -> bool:
    if version == 4:
        return number in _INTERNAL_4 and number not in _METADATA_4
    return number in _INTERNAL_6 and number not in _METADATA_6


@dataclass(frozen=True, slots=True)
class _Named:
    """One range that the operator named, on one port or on all."""

    version: int
    first: int
    last: int
    port: int | None

    def covers(self, version: int, number: int, port: int) -> bool:
        return self.version == version and self.first <= number <= self.last and self.port in (None, port)


@dataclass(frozen=True, slots=True)
class AllowedNetworks:
    """The private places that the operator opened in the stack's parameter; by default none.

    An entry is a CIDR block, an address or a host name; an address or a name may end in `:port`, and without one every
    port of it is open. A host named here may be asked over plain http.
    """

    ranges: tuple[_Named, ...] = ()
    hosts: frozenset[tuple[str, int | None]] = frozenset()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the comma-separated parameter. Raises ValueError, naming the entry that is none."""
        entries = [entry.strip() for entry in text.split(",") if entry.strip()]
        blocks = [entry for entry in entries if "/" in entry]
        places = [_host_and_port(entry) for entry in entries if "/" not in entry]
        return cls(
            tuple(_block(entry) for entry in blocks) + tuple(_addresses(places)),
            frozenset((host, port) for host, port in places if number_of(host) is None),
        )

    def names(self, host: str, port: int) -> bool:
        """Whether the operator named this host, a name or an address, on this port."""
        if (host, None) in self.hosts or (host, port) in self.hosts:
            return True
        return self._covers(number_of(host), port) if self.ranges else False

    def permit(self, address: str, *, host: str, port: int) -> bool:
        """Whether `address`, an answer for `host`, may be dialled on `port`."""
        if is_public(address):
            return True
        known = number_of(address)
        if self._covers(known, port):
            return True
        return known is not None and self.names(host, port) and _is_internal(*known)

    def _covers(self, known: tuple[int, int] | None, port: int) -> bool:
        return known is not None and any(named.covers(*known, port) for named in self.ranges)


def _block(entry: str) -> _Named:
    try:
        network = ip_network(entry)
    except ValueError as error:
        raise ValueError(f"{entry!r} is not a CIDR block") from error
    return _Named(network.version, int(network.network_address), int(network.broadcast_address), None)


def _host_and_port(entry: str) -> tuple[str, int | None]:
    if number_of(entry) is not None:
        return entry, None
    match = _HOST_AND_PORT.fullmatch(entry)
    host = match[1].strip("[]").lower() if match else ""
    port = int(match[2]) if match and match[2] else None
    if not (_NAME.fullmatch(host) or number_of(host)) or (port is not None and not 0 < port < 65536):
        raise ValueError(f"{entry!r} is neither a CIDR block nor a host nor host:port")
    return host, port


def _addresses(places: Iterable[tuple[str, int | None]]) -> Iterable[_Named]:
    for host, port in places:
        known = number_of(host)
        if known is not None:
            yield _Named(known[0], known[1], known[1], port)
