"""Numbers and lengths of style sheets, in pixels; roughly, where a screen or a font decides.

Format: https://www.w3.org/TR/css-values-4/. `calc()`, `min()`, `max()` and `clamp()` are worked out from within.
"""

import re
from math import prod

_SIGNED = r"[+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:e[+-]?\d{1,2}(?!\d))?"
_NUMBER = re.compile(_SIGNED)
_LENGTH = re.compile(rf"({_SIGNED})\d*([a-z]{{1,5}}|%)?")
_FUNCTION = re.compile(r"(?:-webkit-)?(calc|min|max|clamp)$")
_LONGEST_FUNCTION = 13
_SUM = re.compile(r"\s([+-])\s")
_FACTOR = re.compile(r"([*/])")
_MOST_BRACKETS = 60
_VIEWPORT = re.compile(r"[sld]?v(?:w|h|i|b|min|max)|cq(?:w|h|i|b|min|max)")
_PIXELS = {
    "px": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "ic": 16.0, "cap": 12.0, "lh": 20.0, "rlh": 20.0,
    "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945,
}  # fmt: skip
_OF_VIEWPORT = 10.0


def number(value: str | None) -> float | None:
    """The number that a value begins with."""
    found = _NUMBER.match(value) if value else None
    return float(found[0]) if found else None


def length(value: str | None, *, percent: float | None = None, font: float = 16.0) -> float | None:
    """In pixels. What is relative to a box (`%`) is not known without `percent`, but nothing of it is nothing."""
    if not value:
        return None
    if "(" in value:
        value = _worked_out(value, percent, font)
    return _simple(value, percent, font) if value else None


def _simple(value: str, percent: float | None, font: float) -> float | None:
    found = _LENGTH.fullmatch(value.strip())
    if not found:
        return None
    amount, unit = float(found[1]), found[2]
    if unit is None or amount == 0:
        return amount if unit is None or unit in _PIXELS or unit == "%" or _VIEWPORT.fullmatch(unit) else None
    if unit == "%":
        return None if percent is None else amount * percent
    if unit == "em":
        return amount * font
    if _VIEWPORT.fullmatch(unit):
        return amount * _OF_VIEWPORT
    return amount * _PIXELS[unit] if unit in _PIXELS else None


def _worked_out(value: str, percent: float | None, font: float) -> str | None:
    """The value with every bracket replaced by what is in it; None where that is not known."""
    for _level in range(_MOST_BRACKETS):
        start = value.rfind("(")
        end = value.find(")", start)
        if start < 0 or end < 0:
            return value if start < 0 else None
        parts = [_sum(part, percent, font) for part in value[start + 1 : end].split(",")]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        function = _FUNCTION.search(value, max(0, start - _LONGEST_FUNCTION), start)
        before = value[: function.start()] if function else value[:start]
        value = f"{before}{_chosen(function[1] if function else None, known):.6f}{value[end + 1 :]}"
    return None


def _chosen(function: str | None, parts: list[float]) -> float:
    if function == "min":
        return min(parts)
    if function == "max":
        return max(parts)
    if function == "clamp" and len(parts) == 3:
        return max(parts[0], min(parts[1], parts[2]))
    return parts[0]


def _sum(text: str, percent: float | None, font: float) -> float | None:
    terms = _SUM.split(f" {text.strip()}")
    total = 0.0
    for sign, term in zip(("+", *terms[1::2]), terms[::2], strict=True):
        amount = _product(term, percent, font)
        if amount is None:
            return None
        total += amount if sign == "+" else -amount
    return total


def _product(text: str, percent: float | None, font: float) -> float | None:
    factors = _FACTOR.split(text)
    amounts = [_simple(factor, percent, font) for factor in factors[::2]]
    known = [amount for amount in amounts if amount is not None]
    if len(known) < len(amounts):
        return None
    powers = [-1 if mark == "/" else 1 for mark in ("*", *factors[1::2])]
    if any(amount == 0 and power < 0 for amount, power in zip(known, powers, strict=True)):
        return None
    return prod(amount**power for amount, power in zip(known, powers, strict=True))
