"""What the `app.py` of MCP is wrapped in: `POST /mcp`, one JSON-RPC message in and at most one out.

Streamable HTTP without the stream: every answer is one JSON body. What is refused before a message is read is told in
the protocol's form, with our problem details as its data.
"""

from collections.abc import Callable
from typing import Any

from zarniwoop.contract.problem import CallerError, InvalidArgument, NotAllowed, Problem
from zarniwoop.entry.answers import broken, proxy_response
from zarniwoop.entry.bodies import body_of
from zarniwoop.entry.callers import caller_of_api_event
from zarniwoop.entry.invocation import log_fault
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.mcp_calls import ToolCalls
from zarniwoop.entry.tool import Event, Handler
from zarniwoop.mcp.faults import ProtocolFault
from zarniwoop.mcp.inbound import Headers
from zarniwoop.mcp.revisions import Code
from zarniwoop.mcp.server import OURS, McpServer, Reply
from zarniwoop.text.as_json import as_json
from zarniwoop.tools.registry import TOOLS
from zarniwoop.wiring import Environment, environment

_NO_METHOD = 405
_JSON_TYPES = frozenset(("application/json", "application/*", "*/*"))


def mcp(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler."""

    def handler(event: Event, context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            reply = _reply(event, services, context)
            services.log.info("mcp answered", extra={"method": reply.method, "status": reply.status})
            return _response(reply, context)
        finally:
            services.finish()

    return handler


def _reply(event: Event, services: Environment, context: LambdaContext) -> Reply:
    def problem(error: Exception) -> Any:
        log_fault(services, "mcp", error)
        return broken(context.aws_request_id).error

    try:
        headers = _headers(event)
        _check(event, headers, services)
        caller = caller_of_api_event(event)
        calls = ToolCalls(caller=caller, services=services, context=context)
        server = McpServer(tools=TOOLS, may_use=caller.may_use, call=calls, problem=problem)
        return server.reply(body_of(event), headers)
    except CallerError as error:
        return _refused(error.problem())
    except Exception as error:  # noqa: BLE001 - the outermost line: whatever it is, the caller gets an answer
        fault = ProtocolFault(Code.INTERNAL_ERROR, OURS, data=problem(error))
        return Reply(status=fault.status, body=fault.body())


def _refused(problem: Problem) -> Reply:
    fault = ProtocolFault(Code.INVALID_REQUEST, problem.title, data=problem, status=problem.status)
    return Reply(status=fault.status, body=fault.body())


def _response(reply: Reply, context: LambdaContext) -> dict[str, Any]:
    headers = {"allow": "POST"} if reply.status == _NO_METHOD else {}
    body = b"" if reply.body is None else as_json(reply.body)
    return proxy_response(body, reply.status, context.aws_request_id, headers)


def _headers(event: Event) -> Headers:
    values = {
        str(name).lower(): str(value).strip(" \t")
        for name, value in (event.get("headers") or {}).items()
        if value is not None
    }
    several = (event.get("multiValueHeaders") or {}).items()
    return Headers(values=values, repeated=frozenset(str(name).lower() for name, each in several if len(each) > 1))


def _check(event: Event, headers: Headers, services: Environment) -> None:
    """What is refused before a message is looked at. Raises CallerError."""
    if event.get("httpMethod") != "POST":
        raise InvalidArgument(
            "there is no stream and no session here",
            status=_NO_METHOD,
            slug="method-not-allowed",
            title="This method is not one of the endpoint's",
            suggested_action="send every message by POST",
        )
    _check_origin(headers.values.get("origin"), services.allowed_origins)
    if event.get("queryStringParameters"):
        raise InvalidArgument(
            "the address takes no parameters, and a token must never stand in one",
            field="query",
            suggested_action="send the token in the Authorization header; a token that was sent in an address is known "
            "to others, so have it revoked",
        )
    _check_accept(headers.values.get("accept"))


def _check_origin(origin: str | None, allowed: frozenset[str]) -> None:
    """Only browsers send one, of the page that asks: a stranger's page must not use what its visitor may."""
    if origin is not None and origin.strip().lower() not in allowed:
        raise NotAllowed(
            "the request comes from a page whose origin is not allowed",
            field="origin",
            suggested_action="have the operator name the origin in the stack parameter McpAllowedOrigins",
        )


def _check_accept(accept: str | None) -> None:
    named = {each.partition(";")[0].strip().lower() for each in (accept or "*/*").split(",")}
    if not named & _JSON_TYPES:
        raise InvalidArgument(
            "the answer would be JSON, which the request does not accept",
            status=406,
            slug="not-acceptable",
            field="accept",
            suggested_action="send Accept: application/json, text/event-stream",
        )
