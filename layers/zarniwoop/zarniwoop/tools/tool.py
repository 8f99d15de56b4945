"""What a tool is: a name and a description for a model, typed arguments, one function, and what it may use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.dispatcher import Dispatcher
from zarniwoop.tools.arguments import ToolArguments

Arguments = TypeVar("Arguments", bound=ToolArguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServices:
    """What tools may use of the world; built once by the wiring."""

    dispatcher: Dispatcher
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[Arguments]):
    """One tool of the product, from which its route, its schemas and its documentation are made.

    `level` is the permission level that a token needs (seed 2: 1 means read-only tools); `read_only` tools change
    nothing; `spends` tells whether a call may cost money at a provider.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    handle: Callable[[Arguments, SearchScope, ToolServices], ToolResult]
    level: int = 1
    read_only: bool = True
    spends: bool = True
