"""Quotas: what is looked up, what is counted, and what a broken look-up does."""

import pytest

from tests.fakes.providers import FakeInstance, found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.failure import Cause, ProviderUnavailable
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.result import DispatchFailure
from zarniwoop.observe.metrics import Metric
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.tools.provider_rows import ProvidersReport
from zarniwoop.tools.research_providers import ProvidersArguments, providers

DAY = 86_400


def report(research: Research) -> ProvidersReport:
    answered = providers(ProvidersArguments(detail=True), research.scope(), research.services)
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


def test_with_every_table_down_a_broken_look_up_is_left_alone_and_the_quota_is_unknown() -> None:
    """For half a minute; what cannot be counted is no reason to hide the instance."""
    research = Research({"a": [found(1)]})
    asked = []

    def broken(_instance: FakeInstance, _scope: SearchScope) -> QuotaStatus:
        asked.append(1)
        raise ProviderUnavailable("down")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FakeInstance, "current_quota", broken)
        research.state.fail_with = research.calls.fail_with = StoreUnavailable("down")
        for _ in range(2):
            (row,) = report(research).providers
            assert (row.quota, row.availability["WEB"]) == (None, "READY")
        assert len(asked) == 1
        research.clock.advance(30)
        report(research)
    assert len(asked) == 2
    lost = [dict(point.tags)["operation"] for point in research.points() if point.metric is Metric.STATE_UNAVAILABLE]
    assert lost == ["snapshot", *["snapshot", "last_call", "count"] * 3]


def limited(kind: str, limit: str = "3", **more: str) -> dict[str, str]:
    """Settings of an endpoint `a` whose credit is counted here."""
    suffixes = {"creditLimit": limit, "creditKind": kind, **more}
    return {f"research.endpoint.a.{suffix}": value for suffix, value in suffixes.items()}


@pytest.mark.parametrize(
    ("kind", "days_to_wait"), [("monthly", 32), ("daily_usd", 1), ("none", 1)], ids=["monthly", "daily_usd", "none"]
)
def test_a_credit_limit_counted_here_exhausts_the_endpoint_without_a_cooldown(kind: str, days_to_wait: int) -> None:
    """Three calls of a limit of three; then it is skipped until the period turns, and no cooldown is written."""
    research = Research({"a": [found(1)]}, settings=limited(kind))
    for _ in range(3):
        assert research.search().hits
    refused = research.search()
    assert (refused.failure, refused.attempts[0].reason) == (DispatchFailure.ALL_COOLING, "exhausted")
    assert refused.retry_at is not None
    assert research.clock.now() < refused.retry_at <= research.clock.now() + days_to_wait * DAY
    assert len(research.protocol.asked) == 3
    assert research.state.calls["extend_cooldown"] == 0
    research.clock.advance(days_to_wait * DAY)
    assert research.search().hits


def test_one_time_credit_does_not_come_back_when_the_audit_trail_forgets() -> None:
    """Records of the calls are kept for a month, credit is spent for good; nobody is told to wait for it."""
    research = Research({"a": [found(1)]}, settings=limited("one_time") | {"research.log.retentionDays": "1"})
    for _ in range(3):
        assert research.search().hits
    research.audit.flush()
    research.calls.records.clear()
    research.clock.advance(400 * DAY)
    refused = research.search()
    assert (refused.attempts[0].reason, refused.retry_at) == ("exhausted", None)
    research.state.clear_project(PROJECT)
    assert research.search().attempts[0].reason == "exhausted"
    (row,) = report(research).providers
    assert row.quota is not None
    assert (row.quota.source, row.quota.used, row.quota.remaining) == (QuotaSource.LOCAL, 3.0, 0.0)
    assert set(row.availability.values()) == {"EXHAUSTED"}


def test_credit_is_spent_by_what_reached_the_provider_at_its_price() -> None:
    """Two requests of a search are two calls; a name that was not found costs nothing."""
    unreached = ProviderUnavailable("x", cause=Cause.DNS)
    settings = limited("monthly", "2.5", costPerCall="0.5", autoAllow="true")
    research = Research({"a": [found(1, calls=2), unreached, found(1, calls=3), found(1)]}, settings=settings)
    assert research.search().credits == 1.0
    assert research.search().credits == 0.0
    research.clock.advance(30)
    assert research.search().credits == 1.5
    assert research.search().attempts[0].reason == "exhausted"


def test_only_endpoints_with_a_credit_limit_pay_for_counting() -> None:
    """Two more writes for them, none for anybody else."""
    research = Research({"a": [found(0)], "b": [found(1)]}, settings=limited("monthly"))
    research.search()
    assert research.state.calls == {"snapshot": 2, "reserve": 1, "settle": 1}


def test_our_own_limit_holds_whatever_the_provider_says_is_left() -> None:
    """The limit is the operator's; what the provider would still give is not asked for."""
    left = QuotaStatus(source=QuotaSource.HEADERS, remaining=900.0)
    research = Research({"a": [found(1, quota=left)]}, settings=limited("monthly", "1"))
    assert research.search().hits
    assert research.search().attempts[0].reason == "exhausted"
    (row,) = report(research).providers
    assert row.quota is not None
    assert (row.quota.source, row.quota.remaining) == (QuotaSource.LOCAL, 0.0)


def test_an_endpoint_below_its_limit_shows_our_count_and_one_without_a_limit_the_audit_trails() -> None:
    """What the provider says itself comes first, where it says something."""
    research = Research({"a": [found(0)], "b": [found(1)]}, settings=limited("monthly"))
    research.search()
    research.audit.flush()
    a, b = report(research).providers
    assert (a.quota and (a.quota.used, a.quota.remaining)) == (1.0, 2.0)
    assert (b.quota and (b.quota.used, b.quota.remaining)) == (1.0, None)
    research.protocol.quota = QuotaStatus(source=QuotaSource.PROVIDER, remaining=41)
    shown = [row.quota and row.quota.remaining for row in report(research).providers]
    assert shown == [41, None]


def test_with_the_table_down_the_limit_still_holds_for_what_this_environment_spends() -> None:
    """Nobody else's spending can be seen, but its own is not forgotten."""
    research = Research({"a": [found(1)]}, settings=limited("monthly"))
    research.search()
    research.state.fail_with = StoreUnavailable("down")
    outcomes = [research.search().attempts[0].reason for _ in range(3)]
    assert outcomes == [None, None, "exhausted"]


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


def test_a_bucket_that_was_empty_is_asked_again_at_its_reset() -> None:
    """However long the quota is kept: GitHub's fills up every minute."""
    research = Research({"a": [found(1)]})
    empty = QuotaStatus(source=QuotaSource.PROVIDER, remaining=0, resets_at=research.clock.now() + 40)
    research.protocol.quota = empty
    (row,) = report(research).providers
    assert set(row.availability.values()) == {"EXHAUSTED"}
    skipped = research.search().attempts[0]
    assert (skipped.reason, skipped.retry_at) == ("exhausted", empty.resets_at)
    research.clock.advance(40)
    assert research.search().hits
