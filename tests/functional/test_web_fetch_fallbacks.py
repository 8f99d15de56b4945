"""What `web_fetch` does when a page cannot be read by ourselves: hosted readers and the archive, by setting."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.fakes.addresses import FakeAddresses
from tests.fakes.certificates import certificate
from tests.fakes.page_reader import FakePageReader
from tests.fakes.web import PUBLIC, Names, Web, page
from tests.fakes.web_pages import ARTICLE_TEXT, article, bare
from tests.fakes.web_tools import WebTools, web_tools
from tests.simulator import Simulator
from zarniwoop.contract.failure import Cause
from zarniwoop.pages import browser
from zarniwoop.pages.fetcher import PageReader
from zarniwoop.wiring import Environment

HOST = "realpython.com"
BELL = f"https://{HOST}/async-io-python/"
"""A page that the simulator's readers know."""
HOSTS = (HOST, "www.example.com", "archive.org", "web.archive.org")
GONE = "http://www.example.com/gone"
SHELL = bare(
    "App",
    '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>'
    '<script src="/static/js/main.8d1f2a3b.js"></script>',
).encode()
HOSTED = {
    "fetch.hosted.order": "tavily-main,firecrawl-main",
    "research.endpoint.tavily-main.protocol": "tavily",
    "research.endpoint.firecrawl-main.protocol": "firecrawl",
    "research.endpoint.firecrawl-main.costPerCall": "0.002",
}
Opened = Callable[[Mapping[str, str]], AbstractContextManager[WebTools]]


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    with Environment({})._page_reader as made:
        yield made


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    """Everything on it needs a script, but for what a test puts there."""
    authority, shown = certificate(tmp_path, *HOSTS)
    names: Names = {host: [(PUBLIC,)] for host in HOSTS}
    with Web(names=names, tls=shown, extra_ca_file=authority, otherwise=page(SHELL)) as made:
        yield made


@pytest.fixture
def opened(simulator: Simulator, monkeypatch: pytest.MonkeyPatch, web: Web, reader: PageReader) -> Opened:
    """The tools with these settings, and keys for hosted readers."""
    simulator.reset()

    def with_settings(settings: Mapping[str, str]) -> AbstractContextManager[WebTools]:
        addresses = {
            f"research.endpoint.{name}-main.baseUrl": simulator.url(name)
            for name in ("tavily", "firecrawl")
            if f"research.endpoint.{name}-main.protocol" in settings
        }
        keys = {
            f"research.endpoint.{name}-main.apiKey": f"simulated-key-{name}"
            for name in ("tavily", "firecrawl")
            if f"research.endpoint.{name}-main.protocol" in settings
        }
        return web_tools(simulator, monkeypatch, web, {**settings, **addresses}, reader=reader, keys=keys)

    return with_settings


def _snapshot(url: str, moment: str = "20240102030405", **changes: Any) -> bytes:
    closest = {
        "status": "200",
        "available": True,
        "url": f"http://web.archive.org/web/{moment}/{url}",
        "timestamp": moment,
    }
    return orjson.dumps({"url": url, "archived_snapshots": {"closest": {**closest, **changes}}})


def _steps(page: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(step["name"], step["outcome"]) for step in page["steps"]]


def test_without_a_setting_nobody_else_is_asked(opened: Opened) -> None:
    """Endpoints alone do not make readers."""
    with opened({key: value for key, value in HOSTED.items() if key != "fetch.hosted.order"}) as tools:
        answer = tools.fetch(BELL)
        assert answer["data"]["pages"][0]["outcome"] == "needs_javascript"
        assert "fetch.hosted.order" in answer["error"]["suggested_action"]
        assert tools.stack.simulator.requests() == []


def test_a_hosted_reader_reads_what_we_cannot(opened: Opened) -> None:
    """In the setting's order; with the account of a search, and marked as what it is."""
    order = HOSTED | {"fetch.hosted.order": "firecrawl-main"}
    with opened(order) as tools:
        answer = tools.fetch(BELL, quotes=["no such words at all"])
        (read_page,) = answer["data"]["pages"]
        assert (read_page["outcome"], read_page["source_type"]) == ("ok", "hosted")
        assert _steps(read_page)[-1] == ("firecrawl-main", "ok")
        assert "needs_javascript" in [outcome for _, outcome in _steps(read_page)]
        assert answer["data"]["cost"] == 0.002
        assert [attempt["instance_id"] for attempt in read_page["attempts"]] == ["firecrawl-main"]
        (record,) = tools.stack.cloud.items("CALLS_TABLE")
        assert record["operation"]["S"] == "load"
        (kept,) = tools.evidence()
        facts = orjson.loads(kept["facts"]["S"])
        assert (facts["source_type"], facts["instance_id"]) == ("hosted", "firecrawl-main")


def test_the_next_reader_is_asked_when_one_fails(opened: Opened, simulator: Simulator) -> None:
    """Both attempts are told."""
    with opened(HOSTED) as tools:
        simulator.fault("/tavily", "500")
        read_page = tools.page(BELL)
        attempts = [(each["instance_id"], each["outcome"]) for each in read_page["attempts"]]
        assert attempts == [("tavily-main", "failure"), ("firecrawl-main", "success")]
        assert read_page["source_type"] == "hosted"


