"""A key ring out of a dictionary."""

from zarniwoop.contract.failure import ConfigurationUnavailable
from zarniwoop.contract.transport import MOST_IN_A_POOL, Secret


class FakeKeyRing:
    """`contract.transport.KeyPools`; `asked` remembers the names and whether a fresh look was wanted.

    `pools` says which settings hold several keys, and how many; it is known from the first look at one on. `down`: the
    store does not answer.
    """

    def __init__(self, **keys: str) -> None:
        self.keys = {name: Secret(value) for name, value in keys.items()}
        self.pools: dict[str, int] = {}
        self.asked: list[tuple[str, bool]] = []
        self.down = False

    def secret(self, credential_key: str, *, fresh: bool = False, index: int = 1) -> Secret | None:
        if self.down:
            raise ConfigurationUnavailable("the store does not answer")
        self.asked.append((credential_key, fresh))
        return self.keys.get(credential_key)

    def count(self, credential_key: str) -> int:
        return self.pools.get(credential_key, 1) if self._is_known(credential_key) else 1

    def most(self, credential_key: str) -> int:
        return self.count(credential_key) if self._is_known(credential_key) else MOST_IN_A_POOL

    def _is_known(self, credential_key: str) -> bool:
        return (credential_key, False) in self.asked
