"""Which URLs may be asked: parsed once, strictly, and written anew from what was parsed.

Rules: what two parsers could read differently is refused (userinfo, backslash, percent signs and controls in the
authority, numbers that are not a plain dotted quad); https, unless the operator named the host; four ports, unless the
operator named another. https://url.spec.whatwg.org/#host-parsing has the rule that a host ending in a number is IPv4.
Quirk: IDNA is done here, strictly: a label that its own normalisation would change is refused, not mapped.
"""

import re
import socket
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote

from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.net.address import AllowedNetworks, number_of
from zarniwoop.text.normal_form import normal_form

_MAX_LENGTH = 8192
_MAX_LABEL = 63
_PORTS = frozenset((80, 443, 8080, 8443))
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SHAPE = re.compile(r"(https?)://([^/?#]+)([^#]*)(?:#.*)?", re.IGNORECASE | re.ASCII)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@%]+)(?::([0-9]{0,5}))?", re.IGNORECASE | re.ASCII)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_QUAD = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}")
_SPECIAL_USE = frozenset(
    ("alt", "arpa", "corp", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain", "localhost",
     "onion", "private")
)  # fmt: skip
_DROPPED = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Letters and marks that are not seen and that others drop: what is left would be another host."""
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a request goes. `host` is ASCII in lower case, an IPv6 address without its brackets."""

    scheme: str
    host: str
    port: int
    path_and_query: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def url(self, path_and_query: str | None = None) -> str:
        """The canonical URL of this target, or of another path on it."""
        return f"{self.scheme}://{self.authority}{path_and_query or self.path_and_query}"


def parse(
    url: str,
    *,
    allowed: AllowedNetworks,
    plain_http: bool = False,
    refused_hosts: frozenset[str] = frozenset(),
) -> Target:
    """The target of a URL. Raises ProviderUnavailable with Cause.ADDRESS for every URL that must not be asked.

    `plain_http` is for fetching pages; a provider is asked over https. `refused_hosts` holds our own API's hosts.
    """
    target = spelled(url)
    if target.host in refused_hosts:
        raise _refusal("this URL leads back to ourselves")
    if not allowed.names(target.host, target.port):
        _check_public(target.scheme, target.host, target.port, plain_http=plain_http)
    return target


def spelled(url: str) -> Target:
    """What the URL names, in its one spelling, whether it may be asked or not. Raises ProviderUnavailable for none."""
    scheme, raw_host, raw_port, rest = _parts(url)
    host = _host(raw_host)
    port = int(raw_port) if raw_port else _DEFAULT_PORTS[scheme]
    return Target(scheme=scheme, host=host, port=port, path_and_query=_path_and_query(rest))


def _refusal(message: str) -> ProviderUnavailable:
    return ProviderUnavailable(message, cause=Cause.ADDRESS)


def _parts(url: str) -> tuple[str, str, str | None, str]:
    if len(url) > _MAX_LENGTH or not url.isprintable() or " " in url or "\\" in url:
        raise _refusal("this URL has characters that a URL may not have")
    shape = _SHAPE.fullmatch(url)
    authority = _AUTHORITY.fullmatch(shape[2]) if shape else None
    if shape is None or authority is None:
        raise _refusal("this is not a plain http(s) URL")
    return shape[1].lower(), authority[1], authority[2], shape[3]


def _check_public(scheme: str, host: str, port: int, *, plain_http: bool) -> None:
    if scheme != "https" and not plain_http:
        raise _refusal("only https is used, except where the operator allows the host")
    if port not in _PORTS:
        raise _refusal("this port is not used, except where the operator allows it")
    if number_of(host):
        if not AllowedNetworks().permit(host, host=host, port=port):
            raise _refusal("this address is not public")
    elif "." not in host or host.rpartition(".")[2] in _SPECIAL_USE:
        raise _refusal("this host name is not public")


def _host(raw: str) -> str:
    """The one spelling of a host, or the refusal of a host that has several readings."""
    if raw.startswith("["):
        known = number_of(raw[1:-1])
        if known is None or known[0] != 6:
            raise _refusal("this is not an IPv6 address")
        return socket.inet_ntop(socket.AF_INET6, known[1].to_bytes(16))
    name = ".".join(_ascii_label(label) for label in raw.lower().split("."))
    if _NUMBER.fullmatch(name.removesuffix(".").rpartition(".")[2]):
        if not _QUAD.fullmatch(name) or number_of(name) is None:
            raise _refusal("this is not the plain spelling of an IPv4 address")
        return name
    name = name.removesuffix(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise _refusal("this is not a host name")
    return name


def _ascii_label(label: str) -> str:
    """A label as it is looked up. A Unicode label and its xn-- form have to be each other's only reading."""
    if len(label) > _MAX_LABEL:
        raise _refusal("this is not a host name")
    if not label.isascii():
        _check_unicode(label)
        return "xn--" + label.encode("punycode").decode("ascii")
    if label.startswith("xn--"):
        try:
            decoded = label.removeprefix("xn--").encode("ascii").decode("punycode")
        except UnicodeError as error:
            raise _refusal("this host name has a label that is no punycode") from error
        _check_unicode(decoded)
        if decoded.encode("punycode").decode("ascii") != label.removeprefix("xn--"):
            raise _refusal("this host name has a label that is no punycode")
    return label


def _check_unicode(label: str) -> None:
    stable = normal_form("NFKC", label) == label and label.casefold() == label
    if not stable or label.isascii() or _DROPPED.search(label) or not all(map(_is_letter, label)):
        raise _refusal("this host name has a label with more than one reading")


def _is_letter(character: str) -> bool:
    """A letter, mark, hyphen or ASCII digit: other digits and symbols look like what they are not."""
    return character.isascii() or unicodedata.category(character)[0] in "LM"


def _path_and_query(rest: str) -> str:
    path = rest if rest.startswith("/") else "/" + rest
    return path if path.isascii() else quote(path, safe=_PRINTABLE)
