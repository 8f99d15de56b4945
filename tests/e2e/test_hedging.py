"""A provider that hangs, met by many processes at once on the emulator's DynamoDB."""

import pytest

from stack.running import Stack
from tests.e2e.fleet import Fleet, Result, all_at_once
from tests.e2e.project import save_settings
from tests.e2e.provider_journal import Providers

pytestmark = pytest.mark.e2e

ASKED = {"query": "graphene", "modality": "ACADEMIC"}
SETTINGS = {
    "research.default.academic": "openalex-main",
    "research.fallback.academic": "europepmc-main",
    "research.hedge.afterMs": "3500",
    "research.endpoint.openalex-main.timeoutSeconds": "14",
}
PROCESSES, EACH = 4, 5
HANGS_SECONDS, TIMES_OUT_SECONDS = 20, 14


def account(result: Result) -> tuple[tuple[str, str, str | None], ...]:
    return tuple((each["instance_id"], each["outcome"], each["reason"]) for each in result["attempts"])


def test_a_hanging_provider_is_waited_for_until_the_threshold_and_then_by_nobody(
    stack: Stack, fleet: Fleet, providers: Providers
) -> None:
    """All are answered by the next one, long before the call that hangs would time out; it is hung up on; and the
    whole fleet knows. (How long it takes to the hundredth part is measured by `make bench`.)"""
    save_settings(stack, "hedged", SETTINGS)
    providers.fault("openalex", "hang", seconds=HANGS_SECONDS)
    results = all_at_once(fleet.members(PROCESSES, "hedged", ASKED, count=EACH))
    hanging, others = providers.asked("openalex"), providers.asked("europepmc")
    assert (len(results), len(hanging), len(others)) == (20, 20, 20)
    superseded = (("europepmc-main", "success", None), ("openalex-main", "failure", "superseded"))
    assert {account(result) for result in results} == {superseded}
    assert max(result["ended"] for result in results) < min(call["at"] for call in hanging) + TIMES_OUT_SECONDS
    assert all(call["ended"] < call["at"] + TIMES_OUT_SECONDS for call in hanging)

    later = all_at_once(fleet.members(PROCESSES, "hedged", ASKED, count=1))
    passed_over = (("openalex-main", "skipped", "cooldown"), ("europepmc-main", "success", None))
    assert {account(result) for result in later} == {passed_over}
    assert len(providers.asked("openalex")) == 20
