"""Bounded answers read to their end: page by page, or put together again."""

from typing import Any

import pytest

from tests.fakes.client_api import Driven, FakeApi, found, ok, refused, run
from tests.fakes.clock import FakeClock
from zarniwoop_client import NotFound, ServerFault
from zarniwoop_client.results.searches import SearchResult

FENCE = "0123456789abcdef"


@pytest.fixture(params=["blocking", "asynchronous"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _size(hits: int, handle: str | None, **more: Any) -> dict[str, Any]:
    return {"max_chars": 2000, "hits": hits, "hit_chars": 500, "hits_left": 1, "handle": handle, **more}


def _page(handle: str | None, tool: str = "research_search", **lists: Any) -> Any:
    return ok({**lists, "tool": tool, "size": _size(1, handle)})


def _hit(title: str) -> dict[str, str]:
    return {"title": title, "url": f"https://example.org/{title}", "modality": "WEB"}


def test_what_did_not_fit_is_read_to_its_end(kind: str) -> None:
    """Handle after handle, in the project that was asked."""
    first = ok(found("a", size=_size(1, "h.1")))
    api = FakeApi(first, _page("h.2", hits=[_hit("b")]), _page(None, hits=[_hit("c")]))
    driven = Driven(kind, api, FakeClock())
    pages = driven("pages", driven("search", "bells", project_id="other", max_chars=2000))
    assert [hit.title for page in pages for hit in page.data.hits] == ["b", "c"]
    assert api.asked[1:] == ["GET /v1/results/h.1", "GET /v1/results/h.2"]
    assert {each.url.params["project_id"] for each in api.requests[1:]} == {"other"}


@pytest.mark.parametrize("size", [None, _size(1, None)])
def test_an_answer_that_is_complete_has_no_further_page(kind: str, size: dict[str, Any] | None) -> None:
    """Nor has one whose rest could not be kept: nobody is asked."""
    api = FakeApi(ok(found("a", size=size)))
    driven = Driven(kind, api, FakeClock())
    answer = driven("search", "bells")
    assert driven("pages", answer) == []
    assert driven("complete", answer) is answer
    assert len(api.requests) == 1


def test_where_no_hit_fitted_the_next_page_is_asked_for_with_the_least_bound_that_lets_one_through(kind: str) -> None:
    """Else it would be asked for again and again."""
    first = ok(found(size=_size(0, "h.0", least_max_chars=2750)))
    api = FakeApi(first, _page(None, hits=[_hit("a")]))
    driven = Driven(kind, api, FakeClock())
    assert len(driven("pages", driven("search", "bells"))) == 1
    assert api.requests[1].url.params["max_chars"] == "2750"


def test_a_continuation_that_leads_nowhere_ends(kind: str) -> None:
    """With a fault instead of an endless row of empty pages."""
    api = FakeApi(ok(found("a", size=_size(1, "h.1"))), ok({"tool": "research_search", "size": _size(0, "h.1")}))
    driven = Driven(kind, api, FakeClock())
    answer = driven("search", "bells")
    with pytest.raises(ServerFault, match="although some are left"):
        driven("pages", answer)
    assert len(api.requests) == 3


def test_a_handle_whose_hour_is_over_is_not_found(kind: str) -> None:
    """The problem says to ask the tool again."""
    api = FakeApi(ok(found("a", size=_size(1, "h.1"))), refused("unknown-result", 404))
    driven = Driven(kind, api, FakeClock())
    with pytest.raises(NotFound):
        driven("pages", driven("search", "bells"))


def test_a_search_is_put_together_again(kind: str) -> None:
    """Typed as before, with all its hits and their number; the first answer stays as it was."""
    first = ok(found("a", size=_size(1, "h.1"), returned_count=1, truncated=True))
    api = FakeApi(first, _page("h.2", hits=[_hit("b")]), _page(None, hits=[_hit("c")]))
    driven = Driven(kind, api, FakeClock())
    answer = driven("search", "bells")
    whole = driven("complete", answer)
    assert isinstance(whole.data, SearchResult)
    assert ([hit.title for hit in whole.data.hits], whole.data.returned_count) == (["a", "b", "c"], 3)
    assert (len(whole.raw["data"]["hits"]), len(answer.data.hits), len(answer.raw["data"]["hits"])) == (3, 1, 1)
    assert whole.raw["data"]["size"]["handle"] is None


def test_the_evidence_of_hits_that_were_put_aside_is_put_with_the_rest(kind: str) -> None:
    """They took their links along."""
    link = {"id": "ev-2", "href": "/v1/evidence/ev-2"}
    lists = {"WEB": {"hits": [_hit("b") | {"evidence": [link]}]}}
    rich = {"query": "bells", "results": {"WEB": found("a")}, "problems": {}, "partial": False, "cost": 0.0}
    api = FakeApi(ok({**rich, "size": _size(1, "h.1")}), _page(None, "research_rich", results=lists))
    driven = Driven(kind, api, FakeClock())
    whole = driven("complete", driven("rich", "bells"))
    (told,) = whole.evidence
    assert (told.id, told.href, told.url, told.title) == ("ev-2", link["href"], "https://example.org/b", "b")
    assert "evidence" not in whole.raw["data"]["results"]["WEB"]["hits"][1]


def test_a_rich_search_is_put_together_by_modality(kind: str) -> None:
    """Also where a modality had no hit at all in the first part."""
    results = {"WEB": found("a", returned_count=1), "NEWS": found()}
    rich = {"query": "bells", "results": results, "problems": {}, "partial": False, "cost": 0}
    more = {"WEB": {"hits": [_hit("b")]}, "NEWS": {"hits": [_hit("c")]}}
    api = FakeApi(ok({**rich, "size": _size(1, "h.1")}), _page(None, tool="research_rich", results=more))
    driven = Driven(kind, api, FakeClock())
    whole = driven("complete", driven("rich", "bells"))
    titles = {name: [hit.title for hit in each.hits] for name, each in whole.data.results.items()}
    assert titles == {"WEB": ["a", "b"], "NEWS": ["c"]}


def test_a_runs_results_are_put_together(kind: str) -> None:
    """Survivors and what was dropped; what a newer server says of a page besides is no part of the answer."""
    report = run("succeeded", results={"survivors": [{"title": "a"}], "dropped": []}, size=_size(1, "h.1"))
    more = {"survivors": [{"title": "b"}], "dropped": [{"title": "c"}], "newer": True}
    api = FakeApi(ok(report), _page(None, tool="research_investigate", results=more, untrusted=True, newer="word"))
    driven = Driven(kind, api, FakeClock())
    results = driven("complete", driven("runs.get", "r-0123", max_chars=2000)).data.results
    assert [[each["title"] for each in results[name]] for name in ("survivors", "dropped")] == [["a", "b"], ["c"]]


def test_pages_are_put_together_within_their_fence(kind: str) -> None:
    """The parts of a text stand in one fence, with nothing between them and nothing lost; so do links."""
    pages = [
        {"url": "u0", "outcome": "ok", "final_url": "u0", "content": _fenced("one "), "content_end": 4},
        {"url": "u1", "outcome": "ok", "final_url": "u1", "content": None, "links": []},
    ]
    fetched = {"format": "markdown", "pages": pages, "fence": FENCE, "size": _size(1, "h.1")}
    parts = [_part(0, 4, "two\n"), _part(1, 0, "three"), _part(0, 8, "four")]
    links = [{"page": 1, "url": "l", "text": "t"}]
    api = FakeApi(
        ok(fetched),
        _page("h.2", tool="web_fetch", parts=parts[:2]),
        _page(None, tool="web_fetch", parts=parts[2:], links=links),
    )
    driven = Driven(kind, api, FakeClock())
    whole = driven("complete", driven("fetch", ["u0", "u1"]))
    assert [page.content for page in whole.data.pages] == [_fenced("one two\nfour"), _fenced("three")]
    assert [page.content_end for page in whole.data.pages] == [12, 5]
    assert whole.data.pages[1].links[0].url == "l"


def _fenced(text: str) -> str:
    return f"<<<UNTRUSTED {FENCE}\n{text}\nUNTRUSTED {FENCE}>>>"


def _part(page: int, start: int, text: str) -> dict[str, Any]:
    return {"page": page, "url": f"u{page}", "start": start, "end": start + len(text), "text": _fenced(text)}


def test_an_answer_as_plain_json_is_put_together_as_plain_json(kind: str) -> None:
    """What `call` gave, `complete` gives."""
    api = FakeApi(ok(found("a", size=_size(1, "h.1"))), _page(None, hits=[_hit("b")]))
    driven = Driven(kind, api, FakeClock())
    whole = driven("complete", driven("call", "research_search", query="bells", modality="WEB"))
    assert [hit["title"] for hit in whole.data["hits"]] == ["a", "b"]


def test_evidence_is_listed_and_read_to_the_end(kind: str) -> None:
    """Pages by their token, texts by their offset."""
    one = {
        "id": "ev-1",
        "source_type": "page",
        "title": "t",
        "url": "u",
        "final_url": "u",
        "snippet": "s",
        "content_hash": "h",
        "retrieved_at": 1.0,
        "credibility_score": 0.5,
        "extractor": "x",
        "status": "ok",
    }
    listed = {"evidence": [one], "fence": "n1", "quote_counts": {}, "untrusted": True}
    api = FakeApi(ok({**listed, "next_page_token": "more"}), ok({**listed, "next_page_token": None}))
    assert [each.id for each in Driven(kind, api, FakeClock())("evidence.each", limit=1)] == ["ev-1", "ev-1"]
    stretch = {"evidence": one, "content": "…", "fence": FENCE, "untrusted": True}
    texts = [ok({**stretch, "offset": 0, "next_offset": 5}), ok({**stretch, "offset": 5, "next_offset": None})]
    api = FakeApi(*texts)
    assert [each.offset for each in Driven(kind, api, FakeClock())("evidence.read", "ev-1")] == [0, 5]
    assert [each.url.params["offset"] for each in api.requests] == ["0", "5"]
    stuck = FakeApi(ok({**stretch, "offset": 0, "next_offset": 0}))
    assert len(Driven(kind, stuck, FakeClock())("evidence.read", "ev-1")) == 1


def test_documents_are_listed_to_the_end(kind: str) -> None:
    """By the name that a page ended with."""
    document = {"name": "a.md", "status": "indexed", "size": 1, "modified": "2026-11-30T00:00:00Z"}
    page = {"documents": [document], "place": "s3://…", "index": None}
    api = FakeApi(ok({**page, "next_after": "a.md"}), ok({**page, "next_after": None}))
    assert len(Driven(kind, api, FakeClock())("each_document", status="indexed")) == 2
    assert [each.url.params.get("after") for each in api.requests] == [None, "a.md"]
