"""Bodies are loaded under the rules of a search: gate, published rate, cooldown, credit, metrics and audit."""

import hmac
from dataclasses import replace

import pytest

from tests.fakes.providers import found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.failure import (
    AccessRefused,
    Cause,
    ConfigurationUnavailable,
    CredentialsRejected,
    MalformedAnswer,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    QuotaExhausted,
    RateLimited,
)
from zarniwoop.contract.hit import ContentInline, ContentReference, LoadedContent
from zarniwoop.contract.modality import SearchModality
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.result import Outcome
from zarniwoop.dispatch.calls.asked import Asked
from zarniwoop.dispatch.calls.bodies import Body
from zarniwoop.observe.metrics import Metric
from zarniwoop.stores.failure import StoreUnavailable

PAGE = LoadedContent(body=b"Bells ring.", media_type="text/plain", source_url="https://main.test/7")
SLOW = Pacing(subject="fake@main.test", requests=1, seconds=3.0, spread=0.0)


class Loading:
    """One instance, `main`, that has bodies."""

    def __init__(self, *bodies: LoadedContent | Exception, **settings: str) -> None:
        named = {f"research.endpoint.main.{name}": value for name, value in settings.items()}
        self.research = Research({"main": [found(1)]}, named)
        self.research.protocol.bodies["main"] = list(bodies or (PAGE,))

    def load(self, reference: str = "7", *, seconds: float = 8.0, free_only: bool = False) -> Asked:
        dispatcher, scope = self.research.dispatcher, self.research.scope(seconds)
        survey = dispatcher.survey(scope)
        body = Body(
            candidate=survey.assembly.candidates["main"],
            modality=SearchModality.WEB,
            reference=ContentReference(inline=ContentInline.STASH_ON_DEMAND, reference=reference),
        )
        return dispatcher.loading(survey, scope, free_only=free_only)(body)

    @property
    def loaded(self) -> list[tuple[str, str]]:
        return self.research.protocol.loaded


def test_a_load_is_written_down_like_a_search() -> None:
    """One record, with the hash of the reference in place of the query's, and the provider's metrics."""
    loading = Loading()
    asked = loading.load("PMID-7")
    assert (asked.content, asked.attempt.outcome) == (PAGE, Outcome.SUCCESS)
    loading.research.audit.flush()
    (record,) = loading.research.calls.records
    assert (record.operation, record.instance_id, record.modality) == ("load", "main", SearchModality.WEB)
    assert record.query_hash == hmac.digest(b"k" * 32, b"PMID-7", "sha256").hex()
    assert (record.ok, record.hit_count, record.error_message) == (True, 1, None)
    counted = {point.metric: dict(point.tags) for point in loading.research.points()}
    assert counted[Metric.PROVIDER_CALLS]["outcome"] == "success"
    assert Metric.PROVIDER_DURATION in counted


def test_a_search_is_recorded_as_one() -> None:
    """Loads and searches can be told apart, in the audit trail and in the metrics."""
    loading = Loading()
    loading.research.search()
    loading.load()
    loading.research.audit.flush()
    assert [record.operation for record in loading.research.calls.records] == ["search", "load"]
    points = loading.research.points()
    for metric in (Metric.PROVIDER_CALLS, Metric.PROVIDER_DURATION):
        assert [dict(each.tags)["operation"] for each in points if each.metric is metric] == ["search", "load"]


def test_loads_take_their_turns_at_the_published_rate() -> None:
    """The one that searches take theirs at; each load is one request, however many a search makes."""
    loading = Loading()
    loading.research.protocol.pacing["main"] = SLOW
    loading.research.search()
    for _ in range(3):
        assert loading.load().content is not None
    assert loading.research.clock.slept == [3.0, 3.0, 3.0]
    several = Loading()
    several.research.protocol.pacing["main"] = replace(SLOW, requests=3, calls=3)
    several.load()
    several.load()
    assert several.research.clock.slept == [1.0]


def test_a_turn_that_comes_too_late_is_not_waited_for_and_nobody_is_asked() -> None:
    """It is left to others; the reason is told, with when there would be one."""
    loading = Loading()
    loading.research.protocol.pacing["main"] = replace(SLOW, seconds=30.0)
    loading.load()
    asked = loading.load(seconds=8.0)
    assert (asked.content, asked.attempt.outcome, asked.attempt.reason) == (None, Outcome.SKIPPED, "throttled")
    assert asked.attempt.retry_at == loading.research.clock.now() + 30
    assert (len(loading.loaded), loading.research.clock.slept) == (1, [])


def test_an_instance_without_a_published_rate_is_asked_at_once() -> None:
    """No turn is written for it."""
    loading = Loading()
    loading.load()
    assert loading.research.state.calls["take_turn"] == 0


@pytest.mark.parametrize(
    ("failure", "reason", "cooling"),
    [
        (RateLimited("slow down", retry_after=60), "rate_limited", True),
        (ProviderUnavailable("down"), "provider_unavailable", True),
        (CredentialsRejected("whose key?"), "credentials_rejected", True),
        (QueryRejected("no such body"), "query_rejected", False),
        (MalformedAnswer("too large", cause=Cause.TOO_LARGE), "malformed_answer", False),
        (AccessRefused("for subscribers"), "access_refused", False),
        (ConfigurationUnavailable("no key"), "key_unavailable", False),
        (RuntimeError("a bug of an add-on"), "internal", False),
    ],
)
def test_a_load_that_fails_means_what_it_means_of_a_search(failure: Exception, reason: str, cooling: bool) -> None:
    """But for a body that cannot be read or had, which says nothing of the searches."""
    loading = Loading(failure)
    asked = loading.load()
    assert (asked.content, asked.attempt.outcome, asked.attempt.reason) == (None, Outcome.FAILURE, reason)
    assert bool(loading.research.state.cooldowns_of(PROJECT)) is cooling
    loading.research.audit.flush()
    assert [record.error_message for record in loading.research.calls.records] == [reason]
    assert loading.load().attempt.outcome is (Outcome.SKIPPED if cooling else Outcome.FAILURE)


