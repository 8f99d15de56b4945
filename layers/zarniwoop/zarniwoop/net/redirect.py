"""Where an answer redirects to, and what is asked there. RFC 9110 section 15.4.

Quirk: a server may write our own query, and the key in it, into `Location`. The key is taken out again for the same
origin; another origin is then not asked at all.
"""

from collections.abc import Callable
from urllib.parse import parse_qsl, quote, quote_plus, urlencode, urljoin

from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.transport import HttpAnswer, QueryKey
from zarniwoop.net.message import Key, Message
from zarniwoop.net.url import Target

MOST_REDIRECTS = 5
"""Of a page and of a robots.txt, from first to last: RFC 9309 asks for five."""
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


def is_redirect(answer: HttpAnswer) -> bool:
    """A redirect says where to; one without `Location` is an answer like any other."""
    return answer.status in _REDIRECTS and "location" in answer.headers


def redirected(message: Message, key: Key | None, answer: HttpAnswer, parse: Callable[[str], Target]) -> Message:
    """The next request. `key` is the first request's. Raises ProviderUnavailable where it may not lead."""
    target = next_target(answer, parse)
    moved = message.at(_without_key(target, key, keeps_origin=target.origin == message.target.origin))
    if answer.status == 303 or (answer.status in (301, 302) and message.method == "POST"):
        return moved.as_get()
    return moved


def next_target(answer: HttpAnswer, parse: Callable[[str], Target]) -> Target:
    """Where the answer leads. Raises ProviderUnavailable where `parse` does, and for the step from https to http."""
    location = answer.headers["location"]
    if not location.isascii():  # bytes as they came; in a host's name they stay refused
        location = quote(location.encode("latin-1"), safe=_PRINTABLE)
    target = parse(_joined(answer.url, location))
    if answer.url.startswith("https:") and target.scheme != "https":
        raise refused()
    return target


def refused() -> ProviderUnavailable:
    return ProviderUnavailable("the provider redirects to where it is not followed", cause=Cause.REDIRECT)


def _joined(base: str, location: str) -> str:
    try:
        return urljoin(base, location)
    except ValueError:
        raise refused() from None


def _without_key(target: Target, key: Key | None, *, keeps_origin: bool) -> Target:
    if key is None or not any(form in target.path_and_query for form in _written_forms(key.value)):
        return target
    path, _, query = target.path_and_query.partition("?")
    if not keeps_origin or not isinstance(key.place, QueryKey):
        raise refused()
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if value != key.value]
    path_and_query = f"{path}?{urlencode(kept)}" if kept else path
    if any(form in path_and_query for form in _written_forms(key.value)):
        raise refused()
    return Target(scheme=target.scheme, host=target.host, port=target.port, path_and_query=path_and_query)


def _written_forms(value: str) -> set[str]:
    return {value, quote(value), quote(value, safe=""), quote_plus(value)}
