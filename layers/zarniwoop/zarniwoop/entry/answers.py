"""Envelopes to answers: JSON within Lambda's response limit, and the status line of the REST API."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.problem import CallerError, Problem
from zarniwoop.contract.result import SearchResult
from zarniwoop.tools.research_rich import RichResult

MAX_ANSWER_BYTES = 5_500_000
"""Lambda allows 6 MB for a response; the rest is headroom for the proxy envelope around the body."""


def refused(error: CallerError) -> ToolResult:
    return ToolResult(ok=False, error=error.problem())


def unconfigured(error: ConfigurationUnavailable) -> ToolResult:
    problem = Problem(
        type="urn:zarniwoop:problem:config-unavailable",
        title="The settings cannot be read right now",
        status=503,
        detail="Parameter Store did not answer, and nothing usable is cached",
        retryable=True,
        wait_seconds=error.retry_after,
        suggested_action="ask again after wait_seconds",
    )
    return ToolResult(ok=False, error=problem)


def broken(request_id: str) -> ToolResult:
    """The answer to a fault of ours: it says where to look and nothing else."""
    problem = Problem(
        type="urn:zarniwoop:problem:internal",
        title="Something went wrong on our side",
        status=500,
        detail=f"request {request_id} failed; the log of this request says why",
        retryable=True,
        suggested_action="ask again; if it stays, give the request id to the operator",
    )
    return ToolResult(ok=False, error=problem)


def encode(result: ToolResult, limit: int = MAX_ANSWER_BYTES) -> bytes:
    """The envelope as JSON of at most `limit` bytes: first inline bodies go, then hits from the end, and it says so."""
    encoded = orjson.dumps(result)
    while len(encoded) > limit:
        lighter = _lighter(result)
        if lighter is None:
            return orjson.dumps(replace(result, data=None))
        result, encoded = lighter, orjson.dumps(lighter)
    return encoded


def _lighter(result: ToolResult) -> ToolResult | None:
    data = result.data
    if isinstance(data, SearchResult) and data.hits:
        return replace(result, data=_lighter_search(data))
    if isinstance(data, RichResult) and any(each.hits for each in data.results.values()):
        results = {name: _lighter_search(each) if each.hits else each for name, each in data.results.items()}
        return replace(result, data=replace(data, results=results))
    return None


def _lighter_search(result: SearchResult) -> SearchResult:
    if any(hit.content and hit.content.text for hit in result.hits):
        hits = tuple(replace(hit, content=None) for hit in result.hits)
    else:
        hits = result.hits[: len(result.hits) // 2]
    dropped = result.dropped_count + len(result.hits) - len(hits)
    return replace(result, hits=hits, returned_count=len(hits), dropped_count=dropped, truncated=True)


def http_response(result: ToolResult, request_id: str) -> dict[str, Any]:
    """The API Gateway proxy response of an envelope; a problem's status is the response's."""
    status = result.error.status if result.error else 200
    wait = result.error.wait_seconds if result.error and status in (429, 503, 504) else None
    return proxy_response(encode(result), status, request_id, {"retry-after": str(round(wait))} if wait else {})


def proxy_response(
    body: bytes, status: int, request_id: str, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    return {
        "statusCode": status,
        "headers": {
            "content-type": "application/json",
            "cache-control": "no-store",
            "x-request-id": request_id,
            **(headers or {}),
        },
        "body": body.decode(),
        "isBase64Encoded": False,
    }
