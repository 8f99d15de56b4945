"""The Lambda authorizer: a bearer token in, an IAM policy and the caller's identity out.

API Gateway caches the answer per token, so the policy names everything that the token may reach, not only the route
that was asked for. It is made of the grant alone: this function starts before every cold call and must not import the
tools to know their levels, which `entry.callers` checks. The context reaches the tools as strings;
`usageIdentifierKey` is what the usage plan throttles by.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.stores.failure import StoreUnavailable
from zarniwoop.stores.tokens import (
    EVIDENCE_LEVEL,
    LEAVES_EVIDENCE,
    LISTS_EVIDENCE,
    SETTINGS,
    SETTINGS_LEVEL,
    TokenGrant,
    hash_token,
)
from zarniwoop.wiring import Environment, environment

_FOR_ALL = ("GET/v1/tools", "POST/mcp", "GET/mcp", "DELETE/mcp")
"""Both list what the token may use, and nothing else; /mcp itself refuses two of its methods."""
_RUN_ROUTES = (
    *("GET/v1/runs", "GET/v1/runs/*", "POST/v1/runs/*/stop", "GET/v1/content/*", "GET/v1/insights"),
    "POST/v1/tools/run_status",
)
"""What an investigation leaves behind is for whoever may investigate."""
_LEAVES_RUNS = "research_investigate"
_RUNS_FROM_LEVEL = 1
_SETTINGS_ROUTES = (
    *("GET/v1/settings", "GET/v1/settings/form", "PUT/v1/settings", "DELETE/v1/settings/*"),
    *("POST/v1/settings/endpoints/*/test", "POST/v1/settings/reveal"),
)
_DOCUMENTS_ROUTE = "GET/v1/documents"
"""What became of a project's documents is for whoever may search them."""
_SEARCHES = "research_search"
_USAGE_ROUTE = "GET/v1/usage"
"""What was spent on providers is for whoever may look at them."""
_SEES_PROVIDERS = "research_providers"
_RESULTS_ROUTES = ("GET/v1/results/*", "POST/v1/tools/result_read")
"""Whoever may use a tool may read its answer to the end; which tool that was is looked at there."""
_EVIDENCE_LIST_ROUTE = "GET/v1/evidence"
_EVIDENCE_ROUTES = ("GET/v1/evidence/*", "POST/v1/evidence/*/verify")
"""One evidence is for whoever may use a tool that links to it, the list of all for whoever may use evidence's tool."""
_ROUTES_OF: tuple[tuple[tuple[str, ...], int, tuple[str, ...]], ...] = (
    ((_LEAVES_RUNS,), _RUNS_FROM_LEVEL, _RUN_ROUTES),
    ((SETTINGS,), SETTINGS_LEVEL, _SETTINGS_ROUTES),
    ((_SEARCHES,), _RUNS_FROM_LEVEL, (_DOCUMENTS_ROUTE,)),
    ((_SEES_PROVIDERS,), _RUNS_FROM_LEVEL, (_USAGE_ROUTE,)),
    ((LISTS_EVIDENCE,), EVIDENCE_LEVEL, (_EVIDENCE_LIST_ROUTE,)),
    ((LISTS_EVIDENCE, *LEAVES_EVIDENCE), EVIDENCE_LEVEL, _EVIDENCE_ROUTES),
)
"""The tools that they belong to, from which level on, and they themselves."""
_BEARER = re.compile(r"Bearer +([A-Za-z0-9_\-.~+/]{16,256}=*)", re.IGNORECASE)


class UnauthorizedError(Exception):
    """API Gateway answers 401 only to an error whose whole message is this word."""

    def __init__(self) -> None:
        super().__init__("Unauthorized")


def authorizer(
    environment: Callable[[], Environment] = environment,
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """The Lambda handler of the authorizer (TOKEN or REQUEST type)."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return _policy(_grant(event, services), str(event["methodArn"]))
        finally:
            services.finish()

    return handler


def _grant(event: Mapping[str, Any], services: Environment) -> TokenGrant:
    """The valid grant behind the event's token. Raises UnauthorizedError; a token store that is down lets nobody in."""
    found = _BEARER.fullmatch(_authorization(event).strip())
    if found is None:
        raise UnauthorizedError
    try:
        grant = services.tokens.grant(hash_token(found.group(1)))
    except StoreUnavailable:
        services.log.warning("token table unavailable")
        raise
    if grant is None or (grant.expires_at is not None and grant.expires_at <= services.clock.now()):
        raise UnauthorizedError
    return grant


def _authorization(event: Mapping[str, Any]) -> str:
    if event.get("type") == "TOKEN":
        return str(event.get("authorizationToken") or "")
    headers = event.get("headers") or {}
    return next((str(value) for name, value in headers.items() if name.lower() == "authorization"), "")


def _policy(grant: TokenGrant, method_arn: str) -> dict[str, Any]:
    stage = "/".join(method_arn.split("/")[:2])
    tools = [f"POST/v1/tools/{name}" for name in grant.tools or ("*",)]
    routes = [*_FOR_ALL, *tools, *_beside_tools(grant)]
    return {
        "principalId": grant.token_hash[:16],
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Action": "execute-api:Invoke",
                    "Effect": "Allow",
                    "Resource": [f"{stage}/{route}" for route in routes],
                }
            ],
        },
        "context": {
            "tenant_id": grant.tenant_id,
            "projects": ",".join(grant.projects),
            "level": str(grant.level),
            "tools": ",".join(grant.tools),
        },
        **({"usageIdentifierKey": grant.usage_key} if grant.usage_key else {}),
    }


def _beside_tools(grant: TokenGrant) -> Iterator[str]:
    """What belongs to a tool is for whoever may use that."""
    for names, level, routes in _ROUTES_OF:
        if grant.level >= level and (not grant.tools or not set(names).isdisjoint(grant.tools)):
            yield from routes
    if grant.level >= _RUNS_FROM_LEVEL:
        yield from _RESULTS_ROUTES
