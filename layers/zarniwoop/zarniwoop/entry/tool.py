"""What every tool's `app.py` is wrapped in: API event, invocation, queue batch or event in; an answer out.

Direct invocations, queue messages and event details carry `{"scope": {tenant_id, project_id, process_id?}, "arguments":
{…}}`; IAM and the queue's policy vouch for them. Their answers are envelopes; those of queue and event are published on
the event bus as `ResearchAnswered`. An invocation may bound its answer (`entry.bounds`).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.entry.answers import Shorten, encode, http_response
from zarniwoop.entry.bodies import read_body, read_object
from zarniwoop.entry.bounding import Bounding
from zarniwoop.entry.bounds import Bounds, bounded, bounds_of
from zarniwoop.entry.callers import caller_of_api_event, caller_of_message
from zarniwoop.entry.invocation import call_tool, guarded
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.replies import publish
from zarniwoop.text.names import snake_case
from zarniwoop.tools.tool import Tool
from zarniwoop.wiring import Environment, environment

_MILLISECONDS = re.compile(r"[0-9]{1,6}")
_REFUSED = 400

Event = Mapping[str, Any]
Handler = Callable[[Event, LambdaContext], dict[str, Any]]


def tool(spec: Tool[Any], environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of a tool."""

    def handler(event: Event, context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return _route(event)(spec, event, services, context)
        finally:
            services.finish()

    return handler


def _route(event: Event) -> "Route":
    if not isinstance(event, Mapping):
        return _from_invocation
    if "httpMethod" in event and "requestContext" in event:
        return _from_api
    records = event.get("Records")
    if isinstance(records, list) and records and records[0].get("eventSource") == "aws:sqs":
        return _from_queue
    if "detail-type" in event and "detail" in event:
        return _from_event
    return _from_invocation


Route = Callable[[Tool[Any], Event, Environment, LambdaContext], dict[str, Any]]


def _from_api(spec: Tool[Any], event: Event, services: Environment, context: LambdaContext) -> dict[str, Any]:
    def work() -> ToolResult:
        caller = caller_of_api_event(event)
        caller.check(spec)
        if key is not None and not _keeps_keys(spec):
            from zarniwoop.entry.idempotency import check_key

            check_key(key)
        given = _with_key(spec, read_body(event), key)
        return call_tool(spec, caller, given, services, context, seconds=_asked_seconds(event), bounding=bounding)

    def answer() -> ToolResult:
        return guarded(services, context.aws_request_id, spec, work)

    bounding, key = Bounding(spec.name, services), _header(event, "idempotency-key")
    if key is None or _keeps_keys(spec) or _is_dry_run(event):
        return http_response(answer(), context.aws_request_id, bounding.shorten)
    from zarniwoop.entry.idempotency import once

    return once(key, spec, event, services, context, answer, bounding.shorten)


def _from_invocation(spec: Tool[Any], event: Event, services: Environment, context: LambdaContext) -> dict[str, Any]:
    bounding, bounds = Bounding(spec.name, services), Bounds()

    def work() -> ToolResult:
        nonlocal bounds
        bounds = bounds_of(event)
        return _call(spec, event, services, context, bounding, seconds=min(bounds.seconds, spec.max_seconds))

    result = guarded(services, context.aws_request_id, spec, work)
    return bounded(result, bounds, bounding.shorten)


def _from_event(spec: Tool[Any], event: Event, services: Environment, context: LambdaContext) -> dict[str, Any]:
    detail = event["detail"] if isinstance(event["detail"], Mapping) else {}
    event_id = str(event.get("id") or context.aws_request_id)

    def work() -> ToolResult:
        if detail.get("tool", spec.name) != spec.name:
            from zarniwoop.tools.registry import no_such_tool  # all tools, which no other event pays for

            raise no_such_tool()
        return _call(spec, detail, services, context, bounding, event_id)

    bounding = Bounding.unawaited(spec.name, services)
    result = guarded(services, context.aws_request_id, spec, work)
    return publish(services, spec.name, event_id, result, bounding.shorten)


def _from_queue(spec: Tool[Any], event: Event, services: Environment, context: LambdaContext) -> dict[str, Any]:
    """Every message on its own; one that could not be answered goes back to the queue, the others do not.

    A message that is wrong in itself goes back too: the queue hands it to the dead letter queue, where it is seen.
    """
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

    def answer(record: Any) -> None:
        def work() -> ToolResult:
            return _call(spec, read_object(record.body.encode()), services, context, bounding, record.message_id)

        bounding = Bounding.unawaited(spec.name, services)
        result = guarded(services, context.aws_request_id, spec, work)
        if result.error is not None and (result.error.retryable or result.error.status >= _REFUSED):
            raise UnansweredMessageError(result.error.type)
        publish(services, spec.name, record.message_id, result, bounding.shorten)

    response = process_partial_response(
        event=dict(event),
        record_handler=answer,
        processor=BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False),
        context=context,  # type: ignore[arg-type]
    )
    return {"batchItemFailures": list(response["batchItemFailures"])}


class UnansweredMessageError(Exception):
    """A queue message that stays in the queue."""


def _call(
    spec: Tool[Any],
    message: Event,
    services: Environment,
    context: LambdaContext,
    bounding: Bounding,
    key: str | None = None,
    seconds: float | None = None,
) -> ToolResult:
    """`key` is the id of what brought the message, which queue and bus may bring twice."""
    caller, arguments = caller_of_message(message)
    given = _with_key(spec, arguments, key)
    return call_tool(spec, caller, given, services, context, seconds=seconds, bounding=bounding)


def _keeps_keys(spec: Tool[Any]) -> bool:
    """Whether the tool itself makes one run of two calls under one key, and tells the second how it stands by then."""
    return "idempotency_key" in spec.arguments.model_fields


def _is_dry_run(event: Event) -> bool:
    """Such a call writes nothing down, its key neither. A body that cannot be read is refused where it is read."""
    try:
        given = read_body(event)
    except InvalidArgument:
        return False
    return any(value is True and snake_case(name) == "dry_run" for name, value in given.items())


def _with_key(spec: Tool[Any], given: Mapping[str, Any], key: str | None) -> Mapping[str, Any]:
    return {"idempotency_key": key, **given} if key and _keeps_keys(spec) else given


def read_back(result: ToolResult, shorten: Shorten | None = None) -> dict[str, Any]:
    """The envelope as Lambda's own JSON encoder can take it."""
    encodable: dict[str, Any] = orjson.loads(encode(result, shorten=shorten))
    return encodable


def _header(event: Event, name: str) -> str | None:
    headers = event.get("headers") or {}
    return next((str(value) for key, value in headers.items() if key.lower() == name and value), None)


def _asked_seconds(event: Event) -> float | None:
    """`X-Deadline-Ms`: how long the caller is ready to wait. Raises InvalidArgument."""
    asked = _header(event, "x-deadline-ms")
    if asked is None:
        return None
    if not _MILLISECONDS.fullmatch(asked) or not 100 <= int(asked) <= 60_000:
        raise InvalidArgument(
            "X-Deadline-Ms must be a whole number from 100 to 60000",
            field="x-deadline-ms",
            suggested_action="send milliseconds, or leave the header out",
        )
    return int(asked) / 1000
