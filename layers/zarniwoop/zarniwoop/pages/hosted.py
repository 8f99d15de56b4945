"""Pages read for us by providers: the endpoints of `fetch.hosted.order`, loaded as bodies of hits are.

So gate, credit, budgets, the key pool and the audit trail hold, and a page is named to nobody unless it is public.
What comes back is a stranger's text as well: it is cleaned as Markdown, without any parser of markup.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from zarniwoop.contract.failure import Cause, QueryRejected
from zarniwoop.contract.hit import ContentInline, ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.page import ExtractedPage, PageAnswer, PageOutcome, PageStep
from zarniwoop.contract.result import Attempt, Outcome
from zarniwoop.dispatch.calls.asked import Asked
from zarniwoop.dispatch.calls.bodies import Body
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.extract.outcome import Extraction
from zarniwoop.pages.reasons import of_naming
from zarniwoop.settings.fetch_names import READERS
from zarniwoop.wire.pages import MARKDOWN

Load = Callable[[Body], Asked]
_NOT_NAMED = frozenset((Cause.ADDRESS, Cause.DNS))
"""What `wire.pages.check_public` refuses for."""
NOT_THERE = "no_such_endpoint"
READS_NO_PAGES = "reads_no_pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedReading:
    """How one endpoint was asked for a page."""

    attempt: Attempt
    step: PageStep
    page: ExtractedPage | None = None
    source_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedReader:
    """One endpoint in the order; without a candidate, `missing` says why it is none."""

    instance_id: str
    candidate: Candidate | None = None
    missing: str | None = None

    def body(self, url: str) -> Body | None:
        if self.candidate is None:
            return None
        reference = ContentReference(inline=ContentInline.STASH_ON_DEMAND, media_type=MARKDOWN, reference=url)
        return Body(candidate=self.candidate, modality=SearchModality.WEB, reference=reference)

    def read(self, url: str, load: Load) -> HostedReading:
        """Never raises for what the provider does."""
        body = self.body(url)
        if body is None:
            skipped = Attempt(instance_id=self.instance_id, outcome=Outcome.SKIPPED, reason=self.missing)
            return HostedReading(attempt=skipped, step=self._step(PageOutcome.UNAVAILABLE, skipped))
        asked = load(body)
        if asked.content is None:
            return HostedReading(attempt=asked.attempt, step=self._unread(asked.attempt))
        found = read_hosted(asked.content, self.instance_id)
        step = replace(self._step(found.outcome, asked.attempt), reason=found.reason)
        if found.page is None:
            return HostedReading(attempt=asked.attempt, step=step)
        return HostedReading(
            attempt=asked.attempt,
            step=replace(step, chars=len(found.page.markdown)),
            page=found.page,
            source_url=asked.content.source_url,
        )

    def _unread(self, attempt: Attempt) -> PageStep:
        """That it was we who did not name the page is told as the archive's step tells it."""
        step = self._step(PageOutcome.UNAVAILABLE, attempt)
        if attempt.reason != QueryRejected.reason or attempt.detail not in _NOT_NAMED:
            return step
        outcome, reason = of_naming(Cause(attempt.detail))
        return replace(step, outcome=outcome, reason=reason)

    def _step(self, outcome: PageOutcome, attempt: Attempt) -> PageStep:
        return PageStep(name=self.instance_id, outcome=outcome, reason=attempt.reason, milliseconds=attempt.duration_ms)


def readers_of(order: Sequence[str], candidates: Mapping[str, Candidate]) -> tuple[HostedReader, ...]:
    """The endpoints that the setting names, those that cannot read a page included."""
    return tuple(_reader(instance_id, candidates.get(instance_id)) for instance_id in order)


def _reader(instance_id: str, candidate: Candidate | None) -> HostedReader:
    if candidate is None:
        return HostedReader(instance_id=instance_id, missing=NOT_THERE)
    if candidate.endpoint.protocol not in READERS:
        return HostedReader(instance_id=instance_id, missing=READS_NO_PAGES)
    return HostedReader(instance_id=instance_id, candidate=candidate)


def read_hosted(content: LoadedContent, instance_id: str) -> Extraction:
    """The text in the form in which our own readers write it; walls that stood before others are walls here too."""
    from zarniwoop.extract.facts import PageFacts
    from zarniwoop.extract.files import read_text_page
    from zarniwoop.extract.judged import Judged
    from zarniwoop.extract.limits import MOST_MARKDOWN
    from zarniwoop.extract.menus import counted
    from zarniwoop.extract.sniff import Kind
    from zarniwoop.extract.verdicts import verdict

    whole = content.body.decode("utf-8", "replace")
    page = read_text_page(whole[:MOST_MARKDOWN], Kind.MARKDOWN, content.source_url)
    text, title = page.markdown, page.title or ""
    judged = verdict(
        Judged(
            status=200,
            url=content.source_url,
            raw=text,
            markup=text,
            facts=PageFacts(title=title, headline=title),
            article=counted(text),
            free=None,
        )
    )
    if judged.outcome is not PageOutcome.OK:
        return Extraction(outcome=judged.outcome, reason=judged.reason)
    truncated = page.truncated or judged.truncated or len(whole) > MOST_MARKDOWN
    told = replace(page, extractor=instance_id, truncated=truncated)
    return Extraction(outcome=PageOutcome.OK, page=told)


def answered(before: PageAnswer, reading: HostedReading) -> PageAnswer:
    """The answer as it is with a provider's step behind it."""
    steps = (*before.steps, reading.step)
    if reading.page is None:
        return replace(before, steps=steps)
    return replace(
        before,
        outcome=PageOutcome.OK,
        reason=None,
        final_url=reading.source_url or before.final_url,
        media_type=MARKDOWN,
        charset="utf-8",
        etag=None,
        last_modified=None,
        page=reading.page,
        degraded=False,
        steps=steps,
    )
