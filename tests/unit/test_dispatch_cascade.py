"""The cascade: who is asked, in which order, and what the answer says about it."""

from dataclasses import replace
from datetime import date

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.providers import found
from tests.fakes.research import PROJECT, Research
from tests.fakes.state_store import InMemoryStateStore
from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import (
    Cause,
    ConfigurationUnavailable,
    CredentialsRejected,
    ProviderError,
    ProviderUnavailable,
    QueryRejected,
    RateLimited,
)
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.problem import InvalidArgument, UnknownThing
from zarniwoop.contract.provider import Pacing
from zarniwoop.contract.request import ExpertParams, Locale, SearchScope
from zarniwoop.contract.result import AppliedFilter, DispatchFailure, FilterHandling, Outcome, SearchResult
from zarniwoop.dispatch.candidates.factory import ProjectScopeMissing
from zarniwoop.dispatch.fleet.state import PROBE_LEASE_SECONDS, REST_SECONDS
from zarniwoop.observe.metrics import Metric
from zarniwoop.settings.endpoints import ResearchSettings
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.tools.provider_rows import ProvidersReport
from zarniwoop.tools.research_providers import ProvidersArguments, providers


def test_the_first_provider_with_hits_answers_and_the_next_is_not_asked() -> None:
    """A first OK answer wins, and costs one call."""
    research = Research({"first": [found(3)], "second": [found(3)]})
    result = research.search()
    assert research.protocol.asked_ids == ["first"]
    assert [(attempt.instance_id, attempt.outcome) for attempt in result.attempts] == [("first", Outcome.SUCCESS)]


def test_a_failing_provider_is_replaced_by_the_next_and_both_are_told_of() -> None:
    """Adding a failing provider in front changes nothing about the hits."""
    research = Research({"down": [ProviderUnavailable("503", status=503)], "up": [found(2)]})
    result = research.search()
    assert [hit.title for hit in result.hits] == ["Hit 1", "Hit 2"]
    assert [(each.instance_id, each.outcome, each.reason) for each in result.attempts] == [
        ("down", Outcome.FAILURE, "provider_unavailable"),
        ("up", Outcome.SUCCESS, None),
    ]


def test_an_empty_answer_moves_on_and_is_kept_when_nobody_has_more() -> None:
    """Empty is an outcome, not a failure: the search is ok and has no hits."""
    research = Research({"first": [found(0)], "second": [found(0)]})
    result = research.search()
    assert research.protocol.asked_ids == ["first", "second"]
    assert result.failure is None
    assert result.hits == ()
    assert {each.outcome for each in result.attempts} == {Outcome.EMPTY}


def test_a_degraded_empty_answer_counts_as_an_outage() -> None:
    """Empty because the provider's own engines were blocked does not mean that there is nothing."""
    research = Research({"blocked": [found(0, degraded="engines blocked")], "up": [found(1)]})
    result = research.search()
    assert result.attempts[0].reason == "provider_unavailable"
    assert research.search().attempts[0].reason == "cooldown"


def test_a_soft_failure_is_no_cooldown() -> None:
    """A provider that declines is asked again next time."""
    research = Research({"shy": [found(0, error_message="does not serve this")], "up": [found(1)]})
    for _ in range(2):
        result = research.search()
        assert result.attempts[0].outcome is Outcome.SOFT_FAILURE
    assert research.protocol.asked_ids == ["shy", "up", "shy", "up"]


def test_default_then_fallbacks_are_asked_and_nobody_else() -> None:
    """Routing settings name the order; an endpoint that they leave out is not asked."""
    research = Research(
        {"a": [found(0)], "b": [found(0)], "c": [found(0)]},
        settings={"research.default.web": "c", "research.fallback.web": "a"},
    )
    research.search()
    assert research.protocol.asked_ids == ["c", "a"]


