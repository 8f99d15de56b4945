"""`/v1/settings…`: what is in force and where it stands, changed by whoever may, tried out before it is saved.

Invoked directly it takes `{"scope": {tenant_id, project_id}, "operation": "save", "arguments": {…}}`; what is possible
is in `OPERATIONS`. All of it is for tokens of level 4: a model is never given these as tools. The tenant's own settings
are for tokens of all its projects, because they are in force in every one of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import InvalidArgument, UnknownThing, Unready
from zarniwoop.entry.api import WayIn, api
from zarniwoop.entry.bodies import read_body
from zarniwoop.entry.callers import EVERY_PROJECT, Caller, caller_of_api_event, caller_of_message
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.settings_access import SettingsAccess
from zarniwoop.entry.settings_operations import OPERATIONS
from zarniwoop.entry.tool import Event, Handler
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

_LONGEST_VERSION = 64


def settings(environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of all these routes."""
    over_rest, invoked = _with_stores(_from_api), _with_stores(_from_invocation)
    return api(SETTINGS, over_rest=over_rest, invoked=invoked, environment=environment)


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
    """`If-Match` says the same as `version`, which wins; but what can be no version is refused beside one, too."""
    headers = event.get("headers") or {}
    stated = next((str(value) for key, value in headers.items() if key.lower() == "if-match" and value), None)
    if stated is None or event["httpMethod"] not in ("PUT", "DELETE"):
        return given
    if len(stated) > _LONGEST_VERSION:
        way_out = "send the level's version out of GET /v1/settings, or leave it out where the body has it"
        raise InvalidArgument("'If-Match' is no version", field="If-Match", suggested_action=way_out)
    return {"version": stated.removeprefix("W/").strip('"'), **given}


def _with_stores(way_in: WayIn) -> WayIn:
    """Nothing is changed without the lock, and nothing shown whole without a record of it."""

    def guarded_way_in(event: Event, services: Environment, context: LambdaContext) -> ToolResult:
        try:
            return way_in(event, services, context)
        except StoreUnavailable:
            raise Unready(
                "settings cannot be changed right now: the table that keeps editors apart does not answer",
                suggested_action="ask again after wait_seconds",
                wait_seconds=2.0,
            ) from None

    return guarded_way_in