@pytest.mark.parametrize(
    ("paragraphs", "kept"), [(1, "hosted"), (40, "page")], ids=["the reader has more", "we have more"]
)
def test_a_page_that_stops_before_its_end_is_asked_of_a_hosted_reader(
    opened: Opened, web: Web, paragraphs: int, kept: str
) -> None:
    """The fuller text is kept; ours is marked as cut, and the step says that the other had no more."""
    ends = "".join(f"<p>{ARTICLE_TEXT[each % len(ARTICLE_TEXT)]}</p>" for each in range(paragraphs))
    web.pages["/async-io-python/"] = page(bare("Bells", f"<h1>Bells</h1>{ends}<p>And then it was …</p>").encode())
    with opened(HOSTED | {"fetch.hosted.order": "firecrawl-main"}) as tools:
        read_page = tools.page(BELL)
        assert read_page["outcome"] == "ok"
        assert read_page["source_type"] == kept
        assert _steps(read_page)[-1] == ("firecrawl-main", "ok")
        assert read_page["steps"][-1]["reason"] == (None if kept == "hosted" else "not_fuller")
        assert read_page["truncated"] is (kept != "hosted")
        assert [attempt["outcome"] for attempt in read_page["attempts"]] == ["success"]


def test_a_page_that_stops_before_its_end_costs_nothing_without_a_setting(opened: Opened, web: Web) -> None:
    """It is what it was, and nobody is asked, the archive included."""
    ends = "".join(f"<p>{each}</p>" for each in ARTICLE_TEXT)
    web.pages["/async-io-python/"] = page(bare("Bells", f"<h1>Bells</h1>{ends}<p>And then it was …</p>").encode())
    with opened({"fetch.archive.enabled": "true"}) as tools:
        read_page = tools.page(BELL)
        assert (read_page["outcome"], read_page["reason"], read_page["truncated"]) == ("ok", "truncated", True)
        assert len(tools.fetcher.questions) == 1


