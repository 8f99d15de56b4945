"""Budgets of requests, projects and tenants, and what is held before a call and settled after it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier, Event
from typing import Any

import pytest

from tests.fakes.providers import FakeInstance, found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.failure import Cause, ProviderUnavailable, QuotaExhausted
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.contract.request import SearchRequest, Strategy
from zarniwoop.contract.result import DispatchFailure, Outcome, SearchResult
from zarniwoop.dispatch.candidates.credit import credit_period
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.dispatch.spending.ceilings import HOLD_AGAIN_SECONDS
from zarniwoop.dispatch.spending.holds import HOLD_GRACE_SECONDS, Reservation, Spending
from zarniwoop.dispatch.spending.purse import Purse, Refusal
from zarniwoop.settings.endpoints import CreditKind
from zarniwoop.stores.failure import StoreThrottled, StoreUnavailable
from zarniwoop.stores.ledger import Account, Balance, Spent
from zarniwoop.tools.outcome import problem_of
from zarniwoop.tools.provider_rows import ProvidersReport
from zarniwoop.tools.research_providers import ProvidersArguments, providers

DAY = 86_400
THREADS = 64


def budgets(**more: str) -> dict[str, str]:
    """`project_calls="3"` is the setting `research.budget.project.calls`."""
    return {f"research.budget.{name.replace('_', '.')}": value for name, value in more.items()}


def metered(instance_id: str, cost: str = "0.5") -> dict[str, str]:
    return {
        f"research.endpoint.{instance_id}.costPerCall": cost,
        f"research.endpoint.{instance_id}.autoAllow": "true",
    }


def project_account(research: Research, budget: str = "project") -> Balance:
    """This month's."""
    period = credit_period(CreditKind.MONTHLY, research.clock.now())
    return research.state.standing(Account.of_budget(budget, PROJECT, period.name))


def reasons(result: SearchResult) -> list[str | None]:
    return [attempt.reason for attempt in result.attempts]


def test_a_budget_of_calls_holds_for_all_of_a_projects_instances_free_ones_included() -> None:
    """The fourth is refused by name, with the moment at which the budget begins anew, and nobody is asked."""
    research = Research({"a": [found(0)], "b": [found(1)]}, budgets(project_calls="3", project_period="day"))
    assert research.search().hits
    assert reasons(research.search()) == [None, "budget"]
    refused = research.search()
    assert (refused.failure, reasons(refused)) == (DispatchFailure.BUDGET, ["budget", "budget"])
    assert {attempt.detail for attempt in refused.attempts} == {"research.budget.project.calls"}
    assert refused.retry_at is not None
    assert 0 < refused.retry_at - research.clock.now() <= DAY
    assert len(research.protocol.asked) == 3
    research.clock.advance(refused.retry_at - research.clock.now())
    assert research.search().hits


def test_the_refusal_names_the_budget_its_reset_and_the_way_out() -> None:
    research = Research({"a": [found(1)]}, budgets(tenant_calls="0"))
    refused = research.search()
    problem = problem_of(refused, research.dispatcher.factory.protocols, research.clock.now())
    assert problem is not None
    assert problem.type == "urn:zarniwoop:problem:budget"
    assert problem.detail.startswith("the budget research.budget.tenant.calls is used up, and begins anew at 20")
    assert problem.retryable
    assert problem.wait_seconds == pytest.approx((refused.retry_at or 0) - research.clock.now(), abs=0.01)
    assert problem.suggested_action == "raise research.budget.tenant.calls (now 0), or ask again after wait_seconds"


@pytest.mark.parametrize(("ceiling", "field"), [({"max_calls": 0}, "max_calls"), ({"max_cost": 0.1}, "max_cost")])
def test_a_refusal_by_the_requests_own_ceiling_names_the_argument(ceiling: dict[str, Any], field: str) -> None:
    """A budget of the settings is no argument's fault."""
    research = Research({"a": [found(1)]}, metered("a"))
    problem = problem_of(research.search(**ceiling), research.dispatcher.factory.protocols, research.clock.now())
    assert problem is not None
    assert (problem.type, problem.field) == ("urn:zarniwoop:problem:budget", field)
    research = Research({"a": [found(1)]}, budgets(tenant_calls="0"))
    problem = problem_of(research.search(), research.dispatcher.factory.protocols, research.clock.now())
    assert problem is not None
    assert problem.field is None


