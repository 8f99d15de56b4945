"""Pages on the deployed template with IAM enforced: read, kept, quoted, verified, cited; and what is out of reach."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from stack.running import Stack
from stack.token import Wanted, issue
from tests.e2e.investigations import aws
from zarniwoop.settings.levels import Place
from zarniwoop.settings.writer import SsmSettingsWriter

pytestmark = pytest.mark.e2e

HISTORY = "mills/history"
QUOTE = "the nights of work are marked with a small moon"
WITHIN_SECONDS = 20.0
UNREACHED = "https://[3ffe::1]/mills/closed"
"""Public, and on a network that was given back in 2006: nobody answers there. The simulated Firecrawl has it."""
INSIDE = (
    "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
    "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
    "http://[::ffff:169.254.169.254]/",
    "http://2852039166/",
    "file:///proc/self/environ",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A project's evidence over HTTP, and the simulator's web, which it reads."""

    stack: Stack
    api: httpx.Client
    web: httpx.Client
    project_id: str = "pages"

    def url(self, path: str) -> str:
        return f"{self.stack.simulator_url}/web/{path}"

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self.api.post(f"/v1/tools/{tool}", json={"project_id": self.project_id, **arguments})
        assert answer.status_code == 200, answer.text
        envelope: dict[str, Any] = answer.json()
        return envelope

    def read(self, *urls: str, **arguments: Any) -> list[dict[str, Any]]:
        pages: list[dict[str, Any]] = self.call("web_fetch", urls=urls, **arguments)["data"]["pages"]
        return pages

    def evidence(self, method: str, path: str = "", *, status: int = 200, **asked: str | int) -> Any:
        answer = self.api.request(method, f"/v1/evidence{path}", params={"project_id": self.project_id, **asked})
        assert answer.status_code == status, answer.text
        return answer.json()["data"]

    def save(self, key: str, value: str) -> None:
        """A setting of this project alone; before its first call, or it is seen minutes later."""
        writer = SsmSettingsWriter(aws(self.stack, "ssm"), self.stack.outputs["SettingsRoot"])
        writer.put(Place(tenant_id=self.stack.tenant_id, project_id=self.project_id), key, value)

    def asked_for(self, path: str = "") -> list[dict[str, Any]]:
        """The requests for pages, by the simulator's journal."""
        seen = self.web.get("/_control/requests").json()
        return sorted((each for each in seen if each["path"].startswith(f"/web/{path}")), key=lambda each: each["at"])


@pytest.fixture(scope="module")
def reader(stack: Stack) -> Iterator[httpx.Client]:
    """Somebody who may read for every project of the tenant."""
    token = issue(stack.target, Wanted(tenant_id=stack.tenant_id, projects=("*",)))
    with httpx.Client(
        base_url=stack.api_url, headers={"Authorization": f"Bearer {token}"}, timeout=40, trust_env=False
    ) as client:
        yield client


@pytest.fixture
def open_desk(stack: Stack, reader: httpx.Client) -> Iterator[Callable[..., Desk]]:
    """A desk for a project, with settings of its own; the simulator's web is whole before and after."""
    assert stack.simulator_url is not None
    with httpx.Client(base_url=stack.simulator_url, trust_env=False) as web:

        def opened(project_id: str, settings: dict[str, str] | None = None) -> Desk:
            made = Desk(stack=stack, api=reader, web=web, project_id=project_id)
            for key, value in (settings or {}).items():
                made.save(key, value)
            return made

        _clean(web)
        yield opened
        _clean(web)


def _clean(web: httpx.Client) -> None:
    for what in ("requests", "pages", "faults"):
        web.request("DELETE", f"/_control/{what}").raise_for_status()


@pytest.fixture
def desk(open_desk: Callable[..., Desk]) -> Desk:
    """One whose sites are not left alone between two pages, so that the tests are quick."""
    return open_desk("pages", {"fetch.site.intervalMs": "0"})


