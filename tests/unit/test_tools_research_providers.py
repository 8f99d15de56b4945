"""`research_providers`: what is there and in what state, without spending a search."""

import threading
import time
from typing import Any

import orjson
import pytest

from tests.fakes.instances import instance
from tests.fakes.providers import FakeInstance, found
from tests.fakes.research import PROJECT, Research
from tests.fakes.transport import ScriptedTransport
from zarniwoop.adapters import bedrock_kb, serper
from zarniwoop.contract.failure import CredentialsRejected, ProviderUnavailable
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.problem import UnknownThing
from zarniwoop.contract.provider import Capabilities, Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.candidates.credit import credit_period
from zarniwoop.settings.endpoints import CreditKind
from zarniwoop.stores.ledger import Account, Spent
from zarniwoop.stores.state import KeptQuota
from zarniwoop.text.as_json import as_json
from zarniwoop.tools.dry_run import DryRun
from zarniwoop.tools.provider_rows import ProviderRow, ProvidersReport
from zarniwoop.tools.research_providers import ProvidersArguments, plan, providers

TWO = frozenset({SearchModality.WEB, SearchModality.IMAGE})


def _report(research: Research) -> ProvidersReport:
    answered = providers(ProvidersArguments(detail=True), research.scope(), research.services)
    assert answered.ok
    assert isinstance(answered.data, ProvidersReport)
    return answered.data


def _row(research: Research, instance_id: str = "main") -> ProviderRow:
    return next(row for row in _rows(_report(research)) if row.id == instance_id)


def _rows(report: ProvidersReport) -> list[ProviderRow]:
    return [row for row in report.providers if isinstance(row, ProviderRow)]


def test_every_instance_has_a_row_and_no_search_is_spent() -> None:
    """By id, with what it serves and what it costs."""
    research = Research(
        {"zeta": [found(1)], "alpha": [found(1)]},
        settings={"research.endpoint.alpha.apiKey": "a-key-that-is-long", "research.endpoint.zeta.costPerCall": "0.25"},
        modalities=TWO,
    )
    report = _report(research)
    assert [(row.id, row.has_key, row.cost_per_call) for row in _rows(report)] == [
        ("alpha", True, 0.0),
        ("zeta", False, 0.25),
    ]
    assert report.providers[0].availability == {"IMAGE": "READY", "WEB": "READY"}
    assert research.protocol.asked == []
    assert research.state.calls["snapshot"] == 2
    _report(research)
    assert research.state.calls["snapshot"] == 3


def _answer(research: Research, **arguments: Any) -> dict[str, Any]:
    """As it is sent."""
    answered = providers(ProvidersArguments(**arguments), research.scope(), research.services)
    said: dict[str, Any] = orjson.loads(as_json(answered.data))
    return said


def test_without_a_wish_for_detail_the_answer_is_short() -> None:
    """What the seed asks for, what was seen, and the operators; whatever explains and limits is told on demand."""
    research = Research({"main": [found(1)], "other": [found(1)]}, modalities=TWO)
    short = _answer(research)
    main, other = short["providers"]
    assert main == {
        "id": "main",
        "protocol": "fake",
        "availability": {"IMAGE": "READY", "WEB": "READY"},
        "seen": {"configured": True, "reachable": None, "funded": True, "usable": True},
        "cooldowns": [],
        "quota": main["quota"],
        "cost_per_call": 0.0,
        "operators": [],
    }
    assert other["id"] == "other"
    assert short["routing"] == {"WEB": ["main", "other"], "IMAGE": ["main", "other"]}
    whole = _answer(research, detail=True)
    assert set(whole["providers"][0]) > set(main)
    assert whole["routing"]["MAP"] == []
    assert len(str(whole)) > 2 * len(str(short))


def test_everything_is_told_of_one_that_is_named() -> None:
    """And of no other; nobody else is looked up either."""
    research = Research({"main": [found(1)], "other": [found(1)]}, modalities=TWO)
    report = _answer(research, provider_id="other")
    (row,) = report["providers"]
    assert (row["id"], row["display_name"], row["prompt_hint"]) == ("other", "other", "")
    assert report["routing"]["WEB"] == ["main", "other"]
    with pytest.raises(UnknownThing) as refused:
        _answer(research, provider_id="nobody")
    assert (refused.value.field, refused.value.suggested_action) == (
        "provider_id",
        "name one of main, other, or leave it out",
    )


def test_one_that_is_misconfigured_has_no_row_and_a_reason() -> None:
    research = Research({"main": [found(1)]}, settings={"research.endpoint.odd.protocol": "unheard-of"})
    report = _answer(research, provider_id="odd")
    assert report["providers"] == []
    assert [each["id"] for each in report["misconfigured"]] == ["odd"]


def test_the_operators_of_a_provider_are_those_that_it_heeds_in_a_query_or_as_filters() -> None:
    """Others are seen to here, or lost: the answer of a search says so."""
    google = instance(serper.PROTOCOL, ScriptedTransport(), key="a-key-of-serper")
    assert google.capabilities().operators == {
        *("-site", "after", "before", "filetype", "intitle", "or", "phrase", "site")
    }
    extras = {"knowledgeBaseId": "ABCDEFGHIJ"}
    assert instance(bedrock_kb.PROTOCOL, ScriptedTransport(), extras=extras).capabilities().operators == frozenset()


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


POOLED = {"research.endpoint.main.apiKey": "hidden"}


