"""The wait that an answer states (RFC 9110 section 10.2.3, and the headers that grew beside it)."""

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

_LONGEST = 31 * 86_400.0


def stated_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the answer asks us to wait, or None when it does not say, or not legibly.

    `Retry-After` counts as seconds (also decimal) or as a date, corrected by the answer's own `Date`; a past or
    negative one means 0. Several values joined by commas mean the longest. `now` is wall time in epoch seconds.
    """
    value = headers.get("retry-after")
    if value is None:
        return None
    waits = [wait for part in _parts(value) if (wait := _seconds(part, headers, now)) is not None]
    return min(max(waits), _LONGEST) if waits else None


def wait_until(moment: float | None, headers: Mapping[str, str]) -> float | None:
    """Seconds from the answer's own `Date` to a moment in epoch seconds; None without either. A past one means 0."""
    server_now = _epoch(headers.get("date", ""))
    return None if moment is None or server_now is None else min(max(0.0, moment - server_now), _LONGEST)


def _parts(value: str) -> list[str]:
    """A header that came twice is joined by commas, and an HTTP date has one of its own."""
    if "," in value and value[:1].isdigit():
        return [part.strip() for part in value.split(",")]
    return [value.strip()]


def _seconds(value: str, headers: Mapping[str, str], now: float) -> float | None:
    if len(value) > 40:
        return None
    try:
        return max(0.0, float(value)) if value[:1].isdigit() or value[:1] in "-+." else _until(value, headers, now)
    except ValueError:
        return None


def _until(value: str, headers: Mapping[str, str], now: float) -> float | None:
    moment = _epoch(value)
    if moment is None:
        return None
    server_now = _epoch(headers.get("date", ""))
    return max(0.0, moment - (server_now if server_now is not None else now))


def _epoch(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