def test_a_page_is_read_and_kept_with_the_quote_that_stands(desk: Desk) -> None:
    """Its text in a fence, the chain's steps, and characters of the stored text at the quote's offsets."""
    envelope = desk.call("web_fetch", urls=[desk.url(HISTORY)], quotes=[QUOTE, "the miller slept all night"])
    (page,) = envelope["data"]["pages"]
    assert (page["outcome"], page["title"], page["language"]) == ("ok", "How a tide mill works", "en")
    assert page["content"].startswith(f"<<<UNTRUSTED {envelope['data']['fence']}\n")
    assert [step["name"] for step in page["steps"]] == ["fetch", "trafilatura"]
    stands, refused = page["quotes"]
    assert (stands["stands"], stands["text"], refused["stands"]) == (True, QUOTE, False)
    (link,) = envelope["evidence"]
    assert link["href"] == f"/v1/evidence/{page['evidence_id']}?project_id=pages"
    start, size = stands["start"], stands["end"] - stands["start"]
    read = desk.evidence("GET", f"/{page['evidence_id']}", offset=start, text_chars=size)
    assert read["content"] == f"<<<UNTRUSTED {read['fence']}\n{QUOTE}\nUNTRUSTED {read['fence']}>>>"
    assert (read["untrusted"], read["next_offset"]) == (True, start + size)
    assert [quote["text"] for quote in read["evidence"]["quotes"]] == [QUOTE]


def test_a_page_that_has_not_changed_is_not_sent_again(desk: Desk) -> None:
    """The second question carries the validators of the first answer, and the text is the stored one."""
    (first,) = desk.read(desk.url("mills/table"))
    (second,) = desk.read(desk.url("mills/table"))
    assert (first["outcome"], second["outcome"]) == ("ok", "not_modified")
    assert ["if-none-match" in each["header_names"] for each in desk.asked_for("mills/table")] == [False, True]
    assert second["content_chars"] == first["content_chars"]
    assert second["evidence_id"] == first["evidence_id"]


def test_what_was_read_is_listed_and_cited(desk: Desk) -> None:
    """By both ways in, for a task; references in three formats."""
    (page,) = desk.read(desk.url("mills/survey.pdf"), task_id="survey")
    listed = desk.evidence("GET", task_id="survey")["evidence"]
    assert [(each["id"], each["source_type"]) for each in listed] == [(page["evidence_id"], "pdf")]
    by_tool = desk.call("evidence_store", action="list", task_id="survey")["data"]["evidence"]
    assert [each["id"] for each in by_tool] == [page["evidence_id"]]
    cited = {
        shape: desk.call("evidence_store", action="cite", ids=[page["evidence_id"]], format=shape)["data"]
        for shape in ("csl-json", "bibtex", "markdown")
    }
    assert cited["csl-json"]["items"][0]["URL"] == desk.url("mills/survey.pdf")
    assert cited["bibtex"]["text"].startswith("@")
    assert "Survey of the dam" in cited["markdown"]["text"]


def test_verify_tells_what_has_changed_quote_by_quote(desk: Desk) -> None:
    """Unchanged, drifted with one quote gone and one that stands, gone; and nothing is stored by it."""
    kept = "shut in there when the water outside begins to fall"
    (page,) = desk.read(desk.url(HISTORY), quotes=[QUOTE, kept], task_id="verify")
    path = f"/{page['evidence_id']}/verify"
    assert desk.evidence("POST", path)["verdict"] == "unchanged"
    change = {"path": f"/web/{HISTORY}", "find": "a small moon", "put": "a little star"}
    desk.web.post("/_control/pages", json=change).raise_for_status()
    drifted = desk.evidence("POST", path)
    verdicts = {quote["text"]: quote["verdict"] for quote in drifted["quotes"]}
    assert (drifted["verdict"], verdicts[QUOTE], verdicts[kept]) == ("drifted", "gone", "stands")
    desk.web.post("/_control/pages", json={"path": f"/web/{HISTORY}", "status": 410}).raise_for_status()
    assert desk.evidence("POST", path)["verdict"] == "gone"
    assert desk.evidence("GET", path.removesuffix("/verify"), text_chars=0)["evidence"]["quotes"]


@pytest.mark.parametrize("attack", [*INSIDE, "moves/metadata", "moves/localhost", "moves/file"])
def test_no_page_of_the_inside_is_read(desk: Desk, attack: str) -> None:
    """Whether it is named, or another page leads there; and what was refused is no evidence."""
    envelope = desk.call("web_fetch", urls=[attack if ":" in attack else desk.url(attack)])
    (page,) = envelope["data"]["pages"]
    assert (page["outcome"], page["content"], page["evidence_id"]) == ("address_refused", None, None)
    assert (envelope["ok"], envelope["error"]["retryable"], envelope["evidence"]) == (False, False, [])


