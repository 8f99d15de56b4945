"""What to do about a page that was not read: by the reason, where that says more than the outcome."""

from collections.abc import Mapping, Sequence

from zarniwoop.contract.failure import Cause
from zarniwoop.contract.page import PageOutcome
from zarniwoop.pages.reasons import FetchReason
from zarniwoop.pages.site_turns import LEAST_SECONDS
from zarniwoop.tools.fetched import FetchedPage

_PASSING = frozenset((PageOutcome.RATE_LIMITED, PageOutcome.UNAVAILABLE, PageOutcome.OUT_OF_TIME))
"""What time may heal."""
_STAYING = frozenset((FetchReason.TOO_MANY_REDIRECTS, FetchReason.TOO_LITTLE_TIME))
"""Reasons that are the same when the same is asked again."""
_LEAST_MILLISECONDS = round(LEAST_SECONDS * 1000) + 1_000
"""What a call takes besides its pages is in it."""

_TRY_OTHERS = "fetch another page that says the same; web_search finds some"
_HOSTED = "set fetch.hosted.order to ids of endpoints of firecrawl, tavily or exa, or fetch another page"
_CHECK = "check the URL, or set fetch.archive.enabled = true to look it up in the archive"
_LATER = "ask again later, with fewer URLs of one site"
_OF_REASON: Mapping[str, str] = {
    FetchReason.NOT_A_URL: "write the whole URL with https:// in front: host, a port up to 65535, no white space",
    FetchReason.SCHEME_REFUSED: "name a page by its http(s) URL: nothing else is fetched",
    FetchReason.TOO_MANY_REDIRECTS: _TRY_OTHERS,
    FetchReason.TOO_LITTLE_TIME: f"give the call more time: X-Deadline-Ms of at least {_LEAST_MILLISECONDS}",
    Cause.DNS: "check the name of the host: just now nobody knows it",
}
_OF_OUTCOME: Mapping[PageOutcome, str] = {
    **dict.fromkeys(PageOutcome, _TRY_OTHERS),
    PageOutcome.ADDRESS_REFUSED: "name a public http(s) URL; the operator opens others by FetchAllowedNetworks",
    PageOutcome.ROBOTS_DISALLOWED: "leave this page alone: its host does not want robots",
    PageOutcome.BLOCKED: _HOSTED,
    PageOutcome.CONSENT_REQUIRED: _HOSTED,
    PageOutcome.NEEDS_JAVASCRIPT: _HOSTED,
    PageOutcome.EMPTY: _HOSTED,
    PageOutcome.NOT_FOUND: _CHECK,
    PageOutcome.SOFT_404: _CHECK,
    PageOutcome.RATE_LIMITED: _LATER,
    PageOutcome.UNAVAILABLE: _LATER,
    PageOutcome.OUT_OF_TIME: _LATER,
}
_EACH_FOR_ITSELF = "each page of data.pages has its own suggested_action"


def way_out(outcome: PageOutcome, reason: str | None) -> str | None:
    """None for a page that was read."""
    if outcome in (PageOutcome.OK, PageOutcome.NOT_MODIFIED):
        return None
    return _OF_REASON.get(reason or "", _OF_OUTCOME[outcome])


def may_pass(page: FetchedPage) -> bool:
    """Whether the same call may bring the page later."""
    return page.outcome in _PASSING and page.reason not in _STAYING


def way_out_of_all(pages: Sequence[FetchedPage]) -> str:
    """The advice that holds for every page, or where theirs is."""
    ways = {page.suggested_action for page in pages if page.suggested_action}
    return ways.pop() if len(ways) == 1 else _EACH_FOR_ITSELF
