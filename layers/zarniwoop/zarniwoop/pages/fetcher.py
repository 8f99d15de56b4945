"""One page, fetched with the guarded transport and read in a process of its own.

Redirects are followed here and not by the transport: each hop is parsed and checked like the first, asks its own host's
robots.txt, and stays on the site. Where another site begins, the asker is told and takes that site's turn first.
Nothing raises for what a page or its host does; the outcome and its reason say it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion, PageStep
from zarniwoop.contract.transport import HttpAnswer, HttpRequest
from zarniwoop.extract.outcome import Extraction
from zarniwoop.net.redirect import MOST_REDIRECTS, is_redirect, next_target
from zarniwoop.net.url import Target
from zarniwoop.pages import headers
from zarniwoop.pages.reasons import (
    BROWSER,
    BrowserReason,
    FetchReason,
    of_bare_status,
    of_browser,
    of_failure,
    of_refusal,
    of_spelling,
)
from zarniwoop.pages.robots import Asks, Robots
from zarniwoop.text.retry_after import stated_wait
from zarniwoop.text.urls import registrable_domain

STEP = "fetch"
_ACCEPT = "text/html, application/xhtml+xml, application/pdf;q=0.9, text/*;q=0.8, */*;q=0.5"
_LONGEST_URL = 8192


class Web(Asks, Protocol):
    """`net.transport.PooledTransport`, as it is made for pages."""

    def target(self, url: str) -> Target: ...


class PageReader(Protocol):
    """`extract.page_reader.PageReader`: bytes to what can be read of them, within a bound of time and memory."""

    def start(self) -> None:
        """Begin to get ready, while the page is on its way."""
        ...

    def read(
        self,
        body: bytes,
        *,
        url: str,
        media_type: str | None,
        charset: str | None,
        status: int,
        want_html: bool,
        deadline: Deadline,
    ) -> Extraction: ...


Render = Callable[[Target, PageQuestion, PageAnswer, Deadline], PageAnswer]
"""A page in a browser: the answer that it is given is of a page that nobody has shown yet, and has no step."""


@dataclass(kw_only=True)
class _Visit:
    """One question on its way: where it has been, and what it has cost."""

    question: PageQuestion
    deadline: Deadline
    started: float
    hops: list[str] = field(default_factory=list)
    received: int = 0
    status: int | None = None
    crawl_delay: float | None = None

    def answer(self, outcome: PageOutcome, reason: str | None, *, milliseconds: int) -> PageAnswer:
        asked = self.question.url[:_LONGEST_URL].encode("utf-8", "replace").decode()
        return PageAnswer(
            outcome=outcome,
            reason=reason,
            url=self.hops[0] if self.hops else asked,
            final_url=self.hops[-1] if self.hops else asked,
            status=self.status,
            hops=tuple(self.hops),
            bytes_received=self.received,
            crawl_delay=self.crawl_delay,
            steps=(PageStep(name=STEP, outcome=outcome, reason=reason, milliseconds=milliseconds),),
        )


class LocalFetcher:
    """`contract.page.PageFetcher` for the function that talks to strangers."""

    def __init__(
        self, *, web: Web, robots: Robots, reader: PageReader, clock: Clock, render: Render | None = None
    ) -> None:
        self._web = web
        self._robots = robots
        self._reader = reader
        self._clock = clock
        self._render = render

    def fetch(self, question: PageQuestion, *, deadline: Deadline) -> PageAnswer:
        visit = _Visit(question=question, deadline=deadline.within(question.seconds), started=self._clock.monotonic())
        try:
            return self._visited(visit)
        except ProviderError as failure:
            misspelt = None if visit.hops else of_spelling(question.url)
            return self._ended(visit, *(misspelt or of_failure(failure)))

    def _visited(self, visit: _Visit) -> PageAnswer:
        """Hop by hop to the page. Raises ProviderError."""
        target = self._web.target(visit.question.url)
        self._reader.start()
        site = registrable_domain(target.url())
        for _ in range(MOST_REDIRECTS + 1):
            visit.hops.append(target.url())
            if refusal := self._refusal(target, visit):
                return self._ended(visit, *of_refusal(refusal))
            if visit.question.render:
                return self._shown(target, visit)
            answer = self._asked(target, visit)
            if not is_redirect(answer):
                return self._arrived(answer, visit)
            target = next_target(answer, self._web.target)
            if registrable_domain(target.url()) != site:
                return self._moved(target, visit)
        return self._ended(visit, PageOutcome.UNAVAILABLE, FetchReason.TOO_MANY_REDIRECTS)

    def _refusal(self, target: Target, visit: _Visit) -> FetchReason | None:
        if not visit.question.honour_robots:
            return None
        permission = self._robots.permission(target, seconds=visit.question.robots_seconds, deadline=visit.deadline)
        visit.crawl_delay = permission.crawl_delay
        return permission.refusal

    def _shown(self, target: Target, visit: _Visit) -> PageAnswer:
        """By a browser, where the stack has one."""
        unseen = self._ended(visit, *of_browser(BrowserReason.UNAVAILABLE))
        if self._render is None:
            return replace(unseen, steps=tuple(replace(step, name=BROWSER) for step in unseen.steps))
        return self._render(target, visit.question, replace(unseen, steps=()), visit.deadline)

    def _asked(self, target: Target, visit: _Visit) -> HttpAnswer:
        question = visit.question
        request = HttpRequest(
            url=target.url(),
            headers={"Accept": _ACCEPT, **_conditions(question, target.url())},
            max_bytes=question.max_bytes,
        )
        answer = self._web.send(request, deadline=visit.deadline)
        visit.received += answer.received
        visit.status = answer.status
        return answer

    def _moved(self, target: Target, visit: _Visit) -> PageAnswer:
        answer = self._ended(visit, PageOutcome.UNAVAILABLE, FetchReason.MOVED)
        return replace(answer, moved_to=target.url())

    def _arrived(self, answer: HttpAnswer, visit: _Visit) -> PageAnswer:
        """What the last answer of the way amounts to."""
        told = self._told(answer, visit)
        return replace(
            told,
            media_type=told.media_type or headers.media_type_of(answer.headers),
            charset=told.charset or headers.charset_of(answer.headers),
            etag=headers.etag_of(answer.headers.get("etag")),
            last_modified=headers.http_date_of(answer.headers.get("last-modified")),
            retry_after=stated_wait(answer.headers, self._clock.now()),
        )

    def _told(self, answer: HttpAnswer, visit: _Visit) -> PageAnswer:
        if answer.status == 304:
            if _conditions(visit.question, visit.hops[-1]):
                return self._ended(visit, PageOutcome.NOT_MODIFIED, None)
            return self._ended(visit, PageOutcome.MALFORMED, FetchReason.NOT_ASKED_CONDITIONALLY)
        if not answer.body:
            return self._ended(visit, *of_bare_status(answer.status))
        fetched = self._ended(visit, PageOutcome.OK, None)
        read = self._read(answer, visit)
        return replace(
            fetched,
            outcome=read.outcome,
            reason=read.reason,
            page=read.page if answer.status < 400 else None,
            degraded=read.degraded,
            media_type=read.media_type,
            charset=read.charset,
            steps=fetched.steps + read.steps,
        )

    def _read(self, answer: HttpAnswer, visit: _Visit) -> Extraction:
        return self._reader.read(
            answer.body,
            url=answer.url,
            media_type=headers.media_type_of(answer.headers),
            charset=headers.charset_of(answer.headers),
            status=answer.status,
            want_html=visit.question.want_html,
            deadline=visit.deadline,
        )

    def _ended(self, visit: _Visit, outcome: PageOutcome, reason: str | None) -> PageAnswer:
        milliseconds = round((self._clock.monotonic() - visit.started) * 1000)
        return visit.answer(outcome, reason, milliseconds=milliseconds)


def _conditions(question: PageQuestion, url: str) -> dict[str, str]:
    """The validators of what is stored, for the URL that gave them: another one would hear of what it never said."""
    return headers.conditions(question.etag, question.last_modified) if url == question.known_url else {}
