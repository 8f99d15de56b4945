"""`GET /v1/tools`: the tools that the caller's token may use, in the schema shape that its model reads."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from pydantic import BaseModel, Field

from zarniwoop.contract.problem import CallerError, InvalidArgument
from zarniwoop.entry.answers import broken, http_response, proxy_response, refused
from zarniwoop.entry.callers import caller_of_api_event
from zarniwoop.entry.invocation import log_fault
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Handler
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import STRICT, SchemaFormat, strict_set, tool_schema
from zarniwoop.tools.tool import Tool
from zarniwoop.tools.vendor_schemas import MOST_OPTIONAL, MOST_STRICT_TOOLS, MOST_UNIONS
from zarniwoop.wiring import Environment, environment

_REASON = (
    f"the vendor takes {MOST_STRICT_TOOLS} strict tools in one request, with {MOST_OPTIONAL} members that may be left "
    f"out and {MOST_UNIONS} of several types in all of them together; tools=… says which come first"
)


def catalogue(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of the tool catalogue."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return proxy_response(orjson.dumps(_listing(event)), 200, context.aws_request_id)
        except CallerError as error:
            return http_response(refused(error), context.aws_request_id)
        except Exception as error:  # noqa: BLE001 - the outermost line: whatever it is, the caller gets an envelope
            log_fault(services, "tools", error)
            return http_response(broken(context.aws_request_id), context.aws_request_id)
        finally:
            services.finish()

    return handler


class ToolsAsked(BaseModel):
    """Its query string."""

    format: SchemaFormat | None = Field(default=None, description="One shape only; without it every shape is given.")
    strict: bool = Field(
        default=False,
        description="true: as the strict mode of the vendor takes it; with format=openai, anthropic or bedrock. Of the "
        "last two, as many are strict as one request may have, and `not_strict` names the others.",
    )
    tools: str | None = Field(
        default=None,
        description="These alone, and in this order: names with a comma between them. The first are strict first.",
    )


def _listing(event: Mapping[str, Any]) -> dict[str, Any]:
    caller = caller_of_api_event(event)
    asked = event.get("queryStringParameters") or {}
    usable, named = [tool for tool in TOOLS if caller.may_use(tool)], asked.get("tools")
    if named is not None:
        usable = _named(named, usable)
    wanted, strict = asked.get("format"), _is_strict(asked)
    if wanted is None and not strict:
        return {"tools": [_in_every_shape(tool) for tool in usable]}
    shape = _shape(wanted, strict=strict)
    if not strict:
        return {"tools": [tool_schema(tool, shape) for tool in usable]}
    made = strict_set(usable, shape, as_named=named is not None)
    left = {"not_strict": {"tools": made.not_strict, "reason": _REASON}} if made.not_strict else {}
    return {"tools": made.tools, **left}


def _in_every_shape(tool: Tool[Any]) -> dict[str, Any]:
    shapes = {shape.value: tool_schema(tool, shape) for shape in SchemaFormat}
    return {"name": tool.name, "level": tool.level, **shapes}


def _named(names: str, usable: list[Tool[Any]]) -> list[Tool[Any]]:
    """Raises InvalidArgument for one that the token may not use, or that is none."""
    known = {tool.name: tool for tool in usable}
    wanted = dict.fromkeys(name.strip() for name in names.split(","))
    if not known.keys() >= wanted.keys():
        way_out = "name some of " + ", ".join(known) if known else "ask with a token that may use tools"
        raise InvalidArgument("'tools' names one that this token may not use", field="tools", suggested_action=way_out)
    return [known[name] for name in wanted]


def _shape(wanted: str | None, *, strict: bool) -> SchemaFormat:
    """Raises InvalidArgument."""
    shape = next((each for each in SchemaFormat if each == wanted), None)
    if shape is not None and strict and shape not in STRICT:
        way_out = f"leave strict out for {shape}; it goes with " + ", ".join(sorted(STRICT))
        raise InvalidArgument(f"{shape} has no strict mode", field="strict", suggested_action=way_out)
    if shape is None:
        shapes = [each for each in SchemaFormat if each in STRICT or not strict]
        known = "there is no such schema format" if not strict else "strict needs a format that has such a mode"
        raise InvalidArgument(known, field="format", suggested_action="use one of " + ", ".join(shapes))
    return shape


def _is_strict(asked: Mapping[str, str]) -> bool:
    wish = asked.get("strict", "false")
    if wish not in ("true", "false"):
        raise InvalidArgument(
            "'strict' is true or false", field="strict", suggested_action="send strict=true, or leave it out"
        )
    return wish == "true"
