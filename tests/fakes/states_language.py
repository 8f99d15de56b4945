"""A state machine carried out at once: as much of the Amazon States Language as our definition uses, and no waiting.

https://states-language.net/spec.html, JSONPath throughout. moto's interpreter, which is whole, takes a second for every
retry; a test of hundreds of troubled runs cannot wait for that. `test_investigate_trouble` holds the two together.
"""

from collections.abc import Callable, Mapping
from typing import Any

Invoke = Callable[[dict[str, Any]], Any]

_MOST_STATES = 500


class ExecutionFailed(Exception):  # noqa: N818 - what it says
    """A task failed, or the execution ended in a Fail state: by the error's name."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class Execution:
    """One execution of a level of states. `invoke` carries out a task and raises ExecutionFailed."""

    def __init__(self, level: Mapping[str, Any], invoke: Invoke) -> None:
        self._states: Mapping[str, Any] = level["States"]
        self._name: str = level["StartAt"]
        self._invoke = invoke

    def run(self, given: Any) -> Any:
        """Its output. Raises ExecutionFailed."""
        for _ in range(_MOST_STATES):
            state = self._states[self._name]
            if state["Type"] == "Fail":
                raise ExecutionFailed(state["Error"])
            if state["Type"] == "Succeed":
                return _read(state.get("OutputPath", "$"), given)
            if state["Type"] == "Choice":
                self._name = _chosen(state, given)
                continue
            given, following = self._settled(state, given)
            if following is None:
                return given
            self._name = following
        raise AssertionError("the execution does not end")

    def _settled(self, state: Mapping[str, Any], given: Any) -> tuple[Any, str | None]:
        """The state's output and the next state, after its retries and by its catchers."""
        tried: dict[int, int] = {}
        while True:
            try:
                return _placed(state, given, self._carried_out(state, given)), state.get("Next")
            except ExecutionFailed as failed:
                if _may_retry(state, failed.error, tried):
                    continue
                catcher = next((each for each in state.get("Catch", ()) if _names(each, failed.error)), None)
                if catcher is None:
                    raise
                return _placed(catcher, given, {"Error": failed.error, "Cause": ""}), catcher["Next"]

    def _carried_out(self, state: Mapping[str, Any], given: Any) -> Any:
        if state["Type"] == "Pass":
            return _made(state["Parameters"], given) if "Parameters" in state else state["Result"]
        if state["Type"] == "Task":
            return self._invoke(_made(state["Parameters"], given))
        items = _read(state["ItemsPath"], given)
        return [
            Execution(state["ItemProcessor"], self._invoke).run(_made(state["ItemSelector"], given, item))
            for item in items
        ]


def _chosen(state: Mapping[str, Any], given: Any) -> str:
    for choice in state["Choices"]:
        wanted = choice["StringEquals"] if "StringEquals" in choice else choice["BooleanEquals"]
        if _read(choice["Variable"], given) == wanted:
            following: str = choice["Next"]
            return following
    default: str = state["Default"]
    return default


def _may_retry(state: Mapping[str, Any], error: str, tried: dict[int, int]) -> bool:
    """Counts the attempt at the first retrier that names the error."""
    for place, retry in enumerate(state.get("Retry", ())):
        if _names(retry, error):
            tried[place] = tried.get(place, 0) + 1
            return bool(tried[place] <= retry["MaxAttempts"])
    return False


def _names(rule: Mapping[str, Any], error: str) -> bool:
    return error in rule["ErrorEquals"] or "States.ALL" in rule["ErrorEquals"]


def _placed(state: Mapping[str, Any], given: Any, result: Any) -> Any:
    where = state.get("ResultPath", "$")
    return result if where == "$" else {**given, where.removeprefix("$."): result}


def _made(template: Mapping[str, Any], given: Any, item: Any = None) -> dict[str, Any]:
    return {
        name.removesuffix(".$"): (item if value == "$$.Map.Item.Value" else _read(value, given))
        if name.endswith(".$")
        else value
        for name, value in template.items()
    }


def _read(path: str, given: Any) -> Any:
    for part in path.split(".")[1:]:
        given = given[part]
    return given
