"""The figures, their targets, and what they come to out of the runs of their sides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.features import FEATURES

SLACK = 1.15
"""A timed ratio fails the run when it misses its target by more than this; bytes and counts have no slack."""
WILDEST_SPREAD = 0.40
"""With more between the processes of the base alone, the machine was busy with something else."""

Runs = Mapping[str, Sequence[Mapping[str, float]]]
"""Per side, what each of its processes printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure: a side's value, over that of its base where there is one.

    Of `timed` values the least counts, because whatever else the machine does only adds to them; of all others the
    most. An `exact` figure must be its target, neither more nor less.
    """

    name: str
    unit: str
    target: float
    side: str
    value: str
    base: str | None = None
    timed: bool = False
    exact: bool = False

    def out_of(self, runs: Runs) -> dict[str, Any]:
        """The figure as it is reported."""
        values = [run[self.value] for run in runs[self.side]]
        over = min(run[self.value] for run in runs[self.base]) if self.base else 1.0
        value = round((min if self.timed else max)(values) / over, 3)
        return {
            "value": value,
            "unit": self.unit,
            "runs": len(values),
            "spread": spread(values),
            "target": self.target,
            "ok": value == self.target if self.exact else value <= self.target,
        }

    def fails(self, reported: Mapping[str, Any]) -> bool:
        return reported["value"] > self.target * SLACK if self.timed else not reported["ok"]


def spread(values: Sequence[float]) -> float:
    """How far the values lie apart, relative to the least."""
    return round((max(values) - min(values)) / min(values), 3) if min(values) else 0.0


FIGURES = (
    Figure(
        name="dispatch_over_httpx", unit="ratio of CPU time", target=1.0,
        side="dispatch", base="httpx_post", value="cpu_us", timed=True,
    ),
    Figure(
        name="pubmed_over_httpx", unit="ratio of CPU time", target=1.1,
        side="pubmed", base="httpx_two_gets", value="cpu_us", timed=True,
    ),
    Figure(
        name="transport_over_httpx", unit="ratio of CPU time", target=0.5,
        side="transport_post", base="httpx_post", value="cpu_us", timed=True,
    ),
    Figure(name="rich_over_slowest", unit="ratio of wall time", target=1.15, side="rich", value="ratio", timed=True),
    Figure(
        name="fan_out_over_slowest", unit="ratio of wall time", target=1.15, side="fan_out", value="ratio", timed=True
    ),
    Figure(
        name="fan_out_over_50_ms", unit="ratio of wall time", target=1.15,
        side="fan_out", value="over_50_ms", timed=True,
    ),
    Figure(name="hedge_over_threshold", unit="ratio of wall time", target=1.1, side="hedge", value="ratio", timed=True),
    Figure(
        name="cold_import_ratio", unit="ratio of CPU time", target=1.3,
        side="import_function", base="import_boto3", value="cpu_ms", timed=True,
    ),
    Figure(
        name="mcp_cold_import_ratio", unit="ratio of CPU time", target=1.3,
        side="import_mcp", base="import_boto3", value="cpu_ms", timed=True,
    ),
    Figure(name="rss_mb", unit="MB", target=80.0, side="memory", value="rss_mb"),
    Figure(name="bomb_rss_delta_mb", unit="MB", target=10.0, side="bomb", value="delta_mb"),
    Figure(name="fetch_bombs_rss_delta_mb", unit="MB", target=10.0, side="fetch_bombs", value="delta_mb"),
    Figure(name="read_bombs_peak_mb", unit="MB", target=512.0, side="read_bombs", value="peak_mb"),
    Figure(
        name="read_bombs_over_slice", unit="ratio of wall time, of the slowest to what it may take", target=1.0,
        side="read_bombs", value="over_slice", timed=True,
    ),
    Figure(name="abuses_late_seconds", unit="s behind the deadline", target=0.1, side="abuses", value="late_seconds"),
    Figure(name="abuses_rss_delta_mb", unit="MB", target=10.0, side="abuses", value="delta_mb"),
    Figure(name="abuses_untyped", unit="outcomes", target=0.0, side="abuses", value="untyped", exact=True),
    Figure(name="layer_mb", unit="MB", target=60.0, side="layer", value="megabytes"),
    Figure(name="documents_index_mb", unit="MB", target=80.0, side="documents", value="index_mb"),
    Figure(name="documents_missed", unit="share of what a scan finds", target=0.01, side="documents", value="missed"),
    Figure(
        name="documents_over_scan", unit="ratio of wall time", target=0.05,
        side="documents", value="over_scan", timed=True,
    ),
    Figure(
        name="extraction_missed", unit="1 - F1 against the gold text", target=0.04, side="extraction", value="missed"
    ),
    Figure(
        name="extraction_over_best", unit="ratio of what is missed, to the better of trafilatura and readability alone",
        target=0.8, side="extraction", value="over_best",
    ),
    Figure(
        name="extraction_wrong_outcomes", unit="pages", target=0.0,
        side="extraction", value="wrong_outcomes", exact=True,
    ),
    *(
        Figure(name=name, unit=unit, target=target, side="counts", value=name, exact=True)
        for name, unit, target in (
            ("provider_requests", "a search", 1.0),
            ("new_connections", "in ten warm searches", 0.0),
            ("warm_dynamodb_calls", "a search", 2.0),
            ("warm_ssm_calls", "in ten warm searches", 0.0),
            ("cold_ssm_calls", "in the first search", 4.0),
        )
    ),
    *(
        Figure(name=f"dynamodb_{name}", unit="a search", target=target, side="database", value=name, exact=True)
        for feature in FEATURES
        for name, target in (
            (f"{feature.name}_reads", feature.reads),
            (f"{feature.name}_writes", feature.writes),
        )
    ),
)  # fmt: skip