def test_a_budget_in_dollars_is_spent_by_what_costs_dollars_alone() -> None:
    """Free calls are not counted and write nothing; credits of a provider are no dollars."""
    settings = budgets(project_usd="1.0") | metered("paid") | metered("credits", "1")
    settings["research.endpoint.credits.creditKind"] = "monthly"
    research = Research({"free": [found(0)], "credits": [found(0)], "paid": [found(1)]}, settings)
    assert [research.search().cost for _ in range(2)] == [0.5, 0.5]
    assert project_account(research).used == Spent(amount=1.0, calls=2)
    assert research.state.calls["reserve"] == research.state.calls["settle"] == 2
    assert reasons(research.search()) == [None, None, "budget"]


def test_where_nothing_is_limited_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many requests a search may take is asked for a ceiling alone."""
    counted: list[str] = []

    def most_calls(self: FakeInstance, _request: SearchRequest) -> int:
        counted.append(self.id())
        return 1

    monkeypatch.setattr(FakeInstance, "most_calls", most_calls)
    Research({"a": [found(1)]}).search()
    assert counted == []
    Research({"a": [found(1)]}, {"research.endpoint.a.creditLimit": "9"}).search()
    assert counted == ["a"]


def test_a_tenants_budget_is_shared_by_its_projects() -> None:
    research = Research({"a": [found(1)]}, budgets(tenant_calls="2"))
    request = research.request()
    outcomes = [
        research.dispatcher.search(request, research.scope(project_id=project)).failure
        for project in ("demo", "other", "demo")
    ]
    assert outcomes == [None, None, DispatchFailure.BUDGET]


def test_a_ceiling_that_refuses_gives_back_what_the_narrower_ones_hold() -> None:
    """Request, endpoint and project are as they were when the tenant's budget is used up."""
    settings = budgets(project_calls="9", tenant_calls="1") | {"research.endpoint.a.creditLimit": "9"}
    research = Research({"a": [found(1)]}, settings)
    dispatcher, scope = research.dispatcher, research.scope()
    assembly = dispatcher.factory.assemble(scope)
    spending = Spending(fleet=dispatcher.fleet, clock=research.clock)
    purse = Purse(budgets=assembly.settings.budgets, max_calls=2)
    first = spending.reserve(assembly.candidates["a"], 1, scope, purse)
    assert isinstance(first, Reservation)
    refused = spending.reserve(assembly.candidates["a"], 1, scope, purse)
    assert isinstance(refused, Refusal)
    assert (refused.skip, refused.ceiling) == (Skip.BUDGET, "research.budget.tenant.calls")
    spending.settle(first, 1)
    day = credit_period(CreditKind.NONE, research.clock.now())
    endpoint = research.state.standing(Account.of_endpoint(PROJECT, "a", day.name, shared=True))
    for balance in (endpoint, project_account(research), project_account(research, "tenant")):
        assert (balance.committed, balance.holds) == (balance.used, {})
        assert balance.used.calls == 1
    assert purse.stands_against(assembly.candidates["a"].endpoint, 1) is None


def test_what_is_known_to_be_used_up_costs_no_write_and_no_turn() -> None:
    """The one read told it already."""
    research = Research({"a": [found(1)]}, budgets(project_calls="1"))
    research.protocol.pacing["a"] = Pacing(subject="a", requests=1, seconds=3)
    research.search()
    research.state.calls.clear()
    assert research.search().failure is DispatchFailure.BUDGET
    assert research.state.calls == {"snapshot": 1}


def test_a_search_holds_the_most_it_may_come_to_and_settles_what_it_came_to() -> None:
    """A name that was not found costs nothing; a search of two calls costs two."""
    research = Research(
        {"a": [found(1, calls=2), ProviderUnavailable("x", cause=Cause.DNS)]}, budgets(project_calls="10")
    )
    research.protocol.pacing["a"] = Pacing(subject="a", requests=9, seconds=1, calls=3)
    seen: list[Balance] = []
    research.protocol.scripts["a"].insert(0, _looking(research, seen))
    research.search()
    assert (seen[0].committed.calls, seen[0].used.calls) == (3, 0)
    research.search()
    research.search()
    balance = project_account(research)
    assert (balance.committed.calls, balance.used.calls, balance.holds) == (3, 3, {})


def _looking(research: Research, seen: list[Balance]) -> Callable[[SearchRequest], SearchResult]:
    def answer(request: SearchRequest) -> SearchResult:
        seen.append(project_account(research))
        return found(1)(request)

    return answer


