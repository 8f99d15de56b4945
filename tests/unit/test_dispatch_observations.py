"""Health out of what was seen: four observations, each with how and when, and nobody is asked for the sake of any."""

import threading
from typing import Any

import pytest

from tests.fakes.providers import FakeInstance, found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.failure import CredentialsRejected, ProviderUnavailable, RateLimited
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.dispatch.candidates.observations import Health
from zarniwoop.stores.audit import RecordPage
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.tools.provider_rows import ProviderRow, ProvidersReport
from zarniwoop.tools.research_providers import ProvidersArguments, providers

WEB = frozenset({SearchModality.WEB})
METERED = {"research.endpoint.main.costPerCall": "1", "research.endpoint.main.autoAllow": "true"}


def _health(research: Research, instance_id: str = "main", *, seconds: float = 20.0) -> Health:
    report = providers(ProvidersArguments(detail=True), research.scope(seconds), research.services).data
    assert isinstance(report, ProvidersReport)
    rows = [row for row in report.providers if isinstance(row, ProviderRow)]
    return next(row.health for row in rows if row.id == instance_id)


def _searched(research: Research) -> None:
    research.search()
    research.audit.flush()


def test_an_endpoint_that_nobody_has_asked_is_configured_and_otherwise_unknown() -> None:
    """A key in the settings proves nothing; the settings were read when the instances were made."""
    research = Research({"main": [found(1)]}, settings=METERED, modalities=WEB)
    assembled_at = research.clock.now()
    research.dispatcher.survey(research.scope())
    research.clock.advance(30)
    health = _health(research)
    assert (health.configured.value, health.configured.how, health.configured.observed_at) == (
        True,
        "settings",
        assembled_at,
    )
    assert (health.reachable.value, health.funded.value) == (None, None)
    assert (health.reachable.observed_at, health.funded.observed_at) == (None, None)
    assert (health.usable.value, health.usable.observed_at) == (True, research.clock.now())
    assert research.protocol.asked == []


def test_what_is_switched_off_is_neither_configured_nor_usable() -> None:
    """And that is no failure of its provider."""
    research = Research({"main": [found(1)]}, settings={"research.endpoint.main.enabled": "false"}, modalities=WEB)
    health = _health(research)
    assert (health.configured.value, health.configured.detail) == (False, "enabled = false")
    assert (health.reachable.value, health.usable.value, health.usable.detail) == (None, False, "DISABLED")


def test_the_last_call_tells_whether_it_was_reached_and_when() -> None:
    """By the audit trail; nobody is asked anew."""
    research = Research({"main": [found(1), ProviderUnavailable("503")]}, modalities=WEB)
    _searched(research)
    called_at = research.clock.now()
    research.clock.advance(60)
    reached = _health(research).reachable
    assert (reached.value, reached.how, reached.observed_at, reached.detail) == (True, "last call", called_at, None)
    _searched(research)
    failed_at = research.clock.now()
    research.clock.advance(5)
    lost = _health(research)
    assert (lost.reachable.value, lost.reachable.observed_at) == (False, failed_at)
    assert lost.reachable.detail == "provider_unavailable"
    assert (lost.usable.value, lost.usable.detail) == (False, "COOLDOWN")
    assert len(research.protocol.asked) == 2


@pytest.mark.parametrize("refusal", [RateLimited("429"), CredentialsRejected("401")])
def test_a_refusal_is_an_answer_and_whoever_gives_one_was_reached(refusal: Exception) -> None:
    """Reachable and usable are two things: this one is waiting."""
    research = Research({"main": [refusal]}, modalities=WEB)
    _searched(research)
    health = _health(research)
    assert (health.reachable.value, health.usable.value) == (True, False)
    assert health.reachable.detail in ("rate_limited", "credentials_rejected")


def test_a_call_in_which_the_provider_had_no_part_says_nothing_of_it() -> None:
    """An add-on's own bug, for one."""
    research = Research({"main": [RuntimeError("bug")]}, modalities=WEB)
    _searched(research)
    assert _health(research).reachable.value is None


def test_a_free_look_up_tells_at_once() -> None:
    """What it brought is the quota, and that it was answered."""
    research = Research({"main": [ProviderUnavailable("503")]}, settings=METERED, modalities=WEB)
    _searched(research)
    research.clock.advance(40)
    now = research.clock.now()
    research.protocol.quota = QuotaStatus(source=QuotaSource.PROVIDER, unit="credits", remaining=1_000_000)
    health = _health(research)
    assert (health.reachable.value, health.reachable.how, health.reachable.observed_at) == (True, "quota look-up", now)
    assert (health.funded.value, health.funded.how, health.funded.observed_at, health.funded.detail) == (
        True,
        "the provider's own figure",
        now,
        "1000000 credits left",
    )


