"""The end of a cooldown, met by many processes at once on the emulator's DynamoDB: one of them finds out for all."""

import time
from collections import Counter

import pytest

from stack.running import Stack
from tests.e2e.fleet import Fleet, Result, all_at_once, began_before
from tests.e2e.investigations import aws
from tests.e2e.project import save_settings
from tests.e2e.provider_journal import Providers
from zarniwoop.stores.keys import partition
from zarniwoop.stores.project import ProjectKey

pytestmark = pytest.mark.e2e

PROVIDER = "openlibrary"
ASKED = {"query": "python", "modality": "BOOK", "pinned_provider_id": "openlibrary-main"}
PROCESSES, EACH = 5, 10
COOLDOWN = 3
TWO_HOURS = 7200


def cooled_down(fleet: Fleet, providers: Providers, project_id: str) -> float:
    """Until when the provider said that it would not be asked."""
    providers.fault(PROVIDER, "429", retry_after=COOLDOWN, times=1)
    (result,) = all_at_once(fleet.members(1, project_id, ASKED))
    assert result["attempts"][0]["reason"] == "rate_limited"
    return float(result["retry_at"])


def fifty_at_the_end_of(cooldown: float, fleet: Fleet, project_id: str) -> list[Result]:
    members = fleet.members(PROCESSES, project_id, ASKED, count=EACH)
    time.sleep(max(0.0, cooldown - time.time()))
    return all_at_once(members)


def reasons(results: list[Result]) -> list[str | None]:
    return [result["attempts"][0]["reason"] for result in results]


def test_one_of_fifty_probes_and_its_success_opens_the_provider_for_all(fleet: Fleet, providers: Providers) -> None:
    """The others are told that somebody is looking; afterwards everybody is served."""
    cooldown = cooled_down(fleet, providers, "probing")
    providers.fault(PROVIDER, "slow", delay_ms=3000, times=1)
    results = fifty_at_the_end_of(cooldown, fleet, "probing")
    _, probe = providers.asked(PROVIDER)
    assert began_before(probe["ended"], results)
    assert sorted(reasons(results), key=str) == [None] + 49 * ["probing"]
    again = all_at_once(fleet.members(PROCESSES, "probing", ASKED, count=2))
    assert reasons(again) == 10 * [None]
    assert len(providers.asked(PROVIDER)) == 12


def test_one_of_fifty_probes_and_its_failure_keeps_all_away(fleet: Fleet, providers: Providers) -> None:
    """For as long as the provider says, which is two hours here."""
    cooldown = cooled_down(fleet, providers, "failing")
    providers.fault(PROVIDER, "429", retry_after=TWO_HOURS, times=1)
    results = fifty_at_the_end_of(cooldown, fleet, "failing")
    assert reasons(results).count("rate_limited") == 1
    assert set(reasons(results)) <= {"rate_limited", "probing", "cooldown"}
    again = all_at_once(fleet.members(PROCESSES, "failing", ASKED, count=2))
    assert reasons(again) == 10 * ["cooldown"]
    assert all(result["retry_at"] >= cooldown + TWO_HOURS for result in again)
    assert len(providers.asked(PROVIDER)) == 2


def test_nothing_shortens_a_stated_wait_but_a_change_of_settings_or_an_operator(
    stack: Stack, fleet: Fleet, providers: Providers
) -> None:
    """Neither what others are told at the same time, a success among it, nor new processes, nor other settings."""
    _throttle_among_others(fleet, providers)
    save_settings(stack, "waiting", {"research.hedge.afterMs": "2000"})
    assert set(reasons(_look(fleet))) == {"cooldown"}

    save_settings(stack, "waiting", {"research.endpoint.openlibrary-main.timeoutSeconds": "7"})
    assert set(reasons(_look(fleet))) == {None}

    _throttle_among_others(fleet, providers)
    _delete_cooldowns(stack, "waiting")
    assert set(reasons(_look(fleet))) == {None}


def _throttle_among_others(fleet: Fleet, providers: Providers) -> None:
    """Of twenty at once one is told two hours; then one a second, one nothing but its failure, the rest succeed."""
    providers.forget()
    providers.fault(PROVIDER, "429", times=1, delay_ms=1000, retry_after=TWO_HOURS)
    providers.fault(PROVIDER, "429", times=1, delay_ms=1200, retry_after=1)
    providers.fault(PROVIDER, "500", times=1, delay_ms=1400)
    providers.fault(PROVIDER, "slow", delay_ms=1600)
    before = time.time()
    results = all_at_once(fleet.members(2, "waiting", ASKED, count=10))
    providers.heal()
    assert Counter(reasons(results)) == {"rate_limited": 2, "provider_unavailable": 1, None: 17}
    later = _look(fleet)
    assert reasons(later) == 4 * ["cooldown"]
    assert all(result["retry_at"] >= before + TWO_HOURS for result in later)


def _look(fleet: Fleet) -> list[Result]:
    return all_at_once(fleet.members(2, "waiting", ASKED, count=2))


def _delete_cooldowns(stack: Stack, project_id: str) -> None:
    """As an operator does who knows better (docs/operations.md)."""
    dynamodb, table = aws(stack, "dynamodb"), stack.outputs["StateTableName"]
    key = partition(ProjectKey(tenant_id=stack.tenant_id, project_id=project_id))
    found = dynamodb.query(
        TableName=table,
        KeyConditionExpression="pk = :pk AND begins_with(sk, :cooldowns)",
        ExpressionAttributeValues={":pk": {"S": key}, ":cooldowns": {"S": "CD#"}},
    )["Items"]
    assert found
    for item in found:
        dynamodb.delete_item(TableName=table, Key={"pk": item["pk"], "sk": item["sk"]})
