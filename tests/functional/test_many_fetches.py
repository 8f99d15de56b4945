"""A thousand fetches of two hundred pages through `web_fetch`: what is asked of whom, and how much of it is kept."""

from collections import Counter

from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.evidence import DEMO, FakePages, hit, page, read
from tests.fakes.web_tools import NO_PAUSE
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.page import PageAnswer, PageOutcome, PageQuestion
from zarniwoop.entry.tool import tool
from zarniwoop.evidence.ledger import EvidenceLedger
from zarniwoop.tools.web_fetch import MOST_URLS, WEB_FETCH

PAGES, TEXTS, ROUNDS = 200, 160, 5
URLS = [f"https://site{number % 40}.example/page/{number}" for number in range(PAGES)]


class Revalidating(FakePages):
    """Every second page has a validator, and is not sent to whoever knows it."""

    def fetch(self, question: PageQuestion, *, deadline: Deadline) -> PageAnswer:
        found = super().fetch(question, deadline=deadline)
        if question.etag is None:
            return found
        return read(question.url, outcome=PageOutcome.NOT_MODIFIED, status=304, page=None, etag=question.etag)


def text_of(number: int) -> str:
    """Forty pages are copies of others."""
    return f"Text number {number % TEXTS}, which is one of many.\n"


def test_a_thousand_fetches_of_two_hundred_pages_keep_one_body_per_text() -> None:
    """Uploaded once, whatever page says it and however often it is fetched; each page is one evidence."""
    pages = Revalidating(
        {
            url: read(url, page(text_of(number)), etag=f'"{number}"' if number % 2 else None)
            for number, url in enumerate(URLS)
        }
    )
    environment = FakeEnvironment(settings=NO_PAUSE)
    environment.__dict__["page_fetcher"] = pages
    handler = tool(WEB_FETCH, lambda: environment)
    ids: Counter[str] = Counter()
    for begin in range(0, ROUNDS * PAGES, MOST_URLS):
        urls = [URLS[(begin + offset) % PAGES] for offset in range(MOST_URLS)]
        event = {"scope": {"tenant_id": "acme", "project_id": "demo"}, "arguments": {"urls": urls}}
        answer = handler(event, LambdaContext())
        for read_page, url in zip(answer["data"]["pages"], urls, strict=True):
            assert text_of(URLS.index(url)) in read_page["content"]
        assert [link["url"] for link in answer["evidence"]] == urls
        ids.update(link["id"] for link in answer["evidence"])
    assert (len(ids), set(ids.values())) == (PAGES, {ROUNDS})
    assert len(environment.fake_evidence.bodies.uploads) == TEXTS
    assert len(pages.asked) == ROUNDS * PAGES
    assert sum(question.etag is not None for question in pages.asked) == (ROUNDS - 1) * PAGES // 2


def test_a_page_is_weighed_with_what_a_search_had_said_of_it() -> None:
    """A hit that was marked as retracted, and its identifiers; by the one look at the URL that is taken anyway."""
    url = "https://example.com/bells"
    environment = FakeEnvironment(settings=NO_PAUSE)
    pages = FakePages({url: read(url, page("# Bells\n\nA bell of four tonnes.\n"), etag='"1"')})
    environment.__dict__["page_fetcher"] = pages
    marked = hit(identifiers={"doi": "10.1000/bells"}, extras={"is_retracted": True})
    EvidenceLedger(store=environment.fake_evidence, clock=environment.clock).keep_hit(DEMO, marked, instance_id="a")
    handler = tool(WEB_FETCH, lambda: environment)
    event = {"scope": {"tenant_id": "acme", "project_id": "demo"}, "arguments": {"urls": [url]}}
    for outcome in ("ok", "not_modified"):
        looked = environment.fake_evidence.calls["list"]
        answer = handler(event, LambdaContext())
        assert environment.fake_evidence.calls["list"] == looked + 1
        assert answer["data"]["pages"][0]["outcome"] == outcome
        kept = environment.fake_evidence.get(DEMO, answer["evidence"][0]["id"])
        assert kept is not None
        values = {signal.name: signal.value for signal in kept.signals}
        assert (values["retraction"], values["identifiers"]) == ("retracted", "doi")
        assert kept.credibility_score == 0.0
        pages.answers[url] = read(url, outcome=PageOutcome.NOT_MODIFIED, status=304, page=None, etag='"1"')