def test_a_look_up_that_failed_tells_too() -> None:
    """It is remembered by the environment that made it."""
    research = Research({"main": [found(1)]}, settings=METERED, modalities=WEB)
    research.protocol.quota = ProviderUnavailable("no route")
    reached = _health(research).reachable
    assert (reached.value, reached.how, reached.detail) == (False, "quota look-up", "provider_unavailable")


@pytest.mark.parametrize(
    ("source", "how"), [(QuotaSource.LOCAL, "our own count"), (QuotaSource.HEADERS, "what an answer said")]
)
def test_a_used_up_quota_is_not_funded_whoever_counted(source: QuotaSource, how: str) -> None:
    """Until it resets."""
    settings = {**METERED, "research.endpoint.main.creditKind": "monthly", "research.endpoint.main.creditLimit": "1"}
    research = Research(
        {"main": [found(1)]}, settings=settings if source is QuotaSource.LOCAL else METERED, modalities=WEB
    )
    status = QuotaStatus(source=source, remaining=0, observed_at=research.clock.now())
    if source is QuotaSource.HEADERS:
        research.protocol.scripts["main"] = [found(1, quota=status)]
    _searched(research)
    health = _health(research)
    assert (health.funded.value, health.funded.how) == (False, how)
    assert (health.usable.value, health.usable.detail) == (False, "EXHAUSTED")
    assert health.reachable.value is True


def test_what_takes_no_key_and_costs_nothing_is_funded() -> None:
    """By its settings."""
    research = Research({"main": [found(1)]}, modalities=WEB)
    assert (_health(research).funded.value, _health(research).funded.how) == (True, "settings")


def test_a_budget_that_is_spent_leaves_nobody_usable() -> None:
    """The budget is named; the endpoint itself is well."""
    research = Research({"main": [found(1)]}, settings={"research.budget.project.calls": "1"}, modalities=WEB)
    _searched(research)
    health = _health(research)
    assert (health.reachable.value, health.usable.value) == (True, False)
    assert health.usable.detail == "research.budget.project.calls"


def test_a_trial_of_the_settings_is_told_as_one() -> None:
    """It is a call like any other, made on request."""
    research = Research({"main": [found(1)]}, modalities=WEB)
    _searched(research)
    research.calls.records = [record._replace(diagnostics=True) for record in research.calls.records]
    assert _health(research).reachable.how == "test of its settings"


def test_with_the_records_away_the_report_is_given_all_the_same() -> None:
    """What cannot be looked at is unknown, which is not the same as that there is nothing to look at."""
    research = Research({"main": [found(1)]}, modalities=WEB)
    _searched(research)
    research.calls.fail_with = StoreUnavailable("down")
    reached = _health(research).reachable
    assert (reached.value, reached.how, reached.detail) == (None, "not read", "its calls could not be read in time")
    assert research.state.cooldowns_of(PROJECT) == []


def test_only_what_was_looked_for_in_vain_was_never_seen() -> None:
    """Nobody looks for the calls of what is switched off."""
    research = Research({"main": [found(1)]}, modalities=WEB)
    assert _health(research).reachable.how == "never seen"
    research = Research({"main": [found(1)]}, settings={"research.endpoint.main.enabled": "false"}, modalities=WEB)
    assert _health(research).reachable.how == "not read"


def test_a_call_that_says_nothing_does_not_hide_the_one_before_it() -> None:
    """One that was overtaken, for one; where there is no other, that one is told of, and no more."""
    research = Research({"main": [found(1)]}, modalities=WEB)
    _searched(research)
    called_at = research.clock.now()
    (record,) = research.calls.records
    overtaken = record._replace(started_at=called_at + 5, ok=False, error_message="superseded")
    research.calls.records.append(overtaken)
    research.clock.advance(60)
    reached = _health(research).reachable
    assert (reached.value, reached.how, reached.observed_at) == (True, "last call", called_at)
    research.calls.records = [overtaken]
    reached = _health(research).reachable
    assert (reached.value, reached.how, reached.detail) == (None, "last call", "superseded")


def test_a_quota_that_is_late_does_not_hide_the_last_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read in time is told."""
    research = Research({"main": [found(1)]}, modalities=WEB)
    _searched(research)
    released = threading.Event()
    monkeypatch.setattr(FakeInstance, "current_quota", lambda _instance, _scope: released.wait(5) and None)
    try:
        reached = _health(research, seconds=0.3).reachable
    finally:
        released.set()
    assert (reached.value, reached.how) == (True, "last call")


def test_calls_that_are_late_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not said that there are none."""
    research = Research({"main": [found(1)]}, modalities=WEB)
    _searched(research)
    released = threading.Event()
    between = research.calls.between

    def late(*given: Any, **named: Any) -> RecordPage:
        released.wait(5)
        return between(*given, **named)

    monkeypatch.setattr(research.calls, "between", late)
    try:
        assert _health(research, seconds=0.3).reachable.how == "not read"
    finally:
        released.set()
