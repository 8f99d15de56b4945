"""The account of filters: applied by the provider, applied here, or ignored and why."""

from datetime import date
from typing import Any

import pytest

from tests.fakes.instances import request
from zarniwoop.contract.hit import SearchHit
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.request import Locale
from zarniwoop.contract.result import AppliedFilter, FilterHandling
from zarniwoop.text.dates import parse_date
from zarniwoop.wire.filters import account_for_filters
from zarniwoop.wire.format import Found

HERE, PROVIDER, IGNORED = FilterHandling.HERE, FilterHandling.PROVIDER, FilterHandling.IGNORED


def hit(url: str, published: str | None = None) -> SearchHit:
    return SearchHit(title=url, url=url, modality=SearchModality.WEB, published_at=parse_date(published))


HITS = (
    hit("https://www.nature.com/a.pdf", "2024-05-08"),
    hit("https://arxiv.org/abs/1", "2023"),
    hit("https://mynature.com/b"),
)


def account(
    hits: tuple[SearchHit, ...] = HITS,
    translated: frozenset[str] = frozenset(),
    ignores: dict[str, str] | None = None,
    **asked: Any,
) -> tuple[list[str], int, tuple[AppliedFilter, ...]]:
    found, applied = account_for_filters(
        request(**asked), Found(hits=hits, dropped_count=1, translated=translated), ignores or {}
    )
    return [kept.url for kept in found.hits], found.dropped_count, applied


def test_without_filters_nothing_is_told_and_nothing_dropped() -> None:
    """The account is of what was asked for."""
    assert account() == ([hit.url for hit in HITS], 1, ())


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("site", "nowhere.example", []),
        ("site", "ARXIV.org/Abs/", [1]),
        ("domain", "nature.com", [0]),
        ("filetype", "docx", [1, 2]),
        ("filetype", "pdf", [0, 1, 2]),
        ("date_from", date(2030, 1, 1), [0, 1, 2]),
    ],
)
def test_of_a_translated_filter_those_hits_are_dropped_that_show_that_they_break_it(
    name: str, value: Any, kept: list[int]
) -> None:
    """A query may undo it. An address without an ending of a file shows nothing, and dates are the provider's."""
    urls, dropped, applied = account(translated=frozenset({name}), **{name: value})
    assert (urls, dropped) == ([HITS[index].url for index in kept], 1 + len(HITS) - len(kept))
    assert applied == (AppliedFilter(name=name, value=str(value), handling=PROVIDER),)


def test_a_picture_of_a_type_may_be_on_a_page_of_another() -> None:
    """Its hit's address is the page's."""
    picture = SearchHit(title="Bell", url="https://bells.example/a.html", modality=SearchModality.IMAGE)
    assert account(hits=(picture,), translated=frozenset({"filetype"}), filetype="png")[1] == 1


@pytest.mark.parametrize(("ending", "filetype"), [("docx", ".DOC"), ("html", "htm"), ("x", "pdf"), ("php", "pdf")])
def test_an_ending_of_the_same_kind_and_one_that_says_nothing_break_no_type(ending: str, filetype: str) -> None:
    """A script may send any file."""
    assert account((hit(f"https://a.example/b.{ending}"),), frozenset({"filetype"}), filetype=filetype)[1] == 1


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"domain": "nature.com"}, [0]),
        ({"site": "arxiv.org/abs"}, [1]),
        ({"filetype": "pdf"}, [0]),
        ({"date_from": date(2024, 1, 1)}, [0]),
        ({"date_to": date(2023, 6, 1)}, [1]),
        ({"freshness_days": 30, "published": (date(2024, 5, 1), None)}, [0]),
        ({"domain": "nature.com", "filetype": "html"}, []),
    ],
)
def test_what_the_provider_did_not_apply_is_applied_here(asked: dict[str, Any], kept: list[int]) -> None:
    """A hit that cannot be shown to pass is dropped and counted, an undated one under a date filter too."""
    urls, dropped, applied = account(**asked)
    assert urls == [HITS[index].url for index in kept]
    assert dropped == 1 + len(HITS) - len(kept)
    assert {entry.handling for entry in applied} == {HERE}


def test_a_date_filter_is_ignored_where_no_hit_carries_a_date() -> None:
    """It would throw everything away, and it says so."""
    urls, dropped, applied = account(hits=HITS[2:], date_from=date(2024, 1, 1))
    assert (len(urls), dropped) == (1, 1)
    assert [(entry.handling, entry.reason) for entry in applied] == [
        (IGNORED, "no hit of this provider carries a date")
    ]


def test_a_filter_that_must_not_be_applied_is_ignored_with_the_adapters_reason() -> None:
    """An encyclopedia's pages have no publication date."""
    urls, _, applied = account(ignores={"filetype": "pages only"}, filetype="pdf")
    assert len(urls) == 3
    assert applied == (AppliedFilter(name="filetype", value="pdf", handling=IGNORED, reason="pages only"),)


def test_a_translated_filter_wins_over_a_reason_to_ignore_it() -> None:
    """The adapter may translate it for some requests only."""
    _, _, applied = account(translated=frozenset({"locale"}), ignores={"locale": "x"}, locale=Locale(language="de"))
    assert applied[0].handling is PROVIDER


def test_a_locale_that_nobody_applies_is_ignored() -> None:
    """A hit does not show the region it is meant for."""
    _, _, applied = account(locale=Locale(language="de", region="AT"))
    assert (applied[0].name, applied[0].value, applied[0].handling) == ("locale", "de-AT", IGNORED)
    assert applied[0].reason


def test_every_filter_is_told_of_in_a_fixed_order() -> None:
    """Tests and people compare accounts."""
    asked: dict[str, Any] = {"date_from": date(2020, 1, 1), "site": "arxiv.org", "filetype": "pdf", "freshness_days": 3}
    _, _, applied = account(locale=Locale(language="en"), **asked)
    assert [entry.name for entry in applied] == ["site", "filetype", "date_from", "freshness_days", "locale"]


def test_an_empty_answer_still_has_its_account() -> None:
    """Nothing to drop, nothing to ignore."""
    urls, dropped, applied = account(hits=(), date_from=date(2024, 1, 1))
    assert (urls, dropped, applied[0].handling) == ([], 1, HERE)
