"""Trials of drafts whose protocol is no built-in: whatever an add-on does, its editor is told and no more."""

from typing import Any

import pytest

from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of
from tests.fakes.instances import instance
from tests.fakes.providers import FakeInstance, Step, found
from tests.fakes.settings import Editor
from tests.fakes.transport import ScriptedTransport
from zarniwoop.adapters import agentcore
from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    ConfigurationUnavailable,
    CredentialsRejected,
    EndpointMisconfigured,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.quota import QuotaSource, QuotaStatus
from zarniwoop.dispatch.candidates.selection import Candidate
from zarniwoop.dispatch.trial.words import failed
from zarniwoop.settings.standing import standing_endpoint
from zarniwoop.stores.failure import StoreThrottled

SECRET = "shelf-key-0123456789"


def tried(step: Step, *, quota: Any = None, **more: Any) -> Any:
    """The envelope of a trial of endpoint `e1`, with a key in the draft."""
    environment = FakeEnvironment({"e1": [step]})
    environment.protocol.quota = quota
    draft = {"settings": {"apiKey": SECRET}, "endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    envelope = body_of(Editor(environment).call("test", draft | more))
    assert environment.protocol.made[-1].disposed == 1
    assert SECRET not in str(envelope)
    assert environment.fake_state.calls["extend_cooldown"] == 0
    (record,) = environment.fake_calls.records
    assert (record.diagnostics, record.instance_id) == (True, "e1")
    return envelope


def test_an_add_on_that_answers_is_good() -> None:
    """With hits, or without for this query."""
    good, empty = tried(found(3, note="as it is")), tried(found(0), query="nothing like it")
    assert (good["ok"], good["data"]["outcome"], good["data"]["note"]) == (True, "success", "as it is")
    assert (empty["ok"], empty["data"]["outcome"], empty["data"]["hit_count"]) == (True, "empty", 0)


def test_a_quota_that_is_told_for_free_spares_the_search() -> None:
    """Unless its editor wants one."""
    left = QuotaStatus(source=QuotaSource.PROVIDER, remaining=3)
    assert tried(found(1), quota=left)["data"]["asked"] == "quota"
    assert tried(found(1), quota=left, query="bells")["data"]["asked"] == "search"
    assert tried(found(1), quota=CredentialsRejected("no", status=401))["error"]["field"].endswith(".apiKey")


@pytest.mark.parametrize(
    ("step", "slug"),
    [
        (CredentialsRejected("refused", status=401), "credentials-rejected"),
        (AccessRefused("a wall", status=403), "access-refused"),
        (EndpointMisconfigured("index", "there is no such index", status=404), "misconfigured"),
        (RateLimited("slow down", retry_after=7.0), "rate-limited"),
        (QueryRejected("no", status=422), "query-rejected"),
        (ProviderError(f"not a class of ours, with {SECRET} in it"), "provider-error"),
        (RuntimeError(f"a bug that says {SECRET}"), "internal"),
        (found(0, error_message=f"declined for {SECRET}"), "declined"),
        (found(0, degraded="engines blocked"), "declined"),
    ],
)
def test_whatever_goes_wrong_is_told_without_the_key(step: Step, slug: str) -> None:
    """An add-on's own sentences lose it on the way out; the text of its bugs is told to nobody."""
    envelope = tried(step)
    error = envelope["error"]
    assert (envelope["ok"], error["type"], error["status"]) == (False, f"urn:zarniwoop:problem:{slug}", 200)
    assert error["suggested_action"]
    assert error["wait_seconds"] == (7.0 if slug == "rate-limited" else None)
    assert "a bug that says" not in str(envelope)


def _raises(*_given: Any) -> Any:
    raise RuntimeError("a bug that tells secrets")


@pytest.mark.parametrize("member", ["pacing", "most_calls"])
def test_an_add_on_whose_promises_are_broken_is_told_of_and_nobody_is_asked(
    member: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of any bug of its code: its editor is told, and nothing was spent or is left behind."""
    monkeypatch.setattr(FakeInstance, member, _raises)
    environment = FakeEnvironment({"e1": [found(1)]}, {"research.endpoint.e1.costPerCall": "0.5"})
    draft = {"endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    envelope = body_of(Editor(environment).call("test", draft))
    assert (envelope["ok"], envelope["error"]["type"]) == (False, "urn:zarniwoop:problem:internal")
    assert envelope["error"]["status"] == 200
    assert "RuntimeError" in envelope["error"]["detail"]
    assert "a bug" not in str(envelope)
    assert environment.protocol.asked == []
    assert environment.protocol.made[-1].disposed == 1
    (record,) = environment.fake_calls.records
    assert (record.diagnostics, record.ok, record.calls, record.error_message) == (True, False, 0, "internal")


@pytest.mark.parametrize("member", ["dispose", "display_name"])
def test_what_an_add_on_raises_beside_the_call_does_not_hide_its_end(
    member: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call is over by then, and it is its end that the editor wants to hear of."""
    monkeypatch.setattr(FakeInstance, member, _raises)
    environment = FakeEnvironment({"e1": [CredentialsRejected("refused", status=401)]})
    draft = {"settings": {"apiKey": SECRET}, "endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    envelope = body_of(Editor(environment).call("test", draft))
    assert envelope["error"]["type"] == "urn:zarniwoop:problem:credentials-rejected"


def test_an_add_on_that_cannot_tell_its_modalities_serves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to ask it, and it is let go of."""
    environment = FakeEnvironment({"e1": [found(1)]})
    editor = Editor(environment)
    monkeypatch.setattr(FakeInstance, "modalities", _raises)
    error = body_of(editor.call("test", {"endpoint_id": "e1", "level": "tenant", "project_id": "demo"}))["error"]
    assert (error["status"], error["field"]) == (400, "research.endpoint.e1.protocol")
    assert environment.protocol.made[-1].disposed == 1


def test_a_draft_without_a_further_turn_in_time_is_throttled_and_not_refused() -> None:
    """Its provider did nothing wrong; it may be tested again."""
    environment = FakeEnvironment({"e1": [found(1)]})
    environment.protocol.requests_each["e1"] = 2
    environment.protocol.pacing["e1"] = Pacing(subject="e1", requests=1, seconds=60.0, calls=2, separate=True)
    error = body_of(Editor(environment).call("test", {"endpoint_id": "e1", "level": "tenant", "project_id": "demo"}))[
        "error"
    ]
    assert (error["type"], error["retryable"]) == ("urn:zarniwoop:problem:throttled", True)
    assert 60 < error["wait_seconds"] <= 60.5


def test_a_setting_that_names_nothing_is_pointed_at() -> None:
    error = tried(EndpointMisconfigured("index", "there is no such index", status=404))["error"]
    assert error["field"].endswith(".index")
    assert "there is no such index" in error["detail"]


def test_without_a_key_it_says_that_one_is_needed() -> None:
    """A 401 to a call without a key is no wrong key."""
    environment = FakeEnvironment({"e1": [CredentialsRejected("no key", status=401)]})
    asked = {"endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    error = body_of(Editor(environment).call("test", asked))["error"]
    assert (error["field"], "a key is needed" in error["detail"]) == ("research.endpoint.e1.apiKey", True)


def test_an_add_on_that_cannot_be_made_is_a_wrong_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its protocol, with its reason."""
    environment = FakeEnvironment({"e1": [found(1)]})

    def refuse(_config: Any) -> Any:
        raise ValueError("wants more than it is given")

    monkeypatch.setattr(environment.protocol, "instantiate", refuse)
    asked = {"endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    error = body_of(Editor(environment).call("test", asked))["error"]
    assert (error["status"], error["field"]) == (400, "research.endpoint.e1.protocol")
    view = Editor(environment).endpoint("e1")
    assert (view["badge"], view["problems"][0]["reason"]) == ("not_configured", "wants more than it is given")


def test_the_search_of_a_trial_is_held_and_settled_under_the_budgets_too() -> None:
    """Used up, nobody is asked; a name that was not found gives back what was held."""
    unreached = ProviderUnavailable("x", cause=Cause.DNS)
    environment = FakeEnvironment({"e1": [unreached, found(1)]})
    environment.save({"research.budget.project.calls": "1"})
    draft = {"settings": {"apiKey": SECRET}, "endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    outcomes = [body_of(Editor(environment).call("test", draft)) for _ in range(3)]
    assert [each["ok"] for each in outcomes] == [False, True, False]
    refused = outcomes[2]["error"]
    assert (refused["type"], refused["status"]) == ("urn:zarniwoop:problem:budget", 503)
    assert refused["detail"] == "research.budget.project.calls is used up, so the provider was not asked"
    assert refused["suggested_action"].startswith("raise research.budget.project.calls (now 1), or ")
    assert refused["wait_seconds"] > 0
    assert len(environment.protocol.asked) == 2


def test_a_trial_whose_key_cannot_be_read_gives_back_what_it_held() -> None:
    """Nobody was asked; and the next trial may be made as if this one had not been."""
    environment = FakeEnvironment({"e1": [ConfigurationUnavailable("Parameter Store is away"), found(1)]})
    environment.save({"research.budget.project.calls": "1"})
    draft = {"settings": {"apiKey": SECRET}, "endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    assert [body_of(Editor(environment).call("test", draft))["ok"] for _ in range(3)] == [False, True, False]


def test_a_trial_whose_budget_is_throttled_is_to_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not known whether there is room, and nothing is used up."""
    environment = FakeEnvironment({"e1": [found(1)]})
    environment.save({"research.budget.project.calls": "1"})

    def throttled(*_given: object, **_named: object) -> None:
        raise StoreThrottled("slow down")

    monkeypatch.setattr(environment.fake_state, "reserve", throttled)
    draft = {"settings": {"apiKey": SECRET}, "endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    error = body_of(Editor(environment).call("test", draft))["error"]
    assert (error["type"], error["field"]) == ("urn:zarniwoop:problem:throttled", "research.budget.project.calls")
    assert (error["wait_seconds"], environment.protocol.asked) == (1.0, [])


def test_what_is_asked_with_the_stack_s_role_has_no_address_to_look_at() -> None:
    """Its form has no such field."""
    made = instance(agentcore.PROTOCOL, ScriptedTransport())
    candidate = Candidate(instance=made, endpoint=standing_endpoint("agentcore"))
    problem = failed(candidate, ProviderUnavailable("the service cannot answer", status=503))
    assert (problem.field, problem.retryable) == (None, True)
    assert "address" not in (problem.suggested_action or "")


def test_a_trial_spends_of_the_endpoint_s_credit_and_ends_with_it() -> None:
    """Testing a draft is no way around a bound that somebody set."""
    environment = FakeEnvironment(
        {"e1": [found(1)]}, {"research.endpoint.e1.creditLimit": "2", "research.endpoint.e1.creditKind": "monthly"}
    )
    editor = Editor(environment)
    draft = {"settings": {"apiKey": SECRET}, "endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    assert [editor.call("test", draft)["statusCode"] for _ in range(3)] == [200, 200, 503]
    error = body_of(editor.call("test", draft))["error"]
    assert (error["type"], error["field"]) == ("urn:zarniwoop:problem:exhausted", "research.endpoint.e1.creditLimit")
    assert error["wait_seconds"] > 0
    assert len(environment.protocol.asked) == 2
    assert environment.protocol.made[-1].disposed == 1


def test_what_another_key_has_used_up_does_not_stop_a_trial() -> None:
    """Whoever types a new key into the form wants to know whether that one is good; a quota look-up is no search."""
    environment = FakeEnvironment({"e1": [found(1)]}, {"research.endpoint.e1.creditLimit": "1"})
    environment.protocol.quota = QuotaStatus(source=QuotaSource.PROVIDER, remaining=0)
    editor = Editor(environment)
    draft = {"settings": {"apiKey": SECRET}, "endpoint_id": "e1", "level": "tenant", "project_id": "demo"}
    assert [body_of(editor.call("test", draft))["data"]["asked"] for _ in range(3)] == ["quota"] * 3
