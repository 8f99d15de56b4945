"""The same `Idempotency-Key` twice is one call (Powertools' idempotency over its own table; imported only when used).

The key is bound to tenant, tool and body: with another body it is refused. A call that died in progress frees its key
when its Lambda would have timed out.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig, idempotent_function
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyPersistenceLayerError,
    IdempotencyValidationError,
)

from zarniwoop.contract.problem import Conflict, InvalidArgument
from zarniwoop.entry.answers import http_response, refused
from zarniwoop.entry.callers import caller_of_api_event
from zarniwoop.entry.invocation import LambdaContext
from zarniwoop.tools.tool import Tool
from zarniwoop.wiring import Environment


class NotKeptError(Exception):
    """An answer that is given, but not remembered: a refusal or a fault must not stand for an hour."""

    def __init__(self, response: dict[str, Any]) -> None:
        super().__init__()
        self.response = response


KEPT_SECONDS = 3600
MAX_KEY_CHARS = 255


def once(
    key: str,
    spec: Tool[Any],
    event: Mapping[str, Any],
    services: Environment,
    context: LambdaContext,
    answer: Callable[[], dict[str, Any]],
) -> dict[str, Any]:
    """The first answer to this key, computed at most once. With the table down the call is made all the same."""
    if len(key) > MAX_KEY_CHARS or not key.isprintable():
        return _refuse(
            InvalidArgument(
                f"the Idempotency-Key must be printable and at most {MAX_KEY_CHARS} characters",
                field="idempotency-key",
                suggested_action="send a UUID",
            ),
            context,
        )
    claim = {
        "key": f"{caller_of_api_event(event).tenant_id}#{spec.name}#{key}",
        "body": hashlib.sha256(str(event.get("body")).encode()).hexdigest(),
    }
    config = IdempotencyConfig(
        event_key_jmespath="key", payload_validation_jmespath="body", expires_after_seconds=KEPT_SECONDS
    )
    config.register_lambda_context(context)  # type: ignore[arg-type]
    store = DynamoDBPersistenceLayer(
        table_name=services.idempotency_table, key_attr="id", boto3_client=services.dynamodb()
    )

    @idempotent_function(  # type: ignore[untyped-decorator]
        data_keyword_argument="claim", persistence_store=store, config=config
    )
    def answered(*, claim: dict[str, str]) -> dict[str, Any]:  # noqa: ARG001 - the decorator reads it
        response = answer()
        if response["statusCode"] != 200:
            raise NotKeptError(response)
        return response

    try:
        result: dict[str, Any] = answered(claim=claim)
    except NotKeptError as refusal:
        return refusal.response
    except IdempotencyAlreadyInProgressError:
        return _refuse(
            Conflict("a call with this Idempotency-Key is in progress", suggested_action="ask again in a second"),
            context,
        )
    except IdempotencyValidationError:
        return _refuse(
            InvalidArgument(
                "this Idempotency-Key was used with another body",
                status=422,
                field="idempotency-key",
                suggested_action="send a new key",
            ),
            context,
        )
    except IdempotencyPersistenceLayerError:
        services.log.warning("idempotency table unavailable", extra={"tool": spec.name})
        return answer()
    return result


def _refuse(error: Conflict | InvalidArgument, context: LambdaContext) -> dict[str, Any]:
    return http_response(refused(error), context.aws_request_id)
