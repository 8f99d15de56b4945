"""Several lists into one: ranks, votes, and an order that chance has no part in."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zarniwoop.contract.hit import DatePrecision, PublishedAt, SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.dispatch.strategies.fusion import RankedList, fuse, indexes_of
from zarniwoop.text.urls import registrable_domain


def page(url: str, **more: Any) -> SearchHit:
    return SearchHit(**{"title": url, "url": url, "modality": SearchModality.WEB, **more})


def paper(title: str = "On bells", **more: Any) -> SearchHit:
    values = {"title": title, "url": f"https://doi.org/{title}", "modality": SearchModality.ACADEMIC, **more}
    return SearchHit(**values)


def listed(instance_id: str, *hits: SearchHit, family: str | None = None) -> RankedList:
    return RankedList(instance_id=instance_id, index_family=family or instance_id, hits=hits)


def urls(hits: tuple[SearchHit, ...]) -> list[str]:
    return [hit.url.removeprefix("https://").removesuffix("/") for hit in hits]


def test_what_two_indexes_name_stands_before_what_one_names_first() -> None:
    """1/62 + 1/62 is more than 1/61; the hits are ranked anew."""
    both = page("https://both.example/")
    fused = fuse([listed("a", page("https://a.example/"), both), listed("b", page("https://b.example/"), both)])
    assert urls(fused) == ["both.example", "a.example", "b.example"]
    assert [hit.rank for hit in fused] == [1, 2, 3]
    assert fused[0].score == 1 / 62 + 1 / 62
    assert [(each.instance_id, each.rank) for each in fused[0].contributors] == [("a", 2), ("b", 2)]


def test_two_resellers_of_one_index_have_one_vote_at_their_best_rank() -> None:
    """Both are named as contributors, and the second adds nothing."""
    hit = page("https://both.example/")
    fused = fuse([listed("one", page("https://x.example/"), hit, family="google"), listed("two", hit, family="google")])
    (both,) = [each for each in fused if each.url == hit.url]
    assert [(each.instance_id, each.rank, each.contribution) for each in both.contributors] == [
        ("two", 1, 1 / 61),
        ("one", 2, 0.0),
    ]
    assert both.score == 1 / 61


def test_an_instance_that_lists_a_work_twice_is_one_contributor() -> None:
    """At its better rank."""
    (work,) = fuse([listed("a", page("https://a.example/"), page("https://www.a.example/#top"))])
    assert [(each.rank, each.contribution) for each in work.contributors] == [(1, 1 / 61)]


def test_an_engine_that_a_hit_names_is_the_index_it_came_from() -> None:
    """SerpApi asks several; DuckDuckGo's web pages are Bing's, and Google's news are Google's."""
    told = {engine: indexes_of({"engine": engine}, "google") for engine in ("google_news", "bing", "duckduckgo")}
    assert told == {"google_news": ("google",), "bing": ("bing",), "duckduckgo": ("bing",)}
    assert indexes_of({"engine": ["a", "list"]}, "solr") == indexes_of({}, "solr") == ("solr",)
    url = "https://a.example/"
    (work,) = fuse(
        [
            listed("serper", page(url), family="google"),
            listed("serp", page(url, extras={"engine": "bing"}), family="google"),
        ]
    )
    assert work.score == 1 / 61 + 1 / 61


def test_google_by_way_of_searxng_is_google() -> None:
    """It names the engines of each hit; where one of them was heard already, it has no further vote."""
    url = "https://a.example/"
    engines = ["google news", "bing"]
    assert indexes_of({"engines": engines}, "searxng") == ("bing", "google")
    direct, through = listed("serper", page(url), family="google"), page(url, extras={"engines": engines})
    (work,) = fuse([direct, listed("searxng", through, family="searxng")])
    assert work.score == 1 / 61
    assert {each.index_family for each in work.contributors} == {"google", "bing+google"}
    (alone,) = fuse([listed("searxng", through, family="searxng")])
    assert alone.score == 1 / 61


def test_whatever_an_add_on_puts_into_its_hits_they_are_fused_in_one_order() -> None:
    """Sets, odd keys and endless integers are no JSON; a fan-out is no worse than a cascade for it."""
    odd = {"bag": {"b", "a"}, "big": 2**70, "thing": object(), 3: "x"}
    pages = [page(f"https://{name}.example/", extras=dict(odd)) for name in "ab"]
    lists = [listed(name, each, family=name) for name, each in zip("xy", pages, strict=True)]
    assert [hit.url for hit in fuse(lists)] == [hit.url for hit in fuse(lists[::-1])]
    assert len(fuse(lists)) == 2


def test_the_third_page_of_a_site_waits_until_others_had_their_turn() -> None:
    """Subdomains are one site, as the public suffix list has it; nothing is lost, and order is kept behind."""
    names = ["a.site.co.uk", "b.site.co.uk", "c.site.co.uk", "other.co.uk", "d.site.co.uk"]
    fused = fuse([listed("a", *(page(f"https://{name}/") for name in names))])
    assert urls(fused) == ["a.site.co.uk", "b.site.co.uk", "other.co.uk", "c.site.co.uk", "d.site.co.uk"]


def test_papers_are_not_spread_over_their_resolvers() -> None:
    """`doi.org` says nothing of who speaks."""
    titles = [f"Title {number}" for number in range(4)]
    fused = fuse([listed("a", *(paper(title) for title in titles), paper("Z", url="https://z.example/"))])
    assert [hit.title for hit in fused] == [*titles, "Z"]


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("https://ada.github.io/x", "ada.github.io"),
        ("http://127.0.0.1/x", "127.0.0.1"),
        ("https://wiki/x", "wiki"),
    ],
)
def test_a_registrable_domain_follows_the_public_suffix_list(url: str, domain: str) -> None:
    """And where it knows nothing, the host stands for itself."""
    assert registrable_domain(url) == domain


def test_a_work_keeps_what_any_index_knows_of_it() -> None:
    """Crossref's retraction does not go under because OpenAlex has the abstract and takes it for sound."""
    notice = {"type": "retraction", "doi": "10.1000/r"}
    rich = paper(snippet="s" * 50, identifiers={"doi": "10.1000/x"}, extras={"is_retracted": False, "cited": 7})
    sober = paper(
        title="Retracted: on bells",
        identifiers={"doi": "10.1000/x", "pmid": "5"},
        published_at=PublishedAt(value="2020", precision=DatePrecision.YEAR),
        extras={"is_retracted": True, "updated_by": [notice], "cited": 3, "none": None},
    )
    (work,) = fuse([listed("openalex", rich), listed("crossref", sober)])
    assert work.title == "On bells"
    assert work.extras == {"is_retracted": True, "updated_by": [notice], "cited": 7}
    assert work.identifiers == {"doi": "10.1000/x", "pmid": "5"}
    assert work.published_at is not None


