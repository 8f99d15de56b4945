"""Each work once, with every source that named it."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.hits import hit, outcome
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.result import SearchResult
from zarniwoop.pipelines.investigate.merge import MergedHit, SearchOutcome, merge

TITLE = "Attention is all you need"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (hit("A", doi="10.1000/X"), hit("B", doi="https://doi.org/10.1000/x")),
        (hit("A", doi="10.1000/x"), hit("B", url="https://doi.org/10.1000/x")),
        (hit("A", doi="10.1000/x(1)"), hit("B", url="https://dx.doi.org/10.1000/x%281%29")),
        (hit("A", arxiv_id="2301.00001v2"), hit("B", arxiv_id="2301.00001")),
        (hit("A", arxiv_id="hep-th/9901001"), hit("B", url="http://arxiv.org/abs/hep-th/9901001v3")),
        (hit("A", arxiv_id="2301.00001"), hit("B", doi="10.48550/arXiv.2301.00001")),
        (hit("A", arxiv_id="2301.00001"), hit("B", url="https://export.arxiv.org/pdf/2301.00001v1")),
        (hit("A", pmid="123"), hit("B", url="https://pubmed.ncbi.nlm.nih.gov/123/?from=x")),
        (hit("A", pmid="123"), hit("B", url="https://europepmc.org/article/MED/123")),
        (hit("A", pmcid="PMC7"), hit("B", pmcid="7")),
        (hit("A", pmcid="PMC7"), hit("B", url="https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7/?x=1")),
        (hit("A", pmcid="PMC7"), hit("B", url="https://pmc.ncbi.nlm.nih.gov/articles/PMC7/pdf/main.pdf")),
        (hit("A", url="http://www.site.example/a/?utm_source=x#top"), hit("B", url="https://site.example/a")),
        (hit(TITLE, year=2017), hit("Attention: Is All You Need!", year=2017)),
        (hit("深層学習による画像認識", year=2020), hit("深層学習による画像認識。", year=2020)),
    ],
)
def test_the_same_work_is_one_hit(one: dict[str, Any], other: dict[str, Any]) -> None:
    """By DOI, arXiv id, PMID, PMCID, normalised URL, then title and year."""
    assert len(merge([outcome(0, one), outcome(1, other)])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (hit(TITLE, year=2017), hit(TITLE, year=2018)),
        (hit(TITLE, year=2017), hit(TITLE)),
        (hit("Editorial", year=2021), hit("Editorial", year=2021)),
        (hit(TITLE, year=2017, doi="10.1000/a"), hit(TITLE, year=2017, doi="10.1000/b")),
        (hit(TITLE, year=2017, pmid="1"), hit(TITLE, year=2017, pmid="2")),
        (hit(TITLE, year=2017, pmcid="PMC1"), hit(TITLE, year=2017, pmcid="PMC2")),
        (
            hit("A", url="https://a.example/", modality="IMAGE", extras={"image_url": "https://a.example/1.png"}),
            hit("B", url="https://a.example/", modality="IMAGE", extras={"image_url": "https://a.example/2.png"}),
        ),
        (hit("A", url="https://w3.org/a"), hit("B", url="https://3.org/a")),
        (hit("A", url="https://a.example/?id=1"), hit("B", url="https://a.example/?id=2")),
        (hit("A", url="https://publisher.example/doi/10.1000/x/full"), hit("B", doi="10.1000/x")),
        (hit("A", url="javascript:1"), hit("B", url="javascript:1")),
    ],
)
def test_different_works_stay_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Another year, a title that many bear, or identifiers that contradict each other."""
    assert len(merge([outcome(0, one), outcome(1, other)])) == 2


def test_a_preprint_meets_its_journal_version_by_title() -> None:
    """The DOI of a preprint server contradicts no other."""
    found = [outcome(0, hit(TITLE, year=2017, doi="10.1101/1")), outcome(1, hit(TITLE, year=2017, doi="10.1000/a"))]
    assert len(merge(found)) == 1


def test_chains_come_together() -> None:
    """A and C share nothing, but B shares something with each."""
    first = outcome(0, hit("A", doi="10.1000/x", url="https://a.example/1"))
    second = outcome(1, hit("B", doi="10.1000/x", pmid="7"), hit("D", url="https://d.example/"))
    third = outcome(2, hit("C", pmid="7", url="https://c.example/3"))
    works = merge([first, second, third])
    assert [len(work.sources) for work in works] == [3, 1]


