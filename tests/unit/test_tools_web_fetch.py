"""`web_fetch` on a store that is slow: pages that were read are not lost by their keeping."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from tests.fakes.evidence import read as page_read
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.request import SearchScope
from zarniwoop.observe.clock import SystemClock
from zarniwoop.pages.chain import Reading
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.tools.fetched import FetchedPages
from zarniwoop.tools.tool import ToolServices
from zarniwoop.tools.web_fetch import FetchArguments, fetch

URLS = ("https://a.example/bells", "https://b.example/bells")


@dataclass
class SlowPages:
    """`PageService`, its chain and its ledger at once: everything is read at once, and nothing is ever kept."""

    hold: threading.Event = field(default_factory=threading.Event)

    def chain(self, _scope: SearchScope, **_named: Any) -> "SlowPages":
        return self

    @property
    def ledger(self) -> "SlowPages":
        return self

    def read(self, url: str, **_named: Any) -> Reading:
        return Reading(answer=page_read(url))

    def keep_page(self, *_given: Any, **_named: Any) -> None:
        self.hold.wait(5.0)
        raise StoreUnavailable("too late")


@dataclass
class Services:
    """What `web_fetch` needs of `ToolServices`."""

    made: SlowPages

    def pages(self) -> SlowPages:
        return self.made


@pytest.fixture
def slow() -> Iterator[SlowPages]:
    made = SlowPages()
    yield made
    made.hold.set()


def test_a_page_whose_keeping_is_late_is_given_out(slow: SlowPages) -> None:
    """With its text and its quotes; that there is no evidence is said."""
    scope = SearchScope(tenant_id="acme", project_id="demo", deadline=Deadline.after(1.0, SystemClock()))
    arguments = FetchArguments(urls=URLS, quotes=("the lathe",))
    answer = fetch(arguments, scope, cast(ToolServices, Services(slow)))
    assert isinstance(answer.data, FetchedPages)
    assert (answer.ok, answer.evidence) == (True, ())
    for page in answer.data.pages:
        assert (page.outcome, page.not_kept, page.evidence_id) == ("ok", "out_of_time", None)
        assert "lathe" in (page.content or "")
        assert [quote.stands for quote in page.quotes] == [True]
