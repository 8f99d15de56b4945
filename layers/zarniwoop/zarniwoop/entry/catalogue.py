"""`GET /v1/tools`: the tools that the caller's token may use, in the schema shape that its model reads."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from zarniwoop.contract.problem import CallerError, InvalidArgument
from zarniwoop.entry.answers import broken, http_response, proxy_response, refused
from zarniwoop.entry.callers import caller_of_api_event
from zarniwoop.entry.invocation import log_fault
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Handler
from zarniwoop.tools.registry import TOOLS
from zarniwoop.tools.schemas import SchemaFormat, tool_schema
from zarniwoop.wiring import Environment, environment


def catalogue(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of the tool catalogue. `?format=` takes one shape; without it every shape is given."""

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


def _listing(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    caller = caller_of_api_event(event)
    usable = [tool for tool in TOOLS if caller.may_use(tool)]
    wanted = (event.get("queryStringParameters") or {}).get("format")
    if wanted is None:
        return [
            {
                "name": tool.name,
                "level": tool.level,
                **{shape.value: tool_schema(tool, shape) for shape in SchemaFormat},
            }
            for tool in usable
        ]
    if wanted not in SchemaFormat.__members__.values():
        raise InvalidArgument(
            "there is no such schema format", field="format", suggested_action="use one of " + ", ".join(SchemaFormat)
        )
    return [tool_schema(tool, SchemaFormat(wanted)) for tool in usable]
