"""Turns at a provider's published rate, from many processes at once on the emulator's DynamoDB."""

from collections import Counter
from itertools import pairwise

import pytest

from stack.running import Stack
from stack.seeding import SIMULATED_KEY
from tests.e2e.fleet import Fleet, Result, all_at_once
from tests.e2e.project import save_settings
from tests.e2e.provider_journal import Providers

pytestmark = pytest.mark.e2e

ASKED = {"query": "graphene", "modality": "ACADEMIC"}
ARXIV_FIRST = {
    "research.default.academic": "arxiv-main",
    "research.fallback.academic": "europepmc-main",
    "research.hedge.afterMs": "0",
}
SECONDS = 10.0
"""How long each search has: enough for the first, whose answer takes longer than arXiv's interval, and for another."""


def by_arxiv(results: list[Result]) -> list[Result]:
    return [result for result in results if result["instance_id"] == "arxiv-main" and result["failure"] is None]


def told_to_wait(results: list[Result]) -> list[Result]:
    """That arXiv was not asked for want of a turn, and when there is one."""
    first = [(result, result["attempts"][0]) for result in results]
    return [
        result
        for result, attempt in first
        if (attempt["instance_id"], attempt["reason"]) == ("arxiv-main", "throttled") and attempt["retry_at"]
    ]


def test_fifty_arxiv_searches_at_once_are_served_one_by_one_three_seconds_apart(
    stack: Stack, fleet: Fleet, providers: Providers
) -> None:
    """On one connection, although the first answer takes longer than that. Of those whose turn would come too late, who
    insist on arXiv are told when to come again; the others are served by the next in line."""
    save_settings(stack, "arxiv-first", ARXIV_FIRST)
    providers.fault("arxiv", "slow", delay_ms=3500, times=1)
    pinned = fleet.members(3, "demo", ASKED | {"pinned_provider_id": "arxiv-main"}, count=10, seconds=SECONDS)
    free = fleet.members(2, "arxiv-first", ASKED, count=10, seconds=SECONDS)
    results = all_at_once(pinned, free)
    seen = providers.asked("arxiv")
    assert 2 <= len(by_arxiv(results)) == len(seen) <= 3
    assert all(later["at"] - earlier["at"] >= 3.0 for earlier, later in pairwise(seen))
    assert all(earlier["closed"] <= later["opened"] for earlier, later in pairwise(seen))

    assert len(results) == 50
    assert len(told_to_wait(results)) == 50 - len(seen)
    insisting, open_to_others = results[:30], results[30:]
    assert all(result["failure"] for result in insisting if result not in by_arxiv(results))
    elsewhere = [result for result in open_to_others if result["instance_id"] == "europepmc-main"]
    assert len(elsewhere) == 20 - len(by_arxiv(open_to_others)) > 0
    assert all(result["hits"] for result in open_to_others)


def test_ncbis_limit_holds_for_the_whole_fleet_with_a_key_and_without(
    stack: Stack, fleet: Fleet, providers: Providers
) -> None:
    """Three requests in any second, ten with a key; more are wanted, and who gets no turn in time is told so."""
    save_settings(stack, "keyed", {"research.endpoint.pubmed-main.apiKey": SIMULATED_KEY})
    request = ASKED | {"pinned_provider_id": "pubmed-main"}
    keyless = fleet.members(2, "keyless", request, count=8, seconds=6.0)
    keyed = fleet.members(2, "keyed", request, count=12, seconds=6.0)
    results = all_at_once(keyless, keyed)
    for limit, searches, with_key in ((3, results[:16], False), (10, results[16:], True)):
        seen = [each["at"] for each in providers.asked("pubmed") if ("api_key" in each["query"]) is with_key]
        assert len(seen) > limit
        assert max(sum(first <= at < first + 1.0 for at in seen) for first in seen) <= limit
        reasons = Counter(result["attempts"][0]["reason"] for result in searches)
        assert set(reasons) == {None, "throttled"}
        assert 2 * reasons[None] <= len(seen)
