"""The simulator's web: pages, validators, moves and walls as sites have them, and as the fetching function reads."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import httpx
import pytest

from tests.fakes.cloud import LambdaContext
from tests.simulator import Simulator
from zarniwoop.entry.page_fetcher import page_fetcher
from zarniwoop.extract.page_reader import PageReader
from zarniwoop.wiring import Environment

_READ = {
    "mills/": ("trafilatura", "forty volunteers who keep the tide mill"),
    "mills/history": ("trafilatura", "marked with a small moon"),
    "mills/table": ("trafilatura", "| Gull Creek | 1584 | 7.5 | turns on spring tides |"),
    "mills/visit": ("trafilatura", "Admission is four pounds"),
    "mills/survey.pdf": ("pdf", "The gates of elm are sound."),
    "mills/notes.md": ("markdown", "A pair of stones is dressed after every hundred tons of grain."),
    "mills/tides.json": ("json", '"level": 4.1'),
    "mills/feed.xml": ("feed", "Two hundred and eleven on one tide"),
    "mills/old-history": ("trafilatura", "marked with a small moon"),
    "charsets/header": ("trafilatura", "fünfzig Minuten später als am Tag davor"),
    "charsets/meta": ("trafilatura", "als Stufen vor der Kirche"),
    "charsets/japanese": ("trafilatura", "潮汐水車は、満ち潮のときに池へ海水をため"),
    "charsets/byte-order-mark": ("trafilatura", "潮汐水車は、満ち潮のときに池へ海水をため"),
}
"""Path, who reads it, and words that stand in its text."""
_ENDS = {
    "walls/bot": ("blocked", "bot_wall"),
    "walls/login": ("login_required", "login"),
    "walls/consent": ("consent_required", "consent"),
    "walls/javascript": ("needs_javascript", "script_shell"),
    "walls/missing": ("soft_404", "says_not_found"),
    "walls/empty": ("empty", "too_little_text"),
    "walls/nowhere": ("not_found", "status_404"),
    "private/minutes": ("robots_disallowed", "robots"),
    "moves/round": ("unavailable", "too_many_redirects"),
    "moves/metadata": ("address_refused", "address_refused"),
    "moves/localhost": ("address_refused", "address_refused"),
    "moves/file": ("address_refused", "address_refused"),
}


@contextmanager
def _fetching(simulator: Simulator) -> Iterator[Environment]:
    """The fetching function's environment, with the simulator's port opened to it as on a local stack."""
    made = Environment({"FETCH_ALLOWED_NETWORKS": f"127.0.0.1:{simulator.port}", "CONTACT": "tests@example.com"})
    with closing(made.web_over()) as transport, PageReader() as reader:
        made.__dict__ |= {"_web": transport, "_page_reader": reader}
        yield made


@pytest.fixture(scope="module")
def environment(running: Simulator) -> Iterator[Environment]:
    with _fetching(running) as made:
        yield made


def _fetched(environment: Environment, url: str, **asked: Any) -> dict[str, Any]:
    return page_fetcher(lambda: environment)({"url": url, "seconds": 8.0, **asked}, LambdaContext())


@pytest.mark.parametrize("path", _READ)
def test_a_page_is_read(simulator: Simulator, environment: Environment, path: str) -> None:
    """Whatever it is written in, and in whatever charset."""
    answer = _fetched(environment, simulator.page_url(path))
    assert (answer["outcome"], answer["page"]["extractor"]) == ("ok", _READ[path][0])
    assert _READ[path][1] in answer["page"]["markdown"]


@pytest.mark.parametrize("path", _ENDS)
def test_what_is_no_page_ends_as_what_it_is(simulator: Simulator, environment: Environment, path: str) -> None:
    """Walls, closed doors, and moves that lead where nobody may go."""
    answer = _fetched(environment, simulator.page_url(path))
    assert (answer["outcome"], answer["reason"]) == _ENDS[path]


def test_words_that_no_reader_sees_are_taken_out_and_counted(simulator: Simulator, environment: Environment) -> None:
    """One paragraph outside of the screen, one that is not displayed."""
    page = _fetched(environment, simulator.page_url("mills/visit"))["page"]
    assert "password" not in page["markdown"] + str(page["title"])
    assert sum(page["hidden"].values()) >= 2


def test_a_page_with_the_same_validators_is_not_sent_again(simulator: Simulator, client: httpx.Client) -> None:
    """By its ETag, weak or among others, or else by its date; an ETag that is another's goes before the date."""
    first = client.get("/web/mills/history")
    etag, date = first.headers["etag"], first.headers["last-modified"]
    for known in (
        {"If-None-Match": etag},
        {"If-None-Match": f'"other", W/{etag}'},
        {"If-None-Match": "*"},
        {"If-Modified-Since": date},
    ):
        again = client.get("/web/mills/history", headers=known)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    for other in ({"If-None-Match": '"other"', "If-Modified-Since": date}, {"If-Modified-Since": "yesterday"}):
        assert client.get("/web/mills/history", headers=other).content == first.content


