"""A page fetched through an entry point of the product, on a web of the test's own.

`FetchPage` is what the corpora are run against: another entry point is another function that returns one.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import orjson

from tests.fakes.cloud import LambdaContext
from tests.fakes.research import Research
from tests.fakes.web import Web
from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion
from zarniwoop.entry.page_fetcher import page_fetcher
from zarniwoop.pages.fetcher import PageReader
from zarniwoop.pages.rendering import BrowserSlots, may_be_rendered, rendered
from zarniwoop.wiring import Environment

_MOST_MOVES = 5


@dataclass(frozen=True)
class Fetched:
    """How a fetch ended, and all that the caller was told of it, as JSON."""

    outcome: PageOutcome
    reason: str | None
    status: int | None
    told: str


FetchPage = Callable[[str], Fetched]


@contextmanager
def environment_on(
    web: Web,
    reader: PageReader | None = None,
    variables: Mapping[str, str] | None = None,
    *,
    clock: Clock | None = None,
) -> Iterator[Environment]:
    """The fetching function's, with the test's network; with a reader of the test's own, if one is given."""
    made = Environment({"CONTACT": "tests@example.com", **(variables or {})}, clock=clock)
    network: dict[str, Any] = web.network
    with closing(made.web_over(**network)) as transport, closing(made.web_over(opened=False, **network)) as internet:
        made.__dict__.update({"_web": transport, "_internet": internet})
        if reader is not None:
            made.__dict__["_page_reader"] = reader
        yield made


def with_browser(environment: Environment, question: PageQuestion) -> PageAnswer:
    """The page, and what a browser makes of it where the chain would ask for one."""
    deadline = Deadline.after(question.seconds, environment.clock)
    fetcher = environment.local_fetcher
    answer = fetcher.fetch(question, deadline=deadline)
    if not environment._has_browser or not may_be_rendered(answer, question.browser_domains):
        return answer
    slots = BrowserSlots(Research(scripts={}).dispatcher.fleet)
    return rendered(answer, replace(question, url=answer.final_url, render=True), fetcher, slots, deadline)


def through_page_fetcher(environment: Environment, **asked: Any) -> FetchPage:
    """The handler of `page_fetcher`, asked again where a page has moved to another site, as its askers do."""
    handler = page_fetcher(lambda: environment)

    def fetch_page(url: str) -> Fetched:
        told: list[Mapping[str, Any]] = []
        goal: str | None = url
        while goal is not None and len(told) <= _MOST_MOVES:
            answer = handler({"url": goal, "seconds": 5.0, **asked}, LambdaContext())
            told.append(answer)
            goal = answer["moved_to"]
        last = told[-1]
        return Fetched(PageOutcome(last["outcome"]), last["reason"], last["status"], orjson.dumps(told).decode())

    return fetch_page
