"""A reader of pages in this process: it takes what it is given for text, and remembers what it was given."""

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import ExtractedPage, PageOutcome, PageStep
from zarniwoop.extract.outcome import Extraction
from zarniwoop.extract.verdicts import verdict_of_status


class FakePageReader:
    """`pages.fetcher.PageReader`; `outcome` is what it says of every page that has no error's status."""

    def __init__(self, outcome: PageOutcome = PageOutcome.OK, reason: str | None = None) -> None:
        self.outcome = outcome
        self.reason = reason
        self.started = 0
        self.bodies: list[bytes] = []
        self.claimed: list[tuple[str | None, str | None, int]] = []

    def start(self) -> None:
        self.started += 1

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
    ) -> Extraction:
        self.bodies.append(body)
        self.claimed.append((media_type, charset, status))
        judged = verdict_of_status(status)
        if judged is not None and self.outcome is PageOutcome.OK:
            return Extraction(outcome=judged.outcome, reason=judged.reason)
        text = body.decode("utf-8", "replace")
        return Extraction(
            outcome=self.outcome,
            reason=self.reason,
            page=ExtractedPage(markdown=text, extractor="fake", html=text if want_html else None),
            steps=(PageStep(name="fake", outcome=self.outcome, reason=self.reason, chars=len(text)),),
        )
