"""Search results into envelopes: found, empty, or a problem that says what to do about it."""

from dataclasses import replace

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.providers import FakeProtocol
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.result import Attempt, DispatchFailure, Outcome, SearchResult
from zarniwoop.dispatch.candidates.gate import Skip
from zarniwoop.dispatch.candidates.protocols import Protocols
from zarniwoop.tools.outcome import envelope, problem_of

NOW = 1_000.0


def _protocols(*modalities: SearchModality) -> Protocols:
    one = FakeProtocol(FakeClock(), {}, modalities=frozenset(modalities), protocol_id="one")
    two = FakeProtocol(FakeClock(), {}, modalities=frozenset(modalities), protocol_id="two")
    return Protocols(by_id={"two": two, "one": one})


def _result(failure: DispatchFailure | None, **more: object) -> SearchResult:
    values: dict[str, object] = {
        "query": "bells",
        "modality": SearchModality.MAP,
        "provider_instance_id": "",
        "tier": SearchTier.NORMAL,
        "failure": failure,
        **more,
    }
    return SearchResult(**values)  # type: ignore[arg-type]


def test_an_answer_without_hits_is_an_answer() -> None:
    """Empty is ok: true."""
    result = _result(None)
    assert problem_of(result, _protocols(), NOW) is None
    assert (envelope(result, _protocols(), NOW).ok, envelope(result, _protocols(), NOW).error) == (True, None)


def test_a_failure_keeps_the_result_with_its_attempts() -> None:
    """The request was right, so the status is 200."""
    result = _result(DispatchFailure.ALL_FAILED)
    answered = envelope(result, _protocols(), NOW)
    assert (answered.ok, answered.data) == (False, result)
    assert answered.error is not None
    assert answered.error.status == 200


@pytest.mark.parametrize("failure", DispatchFailure)
def test_every_failure_has_words_and_a_way_out(failure: DispatchFailure) -> None:
    """A word for programs, a sentence for people, an action for agents."""
    problem = problem_of(_result(failure, error_message="no luck"), _protocols(), NOW)
    assert problem is not None
    assert problem.type == f"urn:zarniwoop:problem:{failure.value.replace('_', '-')}"
    assert problem.detail == "no luck"
    assert problem.suggested_action


def _attempt(reason: str, retry_at: float | None = None, detail: str | None = None) -> Attempt:
    outcome = Outcome.SKIPPED if reason in set(Skip) else Outcome.FAILURE
    return Attempt(instance_id="main", outcome=outcome, reason=reason, detail=detail, retry_at=retry_at)


def _told(*attempts: Attempt, failure: DispatchFailure = DispatchFailure.ALL_FAILED) -> tuple[bool, float | None, str]:
    """Whether to ask again, after how many seconds, and what to do."""
    problem = problem_of(_result(failure, attempts=attempts), _protocols(), NOW)
    assert problem is not None
    return problem.retryable, problem.wait_seconds, problem.suggested_action or ""


@pytest.mark.parametrize(
    ("attempt", "wait"),
    [
        (_attempt("cooldown", NOW + 12.3456), 12.346),
        (_attempt("probing", NOW + 15), 15.0),
        (_attempt("throttled", NOW + 3), 3.0),
        (_attempt("exhausted", NOW + 86_400), 86_400.0),
        (_attempt("rate_limited", NOW - 5), 0.0),
        (_attempt("quota_exhausted", NOW + 300), 300.0),
        (_attempt("access_refused", NOW + 300), 300.0),
        (_attempt("malformed_answer", NOW + 60), 60.0),
        (_attempt("provider_unavailable"), None),
        (_attempt("key_unavailable"), None),
        (_attempt("out_of_time"), None),
    ],
    ids=lambda value: value.reason if isinstance(value, Attempt) else "",
)
def test_what_time_heals_is_worth_asking_again(attempt: Attempt, wait: float | None) -> None:
    """With the wait where it is known, never a negative one."""
    retryable, told, action = _told(attempt)
    assert (retryable, told) == (True, wait)
    assert action.startswith("ask again")