@pytest.mark.parametrize(
    "body",
    [
        '<my-app></my-app><script src="/app.js"></script>',
        '<div id="shop-frontend"></div><script src="/app.js"></script>',
        '<div id="root"></div><script src="/app.js"></script>',
    ],
)
def test_a_shell_of_whatever_make_is_rendered_on_a_named_domain(
    opened: Opened, web: Web, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    """Its text comes by scripts; on a domain that is not named it stays empty, and both say what they did."""
    monkeypatch.setattr(browser, "_MODULE", "tests.fakes.browser_process")
    web.pages["/fills"] = page(bare("Shop", body).encode())
    with opened({"fetch.browser.domains": "example.com"}) as tools:
        for environment in (tools.stack.environment, tools.fetcher.environment):
            environment._variables = {**environment._variables, "BROWSER": "chromium"}
        foreseen = tools.fetch("http://www.example.com/fills", f"https://{HOST}/", dry_run=True)["data"]["pages"]
        assert [[step["name"] for step in each["steps"]] for each in foreseen] == [["fetch", "browser"], ["fetch"]]
        read_page = tools.page("http://www.example.com/fills")
        assert read_page["outcome"] == "ok"
        assert ("browser", "ok") in _steps(read_page)
        assert [question["render"] for question in tools.fetcher.questions] == [False, True]
        (kept,) = tools.evidence()
        assert "etag" not in kept
        elsewhere = tools.page(f"https://{HOST}/fills")
        assert elsewhere["outcome"] in ("empty", "needs_javascript")
        assert "browser" not in [name for name, _ in _steps(elsewhere)]


def test_a_metered_reader_is_not_asked_for_nothing(opened: Opened) -> None:
    """`free_only`, and the step says why."""
    with opened(HOSTED | {"fetch.hosted.order": "firecrawl-main,nobody"}) as tools:
        read_page = tools.page(BELL, free_only=True)
        reasons = [(each["instance_id"], each["reason"]) for each in read_page["attempts"]]
        assert reasons == [("firecrawl-main", "metered"), ("nobody", "no_such_endpoint")]
        assert read_page["outcome"] == "needs_javascript"
        assert tools.stack.simulator.requests() == []


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://nowhere.example/", f"http://{HOST}/forbidden"])
def test_what_may_not_be_read_is_named_to_nobody(opened: Opened, web: Web, url: str) -> None:
    """An address that is none for us, a name that leads nowhere, and what robots.txt forbids."""
    web.robots = page(b"User-agent: *\nDisallow: /forbidden\n", headers={"Content-Type": "text/plain"})
    with opened(HOSTED | {"fetch.archive.enabled": "true"}) as tools:
        outcome = tools.page(url)["outcome"]
        assert outcome in ("address_refused", "unavailable", "robots_disallowed")
        assert tools.stack.simulator.requests() == []
        assert not [each for each in web.requests if each.headers["host"] == "archive.org"]


@pytest.mark.parametrize(
    ("cause", "outcome", "reason"),
    [
        (Cause.ADDRESS, "address_refused", "not_public"),
        (Cause.DNS, "unavailable", "dns"),
    ],
)
def test_a_page_that_is_named_to_nobody_says_why(opened: Opened, cause: Cause, outcome: str, reason: str) -> None:
    """The same word of hosted readers, who are not asked, and of the archive; a name that is unknown is another."""
    with opened(HOSTED | {"fetch.archive.enabled": "true"}) as tools:
        tools.stack.environment.__dict__["_addresses"] = FakeAddresses(cause)
        read_page = tools.page(BELL)
        told = [(each["name"], each["outcome"], each["reason"]) for each in read_page["steps"]][-3:]
        assert told == [(name, outcome, reason) for name in ("tavily-main", "firecrawl-main", "archive")]
        assert tools.stack.simulator.requests() == []


def test_robots_are_not_asked_where_the_setting_says_so(opened: Opened, web: Web) -> None:
    """For hosts that are one's own."""
    web.robots = page(b"User-agent: *\nDisallow: /\n", headers={"Content-Type": "text/plain"})
    web.pages["/gone"] = page(article("Bells").encode())
    with opened({"fetch.robots": "false"}) as tools:
        assert tools.page(GONE)["outcome"] == "ok"
    assert web.robots_requests == []


def test_a_page_that_is_gone_is_looked_up_in_the_archive(opened: Opened, web: Web) -> None:
    """Its look-up and its snapshot go through the same fetcher; the evidence is of the asked URL, and marked."""
    web.pages["/gone"] = page(b"<p>gone</p>", status=404)
    web.pages["archive.org/wayback/available"] = page(_snapshot(GONE), headers={"Content-Type": "application/json"})
    web.pages[f"web.archive.org/web/20240102030405id_/{GONE}"] = page(article("Bells").encode())
    with opened({"fetch.archive.enabled": "true"}) as tools:
        answer = tools.fetch(GONE)
        (read_page,) = answer["data"]["pages"]
        assert (read_page["outcome"], read_page["source_type"]) == ("ok", "archive")
        assert read_page["archived_at"] == "20240102030405"
        assert read_page["final_url"] == f"https://web.archive.org/web/20240102030405id_/{GONE}"
        assert ("archive", "ok") in _steps(read_page)
        (link,) = answer["evidence"]
        assert (link["url"], link["source_type"]) == (GONE, "archive")
        assert [question["url"].split("/")[2] for question in tools.fetcher.questions] == [
            "www.example.com",
            "archive.org",
            "web.archive.org",
        ]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (b'{"url": "x", "archived_snapshots": {}}', "no_snapshot"),
        (b'{"archived_snapshots": {"closest": {"available": true, "status": "200", "url": "http://evil.test/"}}}',
         "no_snapshot"),
        (_snapshot(GONE, status="404"), "no_snapshot"),
        (_snapshot(GONE, available=False), "no_snapshot"),
        (b"[]", "no_snapshot"),
        (b"{", "no_snapshot"),
    ],
)  # fmt: skip
def test_an_archive_that_has_nothing_leaves_the_page_as_it_was(
    opened: Opened, web: Web, told: bytes, reason: str
) -> None:
    """Nor is any other address followed than the archive's own."""
    web.pages["/gone"] = page(b"<p>gone</p>", status=404)
    web.pages["archive.org/wayback/available"] = page(told, headers={"Content-Type": "application/json"})
    with opened({"fetch.archive.enabled": "true"}) as tools:
        read_page = tools.page(GONE)
    assert read_page["outcome"] == "not_found"
    assert (read_page["steps"][-1]["name"], read_page["steps"][-1]["reason"]) == ("archive", reason)


def test_a_snapshot_that_cannot_be_read_is_told_of_and_no_evidence(opened: Opened, web: Web) -> None:
    """The outcome stays that of the page itself."""
    web.pages["/gone"] = page(b"<p>gone</p>", status=404)
    web.pages["archive.org/wayback/available"] = page(_snapshot(GONE), headers={"Content-Type": "application/json"})
    web.pages[f"web.archive.org/web/20240102030405id_/{GONE}"] = page(b"busy", status=503)
    with opened({"fetch.archive.enabled": "true"}) as tools:
        answer = tools.fetch(GONE)
        assert answer["data"]["pages"][0]["outcome"] == "not_found"
        assert ("archive", "unavailable") in _steps(answer["data"]["pages"][0])
        assert tools.evidence() == []


def test_a_page_of_the_inside_is_named_to_no_archive(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch, web: Web
) -> None:
    """What the operator opened for us is nobody else's."""
    web.names["wiki.corp.example"] = [("10.0.0.7",)]
    with web_tools(simulator, monkeypatch, web, {"fetch.archive.enabled": "true"}, reader=FakePageReader()) as tools:
        network: dict[str, Any] = web.network
        tools.fetcher.environment.__dict__["_web"] = tools.fetcher.environment.web_over(**network)
        answer = tools.fetch("http://wiki.corp.example/missing")
        assert answer["data"]["pages"][0]["outcome"] == "address_refused"
        assert not [question for question in tools.fetcher.questions if "archive.org" in question["url"]]
