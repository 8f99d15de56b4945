"""Answers with a bound: whole hits, in their order, never more characters than asked for, and nothing lost."""

from dataclasses import asdict, replace
from typing import Any

import orjson
from hypothesis import example, given
from hypothesis import strategies as st

from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.result import Attempt, Outcome, SearchResult
from zarniwoop.stores.continuations import Entry, handle_of
from zarniwoop.stores.runs import Run, new_run_id
from zarniwoop.stores.state import ProjectKey
from zarniwoop.text.as_json import as_json, json_chars
from zarniwoop.tools.arguments import MIN_CHARS
from zarniwoop.tools.bounding import bound, entries_of, nested
from zarniwoop.tools.linked_hits import links_to_shown, with_links
from zarniwoop.tools.research_rich import RichResult
from zarniwoop.tools.run_report import RunReport, report

TOKEN = "0" * 32
TEXTS = st.text(st.characters(codec="utf-8"), max_size=600)
HITS = st.lists(st.builds(lambda title, text: _hit(title, text), TEXTS, TEXTS), max_size=12).map(tuple)


def _hit(title: str, snippet: str | None = None) -> SearchHit:
    return SearchHit(title=title, url="https://a.example/", modality=SearchModality.WEB, snippet=snippet)


def _result(hits: tuple[SearchHit, ...], modality: SearchModality = SearchModality.WEB) -> SearchResult:
    return SearchResult(
        query="bells",
        modality=modality,
        provider_instance_id="main",
        tier=SearchTier.NORMAL,
        hits=hits,
        returned_count=len(hits),
    )


def _rich(web: tuple[SearchHit, ...], news: tuple[SearchHit, ...]) -> RichResult:
    results = {"WEB": _result(web), "NEWS": _result(news, SearchModality.NEWS)}
    return RichResult(query="bells", results=results, problems={}, partial=False, cost=0.0)


def _talkative(data: RichResult) -> RichResult:
    """Of many attempts: it takes more than the smallest bound without a single hit."""
    attempts = (Attempt(instance_id="a-provider", outcome=Outcome.FAILURE, reason="rate_limited"),) * 9
    return replace(data, results={name: replace(each, attempts=attempts) for name, each in data.results.items()})


def _run(kept: tuple[SearchHit, ...], dropped: tuple[SearchHit, ...]) -> RunReport:
    run = Run(
        run_id=new_run_id(1_800_000_000.0),
        project=ProjectKey(tenant_id="acme", project_id="demo"),
        tool="research_investigate",
        created_at=1_800_000_000.0,
        updated_at=1_800_000_000.0,
        deadline_at=1_800_000_300.0,
        expires_at=1_800_900_000.0,
        execution_arn="arn",
        counts={f"a count of something that was looked at: {number}": number for number in range(40)},
    )
    return report(run, {"hits": [asdict(hit) for hit in kept], "dropped": [asdict(hit) for hit in dropped]})


class _Shelf:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.kept: list[tuple[Entry, ...]] = []

    def __call__(self, entries: tuple[Entry, ...]) -> tuple[str, float]:
        self.kept.append(entries)
        return handle_of(TOKEN, 0), 1_800_000_000.5


@given(hits=HITS, max_chars=st.integers(2_000, 6_000))
def test_no_answer_is_longer_than_its_bound_and_no_hit_is_lost_or_cut(
    hits: tuple[SearchHit, ...], max_chars: int
) -> None:
    """What is given out and what is put aside are the hits, one after the other."""
    shelf = _Shelf()
    told = bound(_result(hits), max_chars, shelf)
    assert len(as_json(told).decode()) <= max_chars
    aside = tuple(hit for entries in shelf.kept for _, hit in entries)
    assert told.hits + aside == hits
    assert (told.returned_count, told.truncated) == (len(told.hits), bool(aside))
    assert (told.size.hits, told.size.hits_left) == (len(told.hits), len(aside))
    assert told.size.hit_chars == sum(json_chars(hit) + 1 for hit in told.hits)
    assert told.size.chars_left == sum(json_chars(hit) + 1 for hit in aside)
    assert (told.size.handle is None) == (not aside)


def test_the_sizes_of_hits_that_are_put_aside_count_their_links() -> None:
    """Whoever reads on by `least_max_chars` gets the next one; a page's link belongs to no hit and stays."""
    hits = tuple(replace(_hit(f"a{number}", "b" * 600), url=f"https://example.com/{number}#top") for number in range(5))
    links = [
        {"id": f"ev-{number}", "href": f"/v1/evidence/ev-{number}", "url": f"https://example.com/{number}"}
        for number in range(6)
    ]
    shelf = _Shelf()
    told = bound(_result(hits), 3_000, shelf, links)
    ((*_, (_, last)),) = shelf.kept
    assert last["evidence"] == [{"id": "ev-4", "href": "/v1/evidence/ev-4"}]
    assert told.size.chars_left == sum(json_chars(hit) + 1 for _, hit in shelf.kept[0])
    shown = links_to_shown(links, entries_of(_result(hits)) or (), entries_of(told) or ())
    assert [link["id"] for link in shown] == [*(f"ev-{at}" for at in range(len(told.hits))), "ev-5"]


