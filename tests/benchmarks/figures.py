"""The figures, their targets, and what they come to out of the runs of their sides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SLACK = 1.15
"""A timed figure fails the run when it misses its target by more than this; an exact count has no slack."""
WILDEST_SPREAD = 0.40
"""With more between the processes of the base alone, the machine was busy with something else."""

Runs = Mapping[str, Sequence[Mapping[str, float]]]
"""Per side, what each of its processes printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure: the least of a side's values, over the least of its base's where there is one."""

    name: str
    unit: str
    target: float
    side: str
    value: str
    base: str | None = None
    exact: bool = False

    def out_of(self, runs: Runs) -> dict[str, Any]:
        """The figure as it is reported."""
        values = [run[self.value] for run in runs[self.side]]
        over = min(run[self.value] for run in runs[self.base]) if self.base else 1.0
        value = round(min(values) / over, 3)
        return {
            "value": value,
            "unit": self.unit,
            "runs": len(values),
            "spread": spread(values),
            "target": self.target,
            "ok": value == self.target if self.exact else value <= self.target,
        }

    def fails(self, reported: Mapping[str, Any]) -> bool:
        return not reported["ok"] if self.exact else reported["value"] > self.target * SLACK


def spread(values: Sequence[float]) -> float:
    """How far the values lie apart, relative to the least."""
    return round((max(values) - min(values)) / min(values), 3) if min(values) else 0.0


FIGURES = (
    Figure(
        name="dispatch_over_httpx", unit="ratio of CPU time", target=1.0,
        side="dispatch", base="httpx_post", value="cpu_us",
    ),
    Figure(
        name="pubmed_over_httpx", unit="ratio of CPU time", target=1.1,
        side="pubmed", base="httpx_two_gets", value="cpu_us",
    ),
    Figure(
        name="transport_over_httpx", unit="ratio of CPU time", target=0.5,
        side="transport_post", base="httpx_post", value="cpu_us",
    ),
    Figure(name="rich_over_slowest", unit="ratio of wall time", target=1.15, side="rich", value="ratio"),
    Figure(
        name="cold_import_ratio", unit="ratio of CPU time", target=1.3,
        side="import_function", base="import_boto3", value="cpu_ms",
    ),
    Figure(name="rss_mb", unit="MB", target=80.0, side="memory", value="rss_mb"),
    Figure(name="bomb_rss_delta_mb", unit="MB", target=10.0, side="bomb", value="delta_mb"),
    Figure(name="layer_mb", unit="MB", target=60.0, side="layer", value="megabytes"),
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
)  # fmt: skip
