"""Envelopes to answers: JSON within Lambda's response limit, and the status line of the REST API."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil
from typing import Any

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.failure import ConfigurationUnavailable, StackMisconfigured
from zarniwoop.contract.problem import CallerError, Problem
from zarniwoop.contract.result import SearchResult
from zarniwoop.text.as_json import as_json
from zarniwoop.tools.research_rich import RichResult
from zarniwoop.tools.run_report import RunAccepted

MAX_ANSWER_BYTES = 5_500_000
"""Lambda allows 6 MiB for a response; the rest is headroom for the proxy envelope around the body."""


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


def misconfigured(error: StackMisconfigured) -> ToolResult:
    problem = Problem(
        type="urn:zarniwoop:problem:stack-misconfigured",
        title="This stack is not set up right",
        status=503,
        detail=f"its parameter {error.parameter} cannot be read",
        retryable=False,
        suggested_action="ask the operator to correct the parameter and deploy again",
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


Weigh = Callable[[bytes], int]
Shorten = Callable[[ToolResult, int, Weigh], ToolResult]


def encode(
    result: ToolResult, limit: int = MAX_ANSWER_BYTES, weigh: Weigh = len, shorten: Shorten | None = None
) -> bytes:
    """The envelope as JSON that weighs at most `limit`.

    `shorten` makes it so without losing anything. Where that is not to be had: first inline bodies go, then hits from
    the end, and it says so. `weigh` tells what an encoded envelope weighs where it is going, by default its bytes.
    """
    encoded = as_json(result)
    if shorten is not None and weigh(encoded) > limit:
        result = shorten(result, limit, weigh)
        encoded = as_json(result)
    while weigh(encoded) > limit:
        lighter = _lighter(result)
        if lighter is None:
            return as_json(replace(result, data=None))
        result, encoded = lighter, as_json(lighter)
    return encoded


def weight_as_string(encoded: bytes) -> int:
    """The bytes that JSON takes inside a JSON string, as the body of a proxy response: marks are escaped once more."""
    return len(encoded) + encoded.count(b'"') + encoded.count(b"\\")


def _lighter(result: ToolResult) -> ToolResult | None:
    data = result.data
    if isinstance(data, SearchResult) and data.hits:
        return replace(result, data=_lighter_search(data, bodies=_has_bodies(data)))
    if isinstance(data, RichResult) and any(each.hits for each in data.results.values()):
        bodies = any(map(_has_bodies, data.results.values()))
        results = {name: _lighter_search(each, bodies=bodies) for name, each in data.results.items()}
        return replace(result, data=replace(data, results=results))
    return None


def _has_bodies(result: SearchResult) -> bool:
    return any(hit.content and hit.content.text for hit in result.hits)


def _lighter_search(result: SearchResult, *, bodies: bool) -> SearchResult:
    """Without its inline bodies, or, when none are left anywhere, with half of its hits."""
    if not result.hits or (bodies and not _has_bodies(result)):
        return result
    if bodies:
        kept = tuple(replace(hit, content=None) if hit.content and hit.content.text else hit for hit in result.hits)
    else:
        kept = result.hits[: len(result.hits) // 2]
    dropped = result.dropped_count + len(result.hits) - len(kept)
    return replace(result, hits=kept, returned_count=len(kept), dropped_count=dropped, truncated=True)


def http_response(result: ToolResult, request_id: str, shorten: Shorten | None = None) -> dict[str, Any]:
    """The API Gateway proxy response of an envelope; a problem's status is the response's, a receipt is a 202."""
    status = result.error.status if result.error else 202 if isinstance(result.data, RunAccepted) else 200
    wait = result.error.wait_seconds if result.error and status in (429, 503, 504) else None
    body = encode(result, weigh=weight_as_string, shorten=shorten)
    return proxy_response(body, status, request_id, {"retry-after": str(ceil(wait))} if wait else {})


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
