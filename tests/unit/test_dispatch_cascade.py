"""The cascade: who is asked, in which order, and what the answer says about it."""

from datetime import date

import pytest

from tests.fakes.providers import found
from tests.fakes.research import PROJECT, Research
from zarniwoop.contract.failure import CredentialsRejected, ProviderUnavailable, QueryRejected, RateLimited
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.problem import InvalidArgument, UnknownThing
from zarniwoop.contract.result import DispatchFailure, Outcome
from zarniwoop.dispatch.factory import ProjectScopeMissing


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


def test_a_modality_without_endpoint_is_a_failure_of_its_own() -> None:
    """Nothing is called, and the failure says that no endpoint serves it."""
    research = Research({"papers": [found(1)]}, modalities=frozenset({SearchModality.ACADEMIC}))
    result = research.search(SearchModality.MAP)
    assert result.failure is DispatchFailure.NO_ENDPOINT
    assert result.attempts == ()


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


def test_the_cost_of_every_call_is_summed() -> None:
    """A failed call may have been billed too."""
    research = Research(
        {"a": [QueryRejected("no")], "b": [found(1)]},
        settings={"research.endpoint.a.costPerCall": "0.01", "research.endpoint.b.costPerCall": "0.02"},
    )
    assert research.search().cost == pytest.approx(0.03)


def test_hits_that_break_their_promises_are_dropped_and_counted() -> None:
    """No javascript: links, no blank titles, and never more than was asked for, from whatever add-on."""
    research = Research({"a": [found(30)]})
    result = research.search(max_results=5)
    assert (len(result.hits), result.returned_count, result.dropped_count) == (5, 5, 25)


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
    requests = [research.request(modality) for modality in (SearchModality.WEB, SearchModality.IMAGE)]
    results = research.dispatcher.search_each(requests, research.scope())
    assert [result.modality for result in results] == [SearchModality.WEB, SearchModality.IMAGE]
    assert research.state.calls["snapshot"] == 1


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
