"""`research_providers`: what is there and in what state, without spending a search."""

import threading
import time

import pytest

from tests.fakes.providers import FakeInstance, found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.failure import CredentialsRejected, ProviderUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchScope
from zarniwoop.stores.state import KeptQuota
from zarniwoop.tools.arguments import ToolArguments
from zarniwoop.tools.research_providers import ProviderRow, ProvidersReport, providers

TWO = frozenset({SearchModality.WEB, SearchModality.IMAGE})


def _report(research: Research) -> ProvidersReport:
    answered = providers(ToolArguments(), research.scope(), research.services)
    assert answered.ok
    assert isinstance(answered.data, ProvidersReport)
    return answered.data


def _row(research: Research, instance_id: str = "main") -> ProviderRow:
    return next(row for row in _report(research).providers if row.id == instance_id)


def test_every_instance_has_a_row_and_no_search_is_spent() -> None:
    """By id, with what it serves and what it costs."""
    research = Research(
        {"zeta": [found(1)], "alpha": [found(1)]},
        settings={"research.endpoint.alpha.apiKey": "a-key-that-is-long", "research.endpoint.zeta.costPerCall": "0.25"},
        modalities=TWO,
    )
    report = _report(research)
    assert [(row.id, row.has_key, row.cost_per_call) for row in report.providers] == [
        ("alpha", True, 0.0),
        ("zeta", False, 0.25),
    ]
    assert report.providers[0].availability == {"IMAGE": "READY", "WEB": "READY"}
    assert research.protocol.asked == []
    assert research.state.calls["snapshot"] == 2
    _report(research)
    assert research.state.calls["snapshot"] == 3


def test_routing_is_the_order_in_which_they_would_be_asked() -> None:
    """By priority, or as the settings name it."""
    research = Research(
        {"first": [found(1)], "second": [found(1)]},
        settings={"research.default.image": "second", "research.fallback.image": "first"},
        modalities=TWO,
    )
    routing = _report(research).routing
    assert (routing["WEB"], routing["IMAGE"], routing["MAP"]) == (["first", "second"], ["second", "first"], [])


def test_a_cooldown_is_told_with_its_reason_and_what_is_left_of_it() -> None:
    """Of the modality that failed alone, and until it is over."""
    research = Research({"main": [ProviderUnavailable("503")]}, modalities=TWO)
    research.search()
    research.clock.advance(10)
    row = _row(research)
    assert row.availability == {"IMAGE": "READY", "WEB": "COOLDOWN"}
    (cooldown,) = row.cooldowns
    assert cooldown.subject == "research:main:WEB"
    assert (cooldown.modality, cooldown.reason, cooldown.remaining_seconds, cooldown.failures) == (
        "WEB",
        "provider_unavailable",
        20.0,
        1,
    )
    research.clock.advance(21)
    assert (_row(research).cooldowns, _row(research).availability["WEB"]) == ([], "READY")


def test_a_cooldown_that_a_success_has_closed_is_none() -> None:
    """Whenever it would have ended."""
    research = Research({"main": [ProviderUnavailable("503")]}, modalities=TWO)
    research.search()
    (written,) = research.state.cooldowns_of(PROJECT)
    research.state.close_cooldown(PROJECT, written)
    assert (_row(research).cooldowns, _row(research).availability["WEB"]) == ([], "READY")


def test_a_refused_key_has_no_end_to_wait_for() -> None:
    """Only a change of the settings ends it."""
    research = Research({"main": [CredentialsRejected("401")]}, modalities=TWO)
    research.search()
    assert [(each.reason, each.remaining_seconds) for each in _row(research).cooldowns] == [
        ("credentials_rejected", None)
    ]


def test_a_disabled_instance_is_listed_and_nobody_is_asked_about_it() -> None:
    """Its quota least of all."""
    research = Research({"main": [found(1)]}, settings={"research.endpoint.main.enabled": "false"}, modalities=TWO)
    research.protocol.quota = ProviderUnavailable("must not be asked")
    row = _row(research)
    assert (row.enabled, row.quota, set(row.availability.values())) == (False, None, {"DISABLED"})


