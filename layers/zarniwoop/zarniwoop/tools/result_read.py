"""`result_read`: the hits that did not fit into an answer, page by page; `GET /v1/results/<handle>`, as a tool.

What a handle stands for belongs to one project: from another it is as unknown as one that never was.
"""

from collections.abc import Callable, Mapping
from typing import Any, Required

from pydantic import Field
from typing_extensions import TypedDict

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import NotAllowed, UnknownThing, Unready
from zarniwoop.contract.request import SearchScope
from zarniwoop.contract.result import AnswerSize
from zarniwoop.dispatch.plan import NOTHING
from zarniwoop.stores.continuations import Continuations, Rest, handle_of, read_handle
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import USUAL_CHARS, HitArguments
from zarniwoop.tools.bounding import fitting, nested, shell_chars, size_of
from zarniwoop.tools.dry_run import DryRun
from zarniwoop.tools.tool import EVERY_TOOL, Tool, ToolServices


class Continued(TypedDict, total=False):
    """The rest of an answer, its hits under the lists that they are from. What they say is a stranger's."""

    tool: Required[str]
    size: Required[AnswerSize]
    untrusted: Required[bool]
    hits: list[Mapping[str, Any]]
    results: Mapping[str, Any]
    parts: list[Mapping[str, Any]]
    links: list[Mapping[str, Any]]
    providers: list[Mapping[str, Any]]
    evidence: list[Mapping[str, Any]]


class Page(dict[str, Any]):
    """`Continued`, and how to have it begin where it begins and end sooner, within so many characters."""

    def __init__(self, content: Mapping[str, Any], shorter: "Callable[[int], Page]") -> None:
        super().__init__(content)
        self.shorter = shorter


class ResultReadArguments(HitArguments):
    """Arguments of `result_read`."""

    handle: str = Field(min_length=1, max_length=64, description="`data.size.handle` of the answer to go on with.")


def read_on(
    store: Continuations,
    project: ProjectKey,
    handle: str,
    check: Callable[[str], None],
    bound: Callable[[int], int],
) -> Page:
    """The next page. `check` is told the tool's name, `bound` makes the page's of the answer's.

    Raises UnknownThing and Unready, and what `check` raises.
    """
    named = read_handle(handle)
    try:
        rest = store.find(project, named[0]) if named else None
    except StoreUnavailable:
        raise Unready(
            "the rest cannot be read right now", suggested_action="ask again after wait_seconds", wait_seconds=1.0
        ) from None
    if named is None or rest is None or named[1] >= len(rest.entries):
        raise _unknown()
    check(rest.tool)
    return _page(rest, *named, bound(rest.max_chars))


def read(arguments: ResultReadArguments, scope: SearchScope, services: ToolServices) -> ToolResult:
    """Raises CallerError."""

    def check(tool: str) -> None:
        if not _may_read(scope, tool):
            raise NotAllowed(
                f"this token may not use {tool}", suggested_action="use the token that the tool was used with"
            )

    def bound(of_the_answer: int) -> int:
        return arguments.max_chars or min(of_the_answer, USUAL_CHARS)

    page = read_on(services.rests(), ProjectKey.of(scope), arguments.handle, check, bound)
    return ToolResult(ok=True, data=page)


def plan(_arguments: ResultReadArguments, _scope: SearchScope, _services: ToolServices) -> ToolResult:
    """Nobody is ever asked."""
    notes = ("reads what was put aside, and asks nobody",)
    return ToolResult(ok=True, data=DryRun(tool=RESULT_READ.name, plans={}, worst_case=NOTHING, notes=notes))


def _may_read(scope: SearchScope, tool: str) -> bool:
    """Whoever may use a tool may read its answer to the end."""
    from zarniwoop.tools.registry import TOOLS  # it names this tool too

    return any(each.name == tool and scope.level >= each.level and each.is_named_by(scope.tools) for each in TOOLS)


def _page(rest: Rest, token: str, offset: int, max_chars: int) -> Page:
    entries = rest.entries[offset:]
    paths = tuple(dict.fromkeys(path for path, _ in entries))
    shell = shell_chars(paths, rest.tool, max_chars)
    count, sizes = fitting(entries, max_chars - shell)
    more = (handle_of(token, offset + count), rest.expires_at) if count < len(entries) else None
    size = size_of(max_chars, count, sizes, more, shell)
    content = {**nested(entries[:count]), "tool": rest.tool, "size": size, "untrusted": True}
    return Page(content, lambda most: _page(rest, token, offset, most))


def _unknown() -> UnknownThing:
    return UnknownThing(
        "this project has nothing under this handle (any more)",
        slug="unknown-result",
        field="handle",
        suggested_action="ask the tool again: what did not fit is kept until `expires_at`",
    )


RESULT_READ = Tool(
    name="result_read",
    title="Read an answer on",
    description=(
        "The rest of an answer that was too long. Use it when an answer has `data.size.handle` and its hits so far do "
        "not do; with a larger max_chars when no hit fitted. Returns the next hits (or parts of a page's text) in "
        "their order, whole, under the lists that they are from, and `size`, whose own `handle` leads on until it is "
        "null. A handle is good until `expires_at`, in its own project. Read-only and free: nobody is asked. Not for "
        "the text of evidence (evidence_store, action=get, with offset) or for new hits (ask the search for more)."
    ),
    arguments=ResultReadArguments,
    handle=read,
    plan=plan,
    answer=Continued,
    comes_with=(EVERY_TOOL,),
    spends=False,
)
