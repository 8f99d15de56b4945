"""Attribute values: strict when written, forgiving when read."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.clock import FakeClock
from zarniwoop.stores.attributes import (
    EXPIRES_AT,
    Attribute,
    expiry,
    has_lapsed,
    moment,
    number,
    read_moment,
    read_number,
)
from zarniwoop.stores.state_items import read_cooldown, read_quota

NOW = FakeClock().now()


@given(st.one_of(st.integers(-(10**12), 10**12), st.floats(-1e12, 1e12, allow_subnormal=False)))
def test_a_number_reads_back_as_it_was(value: float) -> None:
    """Exactly, since conditions compare what was read with what is there."""
    assert read_number({"n": number(value)}, "n") == value


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_not_stored_as_a_number(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        number(value)


def test_an_expiry_is_always_written_in_whole_seconds() -> None:
    """DynamoDB's TTL ignores anything else."""
    assert expiry(NOW + 0.9) == {"N": "1800000000"}
    assert expiry(math.inf) == moment(math.inf) == {"N": "9999999999"}


@pytest.mark.parametrize(
    "attribute",
    [
        {"N": "1800000000"},
        {"N": "1800000000.75"},
        {"N": "1800000000000"},
        {"S": "1800000000"},
        {"S": "1800000000000.0"},
        {"N": "1.8E9"},
    ],
)
def test_an_expiry_is_read_in_whatever_spelling(attribute: Attribute) -> None:
    """Seconds or milliseconds, whole or not, number or text."""
    item = {EXPIRES_AT: attribute}
    assert read_moment(item, EXPIRES_AT) == pytest.approx(NOW, abs=1)
    assert has_lapsed(item, NOW + 1)
    assert not has_lapsed(item, NOW - 1)


@pytest.mark.parametrize(
    "item", [{}, {EXPIRES_AT: {"S": "soon"}}, {EXPIRES_AT: {"BOOL": True}}, {EXPIRES_AT: {"N": "inf"}}]
)
def test_an_expiry_that_is_missing_or_illegible_is_unknown(item: dict[str, Attribute]) -> None:
    """Such an item has not lapsed; whether it may be used is for its reader to say."""
    assert read_moment(item, EXPIRES_AT) is None
    assert not has_lapsed(item, NOW)


COOLDOWN: dict[str, Attribute] = {
    "sk": {"S": "CD#serper-main#WEB#settings-1"},
    "reason": {"S": "rate_limited"},
    "until": {"N": "1800000060"},
    "failures": {"N": "1"},
    "failed_at": {"N": "1800000000"},
}
QUOTA: dict[str, Attribute] = {
    "sk": {"S": "QU#serper-main#WEB"},
    "source": {"S": "headers"},
    "unit": {"S": "calls"},
    "observed_at": {"N": "1800000000"},
    EXPIRES_AT: {"N": "1800000300"},
}


def test_a_cooldown_without_expiry_counts_and_a_quota_without_one_does_not() -> None:
    """A cooldown has its own end; of a quota without a date nobody knows how old it is."""
    assert read_cooldown(COOLDOWN, NOW) is not None
    assert read_quota(QUOTA, NOW) is not None
    assert read_quota({name: value for name, value in QUOTA.items() if name != EXPIRES_AT}, NOW) is None


@pytest.mark.parametrize("name", COOLDOWN)
@pytest.mark.parametrize("broken", [None, {"NULL": True}, {"N": "many"}, {"S": 7}])
def test_an_illegible_cooldown_counts_as_absent(name: str, broken: Attribute | None) -> None:
    """An item that somebody edited by hand must not stop the searches of its project."""
    item = {key: value for key, value in COOLDOWN.items() if key != name}
    assert read_cooldown({**item, **({name: broken} if broken else {})}, NOW) is None


@pytest.mark.parametrize("name", ["sk", "source", "unit", "observed_at"])
def test_an_illegible_quota_counts_as_absent(name: str) -> None:
    assert read_quota({**QUOTA, name: {"S": "?"} if name == "source" else {}}, NOW) is None
