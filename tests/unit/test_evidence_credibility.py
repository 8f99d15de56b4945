"""Credibility: every reason by its name and points, the same for the same, and as the operations page has it."""

import re
from typing import Any

import pytest

from tests.contract.test_evidence_store import evidence
from tests.fakes.template import ROOT
from zarniwoop.contract.evidence import Evidence, SourceType
from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.modality import SearchModality
from zarniwoop.evidence.credibility import BASE, KINDS, POINTS, score_of, signals_of
from zarniwoop.evidence.sources import SourceKind, identifiers_of_url, kind_of, says_it_is_retracted

NOW = 1_796_000_000.0
"""In November 2026."""


def source(url: str = "https://example.com/page", **more: Any) -> Evidence:
    return evidence(url=url, **({"retrieved_at": NOW} | more))


def written(value: str) -> PublishedAt:
    return PublishedAt(value=value, precision=DatePrecision.YEAR if len(value) == 4 else DatePrecision.DAY)


@pytest.mark.parametrize(
    ("url", "more", "kind"),
    [
        ("https://example.com/a", {"identifiers": {"doi": "10.1038/171737a0"}}, SourceKind.PEER_REVIEWED),
        ("https://example.com/a", {"identifiers": {"pmid": "13054692"}}, SourceKind.PEER_REVIEWED),
        ("https://example.com/a", {"identifiers": {"doi": "10.48550/arxiv.1706.03762"}}, SourceKind.PREPRINT),
        ("https://example.com/a", {"identifiers": {"doi": "10.1101/2020.01.01"}}, SourceKind.PREPRINT),
        ("https://example.com/a", {"identifiers": {"arxiv_id": "1706.03762"}}, SourceKind.PREPRINT),
        ("https://arxiv.org/abs/1706.03762", {}, SourceKind.PREPRINT),
        (
            "https://arxiv.org/abs/1706.03762",
            {"identifiers": {"arxiv_id": "1706.03762", "doi": "10.1038/171737a0"}},
            SourceKind.PEER_REVIEWED,
        ),
        ("https://www.biorxiv.org/content/1", {}, SourceKind.PREPRINT),
        ("https://www.nasa.gov/bells", {}, SourceKind.GOVERNMENT),
        ("https://www.gov.uk/bells", {}, SourceKind.GOVERNMENT),
        ("https://bells.service.gov.uk/", {}, SourceKind.GOVERNMENT),
        ("https://www.bfs.admin.ch/", {}, SourceKind.GOVERNMENT),
        ("https://www.bsi.bund.de/", {}, SourceKind.GOVERNMENT),
        ("https://www.mhlw.go.jp/", {}, SourceKind.GOVERNMENT),
        ("https://ec.europa.eu/eurostat", {}, SourceKind.GOVERNMENT),
        ("https://www.who.int/", {}, SourceKind.GOVERNMENT),
        ("https://gov.example.com/", {}, SourceKind.WEB),
        ("https://notagov.uk/", {}, SourceKind.WEB),
        ("https://www.mit.edu/bells", {}, SourceKind.EDUCATION),
        ("https://www.ox.ac.uk/", {}, SourceKind.EDUCATION),
        ("https://de.wikipedia.org/wiki/Glocke", {}, SourceKind.ENCYCLOPEDIA),
        ("https://plato.stanford.edu/entries/bells", {}, SourceKind.ENCYCLOPEDIA),
        ("https://notwikipedia.org/", {}, SourceKind.WEB),
        ("https://example.com/", {"modality": SearchModality.ENCYCLOPEDIA}, SourceKind.ENCYCLOPEDIA),
        ("https://www.reddit.com/r/bells", {}, SourceKind.FORUM),
        ("https://forum.example.com/t/1", {}, SourceKind.FORUM),
        ("https://example.com/forum/1", {}, SourceKind.FORUM),
        ("https://ada.github.io/", {}, SourceKind.FORUM),
        ("https://www.reuters.com/a", {}, SourceKind.NEWS),
        ("https://example.com/", {"modality": SearchModality.NEWS}, SourceKind.NEWS),
        ("https://example.com/", {"identifiers": {"isbn": "9780140449136"}}, SourceKind.BOOK),
        ("https://example.com/products/bell", {}, SourceKind.VENDOR),
        ("https://shop.example.com/", {}, SourceKind.VENDOR),
        ("https://example.com/pricing", {}, SourceKind.VENDOR),
        ("https://example.com/production", {}, SourceKind.WEB),
        ("http://[::1]:99999/", {}, SourceKind.WEB),
    ],
)
def test_a_source_is_of_the_first_kind_that_fits(url: str, more: dict[str, Any], kind: SourceKind) -> None:
    """By identifiers, host, path, and how it was found."""
    found = source(url, **more)
    assert kind_of(found) is kind
    assert ("kind", kind.value, KINDS[kind]) in {(each.name, each.value, each.points) for each in signals_of(found)}


