"""What a tool is: a name and a description for a model, typed arguments, one function, and what it may use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.request import SearchScope
from zarniwoop.dispatch.dispatcher import Dispatcher
from zarniwoop.tools.arguments import CallArguments

if TYPE_CHECKING:
    from zarniwoop.pages.service import PageService
    from zarniwoop.tools.evidence_store import EvidenceReader
    from zarniwoop.tools.research_investigate import Forecasts, Investigations

Arguments = TypeVar("Arguments", bound=CallArguments)

DEFAULT_SECONDS = 20.0
"""How long a call may take when neither its caller nor its tool says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServices:
    """What tools may use of the world; built once by the wiring.

    All but the first two are made when they are first asked for: a search needs neither S3, Lambda nor Step Functions.
    """

    dispatcher: Dispatcher
    clock: Clock
    investigations: "Callable[[], Investigations]"
    forecasts: "Callable[[], Forecasts]"
    evidence: "Callable[[], EvidenceReader]"
    pages: "Callable[[], PageService]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[Arguments]):
    """One tool of the product, from which its route, its schemas and its documentation are made.

    `level` is the permission level that a token needs (seed 2: 1 means read-only tools); `read_only` tools change
    nothing unless asked to (MCP's readOnlyHint), while those that keep evidence by themselves change the caller's own
    ledger; `plan` is the dry run of `handle`, which asks nobody and writes nothing; `spends` tells whether a call may
    cost money at a provider; `max_seconds` is how long a call may take when its caller names no deadline.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    handle: Callable[[Arguments, SearchScope, ToolServices], ToolResult]
    plan: Callable[[Arguments, SearchScope, ToolServices], ToolResult]
    level: int = 1
    read_only: bool = True
    spends: bool = True
    max_seconds: float = DEFAULT_SECONDS

    def call(self, arguments: Arguments, scope: SearchScope, services: ToolServices) -> ToolResult:
        """What the arguments ask for: the tool's work, or its plan."""
        act = self.plan if arguments.dry_run else self.handle
        return act(arguments, scope, services)
