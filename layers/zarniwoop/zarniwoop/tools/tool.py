"""What a tool is: a name and a description for a model, typed arguments, one function, and what it may use."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarniwoop.contract.deadline import Clock
from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.request import SearchScope
from zarniwoop.tools.arguments import CallArguments

if TYPE_CHECKING:
    from zarniwoop.dispatch.dispatcher import Dispatcher
    from zarniwoop.pages.service import PageService
    from zarniwoop.stores.continuations import Continuations
    from zarniwoop.tools.evidence_store import EvidenceReader
    from zarniwoop.tools.research_investigate import Forecasts, Investigations
    from zarniwoop.tools.run_status import RunLooks

Arguments = TypeVar("Arguments", bound=CallArguments)

DEFAULT_SECONDS = 20.0
"""How long a call may take when neither its caller nor its tool says otherwise."""
EVERY_TOOL = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServices:
    """What tools may use of the world, made when it is first asked for.

    A search needs neither S3, Lambda nor Step Functions, and who looks at a run needs no dispatcher.
    """

    clock: Clock
    searches: "Callable[[], Dispatcher]"
    investigations: "Callable[[], Investigations]"
    forecasts: "Callable[[], Forecasts]"
    evidence: "Callable[[], EvidenceReader]"
    pages: "Callable[[], PageService]"
    runs: "Callable[[], RunLooks]"
    rests: "Callable[[], Continuations]"

    @property
    def dispatcher(self) -> "Dispatcher":
        return self.searches()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[Arguments]):
    """One tool of the product, from which its route, its schemas and its documentation are made.

    `answer` is the type of the `data` that `handle` answers with, `forecast` that of a dry run's where it is not a
    `DryRun`; what the schema of the answer says is made from them (`schemas.output_schema`).
    `comes_with` names tools whose answers it reads on: a token that lists one of them is good for this one too, and
    `EVERY_TOOL` means whichever it lists. `level` is the permission level that a token needs (seed 2: 1 means
    read-only tools); `read_only` tools change nothing unless asked to (MCP's readOnlyHint), while those that keep
    evidence by themselves change the caller's own ledger; `plan` is the dry run of `handle`, which asks nobody and
    writes nothing; `spends` tells whether a call may cost money at a provider; `max_seconds` is how long a call may
    take when its caller names no deadline.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    handle: Callable[[Arguments, SearchScope, ToolServices], ToolResult]
    plan: Callable[[Arguments, SearchScope, ToolServices], ToolResult]
    answer: type[Any] | UnionType
    forecast: type[Any] | None = None
    comes_with: tuple[str, ...] = ()
    level: int = 1
    read_only: bool = True
    spends: bool = True
    max_seconds: float = DEFAULT_SECONDS

    def is_named_by(self, listed: Collection[str]) -> bool:
        """Whether a token that lists these tools, or none in particular, is good for this one."""
        if not listed or self.name in listed or EVERY_TOOL in self.comes_with:
            return True
        return any(name in listed for name in self.comes_with)

    def call(self, arguments: Arguments, scope: SearchScope, services: ToolServices) -> ToolResult:
        """What the arguments ask for: the tool's work, or its plan."""
        act = self.plan if arguments.dry_run else self.handle
        return act(arguments, scope, services)
