"""`TokenStore` on one DynamoDB table, keyed by the token's hash.

Quirk: reads are strongly consistent: a revoked token must not pass once more. A grant that cannot be read is no grant,
and an expiry that cannot be read has passed.
"""

from typing import TYPE_CHECKING, Any

from zarniwoop.stores.attributes import (
    EXPIRES_AT,
    Item,
    expiry,
    number,
    read_moment,
    read_number,
    read_text,
    read_texts,
    text,
    texts,
)
from zarniwoop.stores.dynamodb_calls import call
from zarniwoop.stores.tokens import TokenGrant

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDbTokenStore:
    """See `TokenStore`; every method raises StoreUnavailable when DynamoDB does not answer."""

    def __init__(self, client: "DynamoDBClient", table_name: str) -> None:
        self._client = client
        self._table = table_name

    def grant(self, token_hash: str) -> TokenGrant | None:
        answer = call(
            self._client.get_item, TableName=self._table, Key={"token_hash": text(token_hash)}, ConsistentRead=True
        )
        item = answer.get("Item")
        return _read(item) if item else None

    def save(self, grant: TokenGrant) -> None:
        call(self._client.put_item, TableName=self._table, Item=_item(grant))

    def revoke(self, token_hash: str) -> bool:
        answer = call(
            self._client.delete_item,
            TableName=self._table,
            Key={"token_hash": text(token_hash)},
            ReturnValues="ALL_OLD",
        )
        return bool(answer.get("Attributes"))


def _item(grant: TokenGrant) -> dict[str, Any]:
    item = {
        "token_hash": text(grant.token_hash),
        "tenant_id": text(grant.tenant_id),
        "projects": texts(grant.projects),
        "level": number(grant.level),
        "tools": texts(grant.tools),
        "label": text(grant.label),
    }
    if grant.usage_key is not None:
        item["usage_key"] = text(grant.usage_key)
    if grant.expires_at is not None:
        item[EXPIRES_AT] = expiry(grant.expires_at)
    return item


def _read(item: Item) -> TokenGrant | None:
    try:
        return TokenGrant(
            token_hash=read_text(item, "token_hash"),
            tenant_id=read_text(item, "tenant_id"),
            projects=read_texts(item, "projects"),
            level=int(read_number(item, "level")),
            tools=read_texts(item, "tools"),
            usage_key=read_text(item, "usage_key") if "usage_key" in item else None,
            expires_at=(read_moment(item, EXPIRES_AT) or 0.0) if EXPIRES_AT in item else None,
            label=read_text(item, "label") if "label" in item else "",
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
