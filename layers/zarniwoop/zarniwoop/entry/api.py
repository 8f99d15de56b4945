"""What the `app.py` of an API beside the tools is wrapped in: a request of the REST API or an invocation in.

Both come to one function of the API, each by its own way in; the answer is a response or the bare envelope.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.entry.answers import http_response
from zarniwoop.entry.callers import Caller, caller_of_api_event, caller_of_message
from zarniwoop.entry.invocation import guarded
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Event, Handler, read_back
from zarniwoop.wiring import Environment

WayIn = Callable[[Event, Environment, LambdaContext], ToolResult]
Answer = Callable[[Caller, Mapping[str, Any], Environment, LambdaContext], ToolResult]


@dataclass(frozen=True, slots=True)
class _Called:
    """What the log calls a fault of the API by."""

    name: str


def api(name: str, *, over_rest: WayIn, invoked: WayIn, environment: Callable[[], Environment]) -> Handler:
    """The Lambda handler of all routes of an API."""
    called = _Called(name)

    def handler(event: Event, context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        is_request = isinstance(event, Mapping) and "httpMethod" in event
        way_in = over_rest if is_request else invoked
        try:
            result = guarded(services, context.aws_request_id, called, lambda: way_in(event, services, context))
            return http_response(result, context.aws_request_id) if is_request else read_back(result)
        finally:
            services.finish()

    return handler


def reading(name: str, answer: Answer, environment: Callable[[], Environment]) -> Handler:
    """The Lambda handler of one route that is read: its arguments stand in the address."""

    def over_rest(event: Event, services: Environment, context: LambdaContext) -> ToolResult:
        return answer(caller_of_api_event(event), in_the_address(event), services, context)

    def invoked(event: Event, services: Environment, context: LambdaContext) -> ToolResult:
        return answer(*caller_of_message(event), services, context)

    return api(name, over_rest=over_rest, invoked=invoked, environment=environment)


def in_the_address(event: Event) -> dict[str, Any]:
    """The arguments of the query string and of the path; the path's win."""
    return {**(event.get("queryStringParameters") or {}), **(event.get("pathParameters") or {})}
