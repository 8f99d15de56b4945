"""What every `TokenStore` promises, put to the one in memory and to the one on DynamoDB alike."""

from collections.abc import Iterator

import pytest

from tests.fakes.aws import TOKEN_TABLE, aws_in_process, create_table
from tests.fakes.token_store import InMemoryTokenStore
from zarniwoop.stores.clients import dynamodb_client
from zarniwoop.stores.dynamodb_tokens import DynamoDbTokenStore
from zarniwoop.stores.tokens import TokenGrant, TokenStore, hash_token

HASH = hash_token("zw_a-token")
FULL = TokenGrant(
    token_hash=HASH,
    tenant_id="acme",
    projects=("demo", "other"),
    level=1,
    tools=("research_search",),
    usage_key="usage-key-0123456789",
    expires_at=1_800_000_000,
    label="the agent of the demo",
)


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[TokenStore]:
    if request.param == "memory":
        yield InMemoryTokenStore()
        return
    with aws_in_process(monkeypatch):
        create_table(TOKEN_TABLE, "token_hash")
        yield DynamoDbTokenStore(dynamodb_client(), TOKEN_TABLE)


@pytest.mark.parametrize("grant", [FULL, TokenGrant(token_hash=HASH, tenant_id="acme", projects=("*",), level=4)])
def test_a_saved_grant_is_found_by_its_hash(store: TokenStore, grant: TokenGrant) -> None:
    """With everything in it, or with nothing but what it must have; expired or not."""
    store.save(grant)
    assert store.grant(HASH) == grant


def test_an_unknown_hash_has_no_grant(store: TokenStore) -> None:
    """And revoking it changes nothing."""
    assert store.grant(HASH) is None
    assert store.revoke(HASH) is False


def test_a_revoked_token_is_gone_at_once(store: TokenStore) -> None:
    """The very next look does not find it."""
    store.save(FULL)
    assert store.revoke(HASH) is True
    assert store.grant(HASH) is None
