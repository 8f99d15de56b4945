"""What a recorded answer of a model says, written down so that a test can hold a reading against it, by value."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tests.contract.payloads import recorded


@dataclass(frozen=True)
class Long:
    """A long text by its ends and its length."""

    start: str
    end: str
    length: int

    @classmethod
    def of(cls, text: str | None) -> "str | Long | None":
        return cls(text[:28], text[-12:], len(text)) if text is not None and len(text) > 66 else text


def without_expectation(provider: str, *expectations: Mapping[str, object] | Collection[str]) -> list[str]:
    """The recordings of a provider of which nothing is expected, and the expectations that have no recording.

    Empty where there are no recordings at all.
    """
    present, expected = set(recorded(provider)), {name for each in expectations for name in each}
    return sorted(present ^ expected) if present else []
