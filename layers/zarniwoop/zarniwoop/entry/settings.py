"""`/v1/settings…`: what is in force and where it stands, changed by whoever may, tried out before it is saved.

Invoked directly it takes `{"scope": {tenant_id, project_id}, "operation": "save", "arguments": {…}}`; what is possible
is in `OPERATIONS`. All of it is for tokens of level 4: a model is never given these as tools. The tenant's own settings
are for tokens of all its projects, because they are in force in every one of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import InvalidArgument, UnknownThing, Unready
from zarniwoop.entry.answers import http_response
from zarniwoop.entry.bodies import read_body
from zarniwoop.entry.callers import EVERY_PROJECT, Caller, caller_of_api_event, caller_of_message
from zarniwoop.entry.invocation import guarded
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.settings_access import SettingsAccess
from zarniwoop.entry.settings_operations import OPERATIONS
from zarniwoop.entry.tool import Handler, read_back
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.tokens import SETTINGS
from zarniwoop.wiring import Environment, environment

ROUTES: Mapping[tuple[str, str], str] = {
    ("GET", "/v1/settings"): "read",
    ("GET", "/v1/settings/form"): "form",
    ("PUT", "/v1/settings"): "save",
    ("DELETE", "/v1/settings/{name}"): "delete",
    ("POST", "/v1/settings/endpoints/{endpoint_id}/test"): "test",
    ("POST", "/v1/settings/reveal"): "reveal",
}


@dataclass(frozen=True, slots=True)
class _SettingsApi:
    name: str = SETTINGS


_API = _SettingsApi()


def settings(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of all these routes."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        over_rest = isinstance(event, Mapping) and "httpMethod" in event
        try:
            work = _from_api if over_rest else _from_invocation
            result = guarded(
                services, context.aws_request_id, _API, lambda: _with_stores(lambda: work(event, services, context))
            )
            return http_response(result, context.aws_request_id) if over_rest else read_back(result)
        finally:
            services.finish()

    return handler


def _from_api(event: Mapping[str, Any], services: Environment, context: LambdaContext) -> ToolResult:
    caller = caller_of_api_event(event)
    actor = str(((event.get("requestContext") or {}).get("authorizer") or {}).get("principalId") or "token")
    access = SettingsAccess(caller, actor, services, context)
    name = ROUTES.get((event["httpMethod"], event.get("resource", "")))
    if name is None:
        raise UnknownThing("there is no such route", slug="unknown-route", suggested_action="see GET /v1/settings/form")
    body = read_body(event) if event["httpMethod"] in ("PUT", "POST") else {}
    given = {**(event.get("queryStringParameters") or {}), **body, **(event.get("pathParameters") or {})}
    return OPERATIONS[name](_with_version(given, event), access)


def _from_invocation(event: Mapping[str, Any], services: Environment, context: LambdaContext) -> ToolResult:
    """IAM has let the sender in, for the whole tenant; its scope names the project."""
    named, arguments = caller_of_message(event)
    caller: Caller = replace(named, projects=(EVERY_PROJECT,))
    name = event.get("operation")
    if not isinstance(name, str) or name not in OPERATIONS:
        raise InvalidArgument(
            "there is no such operation", field="operation", suggested_action="use one of " + ", ".join(OPERATIONS)
        )
    given = {**arguments, "project_id": named.projects[0]}
    return OPERATIONS[name](given, SettingsAccess(caller, "iam", services, context))


def _with_version(given: dict[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
    """`If-Match` says the same as `version`, which wins."""
    headers = event.get("headers") or {}
    stated = next((str(value) for key, value in headers.items() if key.lower() == "if-match" and value), None)
    if stated is None or event["httpMethod"] not in ("PUT", "DELETE"):
        return given
    return {"version": stated.removeprefix("W/").strip('"'), **given}


def _with_stores(work: Callable[[], ToolResult]) -> ToolResult:
    """Nothing is changed without the lock, and nothing shown whole without a record of it."""
    try:
        return work()
    except StoreUnavailable:
        raise Unready(
            "settings cannot be changed right now: the table that keeps editors apart does not answer",
            suggested_action="ask again after wait_seconds",
            wait_seconds=2.0,
        ) from None
