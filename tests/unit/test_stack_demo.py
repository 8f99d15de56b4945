"""A demo that fails says what it expected and what came, in a line."""

import pytest

from stack.demo_pages import DemoFailedError, expect


def test_a_failure_is_a_line_however_much_came() -> None:
    """And what is as expected is no failure."""
    expect("states", ("READY",), ("READY",))
    with pytest.raises(DemoFailedError) as failed:
        expect("outcomes", ["ok"], ["x\n" * 5_000])
    told = str(failed.value)
    assert told.startswith("outcomes: expected ['ok'], got ['x\\nx")
    assert told.endswith("…")
    assert "\n" not in told
    assert len(told) < 300