def test_of_many_searches_at_once_exactly_as_many_are_made_as_the_budget_allows() -> None:
    """Sixty-four threads in sixty-four environments, and ten calls."""
    research = Research({"a": [found(1)]}, budgets(project_calls="10", project_period="day"))
    environments = [research.environment()[2] for _ in range(THREADS)]
    barrier = Barrier(THREADS)

    def search(number: int) -> SearchResult:
        scope = research.scope()
        barrier.wait()
        return environments[number].search(research.request(), scope)

    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(search, range(THREADS)))
    assert len(research.protocol.asked) == 10
    refused = [result for result in results if result.failure is DispatchFailure.BUDGET]
    assert len(refused) == THREADS - 10
    assert all("research.budget.project.calls" in (result.error_message or "") for result in refused)
    assert all(result.retry_at for result in refused)


def test_what_a_dead_environment_held_counts_as_spent() -> None:
    """It is told apart once its time is over; nothing comes back by it, and nothing is lost."""
    research = Research({"a": [_dying, found(1)]}, budgets(project_calls="2"))
    with pytest.raises(_Killed):
        research.search()
    research.clock.advance(20 + HOLD_GRACE_SECONDS + 60)
    assert research.search().hits
    assert research.search().failure is DispatchFailure.BUDGET
    balance = project_account(research)
    assert (balance.committed.calls, balance.used.calls, balance.assumed.calls, balance.holds) == (2, 2, 1, {})


class _Killed(BaseException):
    """As a signal would be: nothing that is caught anywhere."""


def _dying(_request: SearchRequest) -> SearchResult:
    raise _Killed


def test_with_the_table_down_limits_hold_for_what_this_environment_spends() -> None:
    """And what it spent meanwhile is written when the table is back, once."""
    research = Research({"a": [found(1)]}, budgets(project_calls="4"))
    research.search()
    research.state.fail_with = StoreUnavailable("down")
    assert [research.search().failure for _ in range(4)] == [None, None, None, DispatchFailure.BUDGET]
    research.state.fail_with = None
    research.clock.advance(3)
    research.settings["research.budget.project.calls"] = "6"
    research.dispatcher.factory.evict("acme", "demo")
    assert research.search().hits
    assert project_account(research).used.calls == 5
    assert research.search().hits
    assert research.search().failure is DispatchFailure.BUDGET


def test_a_requests_ceilings_bound_all_of_its_calls() -> None:
    """Three instances in a cascade, two calls allowed; the account says which argument it was."""
    research = Research({"a": [found(0)], "b": [found(0)], "c": [found(1)]}, metered("b") | metered("c"))
    assert reasons(research.search(max_calls=2)) == [None, None, "budget"]
    assert reasons(research.search(max_cost=0.9)) == [None, None, "budget"]
    refused = research.search(max_cost=0.0)
    assert [attempt.detail for attempt in refused.attempts] == [None, "max_cost", "max_cost"]
    assert research.search(max_cost=1.0).hits
    assert set(research.state.calls) == {"snapshot"}


def test_a_ceiling_of_the_request_that_refuses_everything_is_a_problem_to_be_changed() -> None:
    """No time heals it."""
    research = Research({"a": [found(1)]}, metered("a"))
    refused = research.search(max_cost=0.1)
    assert refused.failure is DispatchFailure.BUDGET
    problem = problem_of(refused, research.dispatcher.factory.protocols, research.clock.now())
    assert problem is not None
    assert (problem.retryable, problem.detail) == (False, "max_cost allows no further call of this request")
    assert (problem.field, problem.suggested_action) == ("max_cost", "raise max_cost (now 0.1)")


def test_searches_side_by_side_share_the_requests_ceiling() -> None:
    """As in research_rich: four modalities, two calls."""
    research = Research({"a": [found(1)]})
    kinds = (SearchModality.WEB, SearchModality.IMAGE, SearchModality.VIDEO, SearchModality.NEWS)
    requests = [SearchRequest(query="bells", modality=each, max_calls=2) for each in kinds]
    results = research.dispatcher.search_each(requests, research.scope())
    assert [result.failure for result in results] == [None, None, DispatchFailure.BUDGET, DispatchFailure.BUDGET]
    assert len(research.protocol.asked) == 2


