"""The step `browser`: a page is rendered, and what came of it is read like any page. When, `pages.rendering` says.

Only pages of allow-listed domains, one at a time in an execution environment, each in a browser of its own, which ends
with its page. The browser opens no connection: `browser_requests` answers for it. It runs in the process
`zarniwoop_browser` (the add-on layer `layers/browser`), without credentials, in a process group that is killed at its
deadline.
Quirk: a page's validators are its shell's and say nothing of what its scripts show, so none are told.
"""

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from zarniwoop import __version__
from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion, PageStep
from zarniwoop.extract.worker import Ended, ReaderBrokenError, Worker
from zarniwoop.net.url import Target
from zarniwoop.pages.browser_requests import BrowserRequests
from zarniwoop.pages.fetcher import PageReader, Web
from zarniwoop.pages.reasons import BROWSER, BrowserReason, of_browser
from zarniwoop.text.urls import is_below

MOST_SECONDS = 20.0
LEAST_SECONDS = 5.0
_RESERVE_SECONDS = 3.0
"""What is left for reading the page that has been rendered."""
_OPEN_SHARE = 0.7
_SETTLE_SHARE = 0.25
_MODULE = "zarniwoop_browser"
_USER_AGENT = f"Mozilla/5.0 (compatible; Zarniwoop/{__version__})"
"""What scripts are told; servers are told who we are by the transport."""


_SAID = (BrowserReason.UNAVAILABLE, BrowserReason.FAILED, BrowserReason.TOO_SLOW)


class Browsers(Protocol):
    """Where a browser is to be had."""

    def session(self, deadline: Deadline) -> AbstractContextManager[Mapping[str, Any]]:
        """What the process is told of it; it is given back with the block. Raises ProviderError."""
        ...


class _NotRendered(Exception):  # noqa: N818 - named by what happened
    def __init__(self, reason: BrowserReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """One page that is to be rendered, and until when."""

    target: Target
    deadline: Deadline
    most_bytes: int


class BrowserStep:
    """`pages.fetcher.Render`; safe to use from several threads. `variables` are what the process' Python needs."""

    def __init__(
        self,
        *,
        browsers: Browsers,
        web: Web,
        internet: Web,
        reader: PageReader,
        clock: Clock,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._browsers = browsers
        self._web = web
        self._internet = internet
        self._reader = reader
        self._clock = clock
        self._variables = variables or {}
        self._free = threading.Lock()

    def __call__(self, target: Target, question: PageQuestion, answer: PageAnswer, deadline: Deadline) -> PageAnswer:
        if not any(is_below(target.host, domain) for domain in question.browser_domains):
            return _without(answer, BrowserReason.UNAVAILABLE, 0)
        if not self._free.acquire(blocking=False):
            return _without(answer, BrowserReason.BUSY, 0)
        try:
            return self._rendered(target, question, answer, deadline)
        finally:
            self._free.release()

    def _rendered(self, target: Target, question: PageQuestion, answer: PageAnswer, deadline: Deadline) -> PageAnswer:
        seconds = min(deadline.remaining() - _RESERVE_SECONDS, MOST_SECONDS)
        if seconds < LEAST_SECONDS:
            return _without(answer, BrowserReason.TOO_LITTLE_TIME, 0)
        started = self._clock.monotonic()
        page = _Page(target=target, deadline=deadline.within(seconds), most_bytes=question.max_bytes)
        requests = BrowserRequests(web=self._web, internet=self._internet, page=target, deadline=page.deadline)
        try:
            body = self._markup(page, requests)
        except _NotRendered as ended:
            answer = replace(answer, status=requests.status, bytes_received=requests.received)
            return _without(answer, ended.reason, self._since(started))
        step = PageStep(name=BROWSER, outcome=PageOutcome.OK, chars=len(body), milliseconds=self._since(started))
        answer = replace(answer, status=requests.status, bytes_received=requests.received)
        return self._read(body, question, answer, step, deadline)

    def _markup(self, page: _Page, requests: BrowserRequests) -> bytes:
        """The page's markup after its scripts. Raises _NotRendered."""
        try:
            said = self._said(page, requests)
        except Ended as ended:
            raise _NotRendered(BrowserReason.DIED if ended.in_time else BrowserReason.TOO_SLOW) from ended
        except (ProviderError, ReaderBrokenError, OSError) as error:
            raise _NotRendered(BrowserReason.UNAVAILABLE) from error
        markup = said.get("html")
        if not isinstance(markup, str):
            failed = said.get("failed")
            raise _NotRendered(BrowserReason(failed) if failed in _SAID else BrowserReason.FAILED)
        body = markup.encode()
        if len(body) > page.most_bytes:
            raise _NotRendered(BrowserReason.TOO_LARGE)
        return body

    def _said(self, page: _Page, requests: BrowserRequests) -> Mapping[str, Any]:
        with self._browsers.session(page.deadline) as where, TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            variables = {**self._variables, "HOME": folder, "TMPDIR": folder}
            seconds = page.deadline.remaining()
            question = {
                **where,
                "url": page.target.url(),
                "user_agent": _USER_AGENT,
                "open_seconds": seconds * _OPEN_SHARE,
                "settle_seconds": seconds * _SETTLE_SHARE,
            }
            with Worker(_MODULE, variables=variables, with_family=True) as process:
                return process.talk(question, requests.answer, seconds)

    def _read(
        self, body: bytes, question: PageQuestion, answer: PageAnswer, step: PageStep, deadline: Deadline
    ) -> PageAnswer:
        read = self._reader.read(
            body,
            url=answer.final_url,
            media_type="text/html",
            charset="utf-8",
            status=answer.status or 200,
            want_html=question.want_html,
            deadline=deadline,
        )
        return replace(
            answer,
            outcome=read.outcome,
            reason=read.reason,
            page=read.page,
            degraded=read.degraded,
            media_type=read.media_type,
            charset=read.charset,
            steps=(step, *read.steps),
        )

    def _since(self, started: float) -> int:
        return round((self._clock.monotonic() - started) * 1000)


def _without(answer: PageAnswer, reason: BrowserReason, milliseconds: int) -> PageAnswer:
    """Nothing was shown."""
    outcome, said = of_browser(reason)
    step = PageStep(name=BROWSER, outcome=outcome, reason=said, milliseconds=milliseconds)
    return replace(answer, outcome=outcome, reason=said, steps=(step,))