def test_two_pictures_on_one_page_are_two() -> None:
    """And one picture on two pages is one."""
    pictures = [
        page(
            "https://p.example/1", modality=SearchModality.IMAGE, extras={"image_url": f"https://p.example/{name}.png"}
        )
        for name in ("a", "b")
    ]
    again = page("https://q.example/", modality=SearchModality.IMAGE, extras={"image_url": "https://p.example/b.png"})
    assert len(fuse([listed("a", *pictures), listed("b", again)])) == 2


HITS = st.builds(
    paper,
    title=st.sampled_from(["Attention is all you need", "On bells", "Letter to the editor"]),
    url=st.sampled_from(["https://a.example/", "https://b.example/", "https://www.a.example/#x", "https://c.org/"]),
    modality=st.sampled_from([SearchModality.WEB]),
    snippet=st.sampled_from([None, "s", "ss"]),
    identifiers=st.fixed_dictionaries({}, optional={"doi": st.sampled_from(["10.1000/a", "10.1000/b"])}),
    extras=st.fixed_dictionaries({}, optional={"is_retracted": st.booleans()}),
)
FAMILIES = {"one": "google", "two": "google", "three": "bing", "four": "openalex"}
LISTS = st.dictionaries(st.sampled_from(sorted(FAMILIES)), st.lists(HITS, max_size=6)).map(
    lambda found: [listed(name, *hits, family=FAMILIES[name]) for name, hits in found.items()]
)


@settings(max_examples=300)
@given(lists=LISTS, order=st.randoms(use_true_random=False))
def test_the_order_of_the_lists_changes_nothing(lists: list[RankedList], order: Any) -> None:
    """Neither the hits, nor their order, nor their scores, nor who is named."""
    shuffled = list(lists)
    order.shuffle(shuffled)
    assert fuse(shuffled) == fuse(lists)


@settings(max_examples=300)
@given(lists=LISTS)
def test_contributions_sum_to_the_score_and_an_index_votes_once(lists: list[RankedList]) -> None:
    """To the last bit; and every instance that named something is named."""
    fused = fuse(lists)
    for hit in fused:
        assert sum(each.contribution for each in hit.contributors) == hit.score
        voters = [each.index_family for each in hit.contributors if each.contribution]
        assert len(voters) == len(set(voters)) > 0
        assert len({each.instance_id for each in hit.contributors}) == len(hit.contributors)
    named = {each.instance_id for hit in fused for each in hit.contributors}
    assert named == {each.instance_id for each in lists if each.hits}
