"""What API Gateway does, in this process: a request to its route's function as a proxy event, and the answer back."""

from collections.abc import Mapping
from typing import Any

import httpx

from tests.fakes.functions import handler_of
from tests.fakes.paths import named_in
from zarniwoop.entry.route import Route
from zarniwoop.entry.routes import ROUTES


class Gateway:
    """A handler for `httpx.MockTransport`. Who asks is `identity`, whatever token the request bears.

    `functions` counts which function was asked how often.
    """

    def __init__(self, context: Any, stage: str = "/local", **identity: str) -> None:
        self._context = context
        self._stage = stage
        self._identity = {"tenant_id": "acme", "projects": "demo", "level": "4", "tools": "", **identity}
        self.functions: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        raw = request.url.raw_path.decode().partition("?")[0].removeprefix(self._stage)
        route, named = _route(request.method, raw)
        self.functions.append(route.function)
        answer = handler_of(route.function)(self._event(request, route, raw, named), self._context)
        return httpx.Response(answer["statusCode"], headers=answer["headers"], content=answer["body"].encode())

    def _event(self, request: httpx.Request, route: Route, path: str, named: Mapping[str, str]) -> dict[str, Any]:
        return {
            "resource": route.path,
            "path": path,
            "httpMethod": request.method,
            "headers": dict(request.headers),
            "queryStringParameters": dict(request.url.params) or None,
            "pathParameters": dict(named) or None,
            "body": request.content.decode() or None,
            "isBase64Encoded": False,
            "requestContext": {
                "authorizer": None if route.public else {**self._identity, "principalId": "p"},
                "stage": self._stage.strip("/"),
                "domainName": request.url.host,
            },
        }


def _route(method: str, path: str) -> tuple[Route, dict[str, str]]:
    for route in sorted(ROUTES, key=lambda each: each.path.count("{")):
        named = named_in(route.path, path)
        if route.method == method and named is not None:
            return route, named
    raise LookupError(f"{method} {path}")
