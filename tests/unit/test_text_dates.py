"""Dates no more exact than they were written."""

from datetime import date

import pytest

from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.request import DateRange
from zarniwoop.text.dates import closed, days_covered, from_epoch, from_parts, lies_in, parse_date, parse_day_or_instant

YEAR, MONTH, DAY, SECOND = DatePrecision.YEAR, DatePrecision.MONTH, DatePrecision.DAY, DatePrecision.SECOND


def at(value: str, precision: DatePrecision) -> PublishedAt:
    return PublishedAt(value=value, precision=precision)


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("2017", at("2017", YEAR)),
        ("2017-06", at("2017-06", MONTH)),
        ("2017-6-1", at("2017-06-01", DAY)),
        (" 2017-06-12 ", at("2017-06-12", DAY)),
        ("2017-06-12T10:11:12Z", at("2017-06-12T10:11:12Z", SECOND)),
        ("2017-06-12T10:11:12.345+02:00", at("2017-06-12T08:11:12Z", SECOND)),
        ("2017-06-12 10:11:12", at("2017-06-12T10:11:12Z", SECOND)),
        ("2017-06-12T99:99", at("2017-06-12", DAY)),
        ("2007 Mar 21", at("2007-03-21", DAY)),
        ("2007 Mar", at("2007-03", MONTH)),
        ("2007 Mar-Apr", at("2007-03", MONTH)),
        ("2007 Spring", at("2007", YEAR)),
        ("Jan 29, 2023", at("2023-01-29", DAY)),
        ("June 2017", at("2017-06", MONTH)),
        ("Sept. 2017", at("2017-09", MONTH)),
        ("3 May 2020", at("2020-05-03", DAY)),
        ("3. May 2020", at("2020-05-03", DAY)),
        ("Mon, 10 Feb 2025 05:00:00 GMT", at("2025-02-10T05:00:00Z", SECOND)),
        ("Mon, 10 Feb 2025 05:00:00 +0200", at("2025-02-10T03:00:00Z", SECOND)),
        ("Mon, 10 Feb 2025 05:00:00 -0000", at("2025-02-10T05:00:00Z", SECOND)),
    ],
)
def test_a_date_is_read_as_exactly_as_it_was_written(text: str, published: PublishedAt) -> None:
    """Year, month, day or second, and no more."""
    assert parse_date(text) == published


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("2025-07-31T00:00:00.000Z", at("2025-07-31", DAY)),
        ("2026-02-03 00:00:00", at("2026-02-03", DAY)),
        ("2026-02-03 00:00:00+0000", at("2026-02-03", DAY)),
        ("2026-02-03T00:00:00+02:00", at("2026-02-02T22:00:00Z", SECOND)),
        ("2025-11-06T12:27:04.000Z", at("2025-11-06T12:27:04Z", SECOND)),
        ("2017", at("2017", YEAR)),
        ("", None),
        (None, None),
    ],
)
def test_midnight_is_the_day_alone_where_a_provider_writes_it_so(
    text: str | None, published: PublishedAt | None
) -> None:
    """Of another zone it is a moment."""
    assert parse_day_or_instant(text) == published


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("2017-13-01", at("2017", YEAR)),
        ("2017-02-30", at("2017-02", MONTH)),
        ("2017-00-00", at("2017", YEAR)),
        ("2026-99-99T00:00:00Z", at("2026", YEAR)),
    ],
)
def test_an_impossible_part_leaves_the_coarser_one(text: str, published: PublishedAt) -> None:
    """A provider's typing error costs precision and not the date."""
    assert parse_date(text) == published


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "5 mins ago",
        "yesterday",
        "0000",
        "0999-01-01",
        "0987-05-01T00:00:00Z",
        "9999999999",
        "Mon, soon",
        "x" * 10_000,
    ],
)
def test_what_is_no_date_is_none(text: str | None) -> None:
    """A relative date has no date without a clock."""
    assert parse_date(text) is None


