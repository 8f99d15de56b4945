"""A key ring out of a dictionary."""

from zarniwoop.contract.transport import Secret


class FakeKeyRing:
    """`contract.transport.KeyRing`; `asked` remembers the names and whether a fresh look was wanted."""

    def __init__(self, **keys: str) -> None:
        self.keys = {name: Secret(value) for name, value in keys.items()}
        self.asked: list[tuple[str, bool]] = []

    def secret(self, credential_key: str, *, fresh: bool = False) -> Secret | None:
        self.asked.append((credential_key, fresh))
        return self.keys.get(credential_key)
