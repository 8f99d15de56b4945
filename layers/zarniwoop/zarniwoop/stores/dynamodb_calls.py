"""The one place where calls to DynamoDB are made, and botocore's errors become ours."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from zarniwoop.stores.attributes import Item
from zarniwoop.stores.failure import StoreError, StoreThrottled, StoreUnavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

BATCH_WRITE_LIMIT = 25
BATCH_READ_LIMIT = 100
_THROTTLED = frozenset(("ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"))

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


class ConditionFailed(StoreError):  # noqa: N818 - named by its consequence
    """A conditional write met another state; `standing` is the item that is there, empty when there is none."""

    def __init__(self, standing: Item) -> None:
        super().__init__("the item is not as the condition wants it")
        self.standing = standing


def call(operation: Callable[Arguments, Returned], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
    """One call. Raises ConditionFailed, StoreThrottled, or StoreUnavailable for whatever else goes wrong."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return operation(*args, **kwargs)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        if code == "ConditionalCheckFailedException":
            standing: Mapping[str, Any] = error.response.get("Item") or {}  # type: ignore[assignment]
            raise ConditionFailed(standing) from error
        failure = StoreThrottled if code in _THROTTLED else StoreUnavailable
        raise failure(f"DynamoDB refused a call: {code}") from error
    except BotoCoreError as error:
        raise StoreUnavailable(f"DynamoDB could not be asked: {type(error).__name__}") from error


def read_batch(client: "DynamoDBClient", table: str, keys: Sequence[Item]) -> list[Item]:
    """Items by key, in one call per 100 keys; keys left unprocessed are asked for once more, then it is a failure."""
    found: list[Item] = []
    for start in range(0, len(keys), BATCH_READ_LIMIT):
        pending: Sequence[Item] = keys[start : start + BATCH_READ_LIMIT]
        for _attempt in range(2):
            answer = call(client.batch_get_item, RequestItems={table: {"Keys": pending, "ConsistentRead": True}})
            found += answer["Responses"].get(table, [])
            unread = answer.get("UnprocessedKeys", {}).get(table)
            if unread is None:
                break
            pending = unread["Keys"]
        else:
            raise StoreThrottled("DynamoDB left keys unread")
    return found


def write_batch(client: "DynamoDBClient", table: str, requests: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One BatchWriteItem of at most 25 requests; returns those that DynamoDB left unprocessed."""
    answer = call(client.batch_write_item, RequestItems={table: requests})  # type: ignore[dict-item]
    return [dict(request) for request in answer.get("UnprocessedItems", {}).get(table, [])]