@pytest.mark.parametrize(("remaining", "availability"), [(7.0, "READY"), (0.0, "EXHAUSTED")])
def test_a_providers_own_figure_decides(remaining: float, availability: str) -> None:
    """READY while there is something left."""
    research = Research({"main": [found(1)]}, modalities=TWO)
    research.protocol.quota = QuotaStatus(source=QuotaSource.PROVIDER, remaining=remaining)
    row = _row(research)
    assert row.quota is not None
    assert (row.quota.remaining, set(row.availability.values())) == (remaining, {availability})


def test_a_quota_that_the_fleet_knows_is_not_asked_for_again() -> None:
    """It comes with the one read of the shared state."""
    research = Research({"main": [found(1)]}, modalities=TWO)
    research.protocol.quota = ProviderUnavailable("must not be asked")
    status = QuotaStatus(source=QuotaSource.HEADERS, remaining=0.0)
    kept = KeptQuota(status=status, expires_at=research.clock.now() + 60)
    for modality in TWO:
        research.state.save_quota(PROJECT, ("main", modality), kept)
    row = _row(research)
    assert (row.quota, set(row.availability.values())) == (status, {"EXHAUSTED"})


def test_what_is_misconfigured_is_told_with_the_setting_to_mend() -> None:
    """And takes no other endpoint along."""
    research = Research(
        {"main": [found(1)]},
        settings={"research.endpoint.broken.protocol": "nonsense", "research.log.retentionDays": "soon"},
    )
    report = _report(research)
    assert [row.id for row in report.providers] == ["main"]
    assert {(row.id, row.setting) for row in report.misconfigured} >= {("broken", "protocol")}
    assert any(row.setting == "research.log.retentionDays" for row in report.misconfigured)
    assert report.settings_are_stale is False


def test_a_project_stop_elsewhere_is_heeded_before_anything_is_shown() -> None:
    """As before a search: instances are built anew of the settings in force, and only what concerns those is shown."""
    research = Research({"main": [ProviderUnavailable("503")]}, modalities=TWO)
    research.search()
    assert _row(research).availability["WEB"] == "COOLDOWN"
    research.state.bump_generation(PROJECT)
    research.settings["research.endpoint.main.room"] = "4"
    assert _row(research).availability["WEB"] == "READY"
    assert [instance.disposed for instance in research.protocol.made] == [1, 0]
    snapshots = research.state.calls["snapshot"]
    _row(research)
    assert research.state.calls["snapshot"] == snapshots + 1


def test_quotas_are_looked_up_side_by_side_and_each_has_five_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers that answer slowly do not add up."""
    together = threading.Barrier(3, timeout=5)
    given: list[float] = []

    def look(_instance: FakeInstance, scope: SearchScope) -> QuotaStatus:
        given.append(scope.deadline.remaining())
        together.wait()
        return QuotaStatus(source=QuotaSource.PROVIDER, remaining=7)

    monkeypatch.setattr(FakeInstance, "current_quota", look)
    research = Research({name: [found(1)] for name in ("a", "b", "c")})
    assert [row.quota and row.quota.remaining for row in _report(research).providers] == [7, 7, 7]
    assert given == [5.0] * 3


def test_a_quota_that_is_not_told_in_time_is_unknown_and_hides_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """An add-on may not care for deadlines; the report does."""
    released = threading.Event()

    def look(instance: FakeInstance, _scope: SearchScope) -> QuotaStatus:
        if instance.id() == "hanging":
            released.wait(5)
        return QuotaStatus(source=QuotaSource.PROVIDER, remaining=7)

    monkeypatch.setattr(FakeInstance, "current_quota", look)
    research = Research({"hanging": [found(1)], "prompt": [found(1)]})
    started = time.monotonic()
    try:
        answered = providers(ToolArguments(), research.scope(0.1), research.services)
    finally:
        released.set()
    assert time.monotonic() - started < 4
    assert isinstance(answered.data, ProvidersReport)
    assert [(row.id, row.quota is None) for row in answered.data.providers] == [("hanging", True), ("prompt", False)]
