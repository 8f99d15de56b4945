"""Spellings of forbidden addresses, made up by the thousand: none of them leads to a connection."""

import socket
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fakes.fetching import FetchPage, environment_on, through_page_fetcher
from tests.fakes.page_reader import FakePageReader
from tests.fakes.web import Web, moved
from zarniwoop.contract.page import PageOutcome
from zarniwoop.net.address import is_public
from zarniwoop.pages.reasons import FetchReason

_FORBIDDEN_4 = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4", "169.254.169.254/32",
)  # fmt: skip
_FORBIDDEN_6 = (
    "::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "fc00::/7", "fe80::/10", "ff00::/8", "2001::/32",
    "2001:db8::/32", "2002::/16", "fec0::/10", "100::/64", "5f00::/16", "fd00:ec2::/32",
)  # fmt: skip
_DIGITS = ("0123456789", "０１２３４５６７８９", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗", "٠١٢٣٤٥٦٧٨٩", "⓪①②③④⑤⑥⑦⑧⑨")
_DOTS = (".", "。", "．", "｡", "%2e", ".\u200b")
_DECORATIONS = (
    "{}", "{}.", "{}%00", "%20{}", "{}\t", "{}\u00ad", "user@{}", "1.1.1.1@{}", "{}#@example.com", "{}?@example.com",
    "{}:80\\@example.com", "example.com\\@{}", "{}\\.example.com", "[{}]", "{}%2f@example.com", "@{}", "{}:80:80",
    "{};",
)  # fmt: skip
_SCHEMES = ("http://", "https://", "HTTP://", "http:////", "http:/", "http:\\\\", "//", "http:", " http://", "ftp://")
_ENDS = ("", "/", ":80/", ":443/", ":8080/latest/", ":9001/2018-06-01/runtime/invocation/next", "/?q=%0d%0aX:1")


def _part(number: int, base: int) -> str:
    return {8: f"0{number:o}", 10: str(number), 16: f"0x{number:x}", 17: f"0X{number:08X}"}[base]


@st.composite
def _spelled_4(draw: st.DrawFn) -> str:
    """An IPv4 address in one to four parts, each in a base of its own, as `inet_aton` reads it."""
    network = IPv4Network(draw(st.sampled_from(_FORBIDDEN_4)))
    number = int(network[0]) + draw(st.integers(0, network.num_addresses - 1))
    parts = [number >> 24, number >> 16 & 255, number >> 8 & 255, number & 255]
    whole = draw(st.integers(1, 4))
    last = int.from_bytes(bytes(parts[whole - 1 :]))
    last += draw(st.sampled_from((0, 0, 0, 1 << 32)))
    text = [_part(part, draw(st.sampled_from((8, 10, 10, 16, 17)))) for part in (*parts[: whole - 1], last)]
    spelled = draw(st.sampled_from(_DOTS)).join(text)
    return spelled.translate(dict(zip(map(ord, _DIGITS[0]), draw(st.sampled_from(_DIGITS)), strict=True)))


@st.composite
def _spelled_6(draw: st.DrawFn) -> str:
    """An IPv6 address, long, short or with a dotted end, perhaps with a zone."""
    network = IPv6Network(draw(st.sampled_from(_FORBIDDEN_6)))
    address = IPv6Address(int(network[0]) + draw(st.integers(0, network.num_addresses - 1)))
    long = address.exploded
    dotted = f"{long[:30]}{IPv4Address(int(address) & 0xFFFFFFFF)}"
    zone = draw(st.sampled_from(("", "", "%eth0", "%25lo", "%1")))
    return f"[{draw(st.sampled_from((address.compressed, long, long.upper(), dotted)))}{zone}]"


_NAMES = st.sampled_from(
    ("localhost", "LOCALHOST", "ⓛocalhost", "localhoſt", "internal.test", "metadata", "a.localhost")
)


@st.composite
def _urls(draw: st.DrawFn) -> str:
    host = draw(st.one_of(_spelled_4(), _spelled_4(), _spelled_6(), _NAMES))
    decorated = draw(st.sampled_from(_DECORATIONS)).format(host)
    return draw(st.sampled_from(_SCHEMES)) + decorated + draw(st.sampled_from(_ENDS))


def _as_a_c_library_does(host: str, port: int) -> Sequence[str]:
    """Spellings of numbers become addresses, and every other name leads inside."""
    try:
        return [socket.inet_ntoa(socket.inet_aton(host))]
    except OSError:
        return ["169.254.169.254"]


@pytest.fixture(scope="module")
def inside() -> Iterator[tuple[Web, FetchPage]]:
    """A web in which every name but one leads inside, and whose public server redirects to what it is told to."""
    with Web() as web:
        web.resolve = _as_a_c_library_does  # type: ignore[method-assign]
        with environment_on(web, FakePageReader()) as environment:
            yield web, through_page_fetcher(environment, honour_robots=False)


@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(url=_urls())
def test_no_spelling_of_a_forbidden_address_connects(inside: tuple[Web, FetchPage], url: str) -> None:
    """The canary on loopback, where every connection that is not to a public address ends, counts none."""
    web, fetch_page = inside
    fetched = fetch_page(url)
    assert web.canary_connections == 0
    assert all(is_public(address) for address, _ in web.dialled)
    assert fetched.outcome is not PageOutcome.OK or web.dialled
    assert fetched.reason != FetchReason.INTERNAL


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(url=_urls().filter(lambda url: not set(url) & set("\r\n")))
def test_no_redirect_to_a_forbidden_address_connects(inside: tuple[Web, FetchPage], url: str) -> None:
    """The same spellings in `Location`, from a public host."""
    web, fetch_page = inside
    web.pages["/away"] = moved(url.encode("utf-8", "surrogatepass"))
    fetched = fetch_page("http://93.184.216.34/away")
    assert web.canary_connections == 0
    assert all(is_public(address) for address, _ in web.dialled)
    assert fetched.reason != FetchReason.INTERNAL
