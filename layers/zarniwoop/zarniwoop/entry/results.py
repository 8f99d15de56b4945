"""`GET /v1/results/<handle>`: the hits that did not fit into an answer, within the same bound, and where to go on.

Invoked directly it takes `{"scope": {tenant_id, project_id}, "arguments": {"handle": "…"}}`. What a handle stands for
belongs to one project: with the token of another it is as unknown as one that never was. It asks no provider.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import UnknownThing, Unready
from zarniwoop.entry.api import reading
from zarniwoop.entry.callers import Caller
from zarniwoop.entry.invocation import deadline
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Handler
from zarniwoop.stores.continuations import Rest, handle_of, read_handle
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import MAX_CHARS, MIN_CHARS, ToolArguments, parse_arguments
from zarniwoop.tools.bounding import fitting, nested, shell_chars, size_of
from zarniwoop.tools.registry import TOOLS
from zarniwoop.wiring import Environment, environment


class ResultsAsked(ToolArguments):
    """`max_chars` comes as text in a query string, so it is not strict as the tools' is."""

    handle: str = Field(max_length=64, description="`size.handle` of the answer before.")
    max_chars: int | None = Field(
        default=None, ge=MIN_CHARS, le=MAX_CHARS, description="Another bound than the answer before had."
    )


def results(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler."""
    return reading("results", _continued, environment)


def _continued(caller: Caller, given: Mapping[str, Any], services: Environment, context: LambdaContext) -> ToolResult:
    """Whoever may use the tool may read its answer to the end."""
    asked = parse_arguments(ResultsAsked, given)
    project = ProjectKey.of(caller.scope(asked, deadline(context, services.clock), context.aws_request_id))
    named = read_handle(asked.handle)
    try:
        rest = services.continuations.find(project, named[0]) if named else None
    except StoreUnavailable:
        raise Unready(
            "the rest cannot be read right now", suggested_action="ask again after wait_seconds", wait_seconds=1.0
        ) from None
    if named is None or rest is None or named[1] >= len(rest.entries):
        raise _unknown()
    for tool in TOOLS:
        if tool.name == rest.tool:
            caller.check(tool)
    return ToolResult(ok=True, data=_page(rest, *named, asked.max_chars or rest.max_chars))


def _page(rest: Rest, token: str, offset: int, max_chars: int) -> dict[str, Any]:
    entries = rest.entries[offset:]
    paths = tuple(dict.fromkeys(path for path, _ in entries))
    shell = shell_chars(paths, rest.tool, max_chars)
    count, sizes = fitting(entries, max_chars - shell)
    more = (handle_of(token, offset + count), rest.expires_at) if count < len(entries) else None
    return {**nested(entries[:count]), "tool": rest.tool, "size": size_of(max_chars, count, sizes, more, shell)}


def _unknown() -> UnknownThing:
    return UnknownThing(
        "this project has nothing under this handle (any more)",
        slug="unknown-result",
        field="handle",
        suggested_action="ask the tool again: what did not fit is kept for an hour",
    )