def test_what_an_earlier_modality_needs_is_set_aside_before_any_of_them_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is the last to come to its call; one that has a kept answer needs none."""
    later, pacing = Event(), FakeInstance.pacing

    def after_the_later(self: FakeInstance, request: SearchRequest) -> Pacing | None:
        if request.modality is SearchModality.IMAGE:
            later.wait(0.1)
        return pacing(self, request)

    def asked(request: SearchRequest) -> SearchResult:
        if request.modality in kinds[2:]:
            later.set()
        return found(1)(request)

    kinds = (SearchModality.WEB, SearchModality.IMAGE, SearchModality.NEWS, SearchModality.VIDEO)
    monkeypatch.setattr(FakeInstance, "pacing", after_the_later)
    research = Research({"a": [asked]}, {"research.cache.ttlSeconds.web": "60"})
    research.search()
    requests = [SearchRequest(query="cathedral bells", modality=each, max_calls=1) for each in kinds]
    results = research.dispatcher.search_each(requests, research.scope())
    assert [result.failure for result in results] == [None, None, *[DispatchFailure.BUDGET] * 2]
    assert results[0].cached


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"research.default.web": "paid"},
        {"research.default.web": "paid", "research.fallback.web": "free"},
        {"research.fallback.web": "paid"},
    ],
)
def test_free_only_asks_nobody_whose_calls_cost_money(strategy: Strategy, more: dict[str, str]) -> None:
    """However routing names them, and though they may be asked unnamed; they are listed as left out."""
    research = Research({"paid": [found(1)], "free": [found(1)]}, metered("paid") | more)
    result = research.search(free_only=True, strategy=strategy)
    assert [hit.title for hit in result.hits] == ["Hit 1"]
    assert research.protocol.asked_ids == ["free"]
    assert [(each.instance_id, each.reason) for each in result.attempts] == [("paid", "metered"), ("free", None)]


@pytest.mark.parametrize("pinned", [None, "paid"])
def test_free_only_where_everything_costs_money_is_refused(pinned: str | None) -> None:
    research = Research({"paid": [found(1)]}, metered("paid"))
    refused = research.search(free_only=True, pinned_provider_id=pinned)
    assert (refused.failure, research.protocol.asked) == (DispatchFailure.ONLY_METERED, [])
    assert refused.attempts[0].outcome is Outcome.SKIPPED
    problem = problem_of(refused, research.dispatcher.factory.protocols, research.clock.now())
    assert problem is not None
    assert problem.suggested_action == "leave out free_only, or add an endpoint without a costPerCall"


@pytest.mark.parametrize("others", ["serve", "are switched off"])
def test_a_pin_that_costs_money_is_the_way_out_where_others_answer_for_nothing(others: str) -> None:
    """Adding an endpoint that is there already would change nothing."""
    enabled = {"research.endpoint.free.enabled": str(others == "serve").lower()}
    research = Research({"paid": [found(1)], "free": [found(1)]}, metered("paid") | enabled)
    refused = research.search(free_only=True, pinned_provider_id="paid")
    problem = problem_of(refused, research.dispatcher.factory.protocols, research.clock.now())
    assert problem is not None
    assert (refused.failure, research.protocol.asked) == (DispatchFailure.ONLY_METERED, [])
    if others == "serve":
        assert problem.suggested_action == (
            "leave out pinned_provider_id: others answer for nothing; or leave out free_only"
        )
        assert (problem.field, "the pinned endpoint costs money" in problem.detail) == ("pinned_provider_id", True)
        assert research.search(free_only=True).hits
    else:
        assert problem.suggested_action == "leave out free_only, or add an endpoint without a costPerCall"


def test_a_budget_that_is_no_number_allows_nothing_and_is_told_of() -> None:
    """Leaving it out would allow everything."""
    research = Research({"a": [found(1)]}, budgets(project_calls="ten", tenant_period="week"))
    assert research.search().failure is DispatchFailure.BUDGET
    told = providers(ProvidersArguments(detail=True), research.scope(), research.services).data
    assert isinstance(told, ProvidersReport)
    assert {row.setting for row in told.misconfigured} == {
        "research.budget.project.calls",
        "research.budget.tenant.period",
    }


@pytest.mark.parametrize(
    ("day", "now", "name", "until"),
    [
        (1, "2027-02-10", "2027-02", "2027-03-01"),
        (15, "2027-02-10", "2027-01", "2027-02-15"),
        (15, "2027-02-15", "2027-02", "2027-03-15"),
        (31, "2027-02-27", "2027-01", "2027-02-28"),
        (31, "2027-02-28", "2027-02", "2027-03-31"),
        (31, "2028-02-29", "2028-02", "2028-03-31"),
        (20, "2027-01-01", "2026-12", "2027-01-20"),
        (5, "2026-12-31", "2026-12", "2027-01-05"),
    ],
)
def test_monthly_credit_comes_back_on_its_reset_day(day: int, now: str, name: str, until: str) -> None:
    """In a short month on its last day."""
    period = credit_period(CreditKind.MONTHLY, _moment(now), day)
    assert (period.name, period.until) == (name, _moment(until))
    assert period.since <= _moment(now) < _moment(until)


def _moment(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def test_a_provider_that_says_it_is_used_up_is_left_alone_until_its_period_turns() -> None:
    """No cooldown; the month of the endpoint's own reset day counts, where the provider states no time."""
    settings = {"research.endpoint.a.creditKind": "monthly", "research.endpoint.a.resetDay": "15"}
    research = Research({"a": [QuotaExhausted("used up"), found(1)]}, settings)
    period = credit_period(CreditKind.MONTHLY, research.clock.now(), 15)
    assert research.search().attempts[0].reason == "quota_exhausted"
    assert period.until is not None
    research.clock.advance(period.until - research.clock.now() - 2)
    skipped = research.search().attempts[0]
    assert (skipped.reason, skipped.retry_at) == ("exhausted", period.until)
    research.clock.advance(2)
    assert research.search().hits
    assert research.state.calls["extend_cooldown"] == 0


