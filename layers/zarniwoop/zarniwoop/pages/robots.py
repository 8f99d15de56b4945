"""robots.txt: what a host lets robots read. RFC 9309; the patterns are matched by Protego.

Rules are kept per origin in the execution environment, within a bound. No such file (4xx) means that everything may be
read; one that cannot be had (5xx, 429, a broken answer, a redirect to http, silence) means that nothing may, for five
minutes. Where the page's own time was over first, nothing is known of the host: this page alone is not read, and the
next one asks. A host that cannot even be connected to raises as its page would: it has said nothing, and nobody can be
sent there.
Quirk: Protego multiplies every rule by every agent of its group, so a file of 500 KiB could take gigabytes. It is shown
ours and `*` by name, and all others as one.
"""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.failure import Cause, ProviderError
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.net.redirect import MOST_REDIRECTS
from zarniwoop.net.url import Target
from zarniwoop.pages.reasons import FetchReason

if TYPE_CHECKING:
    from protego import Protego

PRODUCT = "Zarniwoop"
_MOST_PARSED = 500 * 1024
_MOST_READ = 5_000_000
_MOST_KEPT = 500
_MOST_CHARACTERS_KEPT = 2_000_000
_LONGEST_KEPT = 86_400.0
_UNREACHABLE_SECONDS = 300.0
_PATIENCE = 5.0
_LONGEST_DELAY = 86_400.0
_PATH = "/robots.txt"
_AGENT = re.compile(r"\s*user[-\s]*agent[\s:]+(.*)", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z_-]+|\*")
_OF_THE_HOST = frozenset((Cause.ADDRESS, Cause.DNS, Cause.CONNECT, Cause.TLS))


class Asks(Protocol):
    """What of `Transport` is needed."""

    def send(self, request: HttpRequest, *, deadline: Deadline) -> HttpAnswer: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """`refusal` is why the page is not asked for, None when it may be; `crawl_delay` in seconds, as the host states."""

    refusal: FetchReason | None = None
    crawl_delay: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What an origin said. Without `rules`, everything or nothing may be read."""

    at: float
    reachable: bool
    rules: "Protego | None" = None
    size: int = 0

    def is_good(self, now: float, seconds: float) -> bool:
        return now < self.at + (min(seconds, _LONGEST_KEPT) if self.reachable else _UNREACHABLE_SECONDS)

    def permission(self, url: str) -> Permission:
        if not self.reachable:
            return Permission(refusal=FetchReason.ROBOTS_UNREACHABLE)
        if self.rules is None:
            return Permission()
        delay = self.rules.crawl_delay(PRODUCT)
        return Permission(
            refusal=None if self.rules.can_fetch(url, PRODUCT) else FetchReason.ROBOTS,
            crawl_delay=None if delay is None else min(delay, _LONGEST_DELAY),
        )


class Robots:
    """The rules of the hosts that were asked last; safe to use from several threads."""

    def __init__(self, web: Asks, clock: Clock) -> None:
        self._web = web
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str, int], _Kept] = {}
        self._size = 0

    def permission(self, target: Target, *, seconds: float, deadline: Deadline) -> Permission:
        """Whether the page may be asked for. A kept copy may be as old as `seconds`. Raises ProviderError."""
        with self._lock:
            kept = self._kept.get(target.origin)
        if kept is None or not kept.is_good(self._clock.monotonic(), seconds):
            kept = self._asked(target, deadline)
            if kept is None:
                return Permission(refusal=FetchReason.ROBOTS_OUT_OF_TIME)
            self._keep(target.origin, kept)
        return kept.permission(target.url())

    def _asked(self, target: Target, deadline: Deadline) -> _Kept | None:
        """None when the page's own time was over: that tells nothing of the host."""
        request = HttpRequest(url=target.url(_PATH), max_redirects=MOST_REDIRECTS, max_bytes=_MOST_READ)
        try:
            answer = self._web.send(request, deadline=deadline.within(_PATIENCE))
        except ProviderError as failure:
            if failure.cause in _OF_THE_HOST:
                raise
            if deadline.expired:
                return None
            # A row of redirects that leads nowhere counts as no file (section 2.3.1.2); one that is not followed may
            # lead to a file, as the step from https to http does.
            return _Kept(at=self._clock.monotonic(), reachable=failure.cause is Cause.ENDLESS_REDIRECTS)
        return self._read(answer)

    def _read(self, answer: HttpAnswer) -> _Kept:
        now = self._clock.monotonic()
        if answer.status >= 500 or answer.status == 429:
            return _Kept(at=now, reachable=False)
        if answer.status >= 300:
            return _Kept(at=now, reachable=True)
        text = "\n".join(_with_agents_named(answer.body[:_MOST_PARSED].decode("utf-8-sig", "replace")))
        return _Kept(at=now, reachable=True, rules=_parsed(text), size=len(text))

    def _keep(self, origin: tuple[str, str, int], kept: _Kept) -> None:
        with self._lock:
            before = self._kept.pop(origin, None)
            self._size += kept.size - (before.size if before else 0)
            self._kept[origin] = kept
            while len(self._kept) > _MOST_KEPT or (self._size > _MOST_CHARACTERS_KEPT and len(self._kept) > 1):
                self._size -= self._kept.pop(next(iter(self._kept))).size


def _parsed(text: str) -> "Protego":
    from protego import Protego

    return Protego.parse(text)


def _with_agents_named(text: str) -> Iterator[str]:
    """The lines, with the names of agents brought to three: ours, everybody's, and somebody else's."""
    for line in text.splitlines():
        written = line.partition("#")[0]
        found = _AGENT.match(written)
        if found is None:
            yield written
            continue
        token = _TOKEN.match(found[1].strip())
        name = token[0] if token else ""
        yield f"User-agent: {name if name == '*' or name.lower() == PRODUCT.lower() else 'somebody-else'}"
