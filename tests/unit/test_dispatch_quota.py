"""Quotas: what is looked up, what is counted, and what a broken look-up does."""

import pytest

from tests.fakes.providers import found
from tests.fakes.research import Research
from zarniwoop.contract.failure import ProviderUnavailable
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.result import DispatchFailure
from zarniwoop.observe.metrics import Metric
from zarniwoop.tools.arguments import ToolArguments
from zarniwoop.tools.research_providers import ProvidersReport, providers


def report(research: Research) -> ProvidersReport:
    answered = providers(ToolArguments(), research.scope(), research.services)
    assert isinstance(answered.data, ProvidersReport)
    return answered.data


def test_the_providers_own_figure_is_shown_and_kept_for_five_minutes() -> None:
    """The whole fleet asks once; the metric tells cache from provider."""
    research = Research({"a": [found(1)]})
    research.protocol.quota = QuotaStatus(source=QuotaSource.PROVIDER, unit="credits", remaining=41)
    for _ in range(2):
        (row,) = report(research).providers
        assert row.quota is not None
        assert row.quota.remaining == 41
    looked_up = [dict(point.tags)["source"] for point in research.points() if point.metric is Metric.QUOTA_LOOKUPS]
    assert looked_up == ["provider", "cache"]


@pytest.mark.parametrize("broken", [ProviderUnavailable("down"), ZeroDivisionError()])
def test_a_broken_look_up_means_ready_and_hides_nobody(broken: Exception) -> None:
    """An add-on's bug counts as one, and our own count stands in."""
    research = Research({"a": [found(1)], "b": [found(1)]})
    research.protocol.quota = broken
    rows = report(research).providers
    assert [row.availability["WEB"] for row in rows] == ["READY", "READY"]
    assert {row.quota.source for row in rows if row.quota} == {QuotaSource.LOCAL}
    counted = sum(point.metric is Metric.INTERNAL_ERRORS for point in research.points())
    assert counted == (2 if isinstance(broken, ZeroDivisionError) else 0)


def test_a_credit_limit_counted_here_exhausts_the_endpoint_without_a_cooldown() -> None:
    """Three calls of a limit of three; then it is skipped until the month turns, and no cooldown is written."""
    research = Research(
        {"a": [found(1)]},
        settings={
            "research.endpoint.a.creditLimit": "3",
            "research.endpoint.a.creditKind": "monthly",
            "research.quota.cache.ttlMinutes": "0",
        },
    )
    for _ in range(3):
        assert research.search().hits
        research.audit.flush()
    refused = research.search()
    assert (refused.failure, refused.attempts[0].reason) == (DispatchFailure.ALL_COOLING, "exhausted")
    assert refused.retry_at is not None
    assert refused.retry_at > research.clock.now()
    assert len(research.protocol.asked) == 3
    assert research.state.calls["extend_cooldown"] == 0
    research.clock.advance(32 * 24 * 3600)
    assert research.search().hits


def test_what_an_answer_says_is_left_is_shared_once_per_time_to_live_and_at_once_when_it_is_nothing() -> None:
    """A header costs the fleet one write in five minutes; the last credit spent is told to all."""

    def left(remaining: float) -> QuotaStatus:
        return QuotaStatus(source=QuotaSource.HEADERS, unit="usd", remaining=remaining)

    research = Research({"a": [found(1, quota=left(3)), found(1, quota=left(2)), found(1, quota=left(0)), found(1)]})
    research.search()
    research.search()
    assert research.state.calls["save_quota"] == 1
    assert research.search().hits
    assert research.state.calls["save_quota"] == 2
    assert research.search().attempts[0].reason == "exhausted"
    research.clock.advance(301)
    assert research.search().hits
