"""What an answer that can be cut has to say of itself, for `bounding`: it need not know every kind of answer."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from zarniwoop.contract.result import AnswerSize


@runtime_checkable
class InParts(Protocol):
    """Data that is given out in parts, each of them whole."""

    def entries(self) -> "tuple[tuple[str, Any], ...]":
        """Every part behind the path of its list, in the order in which they are given out."""
        ...

    def with_entries(self, entries: Sequence[tuple[str, Any]], size: AnswerSize) -> Any:
        """The same answer with these of its parts."""
        ...
