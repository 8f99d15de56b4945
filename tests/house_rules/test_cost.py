"""What the features cost: counted on the product, and told in docs/cost.md as it was counted."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.benchmarks.cost import PAGE, Cost, page, tables
from tests.benchmarks.database import Counts, measured, units
from tests.benchmarks.features import FEATURES, Feature

BY_NAME = {feature.name: feature for feature in FEATURES}


@pytest.fixture(scope="module")
def counted() -> Mapping[str, Counts]:
    return measured()


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_feature_makes_the_calls_that_it_is_said_to_make(feature: Feature, counted: Mapping[str, Counts]) -> None:
    """Neither more nor fewer, of DynamoDB and S3."""
    counts = counted[feature.name]
    assert (counts.reads, counts.writes, counts.objects) == (feature.reads, feature.writes, feature.objects)


def test_a_search_with_nothing_on_is_one_read_and_one_write(counted: Mapping[str, Counts]) -> None:
    """Two generations, a cooldown and a quota; the record of the call. So is one whose ceiling is its own."""
    plain = counted["plain"]
    assert (plain.reads, plain.read_units, plain.writes, plain.write_units) == (1, 4, 1, 1)
    assert counted["request_ceiling"] == plain


def test_the_page_of_costs_is_made_of_what_was_counted(counted: Mapping[str, Counts]) -> None:
    """`make docs` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page(counted)


def test_another_count_would_be_another_page(counted: Mapping[str, Counts]) -> None:
    """One unit is seen in its row, and in no other."""
    changed = {**counted, "plain": replace(counted["plain"], write_units=2)}
    rows = zip(tables(counted).splitlines(), tables(changed).splitlines(), strict=True)
    differing = [after for before, after in rows if before != after]
    assert len(differing) == 1
    assert differing[0].startswith(f"| {BY_NAME['plain'].told} | 1 (4) | 1 (2) |")


def test_a_million_searches_are_counts_times_prices() -> None:
    """By hand: four read units and one written, 0.9 s of 1 GB, one request of the gateway, 2 kB logged, 10 kB out."""
    counts = Counts(reads=1, writes=1, read_units=4, write_units=1, log_bytes=1000, answer_bytes=9_500)
    cost = Cost.of(BY_NAME["plain"], counts)
    assert cost.database == pytest.approx(4 * 0.125 + 0.625)
    assert cost.function == pytest.approx(0.20 + 0.9 * 13.3334)
    assert cost.rest == pytest.approx(3.50 + 2 * 0.5 + 10 * 0.09)
    assert cost.all == pytest.approx(1.125 + 12.20006 + 5.4)


@pytest.mark.parametrize(
    ("item", "taken"),
    [
        ({"pk": {"S": "a"}}, 1),
        ({"pk": {"S": "a" * 1022}}, 1),
        ({"pk": {"S": "a" * 1023}}, 2),
        ({"pk": {"S": "ä" * 600}}, 2),
        ({"b": {"B": b"x" * 2047}}, 2),
        ({"b": {"B": "eHh4"}, "n": {"N": "1800000000.123456"}, "f": {"BOOL": True}, "m": {"M": {"a": {"L": []}}}}, 1),
    ],
)
def test_an_item_is_billed_by_its_bytes(item: Mapping[str, Mapping[str, object]], taken: int) -> None:
    """Names and values, text in UTF-8, binary as it is."""
    assert units(item, 1024) == taken
