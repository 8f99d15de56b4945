"""Evidence looked at again: its page is fetched anew, and said to be unchanged, drifted or gone, quote by quote.

Texts are compared folded (`evidence.folding`): another kind of dash is no change. A wall tells nothing of what is
behind it: whoever is blocked, throttled or asked to log in does not know whether the page has changed (`unknown`).
What the archive had is fetched from the archive, whose snapshot our own reader has read.
The page is asked for whole, not conditionally: a server may answer `304` to what it has changed.
Quirk: what another reader read (a provider's, or only the excerpt of a hit) cannot be compared with what ours reads;
its quotes can still be found, but not missed. So it is with what was read with a step too few (`degraded`), then or
now: a slow machine changes no page. Texts that are the same are `unchanged` all the same.
"""

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.evidence import Evidence, Quote, SourceType
from zarniwoop.contract.page import PageAnswer, PageFetcher, PageOutcome, PageQuestion
from zarniwoop.evidence.folding import folded
from zarniwoop.evidence.ledger import stored_text
from zarniwoop.evidence.quotes import QuotedBody

_GONE = frozenset((PageOutcome.NOT_FOUND, PageOutcome.SOFT_404))
_COMPARABLE = frozenset((SourceType.PAGE, SourceType.PDF, SourceType.ARCHIVE))
NOT_COMPARABLE = "read_by_another_reader"
CUT = "cut"
DEGRADED = "degraded"


class Verdict(StrEnum):
    """What became of a page."""

    UNCHANGED = "unchanged"
    DRIFTED = "drifted"
    GONE = "gone"
    UNKNOWN = "unknown"


class QuoteVerdict(StrEnum):
    """What became of a quote: `MOVED` stands elsewhere in the text."""

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
    """What was seen at `verified_at`. `outcome` is the fetch's, `reason` says why more is not known.

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
        compared = _compared(seen, evidence, body, text, cut=answer.page.truncated or _is_degraded(answer, evidence))
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


def _compared(seen: Verification, evidence: Evidence, body: str, text: str, *, cut: bool) -> Verification:
    then, now = folded(body).strip(), folded(text).strip()
    alike: float | None = 1.0 if then == now else _alike(body, text)
    if then == now:
        verdict, reason = Verdict.UNCHANGED, None
    elif evidence.source_type not in _COMPARABLE:
        verdict, reason, alike = Verdict.UNKNOWN, NOT_COMPARABLE, None
    elif (cut or evidence.truncated) and (then.startswith(now) or now.startswith(then)):
        verdict, reason = Verdict.UNKNOWN, CUT
    else:
        verdict, reason = Verdict.DRIFTED, None
    missed = QuoteVerdict.UNKNOWN if cut or evidence.source_type not in _COMPARABLE else QuoteVerdict.GONE
    quoted = QuotedBody(text, longest=len(text))
    quotes = tuple(_looked_for(quote, quoted, missed) for quote in evidence.quotes)
    return replace(seen, verdict=verdict, reason=reason, alike=alike, quotes=quotes)


def _looked_for(quote: Quote, quoted: QuotedBody, missed: QuoteVerdict) -> VerifiedQuote:
    found = quoted.find(quote.text, near=quote.start)
    if found is None:
        return _unseen(quote, missed)
    verdict = QuoteVerdict.STANDS if found.start == quote.start else QuoteVerdict.MOVED
    return replace(_unseen(quote, verdict), now_start=found.start, now_end=found.end)


def _unseen(quote: Quote, verdict: QuoteVerdict) -> VerifiedQuote:
    return VerifiedQuote(verdict=verdict, text=quote.text, start=quote.start, end=quote.end)


def _alike(body: str, text: str) -> float:
    then, now = _lines(body), _lines(text)
    return round(sum((then & now).values()) / max(1, sum(then.values())), 2)


def _lines(text: str) -> Counter[str]:
    return Counter(filter(None, (folded(line).strip() for line in text.split("\n"))))