def test_a_contradiction_anywhere_in_the_chain_keeps_titles_apart() -> None:
    """A hit without identifiers must not pull two different papers of one title together."""
    works = merge(
        [
            outcome(0, hit(TITLE, year=2017, doi="10.1000/a")),
            outcome(1, hit(TITLE, year=2017, url="https://a.example/")),
            outcome(2, hit(TITLE, year=2017, doi="10.1000/b")),
        ]
    )
    assert len(works) == 3


def test_the_richest_hit_stands_for_the_work_and_gaps_are_filled() -> None:
    """A body counts most, then the longer snippet, then identifiers; what it lacks comes from the others."""
    works = merge(
        [
            outcome(0, hit("Short", doi="10.1000/x", snippet="s" * 300, authors=["Ada"], year=2020)),
            outcome(1, hit("Body", doi="10.1000/x", body="text", pmid="5")),
            outcome(2, hit("Bare", doi="10.1000/x", arxiv_id="2301.00001", language="en")),
        ]
    )
    representative = works[0].hit
    assert representative["title"] == "Body"
    assert representative["snippet"] == "s" * 300
    assert representative["authors"] == ["Ada"]
    assert representative["published_at"]["value"] == "2020"
    assert representative["language"] == "en"
    assert representative["identifiers"] == {"doi": "10.1000/x", "pmid": "5", "arxiv_id": "2301.00001"}


def test_a_retraction_survives_whoever_stands_for_the_work() -> None:
    """Crossref's notice is kept though another index's hit is richer and knows of none; so is what only one has."""
    notice = {"type": "retraction", "doi": "10.1000/r"}
    (work,) = merge(
        [
            outcome(0, hit("Rich", doi="10.1000/x", body="text", extras={"is_retracted": False, "cited_by_count": 3})),
            outcome(1, hit("Bare", doi="10.1000/x", extras={"is_retracted": True, "updated_by": [notice]})),
            outcome(2, hit("More", doi="10.1000/x", extras={"updated_by": [notice], "venue": "J", "type": None})),
        ]
    )
    assert work.hit["title"] == "Rich"
    assert work.hit["extras"] == {"is_retracted": True, "cited_by_count": 3, "updated_by": [notice], "venue": "J"}


def test_every_source_is_kept_and_the_best_affinity_counts() -> None:
    """Who found it, in which search, at which rank, under which URL."""
    page = "https://a.example/"
    works = merge(
        [
            outcome(0, hit("x", url="https://b.example/"), hit("A", url=page), instance_id="serper", affinity=0.8),
            outcome(1, hit("A", url=page), instance_id="wiki", affinity=1.4),
        ]
    )
    best = works[0]
    assert [(each.instance_id, each.search_index, each.rank, each.affinity) for each in best.sources] == [
        ("serper", 0, 2, 0.8),
        ("wiki", 1, 1, 1.4),
    ]
    assert best.affinity == 1.4
    assert best.reciprocal_rank == pytest.approx(1 / 61 + 1 / 62)


def test_a_search_that_lists_a_work_twice_has_one_vote() -> None:
    """Its better rank."""
    page = "https://a.example/"
    assert merge([outcome(0, hit(url=page), hit(url=page + "#x"))])[0].reciprocal_rank == pytest.approx(1 / 61)


def test_keys_follow_the_best_rank() -> None:
    """Then the fused one."""
    works = merge(
        [
            outcome(0, hit("a", url="https://a.example/"), hit("b", url="https://b.example/")),
            outcome(1, hit("c", url="https://c.example/"), hit("b", url="https://b.example/")),
            outcome(2, hit("c", url="https://c.example/")),
        ]
    )
    assert [(work.key, work.hit["title"]) for work in works] == [("h001", "c"), ("h002", "a"), ("h003", "b")]


def test_keys_of_the_first_wave_stay_in_the_second() -> None:
    """New works are numbered after them, even when they rank better; two that prove to be one keep the smaller key."""
    first = [outcome(0, hit("a", url="https://a.example/"), hit("b", doi="10.1000/b"), hit("c", pmid="3"))]
    earlier = merge(first)
    second = outcome(1, hit("new", url="https://new.example/"), hit("bc", doi="10.1000/b", pmid="3"))
    works = merge([*first, second], earlier)
    assert [(work.key, work.hit["title"]) for work in works] == [("h001", "a"), ("h002", "bc"), ("h004", "new")]
    assert merge([*first, second], works) == works


