"""Requests by event on the deployed bus: whichever tool they name, somebody answers."""

import json
from typing import Any

import pytest

from stack.running import Stack
from tests.e2e.investigations import aws
from tests.fakes.requested_tools import ASKED_FOR, NO_LEAF, detail
from zarniwoop.tools.registry import TOOLS

pytestmark = pytest.mark.e2e

CASES = ASKED_FOR | NO_LEAF


def _rules(stack: Stack) -> dict[str, str]:
    """The patterns of the bus's rules for requests, by the name of the function that they lead to."""
    events, bus = aws(stack, "events"), stack.outputs["EventBusName"]
    named = {
        stack.outputs[f"{''.join(word.title() for word in folder.split('_'))}FunctionName"]: folder
        for folder in [*(tool.name for tool in TOOLS), "unknown_tool"]
    }
    found = {}
    for rule in events.list_rules(EventBusName=bus)["Rules"]:
        for target in events.list_targets_by_rule(Rule=rule["Name"], EventBusName=bus)["Targets"]:
            function = target["Arn"].rpartition(":")[2]
            if function in named:
                found[named[function]] = rule["EventPattern"]
    return found


@pytest.mark.parametrize("what", CASES)
def test_each_event_meets_the_deployed_rule_that_it_is_for(stack: Stack, what: str) -> None:
    """By the matching of EventBridge as the emulator has it, empty values included."""
    named, expected = CASES[what]
    rules = _rules(stack)
    assert set(rules) == {*(tool.name for tool in TOOLS), "unknown_tool"}
    event: dict[str, Any] = {
        "id": "1",
        "account": "000000000000",
        "source": "agents.example",
        "time": "2026-11-30T12:00:00Z",
        "region": "us-east-1",
        "resources": [],
        "detail-type": "ResearchRequested",
        "detail": detail(named),
    }
    events = aws(stack, "events")
    met = {
        folder
        for folder, pattern in rules.items()
        if events.test_event_pattern(EventPattern=pattern, Event=json.dumps(event))["Result"]
    }
    assert met == expected
