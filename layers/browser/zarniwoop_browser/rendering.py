"""One page in one context that is thrown away: it is opened, left to settle, and read. Nothing is clicked or typed.

Playwright: https://playwright.dev/python/docs/api/class-route
What the flags of `chromium` hold back, a browser that AWS has started does not know; so the context is given by CDP
whatever CDP can set: a proxy that is none, no downloads, no permissions, and pages without WebRTC and WebTransport,
which go past every proxy.
Quirks: the later hops of a redirect are never routed, so the parent follows redirects and no 3xx is given to the
browser. An aborted navigation must be `aborted`, or Chromium puts an error page in place of the page. `unroute` is not
called: to its end, every request is the guard's. Playwright's own load states are not waited for: a navigation that
was refused leaves them hanging.
"""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarniwoop_browser.parent import Parent

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request, Route, WebSocketRoute

_POLICY = (
    "default-src http: https: data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src http: https:; "
    "img-src data:; media-src 'none'; font-src 'none'; object-src 'none'; frame-src 'none'; worker-src 'none'; "
    "manifest-src 'none'; form-action 'none'; webrtc 'block'; sandbox allow-scripts allow-same-origin"
)
"""No sockets, frames, workers, forms, windows, downloads or dialogs, whatever the page's scripts try."""
_BEFORE_THE_PAGE = {"content-security-policy": _POLICY, "x-dns-prefetch-control": "off"}

_NOWHERE = "http://127.0.0.1:1"
"""For whatever is not routed, such as a connection that is only got ready (`preconnect`)."""
_PAST_THE_PROXY = """for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) {
  Object.defineProperty(globalThis, name, { value: undefined, writable: false, configurable: false });
}"""
_ASKED = frozenset(("document", "stylesheet", "script", "fetch", "xhr"))
_SENT_ON = ("accept", "accept-language", "origin")
_QUIET_SECONDS = 0.75
_LOOK_MILLISECONDS = 50


class Rendering:
    """Use it once."""

    def __init__(self, browser: "Browser", parent: Parent, question: Mapping[str, Any]) -> None:
        self._browser = browser
        self._parent = parent
        self._url: str = question["url"]
        self._user_agent: str = question["user_agent"]
        self._open_seconds: float = question["open_seconds"]
        self._settle_seconds: float = question["settle_seconds"]
        self._opened = False
        self._last = 0.0
        self._page: Page | None = None

    def html(self) -> str:
        """The page's markup as its scripts have made it. Raises what Playwright raises."""
        context = self._browser.new_context(
            user_agent=self._user_agent,
            service_workers="block",
            accept_downloads=False,
            permissions=[],
            bypass_csp=False,
            proxy={"server": _NOWHERE},
            viewport={"width": 1280, "height": 2000},
        )
        context.add_init_script(_PAST_THE_PROXY)
        context.route("**/*", self._answer)
        context.route_web_socket("**/*", _refuse_socket)
        self._page = page = context.new_page()
        context.on("page", self._close_window)
        page.on("dialog", _dismiss)
        page.goto(self._url, wait_until="commit", timeout=self._open_seconds * 1000)
        self._settle(page)
        return page.content()

    def _settle(self, page: "Page") -> None:
        """Until nothing has been asked for a while; a page that is never quiet is read as it stands."""
        ends_at = time.monotonic() + self._settle_seconds
        self._last = time.monotonic()
        while time.monotonic() < min(ends_at, self._last + _QUIET_SECONDS):
            page.wait_for_timeout(_LOOK_MILLISECONDS)

    def _answer(self, route: "Route", request: "Request") -> None:
        opens = request.is_navigation_request()
        if request.resource_type not in _ASKED or request.method != "GET" or (opens and not self._opens(request)):
            route.abort("aborted")
            return
        sent = {name: value for name, value in request.headers.items() if name in _SENT_ON}
        answer = self._parent.ask({"url": request.url, "kind": request.resource_type, "headers": sent})
        self._last = time.monotonic()
        if answer is None:
            route.abort("aborted")
            return
        headers = {**answer.headers, **_BEFORE_THE_PAGE} if opens else dict(answer.headers)
        route.fulfill(status=answer.status, headers=headers, body=answer.body)

    def _opens(self, request: "Request") -> bool:
        """The first navigation of our own page is; wherever else a page wants to go, it stays."""
        first, self._opened = not self._opened, True
        return first and self._page is not None and request.frame == self._page.main_frame

    def _close_window(self, page: "Page") -> None:
        if page is not self._page:
            page.close()


def _refuse_socket(socket: "WebSocketRoute") -> None:
    socket.close()


def _dismiss(dialog: "Dialog") -> None:
    dialog.dismiss()
