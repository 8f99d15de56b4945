"""`tools/call`: whether the caller may, in which project, and the tool's own function asked for the answer.

The same envelope as over REST comes back, whatever became of the call. Logged are the tool and the outcome, never an
argument.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.failure import StackMisconfigured, ZarniwoopError
from zarniwoop.contract.problem import CallerError, OutOfTime, Unready
from zarniwoop.contract.request import SearchScope
from zarniwoop.entry.answers import broken, misconfigured, refused
from zarniwoop.entry.bounds import Bounds, oversized, weight
from zarniwoop.entry.callers import Caller
from zarniwoop.entry.invocation import deadline, log_fault
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.mcp.results import call_result
from zarniwoop.stores.functions import ALLOWANCES, CONNECT_SECONDS, FunctionFault, FunctionUnavailable, longest_within
from zarniwoop.text.as_json import as_json, sort_key
from zarniwoop.text.names import snake_case
from zarniwoop.tools.arguments import MAX_CHARS, MOST_BYTES, MOST_TOKENS, USUAL_CHARS, ToolArguments, parse_arguments
from zarniwoop.tools.research_investigate import SAME_RUN
from zarniwoop.tools.tool import Tool
from zarniwoop.wiring import Environment

_ON_THE_WAY = 2.0
"""Of what may be waited, so much is for starting the tool's function and carrying its answer."""
_LONGEST_SECONDS = ALLOWANCES[0] + CONNECT_SECONDS + 0.5
"""A little more than the longest wait takes, since some of it is gone before the wait is chosen."""
_KEY_SECONDS = 3600
_FOR_MODELS = Bounds(bytes=MOST_BYTES, tokens=MOST_TOKENS)
_MOST_SENT = 8 * MOST_BYTES
"""Lambda writes JSON wider than we do: six bytes for a character that takes two or three."""
_ENVELOPE = {"ok", "data", "error", "evidence"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """`mcp.server.CallTool` for one request."""

    caller: Caller
    services: Environment
    context: LambdaContext

    def __call__(self, tool: Tool[Any], given: Mapping[str, Any]) -> dict[str, Any]:
        envelope = self._envelope(tool, given)
        encoded = as_json(envelope)
        if weight(_FOR_MODELS)(encoded) > MOST_BYTES:
            envelope, encoded = _told(refused(oversized()))
        error = envelope["error"] or {}
        outcome = "ok" if envelope["ok"] is True else str(error.get("type", "")).rpartition(":")[2]
        self.services.log.info("tool called over MCP", extra={"tool": tool.name, "outcome": outcome})
        return call_result(envelope, encoded)

    def _envelope(self, tool: Tool[Any], given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._asked(tool, given)
        except CallerError as error:
            result = refused(error)
        except StackMisconfigured as error:
            result = misconfigured(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the model gets an envelope
            log_fault(self.services, tool.name, error)
            result = broken(self.context.aws_request_id)
        return _told(result)[0]

    def _asked(self, tool: Tool[Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Raises CallerError, StackMisconfigured."""
        self.caller.check(tool)
        until = deadline(self.context, self.services.clock, _LONGEST_SECONDS)
        scope = self.caller.scope(_named(given), until, self.context.aws_request_id)
        allowance = _allowance(until.remaining())
        message = {
            "scope": {
                "tenant_id": scope.tenant_id,
                "project_id": scope.project_id,
                "tools": scope.tools,
                "level": scope.level,
            },
            "arguments": _under_a_key(tool, _within_bounds(tool, given), scope, self.services.clock.now()),
            "bounds": {"bytes": MOST_BYTES, "tokens": MOST_TOKENS, "seconds": allowance - _ON_THE_WAY},
        }
        try:
            sent = self.services.tool_functions.ask(
                tool.name, as_json(message), allowance=allowance, most_bytes=_MOST_SENT
            )
        except FunctionUnavailable as unavailable:
            raise _consequence(unavailable.fault, tool) from None
        return _read(sent, tool)


def _told(result: ToolResult) -> tuple[dict[str, Any], bytes]:
    encoded = as_json(result)
    envelope: dict[str, Any] = orjson.loads(encoded)
    return envelope, encoded


def _named(given: Mapping[str, Any]) -> ToolArguments:
    """Project and process alone; the tool's function looks at the rest. Raises InvalidArgument."""
    return parse_arguments(
        ToolArguments, {name: each for name, each in given.items() if snake_case(name) in ToolArguments.model_fields}
    )


def _within_bounds(tool: Tool[Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer is cut where it can be read on. What is no bound at all is left for the tool to refuse."""
    field = tool.arguments.model_fields.get("max_chars")
    if field is None:
        return given
    name = next((each for each in given if snake_case(each) == "max_chars"), "max_chars")
    wanted = given.get(name, field.default)
    if wanted is None:
        return {**given, name: USUAL_CHARS}
    too_much = isinstance(wanted, int) and USUAL_CHARS < wanted <= MAX_CHARS
    return {**given, name: USUAL_CHARS} if too_much else given


def _under_a_key(tool: Tool[Any], given: Mapping[str, Any], scope: SearchScope, now: float) -> Mapping[str, Any]:
    """What starts a run gets a key, unless it has one: who asks the same again within the hour gets the same run."""
    if not _takes_a_key(tool):
        return given
    said = {name: each for name, each in given.items() if each is not None}
    if any(snake_case(name) == "idempotency_key" for name in said):
        return given
    asked = {snake_case(name): each for name, each in said.items() if snake_case(name) not in SAME_RUN}
    whose = [scope.tenant_id, scope.project_id, scope.process_id, scope.level, sorted(scope.tools)]
    key = hashlib.sha256(sort_key([tool.name, whose, asked, int(now // _KEY_SECONDS)])).hexdigest()
    kept = {name: each for name, each in given.items() if snake_case(name) != "idempotency_key"}
    return {**kept, "idempotency_key": f"mcp-{key}"}


def _takes_a_key(tool: Tool[Any]) -> bool:
    return "idempotency_key" in tool.arguments.model_fields


def _allowance(room: float) -> float:
    """What may be waited for an answer. Raises OutOfTime."""
    allowance = longest_within(room, ALLOWANCES)
    if allowance is None:
        raise OutOfTime("there is too little time left to ask the tool", suggested_action="ask again", wait_seconds=1.0)
    return allowance


def _read(sent: bytes, tool: Tool[Any]) -> dict[str, Any]:
    """The envelope, if it is one. Raises CallerError."""
    try:
        envelope = orjson.loads(sent)
    except orjson.JSONDecodeError:
        raise _consequence(FunctionFault.FAILED, tool) from None
    if not isinstance(envelope, dict) or set(envelope) != _ENVELOPE or not isinstance(envelope["ok"], bool):
        raise _consequence(FunctionFault.FAILED, tool)
    if not isinstance(envelope["error"], dict | None) or not isinstance(envelope["evidence"], list):
        raise _consequence(FunctionFault.FAILED, tool)
    return envelope


def _consequence(fault: FunctionFault, tool: Tool[Any]) -> ZarniwoopError:
    """What the caller is told of a function that did not answer. It may have done, and spent, what it was asked for."""
    perhaps, again = _asked_twice(tool)
    if fault is FunctionFault.THROTTLED:
        return Unready(
            "this stack runs as many functions as it may",
            slug="throttled",
            title="Too many requests at once",
            status=429,
            suggested_action="ask again after wait_seconds",
            wait_seconds=2.0,
        )
    if fault is FunctionFault.OUT_OF_TIME:
        return OutOfTime(
            "the tool did not answer in time" + perhaps,
            title="The tool took too long",
            suggested_action=f"ask for less, or {again}",
            wait_seconds=1.0,
        )
    if fault is FunctionFault.TOO_LARGE:
        return oversized()
    if fault is FunctionFault.NOT_CONFIGURED:
        return StackMisconfigured("TOOL_FUNCTIONS")
    return Unready("the tool's function failed" + perhaps, suggested_action=again, wait_seconds=5.0)


def _asked_twice(tool: Tool[Any]) -> tuple[str, str]:
    """What may have become of a call without an answer, and what is to be said of asking again."""
    if _takes_a_key(tool):
        return (
            "; the run may have been started all the same",
            "ask again after wait_seconds with the same arguments: within the hour that gives the same run",
        )
    if tool.spends or not tool.read_only:
        return (
            "; the call may have been carried out, and what it spent is spent",
            "ask again after wait_seconds if the answer is worth being carried out, and paid for, a second time",
        )
    return "", "ask again after wait_seconds"