def test_a_looping_fallback_list_asks_each_once_and_notes_unknown_names() -> None:
    """`a,b,a,ghost` is a, then b."""
    research = Research(
        {"a": [found(0)], "b": [found(0)]},
        settings={"research.default.web": "a", "research.fallback.web": "b,a,ghost"},
    )
    result = research.search()
    assert research.protocol.asked_ids == ["a", "b"]
    assert result.note is not None
    assert "ghost" in result.note


def test_a_pinned_instance_is_asked_alone() -> None:
    """No cascade behind a pin: that instance or an error."""
    research = Research({"a": [found(1)], "b": [ProviderUnavailable("down")]})
    result = research.search(tier=SearchTier.EXPERT, pinned_provider_id="b")
    assert research.protocol.asked_ids == ["b"]
    assert result.failure is DispatchFailure.ALL_FAILED
    assert result.hits == ()
    assert result.error_message


@pytest.mark.parametrize(
    ("pinned", "error", "words"),
    [("ghost", UnknownThing, "there is no provider instance"), ("papers", InvalidArgument, "does not serve WEB")],
)
def test_a_pin_that_cannot_work_is_refused_before_anything_is_called(
    pinned: str, error: type[Exception], words: str
) -> None:
    """The refusal names the field and the instances that would do."""
    research = Research({"papers": [found(1)]}, modalities=frozenset({SearchModality.ACADEMIC}))
    with pytest.raises(error, match=words) as refused:
        research.search(tier=SearchTier.EXPERT, pinned_provider_id=pinned)
    assert refused.value.field == "pinned_provider_id"  # type: ignore[attr-defined]
    assert research.protocol.asked == []


def _with_a_newcomer() -> Research:
    """A warm environment, and an endpoint that was added since; another one was taken away."""
    research = Research({"a": [found(1)], "gone": [found(1)]})
    research.search()
    research.protocol.scripts["new"] = [found(1)]
    research.settings |= {"research.endpoint.new.protocol": "fake", "research.endpoint.new.priority": "9"}
    del research.settings["research.endpoint.gone.protocol"], research.settings["research.endpoint.gone.priority"]
    research.state.bump_generation(PROJECT)
    research.state.calls.clear()
    return research


@pytest.mark.parametrize("way", ["search", "several", "dry run", "report"])
def test_an_endpoint_that_was_just_added_can_be_pinned_at_once(way: str) -> None:
    """A warm environment has never heard of it; whether there is one is for the settings in force to say."""
    research = _with_a_newcomer()
    request, scope = replace(research.request(), pinned_provider_id="new"), research.scope()
    if way == "search":
        assert research.dispatcher.search(request, scope).hits
    elif way == "several":
        assert [bool(each.hits) for each in research.dispatcher.search_each([request, request], scope)] == [True] * 2
    elif way == "dry run":
        (plan,) = research.dispatcher.plan([request], scope)
        assert [each.instance_id for each in plan.eligible] == ["new"]
    else:
        report = providers(ProvidersArguments(provider_id="new"), scope, research.services).data
        assert isinstance(report, ProvidersReport)
        assert [row.id for row in report.providers] == ["new"]
    assert research.state.calls["snapshot"] == 2


@pytest.mark.parametrize("pinned", ["gone", "ghost"])
def test_a_pin_of_what_is_not_there_any_more_is_refused_by_the_settings_in_force(pinned: str) -> None:
    """And names what there is now, by the one read that a search makes anyway."""
    research = _with_a_newcomer()
    for reads in (1, 2):
        with pytest.raises(UnknownThing) as refused:
            research.search(pinned_provider_id=pinned)
        assert refused.value.suggested_action == "pin one of 'a', 'new', or leave it out"
        assert research.state.calls["snapshot"] == reads


def test_an_endpoint_that_has_come_to_serve_a_modality_can_be_pinned_for_it() -> None:
    """What it did not serve under the settings of before is no reason to refuse."""
    research = Research({"a": [found(1)]}, modalities=frozenset({SearchModality.WEB}))
    research.search()
    research.protocol.modalities = frozenset(SearchModality)
    research.state.bump_generation(PROJECT)
    assert research.search(SearchModality.MAP, pinned_provider_id="a").hits


