"""Numbers in digits."""

import pytest

from zarniwoop.text.numbers import in_digits


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (1_000_000.0, "1000000"),
        (1_234_567, "1234567"),
        (0.25, "0.25"),
        (0.1 + 0.2, "0.3"),
        (0.0, "0"),
        (7, "7"),
        (1e-9, "0"),
        (1e21, "1" + "0" * 21),
    ],
)
def test_a_number_is_told_in_plain_digits(value: float, told: str) -> None:
    """`1e+06 credits` is nothing that people read."""
    assert in_digits(value) == told
