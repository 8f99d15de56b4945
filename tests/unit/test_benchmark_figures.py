"""What the benchmark makes of its runs."""

import pytest

from tests.benchmarks import documents
from tests.benchmarks.figures import FIGURES, Figure, spread
from tests.benchmarks.run import RUNS_ALONE

RATIO = Figure(name="r", unit="ratio", target=0.95, side="ours", base="theirs", value="cpu_us", timed=True)
MEMORY = Figure(name="m", unit="MB", target=80.0, side="memory", value="rss_mb")
COUNT = Figure(name="c", unit="a search", target=1.0, side="counts", value="requests", exact=True)


def test_a_ratio_is_of_the_least_of_each_side() -> None:
    """Noise only ever adds."""
    runs = {"ours": [{"cpu_us": 300.0}, {"cpu_us": 200.0}], "theirs": [{"cpu_us": 400.0}, {"cpu_us": 250.0}]}
    reported = RATIO.out_of(runs)
    assert (reported["value"], reported["runs"], reported["spread"], reported["ok"]) == (0.8, 2, 0.5, True)


@pytest.mark.parametrize(("value", "ok", "fails"), [(0.95, True, False), (1.0, False, False), (1.1, False, True)])
def test_a_timed_ratio_has_slack_before_it_fails_a_run(value: float, ok: bool, fails: bool) -> None:
    """15 %: a busy machine is no regression."""
    reported = RATIO.out_of({"ours": [{"cpu_us": value}], "theirs": [{"cpu_us": 1.0}]})
    assert (reported["ok"], RATIO.fails(reported)) == (ok, fails)


@pytest.mark.parametrize(("value", "fails"), [(80.0, False), (80.1, True)])
def test_bytes_have_none(value: float, fails: bool) -> None:
    """Memory does not grow because the machine is busy, so its worst process counts."""
    reported = MEMORY.out_of({"memory": [{"rss_mb": value - 1}, {"rss_mb": value}]})
    assert MEMORY.fails(reported) is fails


def test_what_is_timed_is_a_ratio_and_memory_is_seen_in_five_processes() -> None:
    """A side of bytes with three runs would hide one bad process in three."""
    assert all("ratio" in figure.unit for figure in FIGURES if figure.timed)
    assert {figure.name for figure in FIGURES if not (figure.timed or figure.exact)} == {
        "rss_mb",
        "bomb_rss_delta_mb",
        "fetch_bombs_rss_delta_mb",
        "read_bombs_peak_mb",
        "abuses_late_seconds",
        "abuses_rss_delta_mb",
        "layer_mb",
        "documents_index_mb",
        "documents_missed",
        "extraction_missed",
        "extraction_over_best",
    }
    assert min(RUNS_ALONE["memory"], RUNS_ALONE["bomb"], RUNS_ALONE["fetch_bombs"], RUNS_ALONE["abuses"]) >= 5


@pytest.mark.parametrize("value", [0.9, 1.1])
def test_an_exact_count_has_none(value: float) -> None:
    """Less is as wrong as more."""
    reported = COUNT.out_of({"counts": [{"requests": value}]})
    assert COUNT.fails(reported)


def test_a_spread_is_relative_to_the_least() -> None:
    """And nothing is spread around zero."""
    assert (spread([2.0, 3.0]), spread([0.0, 0.0])) == (0.5, 0.0)


def test_the_corpus_of_documents_is_indexed_and_found_as_a_scan_finds_it() -> None:
    """The benchmark itself, over a few hundred documents."""
    found = documents.main(300)
    assert (found["documents"], found["recall"]) == (300.0, 1.0)
    assert found["passage_recall"] > 0.99