def test_a_page_changes_on_demand_and_comes_back(simulator: Simulator, client: httpx.Client) -> None:
    """Other words with other validators, another status, and all as before after a reset."""
    before = client.get("/web/mills/history")
    changed = client.post(
        "/_control/pages", json={"path": "/web/mills/history", "find": "small moon", "put": "little star"}
    )
    after = client.get("/web/mills/history", headers={"If-None-Match": before.headers["etag"]})
    assert (changed.status_code, after.status_code) == (200, 200)
    assert "little star" in after.text
    assert after.headers["etag"] != before.headers["etag"]
    client.post("/_control/pages", json={"path": "/web/mills/history", "status": 410})
    assert client.get("/web/mills/history").status_code == 410
    client.request("DELETE", "/_control/pages")
    assert client.get("/web/mills/history").content == before.content


@pytest.mark.parametrize("asked", [{}, {"path": "/web/nowhere"}, {"path": "/web/mills/history", "find": "no"}, 7])
def test_a_change_of_what_is_not_there_is_refused(client: httpx.Client, simulator: Simulator, asked: Any) -> None:
    """In process with an error, over control with 400."""
    if asked == {"path": "/web/mills/history", "find": "no"}:
        asked = {**asked, "find": "words that stand nowhere"}
    assert client.post("/_control/pages", json=asked).status_code == 400
    with pytest.raises(ValueError, match="no such page"):
        simulator.change_page("nowhere")


def test_only_reading_is_possible(client: httpx.Client, simulator: Simulator) -> None:
    """A refusal is a page, as a site's is."""
    answer = client.post("/web/mills/history")
    assert (answer.status_code, answer.headers["content-type"]) == (405, "text/html; charset=utf-8")


@pytest.mark.parametrize(
    ("fault", "options", "outcome", "reason"),
    [
        ("429", {"retry_after": 7}, "rate_limited", "status_429"),
        ("503", {}, "unavailable", "status_503"),
        ("empty", {}, "not_found", "status_404"),
        ("reset", {}, "unavailable", "reset"),
        ("truncated", {}, "malformed", "truncated"),
        ("gzip", {}, "ok", None),
        ("gzip-bomb", {"megabytes": 20}, "too_large", "body_too_large"),
        ("big-header", {}, "too_large", "headers_too_large"),
        ("redirect-out", {}, "address_refused", "address_refused"),
        ("drip", {"interval": 0.2}, "out_of_time", "deadline"),
    ],
)
def test_pages_go_wrong_by_the_rules_for_faults(
    simulator: Simulator,
    environment: Environment,
    fault: str,
    options: dict[str, Any],
    outcome: str,
    reason: str | None,
) -> None:
    """By prefix, so that robots.txt stays whole."""
    simulator.fault("/web/", fault, **options)
    answer = _fetched(environment, simulator.page_url("mills/history"), seconds=1.0)
    assert (answer["outcome"], answer["reason"]) == (outcome, reason)
    assert answer["retry_after"] == options.get("retry_after")


def test_a_fault_in_the_path_is_a_page_s_for_ever(simulator: Simulator, environment: Environment) -> None:
    """Without a rule."""
    answer = _fetched(environment, simulator.page_url("mills/history", fault="403"))
    assert (answer["outcome"], answer["status"]) == ("blocked", 403)


def test_a_robots_file_that_cannot_be_had_closes_the_site(simulator: Simulator) -> None:
    """Read anew by an environment that knows nothing yet."""
    simulator.fault("/robots.txt", "503")
    with _fetching(simulator) as fresh:
        answer = _fetched(fresh, simulator.page_url("mills/history"))
    assert (answer["outcome"], answer["reason"]) == ("unavailable", "robots_unreachable")


def test_a_search_finds_pages_that_can_be_fetched(
    simulator: Simulator, client: httpx.Client, environment: Environment
) -> None:
    """At the simulator's own address, by every search of the web."""
    asked = {"q": "tide mill"}
    found = client.post("/serper/search", json=asked, headers={"X-API-KEY": "key-0123456789"}).json()["organic"]
    assert {each["link"] for each in found} == {
        simulator.page_url(f"mills/{name}") for name in ("history", "table", "visit", "survey.pdf")
    }
    for each in found:
        assert _fetched(environment, each["link"])["outcome"] == "ok"


def test_the_journal_tells_who_asked_for_what(simulator: Simulator, environment: Environment) -> None:
    """With the names of headers, by which a conditional request is known."""
    url = simulator.page_url("mills/history")
    etag = _fetched(environment, url)["etag"]
    assert _fetched(environment, url, etag=etag, known_url=url)["outcome"] == "not_modified"
    seen = [each for each in simulator.requests() if each.path == "/web/mills/history"]
    assert ["if-none-match" in each.header_names for each in seen] == [False, True]


def test_a_page_that_nobody_else_reaches_is_known_to_the_hosted_reader(client: httpx.Client) -> None:
    """On a network that was given back, so that no test asks a stranger."""
    asked = {"url": "https://[3ffe::1]/mills/closed", "formats": ["markdown"]}
    told = client.post("/firecrawl/v2/scrape", json=asked, headers={"Authorization": "Bearer key-0123456789"}).json()
    assert told["data"]["metadata"]["statusCode"] == 200
    assert "sold for its iron" in told["data"]["markdown"]
