"""The same `Idempotency-Key` twice is one call (Powertools' idempotency over its own table; imported only when used).

The key is bound to tenant, projects, tool and body: with another body it is refused. A call that died in progress frees
its key when its Lambda would have timed out. Only answers are remembered, refusals and failures are not.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig, idempotent_function
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyInconsistentStateError,
    IdempotencyPersistenceLayerError,
    IdempotencyValidationError,
)

from zarniwoop.contract.envelope import ToolResult
from zarniwoop.contract.problem import CallerError, Conflict, InvalidArgument
from zarniwoop.entry.answers import Shorten, http_response, refused, weight_as_string
from zarniwoop.entry.callers import Caller, caller_of_api_event
from zarniwoop.entry.lambda_context import LambdaContext
from zarniwoop.tools.tool import Tool
from zarniwoop.wiring import Environment

KEPT_SECONDS = 3600
MAX_KEY_CHARS = 255
MAX_KEPT_BYTES = 350_000
"""A DynamoDB item holds 400 KB; a larger answer is given, and not remembered."""


class NotKeptError(Exception):
    """An answer that is given, but not remembered: a refusal or a failure must not stand for an hour."""


def once(
    key: str,
    spec: Tool[Any],
    event: Mapping[str, Any],
    services: Environment,
    context: LambdaContext,
    answer: Callable[[], ToolResult],
    shorten: Shorten,
) -> dict[str, Any]:
    """The first answer to this key, computed at most once. With the table down the call is made all the same."""
    try:
        claim = _claim(key, spec, event)
    except CallerError as error:
        return http_response(refused(error), context.aws_request_id)
    given: list[dict[str, Any]] = []

    @idempotent_function(  # type: ignore[untyped-decorator]
        data_keyword_argument="claim", persistence_store=_store(services), config=_config(context)
    )
    def answered(*, claim: dict[str, str]) -> dict[str, Any]:  # noqa: ARG001 - the decorator reads it
        result = answer()
        given.append(http_response(result, context.aws_request_id, shorten))
        if not result.ok or weight_as_string(given[0]["body"].encode()) > MAX_KEPT_BYTES:
            raise NotKeptError
        return given[0]

    try:
        remembered: dict[str, Any] = answered(claim=claim)
    except NotKeptError:
        return given[0]
    except (IdempotencyAlreadyInProgressError, IdempotencyValidationError) as error:
        return http_response(refused(_refusal(error)), context.aws_request_id)
    except (IdempotencyPersistenceLayerError, IdempotencyInconsistentStateError):
        services.log.warning("idempotency table unavailable", extra={"tool": spec.name})
        return given[0] if given else http_response(answer(), context.aws_request_id, shorten)
    return remembered


def check_key(key: str) -> None:
    """Raises InvalidArgument."""
    if len(key) > MAX_KEY_CHARS or not key.isprintable():
        raise InvalidArgument(
            f"the Idempotency-Key must be printable and at most {MAX_KEY_CHARS} characters",
            field="idempotency-key",
            suggested_action="send a UUID",
        )


def _claim(key: str, spec: Tool[Any], event: Mapping[str, Any]) -> dict[str, str]:
    """What must be the same for two calls to be one. Raises CallerError, as for a caller who may not use the tool."""
    check_key(key)
    caller: Caller = caller_of_api_event(event)
    caller.check(spec)
    return {
        "key": "#".join((caller.tenant_id, ",".join(caller.projects), spec.name, key)),
        "body": hashlib.sha256(str(event.get("body")).encode(errors="surrogatepass")).hexdigest(),
    }


def _store(services: Environment) -> DynamoDBPersistenceLayer:
    return DynamoDBPersistenceLayer(
        table_name=services.idempotency_table, key_attr="id", boto3_client=services.dynamodb()
    )


def _config(context: LambdaContext) -> IdempotencyConfig:
    config = IdempotencyConfig(
        event_key_jmespath="key",
        payload_validation_jmespath="body",
        expires_after_seconds=KEPT_SECONDS,
        hash_function="sha256",
    )
    config.register_lambda_context(context)  # type: ignore[arg-type]
    return config


def _refusal(error: IdempotencyAlreadyInProgressError | IdempotencyValidationError) -> CallerError:
    if isinstance(error, IdempotencyAlreadyInProgressError):
        return Conflict(
            "a call with this Idempotency-Key is in progress",
            field="idempotency-key",
            suggested_action="ask again after wait_seconds",
            wait_seconds=1.0,
        )
    return InvalidArgument(
        "this Idempotency-Key was used with another body",
        status=422,
        field="idempotency-key",
        suggested_action="send a new key",
    )
