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
from zarniwoop.tools.schemas import STRICT, SchemaFormat, tool_schema
from zarniwoop.wiring import Environment, environment


def catalogue(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of the tool catalogue."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return proxy_response(orjson.dumps({"tools": _listing(event)}), 200, context.aws_request_id)
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
        description="true: as the strict mode of the vendor takes it; with format=openai, anthropic or bedrock.",
    )


def _listing(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    caller = caller_of_api_event(event)
    usable = [tool for tool in TOOLS if caller.may_use(tool)]
    asked = event.get("queryStringParameters") or {}
    wanted, strict = asked.get("format"), _is_strict(asked)
    if wanted is None and not strict:
        return [
            {
                "name": tool.name,
                "level": tool.level,
                **{shape.value: tool_schema(tool, shape) for shape in SchemaFormat},
            }
            for tool in usable
        ]
    shape = _shape(wanted, strict=strict)
    return [tool_schema(tool, shape, strict=strict) for tool in usable]


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
