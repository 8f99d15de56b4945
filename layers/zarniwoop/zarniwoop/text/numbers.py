"""Numbers as people write them."""

from decimal import Decimal


def in_digits(value: float) -> str:
    """To six places, without an exponent or zeros at the end: `1000000`, `0.25`."""
    return format(Decimal(repr(round(value, 6))).normalize(), "f")
