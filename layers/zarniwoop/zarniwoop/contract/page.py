"""A page of the web: what is asked of the fetcher, what comes back, and what became of each step on the way.

Seed 2, "Web Fetch and Page Extraction". Question and answer cross the border between two functions as JSON
(`page_form`): the one that fetches has no access to anything of ours, the one that asks has no sockets to strangers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import ZarniwoopError
from zarniwoop.contract.hit import PublishedAt


class PageOutcome(StrEnum):
    """What became of a page. Only `OK` (and what `NOT_MODIFIED` points at) may become evidence."""

    OK = "ok"
    NOT_MODIFIED = "not_modified"
    EMPTY = "empty"
    SOFT_404 = "soft_404"
    BLOCKED = "blocked"
    LOGIN_REQUIRED = "login_required"
    CONSENT_REQUIRED = "consent_required"
    NEEDS_JAVASCRIPT = "needs_javascript"
    NOT_FOUND = "not_found"
    ADDRESS_REFUSED = "address_refused"
    ROBOTS_DISALLOWED = "robots_disallowed"
    UNSUPPORTED = "unsupported_content"
    TOO_LARGE = "too_large"
    MALFORMED = "malformed"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    OUT_OF_TIME = "out_of_time"


class PageFormat(StrEnum):
    MARKDOWN = "markdown"
    TEXT = "text"
    HTML = "html"
    LINKS = "links"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStep:
    """One step of the chain. `reason` says why the chain went on (`too_little_text`, `link_soup`, …).

    `name` is `fetch`, `trafilatura`, `readability`, `text`, `pdf`, `docx`, …, `browser`, `archive`, or the id of the
    endpoint that read the page for us.
    """

    name: str
    outcome: PageOutcome
    reason: str | None = None
    chars: int = 0
    milliseconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A link of the page, absolute. `rel` as the page has it."""

    url: str
    text: str
    rel: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAnchor:
    """Where a part of the text begins: `page=3` of a PDF, at that character of the text."""

    name: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedPage:
    """What can be read of a page; all of it is a stranger's words.

    `markdown` is the text that is stored and quoted; `html` is the cleaned markup that it was made of, where there was
    any: without head, and with no attribute that a sentence fits into. `hidden` counts what was taken out because no
    reader sees it, by kind; `suspicious` names what looks like orders to a model. `truncated`: there was more than is
    read.
    """

    markdown: str
    extractor: str
    title: str | None = None
    byline: str | None = None
    site_name: str | None = None
    published_at: PublishedAt | None = None
    modified_at: PublishedAt | None = None
    language: str | None = None
    canonical_url: str | None = None
    links: tuple[PageLink, ...] = ()
    anchors: tuple[PageAnchor, ...] = ()
    html: str | None = None
    hidden: Mapping[str, int] = field(default_factory=dict)
    suspicious: tuple[str, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuestion:
    """What the fetcher is asked. `etag` and `last_modified` are the validators of what is stored already.

    They are those of `known_url` and of no other: only there they are sent, and only there a 304 is an answer.
    `seconds` is the whole time; `honour_robots` and `robots_seconds` say whether robots.txt is asked for, and how old
    the kept copy may be. `render`: the page is opened in a browser and not asked for otherwise, if it is of one of
    `browser_domains`.
    """

    url: str
    seconds: float
    etag: str | None = None
    last_modified: str | None = None
    known_url: str | None = None
    max_bytes: int = 5_000_000
    honour_robots: bool = True
    robots_seconds: float = 3_600.0
    browser_domains: tuple[str, ...] = ()
    render: bool = False
    want_html: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAnswer:
    """What came back for one URL.

    `moved_to` is set instead of a page where the answer leads to another site, whose turn the asker has to take first.
    `hops` are the URLs on the way, the asked one first; `url` is canonical, `final_url` is where the page was found.
    `retry_after` is in seconds, as the site stated it. `degraded`: a reader ran out of time or died, so that what was
    read is not what the page gives on a better day.
    """

    outcome: PageOutcome
    url: str
    final_url: str
    status: int | None = None
    reason: str | None = None
    hops: tuple[str, ...] = ()
    moved_to: str | None = None
    media_type: str | None = None
    charset: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    retry_after: float | None = None
    bytes_received: int = 0
    crawl_delay: float | None = None
    page: ExtractedPage | None = None
    steps: tuple[PageStep, ...] = ()
    degraded: bool = False


class FetcherFault(StrEnum):
    """Why the fetching function could not be asked."""

    NOT_CONFIGURED = "fetcher_not_configured"
    THROTTLED = "fetcher_throttled"
    OUT_OF_TIME = "fetcher_out_of_time"
    FAILED = "fetcher_failed"


class FetcherUnavailable(ZarniwoopError):  # noqa: N818 - named by its consequence, as in `contract.failure`
    """The fetching function itself did not answer: nothing is known of the page."""

    def __init__(self, fault: FetcherFault) -> None:
        super().__init__(f"the page fetcher could not be asked: {fault.value}")
        self.fault = fault


class PageFetcher(Protocol):
    """Whoever opens the connection to the page's host. Never raises for what a page does: the outcome says it."""

    def fetch(self, question: PageQuestion, *, deadline: Deadline) -> PageAnswer:
        """Raises FetcherUnavailable when the fetching function itself cannot be asked."""
        ...
