"""What a rendered page may ask for, and how much: each request of it is one of ours, by the transport with the guard.

Nothing is taken on trust: whoever asks is a process that runs a stranger's scripts. Only GET, only what text is made
of, no cookie, no key, no redirect that the browser would follow by itself.
Quirk: what the operator opened of his own network is closed to pages of the internet, whose scripts could carry it out;
a page of that network may ask its own origin and nobody else.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderError, ProviderUnavailable
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.net.url import Target
from zarniwoop.pages.fetcher import Web
from zarniwoop.pages.headers import media_type_of

MOST_REQUESTS = 60
MOST_BYTES = 15_000_000
MOST_BYTES_OF_ONE = 5_000_000
_MOST_REDIRECTS = 3
_DOCUMENT = "document"
_KINDS = (_DOCUMENT, "stylesheet", "script", "fetch", "xhr")
_MARKUP = frozenset(("text/html", "application/xhtml+xml"))
_SENT = frozenset(("accept", "accept-language", "origin"))
_LONGEST_HEADER = 1_000
_TOLD = frozenset(
    ("content-type", "content-language", "x-content-type-options", "access-control-allow-origin",
     "access-control-allow-credentials", "access-control-expose-headers")
)  # fmt: skip

_REFUSED: tuple[Mapping[str, Any], bytes] = ({"refused": True}, b"")


class BrowserRequests:
    """The requests of one page, until its deadline. `internet` is `web` without what the operator opened.

    `status` is that of the page itself, once it was opened.
    """

    def __init__(self, *, web: Web, internet: Web, page: Target, deadline: Deadline) -> None:
        self._web = web
        self._internet = internet
        self._inside = False
        self._page = page
        self._deadline = deadline
        self._opened = False
        self.status: int | None = None
        self.count = 0
        self.refused = 0
        self.received = 0

    def answer(self, asked: Mapping[str, Any]) -> tuple[Mapping[str, Any], bytes]:
        """What the browser is given: an answer's head and body, or that there is none."""
        request = self._request(asked)
        if request is None or self.count >= MOST_REQUESTS or self.received >= MOST_BYTES:
            self.refused += 1
            return _REFUSED
        self.count += 1
        try:
            answer = self._sent(request, opens=asked["kind"] == _DOCUMENT)
        except ProviderError:
            self.refused += 1
            return _REFUSED
        self.received += answer.received
        if asked["kind"] == _DOCUMENT:
            self.status = answer.status
        if not _may_be_shown(answer, opens=asked["kind"] == _DOCUMENT):
            self.refused += 1
            return _REFUSED
        headers = {name: value for name, value in answer.headers.items() if name in _TOLD}
        return {"status": answer.status, "headers": headers}, answer.body

    def _sent(self, request: HttpRequest, *, opens: bool) -> HttpAnswer:
        """Raises ProviderError."""
        if not self._inside:
            try:
                return self._internet.send(request, deadline=self._deadline)
            except ProviderUnavailable as failure:
                if not opens or failure.cause is not Cause.ADDRESS:
                    raise
            self._inside = True
        if self._web.target(request.url).origin != self._page.origin:
            raise ProviderUnavailable("this page may ask its own origin alone", cause=Cause.ADDRESS)
        return self._web.send(replace(request, max_redirects=0), deadline=self._deadline)

    def _request(self, asked: Mapping[str, Any]) -> HttpRequest | None:
        url, kind, headers = asked.get("url"), asked.get("kind"), asked.get("headers")
        if not isinstance(url, str) or kind not in _KINDS or not isinstance(headers, dict):
            return None
        most = min(MOST_BYTES_OF_ONE, MOST_BYTES - self.received)
        if kind != _DOCUMENT:
            return HttpRequest(url=url, headers=_sendable(headers), max_redirects=_MOST_REDIRECTS, max_bytes=most)
        first, self._opened = not self._opened, True
        return HttpRequest(url=self._page.url(), headers=_sendable(headers), max_bytes=most) if first else None


def _sendable(headers: Mapping[Any, Any]) -> dict[str, str]:
    return {
        name: value
        for name, value in headers.items()
        if name in _SENT and isinstance(value, str) and len(value) <= _LONGEST_HEADER
    }


def _may_be_shown(answer: HttpAnswer, *, opens: bool) -> bool:
    """No redirect, which the browser would follow unasked, and no download in place of a page."""
    if 300 <= answer.status < 400:
        return False
    return not opens or media_type_of(answer.headers) in _MARKUP
