"""The fixed vocabulary in which a fetch says why: never a word of the page's, its server's or the resolver's.

Quirk: no reason tells what a name resolves to, not even which kind of address it was. Whoever could ask would map a
network that he does not see. What the URL's own spelling shows is told, since he wrote it.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

from zarniwoop.contract.failure import Cause, ProviderError
from zarniwoop.contract.page import PageOutcome
from zarniwoop.text.urls import http_url

BROWSER = "browser"
"""The name of the step."""
TRUNCATED = "truncated"
RENDERED_FOR = frozenset(("script_shell", "too_little_text", "link_soup", "consent", "bot_wall", TRUNCATED))
"""Reasons of `extract.verdicts` for which a page may be another one when its scripts have run."""


class FetchReason(StrEnum):
    """Reasons of the step `fetch`, beside those of `contract.failure.Cause`."""

    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    ROBOTS_OUT_OF_TIME = "robots_out_of_time"
    MOVED = "moved"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    NO_CONTENT = "no_content"
    NOT_ASKED_CONDITIONALLY = "not_asked_conditionally"
    INTERNAL = "internal"
    NOT_A_URL = "not_a_url"
    SCHEME_REFUSED = "scheme_refused"
    TOO_LITTLE_TIME = "too_little_time"


class BrowserReason(StrEnum):
    """Why the step `browser` came to nothing."""

    NO_SLOT = "no_browser_in_time"
    BUSY = "browser_busy"
    TOO_LITTLE_TIME = "too_little_time"
    UNAVAILABLE = "browser_unavailable"
    DIED = "browser_died"
    FAILED = "browser_failed"
    TOO_SLOW = "browser_too_slow"
    TOO_LARGE = "too_large"


NOT_PUBLIC = "not_public"
"""The reason of steps that would have named a page to others."""

Verdict = tuple[PageOutcome, str]
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(?![0-9])", re.IGNORECASE | re.ASCII)
"""What stands before a number is a host: `localhost:8080`."""

_OF_CAUSE: Mapping[Cause, PageOutcome] = {
    Cause.ADDRESS: PageOutcome.ADDRESS_REFUSED,
    Cause.REDIRECT: PageOutcome.ADDRESS_REFUSED,
    Cause.DEADLINE: PageOutcome.OUT_OF_TIME,
    Cause.TOO_LARGE: PageOutcome.TOO_LARGE,
    Cause.HEADERS: PageOutcome.TOO_LARGE,
    Cause.ENCODING: PageOutcome.MALFORMED,
    Cause.TRUNCATED: PageOutcome.MALFORMED,
    Cause.PROTOCOL: PageOutcome.MALFORMED,
}

_OF_REFUSAL: Mapping[FetchReason, PageOutcome] = {
    FetchReason.ROBOTS: PageOutcome.ROBOTS_DISALLOWED,
    FetchReason.ROBOTS_OUT_OF_TIME: PageOutcome.OUT_OF_TIME,
}

_OF_BROWSER: Mapping[BrowserReason, PageOutcome] = {
    BrowserReason.NO_SLOT: PageOutcome.OUT_OF_TIME,
    BrowserReason.TOO_LITTLE_TIME: PageOutcome.OUT_OF_TIME,
    BrowserReason.TOO_SLOW: PageOutcome.OUT_OF_TIME,
    BrowserReason.TOO_LARGE: PageOutcome.TOO_LARGE,
}


def of_browser(reason: BrowserReason) -> Verdict:
    """What becomes of a page that no browser has shown."""
    return _OF_BROWSER.get(reason, PageOutcome.UNAVAILABLE), reason


def of_failure(failure: ProviderError) -> Verdict:
    """What the transport could not do."""
    return _of_cause(failure.cause)


def _of_cause(cause: Cause | None) -> Verdict:
    known = cause or Cause.CONNECT
    return _OF_CAUSE.get(known, PageOutcome.UNAVAILABLE), known.value


def of_spelling(url: str) -> Verdict | None:
    """Why a URL that was refused before anything was looked up is no http(s) URL at all; None where it is one."""
    scheme = _SCHEME.match(url)
    if scheme and scheme[1].lower() not in ("http", "https"):
        return PageOutcome.ADDRESS_REFUSED, FetchReason.SCHEME_REFUSED
    return None if http_url(url) == url else (PageOutcome.ADDRESS_REFUSED, FetchReason.NOT_A_URL)


def of_naming(cause: Cause | None) -> Verdict:
    """Why a page was not named to others: it is not public, or nobody can tell."""
    return (PageOutcome.ADDRESS_REFUSED, NOT_PUBLIC) if cause is Cause.ADDRESS else _of_cause(cause)


def of_refusal(reason: FetchReason) -> Verdict:
    """Why robots.txt keeps us out: its rules forbid the page, or nobody knows its rules."""
    return _OF_REFUSAL.get(reason, PageOutcome.UNAVAILABLE), reason


def of_bare_status(status: int) -> Verdict:
    """What an answer without a body amounts to."""
    from zarniwoop.extract.verdicts import verdict_of_status

    judged = verdict_of_status(status)
    return (judged.outcome, judged.reason or "") if judged else (PageOutcome.EMPTY, FetchReason.NO_CONTENT)
