"""A fetcher that waits for its turn at each site, and follows a page from one to the other: for who needs no chain."""

from dataclasses import dataclass

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import FetcherFault, FetcherUnavailable, PageAnswer, PageQuestion
from zarniwoop.pages.chain import PageChain

_FAULTS = frozenset(fault.value for fault in FetcherFault)


@dataclass(frozen=True, slots=True, kw_only=True)
class InTurn:
    """`contract.page.PageFetcher` over the chain of one call, by the settings and within the deadline of that."""

    chain: PageChain

    def fetch(self, question: PageQuestion, *, deadline: Deadline) -> PageAnswer:  # noqa: ARG002 - the chain has one
        answer = self.chain.fetched_anew(question.url)
        if answer.reason in _FAULTS:
            raise FetcherUnavailable(FetcherFault(answer.reason))
        return answer