def test_a_modality_without_endpoint_is_a_failure_of_its_own() -> None:
    """Nothing is called, and the failure says that no endpoint serves it."""
    research = Research({"papers": [found(1)]}, modalities=frozenset({SearchModality.ACADEMIC}))
    result = research.search(SearchModality.MAP)
    assert result.failure is DispatchFailure.NO_ENDPOINT
    assert result.attempts == ()


def test_where_all_that_routing_names_is_switched_off_the_others_are_asked() -> None:
    """Switching an endpoint off takes it out of the routing too; the account still names it."""
    research = Research(
        {"a": [found(1)], "b": [found(1)]},
        settings={"research.default.web": "a", "research.endpoint.a.enabled": "false"},
    )
    result = research.search()
    assert research.protocol.asked_ids == ["b"]
    assert [(each.instance_id, each.reason) for each in result.attempts] == [("a", "disabled"), ("b", None)]


def test_an_endpoint_brings_no_more_hits_than_its_settings_allow_and_says_so() -> None:
    """Asked for fewer it is as it was."""
    research = Research({"a": [found(5)]}, settings={"research.endpoint.a.maxResults": "3"})
    result = research.search()
    assert (len(result.hits), research.protocol.asked[0][1].max_results) == (3, 3)
    assert result.note == "a brings at most 3 results by its settings"
    fewer = research.search(max_results=2)
    assert (len(fewer.hits), fewer.note) == (2, None)


@pytest.mark.parametrize(("stated", "given"), [("2", 2.0), ("12", 12.0), ("20", 12.0)])
def test_an_endpoint_has_as_long_as_its_settings_say_within_its_share(stated: str, given: float) -> None:
    """60 % of twenty seconds is what anybody gets at most."""
    research = Research({"a": [found(1)]}, settings={"research.endpoint.a.timeoutSeconds": stated})
    research.search()
    assert research.protocol.given_seconds == [pytest.approx(given)]


def test_a_disabled_endpoint_is_skipped_with_its_reason() -> None:
    """`enabled=false` keeps the instance and refuses the dispatch."""
    research = Research({"off": [found(1)]}, settings={"research.endpoint.off.enabled": "false"})
    result = research.search()
    assert (result.failure, result.attempts[0].reason) == (DispatchFailure.DISABLED, "disabled")
    assert research.protocol.asked == []


def test_a_call_without_project_gets_the_seeds_error() -> None:
    """Research tools require a project scope."""
    research = Research({"a": [found(1)]})
    with pytest.raises(ProjectScopeMissing, match="research tools require a project scope"):
        research.dispatcher.search(research.request(), research.scope(project_id=""))


METERED = {
    "research.endpoint.a.costPerCall": "0.01",
    "research.endpoint.b.costPerCall": "0.02",
    "research.default.web": "a",
    "research.fallback.web": "b",
}


def test_the_cost_of_every_call_is_summed() -> None:
    """A failed call may have been billed too, and so may each request of a search that makes several."""
    research = Research({"a": [QueryRejected("no")], "b": [found(1, calls=3)]}, settings=METERED)
    result = research.search()
    assert [attempt.cost for attempt in result.attempts] == pytest.approx([0.01, 0.06])
    assert result.cost == pytest.approx(0.07)


@pytest.mark.parametrize("cause", [Cause.DNS, Cause.CONNECT, Cause.TLS, Cause.ADDRESS])
def test_a_call_that_never_reached_the_provider_costs_nothing(cause: Cause) -> None:
    """Nobody there could have charged for it."""
    research = Research({"a": [ProviderUnavailable("x", cause=cause)], "b": [found(1)]}, settings=METERED)
    assert [attempt.cost for attempt in research.search().attempts] == [0.0, 0.02]
    assert [attempt.cost for attempt in research.search().attempts] == [0.0, 0.02]


