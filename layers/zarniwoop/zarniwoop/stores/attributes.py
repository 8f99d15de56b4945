"""DynamoDB's attribute values, written strictly and read forgivingly.

Format: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
Quirk: numbers travel as text of at most 38 digits, and TTL reads only whole seconds in a number, so `expires_at` is
always written as one. Readers take what hands and older versions may have left: floats, texts, milliseconds, nothing.
"""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

Attribute = Mapping[str, Any]
Item = Mapping[str, Attribute]

EXPIRES_AT = "expires_at"

LAST_MOMENT = 9_999_999_999
"""The year 2286: what "for ever" is written as."""
_FIRST_MILLISECONDS = 100_000_000_000
"""A moment of this size in seconds would lie in the year 5138, so it is meant in milliseconds."""


def text(value: str) -> dict[str, Any]:
    return {"S": value}


def flag(value: bool) -> dict[str, Any]:
    return {"BOOL": value}


def texts(values: tuple[str, ...]) -> dict[str, Any]:
    return {"L": [text(value) for value in values]}


def number(value: float) -> dict[str, Any]:
    """Exact, so that what is read back compares equal. Raises ValueError for what is not finite."""
    if not math.isfinite(value):
        raise ValueError("only a finite number can be stored")
    return {"N": format(Decimal(repr(value)), "f")}


def moment(seconds: float) -> dict[str, Any]:
    """An epoch second with its fraction; infinity becomes the year 2286."""
    return number(min(seconds, LAST_MOMENT))


def expiry(seconds: float) -> dict[str, Any]:
    """For `expires_at`: whole seconds, rounded down."""
    return number(int(min(seconds, LAST_MOMENT)))


def read_text(item: Item, name: str) -> str:
    """Raises LookupError or TypeError when it is not there."""
    value = item[name]["S"]
    if not isinstance(value, str):
        raise TypeError(f"{name} is not a text")
    return value


def read_number(item: Item, name: str) -> float:
    """Raises LookupError or ValueError when it is not there."""
    return float(item[name]["N"])


def read_flag(item: Item, name: str) -> bool:
    """False when it is missing."""
    return item.get(name, {}).get("BOOL") is True


def read_texts(item: Item, name: str) -> tuple[str, ...]:
    """Empty when it is missing."""
    return tuple(str(each["S"]) for each in item.get(name, {}).get("L", ()))


def read_moment(item: Item, name: str) -> float | None:
    """An epoch second out of a number or a text, in seconds or milliseconds; None when missing or illegible."""
    attribute = item.get(name, {})
    written = attribute.get("N", attribute.get("S"))
    try:
        seconds = float(written)
    except (TypeError, ValueError):
        return None
    if not math.isfinite(seconds):
        return None
    return seconds / 1000 if seconds >= _FIRST_MILLISECONDS else seconds


def has_lapsed(item: Item, now: float) -> bool:
    """Whether the item's time is over: TTL deletes days later, and until then the readers must not see it."""
    expires_at = read_moment(item, EXPIRES_AT)
    return expires_at is not None and expires_at <= now
