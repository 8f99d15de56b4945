"""What was read, as evidence: which of the wanted quotes stand in its text, and what is stored of them.

A quote that does not stand keeps no page from being stored; only quotes that stand are stored with it. Where the store
does not answer, or not in time, the page is given out all the same and said to be kept nowhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.evidence import Evidence
from zarniwoop.contract.page import PageOutcome
from zarniwoop.evidence.ledger import EvidenceLedger, stored_text
from zarniwoop.evidence.marks import is_markdown
from zarniwoop.evidence.quotes import ClosestPassage, QuotedBody
from zarniwoop.pages.chain import Reading
from zarniwoop.stores.evidence import TooManyQuotes
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.text.plain import is_blank

MOST_CLOSEST = 5
"""Of one page: looking for what comes closest reads its whole text each time."""
OUT_OF_TIME = "out_of_time"
STORE_DOWN = "store_unavailable"
TOO_MANY_QUOTES = "too_many_quotes"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuote:
    """What became of the wanted quote at `index`, counted from 0.

    One that stands has the text's own words, and where they are in the stored text, in characters. Of one that does
    not, `closest` is what comes closest, if anything does: looked for a few times, and while there is time.
    """

    index: int
    stands: bool
    text: str | None = None
    start: int | None = None
    end: int | None = None
    closest: ClosestPassage | None = None
    untrusted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """`body` is the text in the form in which it is stored, whether it was or not; None where no page was read.

    What was read and was to be stored has either `evidence`, or the reason why not. Where time was over, it may be that
    no quote was looked for.
    """

    body: str | None = None
    quotes: tuple[CheckedQuote, ...] = ()
    evidence: Evidence | None = None
    not_kept: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Keeps the readings of one call, until its deadline. Without a ledger quotes are looked for, and no more."""

    ledger: EvidenceLedger | None
    project: ProjectKey
    deadline: Deadline
    quotes: Sequence[str] = ()
    task_id: str | None = None

    def keep(self, reading: Reading) -> Iterator[Kept]:
        """Step by step: what there is to show if the next one is late, and at last what became of it."""
        body = text_of(reading)
        if body is None:
            yield Kept()
            return
        not_kept = None if self.ledger is None else OUT_OF_TIME
        yield Kept(body=body, not_kept=not_kept)
        quoted = QuotedBody(body, markdown=reads_markdown(reading))
        looked_for = Kept(body=body, quotes=tuple(_checked(quoted, self.quotes, self.deadline)), not_kept=not_kept)
        yield looked_for
        if self.ledger is not None and not self.deadline.expired:
            yield self._kept(self.ledger, reading, looked_for)

    def _kept(self, ledger: EvidenceLedger, reading: Reading, looked_for: Kept) -> Kept:
        standing = [each.text for each in looked_for.quotes if each.text is not None]
        try:
            evidence = self._stored(ledger, reading, standing)
        except StoreUnavailable:
            return replace(looked_for, not_kept=STORE_DOWN)
        except TooManyQuotes:
            return replace(looked_for, not_kept=TOO_MANY_QUOTES)
        return replace(looked_for, evidence=evidence, not_kept=None)

    def _stored(self, ledger: EvidenceLedger, reading: Reading, quotes: Sequence[str]) -> Evidence:
        if reading.stored is not None:
            known = reading.stored
            return ledger.keep_again(
                self.project, known.evidence, known.body, task_id=self.task_id, quotes=quotes, facts=reading.facts
            )
        return ledger.keep_page(
            self.project,
            reading.answer,
            task_id=self.task_id,
            quotes=quotes,
            source_type=reading.source_type,
            instance_id=reading.instance_id,
            facts=reading.facts,
            body_gone=reading.body_gone,
        )


def text_of(reading: Reading) -> str | None:
    """The text in which offsets count."""
    if reading.stored is not None:
        return reading.stored.body
    page = reading.answer.page
    if reading.answer.outcome is not PageOutcome.OK or page is None or is_blank(page.markdown):
        return None
    return stored_text(page.markdown)


def reads_markdown(reading: Reading) -> bool:
    """Whether that text is Markdown."""
    if reading.stored is not None:
        return is_markdown(reading.stored.evidence.extractor)
    return reading.answer.page is not None and is_markdown(reading.answer.page.extractor)


def _checked(quoted: QuotedBody, wanted: Sequence[str], deadline: Deadline) -> Iterator[CheckedQuote]:
    looks = MOST_CLOSEST
    for index, each in enumerate(wanted):
        found = quoted.find(each)
        if found is not None:
            yield CheckedQuote(index=index, stands=True, text=found.text, start=found.start, end=found.end)
            continue
        looks -= 1
        closest = quoted.closest(each) if looks >= 0 and not deadline.expired else None
        yield CheckedQuote(index=index, stands=False, closest=closest)