def test_what_was_declined_or_had_no_key_to_be_read_costs_nothing_and_a_counted_failure_what_was_counted() -> None:
    """As far as anybody can know."""
    counted = QueryRejected("at the second of two requests")
    counted.calls = 2
    for step, cost in ((found(0, error_message="no"), 0.0), (ConfigurationUnavailable("SSM"), 0.0), (counted, 0.02)):
        research = Research({"a": [step], "b": [found(1)]}, settings=METERED)
        assert research.search().attempts[0].cost == pytest.approx(cost)


def test_a_degraded_empty_answer_costs_what_it_took() -> None:
    """It was an answer all the same."""
    research = Research({"a": [found(0, degraded="blocked", calls=2)], "b": [found(1)]}, settings=METERED)
    assert research.search().attempts[0].cost == pytest.approx(0.02)


def test_an_endpoint_that_costs_money_is_left_out_where_nobody_chose_it() -> None:
    """No routing, no pin, no autoAllow: a search is never charged by accident, and its answer says who was left out."""
    metered = {"research.endpoint.paid.costPerCall": "0.01"}
    research = Research({"paid": [found(2)], "free": [found(1)]}, settings=dict(metered))
    result = research.search()
    assert research.protocol.asked_ids == ["free"]
    assert result.note == "left out, since they cost money and no routing names them: 'paid'"
    assert research.search(tier=SearchTier.EXPERT, pinned_provider_id="paid").cost == 0.01
    for chosen in ({"research.default.web": "paid"}, {"research.endpoint.paid.autoAllow": "true"}):
        allowed = Research({"paid": [found(2)], "free": [found(1)]}, settings={**metered, **chosen})
        assert (allowed.search().cost, allowed.search().note) == (0.01, None)


def test_where_every_endpoint_costs_money_and_none_was_chosen_nobody_is_asked() -> None:
    """A failure of its own: there are endpoints, and it takes a decision to use them."""
    research = Research({"paid": [found(2)]}, settings={"research.endpoint.paid.costPerCall": "0.01"})
    result = research.search()
    assert (result.failure, result.attempts, research.protocol.asked) == (DispatchFailure.ONLY_METERED, (), [])


def test_hits_that_break_their_promises_are_dropped_and_counted() -> None:
    """No javascript: links, no blank titles, and never more than was asked for, from whatever add-on."""
    research = Research({"a": [found(30)]})
    result = research.search(max_results=5)
    assert (len(result.hits), result.returned_count, result.dropped_count) == (5, 5, 25)


def test_hits_of_elsewhere_are_dropped_whoever_found_them_and_the_next_one_is_asked() -> None:
    """An add-on need not heed the sites that the caller named."""
    research = Research({"a": [found(3)], "b": [found(3)]})
    assert research.search(sites=("example.com",)).hits != ()
    result = research.search(sites=("elsewhere.example",))
    assert (result.hits, research.protocol.asked_ids) == ((), ["a", "a", "b"])


@pytest.mark.parametrize("name", ["site", "domain"])
@pytest.mark.parametrize(("handling", "left"), [("provider", 0), ("here", 0), ("ignored", 3), (None, 3)])
def test_hits_that_break_a_filter_are_dropped_where_the_result_says_that_they_keep_to_it(
    name: str, handling: str | None, left: int
) -> None:
    """An add-on's word is held to the hits; what it says it ignored is told of, and not to be undone."""
    told = (AppliedFilter(name=name, value="x.example", handling=FilterHandling(handling)),) if handling else ()
    research = Research({"a": [found(3, applied=told)]})
    expert = ExpertParams(site="x.example") if name == "site" else ExpertParams(domain="x.example")
    result = research.search(expert_params=expert)
    assert (len(result.hits), result.dropped_count) == (left, 3 - left)


def test_a_refused_key_is_told_as_such_and_holds_until_the_settings_change() -> None:
    """Time does not heal a wrong key; a new setting does, at once."""
    research = Research({"keyed": [CredentialsRejected("401"), found(1)], "spare": [found(1)]})
    assert research.search().attempts[0].reason == "credentials_rejected"
    research.clock.advance(20 * 24 * 3600)
    assert research.search().attempts[0].detail == "credentials_rejected"
    research.settings["research.endpoint.keyed.apiKeyHint"] = "renewed"
    research.clock.advance(301)
    assert research.search().attempts[0].outcome is Outcome.SUCCESS


