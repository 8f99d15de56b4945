"""What anybody may read without a token: the OpenAPI document, its page, and who issues tokens (RFC 9728).

The document is made by `make docs` and lies beside the function, so that nothing heavy is imported to serve it; only
`servers` is written anew, because the address that was asked is known here alone. The page is Swagger UI, whose script
and style Powertools brings along: they stand in the page, and its policy lets it load nothing else, nor from anywhere
else. It refers to the document by a relative address, so it works under any stage and any domain.
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from zarniwoop.contract.problem import UnknownThing
from zarniwoop.entry.answers import broken, http_response, refused
from zarniwoop.entry.invocation import log_fault
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.entry.tool import Event, Handler
from zarniwoop.wiring import Environment, environment

DOCUMENT, PAGE = "/openapi.json", "/docs"
PROTECTED, PROTECTED_MCP = "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"
_KEPT = "public, max-age=300"
_FOR_ANY_PAGE = {"access-control-allow-origin": "*"}
_SWAGGER = "event_handler/openapi/swagger_ui"
_START = (
    'SwaggerUIBundle({url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true, filter: true, '
    'docExpansion: "list", defaultModelsExpandDepth: 0, validatorUrl: null});'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedResource:
    """RFC 9728, section 2. Without an issuer, tokens are those that the operator gives out (`make token`)."""

    resource: str
    resource_name: str
    resource_documentation: str
    bearer_methods_supported: tuple[str, ...] = ("header",)
    authorization_servers: tuple[str, ...] = ()


def openapi(app: str, environment: Callable[[], Environment] = environment) -> Handler:
    """The Lambda handler of the file `app`, beside which `make docs` has written the document."""
    document = Path(app).with_name("openapi.json")

    def handler(event: Event, context: LambdaContext) -> dict[str, Any]:
        services = environment()
        services.begin(context.aws_request_id)
        try:
            return _answered(event, document, services, context.aws_request_id)
        except Exception as error:  # noqa: BLE001 - the outermost line: whatever it is, the caller gets an envelope
            log_fault(services, "openapi", error)
            return http_response(broken(context.aws_request_id), context.aws_request_id)
        finally:
            services.finish()

    return handler


def _answered(event: Event, document: Path, services: Environment, request_id: str) -> dict[str, Any]:
    route = event.get("resource", "")
    if route == DOCUMENT:
        made = {**orjson.loads(document.read_bytes()), "servers": [{"url": _server(event, services.public_url)}]}
        return _response(orjson.dumps(made).decode(), "application/json", request_id, _FOR_ANY_PAGE)
    if route == PAGE:
        return _response(_page().text, "text/html; charset=utf-8", request_id, _page().policy)
    if route in (PROTECTED, PROTECTED_MCP):
        told = _protected_resource(services.public_url or _asked(event), route, services.authorization_servers)
        return _response(orjson.dumps(told).decode(), "application/json", request_id, _FOR_ANY_PAGE)
    unknown = UnknownThing("there is no such route", slug="unknown-route", suggested_action=f"see GET {DOCUMENT}")
    return http_response(refused(unknown), request_id)


def _server(event: Event, public_url: str) -> str:
    """The API's own address, stage included; where neither operator nor gateway tells, relative to the document."""
    named = (event.get("requestContext") or {}).get("domainName")
    return public_url or (_asked(event) if named else ".")


def _asked(event: Event) -> str:
    """The address that was asked, without the route."""
    told = event.get("requestContext") or {}
    headers = {str(name).lower(): str(value) for name, value in (event.get("headers") or {}).items()}
    host = told.get("domainName") or headers.get("host", "localhost")
    scheme = "https" if told.get("domainName") else headers.get("x-forwarded-proto", "http")
    return f"{scheme}://{host}{str(told.get('path', '')).removesuffix(str(event.get('resource')))}"


def _protected_resource(base: str, route: str, issuers: tuple[str, ...]) -> dict[str, Any]:
    """Members without a value are left out, as the RFC has it."""
    told = ProtectedResource(
        resource=base + ("/mcp" if route == PROTECTED_MCP else ""),
        resource_name="Zarniwoop",
        resource_documentation=base + PAGE,
        authorization_servers=issuers,
    )
    return {name: value for name, value in asdict(told).items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    text: str
    policy: Mapping[str, str]


@cache
def _page() -> _Page:
    """Made once per environment. Whoever types a token into it must know that no script but this has run there."""
    folder = _swagger_folder()
    script = (folder / "swagger-ui-bundle.min.js").read_text(encoding="utf-8")
    for mark in ("/script", "!--"):  # within a script, HTML ends at the one and looks for the end anew at the other
        script = script.replace(f"<{mark}", f"<\\{mark}")
    style = (folder / "swagger-ui.min.css").read_text(encoding="utf-8")
    text = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Zarniwoop</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>'
        f'<body><div id="swagger-ui"></div><script>{script}</script><script>{_START}</script></body></html>'
    )
    scripts = " ".join(f"'sha256-{_digest(each)}'" for each in (script, _START))
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; font-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return _Page(text=text, policy={"content-security-policy": policy, "referrer-policy": "no-referrer"})


def _swagger_folder() -> Path:
    """Where Powertools lies; its package of this is not imported, because that brings all its resolvers along."""
    found = find_spec("aws_lambda_powertools")
    if found is None or found.origin is None:
        raise FileNotFoundError("aws_lambda_powertools")
    return Path(found.origin).parent / _SWAGGER


def _digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _response(body: str, media_type: str, request_id: str, more: Mapping[str, str]) -> dict[str, Any]:
    headers = {
        "content-type": media_type,
        "cache-control": _KEPT,
        "x-content-type-options": "nosniff",
        "x-request-id": request_id,
        **more,
    }
    return {"statusCode": 200, "headers": headers, "body": body, "isBase64Encoded": False}
