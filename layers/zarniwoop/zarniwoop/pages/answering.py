"""Whether an answer of the fetching function is one to what it was asked.

It parses what strangers wrote, and may have been taken over by one of them: it must not be able to speak for another
site, to send its asker elsewhere, or to call unchanged what nobody asked about.
"""

from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion
from zarniwoop.net.url import spelled
from zarniwoop.pages.reasons import FetchReason
from zarniwoop.text.urls import http_url, registrable_domain

_LONGEST_URL = 8192
_READ = frozenset((PageOutcome.OK, PageOutcome.NOT_MODIFIED))


def is_answer_to(answer: PageAnswer, question: PageQuestion) -> bool:
    """Whatever is not so, nothing of the answer is believed."""
    if not answer.hops:
        return _says_nothing(answer, question)
    site = registrable_domain(answer.hops[0])
    return (
        answer.url == answer.hops[0] == _canonical(question.url)
        and answer.final_url == answer.hops[-1]
        and all(_is_http(hop) and registrable_domain(hop) == site for hop in answer.hops)
        and _moves_soundly(answer, site)
        and _may_be_unchanged(answer, question)
    )


def _says_nothing(answer: PageAnswer, question: PageQuestion) -> bool:
    """Nobody was asked: of a URL that is none, or by a fault, there is no page and no other place."""
    as_asked = (question.url, question.url[:_LONGEST_URL])
    return (
        answer.url in as_asked
        and answer.final_url == answer.url
        and answer.moved_to is None
        and answer.page is None
        and answer.outcome not in _READ
        and answer.reason != FetchReason.MOVED
    )


def _moves_soundly(answer: PageAnswer, site: str) -> bool:
    """Told exactly where the reason says so, and to another site: within one, redirects are followed."""
    if answer.moved_to is None:
        return answer.reason != FetchReason.MOVED
    return (
        (answer.outcome, answer.reason) == (PageOutcome.UNAVAILABLE, FetchReason.MOVED)
        and answer.page is None
        and _is_http(answer.moved_to)
        and registrable_domain(answer.moved_to) != site
    )


def _may_be_unchanged(answer: PageAnswer, question: PageQuestion) -> bool:
    if answer.outcome is not PageOutcome.NOT_MODIFIED:
        return True
    return bool(question.etag or question.last_modified) and answer.final_url == question.known_url


def _canonical(url: str) -> str | None:
    try:
        return spelled(url).url()
    except ProviderUnavailable:
        return None


def _is_http(url: str) -> bool:
    return http_url(url) == url
