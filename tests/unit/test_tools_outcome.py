"""Search results into envelopes: found, empty, or a problem that says what to do about it."""

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.providers import FakeProtocol
from zarniwoop.contract.modality import SearchModality, SearchTier
from zarniwoop.contract.result import DispatchFailure, SearchResult
from zarniwoop.dispatch.protocols import Protocols
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


@pytest.mark.parametrize(
    ("failure", "retry_at", "wait"),
    [
        (DispatchFailure.ALL_COOLING, NOW + 12.3456, 12.346),
        (DispatchFailure.ALL_FAILED, NOW - 5, 0.0),
        (DispatchFailure.ALL_FAILED, None, None),
        (DispatchFailure.DISABLED, NOW + 10, None),
    ],
)
def test_a_wait_is_told_where_waiting_helps(
    failure: DispatchFailure, retry_at: float | None, wait: float | None
) -> None:
    """Never negative, and never for what time does not heal."""
    problem = problem_of(_result(failure, retry_at=retry_at), _protocols(), NOW)
    assert problem is not None
    assert problem.wait_seconds == wait


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