def test_a_used_up_quota_stops_loads_too() -> None:
    """Until it is looked at again."""
    loading = Loading(QuotaExhausted("used up"))
    loading.load()
    assert loading.load().attempt.reason == "exhausted"
    assert len(loading.loaded) == 1


def test_an_instance_whose_cooldown_has_just_ended_is_left_to_a_searchs_probe() -> None:
    """A body tells less of how the provider is."""
    loading = Loading(ProviderUnavailable("down"))
    loading.load()
    loading.research.clock.advance(31)
    assert loading.load().attempt.reason == "cooldown"
    assert loading.research.state.calls["claim_probe"] == 0


def test_a_load_that_fails_goes_on_where_the_searches_cooldowns_were() -> None:
    """The ladder is one for both: a second failure soon after the first cools for longer."""
    loading = Loading(ProviderUnavailable("down"))
    research = loading.research
    research.protocol.scripts["main"] = [ProviderUnavailable("down"), found(1)]
    research.search()
    research.clock.advance(31)
    research.search()
    loading.load()
    (cooldown,) = research.state.cooldowns_of(PROJECT)
    assert (cooldown.failures, cooldown.until - research.clock.now()) == (2, 120.0)


def test_an_instance_whose_rate_cannot_be_had_is_an_internal_error_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bug of an add-on: neither a load nor a search raises for it, and nobody is asked."""

    def broken(*_given: object) -> Pacing:
        raise RuntimeError("a bug of an add-on")

    monkeypatch.setattr("tests.fakes.providers.FakeInstance.pacing", broken)
    loading = Loading()
    asked = loading.load()
    assert (asked.content, asked.attempt.outcome, asked.attempt.reason) == (None, Outcome.FAILURE, "internal")
    (attempt,) = loading.research.search().attempts
    assert (attempt.outcome, attempt.reason, attempt.cost) == (Outcome.FAILURE, "internal", 0.0)
    assert (loading.loaded, loading.research.protocol.asked) == ([], [])
    assert [instance for instance, _ in loading.research.internal_errors] == ["main", "main"]
    assert sum(each.metric is Metric.INTERNAL_ERRORS for each in loading.research.points()) == 2


@pytest.mark.parametrize(
    ("changes", "seconds", "reason"), [({"enabled": "false"}, 8.0, "disabled"), ({}, 1.0, "out_of_time")]
)
def test_nobody_is_asked_in_vain(changes: dict[str, str], seconds: float, reason: str) -> None:
    """Neither who is switched off, nor with too little time."""
    loading = Loading(**changes)
    assert loading.load(seconds=seconds).attempt.reason == reason
    assert loading.loaded == []


def test_what_a_load_costs_is_counted_by_its_requests() -> None:
    """Against the endpoint's credit too, which ends what it ends for searches."""
    loading = Loading(
        replace(PAGE, calls=2), costPerCall="0.5", creditKind="monthly", creditLimit="1", autoAllow="true"
    )
    attempt = loading.load().attempt
    assert (attempt.credits, attempt.cost) == (1.0, 0.0)
    assert loading.load().attempt.reason == "exhausted"
    assert loading.research.search().attempts[0].reason == "exhausted"


@pytest.mark.parametrize(("calls", "cost"), [(None, 0.5), (0, 0.0), (3, 1.5)])
def test_a_load_that_failed_costs_what_had_been_asked_by_then(calls: int | None, cost: float) -> None:
    """As counted, else the one request that must have been made."""
    failure: ProviderError = ProviderUnavailable("down")
    failure.calls = calls
    assert Loading(failure, costPerCall="0.5").load().attempt.cost == cost


def test_a_load_without_a_reference_or_of_an_instance_without_bodies_is_rejected() -> None:
    """As the SPI's default does."""
    loading = Loading()
    loading.research.protocol.bodies.clear()
    assert loading.load("").attempt.reason == "query_rejected"


def test_with_the_shared_state_down_a_body_is_loaded_all_the_same() -> None:
    """As a search would be."""
    loading = Loading()
    loading.research.protocol.pacing["main"] = SLOW
    loading.research.state.fail_with = StoreUnavailable("throttled")
    assert loading.load().content is PAGE


def test_a_load_is_held_and_settled_under_the_budgets_of_searches() -> None:
    """One that exceeds them takes no turn at the provider's rate either."""
    loading = Loading(costPerCall="0.5")
    loading.research.settings["research.budget.project.usd"] = "1.0"
    loading.research.protocol.pacing["main"] = SLOW
    assert [loading.load().attempt.outcome for _ in range(2)] == [Outcome.SUCCESS] * 2
    refused = loading.load().attempt
    assert (refused.reason, refused.detail) == ("budget", "research.budget.project.usd")
    assert len(loading.loaded) == loading.research.state.calls["take_turn"] == 2


def test_a_load_that_costs_money_is_none_where_only_free_ones_are_wanted() -> None:
    loading = Loading(costPerCall="0.5")
    assert loading.load(free_only=True).attempt.reason == "metered"
    assert loading.loaded == []
