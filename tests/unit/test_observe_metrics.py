"""Metrics: recorded as they happen, written once in CloudWatch's embedded format."""

from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from zarniwoop.observe.metrics import NAMESPACE, Metric, MetricsBuffer, Point, flush_to_cloudwatch


def _some() -> MetricsBuffer:
    metrics = MetricsBuffer()
    metrics.count(Metric.PROVIDER_CALLS, instance="serper-main", outcome="success")
    metrics.time(Metric.PROVIDER_DURATION, 120.0, instance="serper-main", outcome="success")
    metrics.count(Metric.AUDIT_LOST, 3)
    return metrics


def test_draining_hands_over_and_forgets() -> None:
    """Nothing of one invocation is counted in the next."""
    metrics = _some()
    assert len(metrics.drain()) == 3
    assert metrics.drain() == []


def test_points_of_the_same_tags_share_a_record() -> None:
    """A record is what CloudWatch charges for."""
    records: list[tuple[dict[str, str], list[Point]]] = []
    flush_to_cloudwatch(_some().drain(), lambda tags, points: records.append((dict(tags), points)))
    assert [(tags, [point.metric for point in points]) for tags, points in records] == [
        ({"instance": "serper-main", "outcome": "success"}, [Metric.PROVIDER_CALLS, Metric.PROVIDER_DURATION]),
        ({}, [Metric.AUDIT_LOST]),
    ]


def test_a_record_is_in_the_embedded_metric_format(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, units, tags as dimensions, and the stack's own dimension that Powertools adds."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "my-stack")
    flush_to_cloudwatch(_some().drain())
    tagged, plain = (orjson.loads(line) for line in capsys.readouterr().out.splitlines())
    (declared,) = tagged["_aws"]["CloudWatchMetrics"]
    assert declared["Namespace"] == NAMESPACE
    assert declared["Metrics"] == [
        {"Name": "vance.research.provider.calls", "Unit": "Count"},
        {"Name": "vance.research.provider.duration", "Unit": "Milliseconds"},
    ]
    assert sorted(declared["Dimensions"][0]) == ["instance", "outcome", "service"]
    assert (tagged["instance"], tagged["service"]) == ("serper-main", "my-stack")
    assert plain["vance.research.audit.lost"] == [3.0]


def test_nothing_recorded_is_nothing_written(capsys: pytest.CaptureFixture[str]) -> None:
    """An authorizer's invocation has no metrics."""
    flush_to_cloudwatch([])
    assert capsys.readouterr().out == ""


def test_what_threads_count_while_it_is_drained_is_there_the_next_time() -> None:
    """A long invocation writes its metrics out as it goes; nothing is lost, nothing comes twice."""
    metrics, drained = MetricsBuffer(), 0

    def count() -> None:
        for _ in range(5_000):
            metrics.count(Metric.DISPATCH)

    with ThreadPoolExecutor(max_workers=4) as pool:
        counting = [pool.submit(count) for _ in range(4)]
        while not all(each.done() for each in counting):
            drained += len(metrics.drain())
    assert drained + len(metrics.drain()) == 20_000