def test_a_project_stop_elsewhere_disposes_the_instances_here() -> None:
    """The project's generation travels with the read that every search makes anyway."""
    research = Research({"a": [found(1)]})
    research.search()
    research.state.bump_generation(PROJECT)
    research.search()
    assert [instance.disposed for instance in research.protocol.made] == [1, 0]
    research.search()
    assert len(research.protocol.made) == 2


def test_a_project_stop_elsewhere_ends_what_could_not_be_written_here() -> None:
    """A cooldown that only this environment knows of goes with the project's other state."""

    def fails_to_be_written(_request: object) -> SearchResult:
        research.state.fail_with = StoreUnavailable("throttled")
        raise RateLimited("429", retry_after=3600.0)

    research = Research({"a": [fails_to_be_written, found(1)]})
    research.search()
    research.state.fail_with = None
    research.clock.advance(REST_SECONDS)
    assert research.search().attempts[0].reason == "cooldown"
    research.state.bump_generation(PROJECT)
    assert research.search().hits


def test_instances_are_kept_for_the_factorys_time_to_live() -> None:
    """Settings are read once in five minutes, and an unchanged endpoint keeps its instance."""
    research = Research({"a": [found(1)]})
    for _ in range(3):
        research.search()
    assert research.settings_reads == 1
    research.clock.advance(301)
    research.search()
    assert (research.settings_reads, len(research.protocol.made)) == (2, 1)


def test_several_searches_share_one_read_of_the_shared_state() -> None:
    """Four modalities side by side cost one DynamoDB read."""
    research = Research({"a": [found(1)]})
    research.search()
    before = research.state.calls["snapshot"]
    requests = [research.request(modality) for modality in (SearchModality.WEB, SearchModality.IMAGE)]
    results = research.dispatcher.search_each(requests, research.scope())
    assert [result.modality for result in results] == [SearchModality.WEB, SearchModality.IMAGE]
    assert research.state.calls["snapshot"] == before + 1


