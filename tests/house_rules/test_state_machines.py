"""State machines name only states that are there and can be reached, and no task waits for ever or fails uncaught.

`sam validate --lint` sees none of that.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.template import ROOT, resources
from zarniwoop.pipelines.investigate.steps import STEPS

MACHINES = resources("AWS::Serverless::StateMachine")
FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "functions").glob("*/*.asl.json"))
STEPS_OF = {"functions/research_investigate/research_investigate.asl.json": STEPS}
"""The steps that a definition's tasks name, by its file."""

Level = tuple[str, dict[str, Any]]


def read(name: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((ROOT / name).read_text(encoding="utf-8"))
    return parsed


def levels(definition: dict[str, Any]) -> Iterator[Level]:
    """The states of the machine, and those within each of its maps, with where they start."""
    yield definition["StartAt"], definition["States"]
    for state in definition["States"].values():
        if state["Type"] == "Map":
            yield from levels(state["ItemProcessor"])


def states(definition: dict[str, Any], *kinds: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for _, level in levels(definition):
        for name, state in level.items():
            if state["Type"] in kinds or not kinds:
                yield name, state


def successors(state: dict[str, Any]) -> set[str]:
    named = [state.get("Next"), state.get("Default")]
    named += [each["Next"] for each in (*state.get("Choices", ()), *state.get("Catch", ()))]
    return {each for each in named if each}


def placeholders(definition: str) -> set[str]:
    return set(re.findall(r"\$\{([A-Za-z0-9]+)\}", definition))


def test_every_definition_is_deployed_and_every_machine_has_its_definition_in_a_file() -> None:
    """No dead file, and no definition hidden in the template."""
    assert sorted(properties["DefinitionUri"] for properties in MACHINES.values()) == FILES
    assert set(STEPS_OF) == set(FILES)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_placeholder_is_substituted_and_every_substitution_is_used(machine: str) -> None:
    """What stays is deployed as it is written, and fails at the first execution."""
    properties = MACHINES[machine]
    text = (ROOT / properties["DefinitionUri"]).read_text(encoding="utf-8")
    assert placeholders(text) == set(properties["DefinitionSubstitutions"])


@pytest.mark.parametrize("name", FILES)
def test_every_state_that_is_named_is_there_and_every_state_can_be_reached(name: str) -> None:
    """From where its level starts, by whatever way."""
    for start, level in levels(read(name)):
        reached, left = set(), {start}
        while left:
            state = left.pop()
            assert state in level, f"there is no state '{state}'"
            reached.add(state)
            left |= successors(level[state]) - reached
        assert reached == set(level)


@pytest.mark.parametrize("name", FILES)
def test_every_state_goes_on_or_ends(name: str) -> None:
    """`Next` or `End`, never both; a choice has a default."""
    for state_name, state in states(read(name)):
        if state["Type"] == "Choice":
            assert state["Choices"], state_name
            assert state["Default"], state_name
        elif state["Type"] not in ("Succeed", "Fail"):
            assert ("Next" in state) != (state.get("End") is True), state_name


@pytest.mark.parametrize("name", FILES)
def test_every_task_has_an_end_a_retry_and_a_catch(name: str) -> None:
    """The catch of everything stands last and alone; retries are jittered and bounded."""
    for state_name, state in states(read(name), "Task"):
        assert 0 < state["TimeoutSeconds"] <= 900, state_name
        assert state["Catch"][-1]["ErrorEquals"] == ["States.ALL"], state_name
        assert not any("States.ALL" in each["ErrorEquals"] for each in state["Catch"][:-1]), state_name
        assert any("Lambda.TooManyRequestsException" in each["ErrorEquals"] for each in state["Retry"]), state_name
        for retry in state["Retry"]:
            assert retry["JitterStrategy"] == "FULL", state_name
            assert 1 <= retry["MaxAttempts"] <= 5, state_name
            assert retry["MaxDelaySeconds"] <= 120, state_name
            assert "States.ALL" not in retry["ErrorEquals"], state_name


@pytest.mark.parametrize("name", FILES)
def test_every_map_is_bounded_and_loses_no_run_to_one_item(name: str) -> None:
    """How many items at once comes from the input; whatever an item fails of is caught inside of it."""
    for state_name, state in states(read(name), "Map"):
        assert state["MaxConcurrencyPath"].startswith("$."), state_name
        assert state["ItemProcessor"]["ProcessorConfig"] == {"Mode": "INLINE"}, state_name
        within = state["ItemProcessor"]["States"]
        for task in (each for each in within.values() if each["Type"] == "Task"):
            caught_by = within[task["Catch"][-1]["Next"]]
            assert (caught_by["Type"], caught_by["Result"]) == ("Pass", {"ok": False}), state_name


@pytest.mark.parametrize("name", FILES)
def test_how_many_items_run_at_once_is_written_before_every_map(name: str) -> None:
    """Its path begins in the execution's input, which no state writes over, or in the answer of the states before it.

    That those always write a number from 1 on is shown by `tests/functional/test_map_concurrency.py`.
    """
    level = read(name)["States"]
    written = {each["ResultPath"] for each in level.values() if "ResultPath" in each}
    assert "$" not in written
    for state_name, state in states(read(name), "Map"):
        root = ".".join(state["MaxConcurrencyPath"].split(".")[:2])
        if root == state["MaxConcurrencyPath"]:
            assert root not in written, state_name
            continue
        before = {each for each, found in level.items() if state_name in successors(found)}
        before |= {each for each, found in level.items() if successors(found) & before}
        writers = [each for each in before if level[each].get("ResultPath") == root]
        assert writers, state_name
        assert all(level[each]["Type"] == "Task" for each in writers), state_name


@pytest.mark.parametrize("name", FILES)
def test_an_execution_ends_and_stays_in_one_query_language(name: str) -> None:
    """A limit on the whole, and JSONPath throughout."""
    definition = read(name)
    assert definition["TimeoutSeconds"] <= 3_600
    assert "QueryLanguage" not in json.dumps(definition)


@pytest.mark.parametrize("name", FILES)
def test_tasks_name_the_steps_that_there_are(name: str) -> None:
    """Every step is used, and none that does not exist."""
    assert {state["Parameters"]["step"] for _, state in states(read(name), "Task")} == set(STEPS_OF[name])


@pytest.mark.parametrize("name", FILES)
def test_what_a_failure_says_is_ours(name: str) -> None:
    """A Fail state repeats no caught cause: it could hold what people search for."""
    for state_name, state in states(read(name), "Fail"):
        assert {"Error", "Cause"} <= set(state), state_name
        assert not {"ErrorPath", "CausePath"} & set(state), state_name