def test_the_providers_own_figure_ends_exhaustion_before_the_period_does() -> None:
    """Somebody bought credits: research_providers asks for it, for free, once the kept figure is old enough."""
    research = Research({"a": [QuotaExhausted("used up"), found(1)]}, {"research.endpoint.a.creditKind": "one_time"})
    research.search()
    research.protocol.quota = QuotaStatus(source=QuotaSource.PROVIDER, remaining=900)
    providers(ProvidersArguments(detail=True), research.scope(), research.services)
    assert research.search().attempts[0].reason == "exhausted"
    research.clock.advance(301)
    providers(ProvidersArguments(detail=True), research.scope(), research.services)
    assert research.search().hits


def test_what_was_looked_up_counts_also_in_the_moment_of_exhaustion() -> None:
    """Whoever asks for a quota by itself knows better than any search that was under way."""
    settings = {"research.quota.cache.ttlMinutes": "0"}
    research = Research({"a": [QuotaExhausted("used up", retry_after=7200.0), found(1)]}, settings)
    research.search()
    research.protocol.quota = QuotaStatus(source=QuotaSource.PROVIDER, remaining=900)
    providers(ProvidersArguments(detail=True), research.scope(), research.services)
    assert research.search().hits


def test_projects_do_not_share_a_projects_budget() -> None:
    research = Research({"a": [found(1)]}, budgets(project_calls="1"))
    research.search()
    other = research.dispatcher.search(research.request(), research.scope(project_id="other"))
    assert other.hits


def test_a_project_cannot_make_its_tenants_monthly_budget_a_daily_one() -> None:
    """Whatever it says of periods: two calls a month for all projects are two calls a month."""
    research = Research({"a": [found(1)]}, budgets(tenant_calls="2"))
    research.settings_of_projects["demo"] = budgets(tenant_period="day", project_period="day", project_calls="9")
    served = 0
    for _day in range(3):
        for project in ("demo", "other"):
            scope = research.scope(project_id=project)
            served += research.dispatcher.search(research.request(), scope).failure is None
        research.clock.advance(DAY)
    assert served == 2


def test_budgets_of_different_periods_begin_anew_each_in_its_own() -> None:
    research = Research({"a": [found(1)]}, budgets(tenant_calls="3", project_calls="2", project_period="day"))
    days = []
    for _day in range(2):
        days.append([research.search().failure for _ in range(3)].count(None))
        research.clock.advance(DAY)
    assert days == [2, 1]


LIMITED = {"research.endpoint.a.creditLimit": "3", "research.endpoint.a.creditKind": "monthly"}


def served_in_turn(research: Research, *projects: str) -> list[bool]:
    return [
        research.dispatcher.search(research.request(), research.scope(project_id=project)).failure is None
        for project in projects
    ]