@pytest.mark.parametrize(
    ("more", "signal"),
    [
        ({"published_at": written("2026")}, ("age", "recent")),
        ({"published_at": written("2024-12-31")}, ("age", "recent")),
        ({"published_at": written("2023-12-31")}, ("age", "settled")),
        ({"published_at": written("2016")}, ("age", "settled")),
        ({"published_at": written("2015-05-01")}, ("age", "old")),
        ({"published_at": PublishedAt(value="soon", precision=DatePrecision.YEAR)}, ("age", "unknown")),
        ({}, ("age", "unknown")),
        ({"byline": "Ada Bell"}, ("author", "named")),
        ({"authors": ("Ada Bell",)}, ("author", "named")),
        ({}, ("author", "unnamed")),
        ({}, ("connection", "https")),
        ({"final_url": "http://example.com/"}, ("connection", "http")),
        ({"truncated": True}, ("read", "cut")),
        ({"source_type": SourceType.SEARCH_HIT, "truncated": True}, ("read", "excerpt")),
        ({}, ("read", "whole")),
        ({"suspicious": ("orders",)}, ("hygiene", "suspicious")),
        ({}, ("hygiene", "clean")),
        ({"retracted": True}, ("retraction", "retracted")),
        ({}, ("retraction", "none_known")),
        ({"identifiers": {"doi": "10.1038/171737a0"}}, ("origin", "primary")),
        ({}, ("origin", "secondary")),
        ({}, ("identifiers", "none")),
        ({"identifiers": {"doi": ""}}, ("identifiers", "none")),
    ],
)
def test_each_reason_has_its_points(more: dict[str, Any], signal: tuple[str, str]) -> None:
    """One value for every name, whatever it adds."""
    found = signals_of(source(**more))
    assert (*signal, POINTS[signal]) in {(each.name, each.value, each.points) for each in found}
    assert len({each.name for each in found}) == len(found) == 11


def test_which_identifiers_there_are_is_told_and_weighed_by_the_kind_alone() -> None:
    """By name, in one order; nothing is counted twice."""
    plain, named = source(), source(identifiers={"pmid": "13054692", "doi": "10.1038/171737a0"})
    (signal,) = (each for each in signals_of(named) if each.name == "identifiers")
    assert (signal.value, signal.points) == ("doi,pmid", 0.0)
    more = KINDS[SourceKind.PEER_REVIEWED] + POINTS["origin", "primary"]
    assert score_of(signals_of(named)) == pytest.approx(score_of(signals_of(plain)) + more)


@pytest.mark.parametrize(("count", "value"), [(0, "one"), (1, "one"), (2, "two"), (3, "several"), (9, "several")])
def test_sources_that_several_indexes_name_count_for_more(count: int, value: str) -> None:
    """Indexes of their own, which is for the caller to count."""
    assert signals_of(source(), independent=count)[-1].value == value


def test_the_score_is_the_sum_between_nought_and_one() -> None:
    """In hundredths, so that no machine sees another one."""
    best = source(
        identifiers={"doi": "10.1038/171737a0"}, published_at=written("2026"), byline="Ada Bell", retrieved_at=NOW
    )
    assert score_of(signals_of(best, independent=3)) == 1.0
    assert score_of(signals_of(source())) == 0.3
    assert score_of(signals_of(source("http://www.reddit.com/r/x", suspicious=("orders",)))) == 0.0
    assert score_of(signals_of(source(identifiers={"doi": "10.1038/171737a0"}, retracted=True))) == 0.0
    assert score_of(()) == 0.0


def test_the_same_source_gets_the_same_reasons() -> None:
    """Read at the same moment, as often as one likes; nothing else is asked."""
    found = source("https://www.nasa.gov/bells", byline="Ada Bell")
    assert len({signals_of(found) for _ in range(20)}) == 1


@pytest.mark.parametrize(
    ("url", "identifiers"),
    [
        ("https://doi.org/10.1038/171737A0", {"doi": "10.1038/171737a0"}),
        ("https://doi.org/10.48550/arXiv.1706.03762", {"doi": "10.48550/arxiv.1706.03762", "arxiv_id": "1706.03762"}),
        ("https://arxiv.org/abs/1706.03762v7", {"arxiv_id": "1706.03762"}),
        ("https://arxiv.org/list/cs", {}),
        ("https://pubmed.ncbi.nlm.nih.gov/13054692/", {"pmid": "13054692"}),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC11116106/", {"pmcid": "PMC11116106"}),
        ("https://evil.example/10.1038/171737a0", {}),
        ("https://evil.example/?doi=10.1038/171737a0", {}),
    ],
)
def test_only_those_who_give_identifiers_out_are_believed(url: str, identifiers: dict[str, str]) -> None:
    """Anybody can put one into a URL."""
    assert identifiers_of_url(url) == identifiers


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("RETRACTED: Bells and health", True),
        ("[Retracted] Bells and health", True),
        ("Retracted article: Bells", True),
        ("WITHDRAWN: Bells", True),
        ("Retraction Note: Bells", False),
        ("Retracted papers on the rise", False),
        ("How bells were retracted", False),
        ("", False),
    ],
)
def test_a_title_that_says_so_is_retracted(title: str, said: bool) -> None:
    """Not one that tells of retractions."""
    assert says_it_is_retracted(title) is said


def test_the_operations_page_has_every_reason_with_its_points() -> None:
    """And none besides."""
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    section = page.partition("### Credibility")[2].partition("\n## ")[0]
    told = {
        (name, value): float(points.replace("−", "-"))
        for name, value, points in re.findall(r"^\| `(\w+)` \| `(\w+)` \| ([−+]?[\d.]+) \|", section, re.MULTILINE)
    }
    kinds = {("kind", kind.value): points for kind, points in KINDS.items()}
    assert told == {("base", "readable"): BASE, **kinds, **POINTS}