def test_a_date_with_a_long_story_behind_it_is_read_though_not_remembered() -> None:
    assert parse_date("2007 Mar 21; " + "and so on " * 10) == parse_date("2007 Mar 21")


@pytest.mark.parametrize(
    ("seconds", "value"),
    [(0, "1970-01-01T00:00:00Z"), (-86_400, "1969-12-31T00:00:00Z"), (1_800_000_000.9, "2027-01-15T08:00:00Z")],
)
def test_an_instant_comes_from_epoch_seconds(seconds: float, value: str) -> None:
    """To the second, in UTC."""
    assert from_epoch(seconds) == at(value, SECOND)


@pytest.mark.parametrize("seconds", [1e18, -1e18, float("nan"), float("inf"), -31_000_000_000, 33_000_000_000])
def test_an_impossible_instant_is_none(seconds: float) -> None:
    """The year 987 would be written with three digits and compare wrongly."""
    assert from_epoch(seconds) is None


def test_parts_that_are_absent_or_impossible_leave_the_coarser_date() -> None:
    """An impossible year leaves nothing."""
    assert from_parts(2017) == at("2017", YEAR)
    assert from_parts(2017, 6) == at("2017-06", MONTH)
    assert from_parts(2017, 0, 5) == at("2017", YEAR)
    assert from_parts(2016, 2, 29) == at("2016-02-29", DAY)
    assert from_parts(17) is None


@pytest.mark.parametrize(
    ("published", "first", "last"),
    [
        (at("2017", YEAR), date(2017, 1, 1), date(2017, 12, 31)),
        (at("2016-02", MONTH), date(2016, 2, 1), date(2016, 2, 29)),
        (at("2017-06-12", DAY), date(2017, 6, 12), date(2017, 6, 12)),
        (at("2017-06-12T08:11:12Z", SECOND), date(2017, 6, 12), date(2017, 6, 12)),
    ],
)
def test_a_coarse_date_covers_all_its_days(published: PublishedAt, first: date, last: date) -> None:
    """A year covers its 365."""
    assert days_covered(published) == (first, last)


def test_a_value_that_is_no_date_covers_no_days() -> None:
    """It cannot come out of this module, so it is an error and no answer."""
    with pytest.raises(ValueError, match=r"year|invalid"):
        days_covered(at("", YEAR))


@pytest.mark.parametrize(
    ("earliest", "latest", "inside"),
    [
        (None, None, True),
        (date(2017, 6, 30), None, True),
        (date(2018, 1, 1), None, False),
        (None, date(2017, 1, 1), True),
        (None, date(2016, 12, 31), False),
    ],
)
def test_a_coarse_date_lies_in_a_window_that_holds_any_of_its_days(
    earliest: date | None, latest: date | None, inside: bool
) -> None:
    """Both ends are inclusive."""
    assert lies_in(at("2017", YEAR), DateRange(earliest=earliest, latest=latest)) is inside


@pytest.mark.parametrize(
    ("window", "freshness", "ends"),
    [
        ((date(2024, 1, 5), date(2024, 2, 1)), 7, (date(2024, 1, 5), date(2024, 2, 1))),
        ((date(2024, 1, 5), None), 7, (date(2024, 1, 5), date(2024, 1, 12))),
        ((date(2024, 1, 5), None), None, (date(2024, 1, 5), date(2100, 1, 1))),
        ((None, date(2024, 2, 1)), None, (date(1970, 1, 1), date(2024, 2, 1))),
        ((date(9999, 12, 31), None), 7, (date(9999, 12, 31), date(2100, 1, 1))),
    ],
)
def test_an_open_window_can_be_closed(
    window: tuple[date | None, date | None], freshness: int | None, ends: tuple[date, date]
) -> None:
    """Freshness was resolved to its first day; what has no end reaches far enough, and no further than dates do."""
    earliest, latest = window
    assert closed(DateRange(earliest=earliest, latest=latest), freshness) == ends
