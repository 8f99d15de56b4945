"""Bearer tokens in memory."""

from dataclasses import replace

from tests.fakes.outage import Outage
from zarniwoop.stores.tokens import TokenGrant


class InMemoryTokenStore(Outage):
    """`stores.tokens.TokenStore`."""

    def __init__(self, *grants: TokenGrant) -> None:
        super().__init__()
        self._grants = {grant.token_hash: grant for grant in grants}

    def grant(self, token_hash: str) -> TokenGrant | None:
        with self._lock:
            self._called("grant")
            return self._grants.get(token_hash)

    def save(self, grant: TokenGrant) -> None:
        with self._lock:
            self._called("save")
            expires_at = None if grant.expires_at is None else float(int(grant.expires_at))
            self._grants[grant.token_hash] = replace(grant, expires_at=expires_at)

    def revoke(self, token_hash: str) -> bool:
        with self._lock:
            self._called("revoke")
            return self._grants.pop(token_hash, None) is not None
