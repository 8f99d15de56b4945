"""Evidence looked at again: its page is fetched anew, and said to be unchanged, drifted or gone, quote by quote.

Texts are compared as they are read (`evidence.marks`), and folded (`evidence.folding`): another kind of dash is no
change, nor is a link that leads elsewhere, as those of each session do; that alone is told as `marks_changed`. A wall
tells nothing of what is behind it: whoever is blocked, throttled or asked to log in does not know whether the page has
changed (`unknown`). What the archive had is fetched from the archive, whose snapshot our own reader has read.
The page is asked for whole, not conditionally: a server may answer `304` to what it has changed.
Quirk: what another reader read (a provider's, or only the excerpt of a hit) cannot be compared with what ours reads;
its quotes can still be found, but not missed. So it is with what was read with a step too few (`degraded`), then or
now: a slow machine changes no page. Texts that are the same are `unchanged` all the same.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.evidence import Evidence, Quote, SourceType
from zarniwoop.contract.page import PageAnswer, PageFetcher, PageOutcome, PageQuestion
from zarniwoop.evidence.folding import Folded, folded
from zarniwoop.evidence.ledger import stored_text
from zarniwoop.evidence.marks import is_markdown
from zarniwoop.evidence.quotes import QuotedBody

_GONE = frozenset((PageOutcome.NOT_FOUND, PageOutcome.SOFT_404))
_LINE = re.compile(r"[^\n]+")
_COMPARABLE = frozenset((SourceType.PAGE, SourceType.PDF, SourceType.ARCHIVE))
NOT_COMPARABLE = "read_by_another_reader"
CUT = "cut"
DEGRADED = "degraded"
MARKS = "marks_changed"
"""The words are the same; where links lead, or what is marked as code or a heading, is not."""


class Verdict(StrEnum):
    """What became of a page."""

    UNCHANGED = "unchanged"
    DRIFTED = "drifted"
    GONE = "gone"
    UNKNOWN = "unknown"


class QuoteVerdict(StrEnum):
    """What became of a quote: `MOVED` stands elsewhere in what is read. Longer links before it do not move it."""

    STANDS = "stands"
    MOVED = "moved"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedQuote:
    """A quote, where it stood, and where it stands now."""

    verdict: QuoteVerdict
    text: str
    start: int
    end: int
    now_start: int | None = None
    now_end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was seen at `verified_at`. `outcome` is the fetch's; `reason` says why more is not known, or what else is.

    `alike` is the part of the stored text's lines that still stand in the page, from 0 to 1. Quotes are other people's
    words.
    """

    evidence_id: str
    verdict: Verdict
    outcome: PageOutcome
    verified_at: float
    retrieved_at: float
    final_url: str
    reason: str | None = None
    alike: float | None = None
    quotes: tuple[VerifiedQuote, ...] = ()
    untrusted: bool = True


class Verifier:
    """Fetches by whoever it is given, which follows the site's rules, and the page from one site to another."""

    def __init__(self, fetcher: PageFetcher, clock: Clock) -> None:
        self._fetcher = fetcher
        self._clock = clock

    def verify(self, evidence: Evidence, body: str, deadline: Deadline) -> Verification:
        """Raises FetcherUnavailable when nobody could be asked."""
        archived = evidence.source_type is SourceType.ARCHIVE
        url = evidence.final_url if archived else evidence.url
        answer = self._fetcher.fetch(PageQuestion(url=url, seconds=deadline.remaining()), deadline=deadline)
        text = stored_text(answer.page.markdown) if answer.outcome is PageOutcome.OK and answer.page else None
        seen = Verification(
            evidence_id=evidence.id,
            verdict=Verdict.UNKNOWN,
            outcome=answer.outcome,
            verified_at=self._clock.now(),
            retrieved_at=evidence.retrieved_at,
            final_url=answer.final_url,
            reason=answer.reason,
        )
        doubt = _doubt(answer, evidence)
        if answer.outcome in _GONE and doubt is None:
            quotes = tuple(_unseen(quote, QuoteVerdict.GONE) for quote in evidence.quotes)
            return replace(seen, verdict=Verdict.GONE, quotes=quotes)
        if text is None or answer.page is None:
            quotes = tuple(_unseen(quote, QuoteVerdict.UNKNOWN) for quote in evidence.quotes)
            return replace(seen, reason=doubt or seen.reason, quotes=quotes)
        cut = answer.page.truncated or _is_degraded(answer, evidence)
        compared = _compared(seen, evidence, body, text, answer.page.extractor, cut=cut)
        if _is_degraded(answer, evidence) and compared.verdict is not Verdict.UNCHANGED:
            return replace(compared, verdict=Verdict.UNKNOWN, reason=DEGRADED, alike=None)
        return compared


