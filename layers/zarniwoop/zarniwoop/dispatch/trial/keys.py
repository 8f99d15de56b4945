"""The keys that a draft of settings is put to the test with."""

from collections.abc import Mapping

from zarniwoop.contract.transport import KeyPools, Secret


class DraftKeys:
    """`KeyPools` in which the drafts of keys come before what is saved. Of several the first is put to the test."""

    def __init__(self, saved: KeyPools, drafts: Mapping[str, Secret]) -> None:
        self._saved = saved
        self._drafts = drafts

    def secret(self, credential_key: str, *, fresh: bool = False, index: int = 1) -> Secret | None:
        return self._drafts.get(credential_key) or self._saved.secret(credential_key, fresh=fresh, index=index)

    def count(self, credential_key: str) -> int:
        return 1 if credential_key in self._drafts else self._saved.count(credential_key)

    def most(self, credential_key: str) -> int:
        return 1 if credential_key in self._drafts else self._saved.most(credential_key)