@pytest.mark.parametrize(
    ("attempt", "action"),
    [
        (_attempt("query_rejected"), "change the query: 'main' does not take it as it is"),
        (
            _attempt("credentials_rejected"),
            "save a key that 'main' accepts as research.endpoint.main.apiKey",
        ),
        (
            _attempt("cooldown", detail="credentials_rejected"),
            "save a key that 'main' accepts as research.endpoint.main.apiKey",
        ),
        (_attempt("exhausted"), "raise research.endpoint.main.creditLimit, or add another endpoint"),
        (_attempt("internal"), "pin another instance: 'main' is broken, and the log says how"),
    ],
    ids=["query", "key", "held key", "spent credit", "bug"],
)
def test_what_time_does_not_heal_is_not_worth_asking_again(attempt: Attempt, action: str) -> None:
    """Somebody must change something first, and is told what."""
    assert _told(attempt) == (False, None, action)


def test_several_attempts_are_worth_it_when_one_of_them_is() -> None:
    """The first that may be asked again says when; where one has no time to wait for, there is none."""
    rejected = _attempt("query_rejected")
    assert _told(rejected, _attempt("rate_limited", NOW + 60), _attempt("cooldown", NOW + 30))[:2] == (True, 30.0)
    assert _told(_attempt("cooldown", NOW + 3600), _attempt("out_of_time"))[:2] == (True, None)
    both = _told(rejected, _attempt("credentials_rejected"), rejected)
    assert both[0] is False
    assert both[2].count("; or ") == 1


def test_a_reason_without_a_remedy_leads_to_the_providers_state() -> None:
    """An add-on may have reasons of its own."""
    assert _told(_attempt("moon_phase")) == (False, None, "research_providers shows the state of each provider")


def test_a_search_that_was_not_ready_at_the_deadline_may_be_asked_again() -> None:
    """It has no attempts to show."""
    retryable, wait, action = _told(failure=DispatchFailure.OUT_OF_TIME)
    assert (retryable, wait) == (True, None)
    assert "longer deadline" in action


def test_endpoints_that_cost_money_are_used_when_somebody_says_so() -> None:
    """In which of three ways."""
    retryable, _wait, action = _told(failure=DispatchFailure.ONLY_METERED)
    assert retryable is False
    assert action == "name one in research.default.map, pin it, or set research.endpoint.<id>.autoAllow = true"


def test_an_argument_that_kept_others_from_being_asked_is_named_with_its_limit() -> None:
    """Also where it is not the only reason, and where it is `free_only`."""
    ceiling = replace(_attempt("budget", detail="max_calls"), limit=1)
    for failure in (DispatchFailure.ALL_FAILED, DispatchFailure.BUDGET):
        problem = problem_of(_result(failure, attempts=(_attempt("internal"), ceiling)), _protocols(), NOW)
        assert problem is not None
        assert problem.field == "max_calls"
        assert str(problem.suggested_action).endswith("raise max_calls (now 1)")
    free = problem_of(_result(DispatchFailure.ONLY_METERED, attempts=(_attempt("metered"),)), _protocols(), NOW)
    assert free is not None
    assert free.field == "free_only"


def test_what_is_not_kept_may_be_asked_for() -> None:
    """Asking again in the same way is not worth it."""
    problem = problem_of(_result(DispatchFailure.NOT_CACHED), _protocols(), NOW)
    assert problem is not None
    assert problem.suggested_action is not None
    assert not problem.retryable
    assert "research.cache.ttlSeconds.map" in problem.suggested_action


def test_a_modality_without_endpoint_names_the_setting_to_add() -> None:
    """With the protocols that would do."""
    problem = problem_of(_result(DispatchFailure.NO_ENDPOINT), _protocols(SearchModality.MAP), NOW)
    assert problem is not None
    assert (problem.field, problem.suggested_action) == (
        "modality",
        "add the setting research.endpoint.<id>.protocol = one or two",
    )
    unserved = problem_of(_result(DispatchFailure.NO_ENDPOINT), _protocols(SearchModality.WEB), NOW)
    assert unserved is not None
    assert "add-on" in str(unserved.suggested_action)