def test_hits_of_a_run_take_their_links_along_too_and_parts_of_pages_none() -> None:
    """A run's hits are JSON by then; a page is shown whatever is put aside of its text."""
    link = {"id": "ev-1", "href": "/v1/evidence/ev-1", "url": "https://example.com/a", "title": "A"}
    entries: list[Entry] = [("results/hits", {"url": link["url"], "title": "A"}), ("parts", {"url": link["url"]})]
    (_, found), part = with_links(entries, [link])
    assert found == {"url": link["url"], "title": "A", "evidence": [{"id": "ev-1", "href": "/v1/evidence/ev-1"}]}
    assert part == entries[1]
    assert links_to_shown([link], entries[1:], ()) == (link,)


@given(web=HITS, news=HITS, max_chars=st.integers(3_000, 6_000))
def test_a_rich_answer_gives_out_the_best_of_every_kind_first(
    web: tuple[SearchHit, ...], news: tuple[SearchHit, ...], max_chars: int
) -> None:
    """And each kind's hits in their order."""
    shelf = _Shelf()
    data = _rich(web, news)
    told = bound(data, max_chars, shelf)
    assert len(as_json(told).decode()) <= max_chars
    aside: Any = nested([entry for entries in shelf.kept for entry in entries])
    for name, hits in (("WEB", web), ("NEWS", news)):
        rest = tuple(aside.get("results", {}).get(name, {}).get("hits", ()))
        assert told.results[name].hits + rest == hits
    shown = [len(told.results[name].hits) for name in ("WEB", "NEWS")]
    assert abs(shown[0] - shown[1]) <= 1 or min(shown) == min(len(web), len(news))


def test_a_hit_that_is_larger_than_the_bound_is_told_of_with_its_size() -> None:
    """So that the caller knows which bound lets it through."""
    shelf = _Shelf()
    told = bound(_result((_hit("a", "b" * 5_000), _hit("c"))), 2_000, shelf)
    assert (told.hits, told.size.hits_left) == ((), 2)
    assert told.size.next_hit_chars > 5_000
    assert len(bound(_result((_hit("a", "b" * 5_000),)), 2_000 + told.size.next_hit_chars, shelf).hits) == 1


@given(web=HITS, news=HITS, max_chars=st.integers(2_000, 4_000), run=st.booleans())
@example(web=(), news=(_hit("a", "b" * 600),) * 3, max_chars=2_000, run=False)
@example(web=(_hit("a", "b" * 600),) * 3, news=(), max_chars=2_000, run=True)
def test_the_least_bound_that_an_answer_names_lets_a_hit_through(
    web: tuple[SearchHit, ...], news: tuple[SearchHit, ...], max_chars: int, run: bool
) -> None:
    """What tells of the search is always whole, also where it alone is longer than the bound."""
    data: Any = _run(web, news) if run else _talkative(_rich(web, news))
    told = bound(data, max_chars, _Shelf())
    if told.size.hits:
        return
    assert (told.size.least_max_chars is None) == (not told.size.hits_left)
    if told.size.hits_left:
        again = bound(data, told.size.least_max_chars, _Shelf())
        assert again.size.hits >= 1
        assert json_chars(again) <= told.size.least_max_chars


@given(hits=HITS.filter(bool), max_chars=st.integers(2_000, 4_000))
def test_the_least_bound_of_a_search_is_one_that_may_be_asked_for(hits: tuple[SearchHit, ...], max_chars: int) -> None:
    """A small hit left over takes less than the smallest bound there is."""
    told = bound(_result(hits), max_chars, _Shelf())
    assert (told.size.least_max_chars is None) == (told.size.hits_left == 0)
    assert told.size.least_max_chars is None or told.size.least_max_chars >= MIN_CHARS


def test_what_cannot_be_kept_is_said_to_be_left_without_a_handle() -> None:
    """The hits that fit are given out all the same."""
    told = bound(_result((_hit("c"), _hit("a", "b" * 5_000))), 2_000, lambda _entries: None)
    assert (len(told.hits), told.size.hits_left, told.size.handle) == (1, 1, None)


def test_an_answer_without_hits_is_left_alone() -> None:
    """A receipt, a plan: there is nothing to put aside."""
    assert entries_of({"hits": []}) is None
    assert bound("receipt", 2_000, _Shelf()) == "receipt"


def test_what_json_cannot_say_is_said_as_well_as_it_can() -> None:
    """An add-on's extras are whatever they are."""
    odd = _hit("half \ud800").with_extras({"n": 1 << 70})
    assert orjson.loads(as_json({"hit": odd}))["hit"]["extras"] == {"n": float(1 << 70)} or as_json({"hit": odd})
    assert b"half ?" in as_json(odd)
    assert asdict(odd)["title"].startswith("half")