def _doubt(answer: PageAnswer, evidence: Evidence) -> str | None:
    """Why a page that looks gone need not be: a judgement of ours, where another one stood or a reader was missing."""
    if answer.outcome is not PageOutcome.SOFT_404:
        return None
    if evidence.source_type not in _COMPARABLE:
        return NOT_COMPARABLE
    return DEGRADED if answer.degraded else None


def _is_degraded(answer: PageAnswer, evidence: Evidence) -> bool:
    return answer.degraded or evidence.degraded


def _compared(
    seen: Verification, evidence: Evidence, body: str, text: str, extractor: str, *, cut: bool
) -> Verification:
    before = QuotedBody(body, longest=len(body), markdown=is_markdown(evidence.extractor))
    after = QuotedBody(text, longest=len(text), markdown=is_markdown(extractor))
    then, now = before.reading.text.strip(), after.reading.text.strip()
    alike: float | None = 1.0 if then == now else _alike(_lines(body, before.reading), _lines(text, after.reading))
    if then == now:
        verdict, reason = Verdict.UNCHANGED, None if folded(body).strip() == folded(text).strip() else MARKS
    elif evidence.source_type not in _COMPARABLE:
        verdict, reason, alike = Verdict.UNKNOWN, NOT_COMPARABLE, None
    elif (cut or evidence.truncated) and (then.startswith(now) or now.startswith(then)):
        verdict, reason = Verdict.UNKNOWN, CUT
    else:
        verdict, reason = Verdict.DRIFTED, None
    missed = QuoteVerdict.UNKNOWN if cut or evidence.source_type not in _COMPARABLE else QuoteVerdict.GONE
    quotes = tuple(_looked_for(quote, before, after, missed) for quote in evidence.quotes)
    return replace(seen, verdict=verdict, reason=reason, alike=alike, quotes=quotes)


def _looked_for(quote: Quote, before: QuotedBody, after: QuotedBody, missed: QuoteVerdict) -> VerifiedQuote:
    """Its words as they were read there: a link in it may lead elsewhere now. Else the quote as any text."""
    was = before.reading
    first, last = was.folded_at(quote.start), was.folded_at(quote.end)
    words = was.text[first:last]
    first += len(words) - len(words.lstrip())
    place = after.reading.find_at(words.strip(), first)
    if place is None:
        found = after.find(quote.text, near=quote.start)
        if found is None:
            return _unseen(quote, missed)
        place = found.start, found.end
    stands = place[0] == quote.start or after.reading.folded_at(place[0]) == first
    verdict = QuoteVerdict.STANDS if stands else QuoteVerdict.MOVED
    return replace(_unseen(quote, verdict), now_start=place[0], now_end=place[1])


def _unseen(quote: Quote, verdict: QuoteVerdict) -> VerifiedQuote:
    return VerifiedQuote(verdict=verdict, text=quote.text, start=quote.start, end=quote.end)


def _alike(then: Counter[str], now: Counter[str]) -> float:
    return round(sum((then & now).values()) / max(1, sum(then.values())), 2)


def _lines(text: str, reading: Folded) -> Counter[str]:
    """What is read of each line."""
    found: Counter[str] = Counter()
    for line in _LINE.finditer(text):
        found[reading.text[reading.folded_at(line.start()) : reading.folded_at(line.end())].strip()] += 1
    del found[""]
    return found
