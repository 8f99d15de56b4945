"""A fleet on the emulator's tables: processes that search at once, each as one environment of the deployed function."""

import json
import os
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stack import places
from stack.running import Stack

PATIENCE = 60.0
Result = dict[str, Any]
"""What one search came to, as `tests.e2e.searcher` tells it."""


@dataclass(slots=True, kw_only=True)
class Member:
    """One process of the fleet; it makes `count` searches at once, when told to."""

    process: subprocess.Popen[str]
    count: int = 0

    @property
    def is_idle(self) -> bool:
        return not self.count and self.process.poll() is None

    def prepare(self, told: Mapping[str, Any]) -> None:
        self.count = told["count"]
        self._say(json.dumps(told))

    def wait_until_ready(self) -> None:
        assert self._hear() == "ready"

    def go(self) -> None:
        self._say("go")

    def results(self) -> list[Result]:
        found = [json.loads(self._hear()) for _ in range(self.count)]
        self.count = 0
        return found

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _hear(self) -> str:
        """A line; none comes of a process that died, and one that says nothing is ended."""
        assert self.process.stdout is not None
        watch = threading.Timer(PATIENCE, self.process.kill)
        watch.start()
        try:
            line = self.process.stdout.readline().strip()
        finally:
            watch.cancel()
        assert line, "a process of the fleet has ended"
        return line


class Fleet:
    """Its processes are kept: starting one takes a second, giving it a new environment hardly anything."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._members: list[Member] = []
        self._variables = _variables_of_the_searching_function(stack)

    def members(
        self,
        number: int,
        project_id: str,
        request: Mapping[str, Any],
        *,
        count: int = 1,
        seconds: float = 25.0,
        ahead: float = 0.0,
    ) -> list[Member]:
        """So many processes that are ready to make `count` searches each, with so many seconds for each search.

        Each makes an environment of its own for them; its clock is `ahead` of everybody's by so many seconds.
        """
        told = {
            "variables": self._variables,
            "tenant_id": self._stack.tenant_id,
            "project_id": project_id,
            "count": count,
            "seconds": seconds,
            "ahead": ahead,
            "request": dict(request),
        }
        chosen = [member for member in self._members if member.is_idle][:number]
        chosen += [self._start() for _ in range(number - len(chosen))]
        for member in chosen:
            member.prepare(told)
        for member in chosen:
            member.wait_until_ready()
        return chosen

    def end_those_at_work(self) -> None:
        self._end([member for member in self._members if not member.is_idle])

    def end(self) -> None:
        self._end(list(self._members))

    def _start(self) -> Member:
        paths = os.pathsep.join((str(places.ROOT), str(places.LAYER), str(places.ROOT / "cli")))
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and script
            [str(places.PROJECT_PYTHON), "-m", "tests.e2e.searcher"],
            env={**self._stack.target.environment(), "PYTHONPATH": paths},
            cwd=places.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._members.append(Member(process=process))
        return self._members[-1]

    def _end(self, members: list[Member]) -> None:
        for member in members:
            self._members.remove(member)
            member.process.kill()
            with member.process:  # closes its pipes, and waits
                pass


def all_at_once(*crews: list[Member]) -> list[Result]:
    """What each search of each of them came to."""
    members = [member for crew in crews for member in crew]
    for member in members:
        member.go()
    return [result for member in members for result in member.results()]


def began_before(moment: float, results: list[Result]) -> bool:
    """Whether all of these searches were under way by then: a count says nothing of those that came one by one."""
    return all(result["began"] < moment for result in results)


def _variables_of_the_searching_function(stack: Stack) -> dict[str, str]:
    functions = stack.session().client("lambda", endpoint_url=stack.endpoint_url)
    name = stack.outputs["ResearchSearchFunctionName"]
    found: dict[str, str] = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    return found
