"""Every gold page through `web_fetch`: only what ends `ok` becomes evidence, and no outcome denies its steps."""

import json
from collections.abc import Iterator

import pytest

from tests.benchmarks.gold import GoldPage, gold_pages
from tests.fakes.environment import FakeEnvironment
from tests.fakes.fetching import FetchPage, environment_on
from tests.fakes.origin import reply
from tests.fakes.web import PUBLIC, Web
from tests.fakes.web_tools import InProcessLambda, through_web_fetch
from zarniwoop.pages.remote import RemoteFetcher

HOST = "www.example.com"
PAGES = {page.name: page for page in gold_pages()}


@pytest.fixture(scope="module")
def fetch() -> Iterator[FetchPage]:
    """`web_fetch` on a web of the gold pages, read in a process as an environment keeps it."""
    sent = {f"/{name}": reply(page.body, status=page.status, headers=_headers(page)) for name, page in PAGES.items()}
    with Web(names={HOST: [(PUBLIC,)]}, pages=sent) as web, environment_on(web) as fetching, fetching._page_reader:
        asking = FakeEnvironment()
        fetcher = InProcessLambda(fetching)
        asking.__dict__["page_fetcher"] = RemoteFetcher(lambda _seconds: fetcher, "page-fetcher")
        yield through_web_fetch(asking)


def _headers(page: GoldPage) -> dict[str, str]:
    charset = f"; charset={page.charset}" if page.charset else ""
    return {"Content-Type": f"{page.media_type}{charset}"} if page.media_type else {}


@pytest.mark.parametrize("name", PAGES)
def test_only_pages_are_evidence_and_no_outcome_denies_its_steps(fetch: FetchPage, name: str) -> None:
    """If no step but the fetch itself says `ok`, the page is not; if the page is not, nothing of it is evidence."""
    answer = json.loads(fetch(f"http://{HOST}/{name}").told)
    (page,) = answer["data"]["pages"]
    assert page["outcome"] == PAGES[name].outcome.value
    steps = [step["outcome"] for step in page["steps"] if step["name"] != "fetch"]
    assert ("ok" in steps) is PAGES[name].is_good
    assert [link["id"] for link in answer["evidence"]] == ([page["evidence_id"]] if PAGES[name].is_good else [])
