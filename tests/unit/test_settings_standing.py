"""Endpoints that are there without a setting: last, and only where nobody has taken their place."""

from dataclasses import replace

import pytest

from tests.fakes.environment import FakeEnvironment
from zarniwoop.dispatch.candidates.credit import credit_status, credits_of_a_call, dollars_of_a_call
from zarniwoop.settings.cascade import EffectiveSettings, Setting
from zarniwoop.settings.credentials import KnownProtocol
from zarniwoop.settings.endpoints import CreditKind, Misconfigured, ResearchSettings
from zarniwoop.settings.levels import Level
from zarniwoop.settings.standing import PRIORITY, bounded, metered_endpoint, standing_endpoint, with_standing

STANDING = standing_endpoint("local-index")


def test_a_standing_endpoint_comes_last_and_costs_nothing() -> None:
    """Whatever somebody configured is asked before it."""
    own = replace(standing_endpoint("solr"), priority=2_000, standing=False)
    settings = with_standing(ResearchSettings(endpoints=(own,)), [STANDING], {"local-index", "solr"})
    assert [(each.id, each.priority) for each in settings.endpoints] == [("solr", 2_000), ("local-index", PRIORITY)]
    assert max(settings.endpoints, key=lambda each: each.rank) == STANDING
    assert (STANDING.enabled, STANDING.may_be_asked_unnamed, STANDING.credential_key) == (True, True, None)


@pytest.mark.parametrize(
    "settings",
    [
        ResearchSettings(endpoints=(standing_endpoint("local-index"),)),
        ResearchSettings(misconfigured=(Misconfigured(instance_id="local-index", setting="enabled", reason="x"),)),
    ],
)
def test_an_endpoint_of_the_settings_takes_its_place(settings: ResearchSettings) -> None:
    """Also a wrong one, and one that is switched off."""
    assert with_standing(settings, [STANDING], {"local-index"}) is settings


def test_a_protocol_that_is_not_there_has_no_endpoint() -> None:
    """As in a stack without the bucket."""
    assert with_standing(ResearchSettings(), [STANDING], {"serper"}).endpoints == ()


def test_one_that_costs_is_asked_unnamed_up_to_its_bound() -> None:
    """The operator chose it for everybody; its price is told with every answer."""
    endpoint = metered_endpoint("agentcore", price=0.007, calls_a_month=5_000, extras={"region": "us-east-1"})
    assert (endpoint.id, endpoint.priority, endpoint.may_be_asked_unnamed) == ("agentcore", PRIORITY, True)
    assert (endpoint.cost_per_call, endpoint.credit_kind, endpoint.credit_limit) == (0.007, CreditKind.MONTHLY, 35.0)
    assert endpoint.extras == {"region": "us-east-1"}


METERED = metered_endpoint("agentcore", price=0.007, calls_a_month=5_000, extras={})


@pytest.mark.parametrize(("stated", "in_force"), [(None, 35.0), (1_000_000.0, 35.0), (0.7, 0.7)])
def test_what_the_operator_pays_for_keeps_his_price_and_his_bound(stated: float | None, in_force: float) -> None:
    """A token that may save settings lowers the limit, and never lifts it."""
    own = replace(standing_endpoint("agentcore"), standing=False, priority=1, credit_limit=stated)
    (endpoint,) = bounded(ResearchSettings(endpoints=(own,)), [METERED]).endpoints
    assert (endpoint.cost_per_call, endpoint.credit_kind, endpoint.credit_limit) == (
        0.007,
        CreditKind.MONTHLY,
        in_force,
    )
    assert (endpoint.priority, endpoint.enabled) == (1, True)


def test_another_id_is_no_second_account() -> None:
    """Spending is counted by id; other protocols are let be."""
    second = replace(standing_endpoint("agentcore"), id="mine")
    settings = bounded(ResearchSettings(endpoints=(second, STANDING)), [METERED])
    assert settings.endpoints == (STANDING,)
    (fault,) = settings.misconfigured
    assert (fault.instance_id, fault.setting) == ("mine", "protocol")
    assert "'agentcore'" in fault.reason


def test_a_project_cannot_move_the_day_from_which_the_operators_bound_is_counted() -> None:
    """Another day would be another count, and metered calls are hedged only where the operator says so."""
    own = replace(METERED, reset_day=15, hedge_metered=True, credit_shared=True, in_dollars=False, standing=False)
    (endpoint,) = bounded(ResearchSettings(endpoints=(own,)), [METERED]).endpoints
    assert (endpoint.reset_day, endpoint.hedge_metered) == (METERED.reset_day, METERED.hedge_metered)
    assert (endpoint.credit_shared, endpoint.in_dollars) == (False, True)


def test_what_the_operator_pays_for_costs_dollars() -> None:
    """Though its bound is a month's, as a plan's credits are: budgets and max_cost count it."""
    assert (dollars_of_a_call(METERED), credits_of_a_call(METERED)) == (0.007, 0.0)
    assert credit_status(METERED, 0.7, 1_800_000_000.0).unit == "usd"


@pytest.mark.parametrize("name", ["agentcore", "mine"])
def test_settings_are_judged_with_the_operators_bound(name: str) -> None:
    """As every search and every draft has them judged."""
    environment = FakeEnvironment()
    environment.__dict__["_web_search_endpoints"] = (METERED,)
    protocol = Setting(value="agentcore", level=Level.PROJECT, secure=False, parameter_name="/protocol", version="1")
    values = {f"research.endpoint.{name}.protocol": protocol}
    environment.__dict__["_known_protocols"] = {"agentcore": KnownProtocol(by_role=True)}
    judged = environment.judge_settings(EffectiveSettings(values=values))
    (endpoint,) = judged.endpoints
    assert (endpoint.id, endpoint.cost_per_call, endpoint.credit_limit) == ("agentcore", 0.007, 35.0)
    assert [each.instance_id for each in judged.misconfigured] == ([] if name == "agentcore" else [name])
