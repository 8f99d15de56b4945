"""Metrics with the seed's names and low-cardinality tags (seed 1, section 10), collected per invocation.

Names are `vance.research.*`; a tenant, project, query or host is never a tag. Recording is a list append, so that the
hot path does not pay for CloudWatch's embedded metric format; `flush` writes it once, at the end of the invocation.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol

NAMESPACE = "Zarniwoop"


class Metric(StrEnum):
    """Every metric that this package records; the operations page lists them with their tags."""

    DISPATCH = "vance.research.dispatch"
    CACHE = "vance.research.cache"
    PROVIDER_CALLS = "vance.research.provider.calls"
    PROVIDER_DURATION = "vance.research.provider.duration"
    CURATED_RUNS = "vance.research.curated.runs"
    CURATED_DURATION = "vance.research.curated.duration"
    CURATED_INSIGHTS = "vance.research.curated.insights"
    DIAGNOSTICS = "vance.research.diagnostics"
    QUOTA_LOOKUPS = "vance.research.quota.lookups"
    AUDIT_LOST = "vance.research.audit.lost"
    STATE_UNAVAILABLE = "vance.research.state.unavailable"
    SETTINGS_STALE = "vance.research.settings.stale"
    INTERNAL_ERRORS = "vance.research.internal.errors"
    MODEL_CALLS = "vance.research.model.calls"
    MODEL_TOKENS = "vance.research.model.tokens"
    DOCUMENTS = "vance.research.documents"
    STANDING = "vance.research.standing"
    QUESTIONS = "vance.research.questions"


class Point(NamedTuple):
    """One observation. `milliseconds` says that the value is a duration; otherwise it is a count."""

    metric: Metric
    value: float
    tags: tuple[tuple[str, str], ...]
    milliseconds: bool = False


class Metrics(Protocol):
    def count(self, metric: Metric, value: float = 1, **tags: str) -> None: ...

    def time(self, metric: Metric, milliseconds: float, **tags: str) -> None: ...


class MetricsBuffer:
    """Collects points of one invocation; safe to append to from several threads."""

    def __init__(self) -> None:
        self._points: deque[Point] = deque()

    def count(self, metric: Metric, value: float = 1, **tags: str) -> None:
        self._points.append(Point(metric, value, tuple(tags.items())))

    def time(self, metric: Metric, milliseconds: float, **tags: str) -> None:
        self._points.append(Point(metric, milliseconds, tuple(tags.items()), milliseconds=True))

    def drain(self) -> list[Point]:
        """Those that were there by now; what threads add meanwhile stays for the next time."""
        return [self._points.popleft() for _ in range(len(self._points))]


def flush_to_cloudwatch(
    points: list[Point], publish: Callable[[Mapping[str, str], list[Point]], None] | None = None
) -> None:
    """Write the points in the embedded metric format, one record per set of tags."""
    by_tags: defaultdict[tuple[tuple[str, str], ...], list[Point]] = defaultdict(list)
    for point in points:
        by_tags[point.tags].append(point)
    for tags, group in by_tags.items():
        (publish or _print_record)(dict(tags), group)


def _print_record(tags: Mapping[str, str], points: list[Point]) -> None:
    from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

    record = EphemeralMetrics(namespace=NAMESPACE)
    for name, value in tags.items():
        record.add_dimension(name=name, value=value)
    for point in points:
        unit = MetricUnit.Milliseconds if point.milliseconds else MetricUnit.Count
        record.add_metric(name=point.metric.value, unit=unit, value=point.value)
    record.flush_metrics()
