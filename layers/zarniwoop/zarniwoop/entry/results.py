"""`GET /v1/results/<handle>`: the hits that did not fit into an answer, within the same bound, and where to go on.

Invoked directly it takes `{"scope": {tenant_id, project_id}, "arguments": {"handle": "…"}}`. What a handle stands for
belongs to one project: with the token of another it is as unknown as one that never was. It asks no provider.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.entry.api import reading
from zarniwoop.entry.callers import Caller
from zarniwoop.entry.invocation import deadline
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Handler
from zarniwoop.stores.state import ProjectKey
from zarniwoop.tools.arguments import MAX_CHARS, MIN_CHARS, ToolArguments, parse_arguments
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.result_read import read_on
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

    def check(name: str) -> None:
        for tool in TOOLS:
            if tool.name == name:
                caller.check(tool)

    page = read_on(services.continuations, project, asked.handle, check, lambda bound: asked.max_chars or bound)
    return ToolResult(ok=True, data=page)
