"""What one at a time may change: whoever takes it reads it, works, and puts back what shall be remembered from then on.

A lease, so that a holder who died holds nothing up for longer than it could have lived. Memory that nobody has taken
for its keeping time is gone; taking it is what keeps it, whatever comes of the work.
"""

from dataclasses import dataclass
from typing import Protocol

from zarniwoop.stores.project import ProjectKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """`memory` is what was put back last; None when nothing ever was, or its time is over.

    `turn` is the same for all who take it until one of them puts something back.
    """

    project: ProjectKey
    sort_key: str
    holder: str
    turn: str
    memory: bytes | None


class LeasedMemory(Protocol):
    """Every method raises StoreUnavailable when the table does not answer."""

    def take(self, project: ProjectKey, sort_key: str, *, lease_seconds: float, keep_seconds: float) -> Held | None:
        """None while somebody else holds it."""
        ...

    def put_back(self, held: Held, memory: bytes, *, keep_seconds: float) -> bool:
        """False when the lease is not the holder's any more: then nothing was changed."""
        ...

    def let_go(self, held: Held) -> None:
        """Give it back as it was. A lease that is not the holder's any more is left alone."""
        ...
