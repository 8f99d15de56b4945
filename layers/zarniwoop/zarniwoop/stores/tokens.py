"""Bearer tokens: only their SHA-256 is stored (a token has 256 random bits, so a plain hash cannot be guessed)."""

import hashlib
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGrant:
    """What a token allows. `tools` empty means every tool of its level; `projects` holds ids or `*`.

    `usage_key` is the value of the API Gateway key through which the usage plan throttles this token.
    """

    token_hash: str
    tenant_id: str
    projects: tuple[str, ...]
    level: int
    tools: tuple[str, ...] = ()
    usage_key: str | None = None
    expires_at: float | None = None
    label: str = ""


class TokenStore(Protocol):
    def grant(self, token_hash: str) -> TokenGrant | None:
        """The grant behind a hash, expired or not, or None. Raises StoreUnavailable."""
        ...

    def save(self, grant: TokenGrant) -> None: ...

    def revoke(self, token_hash: str) -> bool: ...


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