def test_what_was_one_work_stays_one_when_a_contradiction_turns_up_later() -> None:
    """Its key may already bear a verdict."""
    first = [outcome(0, hit(TITLE, year=2017, doi="10.1000/a")), outcome(1, hit(TITLE, year=2017))]
    works = merge([*first, outcome(2, hit(TITLE, year=2017, doi="10.1000/b"))], merge(first))
    assert [(work.key, len(work.sources)) for work in works] == [("h001", 2), ("h002", 1)]


def test_nothing_found_is_nothing() -> None:
    """No search, or searches without hits."""
    assert merge([]) == merge([outcome(0)]) == ()


def test_an_outcome_is_made_of_a_dispatchers_result() -> None:
    """With the plan's affinity for the instance that answered, or 1."""
    result = SearchResult(
        query="q",
        modality=SearchModality.WEB,
        provider_instance_id="serper",
        tier=SearchTier.NORMAL,
        hits=(SearchHit(title="t", url="https://a.example/", modality=SearchModality.WEB, rank=1),),
    )
    made = SearchOutcome.of(3, {"serper": 1.4}, result)
    assert (made.search_index, made.instance_id, made.affinity) == (3, "serper", 1.4)
    assert made.hits[0]["modality"] == "WEB"
    assert SearchOutcome.of(3, {}, result).affinity == 1.0
    assert SearchOutcome.from_json(orjson.loads(orjson.dumps(made))) == made


def test_works_survive_their_run_file() -> None:
    """Written by orjson, read by `from_json`."""
    works = merge([outcome(0, hit(doi="10.1000/x")), outcome(1, hit(doi="10.1000/x", body="text"))])
    assert [MergedHit.from_json(each) for each in orjson.loads(orjson.dumps(works))] == list(works)


HITS = st.builds(
    hit,
    title=st.sampled_from([TITLE, "Attention is ALL you need.", "Editorial", "Another telling title here"]),
    snippet=st.sampled_from([None, "s", "ss", "tt"]),
    url=st.sampled_from(
        ["", "https://a.example/", "https://www.a.example", "https://b.example/", "https://c.example/1"]
    ),
    year=st.sampled_from([None, 2017, 2018]),
    body=st.sampled_from([None, "b", "c"]),
    doi=st.sampled_from(["", "10.1000/a", "10.1000/b", "10.1101/p"]),
    pmid=st.sampled_from(["", "1", "2"]),
)
SEARCHES = st.lists(
    st.tuples(st.lists(HITS, max_size=5), st.sampled_from(["alpha", "beta"]), st.sampled_from([0.5, 1.0, 1.5])),
    max_size=5,
)


@settings(max_examples=300)
@given(searches=SEARCHES, order=st.randoms(use_true_random=False))
def test_the_order_in_which_searches_come_back_changes_nothing(searches: list[Any], order: Any) -> None:
    """Neither the set nor the representatives nor the keys; and no hit is lost or counted twice."""
    found = [
        outcome(index, *hits, instance_id=instance, affinity=affinity)
        for index, (hits, instance, affinity) in enumerate(searches)
    ]
    shuffled = list(found)
    order.shuffle(shuffled)
    works = merge(found)
    assert merge(shuffled) == works
    places = [(source.search_index, source.rank) for work in works for source in work.sources]
    assert sorted(places) == [(each.search_index, place) for each in found for place in range(1, len(each.hits) + 1)]
    assert [work.key for work in works] == [f"h{number:03d}" for number in range(1, len(works) + 1)]


@settings(max_examples=300)
@given(searches=SEARCHES, cut=st.integers(0, 5))
def test_a_second_wave_leaves_every_key_with_its_work(searches: list[Any], cut: int) -> None:
    """Each earlier work is found under its own key, or under the smaller one of those that it was united with."""
    found = [outcome(index, *hits) for index, (hits, _, _) in enumerate(searches)]
    earlier = merge(found[:cut])
    works = merge(found, earlier)
    where = {(source.search_index, source.rank): work.key for work in works for source in work.sources}
    assert len({work.key for work in works}) == len(works)
    for work in earlier:
        assert {where[source.search_index, source.rank] for source in work.sources} <= {
            each.key for each in earlier if int(each.key[1:]) <= int(work.key[1:])
        }
