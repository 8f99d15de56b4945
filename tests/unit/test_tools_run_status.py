"""`run_status`: a run as its owner sees it, for a model that holds nothing but the run's id."""

from typing import Any

import orjson
import pytest

from tests.contract.test_run_store import run, run_id
from tests.fakes.cloud import LambdaContext
from tests.fakes.environment import FakeEnvironment
from tests.fakes.functions import body_of, posted
from tests.fakes.research import PROJECT
from zarniwoop.entry.runs import runs
from zarniwoop.entry.tool import tool
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.run_files import RESULT
from zarniwoop.stores.runs import Ending, RunState
from zarniwoop.tools.run_status import RUN_STATUS


@pytest.fixture
def environment() -> FakeEnvironment:
    """With one run that has not started."""
    made = FakeEnvironment()
    now = made.clock.now()
    made.fake_runs.create(run(created_at=now, updated_at=now, deadline_at=now + 300, expires_at=now + 900))
    return made


def _ask(environment: FakeEnvironment, identity: dict[str, str] | None = None, **arguments: Any) -> dict[str, Any]:
    event = posted({"run_id": run_id(), **arguments}, tool="run_status", identity=identity)
    return tool(RUN_STATUS, lambda: environment)(event, LambdaContext())


def _ended(environment: FakeEnvironment, state: RunState, **ending: Any) -> None:
    environment.fake_files.put(PROJECT, run_id(), RESULT, orjson.dumps({"survivors": [{"title": "Bells"}]}))
    environment.fake_runs.finish(PROJECT, run_id(), Ending(state=state, **ending))


def test_it_is_told_what_the_route_of_runs_tells(environment: FakeEnvironment) -> None:
    """The very same data."""
    _ended(environment, RunState.SUCCEEDED, outcome="success")
    event = {
        "scope": {"tenant_id": "acme", "project_id": "demo"},
        "operation": "get",
        "arguments": {"run_id": run_id()},
    }
    over_rest = runs(lambda: environment)(event, LambdaContext())
    assert body_of(_ask(environment)) == over_rest
    assert over_rest["data"]["results"]["hits"] == [{"title": "Bells"}]


def test_it_waits_for_the_end_and_no_longer_than_it_was_told(environment: FakeEnvironment) -> None:
    """A run that goes on is told as it stands then."""
    data = body_of(_ask(environment, wait=20))["data"]
    assert data["state"] == "queued"
    assert sum(environment.hands.slept) == pytest.approx(20)


def test_a_run_that_failed_was_looked_at_all_the_same(environment: FakeEnvironment) -> None:
    """The answer is ok; the run is not."""
    _ended(environment, RunState.FAILED, error="planning_failed")
    answer = body_of(_ask(environment))
    assert (answer["ok"], answer["error"]) == (True, None)
    assert (answer["data"]["state"], answer["data"]["error"]) == ("failed", "planning_failed")


@pytest.mark.parametrize(
    ("identity", "status"),
    [
        ({"tools": "research_investigate"}, 200),
        ({"tools": "run_status"}, 200),
        ({"tools": "research_search"}, 403),
        ({"level": "0"}, 403),
        ({"tenant_id": "rival"}, 404),
        ({"projects": "other"}, 404),
    ],
)
def test_it_is_for_whoever_may_investigate_in_the_run_s_project(
    environment: FakeEnvironment, identity: dict[str, str], status: int
) -> None:
    """Elsewhere the run is unknown."""
    assert _ask(environment, identity)["statusCode"] == status


@pytest.mark.parametrize("named", ["nonsense", run_id(7)])
def test_a_run_that_is_not_there_is_unknown(environment: FakeEnvironment, named: str) -> None:
    """With the way out, in words of tools: a model has no HTTP."""
    error = body_of(_ask(environment, run_id=named))["error"]
    assert (error["status"], error["type"], error["field"]) == (404, "urn:zarniwoop:problem:unknown-run", "run_id")
    assert "research_investigate" in error["suggested_action"]


def test_a_table_that_is_away_comes_back(environment: FakeEnvironment) -> None:
    """So a model is told to ask again."""
    environment.fake_runs.fail_with = StoreUnavailable("down")
    response = _ask(environment)
    assert (response["statusCode"], response["headers"]["retry-after"]) == (503, "1")


def test_a_dry_run_looks_at_nothing(environment: FakeEnvironment) -> None:
    """Not even at the run."""
    environment.fake_runs.fail_with = StoreUnavailable("down")
    data = body_of(_ask(environment, dry_run=True))["data"]
    assert (data["dry_run"], data["worst_case"]["calls"]) == (True, 0)
