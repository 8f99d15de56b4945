"""Budgets, from many processes at once on the emulator's DynamoDB: never over, never lost."""

import time

import pytest

from stack.running import Stack
from tests.e2e.fleet import PATIENCE, Fleet, Result, all_at_once, began_before
from tests.e2e.project import caller, save_settings
from tests.e2e.provider_journal import Providers
from zarniwoop.dispatch.candidates.credit import credit_period
from zarniwoop.settings.endpoints import CreditKind
from zarniwoop.stores.dynamodb_ledger import DynamoDbLedger
from zarniwoop.stores.ledger import Account, Balance
from zarniwoop.stores.project import ProjectKey

pytestmark = pytest.mark.e2e

BUDGET = "research.budget.project.calls"
ASKED = {"query": "python", "modality": "BOOK", "max_results": 3}
PROVIDER = "openlibrary"
PROCESSES, EACH = 8, 8
DAY = 86_400
LONGEST = 300.0
"""More than any of these tests takes, with what its processes are ahead."""


@pytest.fixture(autouse=True)
def same_day() -> None:
    """A budget of the day begins anew at midnight (UTC): a test that would see that waits for it."""
    left = DAY - time.time() % DAY
    if left < LONGEST:
        time.sleep(left + 1)


def allow(stack: Stack, project_id: str, calls: int) -> None:
    """The project may make so many calls a day."""
    save_settings(stack, project_id, {BUDGET: str(calls), "research.budget.project.period": "day"})


def balance(stack: Stack, project_id: str) -> Balance:
    client = stack.session().client("dynamodb", endpoint_url=stack.endpoint_url)
    project = ProjectKey(tenant_id=stack.tenant_id, project_id=project_id)
    account = Account.of_budget("project", project, credit_period(CreditKind.NONE, time.time()).name)
    return DynamoDbLedger(client, stack.outputs["StateTableName"]).balance(account)


def calls_of(found: Balance) -> tuple[int, int, int]:
    return found.committed.calls, found.used.calls, found.assumed.calls


def refused(results: list[Result]) -> list[Result]:
    """Cleanly: nobody was asked, and budget and reset are named."""
    found = [result for result in results if result["failure"] == "budget"]
    for result in found:
        attempts = result["attempts"]
        assert {(each["outcome"], each["reason"], each["detail"]) for each in attempts} == {
            ("skipped", "budget", BUDGET)
        }
        assert 0 < result["retry_at"] - time.time() <= DAY
    return found


def served(results: list[Result]) -> list[Result]:
    return [result for result in results if result["failure"] is None and result["hits"] > 0]


def test_of_sixty_four_searches_at_once_a_budget_of_ten_calls_lets_exactly_ten_through(
    stack: Stack, fleet: Fleet, providers: Providers
) -> None:
    """From eight processes with eight threads each; the other 54 are refused by name, with the reset."""
    allow(stack, "budgeted", 10)
    providers.fault(PROVIDER, "slow", delay_ms=2000)
    results = all_at_once(fleet.members(PROCESSES, "budgeted", ASKED, count=EACH))
    calls = providers.asked(PROVIDER)
    assert (len(results), len(calls)) == (PROCESSES * EACH, 10)
    assert (len(served(results)), len(refused(results))) == (10, 54)
    assert began_before(min(call["ended"] for call in calls), results)
    found = balance(stack, "budgeted")
    assert (calls_of(found), found.holds) == ((10, 10, 0), {})


def test_what_a_killed_process_held_is_reconciled_never_over_never_lost(
    stack: Stack, fleet: Fleet, providers: Providers
) -> None:
    """Killed while the provider works on its call. It counts at once; when its time is over, as spent, and once."""
    allow(stack, "killed", 4)
    kill_one_that_was_asked(fleet, providers)
    results = all_at_once(fleet.members(2, "killed", ASKED, count=4))
    assert (len(served(results)), len(refused(results))) == (3, 5)
    held = balance(stack, "killed")
    assert (calls_of(held), len(held.holds)) == ((4, 3, 0), 1)

    allow(stack, "killed", 6)
    results = all_at_once(fleet.members(4, "killed", ASKED, count=2, ahead=120.0))
    assert (len(served(results)), len(refused(results))) == (2, 6)
    assert len(providers.asked(PROVIDER)) == 1 + 3 + 2
    reconciled = balance(stack, "killed")
    assert (calls_of(reconciled), reconciled.holds) == ((6, 6, 1), {})


def kill_one_that_was_asked(fleet: Fleet, providers: Providers) -> None:
    """With SIGKILL, after it reserved and before it can settle."""
    providers.fault(PROVIDER, "hang", seconds=60, times=1)
    (victim,) = fleet.members(1, "killed", ASKED)
    victim.go()
    end = time.monotonic() + PATIENCE
    while not providers.asked(PROVIDER) and time.monotonic() < end:
        time.sleep(0.05)
    victim.process.kill()


def test_the_api_names_the_budget_its_reset_and_the_way_out(stack: Stack) -> None:
    """Through the deployed function and its role: the project's own item, and the tenant's."""
    allow(stack, "refusing", 1)
    with caller(stack, "refusing") as api:
        first = api.post("/v1/tools/research_search", json=ASKED).json()
        error = api.post("/v1/tools/research_search", json=ASKED).json()["error"]
    assert first["ok"], first
    assert error["type"] == "urn:zarniwoop:problem:budget"
    assert error["detail"].startswith(f"the budget {BUDGET} is used up, and begins anew at 20")
    assert 0 < error["wait_seconds"] <= DAY
    assert error["suggested_action"] == f"raise {BUDGET} (now 1), or ask again after wait_seconds"
