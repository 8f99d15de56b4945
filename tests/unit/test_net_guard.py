"""Which addresses may be named to others, who fetch them for us."""

from collections.abc import Sequence

import pytest

from tests.fakes.asking import always
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.guard import AddressGuard
from zarniwoop.net.lookup import Resolve
from zarniwoop.observe.clock import SystemClock


def _check(url: str, resolve: Resolve, seconds: float = 5.0) -> None:
    AddressGuard(resolve).check(url, deadline=Deadline.after(seconds, SystemClock()))


def _never(host: str, port: int) -> Sequence[str]:
    raise AssertionError(f"{host} was looked up")


def _nowhere(host: str, port: int) -> Sequence[str]:
    raise OSError


@pytest.mark.parametrize("url", ["https://bells.example/a?b#c", "http://bells.example/", "https://bells.example:8443/"])
def test_a_page_whose_host_is_public_passes(url: str) -> None:
    """Over plain http, too: it is a page."""
    _check(url, always("93.184.216.34", "2606:2800:220:1::1"))


def test_a_public_address_needs_no_lookup() -> None:
    _check("https://93.184.216.34/", _never)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://0x7f.1/",
        "http://localhost:8080/",
        "http://firecrawl:3002/admin",
        "https://wiki.corp/",
        "https://bells.example:22/",
        "https://user@bells.example/",
    ],
)
def test_an_internal_address_is_refused_without_a_lookup(url: str) -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        _check(url, _never)
    assert caught.value.cause is Cause.ADDRESS


@pytest.mark.parametrize("addresses", [("10.0.0.7",), ("93.184.216.34", "169.254.169.254"), ("fd12::7",)])
def test_a_name_that_leads_inside_is_refused(addresses: tuple[str, ...]) -> None:
    """Also where only one of its addresses does."""
    with pytest.raises(ProviderUnavailable) as caught:
        _check("https://rebound.example/", always(*addresses))
    assert caught.value.cause is Cause.ADDRESS
    assert not any(address in str(caught.value) for address in addresses)


def test_a_name_that_is_not_found_is_refused() -> None:
    """Whoever fetches may know it by another resolver."""
    with pytest.raises(ProviderUnavailable) as caught:
        _check("https://inside.example/", _nowhere)
    assert caught.value.cause is Cause.DNS


def test_without_time_left_nothing_is_looked_up() -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        _check("https://bells.example/", _never, seconds=0.0)
    assert caught.value.cause is Cause.DEADLINE
