"""Bearer tokens: only their SHA-256 is stored (a token has 256 random bits, so a plain hash cannot be guessed)."""

import hashlib
from dataclasses import dataclass
from typing import Protocol

SETTINGS = "settings"
"""What a token with a list of tools must name to change settings: no tool of a model, but on the same list."""
SETTINGS_LEVEL = 4
"""Seed 2, L4: what changes the stack itself. `make token` gives level 1 unless asked for more."""

LEAVES_EVIDENCE = (
    *("web_fetch", "web_search", "geo_resolve", "research_investigate"),
    *("research_search", "research_search_expert", "research_rich"),
)
"""The tools whose answers may link to evidence: what they link to can be read by whoever may use one of them."""
LISTS_EVIDENCE = "evidence_store"
"""The tool of those who may look through all evidence of their projects, and so read each."""
EVIDENCE_LEVEL = 1


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
