"""Bodies from outside: size, type, encoding and depth are checked before anything reads them."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import orjson

from zarniwoop.contract.problem import InvalidArgument
from zarniwoop.text.as_json import is_deeper

MAX_BODY_BYTES = 256 * 1024
MAX_DEPTH = 32
_SEND = "send the arguments as one JSON object; GET /v1/tools lists those of each tool"


def read_body(event: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object of an API Gateway proxy event. Raises InvalidArgument (400, 413, 415)."""
    return read_object(body_of(event))


def body_of(event: Mapping[str, Any]) -> bytes:
    """What an API Gateway proxy event carries, as JSON of bounded size. Raises InvalidArgument (400, 413, 415)."""
    _check_content_type(event)
    return _of_bounded_size(_bytes(event))


def read_object(raw: bytes) -> dict[str, Any]:
    """A JSON object of bounded size and depth. Raises InvalidArgument (400, 413)."""
    try:
        parsed = orjson.loads(_of_bounded_size(raw))
    except orjson.JSONDecodeError as error:
        raise _not_json(error) from None
    if not isinstance(parsed, dict):
        raise InvalidArgument("the body must be a JSON object", field="body", suggested_action=_SEND)
    if is_deeper(parsed, MAX_DEPTH):
        raise InvalidArgument(
            f"the body nests deeper than {MAX_DEPTH} levels", field="body", suggested_action="flatten it"
        )
    return parsed


def _of_bounded_size(raw: bytes) -> bytes:
    if len(raw) > MAX_BODY_BYTES:
        raise InvalidArgument(
            f"the body is larger than {MAX_BODY_BYTES // 1024} KiB",
            status=413,
            slug="body-too-large",
            field="body",
            suggested_action="send a shorter body",
        )
    return raw


def _check_content_type(event: Mapping[str, Any]) -> None:
    headers = {str(name).lower(): value for name, value in (event.get("headers") or {}).items()}
    media_type = str(headers.get("content-type") or "application/json").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise InvalidArgument(
            "the body must be JSON",
            status=415,
            slug="unsupported-media-type",
            field="content-type",
            suggested_action="send Content-Type: application/json",
        )


def _bytes(event: Mapping[str, Any]) -> bytes:
    body = event.get("body")
    if not body:
        raise InvalidArgument("the body is empty", field="body", suggested_action=_SEND)
    if not event.get("isBase64Encoded"):
        return str(body).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidArgument(
            "the body is not valid base64", field="body", suggested_action="send plain JSON"
        ) from None


def _not_json(error: orjson.JSONDecodeError) -> InvalidArgument:
    return InvalidArgument(
        f"the body is not valid JSON (line {error.lineno}, column {error.colno})",
        field="body",
        suggested_action="send one UTF-8 encoded JSON object",
    )
