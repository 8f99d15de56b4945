"""Which addresses may be dialled."""

import pytest

from zarniwoop.net.address import AllowedNetworks, is_public, number_of

_INTERNAL = (
    "0.0.0.0",  # noqa: S104 - refused, not bound
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "168.63.129.16",
    "169.254.169.254",
    "172.31.255.255",
    "192.0.0.192",
    "192.88.99.1",
    "192.168.1.1",
    "198.19.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a9fe:a9fe",
    "100::1",
    "2001::1",
    "2001:1ff::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%2",
    "fec0::1",
    "ff02::1",
    "127.1",
    "0177.0.0.1",
    "nonsense",
    "",
    "1.1.1.1\x00",
)


@pytest.mark.parametrize("address", _INTERNAL)
def test_what_is_not_plainly_public_is_refused(address: str) -> None:
    """Internal, embedded, reserved and odd spellings are all the same: not public."""
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "100.128.0.1", "2606:2800:220:1::1", "2001:200::1"])
def test_ordinary_addresses_are_public(address: str) -> None:
    assert is_public(address)


def test_by_default_nothing_private_may_be_dialled() -> None:
    nothing = AllowedNetworks.parse("")
    assert not nothing.permit("127.0.0.1", host="127.0.0.1", port=443)
    assert nothing.permit("1.1.1.1", host="one.example", port=443)


def test_an_allowed_block_opens_its_addresses_on_every_port_and_no_others() -> None:
    allowed = AllowedNetworks.parse("10.1.0.0/16, fd12::/16")
    assert allowed.permit("10.1.200.3", host="search.example", port=9200)
    assert allowed.permit("fd12::9", host="search.example", port=443)
    assert not allowed.permit("10.2.0.1", host="search.example", port=9200)


def test_an_allowed_address_with_a_port_opens_that_port_only() -> None:
    allowed = AllowedNetworks.parse("127.0.0.1:8080,[::1]:9000")
    assert allowed.permit("127.0.0.1", host="127.0.0.1", port=8080)
    assert not allowed.permit("127.0.0.1", host="127.0.0.1", port=9001)
    assert allowed.names("::1", 9000)
    assert not allowed.names("::1", 9001)


def test_an_allowed_name_opens_private_addresses_for_that_name_only() -> None:
    """Another name that resolves to the same address stays refused."""
    allowed = AllowedNetworks.parse("searxng:8080")
    assert allowed.permit("10.0.0.7", host="searxng", port=8080)
    assert allowed.permit("fd12::7", host="searxng", port=8080)
    assert not allowed.permit("10.0.0.7", host="evil.example", port=8080)
    assert not allowed.permit("10.0.0.7", host="searxng", port=22)


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254", "fe80::1"]
)
def test_an_allowed_name_never_opens_a_metadata_service(address: str) -> None:
    """The operator meant an internal server; a name that suddenly leads to credentials was not meant."""
    allowed = AllowedNetworks.parse("searxng")
    assert not allowed.permit(address, host="searxng", port=80)


@pytest.mark.parametrize(
    "entry", ["10.0.0.1/8", "10.0.0.0/33", "a b", "host:0", "host:65536", "host:http", "http://x", "[::1"]
)
def test_an_entry_that_means_nothing_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match="is n"):
        AllowedNetworks.parse(f"127.0.0.1/32,{entry}")


def test_a_bare_ipv6_address_is_an_entry() -> None:
    assert AllowedNetworks.parse("fd12::7").names("fd12::7", 443)


def test_a_strict_spelling_has_one_number() -> None:
    assert number_of("0.0.1.0") == (4, 256)
    assert number_of("::1") == (6, 1)
    assert number_of("01.1.1.1") is None
