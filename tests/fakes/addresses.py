"""A guard of addresses that lets everything pass and remembers it, or refuses everything."""

from zarniwoop.contract.deadline import Deadline
from zarniwoop.contract.failure import Cause, ProviderUnavailable


class FakeAddresses:
    """`contract.transport.PublicAddresses`; `refusal` is why every address is refused."""

    def __init__(self, refusal: Cause | None = None) -> None:
        self._refusal = refusal
        self.checked: list[str] = []

    def check(self, url: str, *, deadline: Deadline) -> None:
        self.checked.append(url)
        if self._refusal:
            raise ProviderUnavailable("refused", cause=self._refusal)
