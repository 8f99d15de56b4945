"""`docs/openapi.json`: OpenAPI 3.1 of every route in `zarniwoop.entry.routes`, a document per function, merged.

Powertools' `OpenAPIMerge` puts the functions' documents together, and its models check the whole. The documents are
made here: a resolver makes them of the routes that it serves, and ours are served by none (docs/decisions.md). Requests
come of pydantic's models, answers of the data classes by `tools.answer_schema`, examples of the sample events.
"""

from typing import Any

from aws_lambda_powertools.event_handler.openapi.merge import OpenAPIMerge
from aws_lambda_powertools.event_handler.openapi.models import OpenAPI, Server, ServerVariable, Tag

from reference.openapi_answers import responses
from reference.openapi_components import Components
from reference.openapi_requests import body, parameters
from zarniwoop import __version__
from zarniwoop.entry.route import Route
from zarniwoop.entry.routes import ROUTES

VERSION = "3.1.0"
_BEARER = "bearer"
_DESCRIPTION = (
    "Research and search for AI agents. Every answer is an envelope of `ok`, `data`, `error` and `evidence`; an error "
    "is a problem (RFC 9457) with `retryable`, `wait_seconds` and `suggested_action`. Names are written in snake_case; "
    "camelCase is taken too. Where a token has several projects, `project_id` says which is asking."
)
_TAGS = {
    "tools": "What an agent may do",
    "runs": "Investigations, and what they leave behind",
    "results": "Answers that were too long, read on",
    "evidence": "What the project has read",
    "documents": "The project's own documents",
    "usage": "What was asked of whom, and what it cost",
    "settings": "Who is asked, and with which key",
    "mcp": "All tools, for clients of the Model Context Protocol",
    "openapi": "The API itself, for anybody",
}


def document() -> dict[str, Any]:
    """The whole, as it is committed. Raises pydantic's ValidationError, OpenAPIMergeError, ClashError."""
    merged = OpenAPIMerge(
        title="Zarniwoop",
        version=__version__,
        openapi_version=VERSION,
        description=_DESCRIPTION,
        servers=[_server()],
        tags=[Tag(name=name, description=told) for name, told in _TAGS.items()],
        security=[{_BEARER: []}],
        on_conflict="error",
    )
    components = Components()
    for function in dict.fromkeys(route.function for route in ROUTES):
        merged.add_schema({"paths": _paths(function, components)})
    merged.add_schema({"components": {**components.told(), "securitySchemes": {_BEARER: _scheme()}}})
    made = merged.get_openapi_schema()
    OpenAPI.model_validate(made)
    return made


def _paths(function: str, components: Components) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for route in ROUTES:
        if route.function == function:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, components)
    return paths


def _operation(route: Route, components: Components) -> dict[str, Any]:
    made: dict[str, Any] = {
        "tags": [_tag(route)],
        "operationId": route.name,
        "summary": route.summary,
        "description": "\n\n".join(filter(None, (route.description, _right(route)))),
        "responses": responses(route, components),
    }
    if taken := parameters(route, components):
        made["parameters"] = taken
    if sent := body(route, components):
        made["requestBody"] = sent
    if route.public:
        made["security"] = []
    return made


def _tag(route: Route) -> str:
    return route.function if route.function in _TAGS else "tools"


def _right(route: Route) -> str:
    if route.public:
        return "For anybody: it takes no token."
    level = f"a token of level {route.level} or higher" if route.level else "any token"
    return f"For {level} that may use `{route.right}`." if route.right else f"For {level}."


def _server() -> Server:
    return Server(
        url="https://{api}.execute-api.{region}.amazonaws.com/live",
        description="The stack's output `ApiUrl`; what a stack serves names its own address here.",
        variables={"api": ServerVariable(default="api-id"), "region": ServerVariable(default="us-east-1")},
    )


def _scheme() -> dict[str, Any]:
    return {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "zw_…",
        "description": "A token of this stack (`make token`), good for a tenant, its projects, a level and some tools.",
    }
