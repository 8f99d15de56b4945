"""One URL, one reading: what is written anew means the same to every parser, and only what was checked is dialled."""

import random
import socket
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import httpx
import pytest
from urllib3.util import parse_url

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.transport import HttpRequest
from zarniwoop.net.address import AllowedNetworks, is_public
from zarniwoop.net.transport import PooledTransport
from zarniwoop.net.url import Target, parse
from zarniwoop.observe.clock import SystemClock

_NOTHING = AllowedNetworks()
_SEEDS = (
    "http://example.com/", "https://user:pass@example.com:8443/a/b?q=1#frag", "http://93.184.216.34:8080/x",
    "https://[2606:2800:220:1:248:1893:25c8:1946]/", "https://bücher.example/käse?q=ü", "https://xn--bcher-kva.example/",
    "http://127.0.0.1:6666\\@1.1.1.1/", "http://[::1]evil.com/", "http://exa\tmple.com/", "http://1.1.1.1 &@2.2.2.2/",
    "HTTP://EXAMPLE.COM:80/%2e%2e/%00?x=http://169.254.169.254/", "http://foo_bar.example.co.uk./;p?a=b&c#@127.0.0.1",
)  # fmt: skip
_PIECES = (
    "@", ":", "/", "//", "\\", "?", "#", "%", "%00", "%2f", "%40", ".", "..", "[", "]", "::1", "127.0.0.1", "0x7f",
    ":80", ":443", "\t", "\n", " ", "\u00ad", "\u3002", "\uff0f", "\u2100", "é", "ß", "xn--", "-", "_", "0",
    "localhost", ";",
    "http://", "https:", "\x00", "\u202e", "ⓔ", "1", "evil.test", ",", "|", "&", "=", "+", "~", "'", '"', "<",
    "\ud83d\ude00",
)  # fmt: skip
_MUTATED = 100_000


def _mutated(chance: random.Random) -> str:
    """A URL of the seeds with one to four pieces put in, taken out, or put in another place."""
    text = chance.choice(_SEEDS)
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        match chance.randrange(4):
            case 0:
                text = text[:at] + chance.choice(_PIECES) + text[at:]
            case 1:
                text = text[:at] + text[to if to - at < 6 else at + 1 :]
            case 2:
                text = text[:at] + chance.choice(_PIECES) + text[at + 1 :]
            case _:
                text = text[:at] + text[at:to].swapcase() + text[to:]
    return text


@pytest.fixture(scope="module")
def taken() -> list[tuple[str, Target]]:
    """Of the mutated URLs those that are taken, and what they are taken for."""
    chance = random.Random(20261130)  # noqa: S311 - the same URLs each time
    found = []
    for _ in range(_MUTATED):
        url = _mutated(chance)
        try:
            found.append((url, parse(url, allowed=_NOTHING, plain_http=True)))
        except ProviderUnavailable as failure:
            assert failure.cause is Cause.ADDRESS
    return found


def _by_urlsplit(url: str) -> tuple[str, str | None, int | None, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port, parts.path + ("?" + parts.query if "?" in url else "")


def _by_httpx(url: str) -> tuple[str, str | None, int | None, str]:
    parts = httpx.URL(url)
    return parts.scheme, parts.raw_host.decode(), parts.port, ""


def _by_urllib3(url: str) -> tuple[str, str | None, int | None, str]:
    parts = parse_url(url)
    return str(parts.scheme), (parts.host or "").strip("[]"), parts.port, ""


def test_enough_of_the_mutated_urls_are_taken_and_enough_refused(taken: list[tuple[str, Target]]) -> None:
    """Else nothing would be compared."""
    assert _MUTATED / 20 < len(taken) < _MUTATED * 19 / 20


def test_a_canonical_url_is_its_own_canonical_form(taken: list[tuple[str, Target]]) -> None:
    """Parsed again, it is the same target, and is written the same."""
    for url, target in taken:
        again = parse(target.url(), allowed=_NOTHING, plain_http=True)
        assert again == target, ascii(url)
        assert target.url().isascii()


@pytest.mark.parametrize("read", [_by_urlsplit, _by_httpx, _by_urllib3])
def test_a_canonical_url_means_the_same_to_every_parser(
    read: Callable[[str], tuple[str, str | None, int | None, str]], taken: list[tuple[str, Target]]
) -> None:
    """Scheme, host and port; and where the parser does not rewrite it, the path with its query."""
    for _, target in taken:
        scheme, host, port, path = read(target.url())
        default = 443 if scheme == "https" else 80
        assert (scheme, host, port or default) == (target.scheme, target.host, target.port), ascii(target.url())
        assert not path or path == target.path_and_query, ascii(target.url())


def test_only_addresses_that_were_checked_are_dialled(taken: list[tuple[str, Target]]) -> None:
    """Whatever the resolver answers, and however its answers change."""
    chance = random.Random(20261130)  # noqa: S311
    answered: list[str] = []
    dialled: list[str] = []

    def resolve(host: str, port: int) -> Sequence[str]:
        answer = chance.choices(
            ("93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "10.0.0.1", "::1"), (9, 9, 9, 1, 1), k=2
        )
        answered.extend(answer)
        return answer

    def dial(address: str, port: int, seconds: float) -> socket.socket:
        dialled.append(address)
        raise ConnectionRefusedError

    transport = PooledTransport(contact="", plain_http=True, resolve=resolve, dial=dial)
    for _, target in taken[:2_000]:
        answered.clear()
        dialled.clear()
        with pytest.raises(ProviderUnavailable) as caught:
            transport.send(HttpRequest(url=target.url()), deadline=Deadline.after(5.0, SystemClock()))
        checked = answered or [target.host]
        public = all(map(is_public, checked))
        assert dialled == (checked if public else [])
        assert caught.value.cause is (Cause.CONNECT if public else Cause.ADDRESS)
