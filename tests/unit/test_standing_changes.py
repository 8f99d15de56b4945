"""What a standing query takes for new: each work once, whoever names it and under whichever address."""

from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.hit import DatePrecision, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.result import SearchResult
from zarniwoop.pipelines.standing_query import MOST_REMEMBERED, Changes, Watch, changes


def hit(url: str = "https://example.com/a", title: str = "A", **more: object) -> SearchHit:
    return SearchHit(title=title, url=url, modality=SearchModality.WEB, **more)  # type: ignore[arg-type]


def new(hits: list[SearchHit], memory: bytes | None) -> list[str]:
    return [each.url for each in changes(hits, memory).hits]


def test_a_first_round_finds_everything_new_and_nothing_found_is_remembered_too() -> None:
    """A round that found nothing was a round: what comes next is a change."""
    assert new([hit()], None) == ["https://example.com/a"]
    nothing = changes([], None).memory
    assert (nothing == b"", new([hit()], nothing)) == (False, ["https://example.com/a"])


def test_a_page_is_known_by_its_canonical_address() -> None:
    """Tracking, fragments, `www.` and the order of parameters make no new page."""
    memory = changes([hit("https://www.example.com/a/?b=1&a=2&utm_source=x#top")], None).memory
    assert new([hit("http://example.com/a?a=2&b=1"), hit("https://example.com/b")], memory) == ["https://example.com/b"]


def test_a_work_is_known_by_its_identifiers_at_another_provider() -> None:
    """Fail-over is no news; and from then on it is known by the other's address, too."""
    memory = changes([hit("https://doi.org/10.1000/xyz")], None).memory
    elsewhere = hit("https://openalex.org/W1", identifiers={"doi": "10.1000/XYZ", "pmid": "12345"})
    second = changes([elsewhere], memory)
    assert second.hits == ()
    assert new([hit("https://openalex.org/W1"), hit("https://pubmed.ncbi.nlm.nih.gov/12345/")], second.memory) == []


def test_a_later_version_of_a_preprint_and_a_new_title_are_no_news() -> None:
    """An address or identifier says what it is, its words do not."""
    memory = changes([hit("https://arxiv.org/abs/2301.00001v1", "One")], None).memory
    dated = PublishedAt(value="2026", precision=DatePrecision.YEAR)
    assert new([hit("https://arxiv.org/pdf/2301.00001v2", "Another", published_at=dated)], memory) == []


def test_two_hits_of_one_work_are_one_change() -> None:
    """Also within a round."""
    assert len(changes([hit("https://a.example/1", identifiers={"doi": "10.1000/a"})] * 2, None).hits) == 1


def test_a_hit_without_an_address_is_known_by_its_title() -> None:
    """Rather than never, or each time."""
    memory = changes([hit("file:a", "Lease")], None).memory
    assert new([hit("file:a", "Lease"), hit("file:b", "Contract")], memory) == ["file:b"]


def test_what_is_remembered_is_bounded_and_what_was_seen_last_stays() -> None:
    """Far below the 400 KB of an item."""
    memory: bytes | None = None
    for start in range(0, 3 * MOST_REMEMBERED, 50):
        always = hit("https://example.com/always")
        memory = changes([always, *(hit(f"https://example.com/{start + n}") for n in range(49))], memory).memory
    assert memory is not None
    assert len(memory) <= 1 + 16 * MOST_REMEMBERED < 40_000
    assert new([hit("https://example.com/always"), hit(f"https://example.com/{start}")], memory) == []


def test_what_cannot_be_read_is_what_was_never_reported() -> None:
    """Cut short or of another form: it is reported again, and no round fails for it."""
    assert new([hit()], b"1" + b"x" * 17) == ["https://example.com/a"]


def test_a_hit_that_shares_an_identity_with_an_untold_one_is_not_remembered() -> None:
    """At second hand neither: the next round reports the work, whichever of its hits comes first then."""
    told = hit("https://a.example", "told")
    untold = hit("https://b.example", "untold", identifiers={"doi": "10.1000/b"})
    twin = hit("https://c.example", "twin", identifiers={"doi": "10.1000/b", "pmid": "12345"})
    cousin = hit("https://d.example", "cousin", identifiers={"pmid": "12345"})
    kept = remembering([told, untold, twin, cousin], [untold])
    assert kept.hits == (told,)
    for again in ([untold, twin, cousin], [cousin, twin, untold], [twin, cousin, untold]):
        assert changes([told, *again], kept.memory).hits == (again[0],)


def test_a_hit_that_was_told_is_remembered_though_a_bridge_leads_to_an_untold_one() -> None:
    """What has been reported is never reported again for the sake of another."""
    told = hit("https://a.example", "told", identifiers={"doi": "10.1000/a"})
    untold = hit("https://b.example", "untold", identifiers={"pmid": "12345"})
    bridge = hit("https://c.example", "bridge", identifiers={"doi": "10.1000/a", "pmid": "12345"})
    kept = remembering([told, untold, bridge], [untold])
    assert changes([told, untold, bridge], kept.memory).hits == (untold,)


def remembering(hits: list[SearchHit], untold: list[SearchHit]) -> Changes:
    """What is left of a first round that found these and could not tell some."""
    found = SearchResult(
        query="bells",
        modality=SearchModality.WEB,
        provider_instance_id="main",
        tier=SearchTier.NORMAL,
        hits=tuple(hits),
        returned_count=len(hits),
    )
    watch = Watch(lambda *_asked: ToolResult(ok=True, data=found), None)
    nothing: Any = None
    watch.handle(nothing, nothing, nothing)
    return watch.without(untold)


@given(st.lists(st.lists(st.integers(0, 30), max_size=8), max_size=8))
def test_over_any_rounds_each_page_is_reported_exactly_once(rounds: list[list[int]]) -> None:
    """None twice, none never."""
    memory, reported = None, list[str]()
    for numbers in rounds:
        found = changes([hit(f"https://example.com/{number}") for number in numbers], memory)
        memory = found.memory
        reported += [each.url for each in found.hits]
    assert sorted(reported) == sorted({f"https://example.com/{number}" for numbers in rounds for number in numbers})