def test_a_credit_limit_that_the_tenant_set_is_spent_by_its_projects_together() -> None:
    """Three calls for both, not three for each; the one read of the other project tells it, too."""
    research = Research({"a": [found(1)]}, dict(LIMITED))
    assert served_in_turn(research, "demo", "other", "demo", "other", "demo") == [True, True, True, False, False]
    assert research.state.calls["reserve"] == 3
    period = credit_period(CreditKind.MONTHLY, research.clock.now())
    assert research.state.standing(Account.of_endpoint(PROJECT, "a", period.name, shared=True)).used.calls == 3
    (row,) = _report(research).providers
    assert row.quota is not None
    assert (row.quota.used, row.quota.remaining) == (3, 0)


def test_a_credit_limit_that_a_project_set_is_its_own() -> None:
    """Also of an endpoint of the tenant's: whoever overrides the limit counts for himself."""
    research = Research({"a": [found(1)]})
    research.settings_of_projects = {"demo": dict(LIMITED), "other": dict(LIMITED)}
    assert served_in_turn(research, "demo", "other", "demo", "other", "demo", "demo") == [True] * 5 + [False]
    period = credit_period(CreditKind.MONTHLY, research.clock.now())
    assert research.state.standing(Account.of_endpoint(PROJECT, "a", period.name)).used.calls == 3


def _report(research: Research) -> ProvidersReport:
    told = providers(ProvidersArguments(detail=True), research.scope(), research.services).data
    assert isinstance(told, ProvidersReport)
    return told


def test_the_count_of_monthly_credit_goes_on_when_the_reset_day_is_changed() -> None:
    """Otherwise a change of the setting would be new credit."""
    research = Research({"a": [found(1)]}, dict(LIMITED))
    today = datetime.fromtimestamp(research.clock.now(), tz=UTC).day
    assert [research.search().failure is None for _ in range(4)] == [True] * 3 + [False]
    research.settings["research.endpoint.a.resetDay"] = str(today)
    research.dispatcher.factory.evict("acme", "demo")
    assert research.search().attempts[0].reason == "exhausted"


def test_what_a_request_may_cost_is_dollars_and_no_providers_credits() -> None:
    """Half a dollar does not stand against one credit of a plan; both are told, each by itself. As its dry run says."""
    settings = metered("credits", "3") | metered("dollars", "0.01")
    settings["research.endpoint.credits.creditKind"] = "monthly"
    research = Research({"credits": [found(0)], "dollars": [found(1)]}, settings)
    request = SearchRequest(query="bells", modality=SearchModality.WEB, max_cost=0.5)
    (plan,) = research.dispatcher.plan([request], research.scope())
    result = research.dispatcher.search(request, research.scope())
    assert [(each.reason, each.cost, each.credits) for each in result.attempts] == [(None, 0.0, 3.0), (None, 0.01, 0.0)]
    assert (result.cost, result.credits) == (0.01, 3.0)
    assert [each.instance_id for each in plan.eligible] == ["credits", "dollars"]
    assert (plan.worst_case.usd, plan.worst_case.credits) == (0.02, 6.0)
    research.audit.flush()
    assert {(each.instance_id, each.usd, each.credits) for each in research.calls.records} == {
        ("credits", 0.0, 3.0),
        ("dollars", 0.01, 0.0),
    }


def test_a_throttled_account_makes_a_skip_and_no_call() -> None:
    """Others are just spending: whoever cannot hold anything asks nobody, and is told when to come again."""
    research = Research({"a": [found(1)]}, budgets(project_calls="10", tenant_calls="10"))
    research.search()
    refuse_reserve_of(research, None)
    result = research.search()
    (attempt,) = result.attempts
    assert (attempt.outcome, attempt.reason, attempt.detail) == (
        Outcome.SKIPPED,
        "throttled",
        "research.budget.tenant.calls",
    )
    assert (result.failure, attempt.retry_at) == (
        DispatchFailure.ALL_COOLING,
        research.clock.now() + HOLD_AGAIN_SECONDS,
    )
    assert len(research.protocol.asked) == 1
    assert project_account(research).committed == Spent(calls=1)


def refuse_reserve_of(research: Research, project_id: str | None) -> None:
    """Accounts of that project, or the tenant's, are throttled from now on."""
    reserve = research.state.reserve

    def throttled(account: Account, *rest: Any, **more: Any) -> Any:
        if account.project_id == project_id:
            raise StoreThrottled("ProvisionedThroughputExceededException")
        return reserve(account, *rest, **more)

    research.state.reserve = throttled  # type: ignore[method-assign]