def _pooled(keys: int = 2) -> Research:
    """An endpoint with so many keys, all of which are refused."""
    research = Research({"main": [found(1)]}, settings=dict(POOLED), modalities=TWO)
    research.keys.pools["/research.endpoint.main.apiKey"] = keys
    research.protocol.fails_with = {index: CredentialsRejected("401") for index in range(1, keys + 1)}
    return research


def test_an_endpoint_all_of_whose_keys_are_refused_is_not_ready() -> None:
    """As its dry run and the next search find, too; the modality for which nobody asked is left alone."""
    research = _pooled()
    research.search()
    row = _row(research)
    assert row.availability == {"IMAGE": "READY", "WEB": "COOLDOWN"}
    assert [(each.modality, each.reason, each.key_index) for each in row.cooldowns] == [
        ("WEB", "credentials_rejected", 1),
        ("WEB", "credentials_rejected", 2),
    ]
    research.search(SearchModality.IMAGE)
    row = _row(research)
    assert (row.health.usable.value, row.health.usable.detail) == (False, "COOLDOWN")


def test_an_environment_that_never_searched_sees_the_same() -> None:
    """It reads the keys, as a search would, and looks at the shared state once more for what is known of each."""
    research = _pooled()
    research.search()
    research.keys.asked.clear()
    research.metrics, research.audit, research.dispatcher = research.environment()
    research.state.calls.clear()
    assert _row(research).availability["WEB"] == "COOLDOWN"
    assert research.state.calls["snapshot"] == 3
    _row(research)
    assert research.state.calls["snapshot"] == 4


def test_an_endpoint_with_a_key_left_is_ready() -> None:
    """The refused one is told of beside that."""
    research = _pooled(3)
    del research.protocol.fails_with[3]
    for _ in range(3):
        assert research.search().hits
    row = _row(research)
    assert (row.availability["WEB"], len(row.cooldowns)) == ("READY", 2)


def test_a_budget_too_small_for_what_a_search_may_take_leaves_it_unusable() -> None:
    """One call is left, and a search takes two: it would be refused."""
    settings = {"research.budget.project.calls": "3", "research.budget.project.period": "day"}
    research = Research({"main": [found(1)]}, settings=settings, modalities=TWO)
    research.protocol.pacing["main"] = Pacing(subject="main@host", requests=10, seconds=1.0, calls=2)
    assert _row(research).health.usable.value is True
    today = credit_period(CreditKind.NONE, research.clock.now()).name
    research.state.charge(Account.of_budget("project", PROJECT, today), Spent(calls=2))
    row = _row(research)
    assert (row.health.usable.value, row.health.usable.detail) == (False, "research.budget.project.calls")
    assert set(row.availability.values()) == {"READY"}
    (plan,) = research.dispatcher.plan([research.request()], research.scope())
    assert [(each.reason, each.detail) for each in plan.skipped] == [("budget", "research.budget.project.calls")]


def test_the_dry_run_names_those_whose_quota_would_really_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those that tell it with their answers alone."""
    told = {"asks": Capabilities(tells_quota=True, looks_up_quota=True), "headers": Capabilities(tells_quota=True)}
    monkeypatch.setattr(FakeInstance, "capabilities", lambda instance: told[instance.id()])
    research = Research({"asks": [found(1)], "headers": [found(1)]})
    data = plan(ProvidersArguments(), research.scope(), research.services).data
    assert isinstance(data, DryRun)
    assert data.look_ups == ("asks",)


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
        answered = providers(ProvidersArguments(detail=True), research.scope(0.1), research.services)
    finally:
        released.set()
    assert time.monotonic() - started < 4
    assert isinstance(answered.data, ProvidersReport)
    assert [(row.id, row.quota is None) for row in answered.data.providers] == [("hanging", True), ("prompt", False)]


def test_the_budgets_in_force_are_told_with_what_is_used_and_left() -> None:
    """Of project and tenant, each in its own period, on the read that is made anyway; what is not limited is null."""
    settings = {
        "research.budget.project.calls": "3",
        "research.budget.tenant.usd": "0.3",
        "research.budget.tenant.period": "day",
        "research.endpoint.main.costPerCall": "0.1",
        "research.endpoint.main.autoAllow": "true",
    }
    research = Research({"main": [found(1)]}, settings=settings)
    research.search()
    research.search()
    reads = research.state.calls["snapshot"]
    budgets = _answer(research)["budgets"]
    assert research.state.calls["snapshot"] == reads + 1
    assert research.state.calls["balance"] == 0
    now = research.clock.now()
    assert budgets == [
        {
            "budget": "project",
            "period": "month",
            "calls": {"limit": 3, "used": 2, "left": 1},
            "usd": None,
            "resets_at": credit_period(CreditKind.MONTHLY, now).until,
        },
        {
            "budget": "tenant",
            "period": "day",
            "calls": None,
            "usd": {"limit": 0.3, "used": 0.2, "left": 0.1},
            "resets_at": credit_period(CreditKind.NONE, now).until,
        },
    ]


def test_of_a_budget_that_was_lowered_below_what_is_used_nothing_is_left() -> None:
    """Not less than nothing; and what was asked before a budget was set does not count."""
    research = Research({"main": [found(1)]})
    research.search()
    assert _answer(research)["budgets"] == []
    for limit, used in (("5", 0), ("1", 2)):
        research.settings["research.budget.project.calls"] = limit
        research.dispatcher.factory.evict("acme", "demo")
        (budget,) = _answer(research)["budgets"]
        assert budget["calls"] == {"limit": int(limit), "used": used, "left": max(int(limit) - used, 0)}
        research.search()
        research.search()