def test_no_port_but_the_simulators_is_open_to_pages(desk: Desk) -> None:
    """Not the emulator's, which is AWS here, and not the model's, although both are open to providers."""
    for server in (desk.stack.endpoint_url, desk.stack.model_url):
        (page,) = desk.read(f"{server}/health")
        assert (page["outcome"], page["status"]) == ("address_refused", None)


def test_a_refused_page_does_not_keep_the_one_beside_it_from_being_read(desk: Desk) -> None:
    """Each URL has an outcome of its own."""
    refused, read = desk.read(INSIDE[0], desk.url("mills/notes.md"), refresh=True)
    assert (refused["outcome"], read["outcome"]) == ("address_refused", "ok")


def test_walls_are_told_and_never_become_evidence(desk: Desk) -> None:
    """Six of them and a closed door, each by its own word."""
    ends = {
        "walls/bot": "blocked",
        "walls/login": "login_required",
        "walls/consent": "consent_required",
        "walls/javascript": "needs_javascript",
        "walls/missing": "soft_404",
        "walls/empty": "empty",
        "private/minutes": "robots_disallowed",
    }
    envelope = desk.call("web_fetch", urls=[desk.url(path) for path in ends], task_id="walls")
    assert [page["outcome"] for page in envelope["data"]["pages"]] == list(ends.values())
    assert (envelope["ok"], envelope["evidence"]) == (False, [])
    assert desk.evidence("GET", task_id="walls")["evidence"] == []
    assert not desk.asked_for("private")


def test_what_a_search_finds_is_kept_and_can_be_fetched(desk: Desk) -> None:
    """Each hit as evidence of its own kind, and its page as another."""
    envelope = desk.call("web_search", query="tide mill", max_results=2)
    hits = envelope["data"]["hits"]
    kept = [desk.evidence("GET", f"/{link['id']}")["evidence"] for link in envelope["evidence"]]
    assert [each["source_type"] for each in kept] == ["search_hit", "search_hit"]
    assert [each["url"] for each in kept] == [hit["url"] for hit in hits]
    assert {page["outcome"] for page in desk.read(*(hit["url"] for hit in hits))} <= {"ok", "not_modified"}


def test_a_place_has_coordinates_and_a_precision(desk: Desk) -> None:
    """Of the map's providers, as they are configured."""
    (place,) = desk.call("geo_resolve", query="Kölner Dom", max_results=1)["data"]["places"]
    assert (round(place["lat"]), round(place["lon"]), place["country"]) == (51, 7, "DE")
    box = place["bounding_box"]
    assert box["south"] < place["lat"] < box["north"]
    assert place["precision"] == "building"


def test_a_site_is_asked_for_one_page_at_a_time_with_a_pause_behind_each(open_desk: Callable[..., Desk]) -> None:
    """Four calls at once, each by an execution environment of its own: the default of a second holds among them."""
    desk = open_desk("pages-paced")
    paths = (HISTORY, "mills/table", "mills/visit", "mills/notes.md")
    desk.web.post("/_control/faults", json={"prefix": "/web/", "fault": "slow", "delay_ms": 300}).raise_for_status()
    with ThreadPoolExecutor(max_workers=len(paths)) as pool:
        pages = list(pool.map(lambda path: desk.read(desk.url(path))[0], paths))
    assert [page["outcome"] for page in pages] == ["ok"] * len(paths)
    seen = desk.asked_for()
    assert len(seen) == len(paths)
    assert all(later["at"] - earlier["at"] >= 1.0 for earlier, later in pairwise(seen))
    assert all(earlier["ended"] <= later["at"] for earlier, later in pairwise(seen))


def test_a_page_that_cannot_be_reached_is_read_by_the_hosted_reader_that_is_configured(
    open_desk: Callable[..., Desk],
) -> None:
    """And says so, in its steps, its kind of source and its attempts; a page of our own network is named to nobody."""
    desk = open_desk("pages-hosted", {"fetch.hosted.order": "firecrawl-main", "fetch.site.intervalMs": "0"})
    (page, wall) = desk.read(UNREACHED, desk.url("walls/bot"), quotes=["The wheel was sold for its iron"])
    assert (page["outcome"], page["source_type"], page["title"]) == ("ok", "hosted", "The mill that closed")
    assert [(step["name"], step["outcome"]) for step in page["steps"]] == [
        ("fetch", "unavailable"),
        ("firecrawl-main", "ok"),
    ]
    assert (page["quotes"][0]["stands"], page["attempts"][0]["instance_id"]) == (True, "firecrawl-main")
    kept = desk.evidence("GET", f"/{page['evidence_id']}")["evidence"]
    assert (kept["source_type"], kept["instance_id"]) == ("hosted", "firecrawl-main")
    assert wall["outcome"] == "blocked"
    scraped = [each for each in desk.web.get("/_control/requests").json() if each["path"] == "/firecrawl/v2/scrape"]
    assert len(scraped) == 1


