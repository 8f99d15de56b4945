"""Kept answers and single flight, from many processes at once on the emulator's DynamoDB."""

import time
from typing import Any

import pytest

from stack.running import Stack
from tests.e2e.fleet import PATIENCE, Fleet, Result, all_at_once, began_before
from tests.e2e.project import caller, save_settings
from tests.e2e.provider_journal import Providers

pytestmark = pytest.mark.e2e

PROJECT = "kept-answers"
PROVIDER = "openlibrary"
PROCESSES, EACH = 10, 10
LEASE_SECONDS = 4.0
"""A lease ends with the time of the search that holds it."""
SECONDS = 25.0
"""What those have who wait; after more than half of it they would ask alone."""


@pytest.fixture(scope="module", autouse=True)
def _kept(stack: Stack) -> None:
    """The project keeps the answers of its book searches."""
    save_settings(stack, PROJECT, {"research.cache.ttlSeconds.book": "600"})


def asked(query: str) -> dict[str, Any]:
    return {"query": query, "modality": "BOOK", "max_results": 3}


def answered(results: list[Result]) -> tuple[int, int]:
    """How many brought hits, and how many of those had asked for them."""
    found = [result for result in results if result["hits"] and result["failure"] is None]
    return len(found), sum(not result["cached"] for result in found)


def test_a_hundred_identical_searches_at_once_are_one_provider_call(fleet: Fleet, providers: Providers) -> None:
    """From ten processes, all under way before there is an answer; all have it, one of them at the provider's price."""
    providers.fault(PROVIDER, "slow", delay_ms=2000)
    results = all_at_once(fleet.members(PROCESSES, PROJECT, asked("python"), count=EACH))
    (call,) = providers.asked(PROVIDER)
    assert (len(results), answered(results)) == (100, (100, 1))
    assert began_before(call["ended"], results)


def test_when_the_holder_is_killed_another_takes_over_within_its_lease(fleet: Fleet, providers: Providers) -> None:
    """One further call, by one of those who wait meanwhile; the rest share its answer."""
    providers.fault(PROVIDER, "hang", seconds=60, times=1)
    waiting = fleet.members(4, PROJECT, asked("cathedral"), count=5, seconds=SECONDS)
    (holder,) = fleet.members(1, PROJECT, asked("cathedral"), seconds=LEASE_SECONDS)
    holder.go()
    end = time.monotonic() + PATIENCE
    while not providers.asked(PROVIDER) and time.monotonic() < end:
        time.sleep(0.05)
    holder.process.kill()
    results = all_at_once(waiting)
    first, second = providers.asked(PROVIDER)
    assert (len(results), answered(results)) == (20, (20, 1))
    assert began_before(second["at"], results)
    assert second["at"] - first["at"] < SECONDS / 2


def test_the_api_says_that_an_answer_is_kept(stack: Stack, providers: Providers) -> None:
    """Through the deployed function and its role."""
    with caller(stack, PROJECT) as api:

        def search(**more: Any) -> Any:
            body = {"query": "solar energy", "modality": "BOOK", **more}
            return api.post("/v1/tools/research_search", json=body).json()

        assert search(cache="only")["error"]["type"].endswith(":not-cached")
        first, second = search()["data"], search()["data"]
        assert (first["cached"], second["cached"], second["cost"]) == (False, True, 0)
        assert second["hits"] == first["hits"]
        assert second["age_seconds"] >= 0
        assert search(cache="only")["data"]["cached"]
        assert not search(cache="no-store")["data"]["cached"]
    assert len(providers.asked(PROVIDER)) == 2
