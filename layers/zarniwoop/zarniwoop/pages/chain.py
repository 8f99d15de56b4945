"""What `web_fetch` does for one URL, step by step, and what became of each step.

    what is stored → the site's turn → fetch → (another site → its turn → fetch, five redirects in all)
                   → browser, by setting → hosted readers, by setting → the archive, by setting

The next step is taken only where it could help and may be taken, also by a text that stops before its page does: the
fuller one is kept. What is no address for us, what robots.txt keeps us out of, and a page that nobody has asked for yet
is named to nobody else. Nothing raises for what a page or a provider does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.evidence import Evidence, SourceType
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.page import (
    FetcherFault,
    FetcherUnavailable,
    PageAnswer,
    PageFetcher,
    PageOutcome,
    PageQuestion,
)
from zarniwoop.contract.result import Attempt
from zarniwoop.contract.transport import PublicAddresses
from zarniwoop.evidence.known import NOTHING_KNOWN, KnownSource, SourceFacts
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.net.redirect import MOST_REDIRECTS
from zarniwoop.pages import archive
from zarniwoop.pages.answers import FETCH, is_better, is_cut_short, joined, not_fuller, unread, with_archive_step
from zarniwoop.pages.hosted import HostedReader, Load, answered
from zarniwoop.pages.reasons import FetchReason, of_naming
from zarniwoop.pages.rendering import BrowserSlots, may_be_rendered, rendered
from zarniwoop.pages.site_turns import LEAST_SECONDS, SiteTurns, site_of
from zarniwoop.settings.fetching import FetchSettings
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey

TURN = "turn"
NO_TURN = "no_turn_in_time"
_FETCH_SECONDS = 17.0
"""So much of the time is for one answer of the fetching function: what comes behind it needs some too."""
_WAIT = frozenset((429, 503))
"""Statuses with which a site says how long it is to be let alone."""
_READ = frozenset((PageOutcome.OK, PageOutcome.NOT_MODIFIED))
_HOSTED_HELPS = frozenset(
    (
        PageOutcome.EMPTY,
        PageOutcome.SOFT_404,
        PageOutcome.BLOCKED,
        PageOutcome.LOGIN_REQUIRED,
        PageOutcome.CONSENT_REQUIRED,
        PageOutcome.NEEDS_JAVASCRIPT,
        PageOutcome.MALFORMED,
        PageOutcome.UNAVAILABLE,
        PageOutcome.OUT_OF_TIME,
    )
)
"""Not where the page is gone, is no text, or its host has asked to be left alone for a while."""
_ARCHIVE_HELPS = _HOSTED_HELPS | {PageOutcome.NOT_FOUND, PageOutcome.RATE_LIMITED}
_CLOSED = frozenset(
    (
        FetchReason.ROBOTS_UNREACHABLE,
        FetchReason.ROBOTS_OUT_OF_TIME,
        FetchReason.TOO_MANY_REDIRECTS,
        FetchReason.INTERNAL,
        FetchReason.TOO_LITTLE_TIME,
        NO_TURN,
        *FetcherFault,
    )
)
"""Reasons why nobody else is asked either: whether the page may be read at all is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A page as it was read before, and its text."""

    evidence: Evidence
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a URL was read. `answer` has the steps of the whole chain; `source_type` None: by ourselves.

    `stored` is set when the page has not changed since, `body_gone` when the text that it had then is lost. `moment` is
    the archive's. `attempts` are those of providers. `facts` are what older evidence of the URL tells.
    """

    answer: PageAnswer
    source_type: SourceType | None = None
    instance_id: str | None = None
    stored: Stored | None = None
    body_gone: bool = False
    moment: str | None = None
    attempts: tuple[Attempt, ...] = ()
    facts: SourceFacts = NOTHING_KNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChain:
    """The chain of one call, by the settings of its project; safe to use from several threads."""

    fetcher: PageFetcher
    turns: SiteTurns
    ledger: Callable[[], EvidenceLedger]
    addresses: PublicAddresses
    project: ProjectKey
    deadline: Deadline
    rules: FetchSettings
    slots: BrowserSlots | None = None
    """None where the stack has no browser."""
    readers: Sequence[HostedReader] = ()
    load: Load = field(repr=False)

    def read(self, url: str, *, want_html: bool = False, refresh: bool = False) -> Reading:
        """`refresh`: what is stored is neither asked about nor given. Nor is it where the markup is wanted."""
        source = KnownSource() if refresh or want_html else self._known(url)
        known = source.reading
        answer = self._followed(url, known, want_html=want_html)
        reading = Reading(answer=answer, facts=source.facts)
        if answer.outcome is PageOutcome.NOT_MODIFIED and known is not None:
            reading = self._with_text(reading, known)
            if reading.stored is not None:
                return reading
            reading = replace(reading, answer=joined(answer, self._followed(url, None, want_html=want_html)))
        if reading.answer.outcome not in _READ or is_cut_short(reading.answer):
            reading = self._hosted(reading)
        return reading if reading.answer.outcome in _READ else self._archived(reading)

    def fetched_anew(self, url: str) -> PageAnswer:
        """The page as it is now, by ourselves, in its sites' turns: nothing stored is asked about, nor anybody else."""
        return self._followed(url, None)

    def _known(self, url: str) -> KnownSource:
        """What is stored, if it can be asked about; a store that is down costs a whole page instead of a 304."""
        try:
            known = self.ledger().known(self.project, url)
        except StoreUnavailable:
            return KnownSource()
        can_be_asked_about = known.reading is not None and _can_be_asked_about(known.reading)
        return known if can_be_asked_about else replace(known, reading=None)

    def _with_text(self, reading: Reading, known: Evidence) -> Reading:
        """With what is stored, where it can be had."""
        try:
            body = self.ledger().body(self.project, known)
        except StoreUnavailable:
            return reading
        if body is None:
            return replace(reading, body_gone=True)
        return replace(reading, stored=Stored(evidence=known, body=body))

    def _followed(self, url: str, known: Evidence | None, *, want_html: bool = False) -> PageAnswer:
        """From site to site, to where the page is."""
        answer = self._at_site(url, known, want_html=want_html)
        for _move in range(MOST_REDIRECTS):
            if answer.moved_to is None or len(answer.hops) > MOST_REDIRECTS:
                break
            answer = joined(answer, self._at_site(answer.moved_to, known, want_html=want_html))
        if answer.moved_to is None and len(answer.hops) <= MOST_REDIRECTS + 1:
            return answer
        return replace(
            answer,
            outcome=PageOutcome.UNAVAILABLE,
            reason=FetchReason.TOO_MANY_REDIRECTS,
            moved_to=None,
            page=None,
        )

    def _at_site(self, url: str, known: Evidence | None, *, want_html: bool) -> PageAnswer:
        """In the site's turn. What has no host is refused by whoever fetches; it needs none."""
        site = site_of(url)
        if site is None:
            return self._fetched(url, known, want_html=want_html)
        if self.deadline.remaining() < LEAST_SECONDS:
            return unread(url, FETCH, PageOutcome.OUT_OF_TIME, FetchReason.TOO_LITTLE_TIME)
        with self.turns.at(site, self.rules.site_interval, self.deadline) as too_late:
            if too_late is not None:
                wait = max(0.0, too_late - self.deadline.clock.now())
                return replace(unread(url, TURN, PageOutcome.OUT_OF_TIME, NO_TURN), retry_after=wait)
            answer = self._fetched(url, known, want_html=want_html)
            self.turns.ask_for_delay(site, answer.crawl_delay)
            if answer.status in _WAIT:
                self.turns.ask_for_pause(site, answer.retry_after)
            return self._shown(answer, want_html=want_html)

    def _shown(self, answer: PageAnswer, *, want_html: bool) -> PageAnswer:
        """By a browser, where that may show more; still in the site's turn."""
        if self.slots is None or not may_be_rendered(answer, self.rules.browser_domains):
            return answer
        question = PageQuestion(
            url=answer.final_url,
            seconds=_FETCH_SECONDS,
            honour_robots=self.rules.robots,
            browser_domains=self.rules.browser_domains,
            render=True,
            want_html=want_html,
        )
        return rendered(answer, question, self.fetcher, self.slots, self.deadline)

    def _fetched(self, url: str, known: Evidence | None, *, want_html: bool) -> PageAnswer:
        deadline = self.deadline.within(_FETCH_SECONDS)
        known = known if known is not None and site_of(known.final_url) == site_of(url) else None
        question = PageQuestion(
            url=url,
            seconds=max(0.1, deadline.remaining()),
            etag=known.etag if known else None,
            last_modified=known.last_modified if known else None,
            known_url=known.final_url if known else None,
            honour_robots=self.rules.robots,
            want_html=want_html,
        )
        try:
            answer = self.fetcher.fetch(question, deadline=deadline)
        except FetcherUnavailable as failure:
            late = failure.fault is FetcherFault.OUT_OF_TIME
            outcome = PageOutcome.OUT_OF_TIME if late else PageOutcome.UNAVAILABLE
            return unread(url, FETCH, outcome, failure.fault)
        if answer.outcome is PageOutcome.NOT_MODIFIED and (known is None or answer.final_url != known.final_url):
            return unread(url, FETCH, PageOutcome.UNAVAILABLE, FetcherFault.FAILED)
        return answer

    def _hosted(self, reading: Reading) -> Reading:
        answer = reading.answer
        if not is_cut_short(answer) and not _may_go_on(answer, _HOSTED_HELPS):
            return reading
        attempts: list[Attempt] = []
        for reader in self.readers:
            told = reader.read(answer.url, self.load)
            attempts.append(told.attempt)
            if told.page is not None and not is_better(told.page, answer):
                answer = replace(answer, steps=(*answer.steps, *not_fuller((told.step,))))
                break
            answer = answered(answer, told)
            if told.page is not None:
                return Reading(
                    answer=answer,
                    source_type=SourceType.HOSTED,
                    instance_id=reader.instance_id,
                    attempts=tuple(attempts),
                )
        return replace(reading, answer=answer, attempts=tuple(attempts))

    def _archived(self, reading: Reading) -> Reading:
        answer = reading.answer
        if not self.rules.archive or not _may_go_on(answer, _ARCHIVE_HELPS):
            return reading
        if self.deadline.remaining() < LEAST_SECONDS:
            return replace(reading, answer=with_archive_step(answer, PageOutcome.OUT_OF_TIME, None))
        try:
            self.addresses.check(answer.url, deadline=self.deadline)
        except ProviderUnavailable as failure:
            return replace(reading, answer=with_archive_step(answer, *of_naming(failure.cause)))
        looked_up = self._followed(archive.look_up_of(answer.url), None)
        snapshot = archive.snapshot_in(looked_up.page, answer.url)
        if snapshot is None:
            found = looked_up.outcome is PageOutcome.OK
            outcome = PageOutcome.NOT_FOUND if found else looked_up.outcome
            reason = archive.NO_SNAPSHOT if found else looked_up.reason
            return replace(reading, answer=with_archive_step(answer, outcome, reason, looked_up))
        return self._of_snapshot(reading, snapshot, looked_up)

    def _of_snapshot(self, reading: Reading, snapshot: archive.Snapshot, looked_up: PageAnswer) -> Reading:
        page = self._followed(snapshot.url, None)
        if page.outcome is PageOutcome.OK and not archive.is_of_archive(page.final_url):
            page = replace(page, outcome=PageOutcome.NOT_FOUND, reason=archive.NO_SNAPSHOT)
        before = with_archive_step(reading.answer, page.outcome, page.reason or snapshot.moment, looked_up)
        steps = (*before.steps, *page.steps)
        if page.outcome is not PageOutcome.OK:
            return replace(reading, answer=replace(before, steps=steps))
        return replace(
            reading,
            answer=replace(page, url=before.url, hops=(*before.hops, *page.hops), steps=steps),
            source_type=SourceType.ARCHIVE,
            moment=snapshot.moment,
        )


def _can_be_asked_about(known: Evidence) -> bool:
    """A 304 would give what was cut, or read with a step too few, for ever."""
    return bool(known.etag or known.last_modified) and not known.truncated and not known.degraded


def _may_go_on(answer: PageAnswer, helped: frozenset[PageOutcome]) -> bool:
    return answer.outcome in helped and answer.reason not in _CLOSED
