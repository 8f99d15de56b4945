"""Evidence of real fetches looked at again: of pages that had moved, of the archive's, and of what a provider had read.

`POST /v1/evidence/<id>/verify` through the deployed handlers; what happens to the page in between is the test's.
"""

from collections.abc import Mapping
from typing import Any

from tests.fakes.functions import sample
from tests.fakes.origin import Act
from tests.fakes.web import Web, moved, page
from tests.fakes.web_pages import article
from tests.fakes.web_tools import WebTools
from tests.functional.test_web_fetch_fallbacks import (
    BELL,
    GONE,
    HOST,
    HOSTED,
    SHELL,
    Opened,
    opened,
    reader,
    simulator,
    web,
)
from tests.functional.test_web_fetch_fallbacks import _snapshot as snapshot

__all__ = ["opened", "reader", "simulator", "web"]

QUOTE = "only two came back to their towers"
KEPT = page(article("Bells").encode())
CHANGED = page(article("Bells").replace("only two came back", "all twelve came back").encode())
LONGER = page(article("Bells", paragraphs=7).encode())
NOT_THERE = page(b"<p>gone</p>", status=404)
ARCHIVE = {"fetch.archive.enabled": "true"}
SNAPSHOT = f"web.archive.org/web/20240102030405id_/{GONE}"

CHANGES: Mapping[str, tuple[Act, str, str]] = {
    "nothing": (KEPT, "unchanged", "stands"),
    "it goes on": (LONGER, "drifted", "stands"),
    "it says something else": (CHANGED, "drifted", "gone"),
    "it is gone": (NOT_THERE, "gone", "gone"),
    "it is busy": (page(b"busy", status=503), "unknown", "unknown"),
    "it moved inside": (moved("http://169.254.169.254/latest/meta-data/"), "unknown", "unknown"),
}
"""What happens to a page, and what is then said of it and of its one quote."""
DEMANDED = {name: (verdict, [quote]) for name, (_, verdict, quote) in CHANGES.items()}


def verified(tools: WebTools, evidence_id: str) -> tuple[str, list[str]]:
    """The verdict, and that of each quote; looking again writes nothing."""
    before = tools.evidence()
    event = sample("evidence.verify") | {"pathParameters": {"evidence_id": evidence_id}}
    told: Any = tools.stack.envelope("evidence", event)["data"]
    assert tools.evidence() == before
    return told["verdict"], [quote["verdict"] for quote in told["quotes"]]


def seen_after_each(tools: WebTools, web: Web, place: str, evidence_id: str) -> dict[str, tuple[str, list[str]]]:
    found = {}
    for name, (now, _, _) in CHANGES.items():
        web.pages[place] = now
        found[name] = verified(tools, evidence_id)
    assert (web.canary_connections, web.forbidden) == (0, [])
    return found


def test_a_page_that_had_moved_to_another_site_is_looked_for_where_it_moved(opened: Opened, web: Web) -> None:
    """Two questions, as when it was read first; what is compared stands at the end of the way."""
    web.pages["www.example.com/old"] = moved(f"https://{HOST}/new")
    web.pages[f"{HOST}/new"] = KEPT
    with opened({}) as tools:
        read = tools.page("http://www.example.com/old", quotes=[QUOTE])
        assert (read["outcome"], read["final_url"]) == ("ok", f"https://{HOST}/new")
        assert seen_after_each(tools, web, f"{HOST}/new", read["evidence_id"]) == DEMANDED
        asked = [question["url"] for question in tools.fetcher.questions]
        assert asked == ["http://www.example.com/old", f"https://{HOST}/new"] * (1 + len(CHANGES))


def test_what_the_archive_had_is_looked_for_in_the_archive(opened: Opened, web: Web) -> None:
    """Its snapshot itself; the page, which was gone by then, is not asked for."""
    web.pages["/gone"] = NOT_THERE
    web.pages["archive.org/wayback/available"] = page(snapshot(GONE), headers={"Content-Type": "application/json"})
    web.pages[SNAPSHOT] = KEPT
    with opened(ARCHIVE) as tools:
        read = tools.page(GONE, quotes=[QUOTE])
        assert (read["outcome"], read["source_type"]) == ("ok", "archive")
        assert seen_after_each(tools, web, SNAPSHOT, read["evidence_id"]) == DEMANDED
        assert {question["url"] for question in tools.fetcher.questions[3:]} == {f"https://{SNAPSHOT}"}


def test_what_a_provider_had_read_is_looked_for_by_ourselves(opened: Opened, web: Web) -> None:
    """No credit is spent on it. What another reader read is not comparable; its quotes can be found, but not missed."""
    with opened(HOSTED | {"fetch.hosted.order": "firecrawl-main"}) as tools:
        wanted = " ".join(tools.page(BELL)["content"].split()[8:20])
        read = tools.page(BELL, quotes=[wanted])
        assert (read["source_type"], read["quotes"][0]["stands"]) == ("hosted", True)
        scraped = len(tools.stack.simulator.requests())
        said = page(article("Bells").replace("</article>", f"<p>{wanted} and more.</p></article>").encode())
        for now, verdict, quote in (
            (page(SHELL), "unknown", "unknown"),
            (said, "unknown", "moved"),
            (KEPT, "unknown", "unknown"),
            (NOT_THERE, "gone", "gone"),
        ):
            web.pages["/async-io-python/"] = now
            assert verified(tools, read["evidence_id"]) == (verdict, [quote])
        assert len(tools.stack.simulator.requests()) == scraped
