"""Pages for tools: the chain of a call by its project's settings, URLs side by side, and what they would take."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import PageFetcher
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.transport import PublicAddresses
from zarniwoop.dispatch.dispatcher import ANSWER_GRACE_SECONDS, Dispatcher, Survey
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.pages.chain import PageChain
from zarniwoop.pages.foreseen import ForeseenPage, Parse, foreseen
from zarniwoop.pages.hosted import HostedReader, readers_of
from zarniwoop.pages.rendering import BrowserSlots
from zarniwoop.pages.site_turns import SiteTurns, site_of
from zarniwoop.stores.state import ProjectKey

MOST_SITES_AT_ONCE = 5
Made = TypeVar("Made")


class PageService:
    """Built once per execution environment; safe to use from several threads."""

    def __init__(
        self,
        *,
        fetcher: Callable[[], PageFetcher],
        ledger: Callable[[], EvidenceLedger],
        addresses: PublicAddresses,
        dispatcher: Dispatcher,
        target_of: Parse,
        most_browsers: int = 0,
    ) -> None:
        """`most_browsers` at once in the whole stack; 0 where it has none."""
        self._fetcher = fetcher
        self._ledger = ledger
        self._addresses = addresses
        self._dispatcher = dispatcher
        self._target_of = target_of
        self._turns = SiteTurns(dispatcher.fleet)
        self._slots = BrowserSlots(dispatcher.fleet, most_browsers) if most_browsers else None

    @property
    def ledger(self) -> EvidenceLedger:
        return self._ledger()

    def chain(self, scope: SearchScope, *, free_only: bool = False) -> PageChain:
        """Raises as `Dispatcher.search` does: the settings that say how pages are fetched are the project's."""
        survey = self._dispatcher.survey(scope)
        return PageChain(
            fetcher=self._fetcher(),
            turns=self._turns,
            ledger=self._ledger,
            addresses=self._addresses,
            project=ProjectKey.of(scope),
            deadline=scope.deadline,
            rules=survey.assembly.settings.fetching,
            slots=self._slots,
            readers=_readers(survey),
            load=self._dispatcher.loading(survey, scope, free_only=free_only),
        )

    def foreseen(self, urls: Sequence[str], scope: SearchScope, *, free_only: bool = False) -> tuple[ForeseenPage, ...]:
        """Raises as `chain` does."""
        survey = self._dispatcher.survey(scope)
        rules = survey.assembly.settings.fetching
        if self._slots is None:
            rules = replace(rules, browser_domains=())
        return foreseen(urls, self._target_of, rules, _readers(survey), survey, scope, free_only=free_only)


def _readers(survey: Survey) -> tuple[HostedReader, ...]:
    return readers_of(survey.assembly.settings.fetching.hosted_order, survey.assembly.candidates)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide(Generic[Made]):
    """URLs of different sites at once, within a bound; those of one site one after the other."""

    read: Callable[[str], Iterator[Made]]
    """What there is of a URL, each time more of it; the last that is there at the deadline counts."""
    late: Callable[[str], Made]
    """What stands for a URL of which nothing is there by then; its thread ends at its own deadline."""

    def all(self, urls: Sequence[str], deadline: Deadline) -> list[Made]:
        """In the order of the URLs, each of which stands there once."""
        groups = defaultdict[str, list[str]](list)
        for url in urls:
            groups[site_of(url) or ""].append(url)
        done: dict[str, Made] = {}
        pool = ThreadPoolExecutor(max_workers=min(MOST_SITES_AT_ONCE, len(groups)), thread_name_prefix="page")
        try:
            futures = [pool.submit(self._one_by_one, group, done, deadline) for group in groups.values()]
            wait(futures, timeout=deadline.remaining() + ANSWER_GRACE_SECONDS)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        for future in futures:
            _raise_what_it_raised(future)
        ready = dict(done)
        return [ready[url] if url in ready else self.late(url) for url in urls]

    def _one_by_one(self, urls: Sequence[str], done: dict[str, Made], deadline: Deadline) -> None:
        for url in urls:
            if deadline.expired:
                return
            for made in self.read(url):
                done[url] = made


def _raise_what_it_raised(future: "Future[None]") -> None:
    """A fault of ours is the call's, as it would be without threads."""
    if future.done() and not future.cancelled():
        future.result()