@pytest.mark.parametrize("table", ["answers", "fails at first"])
def test_a_change_during_the_first_look_at_a_project_is_seen_by_the_next_search(
    monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """Settings that were read just before a save must not count as current because the generation was read after it."""
    research = Research({"a": [found(1)]})
    read = research._read_settings

    def saved_meanwhile(scope: SearchScope) -> tuple[ResearchSettings, bool]:
        settings = read(scope)
        if research.settings_reads == 1:
            research.settings["research.endpoint.a.room"] = "4"
            research.state.fail_with = None
            research.clock.advance(REST_SECONDS)
            research.state.bump_generation(PROJECT)
        return settings

    monkeypatch.setattr(research, "_read_settings", saved_meanwhile)
    dispatcher = research.environment()[2]
    research.state.fail_with = StoreUnavailable("throttled") if table == "fails at first" else None
    dispatcher.search(research.request(), research.scope())
    assert (research.settings_reads, research.protocol.made[-1].disposed) == (2, 0)
    dispatcher.search(research.request(), research.scope())
    assert (research.settings_reads, len(research.protocol.made)) == (2, 2)


def test_a_process_of_a_project_is_as_old_as_the_settings_that_it_shares() -> None:
    """What was saved since the project was looked at is in neither of them."""
    research = Research({"a": [found(1)]})
    research.search()
    research.state.bump_generation(PROJECT)
    scope = SearchScope(
        tenant_id="acme", project_id="demo", process_id="night", deadline=Deadline.after(20.0, research.clock)
    )
    research.dispatcher.search(research.request(), scope)
    assert research.settings_reads == 3


def test_a_last_provider_with_a_short_wait_is_asked_once_more() -> None:
    """Two seconds at most, only when nobody else is left, and both attempts are told of."""
    research = Research({"busy": [RateLimited("429", retry_after=1.0), found(1)]})
    result = research.search()
    assert research.clock.slept == [1.0]
    assert [each.outcome for each in result.attempts] == [Outcome.FAILURE, Outcome.SUCCESS]


def test_a_query_hash_is_audited_and_the_query_is_not() -> None:
    """One record per provider call, with an HMAC in place of the text."""
    research = Research({"down": [ProviderUnavailable("503")], "up": [found(2)]})
    research.search()
    research.audit.flush()
    first, second = research.calls.records
    assert (first.ok, first.error_message, first.hit_count) == (False, "provider_unavailable", 0)
    assert (second.ok, second.error_message, second.hit_count) == (True, None, 2)
    assert first.query_hash == second.query_hash
    assert len(first.query_hash) == 64
    assert "cathedral" not in repr(research.calls.records)
    assert date.fromtimestamp(first.expires_at) > date.fromtimestamp(first.started_at)


SLOW = Pacing(subject="slow@slow.test", requests=1, seconds=9.0, spread=0.0)


def test_a_turn_at_a_published_rate_is_waited_for() -> None:
    """The second search starts when the first one's interval is over; nobody is there who could be asked instead."""
    research = Research({"paced": [found(1)]})
    research.protocol.pacing = {"paced": SLOW}
    assert research.search().hits
    assert research.search().hits
    assert research.clock.slept == [9.0]


def test_waiting_for_a_turn_leaves_most_of_the_time_to_those_behind() -> None:
    """Nine seconds of twenty are too long while somebody else can be asked; seven are not."""
    research = Research({"paced": [found(0), found(1)], "spare": [found(2)]})
    research.protocol.pacing = {"paced": SLOW}
    research.search()
    next_turn = research.clock.now() + 9
    result = research.search()
    assert [(each.instance_id, each.reason, each.retry_at) for each in result.attempts] == [
        ("paced", "throttled", next_turn),
        ("spare", None, None),
    ]
    assert (research.clock.slept, len(result.hits)) == ([], 2)
    research.clock.advance(2)
    assert research.search().attempts[0].outcome is Outcome.SUCCESS
    assert research.clock.slept == [7.0]


def test_those_behind_who_cannot_be_asked_are_waited_for_in_vain() -> None:
    """With the only other one cooling down, the time may as well be spent on the turn."""
    research = Research({"paced": [found(0), found(1)], "down": [ProviderUnavailable("503")]})
    research.protocol.pacing = {"paced": SLOW}
    research.search()
    assert [each.outcome for each in research.search().attempts] == [Outcome.SUCCESS]
    assert research.clock.slept == [9.0]


def test_a_turn_that_comes_too_late_for_an_attempt_is_not_taken() -> None:
    """The caller learns when the next one is; whoever has more time gets it."""
    research = Research({"paced": [found(1)]})
    research.protocol.pacing = {"paced": SLOW}
    research.search()
    hurried = research.search(seconds=10.0)
    assert (hurried.failure, hurried.attempts[0].reason) == (DispatchFailure.ALL_COOLING, "throttled")
    assert hurried.retry_at == research.clock.now() + 9
    assert research.search().hits
    assert research.clock.slept == [9.0]


def test_asking_the_last_one_again_takes_a_turn_too() -> None:
    """A wait of a second that a provider states does not lift the rate that it publishes."""
    research = Research({"paced": [RateLimited("429", retry_after=1.0), found(1)]})
    research.protocol.pacing = {"paced": SLOW}
    assert research.search().hits
    assert research.clock.slept == [1.0, 8.0]
    again = Research({"paced": [RateLimited("429", retry_after=1.0), found(1)]})
    again.protocol.pacing = {"paced": SLOW}
    assert len(again.search(seconds=8.0).attempts) == 1


def test_who_waits_for_somebody_elses_probe_learns_until_when_it_is_leased() -> None:
    """By then it has brought news, or may be tried by the next one."""
    research = Research({"down": [ProviderUnavailable("503"), found(1)]})
    research.search()
    research.clock.advance(30)
    (cooldown,) = research.state.cooldowns_of(PROJECT)
    assert research.state.claim_probe(PROJECT, cooldown, now=research.clock.now(), lease_seconds=PROBE_LEASE_SECONDS)
    (attempt,) = research.search().attempts
    assert (attempt.reason, attempt.retry_at) == ("probing", research.clock.now() + PROBE_LEASE_SECONDS)


class _Hanging(InMemoryStateStore):
    """A table that answers nothing: every call ends with the second of two timeouts."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self._hands = clock

    def _called(self, method: str) -> None:
        super()._called(method)
        self._hands.advance(1.5)
        raise StoreUnavailable("DynamoDB could not be asked: ReadTimeoutError")


def test_a_hanging_table_costs_a_search_one_timeout() -> None:
    """However many candidates fail; what was not even asked of it is counted as lost as well."""
    research = Research({name: [ProviderUnavailable("503")] for name in ("a", "b", "c")})
    research.state = _Hanging(research.clock)
    metrics, _audit, dispatcher = research.environment()
    started = research.clock.monotonic()
    result = dispatcher.search(research.request(), research.scope())
    assert len(result.attempts) == 3
    assert research.clock.monotonic() - started == pytest.approx(1.5)
    assert sum(point.metric is Metric.STATE_UNAVAILABLE for point in metrics.drain()) == 5


def test_a_provider_recovers_here_too_when_its_cooldown_could_not_be_written() -> None:
    """One throttled write; half an hour later the rest of the fleet asks it, and so does this environment."""
    research = Research({"flaky": [ProviderUnavailable("503"), found(1)], "spare": [found(1)]})
    elsewhere = research.environment()[2]
    research.search()
    research.state.clear_project(PROJECT)
    research.dispatcher.fleet.forget(PROJECT)

    def fails_to_be_written(_request: object) -> SearchResult:
        research.state.fail_with = StoreUnavailable("throttled")
        raise ProviderUnavailable("503")

    research.protocol.scripts["flaky"] = [fails_to_be_written, ProviderUnavailable("503"), found(1)]
    research.search()
    research.state.fail_with = None
    elsewhere.search(research.request(), research.scope())
    research.clock.advance(1800)
    elsewhere.search(research.request(), research.scope())
    assert [each.instance_id for each in research.search().attempts] == ["flaky"]


def test_a_process_with_other_settings_neither_lifts_nor_adds_to_the_projects_cooldown() -> None:
    """The project waits as long as it was told; the process with a key of its own is told something else."""
    steps: list[ProviderError] = [RateLimited("429", retry_after=3600.0), RateLimited("429", retry_after=60.0)]
    research = Research({"main": list(steps)})
    told = research.search().attempts[0].retry_at
    research.settings["research.endpoint.main.apiKeyHint"] = "of a process"
    process = research.environment()[2]
    assert process.search(research.request(), research.scope()).attempts[0].retry_at == research.clock.now() + 60
    (attempt,) = research.search().attempts
    assert (attempt.reason, attempt.retry_at) == ("cooldown", told)


def test_routing_that_names_nobody_who_can_serve_does_not_switch_a_modality_off() -> None:
    """A misspelt default is told of; the endpoints that are there answer by priority."""
    research = Research({"a": [found(1)]}, settings={"research.default.web": "ghost"})
    result = research.search()
    assert result.hits
    assert result.note is not None
    assert "ghost" in result.note


def test_an_instance_of_the_requests_language_is_asked_first() -> None:
    """Whatever routing says of several languages; without a locale its order stands."""
    research = Research(
        {"wiki-en": [found(0)], "wiki-de": [found(0)], "any": [found(0)]},
        settings={
            "research.default.web": "wiki-en",
            "research.fallback.web": "wiki-de,any",
            "research.endpoint.wiki-en.language": "en",
            "research.endpoint.wiki-de.language": "de",
        },
    )
    research.search(locale=Locale(language="de", region="AT"))
    research.search()
    assert research.protocol.asked_ids == ["wiki-de", "any", "wiki-en", "wiki-en", "wiki-de", "any"]
