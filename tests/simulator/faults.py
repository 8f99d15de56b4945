"""Which requests go wrong, and how: rules by path prefix, and faults written into the path itself.

`/fault/<name>;<option>=<value>/<rest>` lets a base URL alone carry a permanent fault.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.simulator.connection import Connection
from tests.simulator.messages import Answer, Request

_IN_PATH = "/fault/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request in progress: `answer` makes the ordinary answer, `empty` one that found nothing."""

    request: Request
    connection: Connection
    answer: Callable[[], Answer]
    empty: Callable[[], Answer]
    refusal: Callable[[int], Answer]


Options = Mapping[str, Any]
Fault = Callable[[Exchange, Options], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`times` None means for ever."""

    prefix: str
    fault: str
    times: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"prefix": self.prefix, "fault": self.fault, "times": self.times, **self.options}


class FaultRules:
    """The rules in the order in which they were added: the first that matches is used, and used up."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []
        self._lock = threading.Lock()

    def add(self, rule: Rule) -> None:
        with self._lock:
            self._rules.append(rule)

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    def all(self) -> list[Rule]:
        with self._lock:
            return list(self._rules)

    def take(self, path: str) -> Rule | None:
        with self._lock:
            for position, rule in enumerate(self._rules):
                if path.startswith(rule.prefix):
                    self._use(position, rule)
                    return rule
        return None

    def _use(self, position: int, rule: Rule) -> None:
        if rule.times is None:
            return
        if rule.times <= 1:
            del self._rules[position]
        else:
            self._rules[position] = replace(rule, times=rule.times - 1)


def in_path(path: str) -> tuple[Rule | None, str]:
    """The fault that a path carries, and the path without it."""
    if not path.startswith(_IN_PATH):
        return None, path
    words, slash, rest = path.removeprefix(_IN_PATH).partition("/")
    name, *settings = words.split(";")
    options = {key: _value(text) for key, _, text in (setting.partition("=") for setting in settings)}
    return Rule(prefix="", fault=name, options=options), slash + rest


def _value(text: str) -> int | float | str:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text
