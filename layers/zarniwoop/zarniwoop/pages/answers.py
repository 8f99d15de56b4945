"""Answers of several steps as one, and which of two readings of a page is the better one.

A text that stops before its page does is one with the reason `truncated`: our own bounds cut, too, and then nobody else
would have more.
"""

from dataclasses import replace

from zarniwoop.contract.page import ExtractedPage, PageAnswer, PageOutcome, PageStep
from zarniwoop.pages import archive
from zarniwoop.pages.reasons import TRUNCATED

FETCH = "fetch"
NOT_FULLER = "not_fuller"
"""The reason of a step that read the page, and no more of it than was there."""
_NEARLY_ALL = 0.9
"""So much of the other text a whole one has at least: what marks the cut (`Read more`) is missing in it."""


def joined(first: PageAnswer, second: PageAnswer) -> PageAnswer:
    """Two answers on one way as one."""
    return replace(
        second,
        url=first.url,
        hops=(*first.hops, *second.hops),
        bytes_received=first.bytes_received + second.bytes_received,
        steps=(*first.steps, *second.steps),
    )


def unread(url: str, step: str, outcome: PageOutcome, reason: str) -> PageAnswer:
    return PageAnswer(
        outcome=outcome,
        reason=reason,
        url=url,
        final_url=url,
        steps=(PageStep(name=step, outcome=outcome, reason=reason),),
    )


def with_archive_step(
    answer: PageAnswer, outcome: PageOutcome, reason: str | None, looked_up: PageAnswer | None = None
) -> PageAnswer:
    """The answer with the archive's step, which counts its look-up as one."""
    milliseconds = sum(step.milliseconds for step in looked_up.steps if step.name == FETCH) if looked_up else 0
    step = PageStep(name=archive.STEP, outcome=outcome, reason=reason, milliseconds=milliseconds)
    return replace(answer, steps=(*answer.steps, step))


def is_cut_short(answer: PageAnswer) -> bool:
    """Read, and others may have the rest."""
    return answer.outcome is PageOutcome.OK and answer.reason == TRUNCATED


def is_better(page: ExtractedPage | None, than: PageAnswer) -> bool:
    """Whether a page that was read is to be kept in place of an answer."""
    if page is None or than.outcome is not PageOutcome.OK or than.page is None:
        return page is not None
    chars, others = len(page.markdown), len(than.page.markdown)
    return chars > others or (not page.truncated and chars >= _NEARLY_ALL * others)


def not_fuller(steps: tuple[PageStep, ...]) -> tuple[PageStep, ...]:
    """The steps of a reading that is not kept."""
    return (*steps[:-1], replace(steps[-1], reason=NOT_FULLER)) if steps else steps
