"""The wait that an answer states."""

import pytest

from zarniwoop.text.retry_after import stated_wait, wait_until

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", 120.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("-5", 0.0),
        (".5", 0.5),
        ("30, 120", 120.0),
        ("30, soon", 30.0),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60.0),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
        ("Friday, 15-Jan-27 08:01:00 GMT", 60.0),
        ("Fri, 15 Jan 2027 09:01:00 +0100", 60.0),
        ("99999999999", 31 * 86_400.0),
        ("1e400", 31 * 86_400.0),
    ],
)
def test_seconds_and_dates_are_read(value: str, wait: float) -> None:
    """A past or negative one means now; of several the longest counts; a month is the most."""
    assert stated_wait({"retry-after": value}, NOW) == wait


@pytest.mark.parametrize(
    "value", ["", "soon", "nan", "inf", "1h", "Fri, 99 Jan 2027 08:01:00 GMT", "1" * 41, "x" * 5000]
)
def test_an_illegible_wait_is_no_wait(value: str) -> None:
    """Then our own schedule holds."""
    assert stated_wait({"retry-after": value}, NOW) is None


def test_no_header_states_nothing() -> None:
    """Not even zero."""
    assert stated_wait({}, NOW) is None


def test_a_date_counts_from_the_answers_own_clock() -> None:
    """A server whose clock is an hour ahead still means a minute."""
    headers = {"retry-after": "Fri, 15 Jan 2027 09:01:00 GMT", "date": "Fri, 15 Jan 2027 09:00:00 GMT"}
    assert stated_wait(headers, NOW) == 60.0


def test_an_illegible_clock_is_not_corrected_for() -> None:
    """Then ours has to do."""
    headers = {"retry-after": "Fri, 15 Jan 2027 08:01:00 GMT", "date": "noon"}
    assert stated_wait(headers, NOW) == 60.0


@pytest.mark.parametrize(
    ("moment", "headers", "wait"),
    [
        (NOW + 42, {"date": "Fri, 15 Jan 2027 08:00:00 GMT"}, 42.0),
        (NOW - 42, {"date": "Fri, 15 Jan 2027 08:00:00 GMT"}, 0.0),
        (1e300, {"date": "Fri, 15 Jan 2027 08:00:00 GMT"}, 31 * 86_400.0),
        (NOW + 42, {}, None),
        (NOW + 42, {"date": "today"}, None),
        (None, {"date": "Fri, 15 Jan 2027 08:00:00 GMT"}, None),
    ],
)
def test_a_moment_lies_ahead_by_the_answer_s_own_clock(
    moment: float | None, headers: dict[str, str], wait: float | None
) -> None:
    """Without a moment or a clock nothing is known."""
    assert wait_until(moment, headers) == wait
