"""Publication dates, no more exact than they were written."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

from zarniwoop.contract.hit import DatePrecision, PublishedAt
from zarniwoop.contract.request import DateRange

_LONGEST_REMEMBERED = 40
_FIRST_DAY, _LAST_DAY = date(1970, 1, 1), date(2100, 1, 1)
_ISO = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_YEAR_FIRST = re.compile(r"(\d{4})(?:[\s,]+([A-Za-z]{3})[a-z]*\.?(?:\s+(\d{1,2}))?)?(?:\b.*)?")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3})[a-z]*\.?\s+(?:(\d{1,2}),?\s+)?(\d{4})")
_MIDNIGHT = re.compile(r"[T ]00:00:00(?:\.0+)?(?:Z|[+-]00:?00)?$")
_DAY_FIRST = re.compile(r"(\d{1,2})\.?\s+([A-Za-z]{3})[a-z]*\.?\s+(\d{4})")


def from_parts(year: int, month: int | None = None, day: int | None = None) -> PublishedAt | None:
    """A date from its numbers; an impossible day or month leaves the coarser part, an impossible year None."""
    if not 1000 <= year <= 2999:
        return None
    if not month or not 1 <= month <= 12:
        return PublishedAt(value=f"{year:04d}", precision=DatePrecision.YEAR)
    if not day or day < 1 or (day > 28 and day > monthrange(year, month)[1]):
        return PublishedAt(value=f"{year:04d}-{month:02d}", precision=DatePrecision.MONTH)
    return PublishedAt(value=f"{year:04d}-{month:02d}-{day:02d}", precision=DatePrecision.DAY)


def from_epoch(seconds: float) -> PublishedAt | None:
    """An instant from epoch seconds; None for an impossible year, as in `from_parts`."""
    try:
        moment = datetime.fromtimestamp(seconds, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None
    if not 1000 <= moment.year <= 2999:
        return None
    return PublishedAt(value=moment.strftime("%Y-%m-%dT%H:%M:%SZ"), precision=DatePrecision.SECOND)


def parse_date(text: str | None) -> PublishedAt | None:
    """Read `2017`, `2017-06-12`, an RFC 3339 instant, `2007 Mar 21`, `Jan 29, 2023`, `June 2017`, `3 May 2020`, or
    `Mon, 10 Feb 2025 05:00:00 GMT`.

    Relative dates ("5 mins ago") have no date without a clock and come to None.
    Years and days come again with other hits: those that came last are not read anew.
    """
    if not text:
        return None
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _read(text)


def _read(text: str) -> PublishedAt | None:
    text = text.strip()
    if len(text) > 10 and text[4:5] == "-" and text[10] in "T ":
        return _instant(text)
    if iso := _ISO.fullmatch(text):
        return from_parts(*(int(part) if part else None for part in iso.groups()))  # type: ignore[arg-type]
    return _mailed(text) if text[3:5] == ", " else _worded(text)


_remembered = lru_cache(maxsize=512)(_read)


def parse_day_or_instant(text: str | None) -> PublishedAt | None:
    """As `parse_date`, of a provider that writes midnight where it knows the day alone."""
    return parse_date(_MIDNIGHT.sub("", text) if text else None)


def _instant(text: str) -> PublishedAt | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return parse_date(text[:10])
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return from_epoch(moment.timestamp())


def _mailed(text: str) -> PublishedAt | None:
    """A date as mails and HTTP headers write it (RFC 5322)."""
    try:
        moment = parsedate_to_datetime(text[:40])
        return from_epoch((moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).timestamp())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _worded(text: str) -> PublishedAt | None:
    if found := _MONTH_FIRST.fullmatch(text):
        month, day, year = found.groups()
    elif found := _DAY_FIRST.fullmatch(text):
        day, month, year = found.groups()
    elif found := _YEAR_FIRST.fullmatch(text):
        year, month, day = found.groups()
    else:
        return None
    number = _MONTHS.get(month.lower()) if month else None
    return from_parts(int(year), number, int(day) if day and number else None)


def days_covered(published: PublishedAt) -> tuple[date, date]:
    """The first and last day that the date can mean: all of 2017 for `2017`."""
    year, month, day = (int(part) if part else None for part in (*published.value[:10].split("-"), "", "")[:3])
    if year is None:
        raise ValueError("a publication date starts with its year")
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    if day is None:
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    return date(year, month, day), date(year, month, day)


def lies_in(published: PublishedAt, window: DateRange) -> bool:
    """Whether the date can lie in the window; a coarse date counts when any of its days does."""
    first, last = days_covered(published)
    return (window.earliest is None or last >= window.earliest) and (window.latest is None or first <= window.latest)


def closed(window: DateRange, freshness_days: int | None) -> tuple[date, date]:
    """Both ends of a window, for providers that insist on them: an open one lies far off.

    Freshness was resolved to its first day, so that the last one is so many days later.
    """
    first, last = window.earliest or _FIRST_DAY, window.latest or _LAST_DAY
    if window.earliest and not window.latest and freshness_days:
        last = date.fromordinal(min(first.toordinal() + freshness_days, last.toordinal()))
    return first, last
