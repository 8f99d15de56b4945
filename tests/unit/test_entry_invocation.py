"""One call: the deadline that is made once, and errors that become envelopes in one place."""

from dataclasses import replace

import orjson
import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.providers import found
from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.problem import CallerError, InvalidArgument, NotAllowed, OutOfTime, UnknownThing
from zarniwoop.entry.callers import Caller
from zarniwoop.entry.invocation import call_tool, deadline, guarded
from zarniwoop.tools.research_search import RESEARCH_SEARCH

CALLER = Caller(tenant_id="acme", projects=("demo",), level=1)
ASKED = {"query": "cathedral bells", "modality": "WEB"}


@pytest.mark.parametrize(
    ("remaining_ms", "asked", "seconds"),
    [(28_000, None, 20.0), (10_000, None, 8.5), (28_000, 3.0, 3.0), (2_000, 3.0, 0.5)],
)
def test_the_deadline_is_the_nearest_of_three(remaining_ms: int, asked: float | None, seconds: float) -> None:
    """Lambda's own less what answering takes, twenty seconds, and what the caller is ready to wait."""
    made = deadline(LambdaContext(remaining_ms=remaining_ms), FakeClock(), asked)
    assert made.remaining() == pytest.approx(seconds)


@pytest.mark.parametrize("remaining_ms", [0, 800, 1_500])
def test_without_time_for_the_answer_nobody_is_asked(remaining_ms: int) -> None:
    """504 at once is better than a time-out of the gateway."""
    with pytest.raises(OutOfTime) as refused:
        deadline(LambdaContext(remaining_ms=remaining_ms), FakeClock())
    assert refused.value.wait_seconds == 1.0


def test_a_call_checks_before_it_spends() -> None:
    """Permission, then arguments, then scope; only then the providers."""
    environment = FakeEnvironment({"main": [found(2)]})
    with pytest.raises(NotAllowed):
        call_tool(RESEARCH_SEARCH, replace(CALLER, level=0), ASKED, environment, LambdaContext())
    with pytest.raises(CallerError):
        call_tool(RESEARCH_SEARCH, CALLER, {"query": ""}, environment, LambdaContext())
    assert environment.protocol.asked == []
    assert call_tool(RESEARCH_SEARCH, CALLER, ASKED, environment, LambdaContext()).ok
    environment.finish()
    assert [record.request_id for record in environment.fake_calls.records] == ["request-1"]


def test_a_null_says_nothing_except_to_a_flag() -> None:
    """A model in a strict mode cannot leave an argument out; but nobody pays for a dry run that was neither."""
    environment = FakeEnvironment({"main": [found(1)]})
    caller = Caller(tenant_id="acme", projects=("demo",), level=1)
    given = {"query": "bells", "modality": "WEB", "maxResults": None, "locale": None, "strategy": None}
    assert call_tool(RESEARCH_SEARCH, caller, given, environment, LambdaContext()).ok
    for flag in ("dry_run", "dryRun", "free_only"):
        with pytest.raises(InvalidArgument):
            call_tool(RESEARCH_SEARCH, caller, {**given, flag: None}, environment, LambdaContext())
    with pytest.raises(InvalidArgument, match="missing"):
        call_tool(RESEARCH_SEARCH, caller, {**given, "query": None}, environment, LambdaContext())


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownThing("who?"), 404),
        (ConfigurationUnavailable("SSM"), 503),
        (RuntimeError("cathedral bells"), 500),
    ],
)
def test_every_error_becomes_an_envelope(error: Exception, status: int) -> None:
    """Whatever happens, the caller reads the same shape."""

    def work() -> ToolResult:
        raise error

    result = guarded(FakeEnvironment(), "request-1", RESEARCH_SEARCH, work)
    assert not result.ok
    assert result.error is not None
    assert result.error.status == status


def test_a_fault_is_logged_by_kind_and_place_without_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    """The text of an exception may hold the query."""

    def work() -> ToolResult:
        raise KeyError("cathedral bells")

    guarded(FakeEnvironment(), "request-1", RESEARCH_SEARCH, work)
    line = orjson.loads(capsys.readouterr().out)
    assert (line["level"], line["error"], line["tool"]) == ("ERROR", "KeyError", "research_search")
    assert any("in work" in frame for frame in line["where"])
    assert "cathedral bells\n" not in line["where"]
    assert "request-1" in line["request_id"]
