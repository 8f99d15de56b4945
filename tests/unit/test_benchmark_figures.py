"""What the benchmark makes of its runs."""

import pytest

from tests.benchmarks.figures import Figure, spread

RATIO = Figure(name="r", unit="ratio", target=0.95, side="ours", base="theirs", value="cpu_us")
COUNT = Figure(name="c", unit="a search", target=1.0, side="counts", value="requests", exact=True)


def test_a_ratio_is_of_the_least_of_each_side() -> None:
    """Noise only ever adds."""
    runs = {"ours": [{"cpu_us": 300.0}, {"cpu_us": 200.0}], "theirs": [{"cpu_us": 400.0}, {"cpu_us": 250.0}]}
    reported = RATIO.out_of(runs)
    assert (reported["value"], reported["runs"], reported["spread"], reported["ok"]) == (0.8, 2, 0.5, True)


@pytest.mark.parametrize(("value", "ok", "fails"), [(0.95, True, False), (1.0, False, False), (1.1, False, True)])
def test_a_timed_figure_has_slack_before_it_fails_a_run(value: float, ok: bool, fails: bool) -> None:
    """15 %: a busy machine is no regression."""
    reported = RATIO.out_of({"ours": [{"cpu_us": value}], "theirs": [{"cpu_us": 1.0}]})
    assert (reported["ok"], RATIO.fails(reported)) == (ok, fails)


@pytest.mark.parametrize("value", [0.9, 1.1])
def test_an_exact_count_has_none(value: float) -> None:
    """Less is as wrong as more."""
    reported = COUNT.out_of({"counts": [{"requests": value}]})
    assert COUNT.fails(reported)


def test_a_spread_is_relative_to_the_least() -> None:
    """And nothing is spread around zero."""
    assert (spread([2.0, 3.0]), spread([0.0, 0.0])) == (0.5, 0.0)