def test_a_project_stop_deletes_its_evidence_and_nobody_elses(open_desk: Callable[..., Desk]) -> None:
    """Items and texts; the same page read for another project stays."""
    stopping, staying = (
        open_desk(name, {"fetch.site.intervalMs": "0"}) for name in ("pages-stopping", "pages-staying")
    )
    ids = [desk.read(desk.url("mills/notes.md"))[0]["evidence_id"] for desk in (stopping, staying)]
    stack = stopping.stack
    stop = {"tenant_id": stack.tenant_id, "project_id": stopping.project_id}
    aws(stack, "events").put_events(
        Entries=[
            {
                "EventBusName": stack.outputs["EventBusName"],
                "Source": "zarniwoop",
                "DetailType": "ProjectEnginesStopRequested",
                "Detail": json.dumps(stop),
            }
        ]
    )
    _until(lambda: not _texts(stopping) and not stopping.evidence("GET")["evidence"])
    assert _texts(stopping) == 0
    stopping.evidence("GET", f"/{ids[0]}", status=404)
    assert "dressed after every hundred tons" in staying.evidence("GET", f"/{ids[1]}")["content"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells which process is whose")
def test_a_fetcher_that_is_killed_in_the_middle_of_a_page_costs_that_page_and_nothing_else(desk: Desk) -> None:
    """A typed outcome, no evidence, no process left behind; the site's turn is free, and the page is read later."""
    hanging = {"prefix": "/web/mills/visit", "fault": "drip", "interval": 0.5}
    desk.web.post("/_control/faults", json=hanging).raise_for_status()
    with ThreadPoolExecutor(max_workers=1) as pool:
        fetched = pool.submit(desk.read, desk.url("mills/visit"), task_id="killed", refresh=True)
        _until(lambda: desk.asked_for("mills/visit"))
        readers = _page_readers(desk.stack)
        assert readers
        for fetcher in set(readers.values()):
            os.kill(fetcher, signal.SIGKILL)
        (page,) = fetched.result(timeout=40)
    assert (page["outcome"], page["reason"]) == ("unavailable", "fetcher_failed")
    assert (page["evidence_id"], desk.evidence("GET", task_id="killed")["evidence"]) == (None, [])
    _until(lambda: not set(readers) & set(_page_readers(desk.stack)))
    assert not set(readers) & set(_page_readers(desk.stack))
    desk.web.request("DELETE", "/_control/faults").raise_for_status()
    # A new environment may take longer to start than a page may: then the next call finds it.
    _until(lambda: desk.read(desk.url("mills/visit"), task_id="later")[0]["evidence_id"])
    assert len(desk.evidence("GET", task_id="later")["evidence"]) == 1


def _until(done: Callable[[], Any]) -> None:
    """The assertion behind it says what was not."""
    end = time.monotonic() + WITHIN_SECONDS
    while not done() and time.monotonic() < end:
        time.sleep(0.1)


def _texts(desk: Desk) -> int:
    """How many texts of the project are in the bucket."""
    prefix = f"{desk.stack.tenant_id}/{desk.project_id}/evidence/"
    bucket = desk.stack.outputs["EvidenceBucketName"]
    found: int = aws(desk.stack, "s3").list_objects_v2(Bucket=bucket, Prefix=prefix)["KeyCount"]
    return found


def _page_readers(stack: Stack) -> dict[int, int]:
    """The processes of the stack that parse pages, each with the execution environment that it belongs to."""
    leaders = {process.pid for process in stack.processes() if process.name != "keeper"}
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
            _, parent, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has ended meanwhile
            continue
        if b"zarniwoop.extract.page_reader" in command and int(session) in leaders:
            found[int(entry.name)] = int(parent)
    return found
