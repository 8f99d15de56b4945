"""One call of a tool, from whichever side it came: the same checks, the same errors, the same envelope."""

import traceback
from collections.abc import Mapping
from typing import Any, Protocol

from zarniwoop.contract.deadline import Clock, Deadline
from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.failure import ConfigurationUnavailable, StackMisconfigured
from zarniwoop.contract.problem import CallerError, OutOfTime
from zarniwoop.entry.answers import broken, misconfigured, refused, unconfigured
from zarniwoop.entry.bounding import Bounding
from zarniwoop.entry.callers import Caller
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.text.names import snake_case
from zarniwoop.tools.arguments import parse_arguments
from zarniwoop.tools.tool import DEFAULT_SECONDS, Tool
from zarniwoop.wiring import Environment

RESERVE_SECONDS = 1.5
"""What is kept of Lambda's time for writing down and answering."""
_LOGGED_FRAMES = 8


def call_tool(
    tool: Tool[Any],
    caller: Caller,
    given: Mapping[str, Any],
    environment: Environment,
    context: LambdaContext,
    *,
    seconds: float | None = None,
    bounding: Bounding | None = None,
) -> ToolResult:
    """Check, parse, handle. Raises CallerError and ConfigurationUnavailable; nothing was called then."""
    caller.check(tool)
    arguments = parse_arguments(tool.arguments, _without_nulls(tool, given))
    until = deadline(context, environment.clock, seconds or tool.max_seconds)
    scope = caller.scope(arguments, until, context.aws_request_id)
    result: ToolResult = tool.call(arguments, scope, environment.tools)
    bounding = bounding or Bounding(tool.name, environment)
    return bounding.within(result, getattr(arguments, "max_chars", None), scope)


def _without_nulls(tool: Tool[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A null says nothing: in the strict mode of some vendors a model cannot leave an argument out.

    But to a flag it is neither yes nor no, and whoever writes it must not be taken to mean a call that costs.
    """
    flags = {name for name, field in tool.arguments.model_fields.items() if field.annotation is bool}
    return {name: each for name, each in given.items() if each is not None or snake_case(name) in flags}


def deadline(context: LambdaContext, clock: Clock, seconds: float | None = None) -> Deadline:
    """The one deadline of this call: Lambda's, less what answering takes, 20 s, or what the caller asked for.

    Raises OutOfTime when not even one attempt would fit.
    """
    left = context.get_remaining_time_in_millis() / 1000 - RESERVE_SECONDS
    if left <= 0:
        raise OutOfTime(
            "the function was started with too little time left",
            suggested_action="ask again",
            wait_seconds=1.0,
        )
    return Deadline.after(min(left, seconds or DEFAULT_SECONDS), clock)


def guarded(environment: Environment, request_id: str, called: "Named", work: "Work") -> ToolResult:
    """Run the work; every error becomes an envelope here and nowhere else."""
    try:
        return work()
    except CallerError as error:
        return refused(error)
    except ConfigurationUnavailable as error:
        return unconfigured(error)
    except StackMisconfigured as error:
        return misconfigured(error)
    except Exception as error:  # noqa: BLE001 - the outermost line: whatever it is, the caller gets an envelope
        log_fault(environment, called.name, error)
        return broken(request_id)


def log_fault(environment: Environment, name: str, error: Exception) -> None:
    """Where it happened and of what kind. The exception's own text stays out: it may hold a query."""
    environment.log.error(
        "tool failed",
        extra={
            "tool": name,
            "error": type(error).__name__,
            "where": traceback.format_tb(error.__traceback__)[-_LOGGED_FRAMES:],
        },
    )


class Named(Protocol):
    """A tool, or an API beside the tools; the log calls it by its name."""

    @property
    def name(self) -> str: ...


class Work(Protocol):
    def __call__(self) -> ToolResult: ...
